//! The figure of an outcome: lines over a sweep, or marks side by side without one.
use unjitter_cli::figures::{Bar, Bars, Curve, CurveDot, Curves, bars, curves};

use crate::outcome::{Outcome, Point, Series};
use crate::spec::Measure;

/// For narrower scores, an axis from 0 to 1 would hide the differences.
const NARROW: f64 = 0.3;

/// The figure as SVG.
pub(crate) fn figure(outcome: &Outcome) -> String {
    let title = format!("{}: {}", outcome.dataset.name, outcome.title);
    let score = match outcome.measure {
        Measure::F1 => "F1, mean over folds and seeds",
        Measure::Bouts => "F1 of bouts, mean over folds and seeds",
        Measure::Kept => "share kept, mean over sessions and seeds",
    };
    let range = (spread(outcome) > NARROW).then_some((0.0, 1.0));
    match &outcome.sweep {
        Some(sweep) => curves(&Curves {
            title,
            x_label: sweep.clone(),
            y_label: score.to_owned(),
            categories: categories(outcome),
            y_range: range,
            curves: outcome.series.iter().map(|series| curve(series, outcome)).collect(),
        }),
        None => bars(&Bars {
            title,
            score_label: score.to_owned(),
            range,
            bars: outcome.series.iter().filter_map(bar).collect(),
        }),
    }
}

/// Names of the settings, if they are few whole numbers (of components): no axis between them.
fn categories(outcome: &Outcome) -> Vec<String> {
    let values: Vec<f64> = settings(outcome);
    let whole = values.iter().enumerate().all(|(k, &x)| x == (k + 1) as f64);
    if whole { values.iter().map(|x| x.to_string()).collect() } else { Vec::new() }
}

fn settings(outcome: &Outcome) -> Vec<f64> {
    let first = outcome.series.first();
    first.map_or(Vec::new(), |series| series.points.iter().filter_map(|p| p.x).collect())
}

fn spread(outcome: &Outcome) -> f64 {
    let means = || outcome.series.iter().flat_map(|s| s.points.iter().map(|p| p.mean.mean));
    means().fold(f64::NEG_INFINITY, f64::max) - means().fold(f64::INFINITY, f64::min)
}

fn curve(series: &Series, outcome: &Outcome) -> Curve {
    let is_named = !categories(outcome).is_empty();
    let dot = |(k, point): (usize, &Point)| CurveDot {
        x: if is_named { k as f64 } else { point.x.unwrap_or(k as f64) },
        y: point.mean.mean,
        low: point.mean.low,
        high: point.mean.high,
    };
    let points = series.points.iter().enumerate().map(dot).collect();
    Curve { name: series.learner.clone(), points }
}

fn bar(series: &Series) -> Option<Bar> {
    let point = series.points.first()?;
    Some(Bar {
        name: series.learner.clone(),
        value: point.mean.mean,
        low: point.mean.low,
        high: point.mean.high,
        folds: point.folds.clone(),
    })
}
