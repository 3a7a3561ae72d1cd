//! Lines in panels above each other that share their horizontal axis.

use super::axis::{Axis, extent};
use super::canvas::{draw, text_width};
use super::curves::{Curve, CurveDot, line};
use super::frame::{Frame, TEXT};
use super::labels;
use super::style::styles;

/// The data of the figure.
#[derive(Debug, Clone, Default)]
pub(crate) struct Panels {
    /// Its title.
    pub title: String,
    /// Below the horizontal axis.
    pub x_label: String,
    /// From top to bottom.
    pub panels: Vec<Panel>,
}

/// One panel.
#[derive(Debug, Clone, Default)]
pub(crate) struct Panel {
    /// Beside the vertical axis.
    pub y_label: String,
    /// The lines.
    pub curves: Vec<Curve>,
}

/// Height of a panel, and of what lies above it for the names of its lines.
const PANEL: f64 = 160.0;
const NAMES: f64 = 34.0;

/// Draws the panels.
pub(crate) fn panels(data: &Panels) -> String {
    let points = data.panels.iter().flat_map(|panel| &panel.curves).flat_map(|own| &own.points);
    let (low, high) = extent(points.map(|point| point.x)).unwrap_or((0.0, 1.0));
    let each = PANEL + NAMES;
    let height = each * data.panels.len().max(1) as f64 + 52.0;
    draw((400, height as u32), &data.title, |canvas| {
        for (k, panel) in data.panels.iter().enumerate() {
            let top = each * k as f64 + NAMES;
            let heights = panel.curves.iter().flat_map(|own| &own.points).map(|point| point.y);
            let y = Axis::around(heights);
            // Room for the first and the last marker.
            let x = Axis::exactly(low, high + 0.02 * (high - low));
            let (left, right, bottom) = (60.0, 384.0, top + PANEL);
            let mut frame = Frame { canvas, x, y, left, right, top, bottom };
            let is_last = k + 1 == data.panels.len();
            if !is_last {
                frame.x.ticks.clear();
            }
            frame.axes(if is_last { &data.x_label } else { "" }, &panel.y_label);
            fill(&frame, panel);
        }
    })
}

/// The lines of a panel with their names above it.
fn fill(frame: &Frame<'_, '_>, panel: &Panel) {
    let styles = styles(panel.curves.iter().map(|curve| curve.name.as_str()));
    let mut x = frame.left;
    for (curve, style) in panel.curves.iter().zip(styles) {
        let points: Vec<CurveDot> =
            curve.points.iter().copied().filter(CurveDot::is_drawn).collect();
        line(frame, &points, style, 0.0);
        labels::sample(frame.canvas, &curve.name, style, (x, frame.top - 16.0));
        x += labels::SAMPLE + text_width(&curve.name, TEXT) + 14.0;
    }
}
