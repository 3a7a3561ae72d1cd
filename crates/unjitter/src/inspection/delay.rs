//! Stamps that all lie about the same long time before or after the positive instances.
//!
//! If labels are known, the differences of all stamps and all positive instances of a session pile up at
//! the true delay, while chance spreads them evenly. A window that slides over the sorted differences finds
//! the pile. It needs no guess of the delay; misses, extra presses and wild stamps only thin the pile.

use super::finding::{Finding, SessionShift, Shift};
use super::view::View;

/// A delay below this many times the usual spacing of instances may be human, and is learned.
const LARGE: f64 = 5.0;
/// Width of the window, in the same unit: a pile is about as wide as stamps scatter.
const WINDOW: f64 = 4.0;
/// Longest delay considered, in the same unit: hours for beats.
const FURTHEST: f64 = 20_000.0;
/// Most differences computed; beyond, stamps are sampled evenly.
const MOST_PAIRS: usize = 2_000_000;
/// Fewer stamps or positives than this pile up by chance.
const LEAST: usize = 8;
/// A pile has at least this share of the stamps.
const SHARE: f64 = 0.4;
/// It exceeds chance by this many standard deviations, since it is the highest of thousands of windows.
const DEVIATIONS: f64 = 6.0;
/// It is this many times as high as any pile at a small delay.
const CLEARLY: f64 = 1.5;
/// Events that repeat regularly make more piles; the nearest one of nearly full height counts.
const NEARLY: f64 = 0.9;

/// Differences of stamps and positive instances, and the number of stamps behind them.
#[derive(Default)]
struct Differences {
    sorted: Vec<f64>,
    stamps: usize,
    positives: usize,
}

/// Where differences pile up.
#[derive(Clone, Copy)]
struct Pile {
    delay: f64,
    height: usize,
}

pub(super) fn check(view: &View<'_>) -> Vec<Finding> {
    let spacing = view.spacing;
    let sessions: Vec<(&[f64], Vec<f64>)> =
        view.sessions.iter().map(|s| (s.stamps.as_slice(), s.positives())).collect();
    let pairs: usize = sessions.iter().map(|s| s.0.len().saturating_mul(s.1.len())).sum();
    let every = pairs.div_ceil(MOST_PAIRS).max(1);
    let mut all = Differences::default();
    let mut far = Vec::new();
    for ((stamps, positives), session) in sessions.iter().zip(&view.sessions) {
        let own = Differences::new(stamps, positives, every, FURTHEST * spacing);
        if let Some(delay) = own.far_delay(spacing) {
            let shift = Shift { seconds: -delay, give: WINDOW * spacing / 2.0, hours: None };
            let (session, stamps) = (session.name.to_owned(), stamps.len());
            far.push(SessionShift { session, stamps, shift });
        }
        all.stamps += own.stamps;
        all.positives += own.positives;
        all.sorted.extend(own.sorted);
    }
    all.sorted.sort_by(f64::total_cmp);
    let delay = all.far_delay(spacing);
    if delay.is_none() && far.is_empty() {
        return Vec::new();
    }
    vec![Finding::FarFromPositives { delay, sessions: far, spacing }]
}

impl Differences {
    fn new(stamps: &[f64], positives: &[f64], every: usize, furthest: f64) -> Self {
        let mut sorted = Vec::new();
        for stamp in stamps.iter().step_by(every) {
            let first = positives.partition_point(|&t| t < stamp - furthest);
            let near = positives[first..].iter().take_while(|&&t| t <= stamp + furthest);
            sorted.extend(near.map(|t| stamp - t));
        }
        sorted.sort_by(f64::total_cmp);
        Self { sorted, stamps: stamps.len().div_ceil(every), positives: positives.len() }
    }

    /// The delay, if it is large and certain.
    fn far_delay(&self, spacing: f64) -> Option<f64> {
        if self.stamps.min(self.positives) < LEAST || spacing <= 0.0 {
            return None;
        }
        let piles = self.piles(WINDOW * spacing);
        let highest = piles.iter().map(|pile| pile.height).max()?;
        let is_near = |pile: &Pile| pile.delay.abs() <= LARGE * spacing;
        let near = piles.iter().filter(|p| is_near(p)).map(|p| p.height).max().unwrap_or(0);
        let nearest = piles
            .iter()
            .filter(|pile| pile.height as f64 >= NEARLY * highest as f64)
            .min_by(|a, b| a.delay.abs().total_cmp(&b.delay.abs()))?;
        let around = |pile: &&Pile| (pile.delay - nearest.delay).abs() <= WINDOW * spacing;
        let best = piles.iter().filter(around).max_by_key(|pile| pile.height)?;
        let range = self.sorted[self.sorted.len() - 1] - self.sorted[0];
        let by_chance = self.sorted.len() as f64 * WINDOW * spacing / range.max(WINDOW * spacing);
        let height = best.height as f64;
        let stands_out = height >= SHARE * self.stamps as f64
            && height >= by_chance + DEVIATIONS * by_chance.sqrt()
            && height > CLEARLY * near as f64;
        (!is_near(best) && stands_out).then_some(best.delay)
    }

    /// Every window that begins at a difference.
    fn piles(&self, width: f64) -> Vec<Pile> {
        let mut end = 0;
        let mut pile = |(start, difference): (usize, &f64)| {
            while end < self.sorted.len() && self.sorted[end] <= difference + width {
                end += 1;
            }
            Pile { delay: self.sorted[(start + end) / 2], height: end - start }
        };
        self.sorted.iter().enumerate().map(&mut pile).collect()
    }
}
