//! A fitted model aligns sessions, and averages over what it does not know.

use rayon::prelude::*;

use super::Uncertainty;
use super::fitted::{Fitted, check_level};
use super::in_time::InTime;
use super::uncertainty::PosteriorDraws;
use crate::align::{AlignOptions, Aligned, Averaged};
use crate::inference::Marginals;
use crate::math::Random;
use crate::{Control, Result, Session};

/// Draws whose posteriors are in memory at a time.
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
        check_level(options.level)?;
        self.with_log_odds(session, |data, log_odds, pinned, bound| {
            let marginals = bound.posterior(data.timeline(), pinned)?;
            let best = bound.best_alignment(data.timeline(), pinned, &marginals);
            let sure = self.uncertainty().filter(|_| options.draws > 0);
            let draws = sure.and_then(Uncertainty::draws);
            let averaged = draws.and_then(|draws| self.average(session, data, &draws, options));
            let posterior = averaged.unwrap_or_else(|| {
                let mut posterior = Averaged::default();
                posterior.add(&marginals);
                posterior
            });
            let (observed, level) = (session.observed_instances(), options.level);
            let offset = self.offset(session, log_odds);
            Ok(Aligned {
                stamps: posterior.aligned_stamps(session, &observed, &best.instances, level),
                instances: posterior.aligned_instances(session, &observed, log_odds),
                log_evidence: marginals.log_evidence + offset,
                best_log_weight: best.log_weight + offset,
            })
        })
    }

    /// The posterior of a session, averaged over draws of the parameters; none without any. A draw under
    /// which the stamps are impossible is left out.
    fn average(
        &self,
        session: &Session,
        data: &InTime,
        draws: &PosteriorDraws<'_>,
        options: &AlignOptions,
    ) -> Option<Averaged> {
        let mut random = Random::new(options.seed);
        let pairs = options.draws.div_ceil(2);
        let drawn: Vec<Vec<f64>> =
            (0..pairs).flat_map(|_| draws.draw(&self.params, &mut random)).collect();
        let classifier = self.parts.classifier.as_ref();
        let observed = session.observed_instances();
        let prepared = classifier.prepare(session.features().into(), Control::default());
        let marginals = |params: &Vec<f64>| {
            let mut log_odds = vec![0.0; session.len()];
            classifier.log_odds(&params[self.parts.detector()], prepared.view(), &mut log_odds);
            let mut pinned: Vec<f64> = observed.iter().map(|&i| log_odds[i]).collect();
            data.pin_labels(0, &mut pinned);
            let bound = self.parts.bind(params, data.stamps.len());
            bound.posterior(data.timeline(), &pinned).ok()
        };
        let mut posterior = None;
        for some in drawn.chunks(TOGETHER) {
            let found: Vec<Option<Marginals>> = some.par_iter().map(marginals).collect();
            for own in found.iter().flatten() {
                posterior.get_or_insert_with(Averaged::default).add(own);
            }
        }
        posterior
    }
}
