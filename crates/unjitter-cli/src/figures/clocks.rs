//! How well each offset explains the stamps of a clock: a small panel for each.

use super::axis::{Axis, extent};
use super::canvas::{Anchor, Canvas, Pen, Place, draw, text_width};
use super::frame::{Frame, TEXT};
use crate::palette::{BLUE, GRID, INK, MUTED, ORANGE, VERMILION};

/// The data of the figure.
#[derive(Debug, Clone, Default)]
pub(crate) struct Clocks {
    /// Its title.
    pub title: String,
    /// Below the axis of offsets.
    pub x_label: String,
    /// From left to right, then down.
    pub panels: Vec<ClockPanel>,
    /// What is left out.
    pub more: Option<String>,
}

/// One clock.
#[derive(Debug, Clone, Default)]
pub(crate) struct ClockPanel {
    /// Whose it is.
    pub name: String,
    /// Whether it was found, in a word.
    pub verdict: String,
    pub is_found: bool,
    /// The best offset; NaN for none.
    pub best: f64,
    /// Its interval.
    pub interval: (f64, f64),
    /// Other offsets, with their log evidence less that of the best.
    pub others: Vec<(f64, f64)>,
    /// Offsets with the same.
    pub profile: Vec<(f64, f64)>,
}

/// Panels beside each other, their size, and where the first begins.
const ACROSS: usize = 2;
const WIDTH: f64 = 158.0;
const HEIGHT: f64 = 62.0;
const LEFT: f64 = 40.0;
/// Pixels between panels: across, and down for ticks and the next name.
const BESIDE: f64 = 22.0;
const BELOW: f64 = 52.0;
/// Pixels above the first row, for the legend.
const LEGEND: f64 = 26.0;
/// Log evidence at the lower edge: what is below does not count.
const LOWEST: f64 = -12.0;
/// Height of small text.
const SMALL: f64 = 11.0;

/// Draws a panel for each clock, all with the same axes.
pub(crate) fn clocks(data: &Clocks) -> String {
    let rows = data.panels.len().div_ceil(ACROSS).max(1);
    let bottom = LEGEND + (HEIGHT + BELOW) * rows as f64;
    let height = bottom + if data.more.is_some() { 34.0 } else { 18.0 };
    let offsets = data.panels.iter().flat_map(|own| &own.profile).map(|own| own.0);
    let (low, high) = extent(offsets).unwrap_or((-1.0, 1.0));
    draw((400, height as u32), &data.title, |canvas| {
        legend(canvas);
        let first = LEGEND + 22.0 + 0.5 * HEIGHT;
        canvas.text("log evidence", (8.0, first), SMALL, INK, Anchor::Upwards);
        for (k, panel) in data.panels.iter().enumerate() {
            let (column, row) = ((k % ACROSS) as f64, (k / ACROSS) as f64);
            let left = LEFT + (WIDTH + BESIDE) * column;
            let top = LEGEND + 22.0 + (HEIGHT + BELOW) * row;
            let (right, foot) = (left + WIDTH, top + HEIGHT);
            let (mut x, y) = (Axis::exactly(low, high), Axis::exactly(LOWEST, 0.0));
            x.thin(WIDTH, |label| text_width(label, TEXT));
            let frame = Frame { canvas, x, y, left, right, top, bottom: foot };
            draw_panel(&frame, panel, k % ACROSS == 0);
        }
        let middle = LEFT + WIDTH + 0.5 * BESIDE;
        canvas.text(&data.x_label, (middle, bottom + 6.0), TEXT, INK, Anchor::Centre);
        if let Some(more) = &data.more {
            canvas.text(more, (middle, bottom + 24.0), TEXT, MUTED, Anchor::Centre);
        }
    })
}

fn legend(canvas: &Canvas<'_>) {
    let y = 12.0;
    canvas.dot((LEFT + 4.0, y), 3.2, BLUE, 1.0);
    canvas.text("best", (LEFT + 13.0, y), TEXT, INK, Anchor::Left);
    canvas.ring((LEFT + 66.0, y), 3.2, Pen::new(VERMILION, 1.6));
    canvas.text("others about as good", (LEFT + 75.0, y), TEXT, INK, Anchor::Left);
    canvas.rectangle((LEFT + 214.0, y - 6.0), (LEFT + 230.0, y + 6.0), ORANGE, 0.35);
    canvas.text("95 % interval", (LEFT + 236.0, y), TEXT, INK, Anchor::Left);
}

fn draw_panel(frame: &Frame<'_, '_>, panel: &ClockPanel, is_first: bool) {
    let Frame { canvas, left, right, top, bottom, .. } = *frame;
    canvas.line(&[(left, top), (right, top)], Pen::new(GRID, 0.8));
    frame.across_axis("");
    if is_first {
        for value in [LOWEST, 0.5 * LOWEST, 0.0] {
            let label = format!("{value:.0}").replace('-', "−");
            canvas.text(&label, (left - 6.0, frame.up(value)), SMALL, MUTED, Anchor::Right);
        }
    }
    let colour = if panel.is_found { MUTED } else { VERMILION };
    canvas.text(&panel.verdict, (right, top - 11.0), SMALL, colour, Anchor::Right);
    let room = WIDTH - text_width(&panel.verdict, SMALL) - 8.0;
    canvas.text(&shortened(&panel.name, room), (left, top - 11.0), TEXT, INK, Anchor::Left);
    let (from, to) = panel.interval;
    if panel.best.is_finite() && from.is_finite() && to.is_finite() {
        // At least as wide as can be seen.
        let (from, to) = (frame.across(from), frame.across(to));
        let aside = (1.0 - 0.5 * (to - from)).max(0.0);
        canvas.rectangle((from - aside, top), (to + aside, bottom), ORANGE, 0.35);
    }
    canvas.line(&outline(frame, &panel.profile), Pen::new(BLUE, 1.4));
    let is_drawn = |own: &&(f64, f64)| own.0.is_finite() && own.1.is_finite();
    for &(offset, height) in panel.others.iter().filter(is_drawn) {
        canvas.ring(frame.place(offset, height), 3.2, Pen::new(VERMILION, 1.6));
    }
    if panel.best.is_finite() {
        canvas.dot(frame.place(panel.best, 0.0), 3.2, BLUE, 1.0);
    }
}

/// The highest point of each pixel across: tops are what matters, and may be narrow.
fn outline(frame: &Frame<'_, '_>, profile: &[(f64, f64)]) -> Vec<Place> {
    let mut line: Vec<Place> = Vec::new();
    for &(offset, height) in profile.iter().filter(|own| own.0.is_finite() && !own.1.is_nan()) {
        let place = frame.place(offset, height);
        match line.last_mut() {
            Some(last) if last.0.round() == place.0.round() => {
                if place.1 < last.1 {
                    *last = place;
                }
            }
            _ => line.push(place),
        }
    }
    line
}

/// A name that fits into so many pixels.
pub(super) fn shortened(name: &str, room: f64) -> String {
    if text_width(name, TEXT) <= room {
        return name.to_owned();
    }
    let most = (room / text_width("n", TEXT) - 1.0).max(1.0) as usize;
    name.chars().take(most).chain(['…']).collect()
}
