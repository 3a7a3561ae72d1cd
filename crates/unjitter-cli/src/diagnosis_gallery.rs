//! The figures of a diagnosis.

use unjitter::diagnosis::{DelayQuantile, Diagnosis};

use crate::figures::{Drift, QuantileDot, Quantiles, Residuals, drift, quantiles, residuals};
use crate::gallery::{Drawing, drawing};

/// Most stamps and gaps that are drawn: more cannot be told apart.
const DRAWN: usize = 2000;

/// Names of the figures.
pub(crate) const STEMS: [&str; 3] = ["residuals", "quantiles", "drift"];

/// All figures of a diagnosis.
pub(crate) fn diagnosis_drawings(found: &Diagnosis) -> Vec<Drawing> {
    vec![residuals_drawing(found), quantiles_drawing(found), drift_drawing(found)]
}

fn residuals_drawing(found: &Diagnosis) -> Drawing {
    let mut gaps = found.gaps.clone();
    gaps.sort_by(f64::total_cmp);
    let gaps = gaps.iter().step_by(gaps.len().div_ceil(DRAWN).max(1)).copied().collect();
    let title = "Do stamps come as expected?";
    let data = Residuals { title: title.to_owned(), gaps, band: found.residuals.band };
    let caption = "Gaps between stamps, in time that counts the stamps the model expects given \
                   those before. If the model is right, the line stays in the band.";
    drawing(STEMS[0], title, caption, residuals(&data))
}

fn quantiles_drawing(found: &Diagnosis) -> Drawing {
    let dot = |&DelayQuantile { learned, found, low, high }: &DelayQuantile| QuantileDot {
        learned,
        found,
        low,
        high,
    };
    let title = "Are delays distributed as was learned?";
    let data = Quantiles {
        title: title.to_owned(),
        x_label: "learned quantile of the delay, in seconds".to_owned(),
        y_label: "quantile of the stamps".to_owned(),
        points: found.quantiles.iter().map(dot).collect(),
    };
    let caption = "Quantiles of the delays of stamps from the instances that may have given them, \
                   weighted by their probabilities. If the learned distribution is right, the dots \
                   stay in the band.";
    drawing(STEMS[1], title, caption, quantiles(&data))
}

fn drift_drawing(found: &Diagnosis) -> Drawing {
    let points = found.points.iter().map(|own| (own.position, own.delay, own.weight));
    let title = "Do presses get later?";
    let data = Drift {
        title: title.to_owned(),
        x_label: "place in the session, from beginning to end".to_owned(),
        y_label: "delay, in seconds".to_owned(),
        stamps: points.step_by(found.points.len().div_ceil(DRAWN).max(1)).collect(),
        slope: found.over_session.map(|slope| (slope.slope, slope.standard_error)),
    };
    let caption = "The expected delay of each stamp, fainter the likelier it came from nowhere, by \
                   where in its session it is. The slope is that within sessions.";
    drawing(STEMS[2], title, caption, drift(&data))
}
