//! Laws of the histogram transform.

use ndarray::{Array2, Axis, array};
use unjitter::math::Random;
use unjitter::signal::Histogram;

fn draws(seed: u64, rows: usize) -> Array2<f64> {
    let mut random = Random::new(seed);
    // A normal, a skewed one, one with many ties, and a constant.
    Array2::from_shape_fn((rows, 4), |(_, column)| match column {
        0 => random.normal(),
        1 => random.gamma(0.5),
        2 => random.below(3) as f64,
        _ => 7.0,
    })
}

#[test]
fn each_feature_is_in_exactly_one_bin_and_no_bin_is_empty() {
    let (first, second) = (draws(1, 500), draws(2, 301));
    let histogram = Histogram::fit(&[first.view(), second.view()], 8).unwrap();
    // 8 + 8 + 3 distinct values + 1.
    assert_eq!(histogram.columns(), 20);
    let members = histogram.transform(first.view()).unwrap();
    assert!(members.iter().all(|&value| value == 0.0 || value == 1.0));
    assert!(members.sum_axis(Axis(1)).iter().all(|&sum| sum == 4.0));
    let totals =
        members.sum_axis(Axis(0)) + histogram.transform(second.view()).unwrap().sum_axis(Axis(0));
    assert!(totals.iter().all(|&total| total > 0.0));
    // Without ties, bins differ by one at most: 801 values in 8 bins.
    assert!(totals.iter().take(16).all(|total| (100.0..=101.0).contains(total)), "{totals}");
}

#[test]
fn bins_rise_with_the_value_and_take_in_what_lies_beyond() {
    let training = draws(3, 400);
    let histogram = Histogram::fit(&[training.view()], 5).unwrap();
    assert!(histogram.cuts(0).windows(2).all(|pair| pair[0] < pair[1]));
    let bin = |value: f64| {
        let row = histogram.transform(array![[value, 0.5, 1.0, 7.0]].view()).unwrap();
        (0..5).find(|&bin| row[[0, bin]] == 1.0).unwrap()
    };
    let bins: Vec<usize> = (-40..=40).map(|k| bin(f64::from(k) / 10.0)).collect();
    assert!(bins.windows(2).all(|pair| pair[0] <= pair[1]));
    assert_eq!((bin(-1e9), bin(1e9)), (0, 4));
    // A value at a cut lies below it.
    let cut = histogram.cuts(0)[2];
    assert_eq!((bin(cut), bin(cut + 1e-9)), (2, 3));
}

#[test]
fn a_monotone_change_of_unit_changes_no_membership() {
    let training = draws(4, 300);
    let stretched = training.mapv(|value| 100.0 + (3.0 * value).exp());
    let plain = Histogram::fit(&[training.view()], 6).unwrap();
    let other = Histogram::fit(&[stretched.view()], 6).unwrap();
    assert_eq!(
        plain.transform(training.view()).unwrap(),
        other.transform(stretched.view()).unwrap()
    );
}

#[test]
fn names_and_files_keep_the_bins() {
    let training = draws(5, 200);
    let histogram = Histogram::fit(&[training.view()], 4).unwrap();
    let names = histogram.names(&["a", "b", "c", "d"]);
    assert_eq!(names.len(), histogram.columns());
    assert_eq!((names[0].as_str(), names[names.len() - 1].as_str()), ("a[0]", "d[0]"));
    let text = serde_json::to_string(&histogram).unwrap();
    assert_eq!(serde_json::from_str::<Histogram>(&text).unwrap(), histogram);
}

#[test]
fn bad_input_is_refused() {
    let training = draws(6, 20);
    assert!(Histogram::fit(&[training.view()], 1).is_err());
    assert!(Histogram::fit(&[], 4).is_err());
    assert!(Histogram::fit(&[training.view(), array![[1.0]].view()], 4).is_err());
    assert!(Histogram::fit(&[array![[f64::NAN]].view()], 4).is_err());
    let histogram = Histogram::fit(&[training.view()], 4).unwrap();
    assert!(histogram.transform(array![[1.0]].view()).is_err());
}
