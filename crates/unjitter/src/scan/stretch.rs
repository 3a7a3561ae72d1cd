//! Stretches of recordings, short enough to be worked on one by one.

use crate::Session;
use crate::features::FeatureView;

/// Part of a recording, and the stamps in its reach.
#[derive(Clone, Copy)]
pub(crate) struct Stretch<'a> {
    pub(crate) times: &'a [f64],
    pub(crate) features: FeatureView<'a>,
    pub(crate) stamps: &'a [f64],
}

impl<'a> Stretch<'a> {
    pub(super) fn of(session: &'a Session<'_>) -> Self {
        Self { times: session.times(), features: session.features(), stamps: session.stamps() }
    }

    pub(super) fn span(&self) -> f64 {
        self.times[self.times.len() - 1] - self.times[0]
    }

    /// Cuts at gaps longer than `reach`, and before a piece gets longer than `longest`. A stamp in reach
    /// of two pieces belongs to both.
    pub(super) fn cut(&self, reach: f64, longest: f64) -> Vec<Self> {
        let (mut pieces, mut first) = (Vec::new(), 0);
        for next in 1..=self.times.len() {
            let ends = self.times.get(next).is_none_or(|time| {
                time - self.times[next - 1] > reach || time - self.times[first] > longest
            });
            if ends {
                pieces.push(self.piece(first, next, reach));
                first = next;
            }
        }
        pieces
    }

    fn piece(&self, first: usize, next: usize, reach: f64) -> Self {
        let times = &self.times[first..next];
        let (start, end) = (times[0] - reach, times[times.len() - 1] + reach);
        let from = self.stamps.partition_point(|&stamp| stamp < start);
        let to = self.stamps.partition_point(|&stamp| stamp <= end);
        Self { times, features: self.features.slice(first..next), stamps: &self.stamps[from..to] }
    }
}
