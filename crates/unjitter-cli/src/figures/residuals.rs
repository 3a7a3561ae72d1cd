//! Gaps between stamps against those that the model expects, with the band of chance.

use super::axis::Axis;
use super::canvas::{Anchor, Pen, Place, draw};
use super::frame::{Frame, TEXT};
use crate::palette::{BLUE, INK, MUTED};

/// The data of the figure.
#[derive(Debug, Clone, Default)]
pub(crate) struct Residuals {
    /// Its title.
    pub title: String,
    /// The probability of a gap no longer than each, in any order.
    pub gaps: Vec<f64>,
    /// How far the line may be from the diagonal.
    pub band: f64,
}

/// Draws the share of gaps below each, beside the diagonal and its band.
pub(crate) fn residuals(data: &Residuals) -> String {
    let (left, side, top) = (60.0, 320.0, 40.0);
    let (right, bottom) = (left + side, top + side);
    let mut gaps: Vec<f64> = data.gaps.iter().copied().filter(|gap| gap.is_finite()).collect();
    gaps.sort_by(f64::total_cmp);
    draw(((right + 20.0) as u32, (bottom + 52.0) as u32), &data.title, |canvas| {
        let (x, y) = (Axis::exactly(0.0, 1.0), Axis::exactly(0.0, 1.0));
        let frame = Frame { canvas, x, y, left, right, top, bottom };
        frame.axes("share of gaps that should be shorter", "share of gaps that are shorter");
        let band = if data.band.is_finite() { data.band.clamp(0.0, 1.0) } else { 1.0 };
        let corners = [(0.0, 0.0), (0.0, band), (1.0 - band, 1.0), (1.0, 1.0), (1.0, 1.0 - band)];
        let corners = corners.into_iter().chain([(band, 0.0)]).map(|(x, y)| frame.place(x, y));
        canvas.fill(&corners.collect::<Vec<_>>(), MUTED, 0.16);
        let diagonal = [frame.place(0.0, 0.0), frame.place(1.0, 1.0)];
        canvas.line(&diagonal, Pen::new(MUTED, 1.2).dashed(Some((5.0, 4.0))));
        let count = gaps.len() as f64;
        let step = |(k, &gap): (usize, &f64)| -> [Place; 2] {
            [frame.place(gap, k as f64 / count), frame.place(gap, (k + 1) as f64 / count)]
        };
        let steps = gaps.iter().enumerate().flat_map(step);
        let line: Vec<Place> =
            [diagonal[0]].into_iter().chain(steps).chain([diagonal[1]]).collect();
        if !gaps.is_empty() {
            canvas.line(&line, Pen::new(BLUE, 1.8));
        }
        let (x, y) = (left, top - 22.0);
        canvas.line(&[(x, y), (x + 24.0, y)], Pen::new(BLUE, 1.8));
        canvas.text("stamps", (x + 30.0, y), TEXT, INK, Anchor::Left);
        canvas.rectangle((x + 92.0, y - 5.0), (x + 106.0, y + 5.0), MUTED, 0.16);
        canvas.text("95 % of chance", (x + 112.0, y), TEXT, INK, Anchor::Left);
    })
}
