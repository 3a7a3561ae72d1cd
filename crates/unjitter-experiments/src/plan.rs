//! The grid of an experiment on one dataset: recordings, learners, folds.
//!
//! Seeds draw stamps; folds are the same for all of them, so that a fold's score can be averaged over
//! seeds. Cells that would compute the same numbers are the same cell. Learners that never use stamps all
//! get the same ones, so they have one cell in every experiment. (No stamps at all would not work:
//! cross-validation also scores the held-out stamps.)

use std::sync::Arc;

use unjitter::evaluation::{Contender, CrossValidation, digest};
use unjitter::learning::median_spacing;
use unjitter::simulation::Sloppiness;
use unjitter::{Recording, Result, Session};

use crate::datasets::Dataset;
use crate::learner::LearnerSpec;
use crate::spec::{Over, Spec, TimeUnit};

/// An annotator, and our learners' assumption about it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Setting {
    pub(crate) x: Option<f64>,
    pub(crate) annotator: Sloppiness,
    components: Option<usize>,
}

/// Stamps drawn for every session, for one setting and one seed.
pub(crate) struct Drawn {
    pub(crate) setting: usize,
    pub(crate) seed: u64,
    pub(crate) recordings: Arc<Vec<Recording<'static>>>,
}

/// One learner on one drawing.
pub(crate) struct Cell {
    pub(crate) setting: usize,
    pub(crate) learner: usize,
    pub(crate) recordings: Arc<Vec<Recording<'static>>>,
    pub(crate) contender: Contender,
    pub(crate) options: CrossValidation,
    /// Equal for cells that compute the same numbers.
    pub(crate) key: String,
    /// Label for the progress report.
    pub(crate) label: String,
}

/// The settings of an experiment, one without a sweep.
pub(crate) fn settings(spec: &Spec) -> Vec<Setting> {
    let plain = Setting { x: None, annotator: spec.annotator.clone(), components: None };
    let Some(sweep) = &spec.sweep else { return vec![plain] };
    let at = |&x: &f64| {
        let mut setting = Setting { x: Some(x), ..plain.clone() };
        let annotator = &mut setting.annotator;
        match sweep.over {
            Over::Spread => {
                annotator.spread = x;
                annotator.ends.iter_mut().for_each(|ends| ends.spread = x);
            }
            Over::Delay => annotator.delay = x,
            Over::OffsetSpread => annotator.offset_spread = x,
            Over::Pressed => annotator.pressed = x,
            Over::Extra => annotator.extra = x,
            Over::Components => setting.components = Some(x as usize),
        }
        setting
    };
    sweep.values.iter().map(at).collect()
}

/// Length of the annotator's unit of time.
pub(crate) fn unit(spec: &Spec, dataset: &Dataset) -> f64 {
    let sessions: Vec<Session> = dataset.recordings.iter().map(|r| r.session.clone()).collect();
    match spec.time_unit {
        TimeUnit::MedianSpacing => median_spacing(&sessions),
        TimeUnit::Data => 1.0,
    }
}

/// Stamps for every seed and setting.
pub(crate) fn draw(spec: &Spec, dataset: &Dataset, settings: &[Setting]) -> Result<Vec<Drawn>> {
    let unit = unit(spec, dataset);
    let mut drawn = Vec::new();
    for &seed in &spec.seeds {
        for (setting, Setting { annotator, .. }) in settings.iter().enumerate() {
            let recordings = Arc::new(annotate(annotator, dataset, unit, seed)?);
            drawn.push(Drawn { setting, seed, recordings });
        }
    }
    Ok(drawn)
}

fn annotate(
    annotator: &Sloppiness,
    dataset: &Dataset,
    unit: f64,
    seed: u64,
) -> Result<Vec<Recording<'static>>> {
    annotator.annotate(&dataset.recordings, unit, seed)
}

/// Every learner on every drawing. `version` separates numbers of different versions of the program.
pub(crate) fn cells(
    spec: &Spec,
    dataset: &Dataset,
    settings: &[Setting],
    version: &str,
) -> Result<Vec<Cell>> {
    let unit = unit(spec, dataset);
    let plain = Arc::new(annotate(&Sloppiness::default(), dataset, unit, 0)?);
    let mut cells = Vec::new();
    for Drawn { setting, seed, recordings } in draw(spec, dataset, settings)? {
        for (learner, of) in spec.learners.iter().enumerate() {
            let recordings = if of.sees_stamps() { &recordings } else { &plain };
            let contender = of.contender(settings[setting].components, unit);
            let options = spec.cross_validation.clone();
            let numbers = options.key(recordings, std::slice::from_ref(&contender));
            cells.push(Cell {
                setting,
                learner,
                recordings: Arc::clone(recordings),
                label: label(spec, dataset, &settings[setting], of, seed),
                key: digest(&[&numbers, version]),
                contender,
                options,
            });
        }
    }
    Ok(cells)
}

fn label(
    spec: &Spec,
    dataset: &Dataset,
    setting: &Setting,
    learner: &LearnerSpec,
    seed: u64,
) -> String {
    let at = setting.x.map_or(String::new(), |x| format!(" at {x}"));
    format!("{}, {}: {}{at}, seed {seed}", spec.name, dataset.name, learner.name())
}
