//! One line per learner: a score against a setting, with its uncertainty.

use super::axis::Axis;
use super::canvas::{Canvas, draw};
use super::frame::Frame;
use super::labels::{self, Label};
use super::style::{Style, styles};

/// The data of the figure.
#[derive(Debug, Clone, Default)]
pub struct Curves {
    /// Its title.
    pub title: String,
    /// Below the horizontal axis.
    pub x_label: String,
    /// Beside the vertical axis.
    pub y_label: String,
    /// Names of the places 0, 1, 2, … of a horizontal axis of categories; empty for numbers.
    pub categories: Vec<String>,
    /// Ends of the vertical axis; by default round numbers around the data.
    pub y_range: Option<(f64, f64)>,
    /// The lines.
    pub curves: Vec<Curve>,
}

/// One line.
#[derive(Debug, Clone)]
pub struct Curve {
    /// Its name.
    pub name: String,
    /// Its points, by rising x.
    pub points: Vec<CurveDot>,
}

/// One point and its interval; an interval that is not finite is left out.
#[derive(Debug, Clone, Copy)]
pub struct CurveDot {
    /// Setting.
    pub x: f64,
    /// Score.
    pub y: f64,
    /// Lower end of its interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl CurveDot {
    pub(super) fn is_drawn(&self) -> bool {
        self.x.is_finite() && self.y.is_finite()
    }
}

/// Draws lines with their intervals.
pub fn curves(data: &Curves) -> String {
    let room = labels::room(data.curves.iter().map(|curve| curve.name.as_str()));
    let (width, height) = (600.0 + room, 370.0);
    draw((width as u32, height as u32), &data.title, |canvas| {
        let (x, y) = axes(data);
        let (left, right, top, bottom) = (64.0, width - room, 14.0, height - 52.0);
        let frame = Frame { canvas, x, y, left, right, top, bottom };
        frame.axes(&data.x_label, &data.y_label);
        let styles = styles(data.curves.iter().map(|curve| curve.name.as_str()));
        let mut ends = Vec::new();
        for (k, (curve, style)) in data.curves.iter().zip(styles).enumerate() {
            let points: Vec<CurveDot> =
                curve.points.iter().copied().filter(CurveDot::is_drawn).collect();
            // A few pixels apart for each series, so that intervals at the same x do not overlap.
            let aside = 3.0 * (k as f64 - 0.5 * (data.curves.len() as f64 - 1.0));
            line(&frame, &points, style, aside);
            let y = points.last().map_or(bottom, |last| frame.up(last.y));
            ends.push(Label { name: &curve.name, style, y });
        }
        labels::write(canvas, ends, right + 10.0, top, bottom);
    })
}

fn axes(data: &Curves) -> (Axis, Axis) {
    let points = || data.curves.iter().flat_map(|curve| &curve.points);
    let x = if data.categories.is_empty() {
        // Half a step of space before the first point and after the last.
        let (low, high) = super::axis::extent(points().map(|p| p.x)).unwrap_or((0.0, 1.0));
        let air = 0.03 * (high - low);
        Axis::exactly(low - air, high + air)
    } else {
        Axis::named(&data.categories)
    };
    let y = match data.y_range {
        Some((low, high)) => Axis::exactly(low, high),
        None => Axis::around(points().flat_map(|p| [p.y, p.low, p.high])),
    };
    (x, y)
}

/// A line with the intervals of its points, moved aside by some pixels.
pub(super) fn line(frame: &Frame<'_, '_>, points: &[CurveDot], style: Style, aside: f64) {
    let canvas: &Canvas<'_> = frame.canvas;
    let shifted = |x: f64, y: f64| (frame.across(x) + aside, frame.up(y));
    let with_interval = || points.iter().filter(|p| p.low.is_finite() && p.high.is_finite());
    for point in with_interval() {
        let (low, high) = (shifted(point.x, point.low), shifted(point.x, point.high));
        canvas.line(&[low, high], style.solid(1.2).faint(0.6));
        for (x, y) in [low, high] {
            canvas.line(&[(x - 3.0, y), (x + 3.0, y)], style.solid(1.2).faint(0.6));
        }
    }
    let places: Vec<_> = points.iter().map(|point| shifted(point.x, point.y)).collect();
    canvas.line(&places, style.pen(1.8));
    places.iter().for_each(|&place| style.mark(canvas, place, 3.6));
}
