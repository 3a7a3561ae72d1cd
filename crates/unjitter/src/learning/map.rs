//! The objective: minus log evidence of the stamps, minus log prior.
//!
//! One pass over the features: a session is cut into spans that fit the cache, and each span goes
//! through log-odds, recursion and pull-back before the next is touched. Small sessions are
//! gathered into tasks of a fixed size; a long one is cut into runs of spans of about that size.
//! Tasks and runs are worked on in parallel and added up in order.

use std::ops::Range;
use std::sync::OnceLock;

use super::data::SessionData;
use super::in_order::{gather, in_order, rows_in_cache};
use super::objective::Objective;
use super::preconditioner::Preconditioner;
use super::supervised::{Target, cross_entropy};
use crate::Stop;
use crate::desks::Desks;
use crate::inference::{
    Band, CountTables, DelayDensity, Expected, Impossible, Shares, Span, SpanOutputs, SpanSolver,
    Stamped, Trouble, widen,
};
use crate::math::{log_sigmoid, sigmoid};
use crate::model::Parts;
use crate::model::classifier::Classifier;
use crate::params::{Layout, Part};
use crate::prior::Priors;

/// Steps after which a guess of the curvature is welcome. Long first steps of the classifier, before the
/// annotator's parameters have found their place, can end in another and higher minimum.
const SETTLED: usize = 16;

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
    desks: Desks<Desk>,
    max_stamps: usize,
    stop: Stop<'a>,
    /// The first session, by position, that something was given up for because of its bytes.
    too_large: OnceLock<(usize, u64)>,
}

/// Buffers kept between evaluations.
#[derive(Debug, Default)]
struct Desk {
    band: Band,
    /// What the session at hand adds, kept apart until its windows are found wide enough.
    session: Sums,
    work: Workspace,
}

/// Buffers of one span.
#[derive(Debug, Default)]
struct Workspace {
    solver: SpanSolver,
    log_odds: Vec<f64>,
    pinned: Vec<f64>,
    d_log_odds: Vec<f64>,
}

/// Where the objective is evaluated.
struct Place<'p> {
    params: &'p [f64],
    tables: &'p CountTables,
    density: &'p dyn DelayDensity,
}

/// What is added up: a value and its derivatives.
#[derive(Debug, Default)]
struct Sums {
    value: f64,
    d_params: Vec<f64>,
    expected: Expected,
}

impl Sums {
    fn zeros(dim: usize, tables: &CountTables) -> Self {
        Self { value: 0.0, d_params: vec![0.0; dim], expected: Expected::zeros(tables) }
    }

    /// All zero again, keeping buffers.
    fn clear(&mut self, dim: usize, tables: &CountTables) {
        self.value = 0.0;
        self.d_params.clear();
        self.d_params.resize(dim, 0.0);
        self.expected.clear(tables);
    }

    fn add(&mut self, other: &Sums) {
        self.value += other.value;
        self.expected.add(&other.expected);
        self.d_params.iter_mut().zip(&other.d_params).for_each(|(sum, d)| *sum += d);
    }
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
        Self {
            parts,
            priors,
            base: frozen.iter().map(|value| value.unwrap_or(0.0)).collect(),
            is_free,
            free,
            tasks: gather(data.iter().map(|session| session.times.len())),
            desks: Desks::default(),
            max_stamps: data.iter().map(|session| session.stamps.len()).max().unwrap_or(0),
            data,
            stop,
            too_large: OnceLock::new(),
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
        self.at(params, |place| {
            let mut sums = self.zeros(place);
            self.data.iter().find_map(|session| {
                let tried = self.desks.with(|desk| self.session(session, place, desk, &mut sums));
                tried.err().map(|impossible| (session.index, impossible))
            })
        })
    }

    /// Notes that something was given up because it would have taken too many bytes.
    pub(super) fn note_too_large(&self, found: Option<(usize, Impossible)>) {
        if let Some((session, Impossible::TooLarge(bytes))) = found {
            self.too_large.get_or_init(|| (session, bytes));
        }
    }

    /// What was noted first: a session by position, and its bytes.
    pub(super) fn too_large(&self) -> Option<(usize, u64)> {
        self.too_large.get().copied()
    }

    /// Binds the parameters.
    fn at<T>(&self, params: &[f64], ask: impl FnOnce(&Place<'_>) -> T) -> T {
        let tables = self.parts.tables(params, self.max_stamps);
        let density = self.parts.density(&params[self.parts.layout.part(Part::Noise)]);
        ask(&Place { params, tables: &tables, density: &density })
    }

    fn zeros(&self, place: &Place<'_>) -> Sums {
        Sums::zeros(self.parts.layout.dim(), place.tables)
    }

    /// Log evidence and derivatives of all sessions.
    fn sessions(&self, place: &Place<'_>) -> Result<Sums, Impossible> {
        let mut total = self.zeros(place);
        let task = |task: usize| {
            let mut sums = self.zeros(place);
            self.desks.with(|desk| {
                let mut sessions = self.data[self.tasks[task].clone()].iter();
                sessions.try_for_each(|session| self.session(session, place, desk, &mut sums))
            })?;
            Ok(sums)
        };
        in_order(self.tasks.len(), place.params.len(), task, |own| total.add(&own))?;
        Ok(total)
    }

    /// Adds one session's log evidence and derivatives.
    fn session(
        &self,
        session: &SessionData<'_>,
        place: &Place<'_>,
        desk: &mut Desk,
        sums: &mut Sums,
    ) -> Result<(), Impossible> {
        let Desk { band, session: own, work } = desk;
        let (times, stamps) = (&session.times, &session.stamps);
        let stamped = Stamped { times, stamps, unit: 1.0, density: place.density };
        widen(band, &stamped, place.tables, false, |band| {
            own.clear(place.params.len(), place.tables);
            self.spans(session, &stamped, band, place, work, own)
        })?;
        sums.add(own);
        self.unobserved(session, place.params, sums);
        Ok(())
    }

    /// All spans of a session: here if they are few, in parallel otherwise.
    fn spans(
        &self,
        session: &SessionData<'_>,
        stamped: &Stamped<'_>,
        band: &mut Band,
        place: &Place<'_>,
        work: &mut Workspace,
        sums: &mut Sums,
    ) -> Result<(), Trouble> {
        let rows = rows_in_cache(session.features.view().ncols());
        let spans = band.spans(place.tables.rows_of_span(rows));
        let runs = gather(spans.iter().map(|span| span.instances.len()));
        if runs.len() == 1 {
            return self.run(session, stamped, &spans, band, place, work, sums);
        }
        let band = &*band;
        let run = |run: usize| {
            let mut sums = self.zeros(place);
            self.desks.with(|desk| {
                desk.band.share_windows(band);
                let spans = &spans[runs[run].clone()];
                let Desk { band, work, .. } = desk;
                self.run(session, stamped, spans, band, place, work, &mut sums)
            })?;
            Ok(sums)
        };
        in_order(runs.len(), place.params.len(), run, |own| sums.add(&own))
    }

    /// Densities, log-odds, recursion and pull-back, span by span.
    #[expect(
        clippy::too_many_arguments,
        reason = "the session's inputs, buffers and sums, passed on"
    )]
    fn run(
        &self,
        session: &SessionData<'_>,
        stamped: &Stamped<'_>,
        spans: &[Span],
        band: &mut Band,
        place: &Place<'_>,
        work: &mut Workspace,
        sums: &mut Sums,
    ) -> Result<(), Trouble> {
        let Place { params, tables, .. } = *place;
        let theta = self.parts.layout.part(Part::Classifier);
        let noise = self.parts.layout.part(Part::Noise);
        let Workspace { solver, log_odds, pinned, d_log_odds } = work;
        for span in spans {
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
            sums.value += solver.solve(band, stamped, tables, span, seen, outputs)?;
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
        let chunk = rows_in_cache(rows.features.view().ncols());
        let mut log_odds = vec![0.0; rows.labels.len().min(chunk)];
        let chunks = rows.features.view().chunks(chunk);
        for (features, labels) in chunks.zip(rows.labels.chunks(chunk)) {
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

impl Objective for MapObjective<'_> {
    fn dim(&self) -> usize {
        self.free.len()
    }

    fn curvature(&self, free: &[f64], steps: usize) -> Option<Preconditioner> {
        if steps < SETTLED {
            return None;
        }
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

    fn evaluate(&self, free: &[f64], gradient: &mut [f64]) -> f64 {
        if self.stop.is_requested() {
            return f64::INFINITY;
        }
        let params = self.full(free);
        let mut total = match self.at(&params, |place| self.sessions(place)) {
            Ok(total) => total,
            Err(impossible) => {
                if matches!(impossible, Impossible::TooLarge(_)) && self.too_large().is_none() {
                    // Whichever thread was first, the first session is named.
                    self.note_too_large(self.first_impossible(&params));
                }
                return f64::INFINITY;
            }
        };
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
}
