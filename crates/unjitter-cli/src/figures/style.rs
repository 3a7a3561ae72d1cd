//! Styles of the learners: colours, dashes and shapes of markers.

use super::canvas::{Canvas, Pen, Place};
use crate::palette::{BLACK, BLUE, GREEN, MUTED, ORANGE, PURPLE, SKY, VERMILION};

/// The style of one series.
#[derive(Debug, Clone, Copy)]
pub(super) struct Style {
    pub(super) colour: &'static str,
    pub(super) dash: Option<(f64, f64)>,
    marker: Marker,
}

#[derive(Debug, Clone, Copy)]
enum Marker {
    Dot,
    Square,
    Diamond,
    Triangle,
    Ring,
    Cross,
}

const COLOURS: [&str; 8] = [BLUE, ORANGE, VERMILION, GREEN, PURPLE, SKY, BLACK, MUTED];
const DASHES: [Option<(f64, f64)>; 4] =
    [None, Some((7.0, 4.0)), Some((2.0, 3.0)), Some((12.0, 4.0))];
const MARKERS: [Marker; 6] =
    [Marker::Dot, Marker::Square, Marker::Triangle, Marker::Diamond, Marker::Ring, Marker::Cross];

/// A style for each name. The paper's learners have their own colours in every figure; others take the
/// remaining ones.
pub(super) fn styles<'n>(names: impl Iterator<Item = &'n str>) -> Vec<Style> {
    let names: Vec<&str> = names.collect();
    let mut used: Vec<&str> = names.iter().filter_map(|name| own(name)).collect();
    let mut look = |(k, name): (usize, &&str)| {
        let free = || COLOURS.into_iter().find(|colour| !used.contains(colour));
        let colour = own(name).or_else(free).unwrap_or(COLOURS[k % COLOURS.len()]);
        used.push(colour);
        Style { colour, dash: DASHES[k % DASHES.len()], marker: MARKERS[k % MARKERS.len()] }
    };
    names.iter().enumerate().map(&mut look).collect()
}

fn own(name: &str) -> Option<&'static str> {
    match name {
        "LR-M" => Some(BLUE),
        "MI" => Some(ORANGE),
        "LR-N" | "naive alignment" => Some(VERMILION),
        "LR-H" => Some(BLACK),
        "LR-D" => Some(GREEN),
        "LR-S" => Some(PURPLE),
        _ => None,
    }
}

impl Style {
    pub(super) fn pen(&self, width: f64) -> Pen {
        Pen::new(self.colour, width).dashed(self.dash)
    }

    pub(super) fn solid(&self, width: f64) -> Pen {
        Pen::new(self.colour, width)
    }

    /// The marker of the series at a place, about twice `size` pixels wide.
    pub(super) fn mark(&self, canvas: &Canvas<'_>, (x, y): Place, size: f64) {
        let around = |corners: &[Place]| -> Vec<Place> {
            corners.iter().map(|(dx, dy)| (x + dx * size, y + dy * size)).collect()
        };
        let fill = |corners: &[Place]| canvas.fill(&around(corners), self.colour, 1.0);
        match self.marker {
            Marker::Dot => canvas.dot((x, y), size, self.colour, 1.0),
            Marker::Square => fill(&[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)]),
            Marker::Diamond => fill(&[(0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0)]),
            Marker::Triangle => fill(&[(0.0, -1.2), (1.15, 0.8), (-1.15, 0.8)]),
            Marker::Ring => canvas.ring((x, y), size, self.solid(1.6)),
            Marker::Cross => {
                canvas.line(&around(&[(-1.0, -1.0), (1.0, 1.0)]), self.solid(1.8));
                canvas.line(&around(&[(-1.0, 1.0), (1.0, -1.0)]), self.solid(1.8));
            }
        }
    }
}
