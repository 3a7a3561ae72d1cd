//! Invariance of the metrics: origin and unit of time, order of the sessions, of the instances and of the
//! events.

use proptest::collection::vec;
use proptest::prelude::*;
use unjitter::evaluation::*;

#[derive(Debug, Clone)]
struct Recording {
    detections: Vec<Detection>,
    truths: Vec<f64>,
    observed: f64,
}

impl Recording {
    fn view(&self) -> SessionEvents<'_> {
        let Self { detections, truths, observed } = self;
        SessionEvents { detections, truths, observed: *observed }
    }

    fn map_times(&self, new: impl Fn(f64) -> f64) -> Self {
        let moved = |d: &Detection| Detection::at(new(d.time), d.score);
        Self {
            detections: self.detections.iter().map(moved).collect(),
            truths: self.truths.iter().map(|&truth| new(truth)).collect(),
            observed: self.observed,
        }
    }
}

/// Times, scores and durations in sixty-fourths: every sum and difference is exact, ties are
/// common.
fn recordings() -> impl Strategy<Value = Vec<Recording>> {
    let sixty_fourths = |most: u32| (0..most).prop_map(|k| f64::from(k) / 64.0);
    let detection =
        (sixty_fourths(640), 0..6u32).prop_map(|(time, k)| Detection::at(time, k.into()));
    let recording = (
        vec(detection, 0..12),
        vec(sixty_fourths(640), 0..8),
        sixty_fourths(64_000).prop_map(|t| t + 1.0),
    );
    vec(
        recording.prop_map(|(detections, truths, observed)| Recording {
            detections,
            truths,
            observed,
        }),
        1..5,
    )
}

fn tolerances() -> impl Strategy<Value = Tolerance> {
    (0..64u32, 0..64u32).prop_map(|(before, after)| Tolerance {
        before: f64::from(before) / 64.0,
        after: f64::from(after) / 64.0,
    })
}

fn measure(
    recordings: &[Recording],
    tolerance: &Tolerance,
    seconds_per_unit: f64,
) -> (EventMetrics, f64) {
    let sessions: Vec<SessionEvents<'_>> = recordings.iter().map(Recording::view).collect();
    let metrics = event_metrics(&sessions, tolerance, seconds_per_unit).unwrap();
    (metrics, event_average_precision(&sessions, tolerance).unwrap())
}

proptest! {
    #![proptest_config(super::cases(500))]

    #[test]
    fn the_origin_of_time_does_not_matter(recordings in recordings(), tolerance in tolerances()) {
        let epoch: Vec<Recording> =
            recordings.iter().map(|recording| recording.map_times(|t| t + 1.7e9)).collect();
        prop_assert_eq!(measure(&epoch, &tolerance, 1.0), measure(&recordings, &tolerance, 1.0));
    }

    #[test]
    fn the_order_of_sessions_and_events_does_not_matter(
        (recordings, shuffled) in recordings()
            .prop_flat_map(|r| (Just(r.clone()), Just(r).prop_shuffle())),
        tolerance in tolerances(),
    ) {
        let mut reversed = shuffled;
        for recording in &mut reversed {
            recording.detections.reverse();
            recording.truths.reverse();
        }
        prop_assert_eq!(measure(&reversed, &tolerance, 1.0), measure(&recordings, &tolerance, 1.0));
    }

    #[test]
    fn the_unit_of_time_does_not_matter(recordings in recordings(), tolerance in tolerances()) {
        let scale = |recording: &Recording| Recording {
            observed: 1000.0 * recording.observed,
            ..recording.map_times(|t| 1000.0 * t)
        };
        let milliseconds: Vec<Recording> = recordings.iter().map(scale).collect();
        let Tolerance { before, after } = tolerance;
        let scaled = Tolerance { before: 1000.0 * before, after: 1000.0 * after };
        let (got, area) = measure(&milliseconds, &scaled, 0.001);
        let (want, want_area) = measure(&recordings, &tolerance, 1.0);
        prop_assert_eq!(area, want_area);
        let counts = |m: &EventMetrics| (m.hits, m.misses, m.false_alarms);
        prop_assert_eq!(counts(&got), counts(&want));
        prop_assert_eq!(got.scores, want.scores);
        let rate = |m: &EventMetrics| m.false_alarms_per_hour.unwrap();
        prop_assert!((rate(&got) - rate(&want)).abs() <= 1e-12 * rate(&want)); // 0.001 is rounded
        prop_assert_eq!(got.timing.is_some(), want.timing.is_some());
        if let (Some(got), Some(want)) = (got.timing, want.timing) {
            // Means are rounded after scaling, not before; the times are below 10 s.
            let near = |got: f64, want: f64| (got - 1000.0 * want).abs() <= 1e-11;
            prop_assert!(near(got.mean, want.mean) && near(got.median, want.median));
            prop_assert!(near(got.standard_deviation, want.standard_deviation));
            prop_assert!(near(got.mean_absolute, want.mean_absolute));
        }
    }

    #[test]
    fn a_wider_tolerance_never_loses_hits(recordings in recordings(), tolerance in tolerances()) {
        let Tolerance { before, after } = tolerance;
        let wider = Tolerance { before: before + 1.0 / 64.0, after };
        // Of the area this is not true: hits found earlier, but at low precision, may lower it.
        let (narrow, _) = measure(&recordings, &tolerance, 1.0);
        let (wide, _) = measure(&recordings, &wider, 1.0);
        prop_assert!(wide.hits >= narrow.hits);
    }

    #[test]
    fn events_keep_their_distance_and_leave_no_gap(
        instances in vec((0..640u32, 0..20u32), 0..60), separation in 0..100u32,
    ) {
        let times: Vec<f64> = instances.iter().map(|&(k, _)| f64::from(k) / 64.0).collect();
        let probabilities: Vec<f64> = instances.iter().map(|&(_, k)| f64::from(k) / 19.0).collect();
        let min_separation = f64::from(separation) / 64.0;
        let options = EventOptions { min_separation, ..EventOptions::default() };
        let events = detect_events(&times, &probabilities, &options).unwrap();
        for pair in events.windows(2) {
            prop_assert!(pair[1].time - pair[0].time >= min_separation);
        }
        // Every candidate left out is near an event at least as probable.
        for (&time, &probability) in times.iter().zip(&probabilities) {
            let explains = |event: &&Detection| {
                let distance = (event.time - time).abs();
                event.score >= probability && (distance == 0.0 || distance < min_separation)
            };
            prop_assert!(probability < 0.5 || events.iter().any(|event| explains(&event)));
        }
        let shifted: Vec<f64> = times.iter().map(|t| t + 1.7e9).collect();
        let later = detect_events(&shifted, &probabilities, &options).unwrap();
        let back: Vec<Detection> =
            later.iter().map(|d| Detection::at(d.time - 1.7e9, d.score)).collect();
        prop_assert_eq!(back, events);
    }

    #[test]
    fn the_order_of_instances_does_not_matter(
        (instances, shuffled) in vec((0..12u32, any::<bool>()), 1..40)
            .prop_flat_map(|i| (Just(i.clone()), Just(i).prop_shuffle())),
    ) {
        let split = |instances: &[(u32, bool)]| -> (Vec<f64>, Vec<bool>) {
            instances.iter().map(|&(k, label)| (f64::from(k) / 11.0, label)).unzip()
        };
        let ((p, labels), (q, others)) = (split(&instances), split(&shuffled));
        let measure = |p: &[f64], labels: &[bool]| {
            let curve = precision_recall_curve(p, labels).unwrap();
            (curve, average_precision(p, labels).unwrap(), best_f1(p, labels).unwrap())
        };
        prop_assert_eq!(measure(&p, &labels), measure(&q, &others));
    }
}
