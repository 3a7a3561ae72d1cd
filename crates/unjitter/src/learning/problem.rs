//! A model and its sessions made ready to be learned from: parts, priors, starts, and the objective.

use std::sync::Arc;

use super::apart::Apart;
use super::data::{SessionData, beyond, median_bout, median_gap, median_spacing, stamp_rate};
use super::fit::FitOptions;
use super::grouped::KnownShift;
use super::map::MapObjective;
use super::objective::Objective;
use super::start::{Start, around, begin, starts, starts_of_classes, starts_of_runs};
use crate::inference::Order;
use crate::model::counts::Counts;
use crate::model::{Groups, Learned, Model, Parts, infeasible};
use crate::params::Layout;
use crate::prior::{Normal, Priors};
use crate::scan::{Peak, scan};
use crate::session::check_together;
use crate::{Control, Error, FeatureView, Result, Session};

/// Stamps that are enough for the scan's peaks.
const SCANNED: usize = 1000;

/// A model and its sessions, checked and with its parts built: the input of a custom optimiser.
#[derive(Debug)]
pub struct Problem<'a> {
    pub(super) model: Model,
    pub(super) sessions: &'a [Session<'a>],
    pub(super) parts: Parts,
    /// The same with stamps as a superposition, of any number if the counts are to be decided.
    superposed: Parts,
    pub(super) time_unit: f64,
    /// Stamps per unit of the data, if the background goes with them.
    pub(super) stamp_rate: Option<f64>,
    /// Median spacing of instances, in units.
    spacing: f64,
    /// Median gap between stamps, in units.
    gap: f64,
    /// Time for one stamp, in units.
    mean_gap: f64,
    priors: Priors,
    control: Control<'a>,
    /// Which search this is, of how many.
    pub(super) round: (usize, usize),
    /// About where stamps belong, if clocks were looked for.
    pub(super) known: Option<KnownShift>,
    /// Fits of each class by itself.
    pub(super) apart: Option<Apart>,
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

    /// Stamps of all sessions; one that tells an end counts twice.
    pub(super) fn stamps(&self) -> usize {
        let ends = |session: &Session<'_>| if self.model.ends { session.ends() } else { 0 };
        self.sessions.iter().map(|session| session.stamps().len() + ends(session)).sum()
    }
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

/// The same parts with the groups of these sessions.
pub(super) fn grouped_parts(
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
