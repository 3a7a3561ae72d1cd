//! The objective: minus log evidence of the stamps, minus log prior.
//!
//! The stamp model computes the evidence of a session (`model::StampModel`). Small sessions are gathered
//! into tasks of a fixed size, which run in parallel and are added in order.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use rayon::prelude::*;

use super::data::{SessionData, beyond};
use super::objective::{Curvature, Objective};
use super::preconditioner::{Preconditioner, Square};
use super::rows::{KeptSlopes, SessionRows, add_labelled};
use crate::Control;
use crate::inference::Impossible;
use crate::model::{BoundStampModel, Parts, Sums};
use crate::parallel::{gather, in_order};
use crate::prior::Priors;

/// Steps before a guess of the curvature is made. Long first steps of the classifier, before the
/// annotator's parameters have settled, can end in another, higher minimum.
const SETTLED: usize = 16;

/// Parameters of the annotator, at most, whose curvature is measured at the cost of an evaluation each.
const MOST_COLUMNS: usize = 8;
/// The step of that measurement, in the unconstrained numbers: some digits suffice.
const SMALL: f64 = 1e-4;

/// Minus the log posterior of all parameters given the sessions' stamps, as a function of the
/// parameters that are not frozen.
#[derive(Debug)]
pub struct MapObjective<'a> {
    parts: &'a Parts,
    priors: &'a Priors,
    data: Arc<Vec<SessionData<'a>>>,
    /// Sessions that are left out.
    is_out: Vec<bool>,
    /// All parameters; frozen ones at their values.
    base: Vec<f64>,
    is_free: Vec<bool>,
    free: Vec<usize>,
    tasks: Vec<Range<usize>>,
    max_stamps: usize,
    control: Control<'a>,
    /// Steps before a guess of the curvature is made.
    unsettled: usize,
    /// The first session, by position, whose bytes exceeded the limit.
    too_large: Arc<OnceLock<(usize, u64)>>,
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
            base: frozen.iter().map(|value| value.unwrap_or(0.0)).collect(),
            is_free,
            free,
            tasks: gather(data.iter().map(|session| session.in_time.times.len())),
            max_stamps: data.iter().map(|session| session.in_time.stamps.len()).max().unwrap_or(0),
            is_out: vec![false; data.len()],
            data,
            control,
            unsettled: SETTLED,
            too_large: Arc::default(),
        }
    }

    /// The same objective without some sessions.
    pub(super) fn without(&self, is_out: impl Fn(usize) -> bool) -> Self {
        Self {
            is_out: (0..self.data.len()).map(is_out).collect(),
            data: Arc::clone(&self.data),
            base: self.base.clone(),
            is_free: self.is_free.clone(),
            free: self.free.clone(),
            tasks: self.tasks.clone(),
            too_large: Arc::clone(&self.too_large),
            ..*self
        }
    }

    /// The same objective, whose parameters have already been so many steps on their way.
    pub(super) fn settled_after(&self, steps: usize) -> Self {
        let unsettled = self.unsettled.saturating_sub(steps);
        Self { unsettled, ..self.without(|session| self.is_out[session]) }
    }

    /// The same objective with some parameters held where they are.
    pub(super) fn holding(&self, is_held: impl Fn(usize) -> bool, params: &[f64]) -> Self {
        let is_free = |k: usize| self.is_free[k] && !is_held(k);
        Self {
            base: params.to_vec(),
            is_free: (0..params.len()).map(is_free).collect(),
            free: (0..params.len()).filter(|&k| is_free(k)).collect(),
            ..self.without(|session| self.is_out[session])
        }
    }

    /// The same objective for other stamps: those of new sessions, in the place of the kept ones.
    pub(super) fn with_data(&self, data: Vec<SessionData<'a>>) -> Self {
        let frozen: Vec<Option<f64>> =
            self.base.iter().zip(&self.is_free).map(|(v, free)| (!free).then_some(*v)).collect();
        Self::new(self.parts, self.priors, Arc::new(data), &frozen, self.control)
    }

    /// Log evidence of one session, left out or not; none if it is impossible.
    pub(super) fn session_evidence(&self, session: usize, params: &[f64]) -> Option<f64> {
        let bound = self.parts.bind(params, self.max_stamps);
        let mut sums = self.zeros();
        self.session(&self.data[session], params, bound.as_ref(), &mut sums).ok()?;
        Some(sums.value)
    }

    /// Which sessions to leave out so that about enough stamps are left.
    pub(super) fn beyond(&self, enough: usize) -> Vec<bool> {
        beyond(self.data.iter().map(|session| session.in_time.stamps.len()), enough)
    }

    /// Number of stamps.
    pub(super) fn stamps(&self) -> usize {
        self.kept().map(|session| session.in_time.stamps.len()).sum()
    }

    /// The sessions that are not left out.
    pub(super) fn kept(&self) -> impl Iterator<Item = &SessionData<'a>> + Clone {
        self.data
            .iter()
            .zip(&self.is_out)
            .filter(|(_, is_out)| !**is_out)
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

    /// Number of free parameters of the detector, which come first.
    pub(super) fn detector_dim(&self) -> usize {
        self.free.partition_point(|&at| at < self.parts.detector().end)
    }

    /// The gradient of minus the log prior.
    pub(super) fn prior_gradient(&self, free: &[f64]) -> Vec<f64> {
        let params = self.full(free);
        let mut slopes = vec![0.0; params.len()];
        self.priors.log_density(&self.parts.layout, &params, &self.is_free, &mut slopes);
        self.free.iter().map(|&at| -slopes[at]).collect()
    }

    /// The gradient of each session's log evidence; none if a session is impossible.
    pub(super) fn scores(&self, free: &[f64]) -> Option<Vec<Vec<f64>>> {
        let params = self.full(free);
        let bound = self.parts.bind(&params, self.max_stamps);
        let score = |session: &SessionData<'_>| {
            let mut sums = self.zeros();
            self.session(session, &params, bound.as_ref(), &mut sums).ok()?;
            let slopes = [sums.d_detector, sums.d_annotator].concat();
            Some(self.free.iter().map(|&at| slopes[at]).collect())
        };
        self.data.par_iter().map(score).collect()
    }

    /// The log prior of the parameters that are not frozen.
    pub(crate) fn log_prior(&self, params: &[f64]) -> f64 {
        let mut unused = vec![0.0; params.len()];
        self.priors.log_density(&self.parts.layout, params, &self.is_free, &mut unused)
    }

    /// The first session that these parameters make impossible, by position.
    pub(crate) fn first_impossible(&self, params: &[f64]) -> Option<(usize, Impossible)> {
        let bound = self.parts.bind(params, self.max_stamps);
        let mut sums = self.zeros();
        self.data.iter().find_map(|session| {
            let tried = self.session(session, params, bound.as_ref(), &mut sums);
            tried.err().map(|impossible| (session.index, impossible))
        })
    }

    /// Notes that a step was given up because its memory exceeded the limit.
    pub(super) fn note_too_large(&self, found: Option<(usize, Impossible)>) {
        if let Some((session, Impossible::TooLarge(bytes))) = found {
            self.too_large.get_or_init(|| (session, bytes));
        }
    }

    /// The first such session by position, and its bytes.
    pub(super) fn too_large(&self) -> Option<(usize, u64)> {
        self.too_large.get().copied()
    }

    fn zeros(&self) -> Sums {
        Sums::zeros(self.parts.detector().len(), self.parts.annotator().len())
    }

    /// Log evidence and derivatives of all sessions.
    fn sessions(&self, params: &[f64]) -> Result<Sums, Impossible> {
        let bound = self.parts.bind(params, self.max_stamps);
        let task = |task: usize| {
            let mut sums = self.zeros();
            for k in self.tasks[task].clone().filter(|&k| !self.is_out[k]) {
                self.session(&self.data[k], params, bound.as_ref(), &mut sums)?;
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
        bound: &dyn BoundStampModel,
        sums: &mut Sums,
    ) -> Result<(), Impossible> {
        let (classifier, theta) = (self.parts.classifier.as_ref(), &params[self.parts.detector()]);
        let rows = SessionRows { session, classifier, theta, control: self.control };
        bound.add(session.in_time.timeline(), &rows, sums)?;
        if let Some(unobserved) = &session.unobserved {
            add_labelled(unobserved, classifier, theta, self.control, sums);
        }
        Ok(())
    }
}

impl MapObjective<'_> {
    /// The curvature in the detector's parameters, without the prior.
    fn detector_curvature(&self, free: &[f64]) -> Option<Square> {
        let (params, classifier) = (self.full(free), self.parts.classifier.as_ref());
        let theta = &params[self.parts.detector()];
        let bound = self.parts.bind(&params, self.max_stamps);
        let slopes = |session: &SessionData<'_>| {
            let rows = SessionRows { session, classifier, theta, control: self.control };
            let rows = KeptSlopes::new(rows);
            bound.add(session.in_time.timeline(), &rows, &mut self.zeros())?;
            Ok(rows.into_slopes())
        };
        let kept = |task: usize| self.tasks[task].clone().filter(|&k| !self.is_out[k]);
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
        let features = self.kept().map(|session| session.features.view());
        Square::of_cross_entropy(classifier, theta, features)
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
        // At the start of a run the annotator's curvature is that of another place.
        let has_columns = steps > 0 && free.len() - theta.len() <= MOST_COLUMNS;
        let whole = has_columns.then(|| {
            let columns: Vec<_> =
                (theta.end..free.len()).map(|at| self.column(free, gradient, at)).collect();
            Preconditioner::with_columns(&detector, &columns)
        });
        let guess = match whole.flatten() {
            Some(whole) => whole,
            None => Preconditioner::new(detector, self.stamps() as f64)?,
        };
        Some(Box::new(guess))
    }

    fn evaluate(&self, free: &[f64], gradient: &mut [f64]) -> f64 {
        if self.control.is_stop_requested() {
            return f64::INFINITY;
        }
        let params = self.full(free);
        let Sums { mut value, d_detector, d_annotator } = match self.sessions(&params) {
            Ok(total) => total,
            Err(impossible) => {
                if matches!(impossible, Impossible::TooLarge(_)) && self.too_large().is_none() {
                    // Names the first session, whichever thread failed first.
                    self.note_too_large(self.first_impossible(&params));
                }
                return f64::INFINITY;
            }
        };
        let mut d_params = [d_detector, d_annotator].concat();
        value += self.priors.log_density(&self.parts.layout, &params, &self.is_free, &mut d_params);
        gradient.iter_mut().zip(&self.free).for_each(|(g, &at)| *g = -d_params[at]);
        if value.is_nan() { f64::INFINITY } else { -value }
    }
}
