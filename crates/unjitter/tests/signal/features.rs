//! Features of cycles, by hand on triangles.

use unjitter::signal::{
    CYCLE_FEATURES, Cycle, CycleOptions, Signal, cycle_features, find_cycles, session_from_signal,
};

/// A triangle from `start`: up by `height` in `rise` seconds, down again in `fall` seconds.
fn triangle(run: usize, start: f64, rise: f64, fall: f64, height: f64) -> Cycle {
    Cycle {
        run,
        start,
        peak: start + rise,
        end: start + rise + fall,
        start_value: 10.0,
        peak_value: 10.0 + height,
        end_value: 10.0,
        stretch: height,
        inhalation_area: rise * height / 2.0,
        exhalation_area: fall * height / 2.0,
    }
}

#[test]
fn every_feature_of_three_triangles() {
    let cycles = [
        triangle(0, 0.0, 1.0, 3.0, 2.0),
        // Falls below where it rose from.
        Cycle { end_value: 6.0, ..triangle(0, 4.0, 2.0, 4.0, 8.0) },
        triangle(1, 20.0, 1.0, 1.0, 2.0),
    ];
    let features = cycle_features(&cycles, 1);
    assert_eq!(features.dim(), (3, CYCLE_FEATURES.len()));
    let row = |i: usize| features.row(i).to_vec();
    // Basic; ratios, rates and fullness; relative to the median of the cycles ±1; from previous;
    // from next.
    let zeros = [0.0; 6];
    let first = [
        [1.0, 3.0, 4.0, 2.0, 2.0, 2.0],
        [1.0 / 3.0, 1.0, 2.0, 2.0 / 3.0, 0.5, 0.5],
        [1.0 / 1.5, 3.0 / 3.5, 4.0 / 5.0, 2.0 / 5.0, 2.0 / 7.0, 2.0 / 5.0],
        zeros,
        [-1.0, -1.0, -2.0, -6.0, -10.0, -6.0],
    ];
    let second = [
        [2.0, 4.0, 6.0, 8.0, 12.0, 8.0],
        [0.5, 8.0 / 12.0, 4.0, 3.0, 0.5, 0.5],
        [2.0, 4.0 / 3.0, 1.5, 4.0, 6.0, 4.0],
        [1.0, 1.0, 2.0, 6.0, 10.0, 6.0],
        // The next cycle is of another run.
        zeros,
    ];
    assert_eq!(row(0), first.concat());
    assert_eq!(row(1), second.concat());
    assert_eq!(row(2)[18..], [zeros, zeros].concat());
}

/// Two seconds up, three down, from 2 s on: the first trough is at 5 s.
fn triangle_wave() -> Signal {
    let times: Vec<f64> = (40..1220).map(|k| f64::from(k) / 20.0).collect();
    let height = |t: f64| if t % 5.0 < 2.0 { t % 5.0 / 2.0 } else { (5.0 - t % 5.0) / 3.0 };
    let values = times.iter().map(|&t| 7.0 * height(t)).collect();
    Signal::new(times, values).unwrap()
}

#[test]
fn a_triangle_wave_is_measured_as_drawn() {
    let unfiltered =
        CycleOptions { despike: 0.0, smoothing: 0.0, onset: 0.0, ..CycleOptions::default() };
    let found = find_cycles(&triangle_wave(), &unfiltered).unwrap();
    assert_eq!(found.cycles.len(), 11);
    let features = cycle_features(&found.cycles, 15);
    let want = [2.0, 3.0, 5.0, 7.0, 7.0, 7.0, 2.0 / 3.0, 1.0, 3.5, 7.0 / 3.0, 0.5, 0.5];
    for row in features.rows() {
        for ((got, want), name) in row.iter().zip(want).zip(CYCLE_FEATURES) {
            // The grid hits every corner; rounding of times near 60 divided by durations.
            assert!((got - want).abs() < 1e-11, "{name} is {got}, expected {want}");
        }
        assert!(row.iter().skip(12).take(6).all(|relative| (relative - 1.0).abs() < 1e-11));
        assert!(row.iter().skip(18).all(|difference| difference.abs() < 1e-11));
    }
}

#[test]
fn events_label_the_cycle_that_begins_nearest() {
    let options = CycleOptions { onset: 0.0, ..CycleOptions::default() };
    // Nearest to 10 s, nearest to 15 s, again 15 s (taken), and too far from 40 s.
    let events = [9.7, 15.3, 15.4, 42.4];
    let labelled = session_from_signal("wave", &triangle_wave(), &events, &options, 1.0).unwrap();
    assert_eq!(labelled.session.len(), labelled.labels.len());
    assert_eq!(labelled.missed, [15.4, 42.4]);
    let times = labelled.event_times();
    // One step of the grid and half the filters.
    assert!((times[0] - 10.0).abs() < 0.1 && (times[1] - 15.0).abs() < 0.1, "{times:?}");

    assert!(session_from_signal("wave", &triangle_wave(), &[], &options, f64::NAN).is_err());

    assert!(labelled.session.labels().is_none() && labelled.session.stamps().is_empty());
    assert_eq!(labelled.recording().truth, Some(labelled.labels));
}
