//! The objective: minus log evidence of the stamps, minus log prior.
//!
//! The stamp model computes the evidence of a session (`model::StampModel`). Small sessions are gathered
//! into tasks of a fixed size, which run in parallel and are added in order.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use rayon::prelude::*;

use super::data::{SessionData, beyond};
use super::deviations::deviation_curvatures;
use super::objective::{Curvature, Objective};
use super::preconditioner::{Preconditioner, ROWS, Square};
use super::rows::{KeptSlopes, SessionRows, add_session};
use crate::Control;
use crate::inference::Impossible;
use crate::model::{Parts, Sums};
use crate::parallel::{gather, in_order};
use crate::params::Parameter;
use crate::prior::Priors;

/// Steps before a guess of the curvature is made. Long first steps of the classifier, before the
/// annotator's parameters have settled, can end in another, higher minimum.
const SETTLED: usize = 16;

/// Parameters of the annotator, at most, whose curvature is measured at the cost of an evaluation each.
const MOST_COLUMNS: usize = 12;
/// The step of that measurement, in the unconstrained numbers: some digits suffice.
const SMALL: f64 = 1e-4;

/// Minus the log posterior of all parameters given the sessions' stamps, as a function of the
/// parameters that are not frozen.
#[derive(Debug)]
pub struct MapObjective<'a> {
    parts: &'a Parts,
    priors: &'a Priors,
    /// How wide the deviations of groups scatter, by effect.
    scales: Vec<f64>,
    data: Arc<Vec<SessionData<'a>>>,
    /// How often each session counts; 0 leaves it out.
    weights: Vec<f64>,
    /// All parameters; frozen ones at their values.
    base: Vec<f64>,
    is_free: Vec<bool>,
    free: Vec<usize>,
    tasks: Vec<Range<usize>>,
    control: Control<'a>,
    /// Steps before a guess of the curvature is made.
    unsettled: usize,
    /// The first session, by position, whose bytes exceeded the limit.
    too_large: Arc<OnceLock<(usize, u64)>>,
    /// Sessions, by position, whose sums did not converge.
    not_settled: Arc<Mutex<BTreeSet<usize>>>,
}

impl<'a> MapObjective<'a> {
    /// `frozen[k]` is the unconstrained value of a frozen parameter.
    pub(crate) fn new(
        parts: &'a Parts,
        priors: &'a Priors,
        data: Arc<Vec<SessionData<'a>>>,
        frozen: &[Option<f64>],
        control: Control<'a>,
    ) -> Self {
        let is_free: Vec<bool> = frozen.iter().map(Option::is_none).collect();
        let free = (0..frozen.len()).filter(|&k| is_free[k]).collect();
        Self {
            parts,
            priors,
            scales: parts.stamps.groups.scales(),
            base: frozen.iter().map(|value| value.unwrap_or(0.0)).collect(),
            is_free,
            free,
            tasks: gather(data.iter().map(|session| session.in_time.times.len())),
            weights: vec![1.0; data.len()],
            data,
            control,
            unsettled: SETTLED,
            too_large: Arc::default(),
            not_settled: Arc::default(),
        }
    }

    /// The same objective without some sessions.
    pub(super) fn without(&self, is_out: impl Fn(usize) -> bool) -> Self {
        let weight = |k: usize| if is_out(k) { 0.0 } else { self.weights[k] };
        self.weighted((0..self.data.len()).map(weight).collect())
    }

    /// The same objective with sessions that count so often.
    pub(super) fn weighted(&self, weights: Vec<f64>) -> Self {
        Self {
            weights,
            data: Arc::clone(&self.data),
            scales: self.scales.clone(),
            base: self.base.clone(),
            is_free: self.is_free.clone(),
            free: self.free.clone(),
            tasks: self.tasks.clone(),
            too_large: Arc::clone(&self.too_large),
            not_settled: Arc::clone(&self.not_settled),
            ..*self
        }
    }

    /// The same objective, whose parameters have already been so many steps on their way.
    pub(super) fn settled_after(&self, steps: usize) -> Self {
        let unsettled = self.unsettled.saturating_sub(steps);
        Self { unsettled, ..self.weighted(self.weights.clone()) }
    }

    /// The same objective with some parameters held where they are.
    pub(super) fn holding(&self, is_held: impl Fn(usize) -> bool, params: &[f64]) -> Self {
        let is_free = |k: usize| self.is_free[k] && !is_held(k);
        Self {
            base: params.to_vec(),
            is_free: (0..params.len()).map(is_free).collect(),
            free: (0..params.len()).filter(|&k| is_free(k)).collect(),
            ..self.weighted(self.weights.clone())
        }
    }

    /// The same objective, in which the deviations of groups scatter so wide.
    pub(super) fn with_scales(&self, scales: Vec<f64>) -> Self {
        Self { scales, ..self.weighted(self.weights.clone()) }
    }

    /// How wide they scatter.
    pub(super) fn scales(&self) -> &[f64] {
        &self.scales
    }

    /// The same objective for other stamps: those of new sessions, in the place of the kept ones.
    pub(super) fn with_data(&self, data: Vec<SessionData<'a>>) -> Self {
        let frozen: Vec<Option<f64>> =
            self.base.iter().zip(&self.is_free).map(|(v, free)| (!free).then_some(*v)).collect();
        let new = Self::new(self.parts, self.priors, Arc::new(data), &frozen, self.control);
        Self { scales: self.scales.clone(), ..new }
    }

    /// Log evidence of one session, left out or not; none if it is impossible.
    pub(super) fn session_evidence(&self, session: usize, params: &[f64]) -> Option<f64> {
        let mut sums = self.zeros();
        self.session(&self.data[session], params, &mut sums).ok()?;
        Some(sums.value)
    }

    /// Which sessions to leave out so that about enough stamps are left.
    pub(super) fn beyond(&self, enough: usize) -> Vec<bool> {
        beyond(self.data.iter().map(|session| session.in_time.stamps()), enough)
    }

    /// Number of stamps.
    pub(super) fn stamps(&self) -> usize {
        self.kept().map(|session| session.in_time.stamps()).sum()
    }

    /// The sessions that are not left out.
    pub(super) fn kept(&self) -> impl Iterator<Item = &SessionData<'a>> + Clone {
        self.data
            .iter()
            .zip(&self.weights)
            .filter(|(_, weight)| **weight > 0.0)
            .map(|(session, _)| session)
    }

    /// The stop flag and the watcher.
    pub(super) fn control(&self) -> Control<'a> {
        self.control
    }

    /// All parameters, from the free ones.
    pub(crate) fn full(&self, free: &[f64]) -> Vec<f64> {
        assert_eq!(free.len(), self.free.len(), "a number for every free parameter");
        let mut params = self.base.clone();
        self.free.iter().zip(free).for_each(|(&at, &value)| params[at] = value);
        params
    }

    /// The free ones of all parameters.
    pub(crate) fn free(&self, params: &[f64]) -> Vec<f64> {
        self.free.iter().map(|&at| params[at]).collect()
    }

    /// The prepared sessions, for another objective.
    pub(super) fn shared_data(&self) -> Arc<Vec<SessionData<'a>>> {
        Arc::clone(&self.data)
    }

    /// The prepared sessions.
    pub(crate) fn data(&self) -> &[SessionData<'a>] {
        &self.data
    }

    /// Places of the free parameters among all.
    pub(super) fn places(&self) -> &[usize] {
        &self.free
    }

    /// What a free number is called and means.
    pub(super) fn parameter(&self, free: usize) -> Option<&Parameter> {
        self.parts.layout.at(self.free[free])
    }

    /// Detector, annotator and groups.
    pub(super) fn parts(&self) -> &'a Parts {
        self.parts
    }

    /// Number of free parameters besides the deviations of groups, which come last.
    pub(super) fn common(&self) -> usize {
        self.free.partition_point(|&at| at < self.parts.deviations().start)
    }

    /// Number of free parameters of the detector, which come first.
    pub(super) fn detector_dim(&self) -> usize {
        self.free.partition_point(|&at| at < self.parts.detector().end)
    }

    /// The gradient of minus the log prior.
    pub(super) fn prior_gradient(&self, free: &[f64]) -> Vec<f64> {
        let params = self.full(free);
        let mut slopes = vec![0.0; params.len()];
        self.add_prior(&params, &mut slopes);
        self.free.iter().map(|&at| -slopes[at]).collect()
    }

    /// The gradient of each session's log evidence; none if a session is impossible.
    pub(super) fn scores(&self, free: &[f64]) -> Option<Vec<Vec<f64>>> {
        let params = self.full(free);
        let score = |session: &SessionData<'_>| {
            let mut sums = self.zeros();
            self.session(session, &params, &mut sums).ok()?;
            let slopes = [sums.d_detector, sums.d_annotator].concat();
            Some(self.free.iter().map(|&at| slopes[at]).collect())
        };
        self.data.par_iter().map(score).collect()
    }

    /// The log prior of the parameters that are not frozen.
    pub(crate) fn log_prior(&self, params: &[f64]) -> f64 {
        self.add_prior(params, &mut vec![0.0; params.len()])
    }

    /// The same, adding its gradient.
    pub(super) fn add_prior(&self, params: &[f64], gradient: &mut [f64]) -> f64 {
        let (layout, own) = (&self.parts.layout, self.parts.deviations());
        let value = self.priors.log_density(layout, params, &self.is_free, gradient);
        let (deviations, is_free) = (&params[own.clone()], &self.is_free[own.clone()]);
        let groups = &self.parts.stamps.groups;
        value + groups.log_density(&self.scales, deviations, is_free, &mut gradient[own])
    }

    /// The first session that these parameters make impossible, by position.
    pub(crate) fn first_impossible(&self, params: &[f64]) -> Option<(usize, Impossible)> {
        let mut sums = self.zeros();
        self.data.iter().find_map(|session| {
            let tried = self.session(session, params, &mut sums);
            tried.err().map(|impossible| (session.index, impossible))
        })
    }

    /// Notes that a step was given up because its memory exceeded the limit, or a sum did not converge.
    pub(super) fn note_given_up(&self, found: Option<(usize, Impossible)>) {
        match found {
            Some((session, Impossible::TooLarge(bytes))) => {
                self.too_large.get_or_init(|| (session, bytes));
            }
            Some((session, Impossible::Unsettled)) => {
                self.not_settled().insert(session);
            }
            _ => {}
        }
    }

    fn not_settled(&self) -> MutexGuard<'_, BTreeSet<usize>> {
        self.not_settled.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sessions, by position, whose sums did not converge since this was last asked.
    pub(super) fn take_not_settled(&self) -> BTreeSet<usize> {
        std::mem::take(&mut *self.not_settled())
    }

    /// The first such session by position, and its bytes.
    pub(super) fn too_large(&self) -> Option<(usize, u64)> {
        self.too_large.get().copied()
    }

    fn zeros(&self) -> Sums {
        let detector = self.parts.detector().len();
        Sums::zeros(detector, self.parts.layout.dim() - detector)
    }

    /// Log evidence and derivatives of all sessions.
    fn sessions(&self, params: &[f64]) -> Result<Sums, Impossible> {
        let task = |task: usize| {
            let mut sums = self.zeros();
            for k in self.tasks[task].clone() {
                let (session, weight) = (&self.data[k], self.weights[k]);
                if weight == 1.0 {
                    self.session(session, params, &mut sums)?;
                } else if weight > 0.0 {
                    let mut own = self.zeros();
                    self.session(session, params, &mut own)?;
                    sums += &own.times(weight);
                }
            }
            Ok(sums)
        };
        let mut total = self.zeros();
        in_order(self.tasks.len(), params.len(), task, |own| total += &own)?;
        Ok(total)
    }

    /// Adds one session's log evidence and derivatives.
    fn session(
        &self,
        session: &SessionData<'_>,
        params: &[f64],
        sums: &mut Sums,
    ) -> Result<(), Impossible> {
        add_session(self.parts, session, &session.exchange, params, self.control, sums)
    }
}

impl MapObjective<'_> {
    /// The curvature in the detector's parameters, without the prior.
    fn detector_curvature(&self, free: &[f64]) -> Option<Square> {
        let (params, classifier) = (self.full(free), self.parts.classifier.as_ref());
        let theta = &params[self.parts.detector()];
        let slopes = |session: &SessionData<'_>| {
            let (exchange, control) = (&session.exchange, self.control);
            let pins = self.parts.stamps.are_labels_plain();
            let rows = SessionRows { session, exchange, classifier, theta, pins, control };
            let rows = KeptSlopes::new(rows);
            self.parts.bind(&params, &session.in_time).add(&rows, &mut self.zeros())?;
            Ok(rows.into_slopes())
        };
        let kept = |task: usize| self.tasks[task].clone().filter(|&k| self.weights[k] > 0.0);
        let task = |task| kept(task).map(|k| Ok((k, slopes(&self.data[k])?))).collect();
        let mut square = Square::new(theta.len())?;
        let tried: Result<(), Impossible> = in_order(
            self.tasks.len(),
            self.rows_per_task(),
            task,
            |own: Vec<(usize, Vec<f64>)>| {
                for (k, slopes) in own {
                    square.add_scores(classifier, theta, self.data[k].features.view(), &slopes);
                }
            },
        );
        if tried.is_ok() && square.is_certain() {
            return Some(square);
        }
        self.label_curvature(free, ROWS)
    }

    /// The same if all labels were known, from about so many rows at most.
    pub(super) fn label_curvature(&self, free: &[f64], most_rows: usize) -> Option<Square> {
        let (params, classifier) = (self.full(free), self.parts.classifier.as_ref());
        let features = self.kept().map(|session| session.features.view());
        Square::of_cross_entropy(classifier, &params[self.parts.detector()], features, most_rows)
    }

    /// Rows of a task, about.
    fn rows_per_task(&self) -> usize {
        let rows: usize = self.data.iter().map(|session| session.in_time.times.len()).sum();
        rows / self.tasks.len().max(1)
    }

    /// The column of the curvature of one parameter, from the change of the gradient along it.
    fn column(&self, free: &[f64], gradient: &[f64], at: usize) -> Vec<f64> {
        let (mut near, mut column) = (free.to_vec(), vec![0.0; free.len()]);
        near[at] += SMALL;
        self.evaluate(&near, &mut column);
        column.iter_mut().zip(gradient).for_each(|(there, here)| *there = (*there - here) / SMALL);
        column
    }
}

impl Objective for MapObjective<'_> {
    fn dim(&self) -> usize {
        self.free.len()
    }

    fn curvature(
        &self,
        free: &[f64],
        gradient: &[f64],
        steps: usize,
    ) -> Option<Box<dyn Curvature>> {
        let theta = self.parts.detector();
        let all_are_free = self.is_free[theta.clone()].iter().all(|&is_free| is_free);
        if steps < self.unsettled || !all_are_free {
            return None;
        }
        let ones = vec![1.0; self.base.len()];
        let mut precisions = vec![0.0; ones.len()];
        self.priors.log_density(&self.parts.layout, &ones, &self.is_free, &mut precisions);
        let precisions: Vec<f64> = precisions[theta.clone()].iter().map(|d| -d).collect();
        let detector = self.detector_curvature(free)?.with_precisions(&precisions);
        let deviations = deviation_curvatures(self, free, gradient);
        let annotator = theta.end..free.len() - deviations.len();
        // At the start of a run the annotator's curvature is that of another place.
        let has_columns = steps > 0 && annotator.len() <= MOST_COLUMNS;
        let whole = has_columns.then(|| {
            let columns = annotator.clone().map(|at| self.column(free, gradient, at));
            let columns: Vec<_> = columns.collect();
            Preconditioner::with_columns(&detector, &columns, deviations.clone())
        });
        let guess = match whole.flatten() {
            Some(whole) => whole,
            None => {
                let others = vec![self.stamps() as f64; annotator.len()];
                Preconditioner::new(detector, [others, deviations].concat())?
            }
        };
        Some(Box::new(guess))
    }

    fn evaluate(&self, free: &[f64], gradient: &mut [f64]) -> f64 {
        if self.control.is_stop_requested() {
            return f64::INFINITY;
        }
        let params = self.full(free);
        let Sums { mut value, d_detector, d_annotator, .. } = match self.sessions(&params) {
            Ok(total) => total,
            Err(impossible) => {
                let is_new = match impossible {
                    Impossible::TooLarge(_) => self.too_large().is_none(),
                    Impossible::Unsettled => true,
                    _ => false,
                };
                if is_new {
                    // Names the first session, whichever thread failed first.
                    self.note_given_up(self.first_impossible(&params));
                }
                return f64::INFINITY;
            }
        };
        let mut d_params = [d_detector, d_annotator].concat();
        value += self.add_prior(&params, &mut d_params);
        gradient.iter_mut().zip(&self.free).for_each(|(g, &at)| *g = -d_params[at]);
        if value.is_nan() { f64::INFINITY } else { -value }
    }
}
