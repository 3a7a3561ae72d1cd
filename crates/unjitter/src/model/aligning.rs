//! A fitted model aligns sessions, and averages over what it does not know.

use std::ops::Range;

use rayon::prelude::*;

use super::bound_session::SessionPosterior;
use super::exchange::Exchange;
use super::fitted::{Fitted, check_level, rows_of};
use super::in_time::InTime;
use super::uncertainty::PosteriorDraws;
use crate::align::{AlignOptions, Aligned, Averaged, Candidate};
use crate::math::Random;
use crate::{Control, Result, Session};

/// Draws that are worked on one after the other.
const TOGETHER: usize = 8;

impl Fitted {
    /// Aligns every stamp of a session, with 95 % intervals.
    pub fn align(&self, session: &Session) -> Result<Aligned> {
        self.align_with(session, &AlignOptions::default())
    }

    /// Aligns every stamp of a session. Probabilities and intervals are averages over draws of the
    /// parameters; the detector's own probability, the evidence and the best alignment are those of the
    /// parameters as learned.
    pub fn align_with(&self, session: &Session, options: &AlignOptions) -> Result<Aligned> {
        Ok(self.aligned(session, options)?.0)
    }

    /// The same, and for each stamp the instances that gave it with at least this probability, in order of time.
    pub fn align_among(
        &self,
        session: &Session,
        options: &AlignOptions,
        at_least: f64,
    ) -> Result<(Aligned, Vec<Vec<Candidate>>)> {
        let (aligned, posterior) = self.aligned(session, options)?;
        let mut candidates = posterior.candidates(&session.observed_instances(), at_least);
        candidates.resize(session.stamps().len(), Vec::new());
        Ok((aligned, candidates))
    }

    fn aligned(&self, session: &Session, options: &AlignOptions) -> Result<(Aligned, Averaged)> {
        check_level(options.level)?;
        self.with_log_odds(session, |data, log_odds, pinned, bound| {
            let kept = bound.nothing_kept();
            let found = bound.posterior_from(pinned, &kept)?;
            let (best, log_weight) = bound.best_alignment(pinned, &found);
            let sure = self.uncertainty().filter(|_| options.draws > 0);
            let draws = sure.and_then(|sure| sure.draws(&self.deviations_of(data)));
            let averaged =
                draws.and_then(|draws| self.average(session, data, &draws, &kept, options));
            let posterior = averaged.unwrap_or_else(|| {
                let mut posterior = Averaged::default();
                add(&mut posterior, &found, data);
                posterior
            });
            let (observed, level) = (session.observed_instances(), options.level);
            let offset = self.offset(session, log_odds);
            let owners = |streams: Range<usize>| {
                let mut owners = vec![None; session.stamps().len()];
                for (stream, best) in data.streams[streams.clone()].iter().zip(&best[streams]) {
                    let own = stream.positions.iter().zip(best);
                    own.for_each(|(&position, &instance)| owners[position] = instance);
                }
                owners
            };
            let (firsts, ends) = (owners(0..found.firsts), owners(found.firsts..best.len()));
            let p_detector = self.smoothed(session.times(), log_odds);
            let mut instances = posterior.aligned_instances(session, &observed, &p_detector);
            let about = self.runs().map(|runs| runs.stamps);
            let runs = about.map(|about| posterior.aligned_runs(&observed, &mut instances, about));
            let classes = (self.parts.classes() > 1).then(|| {
                let detector = self.smoothed_by_class(session.times(), log_odds);
                posterior.aligned_classes(session, &observed, self.classes(), &detector)
            });
            let aligned = Aligned {
                stamps: posterior.aligned_stamps(session, &observed, &firsts, level),
                ends: posterior.aligned_ends(session, &observed, &ends, level),
                instances,
                runs,
                classes,
                log_evidence: found.log_evidence + offset,
                best_log_weight: log_weight + offset,
            };
            Ok((aligned, posterior))
        })
    }

    /// The posterior of a session, averaged over draws of the parameters; none without any. A draw under
    /// which the stamps are impossible is left out.
    fn average(
        &self,
        session: &Session,
        data: &InTime,
        draws: &PosteriorDraws<'_>,
        kept: &Exchange,
        options: &AlignOptions,
    ) -> Option<Averaged> {
        let mut random = Random::new(options.seed);
        let pairs = options.draws.div_ceil(2);
        let drawn: Vec<Vec<f64>> =
            (0..pairs).flat_map(|_| draws.draw(&self.params, &mut random)).collect();
        let classifier = self.parts.classifier.as_ref();
        let observed = session.observed_instances();
        let prepared = classifier.prepare(session.features().into(), Control::default());
        let marginals = |params: &Vec<f64>, kept: &Exchange| {
            let classes = self.parts.classes();
            let mut log_odds = vec![0.0; session.len() * classes];
            classifier.log_odds(&params[self.parts.detector()], prepared.view(), &mut log_odds);
            let mut pinned = rows_of(&log_odds, &observed, classes);
            if self.parts.stamps.are_labels_plain() {
                data.pin_labels(0, &mut pinned);
            }
            self.parts.bind(params, data).posterior_from(&pinned, kept).ok()
        };
        // Each group begins with the messages of the parameters as learned, so no bit depends on threads.
        let together = |some: &[Vec<f64>]| {
            let (mut average, kept) = (Averaged::default(), kept.clone());
            for found in some.iter().filter_map(|params| marginals(params, &kept)) {
                add(&mut average, &found, data);
            }
            average
        };
        let averages: Vec<Averaged> = drawn.par_chunks(TOGETHER).map(together).collect();
        Averaged::of(averages)
    }
}

/// Adds the posterior of a session to an average.
fn add(average: &mut Averaged, found: &SessionPosterior, data: &InTime) {
    let streams = found.streams.iter().zip(&data.streams);
    let streams = streams.enumerate().map(|(k, (own, stream))| {
        let classes = found.classes.get(k).map_or(&[][..], Vec::as_slice);
        (&own.responsibilities, stream.positions.as_slice(), classes)
    });
    let instance = |i: usize| {
        let present = if found.classes.is_empty() { &[][..] } else { found.present(i) };
        ([found.positive(i), found.missed(i)], present)
    };
    average.add(streams.clone().take(found.firsts), (0..data.times.len()).map(instance));
    average.add_ends(streams.skip(found.firsts));
}
