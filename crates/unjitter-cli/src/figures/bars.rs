//! Learners compared at one setting: a mark with an interval each, and every fold as a faint dot.

use super::axis::Axis;
use super::canvas::{Anchor, Pen, draw, text_width};
use super::frame::{Frame, TEXT};
use super::style::{Style, styles};
use crate::palette::{GRID, INK, MUTED};

/// The data of the figure.
#[derive(Debug, Clone, Default)]
pub struct Bars {
    /// Its title.
    pub title: String,
    /// Below the axis of scores.
    pub score_label: String,
    /// Ends of that axis; by default round numbers around the data.
    pub range: Option<(f64, f64)>,
    /// From top to bottom.
    pub bars: Vec<Bar>,
}

/// One learner.
#[derive(Debug, Clone)]
pub struct Bar {
    /// Its name.
    pub name: String,
    /// Its score.
    pub value: f64,
    /// Lower end of the interval; NaN for none.
    pub low: f64,
    /// Upper end of the interval; NaN for none.
    pub high: f64,
    /// Scores of single folds.
    pub folds: Vec<f64>,
}

/// Pixels for each learner.
const ROW: f64 = 38.0;
/// Pixels across for the scores: the most that a telephone shows legibly.
const PLOT: f64 = 200.0;
/// Pixels to the right of them for the scores as numbers.
const SCORES: f64 = 140.0;

/// Draws one row per learner.
pub fn bars(data: &Bars) -> String {
    let names = data.bars.iter().map(|bar| text_width(&bar.name, TEXT + 1.0));
    let left = names.fold(40.0, f64::max) + 24.0;
    let (right, top) = (left + PLOT, 14.0);
    let bottom = top + ROW * data.bars.len().max(1) as f64;
    let size = ((right + SCORES) as u32, (bottom + 52.0) as u32);
    draw(size, &data.title, |canvas| {
        let values = data
            .bars
            .iter()
            .flat_map(|bar| bar.folds.iter().chain([&bar.value, &bar.low, &bar.high]));
        let x = match data.range {
            Some((low, high)) => Axis::exactly(low, high),
            None => Axis::around(values.copied()),
        };
        let y = Axis::exactly(0.0, 1.0);
        let frame = Frame { canvas, x, y, left, right, top, bottom };
        for (value, _) in &frame.x.ticks {
            let x = frame.across(*value);
            canvas.line(&[(x, top), (x, bottom)], Pen::new(GRID, 0.8));
        }
        frame.across_axis(&data.score_label);
        let styles = styles(data.bars.iter().map(|bar| bar.name.as_str()));
        for (k, (bar, style)) in data.bars.iter().zip(styles).enumerate() {
            row(&frame, bar, style, top + ROW * (k as f64 + 0.5));
        }
    })
}

fn row(frame: &Frame<'_, '_>, bar: &Bar, style: Style, y: f64) {
    let canvas = frame.canvas;
    canvas.text(&bar.name, (frame.left - 12.0, y), TEXT + 1.0, INK, Anchor::Right);
    for (k, &fold) in bar.folds.iter().enumerate().filter(|(_, fold)| fold.is_finite()) {
        // Spread over five heights, so that equal scores stay countable.
        let aside = 3.2 * ((k * 2 % 5) as f64 - 2.0);
        canvas.dot((frame.across(fold), y + aside), 2.4, style.colour, 0.3);
    }
    let mut text = "no score".to_owned();
    if bar.value.is_finite() {
        text = format!("{:.3}", bar.value);
        if bar.low.is_finite() && bar.high.is_finite() {
            let (low, high) = (frame.across(bar.low), frame.across(bar.high));
            canvas.line(&[(low, y), (high, y)], style.solid(2.4));
            for x in [low, high] {
                canvas.line(&[(x, y - 5.0), (x, y + 5.0)], style.solid(1.6));
            }
            text += &format!(" [{:.2}, {:.2}]", bar.low, bar.high);
        }
        style.mark(canvas, (frame.across(bar.value), y), 5.0);
    }
    canvas.text(&text, (frame.right + 12.0, y), TEXT, MUTED, Anchor::Left);
}
