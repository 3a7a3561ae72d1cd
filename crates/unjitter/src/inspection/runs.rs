//! Positive instances in runs that are stamped once: events that cover several instances.
//!
//! If labels were independent, an instance behind a positive one would be positive as often as any other. How far more
//! often it is, in standard errors, tells runs from chance. That alone does not ask for a chain: each of several events in
//! a row may have its stamp, as each puff of a cigarette has. So there must also be about as many stamps as runs, nearer
//! than as many as positive instances, as ratios.
//!
//! Without labels, windows that overlap are told: one event then shows in several of them, however short it is. Neighbours
//! share samples, so each of their features is alike, and the less alike the further apart they are,
//!
//! ```text
//! alike = 1 − γ(1) / γ(8)        γ(k) = E (x_{i+k} − x_i)² / 2
//! ```
//!
//! which for neighbours that share a part of their samples, and for no drift, is that part. The least of all features is
//! asked for: where instances are cut apart some feature is new in each, though others drift or look at their surroundings.
//! It is −0.8 for simulated breaths, −0.32 for heart beats, −0.22 for steps, and .47, .74 and .87 for a window of a second
//! twice, four and ten times per second. That several events in a row resemble each other is not enough: of the instances
//! of a recording of heart beats that look most like stamped ones, more than half have another behind them, though such
//! beats come alone.

use std::collections::VecDeque;

use super::finding::Finding;
use super::view::{Stamped, View};

/// Standard errors above chance.
const DEVIATIONS: f64 = 5.0;
/// Mean length of a run, in instances, from which an event covers several.
const SEVERAL: f64 = 1.5;

/// Instances between those that are compared with neighbours.
const APART: usize = 8;
/// From here on an instance shares most of its samples with the next one.
const OVERLAPPING: f64 = 0.5;
/// Standard errors above that.
const SURE: f64 = 3.0;
/// A stamp for so many stretches that share no samples, or fewer.
const STRETCHES: f64 = 4.0;

/// Where there are no labels, windows that overlap so much that an event shows in several.
pub(super) fn overlap(view: &View<'_>) -> Option<Finding> {
    let annotators = view.sessions.iter().map(|session| session.streams.len()).max()?.max(1);
    let stamps = view.streams().map(Vec::len).sum::<usize>() / annotators;
    if stamps == 0 || view.sessions.iter().any(|own| own.labels.iter().any(Option::is_some)) {
        return None;
    }
    let columns = view.sessions[0].features.ncols();
    let [mut near, mut far] = [(); 2].map(|()| vec![(0.0, 0usize); columns]);
    for session in &view.sessions {
        add_squares(session, view.spacing, 1, &mut near);
        add_squares(session, view.spacing, APART, &mut far);
    }
    let mean = |(sum, count): &(f64, usize)| sum / *count as f64;
    let both = near.iter().zip(&far).filter(|(near, far)| near.1 > 0 && far.0 > 0.0);
    let (mut alike, mut pairs) = (f64::INFINITY, 0);
    for (near, far) in both {
        let own = 1.0 - mean(near) / mean(far);
        if own < alike {
            (alike, pairs) = (own, near.1);
        }
    }
    // Neighbours that share samples are worth as many as share none.
    let apart = pairs as f64 * (1.0 - alike);
    let error = (1.0 - alike) * (2.0 / apart).sqrt();
    let is_sure = alike.is_finite() && alike - SURE * error > OVERLAPPING;
    (is_sure && stamps as f64 * STRETCHES < apart)
        .then_some(Finding::OverlappingWindows { alike, stamps })
}

/// Adds the squares of differences between instances so many places apart, and how many, by feature. Gaps are left out.
fn add_squares(session: &Stamped<'_>, spacing: f64, apart: usize, sums: &mut [(f64, usize)]) {
    let longest = 1.5 * spacing * apart as f64;
    let mut rows: VecDeque<Vec<f64>> = VecDeque::new();
    let mut at = 0;
    session.features.visit_rows(|row| {
        if rows.len() == apart {
            let before = rows.pop_front().unwrap_or_default();
            if session.times[at] - session.times[at - apart] <= longest {
                for ((sum, count), (now, before)) in sums.iter_mut().zip(row.iter().zip(&before)) {
                    let difference = now - before;
                    if difference.is_finite() {
                        *sum += difference * difference;
                        *count += 1;
                    }
                }
            }
        }
        rows.push_back(row.to_vec());
        at += 1;
    });
}

pub(super) fn check(view: &View<'_>) -> Option<Finding> {
    let (mut positives, mut labelled, mut runs) = (0usize, 0usize, 0usize);
    // Positive instances with a labelled one behind them, and those of them that go on.
    let (mut followed, mut go_on) = (0usize, 0usize);
    for session in &view.sessions {
        let mut before = None;
        for &label in session.labels.iter() {
            let is_positive = label == Some(true);
            labelled += usize::from(label.is_some());
            positives += usize::from(is_positive);
            runs += usize::from(is_positive && before != Some(true));
            if before == Some(true) && label.is_some() {
                followed += 1;
                go_on += usize::from(is_positive);
            }
            before = label;
        }
    }
    let stamps = view.streams().map(Vec::len).sum::<usize>();
    if followed == 0 || stamps == 0 || positives == labelled {
        return None;
    }
    let share = positives as f64 / labelled as f64;
    let expected = share * followed as f64;
    let beyond = (go_on as f64 - expected) / (expected * (1.0 - share)).sqrt();
    // Those of one annotator: several who stamp the same runs are not more stamps of each.
    let annotators = view.sessions.iter().map(|session| session.streams.len()).max().unwrap_or(1);
    let each = stamps as f64 / annotators.max(1) as f64;
    let is_once = each * each < runs as f64 * positives as f64;
    let is_long = positives as f64 >= SEVERAL * runs as f64;
    (beyond > DEVIATIONS && is_once && is_long).then_some(Finding::LabelRuns {
        positives,
        runs,
        stamps,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signal::CycleOptions;
    use crate::simulation::{Respiration, Wearable};
    use crate::{Control, Session};

    /// What is told of sessions without labels, with a stamp at every sixtieth instance.
    fn told(sessions: impl Iterator<Item = Session<'static>>) -> Option<Finding> {
        let stamped = |session: Session<'static>| {
            let stamps = session.times().iter().copied().step_by(60).collect();
            session.with_stamps(stamps).unwrap()
        };
        let sessions: Vec<Session<'_>> = sessions.map(stamped).collect();
        overlap(&View::of_sessions(&sessions, &[], &[]))
    }

    fn wearable(windows_per_second: f64, seed: u64) -> Option<Finding> {
        let study = Wearable { people: 4, windows_per_second, ..Wearable::default() };
        let recordings = study.simulate(seed, Control::default()).unwrap();
        told(recordings.into_iter().map(|own| own.session))
    }

    #[test]
    fn windows_that_overlap_are_told() {
        for seed in 0..5 {
            for (windows_per_second, shared) in [(4.0, 0.75), (10.0, 0.9)] {
                let found = wearable(windows_per_second, seed);
                let Some(Finding::OverlappingWindows { alike, .. }) = found else {
                    panic!("{windows_per_second}: {found:?}")
                };
                // Features are no means of samples alone, and far windows resemble each other a little.
                assert!((alike - shared).abs() < 0.05, "{windows_per_second}: {alike}");
            }
            for windows_per_second in [0.5, 1.0, 2.0] {
                assert_eq!(wearable(windows_per_second, seed), None, "{windows_per_second}");
            }
        }
    }

    #[test]
    fn breaths_are_cut_apart() {
        for (seed, kind) in [Respiration::mpuff(), Respiration::puffmarker()].iter().enumerate() {
            let recordings = kind.simulate(seed as u64, Control::default()).unwrap();
            let options = CycleOptions::default();
            let sessions = recordings.iter().map(|own| own.session(&options).unwrap().session);
            assert_eq!(told(sessions.collect::<Vec<_>>().into_iter()), None, "{seed}");
        }
    }
}
