//! Where stamps belong by one explanation, given what is decided already.
//!
//! A decision is known to the model as far as it says something of the recording. A stamp that was accepted or
//! moved makes its instance an event, and so does an event that was missed; nothing missed makes it none. A
//! rejected stamp is left out. Neighbours of an instance that was confirmed get no label: that a stamp belongs
//! elsewhere does not mean that there was no event, which somebody may have missed.

use std::collections::BTreeMap;

use rayon::prelude::*;
use unjitter::{AlignOptions, Candidate, Fitted, Session};

use super::item::{Action, Decision, Item};

/// Less likely places are not listed.
const AT_LEAST: f64 = 1e-4;

/// A session with what is decided.
#[derive(Debug)]
pub(crate) struct Known {
    pub(crate) session: Session<'static>,
    /// Positions of its stamps among all stamps of the recording.
    kept: Vec<usize>,
    /// Stamps of the recording.
    stamps: usize,
}

/// What is known of all sessions.
pub(crate) fn known<'a>(
    sessions: impl Iterator<Item = &'a Session<'static>>,
    decisions: &BTreeMap<Item, Decision>,
) -> Vec<Known> {
    let mut own: BTreeMap<usize, Vec<(Item, Decision)>> = BTreeMap::new();
    for (&item, &decision) in decisions {
        own.entry(item.session()).or_default().push((item, decision));
    }
    let of = |(k, session): (usize, &Session<'static>)| {
        with_decisions(session, own.get(&k).map_or(&[], Vec::as_slice))
    };
    sessions.enumerate().map(of).collect()
}

fn with_decisions(session: &Session<'static>, decisions: &[(Item, Decision)]) -> Known {
    let stamps = session.stamps().len();
    let mut is_kept = vec![true; stamps];
    let mut labels: Vec<Option<bool>> = (0..session.len()).map(|i| session.label(i)).collect();
    // Events last: where one reviewer confirmed a stamp and another saw nothing missed, there was an event.
    let is_event = |(_, own): &&(Item, Decision)| own.instance.is_some();
    let (events, others): (Vec<_>, Vec<_>) = decisions.iter().partition(is_event);
    for &(item, Decision { action, instance }) in others.into_iter().chain(events) {
        match (item, action) {
            (Item::Stamp(_, stamp), Action::Reject) => is_kept[stamp] = false,
            (Item::Missed(_, instance), Action::Reject) => labels[instance] = Some(false),
            (_, Action::Skip) => {}
            _ => instance.into_iter().for_each(|instance| labels[instance] = Some(true)),
        }
    }
    let mut own = session.clone();
    if labels.iter().any(Option::is_some) {
        own = own.with_labels(labels).expect("there is a label for every instance");
    }
    let kept = (0..stamps).filter(|&stamp| is_kept[stamp]).collect();
    Known { session: own.keeping_stamps(|stamp| is_kept[stamp]), kept, stamps }
}

/// A session by one explanation.
#[derive(Debug, Clone, Default)]
pub(crate) struct Places {
    /// One for each stamp of the recording.
    pub(crate) stamps: Vec<Place>,
    /// One for each instance.
    pub(crate) instances: Vec<InstancePlace>,
}

/// Where a stamp belongs.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Place {
    /// Instances in order of time, with the probabilities that the stamp is for an event there.
    pub(crate) candidates: Vec<Candidate>,
    /// Probability that it is for no event. With those of all candidates, also the unlikely ones, this is one.
    pub(crate) p_spurious: f64,
    /// The 95 % interval of where it belongs, if it does.
    pub(crate) low: f64,
    pub(crate) high: f64,
}

/// What is known of an instance.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct InstancePlace {
    pub(crate) p_detector: f64,
    pub(crate) p_positive: f64,
    pub(crate) p_missed: f64,
}

impl Place {
    /// Its most probable instance.
    pub(crate) fn best(&self) -> Option<Candidate> {
        self.candidates.iter().copied().max_by(|a, b| a.p.total_cmp(&b.p))
    }

    /// The probability that it is for an event at an instance.
    pub(crate) fn at(&self, instance: usize) -> f64 {
        let found = self.candidates.iter().find(|candidate| candidate.instance == instance);
        found.map_or(0.0, |candidate| candidate.p)
    }
}

/// All sessions by one explanation.
pub(crate) fn places(
    fitted: &Fitted,
    known: &[Known],
    draws: usize,
) -> unjitter::Result<Vec<Places>> {
    let options = AlignOptions { draws, ..AlignOptions::default() };
    known.par_iter().map(|own| places_of(fitted, own, &options)).collect()
}

fn places_of(fitted: &Fitted, known: &Known, options: &AlignOptions) -> unjitter::Result<Places> {
    let Known { session, kept, stamps } = known;
    let (aligned, candidates) = fitted.align_among(session, options, AT_LEAST)?;
    let rejected = Place { candidates: Vec::new(), p_spurious: 1.0, low: f64::NAN, high: f64::NAN };
    let mut places = vec![rejected; *stamps];
    for ((&position, stamp), mut candidates) in kept.iter().zip(&aligned.stamps).zip(candidates) {
        // Candidates gave the stamp with these probabilities, whether they are events or not.
        let all: f64 = candidates.iter().map(|candidate| candidate.p).sum();
        let share = if all > 0.0 { (1.0 - stamp.p_spurious) / all } else { 0.0 };
        candidates.iter_mut().for_each(|candidate| candidate.p *= share);
        let (p_spurious, low, high) = (stamp.p_spurious, stamp.low, stamp.high);
        places[position] = Place { candidates, p_spurious, low, high };
    }
    let instance = |one: &unjitter::AlignedInstance| InstancePlace {
        p_detector: one.p_detector,
        p_positive: one.p_positive,
        p_missed: one.p_missed,
    };
    Ok(Places { stamps: places, instances: aligned.instances.iter().map(instance).collect() })
}

/// The average of several explanations, by their shares. Intervals are those of the first.
pub(crate) fn mixed(explanations: &[&[Places]], shares: &[f64]) -> Vec<Places> {
    let sessions = explanations.first().map_or(0, |own| own.len());
    let session = |k: usize| {
        let mut mixed = explanations[0][k].clone();
        if explanations.len() == 1 {
            return mixed;
        }
        for (l, place) in mixed.stamps.iter_mut().enumerate() {
            *place = mixed_place(explanations.iter().map(|own| &own[k].stamps[l]), shares);
        }
        for (i, instance) in mixed.instances.iter_mut().enumerate() {
            *instance = InstancePlace::default();
            for (own, share) in explanations.iter().zip(shares) {
                let own = own[k].instances[i];
                instance.p_detector += share * own.p_detector;
                instance.p_positive += share * own.p_positive;
                instance.p_missed += share * own.p_missed;
            }
        }
        mixed
    };
    (0..sessions).into_par_iter().map(session).collect()
}

fn mixed_place<'a>(places: impl Iterator<Item = &'a Place>, shares: &[f64]) -> Place {
    let mut all: Vec<Candidate> = Vec::new();
    let mut mixed =
        Place { candidates: Vec::new(), p_spurious: 0.0, low: f64::NAN, high: f64::NAN };
    for (place, share) in places.zip(shares) {
        mixed.p_spurious += share * place.p_spurious;
        (mixed.low, mixed.high) = (mixed.low.min(place.low), mixed.high.max(place.high));
        all.extend(place.candidates.iter().map(|own| Candidate { p: share * own.p, ..*own }));
    }
    all.sort_by_key(|candidate| candidate.instance);
    for candidate in all {
        match mixed.candidates.last_mut() {
            Some(last) if last.instance == candidate.instance => last.p += candidate.p,
            _ => mixed.candidates.push(candidate),
        }
    }
    mixed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session() -> Session<'static> {
        let features = unjitter::Features::new(vec![0.0; 6], 6, 1).unwrap();
        let times = (0..6).map(f64::from).collect();
        let session = Session::new("walk", features, times, vec![0.5, 2.5, 4.5]).unwrap();
        let names = ["Ada", "Ben", "Ada"].map(str::to_owned);
        session.with_annotators(&names, &[]).unwrap()
    }

    #[test]
    fn decisions_become_labels_and_rejected_stamps_go() {
        let said = |action, instance| Decision { action, instance };
        let decisions = BTreeMap::from([
            (Item::Stamp(0, 0), said(Action::Move, Some(1))),
            (Item::Stamp(0, 1), said(Action::Reject, None)),
            (Item::Stamp(0, 2), said(Action::Skip, None)),
            (Item::Missed(0, 3), said(Action::Missed, Some(3))),
            (Item::Missed(0, 5), said(Action::Reject, None)),
            (Item::Missed(0, 1), said(Action::Reject, None)),
        ]);
        let known = known([&session()].into_iter(), &decisions);
        let own = &known[0].session;
        let labels: Vec<Option<bool>> = (0..6).map(|i| own.label(i)).collect();
        assert_eq!(labels, [None, Some(true), None, Some(true), None, Some(false)]);
        assert_eq!(own.stamps(), [0.5, 4.5]);
        assert_eq!([own.annotator_of(0), own.annotator_of(1)], [Some(0), Some(0)]);
        assert_eq!(known[0].kept, [0, 2]);
    }

    #[test]
    fn explanations_are_averaged_by_their_shares() {
        let place = |instance, p, p_spurious| Place {
            candidates: vec![Candidate { instance, p }],
            p_spurious,
            low: instance as f64,
            high: instance as f64,
        };
        let mixed = mixed_place([place(3, 0.8, 0.2), place(1, 0.5, 0.5)].iter(), &[0.75, 0.25]);
        assert!((mixed.at(3) - 0.6).abs() < 1e-12 && (mixed.at(1) - 0.125).abs() < 1e-12);
        assert!((mixed.p_spurious - 0.275).abs() < 1e-12); // rounding only
        assert_eq!((mixed.low, mixed.high, mixed.at(2)), (1.0, 3.0, 0.0));
        assert_eq!(mixed.best().map(|best| best.instance), Some(3));
    }
}
