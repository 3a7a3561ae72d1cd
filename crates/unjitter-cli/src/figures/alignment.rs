//! A stretch of a recording: the detector's probabilities, and the place of each stamp.

use super::axis::{Axis, extent};
use super::canvas::{Anchor, Canvas, Pen, Place, draw};
use super::frame::{Frame, TEXT};
use crate::palette::{BLACK, BLUE, MUTED, ORANGE, VERMILION};

/// The data of the figure.
#[derive(Debug, Clone, Default)]
pub(crate) struct Alignment {
    /// Its title.
    pub title: String,
    /// Below the axis of time, with its unit.
    pub x_label: String,
    /// The instances of the stretch.
    pub instances: Vec<AlignmentInstance>,
    /// The stamps of the stretch.
    pub stamps: Vec<AlignmentStamp>,
    /// Bouts of the stretch, if stamps have ends.
    pub bouts: Vec<AlignmentBout>,
}

/// One instance.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AlignmentInstance {
    /// Its time.
    pub time: f64,
    /// Probability that it is positive.
    pub probability: f64,
    /// Whether it is truly positive, if known.
    pub is_true: bool,
}

/// One stamp.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AlignmentStamp {
    /// When it was pressed.
    pub time: f64,
    /// Time of the instance that it belongs to.
    pub instance: f64,
    /// Whether it is probably spurious.
    pub is_spurious: bool,
}

/// A stamp with an end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AlignmentBout {
    /// From when to when it was stamped.
    pub stamped: (f64, f64),
    /// From when to when it lasted.
    pub placed: (f64, f64),
    /// Whether it is probably spurious.
    pub is_spurious: bool,
}

/// Height of the line of stamps above the bars, in pixels.
const STAMPS: f64 = 50.0;

/// Draws bars of probability, stamps above them, and an arc from each stamp to its instance.
pub(crate) fn alignment(data: &Alignment) -> String {
    let (left, right, top, bottom) = (64.0, 796.0, 120.0, 240.0);
    draw((820, 292), &data.title, |canvas| {
        let times = data.instances.iter().map(|i| i.time).chain(data.stamps.iter().map(|s| s.time));
        let (low, high) = extent(times).unwrap_or((0.0, 1.0));
        let air = 0.015 * (high - low);
        let x = Axis::exactly(low - air, high + air);
        let mut y = Axis::exactly(0.0, 1.0);
        y.ticks = [0.0, 0.5, 1.0].map(|value| (value, format!("{value}"))).to_vec();
        let frame = Frame { canvas, x, y, left, right, top, bottom };
        frame.axes(&data.x_label, "probability");
        instances(&frame, data);
        data.bouts.iter().for_each(|bout| bars(&frame, bout));
        let finite = |stamp: &&AlignmentStamp| stamp.time.is_finite() && stamp.instance.is_finite();
        data.stamps.iter().filter(finite).for_each(|stamp| arc(&frame, stamp));
        legend(canvas, left);
    })
}

fn instances(frame: &Frame<'_, '_>, data: &Alignment) {
    let count = data.instances.len().max(1) as f64;
    let half = (0.3 * (frame.right - frame.left) / count).clamp(0.6, 5.0);
    for instance in data.instances.iter().filter(|i| i.time.is_finite()) {
        let (x, y) = frame.place(instance.time, instance.probability);
        // A thin line even at zero, to show the instance.
        let y = y.min(frame.bottom - 1.0);
        frame.canvas.rectangle((x - half, y), (x + half, frame.bottom), BLUE, 0.75);
        if instance.is_true {
            diamond(frame.canvas, (x, frame.top - 10.0));
        }
    }
}

fn diamond(canvas: &Canvas<'_>, (x, y): Place) {
    canvas.fill(&[(x, y - 5.0), (x + 4.5, y), (x, y + 5.0), (x - 4.5, y)], BLACK, 1.0);
}

/// A thin bar for a bout as it was stamped, and a thick one below, where it belongs.
fn bars(frame: &Frame<'_, '_>, bout: &AlignmentBout) {
    let bar = |(from, to): (f64, f64), y: f64, height: f64, colour| {
        if from.is_finite() && to.is_finite() {
            // What lies outside of the stretch is not drawn, and a bout of one instance is still seen.
            let [from, to] = [from, to].map(|t| frame.across(t).clamp(frame.left, frame.right));
            frame.canvas.rectangle((from, y), (to.max(from + 2.0), y + height), colour, 0.85);
        }
    };
    bar(bout.stamped, STAMPS, 3.0, if bout.is_spurious { VERMILION } else { ORANGE });
    if !bout.is_spurious {
        bar(bout.placed, frame.top - 22.0, 6.0, ORANGE);
    }
}

/// A stamp, and an S-shaped curve down to the top of the bars at its instance.
fn arc(frame: &Frame<'_, '_>, stamp: &AlignmentStamp) {
    let (from, to) = (frame.across(stamp.time), frame.across(stamp.instance));
    let (high, low) = (STAMPS, frame.top - 18.0);
    if stamp.is_spurious {
        for (dx, dy) in [(4.0, 4.0), (4.0, -4.0)] {
            let ends = [(from - dx, high - 6.0 - dy), (from + dx, high - 6.0 + dy)];
            frame.canvas.line(&ends, Pen::new(VERMILION, 2.0));
        }
        return;
    }
    let curve: Vec<Place> = (0..=16)
        .map(|k| {
            let share = f64::from(k) / 16.0;
            let eased = share * share * (3.0 - 2.0 * share);
            (from + (to - from) * eased, high + (low - high) * share)
        })
        .collect();
    frame.canvas.line(&curve, Pen::new(ORANGE, 1.5));
    let tip = [(from - 5.0, high - 9.0), (from + 5.0, high - 9.0), (from, high)];
    frame.canvas.fill(&tip, ORANGE, 1.0);
}

fn legend(canvas: &Canvas<'_>, left: f64) {
    let y = 16.0;
    let text = |text: &str, x: f64| canvas.text(text, (left + x, y), TEXT, MUTED, Anchor::Left);
    canvas.fill(&[(left, y - 4.0), (left + 10.0, y - 4.0), (left + 5.0, y + 5.0)], ORANGE, 1.0);
    text("stamp, and where it belongs", 16.0);
    for (dx, dy) in [(4.0, 4.0), (4.0, -4.0)] {
        let x = left + 218.0;
        canvas.line(&[(x - dx, y - dy), (x + dx, y + dy)], Pen::new(VERMILION, 2.0));
    }
    text("probably spurious", 230.0);
    diamond(canvas, (left + 366.0, y));
    text("true event", 378.0);
    canvas.rectangle((left + 468.0, y - 6.0), (left + 476.0, y + 5.0), BLUE, 0.75);
    text("instance", 484.0);
}
