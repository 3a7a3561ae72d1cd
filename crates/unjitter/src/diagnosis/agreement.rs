//! How far annotators of the same sessions agree.
//!
//! Cohen's kappa of two annotators, over the instances of all sessions that both annotated: once with each
//! stamp at its nearest instance, as it is usually computed, and once with the posterior of where stamps
//! belong. Jitter makes people who saw the same events disagree in the first; in the second only events that
//! one of them missed, and presses for nothing, count.

use std::collections::BTreeMap;

use rayon::prelude::*;
use serde::Serialize;

use crate::model::Fitted;
use crate::session::nearest;
use crate::{Result, Session};

/// How far annotators agree.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Agreement {
    /// Every annotator of a session with several, in order of their names.
    pub annotators: Vec<AnnotatorShare>,
    /// Every pair that annotated a session together.
    pub pairs: Vec<PairAgreement>,
}

/// What one annotator saw, in sessions with others.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AnnotatorShare {
    /// Who.
    pub annotator: String,
    /// Sessions with others.
    pub sessions: usize,
    /// Stamps there.
    pub stamps: usize,
    /// Events there, as the stamps of all and the features tell.
    pub events: f64,
    /// How many of these the annotator stamped.
    pub seen: f64,
    /// Stamps that belong to no event.
    pub spurious: f64,
}

/// How far two annotators agree.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PairAgreement {
    /// One of them.
    pub a: String,
    /// The other.
    pub b: String,
    /// Sessions that both annotated.
    pub sessions: usize,
    /// Cohen's kappa, with each stamp at its nearest instance.
    pub kappa_nearest: f64,
    /// The same with stamps where they belong, as the model has it.
    pub kappa: f64,
    /// Instances that both stamped, as the model has it.
    pub both: f64,
}

/// Sums over instances: stamped by both, by the first, by the second, all.
#[derive(Debug, Clone, Copy, Default)]
struct Counts([f64; 4]);

impl Counts {
    fn add(&mut self, a: f64, b: f64) {
        for (sum, own) in self.0.iter_mut().zip([a * b, a, b, 1.0]) {
            *sum += own;
        }
    }

    /// Cohen's kappa; NaN if chance alone agrees always.
    fn kappa(self) -> f64 {
        let [both, a, b, all] = self.0;
        let agree = (all - a - b + 2.0 * both) / all;
        let by_chance = (a * b + (all - a) * (all - b)) / (all * all);
        (agree - by_chance) / (1.0 - by_chance)
    }
}

/// What is computed of a session by itself.
struct Seen {
    /// By annotator and instance: at least one stamp, by the nearest and as the model has it.
    nearest: Vec<Vec<f64>>,
    stamped: Vec<Vec<f64>>,
    /// By annotator: stamps, stamps of events, and events stamped.
    stamps: Vec<(usize, f64, f64)>,
    events: f64,
}

/// Compares the annotators of all sessions with several.
pub fn agreement(fitted: &Fitted, sessions: &[Session<'_>]) -> Result<Agreement> {
    fitted.check_one_class("the agreement of annotators")?;
    let several: Vec<&Session<'_>> =
        sessions.iter().filter(|session| session.annotators().len() > 1).collect();
    let seen: Vec<Seen> =
        several.par_iter().map(|session| see(fitted, session)).collect::<Result<_>>()?;
    let mut annotators: BTreeMap<&str, AnnotatorShare> = BTreeMap::new();
    let mut pairs: BTreeMap<(&str, &str), (usize, [Counts; 2])> = BTreeMap::new();
    for (session, seen) in several.iter().zip(&seen) {
        let names = session.annotators();
        for (name, &(stamps, of_events, stamped)) in names.iter().zip(&seen.stamps) {
            let own = annotators.entry(name).or_insert_with(|| AnnotatorShare {
                annotator: name.clone(),
                sessions: 0,
                stamps: 0,
                events: 0.0,
                seen: 0.0,
                spurious: 0.0,
            });
            own.sessions += 1;
            own.stamps += stamps;
            own.events += seen.events;
            own.seen += stamped;
            own.spurious += stamps as f64 - of_events;
        }
        for (i, a) in names.iter().enumerate() {
            for (j, b) in names.iter().enumerate().skip(i + 1) {
                let (together, counts) = pairs.entry((a, b)).or_default();
                *together += 1;
                for (own, stamped) in counts.iter_mut().zip([&seen.nearest, &seen.stamped]) {
                    let instances = stamped[i].iter().zip(&stamped[j]);
                    instances.for_each(|(&a, &b)| own.add(a, b));
                }
            }
        }
    }
    let pair = |((a, b), (sessions, [nearest, model])): (_, (usize, [Counts; 2]))| {
        let (a, b): (&str, &str) = (a, b);
        PairAgreement {
            a: a.to_owned(),
            b: b.to_owned(),
            sessions,
            kappa_nearest: nearest.kappa(),
            kappa: model.kappa(),
            both: model.0[0],
        }
    };
    Ok(Agreement {
        annotators: annotators.into_values().collect(),
        pairs: pairs.into_iter().map(pair).collect(),
    })
}

fn see(fitted: &Fitted, session: &Session<'_>) -> Result<Seen> {
    fitted.with_log_odds(session, |data, _, pinned, bound| {
        let found = bound.posterior(pinned)?;
        let instances = data.times.len();
        let (mut by_nearest, mut by_model, mut stamps) = (Vec::new(), Vec::new(), Vec::new());
        for (stream, own) in data.streams.iter().zip(&found.streams) {
            let mut nearby = vec![0.0; instances];
            stream.stamps.iter().for_each(|z| nearby[nearest(&data.times, z.time)] = 1.0);
            by_nearest.push(nearby);
            let silent = |i: usize| own.counts.row(i)[0];
            let stamped = (0..instances).map(|i| (1.0 - silent(i)[0] - silent(i)[1]).max(0.0));
            by_model.push(stamped.collect());
            let positive = (0..stream.stamps.len())
                .map(|l| own.responsibilities.of_stamp_positive(l).iter().sum::<f64>());
            let seen = (0..instances).map(|i| own.counts.positive(i) - own.counts.missed(i)).sum();
            stamps.push((stream.stamps.len(), positive.sum(), seen));
        }
        // Of what stamps are about, which is less than all instances of a run.
        let events = (0..instances).map(|i| found.streams[0].counts.positive(i)).sum();
        Ok(Seen { nearest: by_nearest, stamped: by_model, stamps, events })
    })
}
