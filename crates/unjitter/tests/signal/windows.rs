//! Windows against formulas written out, and tones against their bands.

use std::f64::consts::TAU;

use unjitter::signal::{Anchor, SUMMARIES, Signal, WindowOptions, Windows, windows};

fn sampled(rate: f64, seconds: f64, value: impl Fn(f64) -> f64) -> Signal {
    let times: Vec<f64> = (0..(rate * seconds) as usize).map(|k| k as f64 / rate).collect();
    let values = times.iter().map(|&time| value(time)).collect();
    Signal::new(times, values).unwrap()
}

fn options(length: f64, step: f64) -> WindowOptions {
    WindowOptions { length, step, ..WindowOptions::default() }
}

#[track_caller]
fn value(found: &Windows, window: usize, name: &str) -> f64 {
    found.features[[window, SUMMARIES.iter().position(|&other| other == name).unwrap()]]
}

#[test]
fn summaries_follow_their_formulas() {
    let values = vec![1.0, 8.0, 4.0, 5.0, 7.0, 4.0, 2.0, 1.0];
    let times = (0..8).map(f64::from).collect();
    let signal = Signal::new(times, values.clone()).unwrap();
    let found = windows(&[signal], &options(8.0, 8.0)).unwrap();
    assert_eq!((found.times.as_slice(), found.skipped), (&[4.0][..], 0));

    let mean = 32.0 / 8.0;
    let moment = |power: i32| values.iter().map(|v| (v - mean).powi(power)).sum::<f64>() / 8.0;
    let sd = (48.0_f64 / 8.0).sqrt();
    let want = [
        ("mean", mean),
        ("sd", sd),
        ("skewness", moment(3) / sd.powi(3)),
        ("kurtosis", moment(4) / sd.powi(4) - 3.0),
        ("min", 1.0),
        // Sorted 1 1 2 4 4 5 7 8; places 0.7, 1.75, 3.5, 5.25 and 6.3.
        ("quantile_10", 1.0),
        ("quantile_25", 1.75),
        ("median", 4.0),
        ("quantile_75", 5.5),
        ("quantile_90", 7.3),
        ("max", 8.0),
        // Below, above, (at), above, above, (at), below, below: two in eight seconds.
        ("mean_crossings", 0.25),
        ("mean_absolute_difference", (7.0 + 4.0 + 1.0 + 2.0 + 3.0 + 2.0 + 1.0) / 7.0),
    ];
    assert_eq!(want.len(), SUMMARIES.len());
    for (name, want) in want {
        let got = value(&found, 0, name);
        // Rounding of sums of eight terms of O(10).
        assert!((got - want).abs() < 1e-13, "{name} is {got}, expected {want}");
    }
}

#[test]
fn a_constant_window_has_no_shape_and_no_power() {
    let flat = sampled(10.0, 4.0, |_| 0.1);
    let bands = vec![(0.0, 2.0), (2.0, 6.0)];
    let found = windows(&[flat], &WindowOptions { bands, ..options(4.0, 4.0) }).unwrap();
    for name in ["sd", "skewness", "kurtosis", "mean_crossings", "mean_absolute_difference"] {
        assert_eq!(value(&found, 0, name), 0.0, "{name}");
    }
    assert_eq!(found.features.row(0).to_vec()[SUMMARIES.len()..], [0.0, 0.0]);
}

#[test]
fn a_tone_lands_in_its_band() {
    let bands = vec![(0.5, 2.0), (2.0, 4.0), (4.0, 8.0), (8.0, 30.0)];
    for (tone, band) in [(1.25, 0), (3.0, 1), (5.7, 2), (12.0, 3)] {
        let signal = sampled(50.0, 12.0, |t| 100.0 + (TAU * tone * t).sin());
        let options = WindowOptions { bands: bands.clone(), ..options(4.0, 1.0) };
        let found = windows(&[signal], &options).unwrap();
        for row in found.features.rows() {
            let shares = &row.to_vec()[SUMMARIES.len()..];
            // A Hann window keeps all but 0.1 % within two bins, half a hertz; the tones are
            // further in.
            assert!(shares[band] > 0.998, "{tone} Hz: {shares:?}");
        }
    }
}

#[test]
fn disjoint_bands_share_all_power() {
    let noise = sampled(50.0, 8.0, |t| (37.0 * t * t).sin() + (11.0 * t).cos());
    let bands = vec![(0.0, 3.0), (3.0, 11.0), (11.0, 26.0)];
    let found = windows(&[noise], &WindowOptions { bands, ..options(4.0, 2.0) }).unwrap();
    for row in found.features.rows() {
        let total: f64 = row.iter().skip(SUMMARIES.len()).sum();
        assert!((total - 1.0).abs() < 1e-12, "{total}"); // one division of sums of 100 terms
    }
}

#[test]
fn power_follows_parsevals_theorem() {
    // Two tones with whole periods in the window: powers as the squares of the amplitudes.
    let signal = sampled(32.0, 8.0, |t| 3.0 * (TAU * 2.0 * t).sin() + (TAU * 6.0 * t).cos());
    let bands = vec![(1.0, 4.0), (4.0, 9.0)];
    let found = windows(&[signal], &WindowOptions { bands, ..options(8.0, 8.0) }).unwrap();
    let shares = &found.features.row(0).to_vec()[SUMMARIES.len()..];
    // Exact up to rounding: each tone fills three bins of the tapered spectrum.
    assert!((shares[0] - 0.9).abs() < 1e-12 && (shares[1] - 0.1).abs() < 1e-12, "{shares:?}");
}

#[test]
fn windows_step_through_the_time_that_all_channels_cover() {
    let fast = sampled(40.0, 20.0, |t| t);
    let late: Vec<f64> = (0..40).map(|k| 5.0 + f64::from(k) * 0.25).collect();
    let slow = Signal::new(late.clone(), late).unwrap();
    let found = |anchor| {
        windows(&[fast.clone(), slow.clone()], &WindowOptions { anchor, ..options(4.0, 2.0) })
            .unwrap()
    };
    // From 5 to 15 s.
    assert_eq!(found(Anchor::Start).times, [5.0, 7.0, 9.0, 11.0]);
    assert_eq!(found(Anchor::Centre).times, [7.0, 9.0, 11.0, 13.0]);
    assert_eq!(found(Anchor::End).times, [9.0, 11.0, 13.0, 15.0]);
    let features = found(Anchor::Start).features;
    assert_eq!(features.ncols(), options(4.0, 2.0).names(&["fast", "slow"]).len());
    // Means of t over [5, 9): the last sample is one spacing short of the end.
    assert!((features[[0, 0]] - (7.0 - 0.0125)).abs() < 1e-12); // sums of 160 terms
    assert!((features[[0, SUMMARIES.len()]] - (7.0 - 0.125)).abs() < 1e-12);
}

#[test]
fn windows_with_too_few_samples_are_skipped_and_counted() {
    let whole = sampled(20.0, 20.0, |t| t.sin());
    let is_there = |t: &f64| !(6.1..8.9).contains(t);
    let times: Vec<f64> = whole.times().iter().copied().filter(is_there).collect();
    let values = times.iter().map(|t| t.sin()).collect();
    let gappy = Signal::new(times, values).unwrap();
    let found = windows(&[gappy], &WindowOptions { min_share: 0.6, ..options(4.0, 2.0) }).unwrap();
    // Of [4, 8), [6, 10) and [8, 12) the second has 30 % of its samples, the first 53 %, the third
    // 78 %.
    assert_eq!((found.times.len(), found.skipped), (7, 2));
    assert!(!found.times.contains(&6.0) && !found.times.contains(&8.0));
}

#[test]
fn the_origin_of_time_does_not_matter() {
    let here = sampled(16.0, 30.0, |t| (1.3 * t).sin() + (9.0 * t).cos());
    let shift = 1_480_453_825.0;
    let times = here.times().iter().map(|time| time + shift).collect();
    let there = Signal::new(times, here.values().to_vec()).unwrap();
    let options = WindowOptions { bands: vec![(0.2, 1.0), (1.0, 5.0)], ..options(5.0, 2.5) };
    let (here, there) = (windows(&[here], &options).unwrap(), windows(&[there], &options).unwrap());
    assert_eq!(here.times.iter().map(|time| time + shift).collect::<Vec<_>>(), there.times);
    // Times are multiples of 1/16, exact in both.
    assert_eq!(here.features, there.features);
}
