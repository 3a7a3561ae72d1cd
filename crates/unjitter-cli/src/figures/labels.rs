//! Names beside the ends of lines, pushed apart until none covers another.

use super::canvas::{Anchor, Canvas, Place, text_width};
use super::frame::TEXT;
use super::style::Style;
use crate::palette::INK;

/// Pixels from one name to the next.
const APART: f64 = 17.0;
/// Pixels before a name for its line and marker.
pub(super) const SAMPLE: f64 = 34.0;

/// Pixels that the longest name needs to the right of a figure.
pub(super) fn room<'n>(names: impl Iterator<Item = &'n str>) -> f64 {
    names.map(|name| text_width(name, TEXT)).fold(0.0, f64::max) + SAMPLE + 18.0
}

/// A name with the height at which its line ends.
pub(super) struct Label<'n> {
    pub(super) name: &'n str,
    pub(super) style: Style,
    pub(super) y: f64,
}

/// Writes the names from `x` on, each as near to its height as the others allow, inside `top..bottom` if
/// they fit.
pub(super) fn write(
    canvas: &Canvas<'_>,
    mut labels: Vec<Label<'_>>,
    x: f64,
    top: f64,
    bottom: f64,
) {
    labels.sort_by(|a, b| a.y.total_cmp(&b.y));
    for k in 1..labels.len() {
        labels[k].y = labels[k].y.max(labels[k - 1].y + APART);
    }
    // Names pushed below the edge push back.
    let mut limit = bottom;
    for label in labels.iter_mut().rev() {
        label.y = label.y.min(limit);
        limit = label.y - APART;
    }
    let overflow = labels.first().map_or(0.0, |label| (top - label.y).max(0.0));
    for Label { name, style, y } in labels {
        sample(canvas, name, style, (x, y + overflow));
    }
}

/// A name behind a piece of its line with a marker.
pub(super) fn sample(canvas: &Canvas<'_>, name: &str, style: Style, (x, y): Place) {
    canvas.line(&[(x, y), (x + SAMPLE - 8.0, y)], style.pen(1.8));
    style.mark(canvas, (x + 0.5 * (SAMPLE - 8.0), y), 3.6);
    canvas.text(name, (x + SAMPLE - 2.0, y), TEXT, INK, Anchor::Left);
}
