//! How the log posterior falls as each number that was learned moves away.

use super::axis::{Axis, extent};
use super::canvas::{Anchor, Pen, Place, draw};
use super::frame::{Frame, TEXT};
use crate::palette::{BLUE, INK, MUTED, ORANGE};

/// The data of the figure.
#[derive(Debug, Clone, Default)]
pub(crate) struct Profiles {
    /// Its title.
    pub title: String,
    /// One for each number.
    pub panels: Vec<ProfilePanel>,
}

/// One number that was learned.
#[derive(Debug, Clone, Default)]
pub(crate) struct ProfilePanel {
    /// What it is, with its unit.
    pub name: String,
    /// As learned.
    pub value: f64,
    /// Values, and how far the log posterior has fallen there.
    pub profile: Vec<(f64, f64)>,
    /// The same for a parabola.
    pub parabola: Vec<(f64, f64)>,
}

/// Height of a panel, and of what lies above and below it.
const PANEL: f64 = 76.0;
const AROUND: f64 = 58.0;
/// How far the log posterior has fallen at the ends of an interval of 95 %, and at the lower edge.
const INTERVAL: f64 = 1.92;
const LOWEST: f64 = 3.4;

/// Draws a panel for each number: its profile, the parabola, and the height at which 95 % end.
pub(crate) fn profiles(data: &Profiles) -> String {
    let height = 34.0 + (PANEL + AROUND) * data.panels.len().max(1) as f64;
    draw((400, height as u32), &data.title, |canvas| {
        let y = 14.0;
        let names = [(60.0, "profile", BLUE, false), (140.0, "parabola", MUTED, true)];
        for (x, name, colour, is_dashed) in names {
            let pen = Pen::new(colour, 2.0).dashed(is_dashed.then_some((5.0, 4.0)));
            canvas.line(&[(x, y), (x + 20.0, y)], pen);
            canvas.text(name, (x + 26.0, y), TEXT, INK, Anchor::Left);
        }
        canvas.line(&[(230.0, y), (250.0, y)], Pen::new(ORANGE, 1.4));
        canvas.text("95 % end here", (256.0, y), TEXT, INK, Anchor::Left);
        for (k, panel) in data.panels.iter().enumerate() {
            let top = 34.0 + 22.0 + (PANEL + AROUND) * k as f64;
            let shown = |points: &[(f64, f64)]| -> Vec<(f64, f64)> {
                let is_shown = |own: &&(f64, f64)| own.0.is_finite() && own.1 <= LOWEST;
                points.iter().filter(is_shown).copied().collect()
            };
            let (profile, parabola) = (shown(&panel.profile), shown(&panel.parabola));
            let values = profile.iter().chain(&parabola).map(|own| own.0);
            let (low, high) = extent(values).unwrap_or((0.0, 1.0));
            let (x, y) = (Axis::exactly(low, high), Axis::exactly(-LOWEST, 0.0));
            let (left, right, bottom) = (60.0, 384.0, top + PANEL);
            let frame = Frame { canvas, x, y, left, right, top, bottom };
            frame.across_axis("");
            canvas.text(&panel.name, (left, top - 10.0), TEXT, INK, Anchor::Left);
            let end = frame.up(-INTERVAL);
            canvas.line(&[(left, end), (right, end)], Pen::new(ORANGE, 1.4));
            let line = |points: &[(f64, f64)]| -> Vec<Place> {
                points.iter().map(|&(value, fall)| frame.place(value, -fall)).collect()
            };
            let dashed = Pen::new(MUTED, 1.4).dashed(Some((5.0, 4.0)));
            canvas.line(&line(&parabola), dashed);
            canvas.line(&line(&profile), Pen::new(BLUE, 2.2));
            if panel.value.is_finite() {
                canvas.dot(frame.place(panel.value, 0.0), 3.0, BLUE, 1.0);
            }
        }
    })
}
