//! Quantiles of the delays against the learned ones, with the band of chance.

use super::axis::{Axis, extent};
use super::canvas::{Anchor, Pen, Place, draw};
use super::frame::{Frame, TEXT};
use crate::palette::{INK, MUTED, ORANGE};

/// The data of the figure.
#[derive(Debug, Clone, Default)]
pub(crate) struct Quantiles {
    /// Its title.
    pub title: String,
    /// Below the axis of learned delays, with their unit.
    pub x_label: String,
    /// Beside the axis of the stamps' delays.
    pub y_label: String,
    /// By rising quantile.
    pub points: Vec<QuantileDot>,
}

/// A quantile.
#[derive(Debug, Clone, Copy)]
pub(crate) struct QuantileDot {
    /// As learned.
    pub learned: f64,
    /// Of the stamps.
    pub found: f64,
    /// Where chance leaves it.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl QuantileDot {
    fn is_drawn(&self) -> bool {
        [self.learned, self.found, self.low, self.high].iter().all(|value| value.is_finite())
    }
}

/// Draws a dot for each quantile beside the diagonal and its band. Both axes have the range of the dots.
pub(crate) fn quantiles(data: &Quantiles) -> String {
    let (left, side, top) = (60.0, 320.0, 40.0);
    let (right, bottom) = (left + side, top + side);
    let points: Vec<QuantileDot> =
        data.points.iter().copied().filter(QuantileDot::is_drawn).collect();
    draw(((right + 20.0) as u32, (bottom + 52.0) as u32), &data.title, |canvas| {
        let range = extent(points.iter().flat_map(|point| [point.learned, point.found]));
        let (low, high) = range.unwrap_or((0.0, 1.0));
        let axis = Axis::exactly(low, high);
        let frame = Frame { canvas, x: axis.clone(), y: axis, left, right, top, bottom };
        frame.axes(&data.x_label, &data.y_label);
        let lower = points.iter().map(|point| frame.place(point.learned, point.low));
        let upper = points.iter().rev().map(|point| frame.place(point.learned, point.high));
        let band: Vec<Place> = lower.chain(upper).collect();
        if points.len() > 1 {
            canvas.fill(&band, MUTED, 0.16);
        }
        let diagonal = [frame.place(low, low), frame.place(high, high)];
        canvas.line(&diagonal, Pen::new(MUTED, 1.2).dashed(Some((5.0, 4.0))));
        for point in &points {
            canvas.dot(frame.place(point.learned, point.found), 2.6, ORANGE, 1.0);
        }
        let (x, y) = (left, top - 22.0);
        canvas.dot((x + 6.0, y), 2.6, ORANGE, 1.0);
        canvas.text("stamps", (x + 16.0, y), TEXT, INK, Anchor::Left);
        canvas.rectangle((x + 92.0, y - 5.0), (x + 106.0, y + 5.0), MUTED, 0.16);
        canvas.text("95 % of chance", (x + 112.0, y), TEXT, INK, Anchor::Left);
    })
}
