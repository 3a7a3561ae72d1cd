//! Delays of the presses, and the learned density.

use super::axis::{Axis, extent};
use super::canvas::{Anchor, Pen, draw};
use super::frame::{Frame, TEXT};
use crate::palette::{BLUE, INK, MUTED, ORANGE};

/// The data of the figure.
#[derive(Debug, Clone, Default)]
pub(crate) struct Delays {
    /// Its title.
    pub title: String,
    /// Below the axis of delays, with their unit.
    pub x_label: String,
    /// Delays with their weights.
    pub delays: Vec<(f64, f64)>,
    /// The learned density: delay and height, by rising delay.
    pub density: Vec<(f64, f64)>,
}

/// Draws a histogram of unit area under the density. The axis is as wide as the density; a note counts
/// the delays outside.
pub(crate) fn delays(data: &Delays) -> String {
    let (left, right, top, bottom) = (60.0, 384.0, 40.0, 260.0);
    draw((400, 312), &data.title, |canvas| {
        let range = extent(data.density.iter().map(|point| point.0))
            .or_else(|| extent(data.delays.iter().map(|delay| delay.0)));
        let (low, high) = range.unwrap_or((0.0, 1.0));
        let x = Axis::exactly(low, high);
        let bins = histogram(&data.delays, &x);
        let heights = bins.iter().map(|bin| bin.2).chain(data.density.iter().map(|p| p.1));
        let y = Axis::around(heights.chain([0.0]));
        let frame = Frame { canvas, x, y, left, right, top, bottom };
        frame.axes(&data.x_label, "density");
        for (from, to, height) in bins {
            let (corner, foot) = (frame.place(from, height), frame.place(to, 0.0));
            canvas.rectangle((corner.0 + 0.5, corner.1), (foot.0 - 0.5, foot.1), ORANGE, 0.6);
        }
        let density: Vec<_> = data
            .density
            .iter()
            .filter(|p| p.0.is_finite() && p.1.is_finite())
            .map(|p| frame.place(p.0, p.1))
            .collect();
        canvas.line(&density, Pen::new(BLUE, 2.2));
        if frame.x.holds(0.0) {
            let zero = frame.across(0.0);
            let pen = Pen::new(MUTED, 1.0).dashed(Some((4.0, 4.0)));
            canvas.line(&[(zero, top), (zero, bottom)], pen);
        }
        legend(&frame, data);
    })
}

fn legend(frame: &Frame<'_, '_>, data: &Delays) {
    let (canvas, y) = (frame.canvas, frame.top - 22.0);
    let x = frame.left;
    canvas.rectangle((x, y - 5.0), (x + 14.0, y + 5.0), ORANGE, 0.6);
    canvas.text("stamps", (x + 20.0, y), TEXT, INK, Anchor::Left);
    canvas.line(&[(x + 76.0, y), (x + 100.0, y)], Pen::new(BLUE, 2.2));
    canvas.text("learned", (x + 106.0, y), TEXT, INK, Anchor::Left);
    let outside = data.delays.iter().filter(|delay| !frame.x.holds(delay.0)).count();
    if outside > 0 {
        let note = format!("{outside} of {} outside", data.delays.len());
        canvas.text(&note, (frame.right, y), TEXT, MUTED, Anchor::Right);
    }
}

/// From, to and height of bins of equal width over the axis; with the delays outside, their area is one.
fn histogram(delays: &[(f64, f64)], axis: &Axis) -> Vec<(f64, f64, f64)> {
    let bins = (2.0 * (delays.len() as f64).sqrt()).clamp(8.0, 48.0) as usize;
    let mut sums = vec![0.0; bins];
    for &(delay, weight) in delays.iter().filter(|delay| axis.holds(delay.0)) {
        let bin = (axis.share(delay) * bins as f64) as usize;
        sums[bin.min(bins - 1)] += weight;
    }
    let total: f64 = delays.iter().map(|delay| delay.1).sum();
    let (low, high) = (axis.clamp(f64::NEG_INFINITY), axis.clamp(f64::INFINITY));
    let width = (high - low) / bins as f64;
    let bin = |(k, sum): (usize, f64)| {
        let from = low + k as f64 * width;
        (from, from + width, if total > 0.0 { sum / (total * width) } else { 0.0 })
    };
    sums.into_iter().enumerate().map(bin).collect()
}
