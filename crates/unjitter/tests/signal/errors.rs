//! Refusals and their errors.

use unjitter::Error;
use unjitter::signal::{CycleOptions, Signal, WindowOptions, find_cycles, windows};

#[test]
fn unusable_samples_are_refused_by_place_and_value() {
    let refused = |times: &[f64], values: &[f64]| {
        Signal::new(times.to_vec(), values.to_vec()).unwrap_err().to_string()
    };
    let zeros = [0.0; 3];
    assert_eq!(refused(&[0.0, f64::NAN, 1.0], &zeros), "time 1 is NaN, expected a finite time");
    let backwards = "time 2 is 1, expected a time no earlier than the one before it";
    assert_eq!(refused(&[0.0, 2.0, 1.0], &zeros), backwards);
    assert_eq!(refused(&[0.0, 1.0], &zeros), "a signal with 2 times and 3 values");
    let infinite = refused(&[0.0, 1.0, 2.0], &[0.0, 0.0, f64::INFINITY]);
    assert!(infinite.starts_with("value 2 is inf"), "{infinite}");
}

#[test]
fn missing_samples_are_dropped_and_counted() {
    let values = vec![1.0, f64::NAN, f64::NAN, 4.0];
    let signal = Signal::new(vec![0.0, 1.0, 2.0, 2.0], values).unwrap();
    assert_eq!((signal.len(), signal.missing()), (2, 2));
    assert_eq!((signal.times(), signal.values()), (&[0.0, 2.0][..], &[1.0, 4.0][..]));
}

#[test]
fn no_cycle_is_an_error() {
    let times: Vec<f64> = (0..400).map(|k| f64::from(k) / 20.0).collect();
    let rising = times.clone();
    for values in [vec![3.0; 400], rising] {
        let signal = Signal::new(times.clone(), values).unwrap();
        let error = find_cycles(&signal, &CycleOptions::default()).unwrap_err();
        assert!(matches!(error, Error::NoCycles { samples: 400, runs: 1 }), "{error}");
    }
    let empty = Signal::new(vec![], vec![]).unwrap();
    let error = find_cycles(&empty, &CycleOptions::default()).unwrap_err();
    assert!(matches!(error, Error::NoCycles { samples: 0, runs: 0 }), "{error}");
}

#[test]
fn options_out_of_range_are_refused_by_name() {
    let good = CycleOptions::default();
    let bad = [
        ("rate", CycleOptions { rate: 0.0, ..good }),
        ("max_gap", CycleOptions { max_gap: f64::NAN, ..good }),
        ("baseline", CycleOptions { baseline: -1.0, ..good }),
        ("breath", CycleOptions { breath: 0.0, ..good }),
        ("neighbourhood", CycleOptions { neighbourhood: f64::INFINITY, ..good }),
        ("prominence", CycleOptions { prominence: 0.0, ..good }),
        ("despike", CycleOptions { despike: -0.1, ..good }),
        ("smoothing", CycleOptions { smoothing: -0.1, ..good }),
        ("floor", CycleOptions { floor: -0.1, ..good }),
        ("onset", CycleOptions { onset: 1.0, ..good }),
        ("min_duration", CycleOptions { min_duration: 20.0, ..good }),
        ("min_amplitude", CycleOptions { min_amplitude: f64::NAN, ..good }),
    ];
    good.check().unwrap();
    for (name, options) in bad {
        let error = options.check().unwrap_err().to_string();
        assert!(error.starts_with(&format!("{name} is ")), "{name}: {error}");
    }
}

#[test]
fn window_options_out_of_range_are_refused_by_name() {
    let good = WindowOptions::default();
    let bad = [
        ("length", WindowOptions { length: 0.0, ..good.clone() }),
        ("step", WindowOptions { step: f64::NAN, ..good.clone() }),
        ("min_share", WindowOptions { min_share: 1.1, ..good.clone() }),
        ("bands[0].low", WindowOptions { bands: vec![(-1.0, 2.0)], ..good.clone() }),
        ("bands[1].high", WindowOptions { bands: vec![(0.0, 1.0), (2.0, 2.0)], ..good.clone() }),
    ];
    good.check().unwrap();
    for (name, options) in bad {
        let error = options.check().unwrap_err().to_string();
        assert!(error.starts_with(&format!("{name} is ")), "{name}: {error}");
    }
    let single = Signal::new(vec![1.0, 1.0], vec![0.0, 0.0]).unwrap();
    let error = windows(&[single], &good).unwrap_err();
    assert!(matches!(error, Error::TooFewSamples { channel: 0, samples: 2 }), "{error}");
}
