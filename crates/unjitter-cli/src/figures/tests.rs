//! Every figure by table: nothing breaks it, nothing leaks into it, and its colours are the palette's.

use super::*;
use crate::palette;

/// A figure drawn from the same few numbers.
type Draw = fn(name: &str, numbers: &[f64]) -> String;

const FIGURES: [(&str, Draw); 16] = [
    ("curves", |name, numbers| {
        let dot = |&y: &f64| CurveDot { x: 3.0 * y, y, low: y - 0.1, high: y + 0.1 };
        let curve = Curve { name: name.into(), points: numbers.iter().map(dot).collect() };
        curves(&Curves { title: name.into(), curves: vec![curve; 3], ..Curves::default() })
    }),
    ("curves over names", |name, numbers| {
        let dot = |(k, &y): (usize, &f64)| CurveDot { x: k as f64, y, low: y, high: f64::NAN };
        let points = numbers.iter().enumerate().map(dot).collect();
        let curve = Curve { name: name.into(), points };
        let categories = vec![name.to_owned(); numbers.len()];
        curves(&Curves { categories, curves: vec![curve], ..Curves::default() })
    }),
    ("bars", |name, numbers| {
        let value = numbers.first().copied().unwrap_or(f64::NAN);
        let folds = numbers.to_vec();
        let bar = Bar { name: name.into(), value, low: value - 0.1, high: value + 0.1, folds };
        let count = if numbers.is_empty() { 0 } else { 9 };
        bars(&Bars { title: name.into(), bars: vec![bar; count], ..Bars::default() })
    }),
    ("bars on a given range", |name, numbers| {
        let bar =
            |&value: &f64| Bar { name: name.into(), value, low: 0.0, high: 9.0, folds: vec![] };
        let bars_of = numbers.iter().map(bar).collect();
        bars(&Bars { range: Some((0.0, 1.0)), bars: bars_of, ..Bars::default() })
    }),
    ("precision and recall", |name, numbers| {
        let points: Vec<_> = numbers.iter().map(|&r| (r, 1.0 - 0.5 * r)).collect();
        let used = points.first().copied();
        let curve = PrecisionRecallCurve { name: name.into(), points, used };
        precision_recall(&PrecisionRecall { title: name.into(), curves: vec![curve; 2] })
    }),
    ("calibration", |name, numbers| {
        let bin = |&p: &f64| CalibrationBin {
            predicted: p,
            observed: p * p,
            count: (100.0 * p) as usize,
        };
        calibration(&Calibration { title: name.into(), bins: numbers.iter().map(bin).collect() })
    }),
    ("changes", |name, numbers| {
        let line: Vec<(f64, f64)> = numbers.iter().map(|&x| (x, 9.0 * x)).collect();
        changes(&Changes {
            title: name.into(),
            x_label: name.into(),
            best_width: name.into(),
            peaks: line.iter().map(|&(lag, strength)| (lag, strength, name.into())).collect(),
            others: vec![line.clone()],
            best: line,
            chance: 4.5,
            range: (-1.0, 1.0),
        })
    }),
    ("clocks", |name, numbers| {
        let best = numbers.first().copied().unwrap_or(f64::NAN);
        let profile: Vec<(f64, f64)> = numbers.iter().map(|&x| (x, -x)).collect();
        let panel = ClockPanel {
            name: name.into(),
            verdict: name.into(),
            is_found: false,
            best,
            interval: (best - 0.1, best + 0.1),
            others: profile.clone(),
            profile,
        };
        clocks(&Clocks {
            title: name.into(),
            x_label: name.into(),
            panels: if numbers.is_empty() { Vec::new() } else { vec![panel; 3] },
            more: Some(name.into()),
        })
    }),
    ("groups", |name, numbers| {
        let value = numbers.first().copied().unwrap_or(f64::NAN);
        let group = GroupDot { name: name.into(), value, low: value - 0.1, high: value + 0.1 };
        let panel = GroupPanel {
            name: name.into(),
            x_label: name.into(),
            of_all: value,
            groups: if numbers.is_empty() { Vec::new() } else { vec![group; 3] },
            more: Some(name.into()),
        };
        groups(&Groups { title: name.into(), panels: vec![panel; 2] })
    }),
    ("panels", |name, numbers| {
        let dot = |&y: &f64| CurveDot { x: 3.0 * y, y, low: f64::NAN, high: f64::NAN };
        let curve = Curve { name: name.into(), points: numbers.iter().map(dot).collect() };
        let panel = Panel { y_label: name.into(), curves: vec![curve; 2] };
        panels(&Panels { title: name.into(), x_label: name.into(), panels: vec![panel; 2] })
    }),
    ("delays", |name, numbers| {
        let density = numbers.iter().map(|&x| (x, 1.0)).collect();
        let of = numbers.iter().map(|&x| (2.0 * x, 0.5)).collect();
        delays(&Delays { title: name.into(), x_label: name.into(), delays: of, density })
    }),
    ("residuals", |name, numbers| {
        residuals(&Residuals { title: name.into(), gaps: numbers.to_vec(), band: 0.2 })
    }),
    ("quantiles", |name, numbers| {
        let dot =
            |&x: &f64| QuantileDot { learned: x, found: 1.1 * x, low: 0.8 * x, high: 1.2 * x };
        quantiles(&Quantiles {
            title: name.into(),
            x_label: name.into(),
            y_label: name.into(),
            points: numbers.iter().map(dot).collect(),
        })
    }),
    ("profiles", |name, numbers| {
        let fall: Vec<(f64, f64)> = numbers.iter().map(|&x| (x, x * x)).collect();
        let panel = ProfilePanel {
            name: name.into(),
            value: numbers.first().copied().unwrap_or(f64::NAN),
            profile: fall.clone(),
            parabola: fall,
        };
        let panels = if numbers.is_empty() { Vec::new() } else { vec![panel; 3] };
        profiles(&Profiles { title: name.into(), panels })
    }),
    ("drift", |name, numbers| {
        drift(&Drift {
            title: name.into(),
            x_label: name.into(),
            y_label: name.into(),
            stamps: numbers.iter().map(|&x| (x, 2.0 * x, 0.5)).collect(),
            slope: Some((0.4, 0.1)),
        })
    }),
    ("alignment", |name, numbers| {
        let instance =
            |&time: &f64| AlignmentInstance { time, probability: 0.4, is_true: time > 0.3 };
        let stamp =
            |&time: &f64| AlignmentStamp { time, instance: time + 0.1, is_spurious: time > 0.8 };
        let bout = |&time: &f64| AlignmentBout {
            stamped: (time, time + 0.3),
            placed: (time - 0.1, time + 0.2),
            is_spurious: time > 0.8,
        };
        alignment(&Alignment {
            title: name.into(),
            x_label: name.into(),
            instances: numbers.iter().map(instance).collect(),
            stamps: numbers.iter().map(stamp).collect(),
            bouts: numbers.iter().map(bout).collect(),
        })
    }),
];

const NUMBERS: [&[f64]; 8] = [
    &[],
    &[0.0],
    &[0.7],
    &[0.5, 0.5, 0.5],
    &[0.1, 0.4, 0.9, 1.0],
    &[f64::NAN, 0.2, f64::INFINITY],
    &[1e300, -1e300],
    &[1e-300, 2e-300],
];

#[test]
fn no_data_breaks_a_figure() {
    for (figure, draw) in FIGURES {
        for numbers in NUMBERS {
            let svg = draw("LR-M", numbers);
            let place = format!("{figure} of {numbers:?}");
            assert!(
                svg.starts_with("<svg xmlns=") && svg.trim_end().ends_with("</svg>"),
                "{place}"
            );
            assert!(!svg.contains("NaN") && !svg.contains("inf\""), "{place}");
        }
    }
}

#[test]
fn what_is_not_finite_is_left_out() {
    for (figure, draw) in FIGURES {
        // These print their number of values.
        if ["bars", "bars on a given range", "curves over names", "delays"].contains(&figure) {
            continue;
        }
        let with = draw("LR-M", &[0.2, f64::NAN, 0.6, f64::INFINITY, f64::NEG_INFINITY]);
        assert!(with == draw("LR-M", &[0.2, 0.6]), "{figure}");
    }
}

#[test]
fn names_cannot_break_out() {
    for (figure, draw) in FIGURES {
        for hostile in ["<script>alert(1)</script>", "a\"b", "x & y"] {
            let svg = draw(hostile, &[0.2, 0.6]);
            assert!(!svg.contains("<script"), "{figure}");
            assert!(!svg.contains("a\"b") && !svg.contains("x & y"), "{figure}");
        }
    }
}

#[test]
fn only_the_palette_is_used_and_no_background() {
    use palette::*;
    let known = [INK, MUTED, GRID, BLUE, BLACK, ORANGE, VERMILION, GREEN, PURPLE, SKY];
    for (figure, draw) in FIGURES {
        let svg = draw("LR-N", &[0.1, 0.5, 0.9]);
        for (at, _) in svg.match_indices("\"#") {
            let hex = &svg[at + 1..at + 8];
            assert!(known.contains(&hex), "{figure}: {hex}");
        }
        assert!(!svg.contains("#FFFFFF"), "{figure}");
    }
}

#[test]
fn the_same_numbers_give_the_same_text() {
    for (figure, draw) in FIGURES {
        assert!(draw("MI", &[0.1, 0.9]) == draw("MI", &[0.1, 0.9]), "{figure}");
    }
}

#[test]
fn the_papers_learners_keep_their_colours() {
    let colours = |names: &[&str]| -> Vec<&str> {
        style::styles(names.iter().copied()).iter().map(|style| style.colour).collect()
    };
    assert_eq!(colours(&["LR-H", "LR-M"]), [palette::BLACK, palette::BLUE]);
    let five = colours(&["KLR-M", "NN-M", "LR-M", "NN-H", "LR-H"]);
    assert_eq!((five[2], five[4]), (palette::BLUE, palette::BLACK));
    let distinct: std::collections::BTreeSet<&str> = five.iter().copied().collect();
    assert_eq!(distinct.len(), 5);
    assert_eq!(colours(&["x"; 12]).len(), 12);
}

#[test]
fn series_differ_in_more_than_colour() {
    let curve = |name: &str, y| Curve {
        name: name.into(),
        points: vec![
            CurveDot { x: 0.0, y, low: y, high: y },
            CurveDot { x: 1.0, y, low: y, high: y },
        ],
    };
    let of = |curves_of| curves(&Curves { curves: curves_of, ..Curves::default() });
    let shapes = |svg: &str| (svg.matches("<polyline").count(), svg.matches("<polygon").count());
    let (first, second) = (of(vec![curve("A", 0.5)]), of(vec![curve("A", 0.5), curve("B", 0.7)]));
    // The second line has dashes (many short lines) and squares, the first neither.
    assert_eq!(shapes(&first).1, 0);
    assert!(shapes(&second).0 > shapes(&first).0 + 10 && shapes(&second).1 >= 3);
}

#[test]
fn files_have_a_title_on_white_ground() {
    let svg = calibration(&Calibration { title: "x & \"y\"".into(), bins: vec![] });
    assert!(!svg.contains(">x &amp;"), "a page says the title itself");
    let file = as_file(&svg);
    let title = "fill=\"#222222\">x &amp; &quot;y&quot;</text>".replace("#222222", palette::INK);
    assert!(file.contains(&title) && file.contains("fill=\"#FFFFFF\""), "{file}");
    let body = |text: &str| text.split_once('>').unwrap().1.to_owned();
    assert!(file.ends_with(&body(&svg)), "the drawing itself is the same");
    // Taller by the title, whose place is above the drawing.
    assert!(svg.contains("height=\"486\" viewBox=\"0 0 4000 4860\""), "{svg}");
    assert!(file.contains("height=\"518\" viewBox=\"0 -320 4000 5180\""), "{file}");
    // Wider than the drawing, where the title is: 80 letters of about 8.12 between two margins of 16.
    let long = as_file(&calibration(&Calibration { title: "x".repeat(80), bins: vec![] }));
    assert!(long.contains("width=\"682\" height=\"518\" viewBox=\"0 -320 6820 5180\""), "{long}");
}

#[test]
fn a_telephone_shows_figures_of_the_page_legibly() {
    for (figure, draw) in FIGURES {
        if ["alignment", "curves", "curves over names"].contains(&figure) {
            continue;
        }
        let svg = draw("KLR-MI", &[0.1, 0.4, 0.9]);
        let width = svg.split("width=\"").nth(1).unwrap().split('"').next().unwrap();
        // A page 390 wide leaves 340 pixels: letters of 12 are shown at 10.
        assert!(width.parse::<f64>().unwrap() <= 412.0, "{figure}: {width}");
    }
}
