//! Fitting: MAP from several starts, keeping every optimum.

use serde::{Deserialize, Serialize};

use super::apart::Apart;
use super::grouped::{KnownShift, search_shifts};
use super::lbfgs::LbfgsOptions;
use super::problem::{Problem, check};
use crate::error::require;
use crate::model::counts::Counts;
use crate::model::{Fitted, Groups, Model};
use crate::outcome::Warning;
use crate::{Control, Error, Result, Session};

/// Most restarts: far more than a user would wait for.
const MAX_RESTARTS: usize = 1_000_000;

/// How to fit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FitOptions {
    /// Starts besides the naive one, at most a million: wide, two wide ones as superpositions, in the middle of
    /// the stated range, at peaks of the scan, and beyond seven at random.
    pub restarts: usize,
    /// Seed of everything random: restarts, initial weights, landmarks.
    pub seed: u64,
    /// Number of threads; by default all cores. The result does not depend on it.
    pub threads: Option<usize>,
    /// Fits of drawn stamps that measure by how much the spread comes out short where stamps crowd; 0 takes
    /// it as it is.
    pub simulations: usize,
    /// Whether to measure how sure the result is.
    pub standard_errors: bool,
    /// Stamps, about, that are enough to search on; all sessions together then take some further steps. Which
    /// sessions are searched on depends on their names.
    pub sample: usize,
    /// Settings of the optimiser.
    pub optimiser: LbfgsOptions,
}

impl Default for FitOptions {
    fn default() -> Self {
        Self {
            restarts: 6,
            seed: 0,
            threads: None,
            simulations: 4,
            standard_errors: true,
            sample: 20_000,
            optimiser: LbfgsOptions::default(),
        }
    }
}

impl Model {
    /// Learns detector and annotator from sessions. If a stop is requested, returns the best result so
    /// far, marked as cancelled, or [`Error::Cancelled`] if there is none yet.
    pub fn fit(
        &self,
        sessions: &[Session],
        options: &FitOptions,
        control: Control<'_>,
    ) -> Result<Fitted> {
        in_pool(options.threads, || {
            self.for_ends_of(sessions)?.fit_here(sessions, options, control)
        })
    }

    fn fit_here(
        &self,
        sessions: &[Session],
        options: &FitOptions,
        control: Control<'_>,
    ) -> Result<Fitted> {
        check(self, sessions)?;
        let model = self.with_classes_of(sessions)?;
        model.fit_classes(sessions, options, control)
    }

    /// The same of a model that knows its classes.
    fn fit_classes(
        &self,
        sessions: &[Session],
        options: &FitOptions,
        control: Control<'_>,
    ) -> Result<Fitted> {
        if self.varies.is_empty() {
            return self.fit_together(sessions, options, control);
        }
        Groups::check(&self.varies, sessions)?;
        let alike = Model { varies: Vec::new(), ..self.clone() };
        let searching = FitOptions { simulations: 0, standard_errors: false, ..options.clone() };
        let learn = |sessions: &[Session], known: Option<KnownShift>| {
            alike.fit_alike(sessions, known, &searching, control)
        };
        let (found, shifts) = search_shifts(self, sessions, control, learn)?;
        Problem::grouped(self, found, &shifts, sessions, options, control)
    }

    /// Fits one annotator to all stamps, if it is known about where they belong.
    pub(super) fn fit_alike(
        &self,
        sessions: &[Session],
        known: Option<KnownShift>,
        options: &FitOptions,
        control: Control<'_>,
    ) -> Result<Fitted> {
        let few = options.restarts <= MAX_RESTARTS;
        require("restarts", options.restarts as f64, few, "a number from 0 to 1000000")?;
        if self.classes.len() > 1 {
            return self.fit_apart_first(sessions, known, options, control);
        }
        let rounds = if self.counts == Counts::Auto { 2 } else { 1 };
        let mut one_problem = Problem::new(self, sessions, options.seed, control)?;
        (one_problem.round, one_problem.known) = ((0, rounds), known);
        let mut one = one_problem.search(options)?;
        // As for labels that form none, one at most is taken if there are hardly any starts.
        let is_chain = !one_problem.parts.stamps.labelling.is_independent() && options.restarts > 1;
        let may_be_several = self.counts == Counts::Auto && (is_chain || one.most >= SEVERAL);
        if !may_be_several || control.is_stop_requested() {
            return one_problem.measured(one, options);
        }
        let model = Model { counts: Counts::Poisson, ..self.clone() };
        let mut problem = Problem::new(&model, sessions, options.seed, control)?;
        (problem.round, problem.known) = ((1, rounds), known);
        if is_chain && problem.most_of_runs(&one, options)? < SEVERAL {
            return one_problem.measured(one, options);
        }
        let mut several = problem.search(options)?;
        let gain = several.fitted.outcome.log_evidence - one.fitted.outcome.log_evidence;
        let mean = -several.fitted.learned().miss_rate.ln();
        let stamps = one_problem.stamps();
        let is_clear = mean >= SEVERAL && gain > CLEARLY_SEVERAL * stamps as f64;
        if is_clear || (mean >= BELIEVED && problem.is_better(&several, &one_problem, &one)?) {
            several.fitted.warnings.push(Warning::SeveralStamps { mean, gain });
            return problem.measured(several, options);
        }
        one.fitted.warnings.extend(perhaps_several(mean, gain, stamps));
        one_problem.measured(one, options)
    }
}

impl Model {
    /// Fits several classes: each by itself first, if there is a start to spare.
    fn fit_apart_first(
        &self,
        sessions: &[Session],
        known: Option<KnownShift>,
        options: &FitOptions,
        control: Control<'_>,
    ) -> Result<Fitted> {
        let apart = match options.restarts {
            0 => None,
            _ => Apart::fit(self, sessions, known, options, control)?,
        };
        let mut model = self.clone();
        if self.counts == Counts::Auto && apart.as_ref().is_some_and(Apart::are_several) {
            model.counts = Counts::Poisson;
        }
        let mut problem = Problem::new(&model, sessions, options.seed, control)?;
        (problem.known, problem.apart) = (known, apart);
        let searched = problem.search(options)?;
        problem.measured(searched, options)
    }
}

/// Runs work on so many threads, or on those that there are.
pub(super) fn in_pool<T: Send>(
    threads: Option<usize>,
    work: impl FnOnce() -> Result<T> + Send,
) -> Result<T> {
    match threads {
        // In the pool as a whole: moving every single evaluation there would cost more than a small one.
        None => rayon::scope(|_| work()),
        Some(threads) => {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            let pool = pool.map_err(|_| Error::OutOfRange {
                name: "threads".to_owned(),
                value: threads as f64,
                expected: "a number of threads that the system can start",
            })?;
            pool.install(work)
        }
    }
}

/// Warns if several stamps of an event were learned, and hardly explain less than the one at most that was
/// taken: features that look at neighbouring instances let each of several stamps have an event of its own.
fn perhaps_several(mean: f64, gain: f64, stamps: usize) -> Option<Warning> {
    let is_close = gain > -CLEARLY_SEVERAL * stamps as f64;
    (mean >= BELIEVED && is_close).then_some(Warning::PerhapsSeveralStamps { mean, loss: -gain })
}
/// Stamps of an event, as a superposition has them, from which on several are considered.
const SEVERAL: f64 = 1.5;
/// The same, as learned, from which on sessions that were left out decide. Where the owners of stamps are hardly
/// known, several stamps of some events and none of others explain as much as one of each, and one and a
/// half are learned.
const BELIEVED: f64 = 1.75;
/// Gain in log evidence per stamp from which on several are believed whatever these say. Belief propagation
/// finds too little evidence for one stamp at most, by up to 0.1 per stamp where stamps crowd.
const CLEARLY_SEVERAL: f64 = 0.15;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_stamps_that_were_not_believed_are_told_if_they_are_nearly_as_good() {
        let told = |mean: f64, gain: f64| perhaps_several(mean, gain, 1000).is_some();
        assert!(told(2.0, -50.0) && told(1.75, 100.0));
        // Too few for an event, or clearly less evidence.
        assert!(!told(1.6, -50.0) && !told(2.0, -151.0));
        let words = perhaps_several(2.0, -49.6, 1000).unwrap().to_string();
        assert!(words.contains("2.0 on average") && words.contains("with 50 less"), "{words}");
    }
}
