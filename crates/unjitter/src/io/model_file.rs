//! Fitted models on disk, as readable JSON.
//!
//! ```text
//! format, version      what the file is
//! metadata             notes that nothing depends on
//! model, time_unit     what was fitted, and the unit that priors measured time in
//! stamp_rate           stamps per unit of the data's time, with which stamps from nowhere go
//! threshold            probability from which an instance counts as an event; 0.5 if it is not there
//! groups               what differs between groups of stamps: their names, and how wide they scatter
//! outcome, warnings    how learning ended
//! parameters           parameters by name: `unconstrained` numbers, which count, and the `natural`
//!                      values they stand for, in the unit of the data, for reading
//! classifier           what was learned from the features alone
//! ```
//!
//! Numbers are written with all their digits, so a model that was saved and loaded gives the same bits. A
//! file may come from anywhere: it can be refused, but it cannot make the program panic or allocate by a
//! size that is only declared. Nothing is built before the declared sizes match the content. Loading
//! takes a few times the size of the file, at most 1 GiB, and for a kernel classifier of m landmarks 8m²
//! bytes and m³/3 multiplications, m ≤ 20 000.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::extended::Extended;
use super::header::Header;
use super::metadata::check_metadata;
use super::saved_mode::SavedMode;
use super::{disk, pretty};
use crate::inference::Order;
use crate::model::classifier::{
    ClassifierSpec, ClassifierState, KernelSettings, KernelState, Logistic, Mlp,
};
use crate::model::{Effect, Groups, Mode, Model, Parts, THRESHOLD, Uncertainty, check_threshold};
use crate::params::{Layout, Parameter};
use crate::{Error, Fitted, Outcome, Result, Warning};

/// The declared format of every model file.
pub(super) const FORMAT: &str = "unjitter model";
/// The version of the format.
pub(super) const VERSION: u64 = 2;

/// Largest file that is read or written: a kernel of 20 000 landmarks and 1000 features fits.
const MAX_BYTES: u64 = 1 << 30;
/// Most hidden layers of a network in a file.
const MAX_LAYERS: usize = 1000;
/// How far, relatively and absolutely, natural values may be from those of the unconstrained numbers: an
/// edited digit exceeds this, the rounding of another machine's `exp` does not.
const TOLERANCE: f64 = 1e-9;
/// Longest problem in a message; a file can hold names of any length.
const MAX_PROBLEM: usize = 400;

impl Fitted {
    /// Writes the model to a file. An old file of that name is replaced once the new one is complete and
    /// on disk; after an error it is unchanged.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        self.save_noted(path, &BTreeMap::new())
    }

    /// The same with further notes in the file, which replace those of the same key; for their limits see
    /// [`set_metadata`](Self::set_metadata).
    pub fn save_noted(
        &self,
        path: impl AsRef<Path>,
        notes: &BTreeMap<String, Value>,
    ) -> Result<()> {
        let mut file = ModelFile::of(self);
        file.metadata.extend(notes.clone());
        check_metadata(&file.metadata)?;
        let text = pretty::to_string(&file);
        // Never replaces a readable file by one that cannot be read back.
        let file = ModelFile::parse(text.as_bytes())?;
        check_parameters(&file.parameters, &self.parts.layout, self.time_unit)?;
        disk::replace(path.as_ref(), text.as_bytes())
    }

    /// Reads a model from a file of at most 1 GiB.
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let bytes = disk::read(path, MAX_BYTES)?;
        let fitted = bytes.ok_or_else(too_large).and_then(|bytes| Self::from_json(&bytes));
        fitted.map_err(|mut error| {
            if let Error::ModelFile { place, .. } | Error::ModelVersion { place, .. } = &mut error {
                *place = format!("{}: {place}", path.display());
            }
            error
        })
    }

    /// The model as JSON.
    pub fn to_json(&self) -> String {
        pretty::to_string(&ModelFile::of(self))
    }

    /// The model from its JSON.
    pub fn from_json(bytes: &[u8]) -> Result<Self> {
        ModelFile::parse(bytes)?.into_fitted()
    }
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object with the fields of a model file")]
struct ModelFile {
    format: String,
    version: u64,
    metadata: BTreeMap<String, Value>,
    model: Model,
    time_unit: f64,
    /// Not in files of earlier programs, whose background was the same in all sessions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stamp_rate: Option<f64>,
    /// Left out where it is the usual one, so that programs of the first version read the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    threshold: Option<f64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    groups: Vec<Effect>,
    outcome: Outcome,
    warnings: Vec<Warning>,
    /// Empty in files of the first version.
    #[serde(default)]
    modes: Vec<SavedMode>,
    /// Not in files of earlier programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    uncertainty: Option<Uncertainty>,
    parameters: Vec<SavedParameter>,
    #[serde(with = "SavedClassifier")]
    classifier: ClassifierState,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a parameter with its `name` and numbers")]
struct SavedParameter {
    name: String,
    unconstrained: Vec<Extended>,
    natural: Vec<Extended>,
}

/// [`ClassifierState`] with its kind as key, `{"logistic": {…}}`: with the kind among the fields, serde
/// would copy all numbers into a tree to look for it.
#[derive(Serialize, Deserialize)]
#[serde(remote = "ClassifierState", rename_all = "snake_case")]
enum SavedClassifier {
    Logistic(Logistic),
    Kernel(KernelState),
    Mlp(Mlp),
}

impl ModelFile {
    fn of(fitted: &Fitted) -> Self {
        let parameters = fitted.parts.layout.parameters();
        let extended = |numbers: &[f64]| numbers.iter().copied().map(Extended).collect();
        let saved = |parameter: &Parameter| SavedParameter {
            name: parameter.name.clone(),
            unconstrained: extended(&fitted.params[parameter.range.clone()]),
            natural: extended(&parameter.natural(&fitted.params, fitted.time_unit)),
        };
        Self {
            format: FORMAT.to_owned(),
            version: VERSION,
            metadata: fitted.metadata.clone(),
            model: fitted.model.clone(),
            time_unit: fitted.time_unit,
            stamp_rate: fitted.stamp_rate,
            threshold: (fitted.threshold != THRESHOLD).then_some(fitted.threshold),
            groups: fitted.parts.stamps.groups.effects().to_vec(),
            outcome: fitted.outcome.clone(),
            warnings: fitted.warnings.clone(),
            modes: fitted.modes.iter().map(SavedMode::from).collect(),
            uncertainty: fitted.uncertainty.clone(),
            parameters: parameters.iter().map(saved).collect(),
            classifier: fitted.parts.classifier.state(),
        }
    }

    /// The fields, with the right types but not yet checked against each other.
    fn parse(bytes: &[u8]) -> Result<Self> {
        if bytes.len() as u64 > MAX_BYTES {
            return Err(too_large());
        }
        let text = std::str::from_utf8(bytes).map_err(|error| {
            broken(&format!("byte {}", error.valid_up_to()), "not UTF-8 text".to_owned())
        })?;
        let header = Header::of(text)?;
        let file: Self = serde_json::from_str(text).map_err(|error| syntax(&error))?;
        let file = if file.version == 1 { file.of_first_version() } else { file };
        header.check_complete(&file.model)?;
        check_metadata(&file.metadata).map_err(|error| within("metadata", &error))?;
        Ok(file)
    }

    /// A file of the first version, whose model had its stamps in order and none from nowhere.
    fn of_first_version(mut self) -> Self {
        self.model = self.model.freeze("background.rate", 0.0);
        self.model.alignment = Order::Ordered;
        self.parameters.push(SavedParameter {
            name: "background.rate".to_owned(),
            unconstrained: vec![Extended(f64::NEG_INFINITY)],
            natural: vec![Extended(0.0)],
        });
        self
    }

    fn into_fitted(self) -> Result<Fitted> {
        let Self { metadata, model, time_unit, stamp_rate, threshold, .. } = self;
        let (groups, outcome, warnings, modes) =
            (self.groups, self.outcome, self.warnings, self.modes);
        let (parameters, classifier, uncertainty) =
            (self.parameters, self.classifier, self.uncertainty);
        check_model(&model, time_unit)?;
        if let Some(rate) = stamp_rate.filter(|&rate| !(rate > 0.0 && rate.is_finite())) {
            let problem = format!("it is {rate:?}, expected a finite number above 0");
            return Err(broken("stamp_rate", problem));
        }
        check_classifier(&model.classifier, &classifier, parameters.len())?;
        let parts = Parts::new(
            classifier.check().map_err(|error| within("classifier", &error))?,
            model.labelling(),
            model.class_names(),
            model.stamp_model(time_unit, stamp_rate).map_err(|error| within("model", &error))?,
        );
        let groups = groups_of(groups, &model, &parts)?;
        let parts = if groups.is_empty() { parts } else { parts.with_groups(groups) };
        check_parameters(&parameters, &parts.layout, time_unit)?;
        let params: Vec<f64> =
            parameters.iter().flat_map(|parameter| &parameter.unconstrained).map(|x| x.0).collect();
        check_frozen(&model, &parts.layout, time_unit, &params)?;
        let threshold = threshold.unwrap_or(THRESHOLD);
        check_threshold(threshold).map_err(|error| within("threshold", &error))?;
        let modes: Vec<Mode> = modes.into_iter().map(Mode::from).collect();
        let is_whole = |mode: &Mode| {
            mode.params.len() == params.len() && mode.params.iter().all(|x| !x.is_nan())
        };
        if !modes.iter().all(is_whole) {
            let problem = format!("a mode without {} numbers as `params`", params.len());
            return Err(broken("modes", problem));
        }
        if uncertainty.as_ref().is_some_and(|own| !own.fits(params.len())) {
            let problem = "places and covariances that do not fit the parameters".to_owned();
            return Err(broken("uncertainty", problem));
        }
        Ok(Fitted {
            model,
            parts,
            params,
            time_unit,
            stamp_rate,
            threshold,
            outcome,
            warnings,
            modes,
            uncertainty,
            metadata,
        })
    }
}

/// The groups of a file, whose names must be in order and whose effects must be those of the model.
fn groups_of(effects: Vec<Effect>, model: &Model, parts: &Parts) -> Result<Groups> {
    let asked = model.varies.iter();
    if !effects.iter().map(|own| &own.variation).eq(asked) {
        return Err(broken("groups", "not what model.varies asks for".to_owned()));
    }
    for Effect { variation, names, scale } in &effects {
        if !(*scale > 0.0 && scale.is_finite()) {
            let problem = format!("{variation}: scale {scale:?}, expected a number above 0");
            return Err(broken("groups", problem));
        }
        if !names.is_sorted_by(|a, b| a < b) {
            let problem = format!("{variation}: expected names in order, each once");
            return Err(broken("groups", problem));
        }
    }
    Groups::new(effects, parts.stamps.model.as_ref()).map_err(|error| within("groups", &error))
}

/// Checks that need no layout: priors, settings, the unit of time.
fn check_model(model: &Model, time_unit: f64) -> Result<()> {
    model.check().map_err(|error| within("model", &error))?;
    if let ClassifierSpec::Kernel { length_scale, landmarks } = model.classifier {
        let settings = KernelSettings { length_scale, landmarks };
        settings.check().map_err(|error| within("model.classifier", &error))?;
    }
    if !(time_unit > 0.0 && time_unit.is_finite()) {
        let problem = format!("it is {time_unit:?}, expected a finite number above 0");
        return Err(broken("time_unit", problem));
    }
    match model.time_unit {
        Some(asked) if asked != time_unit => {
            let problem = format!("it is {time_unit:?}, but model.time_unit asks for {asked:?}");
            Err(broken("time_unit", problem))
        }
        _ => Ok(()),
    }
}

/// Checks that the classifier matches the model, and that its layers, each two bytes in the file, do not
/// make more parameters than the file has.
fn check_classifier(
    spec: &ClassifierSpec,
    state: &ClassifierState,
    parameters: usize,
) -> Result<()> {
    if !state.suits(spec) {
        let problem = format!("not what model.classifier asks for, which is {}", spec.name());
        return Err(broken("classifier", problem));
    }
    let ClassifierSpec::Mlp { hidden, .. } = spec else { return Ok(()) };
    let layers = hidden.len();
    if layers > MAX_LAYERS {
        let problem = format!("{layers} hidden layers, expected at most {MAX_LAYERS}");
        return Err(broken("classifier.hidden", problem));
    }
    if parameters < 2 * (layers + 1) {
        let problem = format!("{parameters} parameters are too few for {layers} hidden layers");
        return Err(broken("parameters", problem));
    }
    Ok(())
}

/// Checks that the parameters match the layout and that natural values agree with the unconstrained numbers.
fn check_parameters(saved: &[SavedParameter], layout: &Layout, time_unit: f64) -> Result<()> {
    for (k, parameter) in layout.parameters().iter().enumerate() {
        let name = &parameter.name;
        match saved.get(k) {
            None => return Err(broken("parameters", format!("{name} is missing"))),
            Some(found) if found.name != *name => {
                let problem = format!("parameter {k} is {}, expected {name}", found.name);
                return Err(broken("parameters", problem));
            }
            Some(found) => check_block(found, parameter, time_unit)?,
        }
    }
    match saved.get(layout.parameters().len()) {
        None => Ok(()),
        Some(extra) => {
            let problem = format!("parameter {} is not part of the model", extra.name);
            Err(broken("parameters", problem))
        }
    }
}

fn check_block(saved: &SavedParameter, parameter: &Parameter, time_unit: f64) -> Result<()> {
    let wrong = |problem| Err(broken(&format!("parameters.{}", parameter.name), problem));
    let (found, expected) = (saved.unconstrained.len(), parameter.range.len());
    if found != expected {
        return wrong(format!("{found} unconstrained numbers, expected {expected}"));
    }
    let (found, expected) = (saved.natural.len(), parameter.spec.len);
    if found != expected {
        return wrong(format!("{found} natural values, expected {expected}"));
    }
    let numbers: Vec<f64> = saved.unconstrained.iter().map(|x| x.0).collect();
    // The parameter alone, so at the start of its own vector.
    let alone = Parameter { range: 0..numbers.len(), ..parameter.clone() };
    for (k, (want, Extended(found))) in
        alone.natural(&numbers, time_unit).into_iter().zip(&saved.natural).enumerate()
    {
        if !want.is_finite() {
            return wrong(format!(
                "the unconstrained numbers give the natural value {k} as {want:?}"
            ));
        }
        if !agree(*found, want) {
            return wrong(format!(
                "natural value {k} is {found:?}, but the unconstrained numbers, which are what \
                 counts, give {want:?}"
            ));
        }
    }
    Ok(())
}

/// Checks that frozen parameters have the model's values, and that the others are finite.
fn check_frozen(model: &Model, layout: &Layout, time_unit: f64, params: &[f64]) -> Result<()> {
    let frozen =
        model.frozen_params(layout, time_unit).map_err(|error| within("model.frozen", &error))?;
    for parameter in layout.parameters() {
        for (k, at) in parameter.range.clone().enumerate() {
            let found = params[at];
            let problem = match frozen[at] {
                Some(value) if !agree(found, value) => {
                    format!("it is {found:?}, but model.frozen holds it at {value:?}")
                }
                None if !found.is_finite() => {
                    format!("it is {found:?}, which only a frozen parameter may be")
                }
                _ => continue,
            };
            return Err(broken(
                &format!("parameters.{}.unconstrained[{k}]", parameter.name),
                problem,
            ));
        }
    }
    Ok(())
}

fn agree(found: f64, want: f64) -> bool {
    // Every finite number would be within the tolerance of an infinity.
    found == want || (want.is_finite() && (found - want).abs() <= TOLERANCE * (1.0 + want.abs()))
}

fn too_large() -> Error {
    broken("the whole file", format!("more than {MAX_BYTES} bytes"))
}

/// The error for a mistake in the file.
pub(super) fn broken(place: &str, problem: String) -> Error {
    let problem = match problem.char_indices().nth(MAX_PROBLEM) {
        Some((end, _)) => format!("{}…", &problem[..end]),
        None => problem,
    };
    Error::ModelFile { place: place.to_owned(), problem }
}

/// The error for text that is not JSON or does not have the fields of a model file.
pub(super) fn syntax(error: &serde_json::Error) -> Error {
    let (line, column) = (error.line(), error.column());
    let message = error.to_string();
    let problem = message.strip_suffix(&format!(" at line {line} column {column}"));
    broken(&format!("line {line}, column {column}"), problem.unwrap_or(&message).to_owned())
}

/// An error of a part, with its place in the file.
fn within(place: &str, error: &Error) -> Error {
    match error {
        Error::ModelFile { place, problem } => broken(place, problem.clone()),
        other => broken(place, other.to_string()),
    }
}
