//! Events of probabilities that arrive in order of time: those of [`detect_events`](super::detect_events), each as soon as
//! nothing that may come can change it.
//!
//! An event that is one instance waits until candidates are so far away that they cannot suppress it: with no smallest
//! distance it leaves at once. A run waits for its end, and where runs that are close are one, for the time that another
//! would have to begin in. In memory are the candidates that are closer to each other than the smallest distance, one
//! behind the other.

use super::events::{Detection, EventOptions, suppress, whole};
use super::rounding::slack;
use crate::labels::Labels;

/// Events until now.
#[derive(Debug, Clone)]
pub(super) struct ArrivingEvents {
    options: EventOptions,
    /// Candidates that may still change, or, where labels form runs, instances of an event that does.
    open: Vec<Detection>,
    /// Whether the last instance belongs to these.
    is_candidate: bool,
}

impl ArrivingEvents {
    /// Options that have been checked.
    pub(super) fn new(options: EventOptions) -> Self {
        Self { options, open: Vec::new(), is_candidate: false }
    }

    /// An instance arrives, not before the last one; adds events that nothing can change any more.
    pub(super) fn push(&mut self, time: f64, probability: f64, found: &mut Vec<Detection>) {
        let EventOptions { threshold, min_separation, labels } = self.options;
        let continues = labels == Labels::Chain && self.is_candidate;
        self.is_candidate = probability >= threshold;
        if let Some(last) = self.open.last().filter(|_| !(continues && self.is_candidate)) {
            let limit = min_separation - slack([time, min_separation]);
            // The instance itself, if it is no candidate, is no event that could be too close.
            if time - last.end >= limit {
                self.finish(found);
            }
        }
        if self.is_candidate {
            self.open.push(Detection::at(time, probability));
            if labels == Labels::Chain {
                let one = whole(&self.open);
                self.open = vec![one];
            }
        }
    }

    /// Nothing comes any more; adds what is left.
    pub(super) fn finish(&mut self, found: &mut Vec<Detection>) {
        let open = std::mem::take(&mut self.open);
        match (self.options.labels, open.last()) {
            (_, None) => {}
            (Labels::Chain, Some(_)) => found.extend(open),
            (Labels::Independent, Some(last)) => {
                let separation = self.options.min_separation;
                found.extend(suppress(&open, separation - slack([last.time, separation])));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::events::detect_events;
    use super::*;
    use crate::math::Random;

    #[test]
    fn events_are_those_of_the_whole_recording() {
        let mut random = Random::new(8);
        for case in 0..200 {
            let labels = [Labels::Independent, Labels::Chain][case % 2];
            let min_separation = [0.0, 0.5, 1.25, 3.0][case / 2 % 4];
            let options = EventOptions { min_separation, labels, ..EventOptions::default() };
            let mut time = 0.0;
            // On a coarse grid, so that instances tie and distances are exactly the smallest one.
            let mut later = || {
                time += 0.25 * random.below(5) as f64;
                (time, 0.125 * random.below(9) as f64)
            };
            let arrivals: Vec<(f64, f64)> = (0..60).map(|_| later()).collect();
            let (times, p): (Vec<f64>, Vec<f64>) = arrivals.iter().copied().unzip();
            let want = detect_events(&times, &p, &options).unwrap();
            let (mut arriving, mut found) = (ArrivingEvents::new(options), Vec::new());
            for (k, &(time, p)) in arrivals.iter().enumerate() {
                arriving.push(time, p, &mut found);
                // What has left stays as it is.
                assert_eq!(found, want[..found.len()], "{options:?} {k}");
                if labels == Labels::Independent && min_separation == 0.0 {
                    let until = want.iter().filter(|event| event.time < time).count();
                    assert!(found.len() >= until, "{k}: an event waits for nothing");
                }
            }
            arriving.finish(&mut found);
            assert_eq!(found, want, "{options:?}");
        }
    }
}
