//! The objective: minus log evidence of the stamps, minus log prior.
//!
//! One pass over the features: a session is cut into spans that fit the cache, and each span goes
//! through log-odds, recursion and pull-back before the next is touched. Small sessions are
//! gathered into tasks of a fixed size, which run in parallel and are added up in order.

use std::ops::Range;
use std::sync::Mutex;

use rayon::prelude::*;

use super::data::SessionData;
use super::objective::Objective;
use super::preconditioner::Preconditioner;
use super::supervised::{ROWS, Target, cross_entropy};
use crate::Stop;
use crate::inference::{
    Band, CountTables, Expected, Impossible, Shares, SpanOutputs, SpanSolver, Stamped, Trouble,
    widen,
};
use crate::math::{log_sigmoid, sigmoid};
use crate::model::Parts;
use crate::model::classifier::Classifier;
use crate::params::{Layout, Part};
use crate::prior::Priors;

/// Instances per task, about: enough to make the bookkeeping small, few enough to share out.
const TASK_INSTANCES: usize = 4096;

/// Numbers that a span may work on: 256 KiB, which stay in the second-level cache.
const SPAN_NUMBERS: usize = 1 << 15;

/// Numbers per instance besides its features, about: log-odds, weights, derivatives, cells.
const WORK_COLUMNS: usize = 10;

/// Minus the log posterior of all parameters given the sessions' stamps, as a function of the
/// parameters that are not frozen.
#[derive(Debug)]
pub struct MapObjective<'a> {
    parts: &'a Parts,
    priors: &'a Priors,
    data: Vec<SessionData<'a>>,
    /// All parameters; frozen ones at their values.
    base: Vec<f64>,
    is_free: Vec<bool>,
    free: Vec<usize>,
    tasks: Vec<Range<usize>>,
    workspaces: Vec<Mutex<Workspace>>,
    max_stamps: usize,
    stop: Stop<'a>,
}

/// Buffers of one task, kept between evaluations.
#[derive(Debug, Default)]
struct Workspace {
    band: Band,
    solver: SpanSolver,
    log_odds: Vec<f64>,
    pinned: Vec<f64>,
    d_log_odds: Vec<f64>,
}

/// What a task adds up: a value and its derivatives.
struct Sums {
    value: f64,
    d_params: Vec<f64>,
    expected: Expected,
}

impl<'a> MapObjective<'a> {
    /// `frozen[k]` is the unconstrained value of a parameter that stays as it is.
    pub(crate) fn new(
        parts: &'a Parts,
        priors: &'a Priors,
        data: Vec<SessionData<'a>>,
        frozen: &[Option<f64>],
        stop: Stop<'a>,
    ) -> Self {
        let is_free: Vec<bool> = frozen.iter().map(Option::is_none).collect();
        let free = (0..frozen.len()).filter(|&k| is_free[k]).collect();
        let tasks = cut_into_tasks(&data);
        Self {
            parts,
            priors,
            base: frozen.iter().map(|value| value.unwrap_or(0.0)).collect(),
            is_free,
            free,
            workspaces: tasks.iter().map(|_| Mutex::default()).collect(),
            tasks,
            max_stamps: data.iter().map(|session| session.stamps.len()).max().unwrap_or(0),
            data,
            stop,
        }
    }

    /// What evaluation looks at.
    pub(super) fn stop(&self) -> Stop<'a> {
        self.stop
    }

    /// All parameters, from the free ones.
    pub(crate) fn full(&self, free: &[f64]) -> Vec<f64> {
        let mut params = self.base.clone();
        self.free.iter().zip(free).for_each(|(&at, &value)| params[at] = value);
        params
    }

    /// The free ones of all parameters.
    pub(crate) fn free(&self, params: &[f64]) -> Vec<f64> {
        self.free.iter().map(|&at| params[at]).collect()
    }

    /// The prepared sessions.
    pub(crate) fn data(&self) -> &[SessionData<'a>] {
        &self.data
    }

    /// The log prior of the parameters that are not frozen.
    pub(crate) fn log_prior(&self, params: &[f64]) -> f64 {
        let mut unused = vec![0.0; params.len()];
        self.priors.log_density(&self.parts.layout, params, &self.is_free, &mut unused)
    }

    /// The first session that these parameters make impossible, by position.
    pub(crate) fn first_impossible(&self, params: &[f64]) -> Option<(usize, Impossible)> {
        let tables = self.parts.tables(params, self.max_stamps);
        let mut workspace = Workspace::default();
        self.data.iter().find_map(|session| {
            let mut sums = self.zero(&tables);
            let tried = self.session(session, params, &tables, &mut workspace, &mut sums);
            tried.err().map(|impossible| (session.index, impossible))
        })
    }

    fn zero(&self, tables: &CountTables) -> Sums {
        let dim = self.parts.layout.dim();
        Sums { value: 0.0, d_params: vec![0.0; dim], expected: Expected::zeros(tables) }
    }

    fn task(&self, task: usize, params: &[f64], tables: &CountTables) -> Result<Sums, Impossible> {
        let mut workspace = self.workspaces[task].lock().expect("a task runs once at a time");
        let mut sums = self.zero(tables);
        for session in &self.data[self.tasks[task].clone()] {
            self.session(session, params, tables, &mut workspace, &mut sums)?;
        }
        Ok(sums)
    }

    /// Adds one session's log evidence and derivatives.
    fn session(
        &self,
        session: &SessionData<'_>,
        params: &[f64],
        tables: &CountTables,
        workspace: &mut Workspace,
        sums: &mut Sums,
    ) -> Result<(), Impossible> {
        let layout = &self.parts.layout;
        let density = self.parts.density(&params[layout.part(Part::Noise)]);
        let mut band = std::mem::take(&mut workspace.band);
        let (times, stamps) = (&session.times, &session.stamps);
        let stamped = Stamped { times, stamps, unit: 1.0, density: &density };
        let solved = widen(&mut band, &stamped, tables, |band| {
            let mut own = self.zero(tables);
            self.spans(session, band, params, tables, &stamped, workspace, &mut own)?;
            Ok(own)
        });
        if let Ok(own) = &solved {
            sums.value += own.value;
            sums.expected.add(&own.expected);
            sums.d_params.iter_mut().zip(&own.d_params).for_each(|(sum, d)| *sum += d);
            self.unobserved(session, params, sums);
        }
        workspace.band = band;
        solved.map(|_| ())
    }

    /// Densities, log-odds, recursion and pull-back, span by span.
    #[expect(
        clippy::too_many_arguments,
        reason = "the session's inputs, buffers and sums, passed on"
    )]
    fn spans(
        &self,
        session: &SessionData<'_>,
        band: &mut Band,
        params: &[f64],
        tables: &CountTables,
        stamped: &Stamped<'_>,
        workspace: &mut Workspace,
        sums: &mut Sums,
    ) -> Result<(), Trouble> {
        let theta = self.parts.layout.part(Part::Classifier);
        let Workspace { solver, log_odds, pinned, d_log_odds, .. } = workspace;
        let noise = self.parts.layout.part(Part::Noise);
        // Odds without bound must be compared over the whole session.
        let rows = match tables.log_odds_range() {
            Some(_) => (SPAN_NUMBERS / (session.features.view().ncols() + WORK_COLUMNS)).max(64),
            None => usize::MAX,
        };
        for span in band.spans(rows) {
            if self.stop.is_requested() {
                sums.value = f64::NAN;
                break;
            }
            let Range { start, end } = span.instances;
            let features = session.features.view().slice(start..end);
            log_odds.resize(end - start, 0.0);
            d_log_odds.resize(end - start, 0.0);
            self.parts.classifier.log_odds(&params[theta.clone()], features, log_odds);
            let seen = if session.labels.is_empty() {
                &*log_odds
            } else {
                pinned.clone_from(log_odds);
                session.pin_labels(start, pinned);
                &*pinned
            };
            let d_noise = &mut sums.d_params[noise.clone()];
            let outputs = SpanOutputs {
                d_log_odds,
                expected: &mut sums.expected,
                visit: &mut |Shares { band, responsibilities, .. }| {
                    let params = &params[noise.clone()];
                    self.parts.noise.pull_back(params, band.delays(), responsibilities, d_noise);
                },
            };
            sums.value += solver.solve(band, stamped, tables, &span, seen, outputs)?;
            if !session.labels.is_empty() {
                let labels = &session.labels[start..end];
                sums.value += known_labels(labels, log_odds, d_log_odds);
            }
            let d_theta = &mut sums.d_params[theta.clone()];
            self.parts.classifier.pull_back(&params[theta.clone()], features, d_log_odds, d_theta);
        }
        Ok(())
    }

    /// Adds what labels say where nobody was annotating.
    fn unobserved(&self, session: &SessionData<'_>, params: &[f64], sums: &mut Sums) {
        let Some(rows) = &session.unobserved else { return };
        let theta = self.parts.layout.part(Part::Classifier);
        let classifier: &dyn Classifier = self.parts.classifier.as_ref();
        let mut log_odds = vec![0.0; rows.labels.len().min(ROWS)];
        let chunks = rows.features.view().chunks(ROWS);
        for (features, labels) in chunks.zip(rows.labels.chunks(ROWS)) {
            if self.stop.is_requested() {
                sums.value = f64::NAN;
                return;
            }
            let log_odds = &mut log_odds[..labels.len()];
            classifier.log_odds(&params[theta.clone()], features, log_odds);
            let targets = labels.iter().map(|&label| Target::from(label));
            sums.value -= cross_entropy(log_odds, targets);
            log_odds.iter_mut().for_each(|d| *d = -*d);
            let d_theta = &mut sums.d_params[theta.clone()];
            classifier.pull_back(&params[theta.clone()], features, log_odds, d_theta);
        }
    }
}

/// log p(y | x) of the known labels; sets their derivatives, which inference cannot see.
fn known_labels(labels: &[Option<bool>], log_odds: &[f64], d_log_odds: &mut [f64]) -> f64 {
    let mut value = 0.0;
    for ((label, &f), d) in labels.iter().zip(log_odds).zip(d_log_odds) {
        match label {
            Some(true) => {
                value += log_sigmoid(f);
                *d = sigmoid(-f);
            }
            Some(false) => {
                value += log_sigmoid(-f);
                *d = -sigmoid(f);
            }
            None => {}
        }
    }
    value
}

fn cut_into_tasks(data: &[SessionData<'_>]) -> Vec<Range<usize>> {
    let mut tasks = Vec::new();
    let (mut first, mut instances) = (0, 0);
    for (k, session) in data.iter().enumerate() {
        instances += session.times.len();
        if instances >= TASK_INSTANCES || k + 1 == data.len() {
            tasks.push(first..k + 1);
            (first, instances) = (k + 1, 0);
        }
    }
    tasks
}

impl Objective for MapObjective<'_> {
    fn dim(&self) -> usize {
        self.free.len()
    }

    fn evaluate(&self, free: &[f64], gradient: &mut [f64]) -> f64 {
        if self.stop.is_requested() {
            return f64::INFINITY;
        }
        let params = self.full(free);
        let tables = self.parts.tables(&params, self.max_stamps);
        let run = |task| self.task(task, &params, &tables);
        let sums: Result<Vec<Sums>, Impossible> = match self.tasks.len() {
            // Not worth handing to another thread.
            1 => run(0).map(|sums| vec![sums]),
            tasks => (0..tasks).into_par_iter().map(run).collect(),
        };
        let Ok(sums) = sums else { return f64::INFINITY };
        let mut total = self.zero(&tables);
        for own in sums {
            total.value += own.value;
            total.expected.add(&own.expected);
            total.d_params.iter_mut().zip(own.d_params).for_each(|(sum, d)| *sum += d);
        }
        let layout: &Layout = &self.parts.layout;
        let counts = layout.part(Part::Counts);
        for (label, expected) in total.expected.0.iter().enumerate() {
            let d_counts = &mut total.d_params[counts.clone()];
            self.parts.counts.pull_back(&params[counts.clone()], label, expected, d_counts);
        }
        total.value += self.priors.log_density(layout, &params, &self.is_free, &mut total.d_params);
        gradient.iter_mut().zip(&self.free).for_each(|(g, &at)| *g = -total.d_params[at]);
        if total.value.is_nan() { f64::INFINITY } else { -total.value }
    }

    /// The classifier's, were its labels known; a stamp each for the other parameters.
    fn curvature(&self, free: &[f64]) -> Option<Preconditioner> {
        let theta = self.parts.layout.part(Part::Classifier);
        if !self.is_free[theta.clone()].iter().all(|&is_free| is_free) {
            return None;
        }
        let features = self.data.iter().map(|session| session.features.view());
        let ones = vec![1.0; self.base.len()];
        let mut precisions = vec![0.0; ones.len()];
        self.priors.log_density(&self.parts.layout, &ones, &self.is_free, &mut precisions);
        let precisions: Vec<f64> = precisions[theta.clone()].iter().map(|d| -d).collect();
        let stamps: usize = self.data.iter().map(|session| session.stamps.len()).sum();
        let classifier = self.parts.classifier.as_ref();
        Preconditioner::new(classifier, &free[theta], features, &precisions, stamps as f64)
    }
}
