//! Stamps about labels that depend on each other.

use std::borrow::Cow;

use super::bound_session::{BoundSession, SessionPosterior, all_log_odds, pull_back_all};
use super::exchange::Exchange;
use super::in_time::InTime;
use super::stamp_model::{Found, Heard, Rows, Sums};
use crate::inference::{Impossible, Marginals, Timeline};
use crate::labels::{Chain, Rates, Scene, Source, Stream, Summed, SummedStream, Variable, owners};

/// How labels depend on each other, at the parameters, and what each stream is about.
#[derive(Debug)]
pub(super) struct Along {
    pub(super) rates: Rates,
    pub(super) variables: Vec<Variable>,
}

impl Along {
    /// Adds the log evidence of all stamps, and its derivatives in the detector's parameters; returns those in the
    /// parameters of the labels, and of each stream in its own.
    pub(super) fn add(
        &self,
        bound: &BoundSession<'_>,
        rows: &dyn Rows,
        own: &mut Sums,
    ) -> Result<(Vec<f64>, Vec<Sums>), Impossible> {
        let scores = all_log_odds(rows, bound.session.times.len());
        let found = self.sum(bound, &scores, rows.exchange(), rows.in_parallel())?;
        own.value += found.log_evidence;
        let moved = found.presence.iter().zip(&found.prior).map(|(after, before)| after - before);
        pull_back_all(rows, moved.collect(), own);
        let pull_back = |(k, found): (usize, &SummedStream)| {
            let mut sums = Sums::zeros(0, bound.annotator);
            let events = found.events.iter().sum();
            let missed = found.missed.iter().sum();
            let found = Found { stamps: &found.stamps[0], events, missed };
            bound.streams[k].pull_back_found(bound.timeline(k), &found, &mut sums);
            sums
        };
        let streams = found.streams.iter().enumerate().map(pull_back).collect();
        Ok((found.d_rates.to_vec(), streams))
    }

    /// Sums over all labels and all ways in which stamps were given.
    fn sum(
        &self,
        bound: &BoundSession<'_>,
        scores: &[f64],
        kept: Option<&Exchange>,
        in_parallel: bool,
    ) -> Result<Summed, Impossible> {
        self.show(bound, scores, in_parallel, |scene, no_more| {
            let mut found = scene.sum(kept.map(Exchange::riders))?;
            found.log_evidence += no_more;
            Ok(found)
        })?
    }

    /// Shows the session as labels and stamps, and the log probability that no other stamp came from nowhere.
    fn show<T>(
        &self,
        bound: &BoundSession<'_>,
        scores: &[f64],
        in_parallel: bool,
        look: impl FnOnce(&Scene<'_>, f64) -> T,
    ) -> Result<T, Impossible> {
        let streams = 0..bound.streams.len();
        let times: Vec<Cow<'_, [f64]>> = streams.map(|k| bound.times_of(k)).collect();
        let (mut streams, mut no_more) = (Vec::with_capacity(times.len()), 0.0);
        for (k, (own, &variable)) in bound.streams.iter().zip(&self.variables).enumerate() {
            let heard = own.hear(Timeline { times: &times[k], ..bound.timeline(k) })?;
            let Heard { stamped, habit, .. } = heard;
            no_more += heard.no_more;
            let sources = vec![Source { stamped, recorded: vec![1.0] }];
            streams.push(Stream { variable, habits: vec![habit], order: stamped.order, sources });
        }
        let InTime { times, labels, .. } = bound.session;
        let known: Vec<Option<usize>> = labels.iter().map(|label| label.map(usize::from)).collect();
        let chain = Chain::new(times, 1, Some(self.rates), scores).in_parallel(in_parallel);
        Ok(look(&Scene { chain: &chain, known: &known, streams }, no_more))
    }

    /// The posterior of all streams.
    pub(super) fn posterior(
        &self,
        bound: &BoundSession<'_>,
        scores: &[f64],
        kept: &Exchange,
    ) -> Result<SessionPosterior, Impossible> {
        let found = self.sum(bound, scores, Some(kept), true)?;
        let marginals = |own: &SummedStream| {
            let rows = own.events.iter().zip(&own.silent).map(|(&event, &silent)| {
                [[(1.0 - event).max(0.0), silent], [0.0, (event - silent).max(0.0)]]
            });
            let stamps = own.stamps.iter().flatten().map(|own| (own.first, own.shares.as_slice()));
            Marginals::of_events(found.log_evidence, rows, stamps)
        };
        let streams = found.streams.iter().map(marginals).collect();
        let log_odds = Vec::new();
        let Summed { log_evidence, presence, .. } = found;
        let firsts = bound.firsts();
        Ok(SessionPosterior { log_evidence, streams, firsts, log_odds, presence })
    }

    /// The owners of stamps, by stream, and the logarithm of what such an alignment weighs.
    pub(super) fn best_alignment(
        &self,
        bound: &BoundSession<'_>,
        scores: &[f64],
        found: &SessionPosterior,
    ) -> (Vec<Vec<Option<usize>>>, f64) {
        let places = |own: &Marginals| {
            let own = &own.responsibilities;
            let stamps = 0..own.stamps();
            stamps.map(|l| (own.instances(l).start, own.of_stamp(l).to_vec())).collect::<Vec<_>>()
        };
        let best = self.show(bound, scores, true, |scene, no_more| {
            let each = |(stream, found): (&Stream<'_>, &Marginals)| {
                let places = places(found);
                let places: Vec<_> = places.iter().map(|(at, own)| (*at, own.as_slice())).collect();
                let may_share = stream.habits.iter().any(|habit| habit.further > 0.0);
                owners(&places, stream.order, may_share)
            };
            let all: Vec<_> = scene.streams.iter().zip(&found.streams).map(each).collect();
            let by_source: Vec<_> = all.iter().map(|own| vec![own.clone()]).collect();
            let log_weight = scene.log_weight(&by_source) + no_more;
            (all, log_weight)
        });
        // What was summed can be shown.
        best.unwrap_or_else(|_| (vec![Vec::new(); bound.streams.len()], f64::NEG_INFINITY))
    }
}
