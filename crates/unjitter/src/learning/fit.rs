//! Fitting: MAP from several starts, keeping every optimum.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::apart::Apart;
use super::data::{SessionData, beyond, median_bout, median_gap, median_spacing, stamp_rate};
use super::grouped::{KnownShift, Shifts, deviations_at, learn_deviations, search_shifts};
use super::information::uncertainty;
use super::lbfgs::{LbfgsOptions, Minimum};
use super::map::MapObjective;
use super::modes::{self, choose};
use super::objective::Objective;
use super::search::{Found, Optimum, most_near, search};
use super::start::{Start, around, begin, starts, starts_of_classes, starts_of_runs};
use super::unbiased::unbiased;
use super::warning::{trade_places, warnings};
use crate::error::require;
use crate::inference::Order;
use crate::memory::memory_limit;
use crate::model::counts::Counts;
use crate::model::{Fitted, Groups, Learned, Mode, Model, Parts, THRESHOLD, infeasible};
use crate::outcome::{HeldOut, Outcome, StopReason, Warning};
use crate::params::Layout;
use crate::prior::{Normal, Priors};
use crate::scan::{Peak, scan};
use crate::session::check_together;
use crate::{Control, Error, FeatureView, Result, Session};

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

/// What a search came to.
struct Searched {
    fitted: Fitted,
    best: Optimum,
    /// Stamps of an event, at most, as the superpositions have them.
    most: f64,
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

/// Stamps that are enough for the scan's peaks.
const SCANNED: usize = 1000;

/// A model and its sessions, checked and with its parts built: the input of a custom optimiser.
#[derive(Debug)]
pub struct Problem<'a> {
    model: Model,
    sessions: &'a [Session<'a>],
    parts: Parts,
    /// The same with stamps as a superposition, of any number if the counts are to be decided.
    superposed: Parts,
    time_unit: f64,
    /// Stamps per unit of the data, if the background goes with them.
    stamp_rate: Option<f64>,
    /// Median spacing of instances, in units.
    spacing: f64,
    /// Median gap between stamps, in units.
    gap: f64,
    /// Time for one stamp, in units.
    mean_gap: f64,
    priors: Priors,
    control: Control<'a>,
    /// Which search this is, of how many.
    round: (usize, usize),
    /// About where stamps belong, if clocks were looked for.
    known: Option<KnownShift>,
    /// Fits of each class by itself.
    apart: Option<Apart>,
    /// Parameters that are not learned, at their values; empty if there is none besides those of the model.
    held: Vec<Option<f64>>,
}

impl<'a> Problem<'a> {
    /// Checks sessions and model, and builds the parts; `seed` chooses kernel landmarks. This and every
    /// evaluation end early if a stop is requested.
    pub fn new(
        model: &Model,
        sessions: &'a [Session<'a>],
        seed: u64,
        control: Control<'a>,
    ) -> Result<Self> {
        let model = &model.for_ends_of(sessions)?;
        check(model, sessions)?;
        let model = &model.with_classes_of(sessions)?;
        let time_unit = model.time_unit.unwrap_or_else(|| median_spacing(sessions));
        let features: Vec<FeatureView<'_>> = sessions.iter().map(Session::features).collect();
        let classifier = model.classifier.fit(&features, seed, control)?;
        let stamp_rate = Some(stamp_rate(sessions));
        let stamp_model = model.stamp_model(time_unit, stamp_rate)?;
        let parts = Parts::new(classifier, model.labelling(), model.class_names(), stamp_model);
        let parts = grouped_parts(&parts, model, sessions, time_unit)?;
        Self::with_parts(model, sessions, parts, (time_unit, stamp_rate), control)
    }

    /// With the parts built, for times in this unit and so many stamps per unit of the data. Sessions and
    /// model were checked.
    pub(super) fn with_parts(
        model: &Model,
        sessions: &'a [Session<'a>],
        parts: Parts,
        (time_unit, usual_rate): (f64, Option<f64>),
        control: Control<'a>,
    ) -> Result<Self> {
        let median = median_spacing(sessions);
        let (spacing, gap) = (median / time_unit, median_gap(sessions).max(median) / time_unit);
        let superposed = match model.counts {
            Counts::Auto => {
                let several = Model { counts: Counts::Poisson, ..model.clone() };
                let several = parts.with_stamp_model(several.stamp_model(time_unit, usual_rate)?);
                several.with_groups(parts.stamps.groups.clone()).superposed()
            }
            _ => parts.superposed(),
        };
        let rate = stamp_rate(sessions) * time_unit;
        let (priors, mean_gap) =
            (priors(model, sessions, rate, time_unit, (spacing, gap)), 1.0 / rate);
        let model = model.clone();
        Ok(Self {
            model,
            sessions,
            parts,
            superposed,
            time_unit,
            stamp_rate: usual_rate,
            spacing,
            gap,
            mean_gap,
            priors,
            control,
            round: (0, 1),
            known: None,
            apart: None,
            held: Vec::new(),
        })
    }

    /// The same with some parameters held at these values.
    pub(super) fn holding(self, held: Vec<Option<f64>>) -> Self {
        Self { held, ..self }
    }

    /// The layout of all parameters.
    pub fn layout(&self) -> &Layout {
        &self.parts.layout
    }

    /// Which search this is, of how many.
    pub(super) fn round(&self) -> (usize, usize) {
        self.round
    }

    /// Whether stamps may come in any order.
    pub(super) fn is_free(&self) -> bool {
        self.model.alignment == Order::Free
    }

    /// Median gap between stamps, in units.
    pub(super) fn gap(&self) -> f64 {
        self.gap
    }

    /// The annotator at free parameters of an objective, in units.
    pub(super) fn learned(&self, objective: &MapObjective<'_>, free: &[f64]) -> Learned {
        self.parts.stamps.model.learned(&objective.full(free)[self.parts.annotator()])
    }

    /// Detector and annotator.
    pub(super) fn parts(&self) -> &Parts {
        &self.parts
    }

    /// Minus the log posterior, as a function of the parameters that are not frozen.
    pub fn objective(&self) -> Result<MapObjective<'_>> {
        let mut frozen = self.model.frozen_params(&self.parts.layout, self.time_unit)?;
        let held = frozen.iter_mut().zip(&self.held);
        held.for_each(|(frozen, held)| *frozen = frozen.or(*held));
        let data = self.data(&frozen)?;
        Ok(MapObjective::new(&self.parts, &self.priors, data, &frozen, self.control))
    }

    fn data(&self, frozen: &[Option<f64>]) -> Result<Arc<Vec<SessionData<'_>>>> {
        let known: Vec<f64> = frozen.iter().map(|value| value.unwrap_or(0.0)).collect();
        let max_count = self.parts.stamps.model.max_count(&known[self.parts.annotator()]);
        let mut data = Vec::with_capacity(self.sessions.len());
        for (index, session) in self.sessions.iter().enumerate() {
            let ready = SessionData::new(index, session, &self.parts, self.time_unit, self.control);
            ready.in_time.check_capacity(session.name(), max_count)?;
            data.push(ready);
        }
        Ok(Arc::new(data))
    }

    /// The free parameters of start number `number`; 0 is the naive one. None if there is no such start.
    pub fn start(
        &self,
        objective: &MapObjective<'_>,
        number: usize,
        seed: u64,
    ) -> Option<Vec<f64>> {
        let start = *self.starts(number, seed).ok()?.get(number)?;
        let superposed = self.superposed_objective(objective).ok()?;
        Some(self.begin(start, objective, &superposed))
    }

    /// The free parameters at a start.
    pub(super) fn begin(
        &self,
        start: Start,
        objective: &MapObjective<'_>,
        superposed: &MapObjective<'_>,
    ) -> Vec<f64> {
        let apart = self.apart.as_ref();
        objective.free(&begin(start, objective, superposed, &self.parts, &self.priors, apart))
    }

    /// The same for stamps as a superposition.
    pub(super) fn superposed_objective<'b>(
        &'b self,
        objective: &MapObjective<'b>,
    ) -> Result<MapObjective<'b>> {
        let frozen = self.model.frozen_params(&self.parts.layout, self.time_unit)?;
        let data = objective.shared_data();
        Ok(MapObjective::new(&self.superposed, &self.priors, data, &frozen, self.control))
    }

    /// The starts: the naive one and so many others.
    pub(super) fn starts(&self, restarts: usize, seed: u64) -> Result<Vec<Start>> {
        if let Some(known) = self.known {
            let KnownShift { delay, spread, .. } = known.in_units_of(self.time_unit);
            return Ok(around(restarts, seed, (delay, spread), self.spacing));
        }
        let peaks = match restarts {
            0..=3 => None,
            _ => {
                let stamps = self.sessions.iter().map(|session| session.stamps().len());
                let is_out = beyond(stamps, SCANNED);
                let kept = self.sessions.iter().zip(is_out).filter(|(_, is_out)| !is_out);
                let kept = kept.map(|(session, _)| session);
                scan(kept, Control { watch: None, ..self.control })?
            }
        };
        // Stamps that scatter normally change the features over some three standard deviations.
        let place = |peak: &Peak| {
            let spread = (peak.width / self.time_unit / 3.0).max(self.spacing);
            (peak.lag / self.time_unit, spread)
        };
        // The middle of the stated range, which has to be looked at whatever the scan finds.
        let stated = self.model.delay.and(self.priors.delay);
        let stated = stated.map(|prior| (prior.mean, prior.sd.max(self.spacing)));
        let peaks = peaks.iter().flat_map(|scan| &scan.peaks).map(place);
        let peaks: Vec<_> = stated.into_iter().chain(peaks).collect();
        let labelling = self.parts.stamps.labelling;
        let of_one = match labelling.is_independent() {
            true => starts(restarts, seed, [self.gap, self.mean_gap], &peaks),
            false => {
                let lasting = median_bout(self.sessions).map(|bout| bout / self.time_unit);
                let about = (labelling.stamps, lasting);
                starts_of_runs(restarts, seed, (self.spacing, self.gap), &peaks, about)
            }
        };
        Ok(match self.parts.classes() {
            1 => of_one,
            _ => {
                let stamped = self.apart.as_ref().map_or(Vec::new(), Apart::stamped);
                starts_of_classes(of_one, &stamped)
            }
        })
    }

    /// Whether a delay is near the stamps' own word: inside the stated range, or about zero.
    pub(super) fn is_near(&self, learned: &Learned) -> bool {
        match self.model.delay {
            Some((earliest, latest)) => {
                (earliest..=latest).contains(&(learned.delay * self.time_unit))
            }
            None => {
                let doubt = self.known.map_or(0.0, |known| known.doubt / self.time_unit);
                learned.delay.abs() <= doubt + self.spacing.max(learned.spread / 2.0)
            }
        }
    }

    /// An annotator in the unit of the data.
    pub(super) fn in_data_units(&self, learned: &Learned) -> Learned {
        learned.in_units_of(1.0 / self.time_unit)
    }

    /// Log evidence of so many stamps where the objective has this value, in the unit of the data.
    pub(super) fn log_evidence(
        &self,
        objective: &MapObjective<'_>,
        value: f64,
        params: &[f64],
        stamps: usize,
    ) -> f64 {
        let in_units = -value - objective.log_prior(params);
        in_units - stamps as f64 * self.time_unit.ln()
    }

    /// Stamps of a run, at most, by the start that was best with one at most and by the first two. There is no
    /// superposition of runs to say it, and all starts would take as long as the search that was made.
    fn most_of_runs(&self, one: &Searched, options: &FitOptions) -> Result<f64> {
        let numbers = BTreeSet::from([one.best.start, 0, 1]);
        most_near(self, &self.objective()?, options, numbers)
    }

    /// Stamps of all sessions; one that tells an end counts twice.
    fn stamps(&self) -> usize {
        let ends = |session: &Session<'_>| if self.model.ends { session.ends() } else { 0 };
        self.sessions.iter().map(|session| session.stamps().len() + ends(session)).sum()
    }

    /// Whether a result has more evidence of sessions that were left out of learning than another's.
    fn is_better(&self, own: &Searched, other: &Self, others: &Searched) -> Result<bool> {
        let own = modes::left_out(&self.objective()?, &own.best.minimum.params);
        let others = modes::left_out(&other.objective()?, &others.best.minimum.params);
        let gain = own.zip(others).map(|(own, others)| HeldOut::difference(&own, &others).mean);
        Ok(gain.is_some_and(|gain| gain > 0.0))
    }

    /// Lets groups differ, beginning at a fit of stamps that were moved back by these shifts.
    fn grouped(
        model: &Model,
        mut fitted: Fitted,
        shifts: &Shifts,
        sessions: &'a [Session<'a>],
        options: &FitOptions,
        control: Control<'a>,
    ) -> Result<Fitted> {
        let scales = (fitted.time_unit, fitted.stamp_rate);
        let parts = grouped_parts(&fitted.parts, model, sessions, fitted.time_unit)?;
        let deviations = deviations_at(&parts.stamps.groups, model, shifts, fitted.time_unit);
        let model = Model { counts: fitted.model.counts.clone(), ..model.clone() };
        let mut problem = Problem::with_parts(&model, sessions, parts, scales, control)?;
        fitted.modes.iter_mut().for_each(|mode| mode.params.extend(&deviations));
        fitted.params.extend(&deviations);
        fitted.model = model;
        let objective = problem.objective()?;
        let from = objective.free(&fitted.params);
        let start = fitted.outcome.best_start;
        let learned = match fitted.outcome.converged {
            true => learn_deviations(&problem, &objective, &from, start, options),
            false => None,
        };
        let Some((best, scales)) = learned else {
            fitted.parts = problem.parts;
            return Ok(fitted);
        };
        let stamps = objective.stamps();
        problem.replace(&objective.with_scales(scales.clone()), &best, stamps, &mut fitted);
        let groups = problem.parts.stamps.groups.clone().with_scales(&scales);
        problem.parts = problem.parts.with_groups(groups);
        fitted.parts = problem.parts.clone();
        problem.measured(Searched { fitted, best, most: 0.0 }, options)
    }

    /// An optimum of sessions that a fit has learned from before, or from sessions much like them, in its place.
    pub(super) fn learned_again(
        &self,
        best: Optimum,
        mut fitted: Fitted,
        options: &FitOptions,
    ) -> Result<Fitted> {
        let objective = self.objective()?;
        let stop = best.minimum.stop;
        (fitted.outcome.stop, fitted.outcome.converged) = (stop, is_converged(stop, &self.parts));
        self.replace(&objective, &best, objective.stamps(), &mut fitted);
        self.measured(Searched { fitted, best, most: 0.0 }, options)
    }

    /// The result, with a spread that is not short, and with how sure it is.
    fn measured(&self, searched: Searched, options: &FitOptions) -> Result<Fitted> {
        let Searched { mut fitted, mut best, .. } = searched;
        // Where the fit was cut short, draws and curvature are those of another place.
        if !fitted.outcome.converged {
            return Ok(fitted);
        }
        let objective = self.objective()?;
        if let Some(stretched) = unbiased(self, &objective, &best, options, None) {
            best = stretched;
            self.replace(&objective, &best, objective.stamps(), &mut fitted);
        }
        self.say_how_sure(&objective, &best, 1.0, options, &mut fitted);
        Ok(fitted)
    }

    /// Measures how sure an optimum is, of so many times as many stamps as these sessions have.
    pub(super) fn say_how_sure(
        &self,
        objective: &MapObjective<'_>,
        best: &Optimum,
        times: f64,
        options: &FitOptions,
        fitted: &mut Fitted,
    ) {
        if options.standard_errors {
            let free = &best.minimum.params;
            let (found, trading) = uncertainty(objective, self.sessions, free, times);
            fitted.uncertainty = found;
            fitted.warnings.extend(trade_places(&self.parts.layout, &trading));
        }
    }

    /// Puts another optimum, of so many stamps, in the place of the chosen one.
    pub(super) fn replace(
        &self,
        objective: &MapObjective<'_>,
        best: &Optimum,
        stamps: usize,
        fitted: &mut Fitted,
    ) {
        let params = objective.full(&best.minimum.params);
        let log_evidence = self.log_evidence(objective, best.minimum.value, &params, stamps);
        let outcome = &mut fitted.outcome;
        outcome.value = best.minimum.value;
        outcome.gradient_norm = best.minimum.gradient_norm;
        outcome.iterations = best.minimum.iterations;
        outcome.evaluations = best.minimum.evaluations;
        outcome.log_evidence = log_evidence;
        let mode = &mut fitted.modes[0];
        mode.learned = self.in_data_units(&best.learned);
        mode.log_posterior = -best.minimum.value;
        mode.log_evidence = log_evidence;
        mode.params.clone_from(&params);
        fitted.params = params;
    }

    /// Warns of sessions whose sums did not converge, by position.
    fn not_settled(&self, sessions: &BTreeSet<usize>) -> Option<Warning> {
        let session = self.sessions[*sessions.first()?].name().to_owned();
        Some(Warning::NotSettled { session, sessions: sessions.len() })
    }

    /// Runs all starts and chooses among the optima.
    fn search(&self, options: &FitOptions) -> Result<Searched> {
        let objective = self.objective()?;
        let Found { mut optima, values, most, not_settled } = search(self, &objective, options)?;
        let modes = choose(self, &objective, &mut optima);
        let (outcome, mut warnings) = judge(self, &objective, &optima[0], values, &modes[0]);
        warnings.extend(modes::warning(&modes));
        warnings.extend(self.not_settled(&not_settled));
        let counts = if self.model.counts == Counts::Auto {
            Counts::Bernoulli
        } else {
            self.model.counts.clone()
        };
        let model = Model { counts, ..self.model.clone() };
        let params = modes[0].params.clone();
        let (parts, time_unit, metadata) = (self.parts.clone(), self.time_unit, BTreeMap::new());
        let fitted = Fitted {
            model,
            parts,
            params,
            time_unit,
            stamp_rate: self.stamp_rate,
            outcome,
            warnings,
            modes,
            uncertainty: None,
            metadata,
            threshold: THRESHOLD,
        };
        Ok(Searched { fitted, best: optima.swap_remove(0), most })
    }
}

/// The same parts with the groups of these sessions.
fn grouped_parts(
    parts: &Parts,
    model: &Model,
    sessions: &[Session],
    time_unit: f64,
) -> Result<Parts> {
    let gap = median_gap(sessions).max(median_spacing(sessions)) / time_unit;
    let stamp_model = parts.stamps.model.as_ref();
    let groups = Groups::of(&model.varies, sessions, |own| own.what.usual_scale(gap), stamp_model)?;
    Ok(parts.with_groups(groups))
}

/// Refuses a model or sessions that nothing can be learned from.
pub(super) fn check(model: &Model, sessions: &[Session]) -> Result<()> {
    model.check()?;
    check_together(sessions)?;
    if sessions.iter().all(|session| session.stamps().is_empty()) {
        return Err(Error::NoStamps { sessions: sessions.len() });
    }
    Ok(())
}

/// The model's priors, on the scale of the data where it leaves that open: stamps per instance and unit of
/// time, and the usual gap between them.
fn priors(
    model: &Model,
    sessions: &[Session],
    rate: f64,
    time_unit: f64,
    (spacing, gap): (f64, f64),
) -> Priors {
    let stamps: usize = sessions.iter().map(|session| session.stamps().len()).sum();
    let seen = |session: &Session| session.len() * session.annotators().len().max(1);
    let instances: usize = sessions.iter().map(seen).sum();
    let stamps_per_instance = stamps as f64 / instances.max(1) as f64;
    let stated = model.delay.map(|(earliest, latest)| Normal {
        mean: (earliest + latest) / 2.0 / time_unit,
        // The range holds 95 %.
        sd: (latest - earliest) / 4.0 / time_unit,
    });
    Priors {
        silence: Some(model.priors.silence.unwrap_or(Priors::silence(stamps_per_instance))),
        background: Some(model.priors.background.unwrap_or(Priors::background(rate))),
        delay: stated.or(model.priors.delay),
        delay_width: Some(model.priors.delay_width.unwrap_or(gap / 4.0)),
        onset_rate: Some(model.priors.onset_rate.unwrap_or(Priors::onset_rate(rate))),
        offset_rate: Some(model.priors.offset_rate.unwrap_or(Priors::offset_rate(spacing, gap))),
        ..model.priors
    }
}

/// The condition for a fit to begin.
pub(super) const FINITE_START: &str =
    "a finite number with a finite gradient: features or frozen values may be extreme";

/// The error for sessions whose stamps are impossible at every start.
pub(super) fn impossible_session(
    problem: &Problem<'_>,
    objective: &MapObjective<'_>,
    options: &FitOptions,
) -> Error {
    let from = problem.start(objective, 0, options.seed).unwrap_or_default();
    match objective.first_impossible(&objective.full(&from)) {
        Some((index, impossible)) => {
            // Only observed instances can explain a stamp.
            let (session, times) =
                (&problem.sessions[index], &objective.data()[index].in_time.times);
            infeasible(session.name(), times, session.stamps(), impossible)
        }
        None => Error::OutOfRange {
            name: "the log posterior at the start".to_owned(),
            value: -objective.evaluate(&from, &mut vec![0.0; objective.dim()]),
            expected: FINITE_START,
        },
    }
}

/// Whether a run that ended like this is at an optimum.
pub(super) fn is_converged(stop: StopReason, parts: &Parts) -> bool {
    match stop {
        StopReason::GradientTolerance | StopReason::ValueTolerance => true,
        StopReason::LineSearchFailed => parts.stamps.model.has_kinks(),
        StopReason::IterationLimit | StopReason::Cancelled => false,
    }
}

fn judge(
    problem: &Problem<'_>,
    objective: &MapObjective<'_>,
    best: &Optimum,
    values: Vec<Option<f64>>,
    mode: &Mode,
) -> (Outcome, Vec<Warning>) {
    let Problem { sessions, parts, .. } = problem;
    let Minimum { value, gradient_norm, iterations, evaluations, stop, .. } = best.minimum;
    let converged = is_converged(stop, parts);
    let order = problem.model.alignment;
    let mut found = warnings(sessions, objective.data(), parts, mode, order);
    if let Some((session, bytes)) = objective.too_large() {
        let session = sessions[session].name().to_owned();
        found.insert(0, Warning::MemoryLimit { session, bytes, limit: memory_limit() });
    }
    if !converged {
        found.insert(0, Warning::NotConverged { stop, gradient_norm });
    }
    let outcome = Outcome {
        converged,
        stop,
        iterations,
        evaluations,
        value,
        gradient_norm,
        log_evidence: mode.log_evidence,
        best_start: best.start,
        values,
    };
    (outcome, found)
}

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
