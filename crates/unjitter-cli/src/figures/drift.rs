//! Delays of the stamps in the course of their sessions.

use super::axis::Axis;
use super::canvas::{Anchor, Pen, draw};
use super::frame::{Frame, TEXT};
use crate::palette::{BLUE, INK, ORANGE};

/// The data of the figure.
#[derive(Debug, Clone, Default)]
pub(crate) struct Drift {
    /// Its title.
    pub title: String,
    /// Below the axis of places.
    pub x_label: String,
    /// Beside the axis of delays, with their unit.
    pub y_label: String,
    /// Place from 0 to 1, delay and weight of each stamp.
    pub stamps: Vec<(f64, f64, f64)>,
    /// Slope and its standard error.
    pub slope: Option<(f64, f64)>,
}

/// Draws a dot for each stamp, fainter the less it weighs, and the line with two standard errors.
pub(crate) fn drift(data: &Drift) -> String {
    let (left, right, top, bottom) = (60.0, 384.0, 40.0, 260.0);
    let is_drawn = |own: &&(f64, f64, f64)| [own.0, own.1, own.2].iter().all(|v| v.is_finite());
    let stamps: Vec<(f64, f64, f64)> = data.stamps.iter().filter(is_drawn).copied().collect();
    draw((400, 312), &data.title, |canvas| {
        let (x, y) = (Axis::exactly(0.0, 1.0), Axis::around(stamps.iter().map(|own| own.1)));
        let frame = Frame { canvas, x, y, left, right, top, bottom };
        frame.axes(&data.x_label, &data.y_label);
        for &(place, delay, weight) in &stamps {
            let opacity = 0.15 + 0.55 * weight.clamp(0.0, 1.0);
            canvas.dot(frame.place(place, delay), 2.6, ORANGE, opacity);
        }
        let total: f64 = stamps.iter().map(|own| own.2).sum();
        let mean = |of: fn(&(f64, f64, f64)) -> f64| -> f64 {
            stamps.iter().map(|own| own.2 / total * of(own)).sum()
        };
        let (place, delay) = (mean(|own| own.0), mean(|own| own.1));
        let slope = data.slope.filter(|(slope, error)| slope.is_finite() && error.is_finite());
        if let (Some((slope, error)), true) = (slope, total > 0.0 && delay.is_finite()) {
            let at = |x: f64, slope: f64| frame.place(x, delay + slope * (x - place));
            let (steep, flat) = (slope + 2.0 * error, slope - 2.0 * error);
            let middle = at(place, 0.0);
            canvas.fill(&[at(0.0, steep), middle, at(0.0, flat)], BLUE, 0.18);
            canvas.fill(&[at(1.0, steep), middle, at(1.0, flat)], BLUE, 0.18);
            canvas.line(&[at(0.0, slope), at(1.0, slope)], Pen::new(BLUE, 2.2));
        }
        let (x, y) = (left, top - 22.0);
        canvas.dot((x + 6.0, y), 2.6, ORANGE, 0.7);
        canvas.text("stamps", (x + 16.0, y), TEXT, INK, Anchor::Left);
        canvas.line(&[(x + 92.0, y), (x + 116.0, y)], Pen::new(BLUE, 2.2));
        canvas.text("slope ± 2 standard errors", (x + 122.0, y), TEXT, INK, Anchor::Left);
    })
}
