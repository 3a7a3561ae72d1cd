//! The streams of stamps of a session, each at the parameters of its groups.
//!
//! One stream about independent labels is the stamp model itself. Several exchange what each knows of the labels
//! (`exchange`), and stamps about labels that depend on each other are summed with these (`along`).

use std::borrow::Cow;
use std::ops::Range;

use rayon::prelude::*;

use super::along::Along;
use super::exchange::{Exchange, Exchanged, Stream, exchange};
use super::groups::Groups;
use super::in_time::{self, InTime};
use super::stamp_model::{Bound, BoundStampModel, Clock, ROWS, Rows, Sums};
use super::stamp_parts::StampParts;
use crate::inference::{Alignment, CountMarginals, Impossible, Marginals, Timeline};
use crate::labels::Variable;

/// The stamp model at its parameters, for every stream of stamps of a session.
pub(crate) struct BoundSession<'a> {
    pub(super) session: &'a InTime,
    groups: &'a Groups,
    /// One for each stream of stamps.
    pub(super) streams: Vec<Bound<'a>>,
    /// Their clocks.
    clocks: Vec<Clock>,
    /// Labels that depend on each other, if there are instances.
    along: Option<Along>,
    /// Number of the parameters of labels.
    labels: usize,
    /// Number of the annotator's parameters, without those about ends.
    pub(super) annotator: usize,
    /// Which set of the annotator's parameters each stream has: the second is about ends.
    blocks: Vec<usize>,
    /// Number of all parameters.
    dim: usize,
}

/// What stamps tell of a session.
#[derive(Debug, Clone)]
pub(crate) struct SessionPosterior {
    /// log p(stamps | features, times), in units.
    pub(crate) log_evidence: f64,
    /// The posterior of each stream.
    pub(crate) streams: Vec<Marginals>,
    /// How many of them are not about the ends of what the others are about; these are last.
    pub(crate) firsts: usize,
    /// The log-odds of its variable that each stream saw: with what the others know.
    pub(crate) log_odds: Vec<Vec<f64>>,
    /// p(y_i = k | z) by instance and class; empty if it is the variable of the first stream.
    pub(super) presence: Vec<f64>,
    /// The class that each stream is about; none if it is not told.
    pub(super) class_of: Vec<Option<usize>>,
    /// p(it came from an event of a class), by stream, stamp and class; empty if there is one class.
    pub(crate) classes: Vec<Vec<Vec<f64>>>,
}

impl SessionPosterior {
    /// p(an event is at an instance | z).
    pub(crate) fn positive(&self, instance: usize) -> f64 {
        match self.present(instance) {
            [] => self.streams[0].counts.positive(instance),
            present => present.iter().sum(),
        }
    }

    /// The same by class; empty if it is the variable of the first stream.
    pub(crate) fn present(&self, instance: usize) -> &[f64] {
        let classes = self.class_count();
        self.presence.get(instance * classes..(instance + 1) * classes).unwrap_or_default()
    }

    fn class_count(&self) -> usize {
        self.class_of.iter().flatten().max().map_or(1, |last| last + 1)
    }

    /// Probability that there was something to stamp at an instance and that nobody did: annotators are independent
    /// given the labels.
    pub(crate) fn missed(&self, instance: usize) -> f64 {
        (0..self.class_count()).map(|class| self.missed_of(class, instance)).sum()
    }

    fn missed_of(&self, class: usize, instance: usize) -> f64 {
        let streams = self.streams[..self.firsts].iter().zip(&self.class_of);
        let mut own = streams.filter(|(_, of)| **of == Some(class)).map(|(own, _)| &own.counts);
        let Some(first) = own.next() else { return 0.0 };
        let (positive, missed) = (first.positive(instance), first.missed(instance));
        let factor = |own: &CountMarginals| match positive > 0.0 {
            true => own.missed(instance) / own.positive(instance).max(positive),
            false => 1.0,
        };
        missed * own.map(factor).product::<f64>()
    }
}

impl<'a> BoundSession<'a> {
    pub(super) fn new(parts: &'a StampParts, params: &[f64], session: &'a InTime) -> Self {
        let StampParts { labelling, model, groups, .. } = parts;
        let of_blocks = [parts.annotator(), parts.ends()];
        let deviations = &params[parts.deviations()];
        let is_of_ends = |own: &in_time::Stream| labelling.ends && own.about == Some(Variable::End);
        let blocks: Vec<usize> =
            session.streams.iter().map(|own| usize::from(is_of_ends(own))).collect();
        let bind = |(stream, &block): (&in_time::Stream, &usize)| {
            let own = &params[of_blocks[block].clone()];
            let (own, drift) = groups.applied(own, deviations, &stream.members);
            let clock = Clock { drift, middle: session.middle };
            (model.bind(&own, clock, stream.stamps.len()), clock)
        };
        let (streams, clocks) = session.streams.iter().zip(&blocks).map(bind).unzip();
        let along = Along::new(parts, params, session).filter(|_| !session.times.is_empty());
        let (annotator, labels) = (parts.annotator().len(), parts.labels().len());
        let dim = parts.layout.dim();
        Self { session, groups, streams, clocks, along, annotator, labels, blocks, dim }
    }

    /// Room for what is kept from one evaluation to the next.
    pub(crate) fn nothing_kept(&self) -> Exchange {
        Exchange::new(self.streams.len())
    }

    /// The stamp model of a stream.
    pub(crate) fn stream(&self, stream: usize) -> &dyn BoundStampModel {
        self.streams[stream].as_ref()
    }

    /// How many streams are not about the ends of what the others are about; these are last.
    pub(super) fn firsts(&self) -> usize {
        self.blocks.iter().filter(|&&block| block == 0).count()
    }

    /// The stream that is all there is to sum: of independent labels, which it is about.
    fn only(&self) -> Option<&Bound<'a>> {
        let [only] = self.streams.as_slice() else { return None };
        self.along.is_none().then_some(only)
    }

    /// Adds the log evidence of all stamps and its derivatives: in the annotator's parameters after those of the
    /// labels, and in the deviations of groups after both. On failure nothing was added.
    pub(crate) fn add(&self, rows: &dyn Rows, sums: &mut Sums) -> Result<(), Impossible> {
        let is_bare = self.groups.is_empty() && self.labels == 0;
        if let (Some(only), true) = (self.only(), is_bare) {
            return only.add(self.timeline(0), rows, sums);
        }
        let mut own = Sums::zeros(sums.d_detector.len(), self.annotator);
        let (labels, streams) = match (&self.along, self.only()) {
            (Some(along), _) => along.add(self, rows, &mut own)?,
            (None, Some(only)) => {
                only.add(self.timeline(0), rows, &mut own)?;
                let own = Sums { value: 0.0, d_detector: Vec::new(), ..own.clone() };
                (vec![0.0; self.labels], vec![own])
            }
            (None, None) => (vec![0.0; self.labels], self.add_exchanged(rows, &mut own)?),
        };
        if rows.is_stopped() {
            own.value = f64::NAN;
        }
        sums.value += own.value;
        let add = |sums: &mut [f64], others: &[f64]| {
            sums.iter_mut().zip(others).for_each(|(sum, d)| *sum += d);
        };
        add(&mut sums.d_detector, &own.d_detector);
        let (of_labels, others) = sums.d_annotator.split_at_mut(labels.len());
        add(of_labels, &labels);
        let (base, deviations) = others.split_at_mut(others.len() - self.groups.dim());
        let of_streams = self.session.streams.iter().zip(&self.blocks);
        for (own, (stream, block)) in streams.iter().zip(of_streams) {
            add(&mut base[block * self.annotator..][..self.annotator], &own.d_annotator);
            self.groups.pull_back(&stream.members, &own.d_annotator, own.d_drift, deviations);
        }
        Ok(())
    }

    /// The same for several streams that exchange what they know; returns derivatives of each in its own parameters.
    fn add_exchanged(&self, rows: &dyn Rows, own: &mut Sums) -> Result<Vec<Sums>, Impossible> {
        let mut features = vec![0.0; self.session.times.len() * rows.outputs()];
        all_log_odds(rows, &mut features);
        let mut found = self.exchange(&features, rows.exchange(), rows.in_parallel())?;
        own.value += found.log_evidence;
        pull_back_all(rows, &mut found.d_log_odds, own);
        Ok(found.sums)
    }

    /// Lets streams exchange what they know, given the log-odds of all instances, in parallel or not.
    fn exchange(
        &self,
        features: &[f64],
        kept: Option<&Exchange>,
        in_parallel: bool,
    ) -> Result<Exchanged, Impossible> {
        let own = self.streams.iter().zip(&self.session.streams);
        let streams: Vec<Stream<'_>> = own
            .map(|(bound, own)| {
                let timeline = self.session.timeline(own);
                Stream { bound, timeline, positions: &own.positions, in_parallel }
            })
            .collect();
        exchange(&streams, features, self.annotator, kept)
    }

    /// The posterior of all streams. Log-odds of independent labels are ±∞ if a label is known.
    pub(crate) fn posterior(&self, log_odds: &[f64]) -> Result<SessionPosterior, Impossible> {
        self.posterior_from(log_odds, &self.nothing_kept())
    }

    /// The same. What is kept of a similar evaluation shortens it, and is overwritten.
    pub(crate) fn posterior_from(
        &self,
        log_odds: &[f64],
        kept: &Exchange,
    ) -> Result<SessionPosterior, Impossible> {
        if let Some(along) = &self.along {
            return along.posterior(self, log_odds, kept);
        }
        let (presence, classes) = (Vec::new(), Vec::new());
        let class_of = vec![Some(0); self.streams.len()];
        if let Some(only) = self.only() {
            let found = only.posterior(self.timeline(0), log_odds, kept.messages(0))?;
            let log_evidence = found.log_evidence;
            let (streams, log_odds) = (vec![found], vec![log_odds.to_vec()]);
            return Ok(SessionPosterior {
                log_evidence,
                streams,
                firsts: 1,
                log_odds,
                presence,
                class_of,
                classes,
            });
        }
        let Exchanged { log_evidence, log_odds, .. } = self.exchange(log_odds, Some(kept), true)?;
        let posterior = |(k, bound): (usize, &Bound<'_>)| {
            let found = bound.posterior(self.timeline(k), &log_odds[k], kept.messages(k));
            found.map_err(|why| why.among(&self.session.streams[k].positions))
        };
        let streams = self.streams.iter().enumerate().map(posterior).collect::<Result<_, _>>()?;
        let firsts = self.firsts();
        Ok(SessionPosterior {
            log_evidence,
            streams,
            firsts,
            log_odds,
            presence,
            class_of,
            classes,
        })
    }

    /// The owners of stamps in one alignment, by stream, and the logarithm of its weight: the likeliest of each stream,
    /// given the posterior of the session, or about that where labels depend on each other.
    pub(crate) fn best_alignment(
        &self,
        log_odds: &[f64],
        found: &SessionPosterior,
    ) -> (Vec<Vec<Option<usize>>>, f64) {
        if let Some(along) = &self.along {
            return along.best_alignment(self, log_odds, found);
        }
        let best = |(k, bound): (usize, &Bound<'_>)| {
            bound.best_alignment(self.timeline(k), &found.log_odds[k], &found.streams[k])
        };
        let best: Vec<Alignment> = self.streams.iter().enumerate().map(best).collect();
        let log_weight = best.iter().map(|own| own.log_weight).sum();
        (best.into_iter().map(|own| own.instances).collect(), log_weight)
    }

    /// Log evidence of all stamps.
    pub(crate) fn log_evidence(&self, log_odds: &[f64]) -> Result<f64, Impossible> {
        let outputs = self.along.as_ref().map_or(1, Along::classes);
        let mut sums = Sums::zeros(0, self.dim);
        self.add(&FixedRows { log_odds, outputs }, &mut sums)?;
        Ok(sums.value)
    }

    /// Times of the instances by the clock of a stream.
    pub(crate) fn times_of(&self, stream: usize) -> Cow<'_, [f64]> {
        self.clocks[stream].times_of(&self.session.times)
    }

    /// Instances and the stamps of a stream in time.
    pub(crate) fn timeline(&self, stream: usize) -> Timeline<'_> {
        self.session.timeline(&self.session.streams[stream])
    }
}

/// Given log-odds by instance and class, without derivatives.
struct FixedRows<'a> {
    log_odds: &'a [f64],
    outputs: usize,
}

impl Rows for FixedRows<'_> {
    fn at_a_time(&self) -> usize {
        ROWS
    }

    fn log_odds<'a>(&'a self, instances: Range<usize>, _: &'a mut [f64]) -> &'a [f64] {
        &self.log_odds[instances.start * self.outputs..instances.end * self.outputs]
    }

    fn pull_back(&self, _: Range<usize>, _: &mut [f64], _: &mut Sums) {}

    fn outputs(&self) -> usize {
        self.outputs
    }
}

/// Log-odds of all instances of a session, computed in parallel where the rows allow it.
pub(super) fn all_log_odds(rows: &dyn Rows, all: &mut [f64]) {
    let (step, outputs) = (rows.at_a_time().max(1), rows.outputs());
    let fill = |(k, room): (usize, &mut [f64])| {
        let own = k * step..k * step + room.len() / outputs;
        let mut log_odds = vec![0.0; room.len()];
        room.copy_from_slice(rows.log_odds(own, &mut log_odds));
    };
    match rows.in_parallel() {
        true => all.par_chunks_mut(step * outputs).enumerate().for_each(fill),
        false => all.chunks_mut(step * outputs).enumerate().for_each(fill),
    }
}

/// Hands derivatives in the log-odds of all instances back to the rows, in parallel where these allow it. Sums are
/// added in order.
pub(super) fn pull_back_all(rows: &dyn Rows, d_log_odds: &mut [f64], sums: &mut Sums) {
    let (step, outputs) = (rows.at_a_time().max(1), rows.outputs());
    let zeros = Sums::zeros(sums.d_detector.len(), sums.d_annotator.len());
    let part = |(k, own): (usize, &mut [f64])| {
        let mut sums = zeros.clone();
        rows.pull_back(k * step..k * step + own.len() / outputs, own, &mut sums);
        sums
    };
    let parts: Vec<Sums> = match rows.in_parallel() {
        true => d_log_odds.par_chunks_mut(step * outputs).enumerate().map(part).collect(),
        false => d_log_odds.chunks_mut(step * outputs).enumerate().map(part).collect(),
    };
    parts.iter().for_each(|own| *sums += own);
}

#[cfg(test)]
mod tests;
