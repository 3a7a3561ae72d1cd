//! Features around instances that lie a given time before the stamps.
//!
//! For every lag, a whole number of time bins, the features of the bins that long before the stamps are
//! summed. Features around events differ from those shortly before and after. So at the true lag the
//! middle of a window differs from its surroundings, by
//!
//! ```text
//! T²(lag) = |middle − surroundings|² / (1/n_middle + 1/n_surroundings)
//! ```
//!
//! with the means of whitened features and the numbers of instances behind them. Slow drift cancels.
//! Cost: stamps × lags × columns, one vector addition each.

use crate::scan::Binned;

/// Stamps are divided into so many parts, each a stretch of its session.
pub(super) const PARTS: usize = 4;
/// Furthest lag, in bins, to either side.
const MOST_LAGS: usize = 10_000;
/// The surroundings extend so many times as far as the middle.
const SURROUNDINGS: usize = 4;
/// Lags with a smaller share of instances than this are left out: few stamps lie that far from an end of
/// their session.
const LEAST_SHARE: f64 = 0.3;

/// Features by lag.
pub(super) struct LagProfile {
    /// Furthest lag to either side; the lag of place m is `furthest − m`, in bins.
    furthest: usize,
    width: usize,
    parts: [Sums; PARTS],
}

/// Features and numbers of instances, by lag.
#[derive(Clone)]
struct Sums {
    features: Vec<f32>,
    counts: Vec<f32>,
}

impl LagProfile {
    /// An empty one, for sessions of so many bins.
    pub(super) fn new(bins: usize, width: usize) -> Self {
        let furthest = bins.min(MOST_LAGS);
        let lags = 2 * furthest + 1;
        let empty = Sums { features: vec![0.0; lags * width], counts: vec![0.0; lags] };
        Self { furthest, width, parts: std::array::from_fn(|_| empty.clone()) }
    }

    /// Number of lags.
    pub(super) fn lags(&self) -> usize {
        2 * self.furthest + 1
    }

    /// The lag of a place, in bins.
    pub(super) fn lag(&self, place: usize) -> f64 {
        self.furthest as f64 - place as f64
    }

    /// Adds every so many of a session's stamps. `turn` assigns the parts.
    pub(super) fn add(&mut self, session: &Binned, stamps: &[f64], every: usize, turn: usize) {
        let (bins, lags, width) = (session.bins() as i64, self.lags() as i64, self.width);
        for (k, stamp) in stamps.iter().enumerate().step_by(every) {
            // The bin at place 0 of the lags; it may lie outside the session.
            let first = session.place(*stamp) - self.furthest as f64;
            if !(-lags as f64..bins as f64).contains(&first) {
                continue;
            }
            let first = first as i64;
            let places = (-first).max(0) as usize..(bins - first).min(lags) as usize;
            let from = (places.start as i64 + first) as usize;
            let own = from..from + places.len();
            let part = &mut self.parts[(k * PARTS / stamps.len() + turn) % PARTS];
            add(
                &mut part.features[places.start * width..places.end * width],
                &session.features[own.start * width..own.end * width],
            );
            add(&mut part.counts[places], &session.counts[own]);
        }
    }

    /// T² by place, for one part of the stamps or for all, with a middle of `half` bins to either side; 0
    /// if there is too little data.
    pub(super) fn contrast(&self, part: Option<usize>, half: usize) -> Vec<f64> {
        let sums = RunningSums::of(self, part);
        let most = (0..self.lags()).map(|m| sums.count(sums.window(m, half)));
        let least = (LEAST_SHARE * most.fold(0.0, f64::max)).max(1.0);
        let mut difference = vec![0.0; self.width];
        let mut at = |m: usize| {
            let (middle, around) = sums.difference(m, half, &mut difference);
            if middle < least || around < 1.0 {
                return 0.0;
            }
            let square: f64 = difference.iter().map(|x| x * x).sum();
            square / (1.0 / middle + 1.0 / around)
        };
        (0..self.lags()).map(&mut at).collect()
    }

    /// Difference of the middle at a place from its surroundings.
    pub(super) fn difference(&self, place: usize, half: usize) -> Vec<f64> {
        let mut difference = vec![0.0; self.width];
        RunningSums::of(self, None).difference(place, half, &mut difference);
        difference
    }
}

/// Sums of features and counts over all places before each.
struct RunningSums {
    lags: usize,
    width: usize,
    features: Vec<f64>,
    counts: Vec<f64>,
}

/// Places from the first to before the second.
type Window = (usize, usize);

impl RunningSums {
    fn of(profile: &LagProfile, part: Option<usize>) -> Self {
        let parts = match part {
            Some(part) => &profile.parts[part..=part],
            None => &profile.parts[..],
        };
        let (lags, width) = (profile.lags(), profile.width);
        let (mut features, mut counts) = (vec![0.0; (lags + 1) * width], vec![0.0; lags + 1]);
        for m in 0..lags {
            counts[m + 1] = counts[m];
            features.copy_within(m * width..(m + 1) * width, (m + 1) * width);
            for part in parts {
                counts[m + 1] += f64::from(part.counts[m]);
                let own = &part.features[m * width..(m + 1) * width];
                let sums = &mut features[(m + 1) * width..(m + 2) * width];
                sums.iter_mut().zip(own).for_each(|(sum, &own)| *sum += f64::from(own));
            }
        }
        Self { lags, width, features, counts }
    }

    fn window(&self, place: usize, half: usize) -> Window {
        (place.saturating_sub(half), (place + half + 1).min(self.lags))
    }

    fn count(&self, (from, to): Window) -> f64 {
        self.counts[to] - self.counts[from]
    }

    /// Means of the middle minus those of the surroundings, and the number of instances in each.
    fn difference(&self, place: usize, half: usize, difference: &mut [f64]) -> (f64, f64) {
        let (inner, outer) = (self.window(place, half), self.window(place, SURROUNDINGS * half));
        let middle = self.count(inner);
        let around = self.count(outer) - middle;
        let total = |(from, to): Window, k: usize| {
            self.features[to * self.width + k] - self.features[from * self.width + k]
        };
        for (k, difference) in difference.iter_mut().enumerate() {
            let inside = total(inner, k);
            *difference = inside / middle - (total(outer, k) - inside) / around;
        }
        (middle, around)
    }
}

fn add(sums: &mut [f32], more: &[f32]) {
    sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
}
