//! Which runs of instances are events, and where they begin and end.
//!
//! Where labels form runs, p_i is the probability that instance i is in one. There is an event where p is highest, and it
//! goes as far as p stays at half of that height or more:
//!
//! ```text
//! p      ▁▂▄▆█████▇▅▃▁▁▁▁▁▂▄▅▅▅▃▁▁▁
//! event     ├──────┤      ├───┤
//! ```
//!
//! If there is a run at the peak k, it covers i too with a probability of at most p_i / p_k, and of about that where no
//! other run is near. So the first instance at half of the height is the median of where the run begins, however sure it
//! is: the place that is least off on average. At a fixed height events would begin the later the less sure they are, and
//! if that height were the threshold, the lower one that finds more of them would begin all others too early. So the
//! threshold says which events there are, those whose peak reaches it, and not where they are.
//!
//! A peak from which a higher one can be reached without falling below half of its own height is a part of that one, since
//! more often than not one run covers both; of equals the first is the peak. So no events overlap, and two peaks that are
//! sure are two events if what is between them is more likely in no run.
//!
//! Cost: each instance is looked at once, in order of time. What is needed of those before it is the last one below any
//! height that may be the half of one to come, which are those that are lower than all behind them: O(log n) for each on
//! average, and memory for one slow rise.

use super::events::{Detection, EventOptions, whole};
use super::rounding::slack;

/// The share of its height down to which a peak is one event.
const HALF: f64 = 0.5;

/// Events of probabilities that arrive in order of time.
#[derive(Debug, Clone)]
pub(super) struct ArrivingRuns {
    options: EventOptions,
    /// Since the event before: instances below half of the highest probability that are lower than all behind them, the
    /// lowest first. Of those below half of the threshold the last is enough.
    lows: Vec<Low>,
    /// The highest peak since then, while nothing has fallen below half of it.
    open: Option<Detection>,
    /// The event before, to which what comes may be too close.
    before: Option<Detection>,
}

#[derive(Debug, Clone, Copy)]
struct Low {
    probability: f64,
    /// When the instance behind it is; none if it has not come.
    next: Option<f64>,
}

impl ArrivingRuns {
    /// Options that have been checked.
    pub(super) fn new(options: EventOptions) -> Self {
        // Before the first instance there is no event.
        let outside = Low { probability: f64::NEG_INFINITY, next: None };
        Self { options, lows: vec![outside], open: None, before: None }
    }

    /// An instance arrives, not before the last one; adds events that nothing can change any more.
    pub(super) fn push(&mut self, time: f64, probability: f64, found: &mut Vec<Detection>) {
        if let Some(newest) = self.lows.last_mut() {
            newest.next.get_or_insert(time);
        }
        if self.open.is_some_and(|open| probability < HALF * open.score) {
            self.close(found);
        }
        self.keep_low(probability);
        self.grow(time, probability);
        let earliest = match (&self.open, self.lows.first()) {
            (Some(open), _) => open.time,
            (None, lowest) => lowest.and_then(|lowest| lowest.next).unwrap_or(time),
        };
        if self.before.is_some_and(|before| !self.is_near(&before, earliest)) {
            found.extend(self.before.take());
        }
    }

    /// Nothing comes any more; adds what is left.
    pub(super) fn finish(&mut self, found: &mut Vec<Detection>) {
        self.close(found);
        found.extend(self.before.take());
        *self = Self::new(self.options);
    }

    /// The open event is over: what comes begins behind the lowest instance from here on.
    fn close(&mut self, found: &mut Vec<Detection>) {
        let Some(event) = self.open.take() else { return };
        self.lows.clear();
        self.before = match self.before.take() {
            Some(before) if self.is_near(&before, event.time) => Some(whole(&[before, event])),
            before => {
                found.extend(before);
                Some(event)
            }
        };
    }

    fn keep_low(&mut self, probability: f64) {
        if probability < HALF * self.options.threshold {
            self.lows.clear();
        }
        while self.lows.last().is_some_and(|low| low.probability >= probability) {
            self.lows.pop();
        }
        if probability < HALF {
            self.lows.push(Low { probability, next: None });
        }
    }

    /// The open event has one instance more, which may be its peak.
    fn grow(&mut self, time: f64, probability: f64) {
        if let Some(open) = &mut self.open {
            open.end = time;
        }
        let is_peak = self.open.is_none_or(|open| probability > open.score);
        if probability < self.options.threshold || !is_peak {
            return;
        }
        let below = self.lows.partition_point(|low| low.probability < HALF * probability);
        // If none is, it is a part of the event before.
        if let Some(begin) = below.checked_sub(1).and_then(|last| self.lows[last].next) {
            self.open = Some(Detection { time: begin, end: time, score: probability });
        }
    }

    /// Whether an event that begins then is one with an earlier event.
    fn is_near(&self, before: &Detection, begin: f64) -> bool {
        let separation = self.options.min_separation;
        begin - before.end < separation - slack([begin, separation])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::labels::Labels;
    use crate::math::Random;

    const OPTIONS: EventOptions =
        EventOptions { threshold: 0.5, min_separation: 0.0, labels: Labels::Chain };

    fn found(p: &[f64], options: EventOptions) -> Vec<Detection> {
        let (mut runs, mut found) = (ArrivingRuns::new(options), Vec::new());
        p.iter().enumerate().for_each(|(i, &p)| runs.push(i as f64, p, &mut found));
        runs.finish(&mut found);
        found
    }

    /// First and last instance of events.
    fn spans(p: &[f64], threshold: f64) -> Vec<(f64, f64)> {
        let found = found(p, EventOptions { threshold, ..OPTIONS });
        found.iter().map(|event| (event.time, event.end)).collect()
    }

    /// Straight from the definition, with all instances at hand.
    fn defined(p: &[f64], threshold: f64) -> Vec<Detection> {
        let is_high = |i: &usize, k: usize| p[*i] >= HALF * p[k];
        let mut found = Vec::new();
        for k in (0..p.len()).filter(|&k| p[k] >= threshold) {
            let first = (0..k).rev().take_while(|i| is_high(i, k)).last().unwrap_or(k);
            let last = (k + 1..p.len()).take_while(|i| is_high(i, k)).last().unwrap_or(k);
            let is_peak = (first..k).all(|i| p[i] < p[k]) && (k..=last).all(|i| p[i] <= p[k]);
            if is_peak {
                found.push(Detection { time: first as f64, end: last as f64, score: p[k] });
            }
        }
        found
    }

    #[test]
    fn events_are_those_of_the_definition() {
        let mut random = Random::new(3);
        let mut events = 0;
        for case in 0..4000 {
            // On a grid, so that there are equals and exact halves; then rough, then smooth.
            let mut level: f64 = 0.5;
            let mut draw = || match case % 3 {
                0 => 0.125 * random.below(9) as f64,
                1 => random.uniform(),
                _ => {
                    level = (level + 0.2 * random.normal()).clamp(0.0, 1.0);
                    level
                }
            };
            let p: Vec<f64> = (0..1 + case % 40).map(|_| draw()).collect();
            let threshold = [0.5, 0.25, 0.8, 0.0, 1.0][case % 5];
            let want = defined(&p, threshold);
            assert_eq!(found(&p, EventOptions { threshold, ..OPTIONS }), want, "{threshold} {p:?}");
            events += want.len();
        }
        assert!(events > 8000, "{events}");
    }

    #[test]
    fn an_event_begins_at_half_of_its_height_whatever_the_threshold() {
        let p = [0.1, 0.2, 0.3, 0.55, 0.6, 0.3, 0.1, 0.0, 0.3, 0.5, 0.9, 1.0, 0.5, 0.4, 0.1];
        assert_eq!(spans(&p, 0.5), [(2.0, 5.0), (9.0, 12.0)]);
        assert_eq!(spans(&p, 0.2), spans(&p, 0.5));
        assert_eq!(spans(&p, 0.8), [(9.0, 12.0)]);
        assert_eq!(spans(&p[..2], 0.3), []);
    }

    #[test]
    fn peaks_are_two_events_if_the_lower_one_is_twice_the_valley() {
        assert_eq!(spans(&[0.0, 1.0, 0.39, 0.8, 0.0], 0.5), [(1.0, 1.0), (3.0, 3.0)]);
        assert_eq!(spans(&[0.0, 0.8, 0.39, 1.0, 0.0], 0.5), [(1.0, 1.0), (3.0, 3.0)]);
        assert_eq!(spans(&[0.0, 1.0, 0.4, 0.8, 0.0], 0.5), [(1.0, 1.0)]);
        assert_eq!(spans(&[0.0, 1.0, 0.5, 0.8, 0.0], 0.5), [(1.0, 3.0)]);
    }

    #[test]
    fn events_begin_and_end_with_the_recording() {
        assert_eq!(spans(&[0.4, 0.6, 0.9], 0.5), [(1.0, 2.0)]);
        assert_eq!(spans(&[0.9, 0.6, 0.4], 0.5), [(0.0, 1.0)]);
        assert_eq!(spans(&[0.5], 0.5), [(0.0, 0.0)]);
        assert_eq!(spans(&[0.0, 0.0], 0.0), [(0.0, 1.0)]);
    }

    #[test]
    fn an_event_leaves_once_nothing_can_change_it() {
        let options = EventOptions { min_separation: 2.5, ..OPTIONS };
        let (mut runs, mut found) = (ArrivingRuns::new(options), Vec::new());
        let p = [0.0, 0.8, 0.5, 0.3, 0.1, 0.1, 0.2, 0.2, 0.9, 0.1, 0.6, 0.0, 0.0, 0.0];
        let mut left = |i: usize| {
            runs.push(i as f64, p[i], &mut found);
            found.len()
        };
        let left: Vec<usize> = (0..p.len()).map(&mut left).collect();
        // The first ends at 2, and from 5 on none can begin that is closer than 2.5; the second, at 8, is joined by what is
        // at 10, and leaves at 13.
        assert_eq!(left, [0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 2]);
        assert_eq!([found[0].end, found[1].time, found[1].end], [2.0, 8.0, 10.0]);
    }

    #[test]
    fn a_slow_rise_is_all_that_is_kept() {
        let mut random = Random::new(4);
        let (mut runs, mut left) = (ArrivingRuns::new(OPTIONS), Vec::new());
        let mut kept = 0;
        for i in 0..20_000 {
            runs.push(f64::from(i), 0.25 + 0.75 * random.uniform(), &mut left);
            kept = runs.lows.len().max(kept);
        }
        // Of independent draws few are lower than all behind them: their number is about log n.
        assert!(kept < 20, "{kept}");
    }
}
