//! A step for claims that move slowly.
//!
//! Where nearly every positive is stamped and nearly every stamp has an owner, all claims of neighbouring
//! stamps can grow together and hardly anything changes: rounds then move them by a per cent or less. So
//! the claims of each stamp get a factor e^x, such that instances and stamps agree on how much of the
//! stamp the instances gave. With b_l(i) = μν/(1 + μν), the instances' belief, Newton's step solves
//!
//! ```text
//! Σ_k J_lk·x_k = Σ_i w_l(i) − Σ_i b_l(i)        J_ll = 1 − Σ_i b_l(i)²        J_lk = −Σ_i b_l(i)·b_k(i)
//! ```
//!
//! J is symmetric, diagonally dominant and banded: only stamps that share an instance have an entry.

use std::ops::Range;

use super::row::{Row, Side};
use super::sweep::{Free, Scene};
use crate::inference::buffers::refill;
use crate::inference::vocabulary::deepest;

/// Neighbours on one side that a stamp is solved together with, at most.
const NEIGHBOURS: usize = 64;
/// Most that the logarithm of a claim may move at once.
const MOST: f64 = 3.0;
/// Added to the diagonal, so that stamps that certainly belong to an instance have one too.
const RIDGE: f64 = 1e-12;

impl Free {
    /// Rescales the claims of a stretch of stamps after a round.
    pub(super) fn rescale(
        &mut self,
        scene: Scene<'_>,
        stretch: Range<usize>,
        responsibilities: &[f64],
    ) {
        let mut beliefs = std::mem::take(&mut self.beliefs);
        let start = scene.cells(stretch.start).start;
        refill(&mut beliefs, scene.cells(stretch.end - 1).end - start, 0.0);
        let mut steps = Vec::with_capacity(stretch.len());
        self.enter(scene, Side::Before, stretch.start);
        for stamp in stretch.clone() {
            let cells = scene.cells(stamp);
            let own = &mut beliefs[cells.start - start..cells.end - start];
            self.believe(scene, stamp, own);
            let shares = &responsibilities[scene.band.padded_cells_of(stamp)];
            steps.push(shares.iter().sum::<f64>() - own.iter().sum::<f64>());
        }
        let windows = &scene.band.windows()[stretch.clone()];
        let row = |l: usize| &beliefs[scene.cells(stretch.start + l).start - start..];
        let mut band = SymmetricBand::new(stretch.len(), deepest(windows).min(NEIGHBOURS + 1) - 1);
        for (l, window) in windows.iter().enumerate() {
            let squares: f64 = row(l)[..window.len()].iter().map(|b| b * b).sum();
            band.set(l, l, (1.0 - squares).max(0.0) + RIDGE);
            let others = windows.iter().enumerate().skip(l + 1).take(NEIGHBOURS);
            for (k, next) in others.take_while(|(_, next)| next.first < window.end) {
                let shared = window.end - next.first;
                let (own, other) = (&row(l)[next.first - window.first..], &row(k)[..shared]);
                band.set(k, l, -own.iter().zip(other).map(|(a, b)| a * b).sum::<f64>());
            }
        }
        band.solve(&mut steps);
        self.beliefs = beliefs;
        for (stamp, step) in stretch.clone().zip(&steps).filter(|(_, step)| step.is_finite()) {
            let factor = step.clamp(-MOST, MOST).exp();
            self.claims[scene.cells(stamp)].iter_mut().for_each(|claim| *claim *= factor);
        }
        self.look_back(scene, stretch);
    }

    /// How much of a stamp each instance believes to have given, as all stamps claim now; the earlier ones
    /// have been added up.
    fn believe(&mut self, scene: Scene<'_>, stamp: usize, beliefs: &mut [f64]) {
        let (cells, first, width) = (scene.cells(stamp), scene.first(stamp), scene.tally.width());
        let states = cells.start * width..cells.end * width;
        let mut row = Row {
            running: &mut self.running[first * width..][..states.len()],
            beyond: &self.after[states],
            offers: &mut self.offers[..cells.len()],
            claims: &mut self.claims[cells],
            ..Row::empty(Side::Before, first)
        };
        scene.tally.offer(&mut row);
        let both = row.claims.iter().zip(&*row.offers);
        for (belief, (claim, offer)) in beliefs.iter_mut().zip(both) {
            let odds = claim * offer;
            *belief = odds / (1.0 + odds);
        }
        scene.tally.take(&mut row);
    }

    /// Fills in what the later stamps of a stretch claim.
    fn look_back(&mut self, scene: Scene<'_>, stretch: Range<usize>) {
        let width = scene.tally.width();
        self.enter(scene, Side::After, stretch.end - 1);
        for stamp in stretch.rev() {
            let (cells, first) = (scene.cells(stamp), scene.first(stamp));
            let states = cells.start * width..cells.end * width;
            let mut row = Row {
                running: &mut self.running[first * width..][..states.len()],
                claims: &mut self.claims[cells],
                ..Row::empty(Side::After, first)
            };
            self.after[states].copy_from_slice(row.running);
            scene.tally.take(&mut row);
        }
    }
}

/// The lower triangle of a symmetric positive definite matrix whose entries lie near the diagonal.
struct SymmetricBand {
    /// From the diagonal to the left, row after row.
    entries: Vec<f64>,
    /// Entries left of the diagonal, at most.
    reach: usize,
}

impl SymmetricBand {
    fn new(size: usize, reach: usize) -> Self {
        Self { entries: vec![0.0; size * (reach + 1)], reach }
    }

    fn at(&self, row: usize, column: usize) -> f64 {
        self.entries[row * (self.reach + 1) + row - column]
    }

    fn set(&mut self, row: usize, column: usize, value: f64) {
        self.entries[row * (self.reach + 1) + row - column] = value;
    }

    /// Replaces the right side by the solution, by Cholesky's decomposition.
    fn solve(mut self, right: &mut [f64]) {
        for i in 0..right.len() {
            let from = i.saturating_sub(self.reach);
            for j in from..=i {
                let common = from.max(j.saturating_sub(self.reach))..j;
                let known: f64 = common.map(|k| self.at(i, k) * self.at(j, k)).sum();
                let rest = self.at(i, j) - known;
                self.set(i, j, if i == j { rest.max(RIDGE).sqrt() } else { rest / self.at(j, j) });
            }
            let known: f64 = (from..i).map(|k| self.at(i, k) * right[k]).sum();
            right[i] = (right[i] - known) / self.at(i, i);
        }
        for i in (0..right.len()).rev() {
            right[i] /= self.at(i, i);
            for k in i.saturating_sub(self.reach)..i {
                right[k] -= self.at(i, k) * right[i];
            }
        }
    }
}
