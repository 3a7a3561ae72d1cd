//! Calibration: predicted against observed shares, and how often each was predicted.

use super::axis::Axis;
use super::canvas::{Anchor, Canvas, Pen, draw};
use super::frame::{Frame, TEXT};
use crate::palette::{BLUE, INK, MUTED};

/// The data of the figure.
#[derive(Debug, Clone, Default)]
pub(crate) struct Calibration {
    /// Its title.
    pub title: String,
    /// Groups of instances, by rising probability.
    pub bins: Vec<CalibrationBin>,
}

/// Instances of similar probability.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CalibrationBin {
    /// Mean of their probabilities.
    pub predicted: f64,
    /// Share of them that are positive.
    pub observed: f64,
    /// How many.
    pub count: usize,
}

/// Draws predicted against observed shares above a histogram of counts, on a logarithmic scale.
pub(crate) fn calibration(data: &Calibration) -> String {
    let (left, side, top) = (60.0, 320.0, 14.0);
    let (right, bottom) = (left + side, top + side);
    let (strip_top, strip_bottom) = (bottom + 30.0, bottom + 100.0);
    let finite = |bin: &&CalibrationBin| bin.predicted.is_finite() && bin.observed.is_finite();
    let bins: Vec<CalibrationBin> = data.bins.iter().filter(finite).copied().collect();
    draw(((right + 20.0) as u32, (strip_bottom + 52.0) as u32), &data.title, |canvas| {
        let (x, y) = (Axis::exactly(0.0, 1.0), Axis::exactly(0.0, 1.0));
        let frame = Frame { canvas, x, y, left, right, top, bottom };
        frame.axes("", "observed share of positives");
        let honest = [frame.place(0.0, 0.0), frame.place(1.0, 1.0)];
        canvas.line(&honest, Pen::new(MUTED, 1.2).dashed(Some((5.0, 4.0))));
        let (x, y) = (left + 12.0, top + 16.0);
        canvas.line(&[(x, y), (x + 26.0, y)], Pen::new(MUTED, 1.2).dashed(Some((5.0, 4.0))));
        canvas.text("perfect", (x + 32.0, y), TEXT, MUTED, Anchor::Left);
        let place = |bin: &CalibrationBin| frame.place(bin.predicted, bin.observed);
        let places: Vec<_> = bins.iter().map(place).collect();
        canvas.line(&places, Pen::new(BLUE, 1.8));
        places.iter().for_each(|&place| canvas.dot(place, 4.0, BLUE, 1.0));
        counts(canvas, &bins, (left, right), (strip_top, strip_bottom));
    })
}

fn counts(canvas: &Canvas<'_>, bins: &[CalibrationBin], across: (f64, f64), down: (f64, f64)) {
    let most = bins.iter().map(|bin| bin.count).max().unwrap_or(1).max(10) as f64;
    let (x, y) = (Axis::exactly(0.0, 1.0), Axis::exactly(0.0, most.log10()));
    let (left, right) = across;
    let frame = Frame { canvas, x, y, left, right, top: down.0, bottom: down.1 };
    frame.across_axis("predicted probability");
    let middle = 0.5 * (down.0 + down.1);
    canvas.text("instances", (left - 48.0, middle), TEXT, INK, Anchor::Upwards);
    for power in 0..=most.log10() as i32 {
        let label = format!("{:.0}", 10f64.powi(power));
        canvas.text(
            &label,
            (left - 8.0, frame.up(f64::from(power))),
            TEXT - 1.0,
            MUTED,
            Anchor::Right,
        );
    }
    for bin in bins.iter().filter(|bin| bin.count > 0) {
        let (x, y) = frame.place(bin.predicted, (bin.count as f64).log10());
        canvas.rectangle((x - 6.0, y.min(down.1 - 2.0)), (x + 6.0, down.1), BLUE, 0.55);
    }
}
