//! Two axes, their grid and their titles, around a rectangle of the canvas.

use super::axis::Axis;
use super::canvas::{Anchor, Canvas, Pen, Place};
use crate::palette::{GRID, INK, MUTED};

/// Height of ordinary text, in pixels.
pub(super) const TEXT: f64 = 12.0;
/// Height of titles.
pub(super) const TITLE: f64 = 14.0;

/// A rectangle of the canvas with axes.
pub(super) struct Frame<'c, 'a> {
    pub(super) canvas: &'c Canvas<'a>,
    pub(super) x: Axis,
    pub(super) y: Axis,
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) top: f64,
    pub(super) bottom: f64,
}

impl Frame<'_, '_> {
    /// Position of a pair of values; values outside are moved to the edge.
    pub(super) fn place(&self, x: f64, y: f64) -> Place {
        (self.across(x), self.up(y))
    }

    pub(super) fn across(&self, x: f64) -> f64 {
        self.left + self.x.share(self.x.clamp(x)) * (self.right - self.left)
    }

    pub(super) fn up(&self, y: f64) -> f64 {
        self.bottom - self.y.share(self.y.clamp(y)) * (self.bottom - self.top)
    }

    /// Both axes with all their ticks and labels.
    pub(super) fn axes(&self, x_label: &str, y_label: &str) {
        self.across_axis(x_label);
        for (value, label) in &self.y.ticks {
            let y = self.up(*value);
            self.canvas.line(&[(self.left, y), (self.right, y)], Pen::new(GRID, 0.8));
            self.canvas.text(label, (self.left - 8.0, y), TEXT, MUTED, Anchor::Right);
        }
        let middle = 0.5 * (self.top + self.bottom);
        self.canvas.text(y_label, (self.left - 48.0, middle), TEXT, INK, Anchor::Upwards);
    }

    /// The lower axis alone.
    pub(super) fn across_axis(&self, label: &str) {
        let pen = Pen::new(MUTED, 1.0);
        self.canvas.line(&[(self.left, self.bottom), (self.right, self.bottom)], pen);
        for (value, label) in &self.x.ticks {
            let x = self.across(*value);
            self.canvas.line(&[(x, self.bottom), (x, self.bottom + 4.0)], pen);
            self.canvas.text(label, (x, self.bottom + 14.0), TEXT, MUTED, Anchor::Centre);
        }
        let middle = 0.5 * (self.left + self.right);
        self.canvas.text(label, (middle, self.bottom + 34.0), TEXT, INK, Anchor::Centre);
    }
}
