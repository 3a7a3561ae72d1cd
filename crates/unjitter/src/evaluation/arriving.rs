//! Events of probabilities that arrive in order of time: those of [`detect_events`](super::detect_events), each as soon as
//! nothing that may come can change it.
//!
//! Where an event is one instance, the most probable of the candidates that wait is taken first, of equals the earliest.
//! Once time is past it by the smallest distance, nothing that comes can exclude it, and it excludes all behind it. So what
//! is before it depends on nothing else, and all leave together. A candidate therefore waits for one distance, and longer
//! only while surer ones come, each closer than the distance to the one before; those of that time are in memory. Which of
//! such a rise are taken is told from its end, so nothing bounds the wait but to decide as if the recording ended here: a
//! bound on the waiting time asks for that. The earliest then leaves or is dropped, and if it leaves its neighbours are
//! dropped, so that the distance between events holds all the same.
//!
//! Runs arrive by themselves (`runs`): one waits for its end, and where runs that are close are one, until none can begin
//! within that time.
//!
//! Cost: O(n log n) for n candidates that leave together; under a bound on the waiting time, for every one that it hurries.

use super::events::{Detection, EventOptions, suppress};
use super::rounding::slack;
use super::runs::ArrivingRuns;
use crate::labels::Labels;

/// Events until now.
#[derive(Debug, Clone)]
pub(super) struct ArrivingEvents {
    options: EventOptions,
    /// An event of one instance waits no longer than this.
    within: f64,
    /// Candidates that may still change, none of them closer than the smallest distance to an event that has left.
    open: Vec<Detection>,
    /// The most probable of these, of equals the earliest.
    highest: Option<Detection>,
    /// When the last event was that has left.
    last: Option<f64>,
    /// Where labels form runs, these instead of all that.
    runs: Option<ArrivingRuns>,
}

impl ArrivingEvents {
    /// Options that have been checked.
    pub(super) fn new(options: EventOptions, within: Option<f64>) -> Self {
        let (within, open) = (within.unwrap_or(f64::INFINITY), Vec::new());
        let runs = match options.labels {
            Labels::Independent => None,
            Labels::Chain => Some(ArrivingRuns::new(options)),
        };
        Self { options, within, open, highest: None, last: None, runs }
    }

    /// An instance arrives, not before the last one; adds events that nothing can change any more.
    pub(super) fn push(&mut self, time: f64, probability: f64, found: &mut Vec<Detection>) {
        match &mut self.runs {
            Some(runs) => runs.push(time, probability, found),
            None => self.push_instance(Detection::at(time, probability), found),
        }
    }

    /// Nothing comes any more; adds what is left.
    pub(super) fn finish(&mut self, found: &mut Vec<Detection>) {
        if let Some(runs) = &mut self.runs {
            runs.finish(found);
        }
        if let Some(newest) = self.open.last() {
            self.leave(newest.time, found);
        }
        *self = Self::new(self.options, Some(self.within));
    }

    fn push_instance(&mut self, own: Detection, found: &mut Vec<Detection>) {
        let (now, is_candidate) = (own.time, own.score >= self.options.threshold);
        let limit = self.limit(now);
        let is_far = |from: f64| now - from >= limit;
        if self.highest.is_some_and(|highest| is_far(highest.time)) {
            self.leave(now, found);
        }
        if is_candidate && self.last.is_none_or(is_far) {
            self.open.push(own);
            // Of equals the earlier stays.
            self.highest = self.highest.filter(|one| one.score >= own.score).or(Some(own));
            // Nothing is too close to it without a smallest distance.
            if limit <= 0.0 {
                self.leave(now, found);
            }
        }
        self.hurry(now, found);
    }

    /// Candidates that have waited long enough are decided as if the recording ended here.
    fn hurry(&mut self, now: f64, found: &mut Vec<Detection>) {
        let is_late = |one: &Detection| now - one.time >= self.within;
        let late = self.open.partition_point(is_late);
        if late == 0 {
            return;
        }
        let limit = self.limit(now);
        let told = suppress(&self.open, limit).into_iter().take_while(is_late);
        let before = found.len();
        found.extend(told);
        self.open.drain(..late);
        if let Some(event) = found[before..].last() {
            self.open.retain(|one| one.time - event.time >= limit);
            self.last = Some(event.time);
        }
        // It is never dropped, and all that are open are its neighbours: if it leaves, none is left.
        self.highest = self.highest.filter(|_| !self.open.is_empty());
    }

    /// All that is open leaves.
    fn leave(&mut self, now: f64, found: &mut Vec<Detection>) {
        found.extend(suppress(&self.open, self.limit(now)));
        self.last = found.last().map(|event| event.time);
        (self.open, self.highest) = (Vec::new(), None);
    }

    /// What is closer than this is too close, up to rounding.
    fn limit(&self, now: f64) -> f64 {
        let separation = self.options.min_separation;
        separation - slack([now, separation])
    }
}

#[cfg(test)]
mod tests {
    use super::super::events::detect_events;
    use super::*;
    use crate::math::Random;

    /// Instances on a coarse grid, so that they tie and distances are exactly the smallest one.
    fn drawn(random: &mut Random, instances: usize, spacings: usize) -> Vec<(f64, f64)> {
        let mut time = 0.0;
        let mut later = || {
            time += 0.25 * random.below(spacings) as f64;
            (time, 0.125 * random.below(9) as f64)
        };
        (0..instances).map(|_| later()).collect()
    }

    fn whole_recording(arrivals: &[(f64, f64)], options: &EventOptions) -> Vec<Detection> {
        let (times, p): (Vec<f64>, Vec<f64>) = arrivals.iter().copied().unzip();
        detect_events(&times, &p, options).unwrap()
    }

    /// What leaves at each arrival and at the end, and how many are kept at most.
    fn told(
        arrivals: &[(f64, f64)],
        options: EventOptions,
        within: Option<f64>,
    ) -> (Vec<Vec<Detection>>, usize) {
        let (mut arriving, mut kept) = (ArrivingEvents::new(options, within), 0);
        let mut each = Vec::new();
        for &(time, p) in arrivals {
            let mut found = Vec::new();
            arriving.push(time, p, &mut found);
            kept = arriving.open.len().max(kept);
            each.push(found);
        }
        let mut found = Vec::new();
        arriving.finish(&mut found);
        each.push(found);
        (each, kept)
    }

    #[test]
    fn events_are_those_of_the_whole_recording() {
        let mut random = Random::new(8);
        for case in 0..2000 {
            let labels = [Labels::Independent, Labels::Chain][case % 2];
            let min_separation = [0.0, 0.5, 1.25, 3.0][case / 2 % 4];
            // With the lowest, all instances are candidates.
            let threshold = [0.5, 0.25, 0.0][case / 8 % 3];
            let options = EventOptions { threshold, min_separation, labels };
            let arrivals = drawn(&mut random, 60, [2, 5][case / 24 % 2]);
            let want = whole_recording(&arrivals, &options);
            // No bound that binds changes anything.
            let within = [None, Some(1e3)][case / 48 % 2];
            let (each, _) = told(&arrivals, options, within);
            let mut found = Vec::new();
            for (k, own) in each.into_iter().enumerate() {
                found.extend(own);
                // What has left stays as it is.
                assert_eq!(found, want[..found.len()], "{options:?} {k}");
                if labels == Labels::Independent && min_separation == 0.0 {
                    let until = arrivals.iter().take(k + 1);
                    let candidates = until.filter(|(_, p)| *p >= threshold).count();
                    assert_eq!(found.len(), candidates, "{k}: an event waits for nothing");
                }
            }
            assert_eq!(found, want, "{options:?}");
        }
    }
    #[test]
    fn long_positive_stretches_hold_nothing_back() {
        let mut random = Random::new(9);
        for labels in [Labels::Independent, Labels::Chain] {
            let options = EventOptions { threshold: 0.25, min_separation: 3.0, labels };
            for case in 0..3 {
                let mut arrivals = drawn(&mut random, 20_000, 2);
                for (_, p) in &mut arrivals {
                    // All candidates: of few values, of many, and of one.
                    *p = [p.max(0.25), 0.25 + 0.75 * random.uniform(), 0.75][case];
                }
                let (each, kept) = told(&arrivals, options, None);
                // Eight instances a unit of time: those of one distance, and of a few rises.
                assert!(kept < 150, "{labels:?} {case}: {kept} are kept");
                assert_eq!(each.concat(), whole_recording(&arrivals, &options));
            }
        }
    }

    #[test]
    fn no_event_waits_longer_than_was_asked() {
        let mut random = Random::new(10);
        // Surer and surer, of which the last excludes the one before it, and so on.
        let rise: Vec<(f64, f64)> =
            (0..2000).map(|k| (0.25 * f64::from(k), 0.5 + f64::from(k) / 4000.0)).collect();
        let options = EventOptions { min_separation: 1.25, ..EventOptions::default() };
        assert_eq!(told(&rise, options, None).1, 2000);
        for within in [0.0, 0.5, 1.25, 4.0] {
            for arrivals in [rise.clone(), drawn(&mut random, 2000, 2), drawn(&mut random, 2000, 4)]
            {
                let (each, kept) = told(&arrivals, options, Some(within));
                assert!(kept < 80, "{within}: {kept} are kept");
                // When the instance before the one came at which each left.
                let earlier = arrivals.iter().map(|(time, _)| *time);
                let told = each.iter().zip(std::iter::once(f64::NEG_INFINITY).chain(earlier));
                let mut last = f64::NEG_INFINITY;
                for (event, earlier) in told.flat_map(|(own, at)| own.iter().map(move |e| (e, at)))
                {
                    assert!(earlier - event.time < within.max(1e-9), "{within}: {event:?}");
                    assert!(event.time - last >= 1.25, "{within}: {event:?} after {last}");
                    last = event.time;
                }
            }
        }
    }
}
