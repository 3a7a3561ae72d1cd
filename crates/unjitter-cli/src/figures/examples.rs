//! An example of every figure for visual checks: set `UNJITTER_FIGURES` to a folder and run the tests.

use super::*;

const LEARNERS: [&str; 4] = ["LR-M", "LR-N", "MI", "LR-H"];

#[test]
fn examples_for_the_eye() {
    let Some(folder) = std::env::var_os("UNJITTER_FIGURES") else { return };
    let examples = [
        ("curves", curves_example()),
        ("curves_over_names", curves_over_names_example()),
        ("bars", bars_example()),
        ("precision_recall", precision_recall_example()),
        ("calibration", calibration_example()),
        ("changes", changes_example()),
        ("clocks", clocks_example()),
        ("groups", groups_example()),
        ("panels", panels_example()),
        ("delays", delays_example()),
        ("residuals", residuals_example()),
        ("quantiles", quantiles_example()),
        ("profiles", profiles_example()),
        ("drift", drift_example()),
        ("alignment", alignment_example()),
    ];
    for (name, svg) in examples {
        let path = std::path::Path::new(&folder).join(name).with_extension("svg");
        std::fs::write(path, svg).unwrap();
    }
}

/// A made-up score of the k-th learner at a spread x.
fn level(k: usize, x: f64) -> f64 {
    [0.88 - 0.01 * x, 0.9 * (-0.5 * x).exp(), 0.9 - 0.1 * x, 0.885][k]
}

fn curve(k: usize, settings: &[f64]) -> Curve {
    let dot = |&x: &f64| {
        let y = level(k, x);
        CurveDot { x, y, low: y - 0.04, high: y + 0.04 }
    };
    Curve { name: LEARNERS[k].into(), points: settings.iter().map(dot).collect() }
}

fn curves_example() -> String {
    curves(&Curves {
        title: "mpuff: F1 as stamps get sloppier".into(),
        x_label: "spread of delays (median spacings)".into(),
        y_label: "F1, mean over folds and seeds".into(),
        y_range: Some((0.0, 1.0)),
        curves: (0..4).map(|k| curve(k, &[0.25, 0.5, 1.0, 2.0, 3.0, 5.0])).collect(),
        ..Curves::default()
    })
}

fn curves_over_names_example() -> String {
    curves(&Curves {
        title: "Number of components".into(),
        x_label: "components".into(),
        y_label: "F1".into(),
        categories: ["1", "2", "3", "4"].map(String::from).to_vec(),
        curves: vec![curve(0, &[0.0, 1.0, 2.0, 3.0])],
        ..Curves::default()
    })
}

fn bars_example() -> String {
    let bar = |k: usize| {
        let value = level(k, 2.0);
        let fold = |j: u32| value + 0.1 * (1.7 * f64::from(j)).sin();
        let (name, folds) = (LEARNERS[k].into(), (0..20).map(fold).collect());
        Bar { name, value, low: value - 0.05, high: value + 0.05, folds }
    };
    bars(&Bars {
        title: "mpuff: human-like errors".into(),
        score_label: "F1".into(),
        range: Some((0.0, 1.0)),
        bars: (0..4).map(bar).collect(),
    })
}

fn precision_recall_example() -> String {
    let one = |k: usize| {
        let at = |recall: f64| (recall, 1.0 - (0.2 + 0.2 * k as f64) * recall.powi(3));
        PrecisionRecallCurve {
            name: LEARNERS[k].into(),
            points: (1..=40).map(|j| at(f64::from(j) / 40.0)).collect(),
            used: Some(at(0.8)),
        }
    };
    let title = "Precision and recall".into();
    precision_recall(&PrecisionRecall { title, curves: (0..4).map(one).collect() })
}

fn calibration_example() -> String {
    let bin = |(predicted, observed, count)| CalibrationBin { predicted, observed, count };
    let bins = [
        (0.02, 0.01, 3000),
        (0.15, 0.1, 120),
        (0.3, 0.36, 40),
        (0.52, 0.5, 22),
        (0.75, 0.8, 31),
        (0.97, 0.95, 150),
    ];
    calibration(&Calibration { title: "Calibration".into(), bins: bins.map(bin).to_vec() })
}

fn changes_example() -> String {
    let bell = |x: f64, width: f64| (-0.5 * ((x - 2.0) / width).powi(2)).exp();
    let line = |width: f64, height: f64| -> Vec<(f64, f64)> {
        let lags = (-40..=80).map(|k| f64::from(k) / 8.0);
        lags.map(|x| (x, height * bell(x, width) + 0.4 * (9.0 * x / width).sin())).collect()
    };
    changes(&Changes {
        title: "Where around the presses do the features change?".into(),
        x_label: "time before the press, in seconds".into(),
        best_width: "windows of 2.3 s".into(),
        best: line(1.2, 8.0),
        others: vec![line(0.6, 4.0), line(2.4, 6.0), line(4.0, 2.0)],
        chance: 4.5,
        peaks: vec![(2.0, 8.3, "2 s before".into())],
        range: (-5.0, 10.0),
    })
}

fn clocks_example() -> String {
    let panel = |name: &str, verdict: &str, tops: &[(f64, f64)]| {
        let height = |x: f64| {
            let top = |&(at, height): &(f64, f64)| height - 0.5 * ((x - at) / 1.5).powi(2);
            tops.iter().map(top).fold(-14.0 + (0.7 * x).sin(), f64::max)
        };
        let profile = (-1200..=1200).map(|k| 0.1 * f64::from(k)).map(|x| (x, height(x)));
        ClockPanel {
            name: name.into(),
            verdict: verdict.into(),
            is_found: tops.len() == 1,
            best: tops.first().map_or(f64::NAN, |top| top.0),
            interval: tops.first().map_or((-120.0, 120.0), |top| (top.0 - 3.0, top.0 + 3.0)),
            others: tops.iter().skip(1).copied().collect(),
            profile: profile.collect(),
        }
    };
    clocks(&Clocks {
        title: "Where the clocks are, by session".into(),
        x_label: "stamps are late by, in seconds".into(),
        panels: vec![
            panel("session-01", "found", &[(43.0, 0.0)]),
            panel("a session with a long name indeed", "several", &[(-70.0, 0.0), (20.0, -1.0)]),
            panel("session-03", "found", &[(-3.0, 0.0)]),
        ],
        more: Some("and 12 other clocks that are found".into()),
    })
}

fn groups_example() -> String {
    let dot = |k: i32| {
        let value = 0.2 * f64::from(k) - 1.0 + 0.1 * f64::from(7 * k % 5);
        let width = 0.3 + 0.1 * f64::from(k % 3);
        let name =
            if k == 4 { "a session with a long name indeed".into() } else { format!("s{k}") };
        GroupDot { name, value, low: value - width, high: value + width }
    };
    groups(&Groups {
        title: "Groups".into(),
        panels: vec![
            GroupPanel {
                name: "Delay by annotator".into(),
                x_label: "in seconds".into(),
                of_all: 0.7,
                groups: (0..12).map(dot).collect(),
                more: Some("and 3 annotators that differ less".into()),
            },
            GroupPanel {
                name: "Clock drift by session".into(),
                x_label: "in ppm".into(),
                of_all: 0.0,
                groups: (0..3).map(dot).collect(),
                more: None,
            },
        ],
    })
}

fn panels_example() -> String {
    let curve = |name: &str, from: f64, steps: &[f64]| {
        let dot =
            |&x: &f64| CurveDot { x, y: from - 0.2 / (x + 2.0), low: f64::NAN, high: f64::NAN };
        Curve { name: name.into(), points: steps.iter().map(dot).collect() }
    };
    let stamped = curve("stamped", 0.9, &[0.0, 5.0, 10.0, 20.0, 40.0]);
    let labelled = curve("labelled", 0.95, &[0.0, 1.0, 3.0, 5.0, 10.0]);
    let f1 = Panel { y_label: "expected F1".into(), curves: vec![stamped.clone(), labelled] };
    let widths = Panel { y_label: "width".into(), curves: vec![stamped] };
    panels(&Panels {
        title: "What more sessions would tell".into(),
        x_label: "sessions".into(),
        panels: vec![f1, widths],
    })
}

fn delays_example() -> String {
    // Sums of three fractions are nearly bell-shaped.
    let delay = |k: i32| {
        let u = 0.618_033_9 * f64::from(k);
        2.0 * (u.fract() + (3.1 * u).fract() + (7.7 * u).fract() - 1.5) + 0.4
    };
    let bell = |x: f64| (x, (-0.5 * (x - 0.4).powi(2)).exp() / 2.5066);
    delays(&Delays {
        title: "Delays of the stamps".into(),
        x_label: "stamp − instance (s)".into(),
        delays: (0..179).map(delay).chain([9.0]).map(|delay| (delay, 1.0)).collect(),
        density: (0..=120).map(|k| bell(f64::from(k) / 15.0 - 4.0)).collect(),
    })
}

fn residuals_example() -> String {
    let gap = |k: i32| (0.618_033_9 * f64::from(k)).fract().powf(1.15);
    residuals(&Residuals {
        title: "Do stamps come as expected?".into(),
        gaps: (0..180).map(gap).collect(),
        band: 0.1,
    })
}

fn quantiles_example() -> String {
    let dot = |k: i32| {
        let x = f64::from(k - 50) / 16.0;
        QuantileDot {
            learned: x,
            found: 1.05 * x + 0.1,
            low: x - 0.3,
            high: x + 0.3 + 0.01 * x * x,
        }
    };
    quantiles(&Quantiles {
        title: "Are delays distributed as was learned?".into(),
        x_label: "learned quantile of the delay, in seconds".into(),
        y_label: "quantile of the stamps".into(),
        points: (0..100).map(dot).collect(),
    })
}

fn profiles_example() -> String {
    let roots = || (-25..=25).map(|k| f64::from(k) / 10.0);
    let panel = |name: &str, value: f64, error: f64, bend: f64| ProfilePanel {
        name: name.into(),
        value,
        profile: roots().map(|r| (value + error * r * (1.0 + bend * r), 0.5 * r * r)).collect(),
        parabola: roots().map(|r| (value + error * r, 0.5 * r * r)).collect(),
    };
    profiles(&Profiles {
        title: "How sure is what was learned?".into(),
        panels: vec![
            panel("delay, in seconds", 1.9, 0.3, 0.0),
            panel("events missed, in %", 6.3, 3.0, 0.15),
        ],
    })
}

fn drift_example() -> String {
    let stamp = |k: i32| {
        let u = 0.618_033_9 * f64::from(k);
        (u.fract(), 2.0 * (3.1 * u).fract() + (7.7 * u).fract() + u.fract(), (5.3 * u).fract())
    };
    drift(&Drift {
        title: "Do presses get later?".into(),
        x_label: "place in the session, from beginning to end".into(),
        y_label: "delay, in seconds".into(),
        stamps: (0..180).map(stamp).collect(),
        slope: Some((1.0, 0.2)),
    })
}

fn alignment_example() -> String {
    let instance = |k: i32| {
        let is_true = k % 11 == 5;
        let probability = if is_true { 0.93 } else { 0.05 + 0.1 * f64::from(k).sin().abs() };
        AlignmentInstance { time: 3.9 * f64::from(k), probability, is_true }
    };
    let stamp = |(time, instance, is_spurious)| AlignmentStamp { time, instance, is_spurious };
    let stamps = [
        (16.0, 19.5, false),
        (68.0, 62.4, false),
        (90.0, 90.0, true),
        (112.0, 105.3, false),
        (146.0, 148.2, false),
        (205.0, 191.1, false),
    ];
    alignment(&Alignment {
        title: "session-03: where the stamps belong".into(),
        x_label: "time (s)".into(),
        instances: (0..60).map(instance).collect(),
        stamps: stamps.map(stamp).to_vec(),
        bouts: vec![AlignmentBout {
            stamped: (112.0, 160.0),
            placed: (105.3, 148.2),
            is_spurious: false,
        }],
    })
}
