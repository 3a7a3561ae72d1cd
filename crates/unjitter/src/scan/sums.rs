//! What a window says, summed over stamps: at every lag, and at random places.
//!
//! A window's word is the sum of its features minus that of its surroundings on the same length, so that
//! slow drift cancels. Features are centred within a recording, so that people who press more often do
//! not make every lag look like them. Chance is judged by the same stamps moved along their recording, in
//! a circle and all of them alike: what comes in bouts stays in bouts.

use super::binned::Binned;
use super::grid::{Grid, SURROUNDINGS, Window};
use super::scaling::Scaling;
use super::stretch::Stretch;
use super::whitening::Covariances;
use crate::math::Random;

/// How often stamps are moved.
pub(super) const DRAWS: usize = 199;
/// Most windows from which covariances are learned, over all recordings.
const SAMPLE: f64 = 10_000.0;

/// Sums at one width.
#[derive(Clone)]
pub(super) struct Sums {
    /// Lag by lag.
    pub(super) by_lag: Vec<f32>,
    /// Draw by draw.
    pub(super) by_chance: Vec<f32>,
    pub(super) covariances: Covariances,
    /// Number of stamps.
    pub(super) stamps: usize,
}

impl Sums {
    pub(super) fn empty(window: &Window, width: usize) -> Self {
        Self {
            by_lag: vec![0.0; window.lags() * width],
            by_chance: vec![0.0; DRAWS * width],
            covariances: Covariances::new(width),
            stamps: 0,
        }
    }

    pub(super) fn join(&mut self, other: &Self) {
        add(&mut self.by_lag, &other.by_lag);
        add(&mut self.by_chance, &other.by_chance);
        self.covariances.join(&other.covariances);
        self.stamps += other.stamps;
    }
}

/// What all pieces share.
pub(super) struct Work<'a> {
    pub(super) grid: &'a Grid,
    pub(super) scaling: &'a Scaling,
    /// Length of all recordings together.
    pub(super) span: f64,
    /// Every so many stamps are used.
    pub(super) every: usize,
}

impl Work<'_> {
    /// Adds a piece of a recording to the sums of all widths. The seed is its own.
    pub(super) fn add(&self, piece: &Stretch<'_>, seed: u64, sums: &mut [Sums]) {
        let Some(mut binned) = Binned::of(piece.times, piece.features, self.grid.bin, self.scaling)
        else {
            return;
        };
        centre(&mut binned);
        let stamps: Vec<f64> = piece.stamps.iter().copied().step_by(self.every).collect();
        let mut random = Random::new(seed);
        let mut doubled = 0;
        for (window, sums) in self.grid.windows.iter().zip(sums) {
            if window.doubled > doubled {
                binned = binned.doubled();
                doubled += 1;
            }
            if binned.bins() < (2 * SURROUNDINGS + 1) * window.bins {
                return;
            }
            let contrasts = contrasts(&binned, window.bins);
            let every = (self.span / window.bin / SAMPLE).ceil().max(1.0) as usize;
            contrasts.chunks(binned.width).step_by(every).for_each(|row| sums.covariances.add(row));
            let places: Vec<i64> = stamps.iter().map(|&stamp| binned.place(stamp) as i64).collect();
            add_lags(&contrasts, &places, window.furthest, sums);
            add_chance(&contrasts, &places, &mut random, sums);
            sums.stamps += stamps.len();
        }
    }
}

/// Takes off the mean of the instances.
fn centre(binned: &mut Binned) {
    let (width, instances) = (binned.width, binned.counts.iter().sum::<f32>());
    let mut mean = vec![0.0; width];
    binned.features.chunks(width).for_each(|bin| add(&mut mean, bin));
    mean.iter_mut().for_each(|mean| *mean /= instances);
    for (bin, count) in binned.features.chunks_mut(width).zip(&binned.counts) {
        bin.iter_mut().zip(&mean).for_each(|(x, mean)| *x -= count * mean);
    }
}

/// Window minus surroundings, for a window of so many bins from each bin on.
fn contrasts(binned: &Binned, bins: usize) -> Vec<f32> {
    let (width, all) = (binned.width, binned.bins());
    let places = all - bins + 1;
    let own = |k: usize| &binned.features[k * width..(k + 1) * width];
    let (before, after) = (SURROUNDINGS * bins, (SURROUNDINGS + 1) * bins);
    // In double precision, rounding does not add up on the way.
    let (mut middle, mut whole) = (vec![0.0; width], vec![0.0; width]);
    (0..bins - 1).for_each(|k| slide(&mut middle, own(k), 1.0));
    (0..after - 1).for_each(|k| slide(&mut whole, own(k), 1.0));
    let share = 1.0 / (2 * SURROUNDINGS) as f64;
    let mut contrasts = vec![0.0; places * width];
    for (k, contrast) in contrasts.chunks_mut(width).enumerate() {
        slide(&mut middle, own(k + bins - 1), 1.0);
        if k + after <= all {
            slide(&mut whole, own(k + after - 1), 1.0);
        }
        for ((contrast, middle), whole) in contrast.iter_mut().zip(&middle).zip(&whole) {
            *contrast = (middle - share * (whole - middle)) as f32;
        }
        slide(&mut middle, own(k), -1.0);
        if k >= before {
            slide(&mut whole, own(k - before), -1.0);
        }
    }
    contrasts
}

fn slide(sum: &mut [f64], bin: &[f32], sign: f64) {
    sum.iter_mut().zip(bin).for_each(|(sum, &x)| *sum += sign * f64::from(x));
}

/// Adds the windows around each stamp, from the longest lag to the shortest.
fn add_lags(contrasts: &[f32], stamps: &[i64], furthest: usize, sums: &mut Sums) {
    let lags = 2 * furthest as i64 + 1;
    let width = sums.by_lag.len() / lags as usize;
    let places = (contrasts.len() / width) as i64;
    for stamp in stamps {
        let first = stamp.saturating_sub(furthest as i64);
        let (from, to) = (first.max(0), first.saturating_add(lags).min(places));
        if from < to {
            let own = from as usize * width..to as usize * width;
            let lag = (from - first) as usize * width;
            add(&mut sums.by_lag[lag..lag + own.len()], &contrasts[own]);
        }
    }
}

/// Adds the windows at stamps that were moved.
fn add_chance(contrasts: &[f32], stamps: &[i64], random: &mut Random, sums: &mut Sums) {
    let width = sums.by_chance.len() / DRAWS;
    let places = contrasts.len() / width;
    for sum in sums.by_chance.chunks_mut(width) {
        let moved = random.below(places) as i64;
        for stamp in stamps {
            let place = stamp.saturating_add(moved).rem_euclid(places as i64) as usize;
            add(sum, &contrasts[place * width..(place + 1) * width]);
        }
    }
}

fn add(sums: &mut [f32], more: &[f32]) {
    sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
}
