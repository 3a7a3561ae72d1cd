//! Groups and how sure each is, beside all together: a panel for each number that differs.

use super::axis::Axis;
use super::canvas::{Anchor, Canvas, Pen, draw, text_width};
use super::clocks::shortened;
use super::frame::{Frame, TEXT};
use crate::palette::{BLUE, GRID, INK, MUTED, ORANGE};

/// The data of the figure.
#[derive(Debug, Clone, Default)]
pub(crate) struct Groups {
    /// Its title.
    pub title: String,
    /// From top to bottom.
    pub panels: Vec<GroupPanel>,
}

/// One number.
#[derive(Debug, Clone, Default)]
pub(crate) struct GroupPanel {
    /// What it is, and by what it differs.
    pub name: String,
    /// Below its axis.
    pub x_label: String,
    /// The number of all together.
    pub of_all: f64,
    /// From top to bottom.
    pub groups: Vec<GroupDot>,
    /// What is left out.
    pub more: Option<String>,
}

/// One group.
#[derive(Debug, Clone, Default)]
pub(crate) struct GroupDot {
    /// Its name.
    pub name: String,
    /// Its number, and the interval of that; NaN for none.
    pub value: f64,
    pub low: f64,
    pub high: f64,
}

/// Pixels for each group.
const ROW: f64 = 17.0;
/// Pixels above a panel for its name, and below it for its axis.
const ABOVE: f64 = 30.0;
const BELOW: f64 = 52.0;
/// The most pixels for the names of groups, and the right end.
const NAMES: f64 = 130.0;
const RIGHT: f64 = 384.0;
/// Pixels above the first panel, for the legend.
const LEGEND: f64 = 24.0;

impl GroupPanel {
    fn height(&self) -> f64 {
        let more = if self.more.is_some() { ROW } else { 0.0 };
        ABOVE + ROW * self.groups.len().max(1) as f64 + more + BELOW
    }
}

/// Draws a row for each group: its number with its interval, and a line at all together.
pub(crate) fn groups(data: &Groups) -> String {
    let height = LEGEND + data.panels.iter().map(GroupPanel::height).sum::<f64>();
    let names = data.panels.iter().flat_map(|panel| &panel.groups);
    let widest = names.map(|group| text_width(&group.name, TEXT)).fold(30.0, f64::max);
    let left = widest.min(NAMES) + 24.0;
    draw((400, height.max(40.0) as u32), &data.title, |canvas| {
        legend(canvas);
        let mut top = LEGEND;
        for panel in &data.panels {
            draw_panel(canvas, panel, left, top + ABOVE);
            top += panel.height();
        }
    })
}

fn legend(canvas: &Canvas<'_>) {
    let y = 12.0;
    canvas.line(&[(16.0, y), (40.0, y)], Pen::new(BLUE, 1.8));
    canvas.dot((28.0, y), 3.2, BLUE, 1.0);
    canvas.text("group, 95 % interval", (46.0, y), TEXT, INK, Anchor::Left);
    canvas.line(&[(204.0, y - 7.0), (204.0, y + 7.0)], Pen::new(ORANGE, 1.8));
    canvas.text("all together", (212.0, y), TEXT, INK, Anchor::Left);
}

fn draw_panel(canvas: &Canvas<'_>, panel: &GroupPanel, left: f64, top: f64) {
    let numbers = panel.groups.iter().flat_map(|own| [own.value, own.low, own.high]);
    let (x, y) = (Axis::around(numbers.chain([panel.of_all])), Axis::exactly(0.0, 1.0));
    let bottom = top + ROW * panel.groups.len().max(1) as f64;
    let mut frame = Frame { canvas, x, y, left, right: RIGHT, top, bottom };
    frame.x.thin(RIGHT - left, |label| text_width(label, TEXT));
    for (value, _) in &frame.x.ticks {
        let x = frame.across(*value);
        canvas.line(&[(x, top), (x, bottom)], Pen::new(GRID, 0.8));
    }
    canvas.text(&panel.name, (16.0, top - 14.0), TEXT + 1.0, INK, Anchor::Left);
    frame.across_axis(&panel.x_label);
    if panel.of_all.is_finite() {
        let x = frame.across(panel.of_all);
        canvas.line(&[(x, top), (x, bottom)], Pen::new(ORANGE, 1.8));
    }
    for (k, group) in panel.groups.iter().enumerate() {
        draw_group(&frame, group, top + ROW * (k as f64 + 0.5));
    }
    if let Some(more) = &panel.more {
        canvas.text(more, (0.5 * (left + RIGHT), bottom + 52.0), TEXT, MUTED, Anchor::Centre);
    }
}

fn draw_group(frame: &Frame<'_, '_>, group: &GroupDot, y: f64) {
    let canvas = frame.canvas;
    let name = shortened(&group.name, NAMES);
    canvas.text(&name, (frame.left - 8.0, y), TEXT, INK, Anchor::Right);
    if group.low.is_finite() && group.high.is_finite() {
        let ends = [(frame.across(group.low), y), (frame.across(group.high), y)];
        canvas.line(&ends, Pen::new(BLUE, 1.8));
    }
    if group.value.is_finite() {
        canvas.dot((frame.across(group.value), y), 3.4, BLUE, 1.0);
    }
}
