//! How strongly the features change around the presses, by the time before them.

use super::axis::{Axis, extent};
use super::canvas::{Anchor, Pen, Place, draw};
use super::frame::{Frame, TEXT};
use crate::palette::{BLUE, INK, MUTED, VERMILION};

/// The data of the figure.
#[derive(Debug, Clone, Default)]
pub(crate) struct Changes {
    /// Its title.
    pub title: String,
    /// Below the axis of times, with their unit.
    pub x_label: String,
    /// The window of the thick line, in words.
    pub best_width: String,
    /// Time before the press and strength, by rising time, for the best width of the windows.
    pub best: Vec<(f64, f64)>,
    /// The same for other widths.
    pub others: Vec<Vec<(f64, f64)>>,
    /// What chance hardly exceeds.
    pub chance: f64,
    /// Tops, with their names.
    pub peaks: Vec<(f64, f64, String)>,
    /// Ends of the axis of times.
    pub range: (f64, f64),
}

/// Draws a line for each width, the best one thick, with its tops named.
pub(crate) fn changes(data: &Changes) -> String {
    let (left, right, top, bottom) = (60.0, 384.0, 40.0, 260.0);
    draw((400, 312), &data.title, |canvas| {
        let x = Axis::exactly(data.range.0, data.range.1);
        let shown = || data.others.iter().chain([&data.best]);
        let inside = shown().flatten().filter(|point| x.holds(point.0)).map(|point| point.1);
        let heights = extent(inside.chain(data.peaks.iter().map(|peak| peak.1)));
        // Room above the highest top for its name.
        let highest = heights.map_or(0.0, |(_, high)| high).max(data.chance);
        let y = Axis::around([heights.map_or(0.0, |(low, _)| low), 1.12 * highest].into_iter());
        let frame = Frame { canvas, x, y, left, right, top, bottom };
        frame.axes(&data.x_label, "change, in deviations of chance");
        let dashes = Pen::new(MUTED, 1.0).dashed(Some((4.0, 4.0)));
        let chance = frame.up(data.chance);
        canvas.line(&[(left, chance), (right, chance)], dashes);
        canvas.text("chance stays below", (right, chance + 9.0), TEXT - 1.0, MUTED, Anchor::Right);
        if frame.x.holds(0.0) {
            let press = frame.across(0.0);
            canvas.line(&[(press, top), (press, bottom)], Pen::new(MUTED, 1.0));
            canvas.text("press", (press, top - 7.0), TEXT - 1.0, MUTED, Anchor::Centre);
        }
        data.others.iter().for_each(|line| canvas.line(&places(&frame, line), other()));
        canvas.line(&places(&frame, &data.best), Pen::new(BLUE, 2.2));
        for (lag, strength, name) in data.peaks.iter().filter(|peak| frame.x.holds(peak.0)) {
            let (x, y) = frame.place(*lag, *strength);
            canvas.ring((x, y), 5.0, Pen::new(VERMILION, 1.8));
            canvas.text(name, (x + 10.0, y - 8.0), TEXT, INK, Anchor::Left);
        }
        legend(&frame, data);
    })
}

fn other() -> Pen {
    Pen::new(MUTED, 1.0).faint(0.4)
}

/// The part of a line that lies on the axis of times.
fn places(frame: &Frame<'_, '_>, line: &[(f64, f64)]) -> Vec<Place> {
    let inside = |point: &&(f64, f64)| frame.x.holds(point.0) && point.1.is_finite();
    line.iter().filter(inside).map(|point| frame.place(point.0, point.1)).collect()
}

fn legend(frame: &Frame<'_, '_>, data: &Changes) {
    let (canvas, x, y) = (frame.canvas, frame.left, frame.top - 22.0);
    canvas.line(&[(x, y), (x + 24.0, y)], Pen::new(BLUE, 2.2));
    canvas.text(&data.best_width, (x + 30.0, y), TEXT, INK, Anchor::Left);
    let x = frame.right - 96.0;
    canvas.line(&[(x, y), (x + 24.0, y)], other());
    canvas.text("other widths", (x + 30.0, y), TEXT, INK, Anchor::Left);
}
