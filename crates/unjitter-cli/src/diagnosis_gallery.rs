//! The figures of a diagnosis.

use unjitter::diagnosis::{DelayQuantile, Diagnosis, Intervals};

use crate::figures::{
    Drift, ProfilePanel, Profiles, QuantileDot, Quantiles, Residuals, drift, profiles, quantiles,
    residuals,
};
use crate::gallery::{Drawing, drawing};

/// Most stamps and gaps that are drawn: more cannot be told apart.
const DRAWN: usize = 2000;

/// Names of the figures.
pub(crate) const STEMS: [&str; 4] = ["residuals", "quantiles", "drift", "profiles"];

/// All figures of a diagnosis.
pub(crate) fn diagnosis_drawings(found: &Diagnosis) -> Vec<Drawing> {
    let mut all = vec![residuals_drawing(found), quantiles_drawing(found), drift_drawing(found)];
    all.extend(found.intervals.as_deref().and_then(profiles_drawing));
    all
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

/// None if no profile was followed.
fn profiles_drawing(intervals: &[Intervals]) -> Option<Drawing> {
    let panel = |own: &Intervals| {
        let (name, factor) = unit(own.name);
        let scaled = |points: &[(f64, f64)]| -> Vec<(f64, f64)> {
            points.iter().map(|&(value, fall)| (factor * value, fall)).collect()
        };
        let (profile, parabola) = (scaled(&own.curve), scaled(&own.parabola));
        ProfilePanel { name: name.to_owned(), value: factor * own.value, profile, parabola }
    };
    let followed = intervals.iter().filter(|own| !own.curve.is_empty());
    let panels: Vec<ProfilePanel> = followed.map(panel).collect();
    let title = "How sure is what was learned?";
    let caption = "How far the log posterior falls as a number moves away and all others follow. \
                   The interval of 95 % ends where the line crosses. Where profile and parabola \
                   part, a standard error alone would mislead.";
    let is_any = !panels.is_empty();
    let data = Profiles { title: title.to_owned(), panels };
    is_any.then(|| drawing(STEMS[3], title, caption, profiles(&data)))
}

/// What a number is called on an axis, and its factor there.
fn unit(name: &str) -> (&'static str, f64) {
    match name {
        "delay" => ("delay, in seconds", 1.0),
        "spread" => ("spread, in seconds", 1.0),
        "miss_rate" => ("events missed, in %", 100.0),
        "false_rate" => ("other instances pressed at, in %", 100.0),
        _ => ("presses at no instance, per hour", 3600.0),
    }
}
