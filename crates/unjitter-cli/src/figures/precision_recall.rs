//! Precision against recall at every threshold, with guides of equal F1.

use super::axis::Axis;
use super::canvas::{Anchor, Pen, Place, draw};
use super::frame::{Frame, TEXT};
use super::labels::sample;
use super::style::{Style, styles};
use crate::palette::{GRID, MUTED};

/// The data of the figure.
#[derive(Debug, Clone, Default)]
pub(crate) struct PrecisionRecall {
    /// Its title.
    pub title: String,
    /// One per learner.
    pub curves: Vec<PrecisionRecallCurve>,
}

/// One learner.
#[derive(Debug, Clone)]
pub(crate) struct PrecisionRecallCurve {
    /// Its name.
    pub name: String,
    /// Recall and precision, by rising recall.
    pub points: Vec<(f64, f64)>,
    /// Recall and precision at the threshold in use, marked.
    pub used: Option<(f64, f64)>,
}

/// Pixels to the right of the frame for the names of the guides.
const GUIDE_LABELS: f64 = 44.0;
/// Names in a row below it.
const IN_A_ROW: usize = 3;

/// Draws steps: between two thresholds recall rises at the precision of the second.
pub(crate) fn precision_recall(data: &PrecisionRecall) -> String {
    let (side, left, top) = (300.0, 60.0, 14.0);
    let (right, bottom) = (left + side, top + side);
    let rows = data.curves.len().div_ceil(IN_A_ROW) as f64;
    let size = ((right + GUIDE_LABELS) as u32, (bottom + 52.0 + 20.0 * rows) as u32);
    draw(size, &data.title, |canvas| {
        let (x, y) = (Axis::exactly(0.0, 1.0), Axis::exactly(0.0, 1.0));
        let frame = Frame { canvas, x, y, left, right, top, bottom };
        frame.axes("recall", "precision");
        guides(&frame);
        let styles = styles(data.curves.iter().map(|curve| curve.name.as_str()));
        for (k, (curve, style)) in data.curves.iter().zip(styles).enumerate() {
            steps(&frame, curve, style);
            let (row, column) = ((k / IN_A_ROW) as f64, (k % IN_A_ROW) as f64);
            let place = (left + column * side / IN_A_ROW as f64, bottom + 60.0 + 20.0 * row);
            sample(canvas, &curve.name, style, place);
        }
    })
}

fn steps(frame: &Frame<'_, '_>, curve: &PrecisionRecallCurve, style: Style) {
    let mut places: Vec<Place> = Vec::new();
    for &(recall, precision) in curve.points.iter().filter(|(r, p)| r.is_finite() && p.is_finite())
    {
        let (x, y) = frame.place(recall, precision);
        places.push((places.last().map_or(frame.left, |last| last.0), y));
        places.push((x, y));
    }
    frame.canvas.line(&places, style.pen(1.8));
    if let Some((recall, precision)) = curve.used {
        style.mark(frame.canvas, frame.place(recall, precision), 5.0);
    }
}

/// Lines of equal 2·p·r / (p + r), labelled at recall one.
fn guides(frame: &Frame<'_, '_>) {
    for f1 in [0.2, 0.4, 0.6, 0.8] {
        let places: Vec<Place> = (0..=60)
            .map(|k| {
                // From precision 1 to recall 1, both at f1 / (2 − f1) on the other axis.
                let least = f1 / (2.0 - f1);
                let recall = least + (1.0 - least) * f64::from(k) / 60.0;
                frame.place(recall, f1 * recall / (2.0 * recall - f1))
            })
            .collect();
        frame.canvas.line(&places, Pen::new(GRID, 1.4).dashed(Some((4.0, 3.0))));
        let place = (frame.right + 6.0, frame.up(f1 / (2.0 - f1)));
        frame.canvas.text(&format!("F1 {f1}"), place, TEXT - 1.0, MUTED, Anchor::Left);
    }
}
