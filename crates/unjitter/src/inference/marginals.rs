//! The posterior over alignments, in its marginals.

use std::ops::Range;

use super::outputs::Shares;
use super::vocabulary::Window;

/// The posterior over alignments, in its marginals.
#[derive(Debug, Clone)]
pub struct Marginals {
    /// log p(z | x, t).
    pub log_evidence: f64,
    /// p(o_i = c, y_i = y | z).
    pub counts: CountMarginals,
    /// p(w(i,l) | z): which instance gave which stamp.
    pub responsibilities: Responsibilities,
}

/// p(o_i = c, y_i = y | z): for each instance, a row of pairs (y = 0, y = 1) for c = 0, 1, ….
#[derive(Debug, Clone)]
pub struct CountMarginals {
    offsets: Vec<usize>,
    values: Vec<[f64; 2]>,
}

impl CountMarginals {
    /// From the pairs of each instance, so many in all.
    pub(super) fn new(rows: impl IntoIterator<Item = Vec<[f64; 2]>>, pairs: usize) -> Self {
        let mut counts = Self { offsets: vec![0], values: Vec::with_capacity(pairs) };
        for row in rows {
            counts.values.extend(row);
            counts.offsets.push(counts.values.len());
        }
        counts
    }

    /// Number of instances.
    pub fn instances(&self) -> usize {
        self.offsets.len() - 1
    }

    /// The pairs of one instance, from c = 0 on; counts beyond the end have probability zero.
    pub fn row(&self, instance: usize) -> &[[f64; 2]] {
        &self.values[self.offsets[instance]..self.offsets[instance + 1]]
    }

    /// p(y_i = 1 | z).
    pub fn positive(&self, instance: usize) -> f64 {
        self.row(instance).iter().map(|pair| pair[1]).sum()
    }

    /// p(o_i = 0, y_i = 1 | z): positive, and no stamp says so.
    pub fn missed(&self, instance: usize) -> f64 {
        self.row(instance)[0][1]
    }
}

/// p(w(i,l) | z), kept only within each stamp's window.
#[derive(Debug, Clone)]
pub struct Responsibilities {
    windows: Vec<Window>,
    offsets: Vec<usize>,
    values: Vec<f64>,
    positive: Vec<f64>,
}

impl Responsibilities {
    pub(super) fn new(windows: Vec<Window>, values: Vec<f64>, positive: Vec<f64>) -> Self {
        let mut offsets = vec![0];
        for window in &windows {
            offsets.push(offsets[offsets.len() - 1] + window.len());
        }
        Self { windows, offsets, values, positive }
    }

    /// Adds what was found for the stamps of a loaded band, which follow on those before.
    pub(super) fn append(&mut self, Shares { band, responsibilities, positive }: Shares<'_>) {
        let cells = band.loaded().map(|stamp| band.windows()[stamp].len()).sum();
        self.values.reserve_exact(cells);
        self.positive.reserve_exact(cells);
        for stamp in band.loaded() {
            self.values.extend_from_slice(&responsibilities[band.cells_of(stamp)]);
            self.positive.extend_from_slice(&positive[band.cells_of(stamp)]);
        }
    }

    /// Number of stamps.
    pub fn stamps(&self) -> usize {
        self.windows.len()
    }

    /// The instances that `stamp` can have come from.
    pub fn instances(&self, stamp: usize) -> Range<usize> {
        self.windows[stamp].first..self.windows[stamp].end
    }

    /// p(w(i,l) | z) over those instances; sums to one.
    pub fn of_stamp(&self, stamp: usize) -> &[f64] {
        &self.values[self.offsets[stamp]..self.offsets[stamp + 1]]
    }

    /// p(w(i,l), y_i = 1 | z) over those instances; what it lacks of one is the probability that
    /// the stamp is spurious.
    pub fn of_stamp_positive(&self, stamp: usize) -> &[f64] {
        &self.positive[self.offsets[stamp]..self.offsets[stamp + 1]]
    }

    /// p(w(i,l) | z) of one cell, zero outside the window.
    pub fn get(&self, instance: usize, stamp: usize) -> f64 {
        let instances = self.instances(stamp);
        if instances.contains(&instance) {
            self.of_stamp(stamp)[instance - instances.start]
        } else {
            0.0
        }
    }
}
