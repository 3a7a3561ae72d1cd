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

impl Marginals {
    /// Marginals of events that somebody else summed: of each instance for c = 0 and 1, and of each stamp its first
    /// instance with the shares from there on, all of events.
    pub(crate) fn of_events<'a>(
        log_evidence: f64,
        rows: impl Iterator<Item = [[f64; 2]; 2]>,
        stamps: impl Iterator<Item = (usize, &'a [f64])>,
    ) -> Self {
        let (mut counts, mut responsibilities) =
            (CountMarginals::default(), Responsibilities::default());
        rows.for_each(|[silent, stamped]| counts.append(silent, &[stamped]));
        for (first, shares) in stamps {
            responsibilities.push(Window { first, end: first + shares.len() }, shares, shares);
        }
        Self { log_evidence, counts, responsibilities }
    }

    /// Marginals over windows that contain every instance; shares are ordered by stamp.
    pub(super) fn whole(
        log_evidence: f64,
        rows: &[Vec<[f64; 2]>],
        shares: &[f64],
        positive: &[f64],
    ) -> Self {
        let (mut counts, mut responsibilities) =
            (CountMarginals::default(), Responsibilities::default());
        rows.iter().for_each(|row| counts.append(row[0], &row[1..]));
        let window = Window { first: 0, end: rows.len() };
        let stamps = shares.chunks(rows.len().max(1)).zip(positive.chunks(rows.len().max(1)));
        stamps.for_each(|(shares, positive)| responsibilities.push(window, shares, positive));
        Self { log_evidence, counts, responsibilities }
    }
}

/// p(o_i = c, y_i = y | z): for each instance, a row of pairs (y = 0, y = 1) for c = 0, 1, ….
#[derive(Debug, Clone)]
pub struct CountMarginals {
    offsets: Vec<usize>,
    values: Vec<[f64; 2]>,
}

impl Default for CountMarginals {
    fn default() -> Self {
        Self { offsets: vec![0], values: Vec::new() }
    }
}

impl CountMarginals {
    /// Adds an instance: probabilities of silence, and of one stamp and more.
    pub(super) fn append(&mut self, silent: [f64; 2], stamped: &[[f64; 2]]) {
        self.values.push(silent);
        self.values.extend_from_slice(stamped);
        self.offsets.push(self.values.len());
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

    /// p(o_i = 0, y_i = 1 | z): positive without a stamp.
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

impl Default for Responsibilities {
    fn default() -> Self {
        let (windows, values, positive) = (Vec::new(), Vec::new(), Vec::new());
        Self { windows, offsets: vec![0], values, positive }
    }
}

impl Responsibilities {
    /// Adds a stamp: its shares over its window, and those of positive instances.
    pub(super) fn push(&mut self, window: Window, shares: &[f64], positive: &[f64]) {
        self.windows.push(window);
        self.values.extend_from_slice(shares);
        self.positive.extend_from_slice(positive);
        self.offsets.push(self.values.len());
    }

    /// Appends the stamps of a loaded band.
    pub(super) fn append(&mut self, Shares { band, responsibilities, positive, .. }: Shares<'_>) {
        for stamp in band.loaded() {
            let cells = band.cells_of(stamp);
            self.push(band.windows()[stamp], &responsibilities[cells.clone()], &positive[cells]);
        }
    }

    /// The windows of the sums.
    pub(super) fn windows(&self) -> &[Window] {
        &self.windows
    }

    /// Number of stamps.
    pub fn stamps(&self) -> usize {
        self.windows.len()
    }

    /// The instances that `stamp` can have come from.
    pub fn instances(&self, stamp: usize) -> Range<usize> {
        self.windows[stamp].first..self.windows[stamp].end
    }

    /// p(w(i,l) | z) over those instances; one minus their sum is the probability that the stamp came from
    /// nowhere.
    pub fn of_stamp(&self, stamp: usize) -> &[f64] {
        &self.values[self.offsets[stamp]..self.offsets[stamp + 1]]
    }

    /// p(w(i,l), y_i = 1 | z) over those instances; one minus their sum is the probability that the stamp
    /// is spurious: from a negative instance or from nowhere.
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
