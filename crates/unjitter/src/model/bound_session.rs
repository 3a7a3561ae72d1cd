//! The annotators of a session, each at the parameters of its groups.
//!
//! One annotator is the stamp model itself. Several share the labels: they exchange what each knows of them
//! (`exchange`).

use std::borrow::Cow;

use super::exchange::{Exchange, Exchanged, Stream, exchange};
use super::groups::Groups;
use super::in_time::{self, InTime};
use super::stamp_model::{Bound, BoundStampModel, Clock, Rows, StampModel, Sums};
use crate::inference::{Alignment, Impossible, Marginals, Timeline};

/// The stamp model at its parameters, for every stream of stamps of a session.
pub(crate) struct BoundSession<'a> {
    session: &'a InTime,
    groups: &'a Groups,
    /// One for each stream of stamps.
    streams: Vec<Bound<'a>>,
    /// Their clocks.
    clocks: Vec<Clock>,
    /// Number of the annotator's parameters.
    annotator: usize,
}

/// What stamps tell of a session.
#[derive(Debug, Clone)]
pub(crate) struct SessionPosterior {
    /// log p(stamps | features, times), in units.
    pub(crate) log_evidence: f64,
    /// The posterior of each stream.
    pub(crate) streams: Vec<Marginals>,
    /// The log-odds that each stream saw: with what the others know.
    pub(crate) log_odds: Vec<Vec<f64>>,
}

impl SessionPosterior {
    /// p(y_i = 1 | z) of an instance.
    pub(crate) fn positive(&self, instance: usize) -> f64 {
        self.streams[0].counts.positive(instance)
    }

    /// Probability that an instance is positive and that nobody stamped it: annotators are independent given
    /// the label.
    pub(crate) fn missed(&self, instance: usize) -> f64 {
        let [first, others @ ..] = self.streams.as_slice() else { return 0.0 };
        let (positive, missed) = (self.positive(instance), first.counts.missed(instance));
        let factor = |own: &Marginals| match positive > 0.0 {
            true => own.counts.missed(instance) / own.counts.positive(instance).max(positive),
            false => 1.0,
        };
        missed * others.iter().map(factor).product::<f64>()
    }
}

impl<'a> BoundSession<'a> {
    pub(super) fn new(
        stamp_model: &'a dyn StampModel,
        groups: &'a Groups,
        annotator: &[f64],
        deviations: &[f64],
        session: &'a InTime,
    ) -> Self {
        let bind = |stream: &in_time::Stream| {
            let (own, drift) = groups.applied(annotator, deviations, &stream.members);
            let clock = Clock { drift, middle: session.middle };
            (stamp_model.bind(&own, clock, stream.stamps.len()), clock)
        };
        let (streams, clocks) = session.streams.iter().map(bind).unzip();
        Self { session, groups, streams, clocks, annotator: annotator.len() }
    }

    /// Room for what is kept from one evaluation to the next.
    pub(crate) fn nothing_kept(&self) -> Exchange {
        Exchange::new(self.streams.len())
    }

    /// The stamp model of a stream.
    pub(crate) fn stream(&self, stream: usize) -> &dyn BoundStampModel {
        self.streams[stream].as_ref()
    }

    /// Adds the log evidence of all stamps and its derivatives, those in the deviations of groups after the
    /// annotator's. On failure nothing was added.
    pub(crate) fn add(&self, rows: &dyn Rows, sums: &mut Sums) -> Result<(), Impossible> {
        if let ([only], true) = (self.streams.as_slice(), self.groups.is_empty()) {
            return only.add(self.timeline(0), rows, sums);
        }
        let annotator = sums.d_annotator.len() - self.groups.dim();
        let mut own = Sums::zeros(sums.d_detector.len(), annotator);
        let streams = match self.streams.as_slice() {
            [only] => {
                only.add(self.timeline(0), rows, &mut own)?;
                vec![Sums { value: 0.0, d_detector: Vec::new(), ..own.clone() }]
            }
            _ => self.add_several(rows, &mut own)?,
        };
        sums.value += own.value;
        let add = |sums: &mut [f64], others: &[f64]| {
            sums.iter_mut().zip(others).for_each(|(sum, d)| *sum += d);
        };
        add(&mut sums.d_detector, &own.d_detector);
        let (base, deviations) = sums.d_annotator.split_at_mut(annotator);
        for (own, stream) in streams.iter().zip(&self.session.streams) {
            add(base, &own.d_annotator);
            self.groups.pull_back(&stream.members, &own.d_annotator, own.d_drift, deviations);
        }
        Ok(())
    }

    /// The same for several streams; returns the derivatives of each in its own parameters.
    fn add_several(&self, rows: &dyn Rows, own: &mut Sums) -> Result<Vec<Sums>, Impossible> {
        let mut room = vec![0.0; self.session.times.len()];
        let features = rows.log_odds(0..room.len(), &mut room).to_vec();
        let found = self.exchange(&features, own.d_annotator.len(), rows.exchange())?;
        own.value += found.log_evidence;
        let (mut d_log_odds, step) = (found.d_log_odds, rows.at_a_time().max(1));
        for (k, d_log_odds) in d_log_odds.chunks_mut(step).enumerate() {
            let first = k * step;
            rows.pull_back(first..first + d_log_odds.len(), d_log_odds, own);
        }
        if rows.is_stopped() {
            own.value = f64::NAN;
        }
        Ok(found.sums)
    }

    fn exchange(
        &self,
        features: &[f64],
        parameters: usize,
        kept: Option<&Exchange>,
    ) -> Result<Exchanged, Impossible> {
        let stream = |(k, bound)| Stream { bound, timeline: self.timeline(k) };
        let streams: Vec<Stream<'_>> = self.streams.iter().enumerate().map(stream).collect();
        exchange(&streams, features, parameters, kept)
    }

    /// The posterior of all streams. Log-odds are ±∞ if a label is known.
    pub(crate) fn posterior(&self, log_odds: &[f64]) -> Result<SessionPosterior, Impossible> {
        self.posterior_from(log_odds, &self.nothing_kept())
    }

    /// The same. What is kept of a similar evaluation shortens it, and is overwritten.
    pub(crate) fn posterior_from(
        &self,
        log_odds: &[f64],
        kept: &Exchange,
    ) -> Result<SessionPosterior, Impossible> {
        if let [only] = self.streams.as_slice() {
            let found = only.posterior(self.timeline(0), log_odds, kept.messages(0))?;
            let log_evidence = found.log_evidence;
            let log_odds = vec![log_odds.to_vec()];
            return Ok(SessionPosterior { log_evidence, streams: vec![found], log_odds });
        }
        let Exchanged { log_evidence, log_odds, .. } =
            self.exchange(log_odds, self.annotator, Some(kept))?;
        let posterior = |(k, bound): (usize, &Bound<'_>)| {
            bound.posterior(self.timeline(k), &log_odds[k], kept.messages(k))
        };
        let streams = self.streams.iter().enumerate().map(posterior).collect::<Result<_, _>>()?;
        Ok(SessionPosterior { log_evidence, streams, log_odds })
    }

    /// The likeliest alignment of each stream, given the posterior of the session.
    pub(crate) fn best_alignments(&self, found: &SessionPosterior) -> Vec<Alignment> {
        let best = |(k, bound): (usize, &Bound<'_>)| {
            bound.best_alignment(self.timeline(k), &found.log_odds[k], &found.streams[k])
        };
        self.streams.iter().enumerate().map(best).collect()
    }

    /// Log evidence of all stamps.
    pub(crate) fn log_evidence(&self, log_odds: &[f64]) -> Result<f64, Impossible> {
        let mut sums = Sums::zeros(0, self.annotator + self.groups.dim());
        self.add(&log_odds, &mut sums)?;
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
