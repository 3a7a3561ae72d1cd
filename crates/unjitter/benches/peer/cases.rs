//! The cases to measure: bare inference, the objective with all that is built on it, nested
//! cross-validation, and reading a dataset.

use std::error::Error;
use std::io::{BufRead, Lines, Write};
use std::path::PathBuf;
use std::sync::OnceLock;

use serde::Deserialize;
use unjitter::baselines::AlignmentLearner;
use unjitter::evaluation::{Contender, CrossValidation, folds};
use unjitter::inference::{Stamp, Timeline};
use unjitter::io::{Columns, Dataset, DatasetFiles};
use unjitter::learning::{Objective, Problem};
use unjitter::model::Annotator;
use unjitter::{AlignOptions, Control, FitOptions, Fitted, Model, Priors, Recording, Session};

use crate::data::{Data, numbers};
use crate::dialogue::Dialogue;
use crate::fused::fused_logistic;
use crate::kept::{Kept, annotator};

/// The first line of a dialogue.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Case {
    kind: Kind,
    /// Where the numbers lie; see `data`.
    folder: PathBuf,
    /// Features per instance.
    #[serde(default)]
    columns: usize,
    /// Whether features are kept in single precision.
    #[serde(default)]
    single: bool,
    #[serde(default)]
    model: Model,
    #[serde(default)]
    fit: FitOptions,
    #[serde(default)]
    cross_validation: CrossValidation,
    /// Precisions of the prior on weights that cross-validation chooses from.
    #[serde(default)]
    weight_precision: Vec<f64>,
    /// Folder of a dataset in tables.
    #[serde(default)]
    dataset: PathBuf,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Evidence,
    Objective,
    CrossValidation,
    Read,
}

type Outcome = Result<(), Box<dyn Error>>;

impl Case {
    /// Loads the numbers and answers questions.
    pub(crate) fn serve<R: BufRead>(self, lines: Lines<R>, output: impl Write) -> Outcome {
        let data = Data::read(&self.folder, self.columns, self.single)?;
        let mut dialogue = Dialogue::new(lines, output, &self.folder);
        match self.kind {
            Kind::Evidence => self.evidence(&data, &mut dialogue),
            Kind::Objective => self.objective(&data.sessions()?, &data, &mut dialogue),
            Kind::CrossValidation => self.cross_validation(&data.recordings()?, &mut dialogue),
            Kind::Read => self.read(&mut dialogue),
        }
    }

    /// Log evidence and all its derivatives, the log-odds being given: `evaluate` is one call of the
    /// annotator's own function; `kept` is two evaluations as in a fit, at `params` and at `next`, each
    /// of which begins with the messages of the one before.
    fn evidence<R: BufRead, W: Write>(
        &self,
        data: &Data,
        dialogue: &mut Dialogue<R, W>,
    ) -> Outcome {
        let Model { counts, noise, alignment, frozen, .. } = &self.model;
        let unit = self.model.time_unit.unwrap_or(1.0);
        let evidence = Annotator::new(counts, noise, *alignment, unit)?;
        let log_odds = numbers(&self.folder.join("log_odds"))?;
        let frozen = frozen.iter().map(|one| (one.name.as_str(), one.values.as_slice()));
        let start = evidence.start(&frozen.collect::<Vec<_>>())?;
        // The others know counts and noise only, which come before the background.
        let compared = start.len() - 1;
        let given = |name: &str| -> Result<Vec<f64>, Box<dyn Error>> {
            let (mut params, given) = (start.clone(), numbers(&self.folder.join(name))?);
            params[..given.len()].copy_from_slice(&given);
            Ok(params)
        };
        let (params, next) = (given("params")?, given("next")?);
        let (kept, as_fitted) = (Kept::new(&log_odds), annotator(&self.model, unit)?);
        let stamps = Stamp::at(&data.stamps);
        let timeline = Timeline::new(&data.times, &stamps, unit);
        dialogue.serve(|what, numbers| {
            if what == "kept" {
                kept.evaluate(&as_fitted, &params, timeline, numbers);
                let value = kept.evaluate(&as_fitted, &next, timeline, numbers);
                numbers.truncate(log_odds.len() + compared);
                return value;
            }
            let found = evidence.gradient("", &params, &data.times, &data.stamps, &log_odds);
            let found = found.expect("stamps that are possible");
            numbers.clear();
            numbers.extend(found.d_log_odds.iter().chain(&found.d_params[..compared]));
            found.log_evidence
        })
    }

    /// `evaluate`, the plain `logistic` loss beside it, `prepare` (what comes before the first
    /// evaluation), a whole `fit`, which answers with iterations, evaluations and the largest
    /// entry of the gradient, too; and `plug-in` and `64 draws`, alignments of all sessions.
    fn objective<R: BufRead, W: Write>(
        &self,
        sessions: &[Session<'_>],
        data: &Data,
        dialogue: &mut Dialogue<R, W>,
    ) -> Outcome {
        let params = numbers(&self.folder.join("params"))?;
        let problem = OnceLock::new();
        let problem = || problem.get_or_init(|| self.problem(sessions));
        let known = OnceLock::new();
        let fitted = || known.get_or_init(|| self.fitted(sessions));
        let mut objective = None;
        let mut at = params.clone();
        dialogue.serve(|what, numbers| match what {
            "evaluate" => {
                let objective = objective.get_or_insert_with(|| {
                    problem().objective().expect("stamps that are possible")
                });
                if at.is_empty() {
                    at = problem().start(objective, 0, self.fit.seed).expect("the naive start");
                }
                numbers.resize(objective.dim(), 0.0);
                objective.evaluate(&at, numbers)
            }
            "logistic" => {
                numbers.resize(self.columns + 1, 0.0);
                let w = &params[..self.columns + 1];
                fused_logistic(&data.features, &data.labels, w, numbers)
            }
            "prepare" => {
                let problem = self.problem(sessions);
                let objective = problem.objective().expect("stamps that are possible");
                objective.dim() as f64
            }
            "fit" => self.whole_fit(sessions, numbers),
            "plug-in" => aligned(fitted(), sessions, 0),
            "64 draws" => aligned(fitted(), sessions, 64),
            other => panic!("no such thing as {other}"),
        })
    }

    fn problem<'a>(&'a self, sessions: &'a [Session<'a>]) -> Problem<'a> {
        Problem::new(&self.model, sessions, self.fit.seed, Control::default())
            .expect("a model that can be fitted")
    }

    fn fitted(&self, sessions: &[Session<'_>]) -> Fitted {
        let fitted = self.model.fit(sessions, &self.fit, Control::default());
        fitted.expect("sessions that can be fitted")
    }

    fn whole_fit(&self, sessions: &[Session<'_>], numbers: &mut Vec<f64>) -> f64 {
        let fitted = self.fitted(sessions);
        let outcome = fitted.outcome();
        numbers.clear();
        numbers.extend([outcome.iterations as f64, outcome.evaluations as f64]);
        numbers.push(outcome.gradient_norm);
        outcome.value
    }

    /// `run` answers with the mean F1, and for each fold the candidate chosen and the F1; `folds`
    /// with a row per outer fold: the inner fold of every recording, −1 where it is held out.
    fn cross_validation<R: BufRead, W: Write>(
        &self,
        recordings: &[Recording<'_>],
        dialogue: &mut Dialogue<R, W>,
    ) -> Outcome {
        let candidate = |&weight_precision: &f64| AlignmentLearner {
            model: Model {
                priors: Priors { weight_precision, ..self.model.priors },
                ..self.model.clone()
            },
            fit: self.fit.clone(),
        };
        let contenders = [Contender::grid(self.weight_precision.iter().map(candidate))];
        let all: Vec<&Recording> = recordings.iter().collect();
        dialogue.serve(|what, numbers| {
            numbers.clear();
            if what == "folds" {
                self.all_folds(&all, numbers);
                return numbers.len() as f64;
            }
            let run = self.cross_validation.run(recordings, &contenders, None, Control::default());
            let judged = &run.expect("recordings that can be learned from").contenders[0];
            let f1 = judged.f1().expect("recordings with labels");
            for (fold, f1) in judged.folds.iter().zip(&f1) {
                numbers.extend([fold.chosen as f64, *f1]);
            }
            f1.iter().sum::<f64>() / f1.len() as f64
        })
    }

    /// The work of `unjitter fit` before the fit.
    fn read<R: BufRead, W: Write>(&self, dialogue: &mut Dialogue<R, W>) -> Outcome {
        let files = DatasetFiles::in_folder(&self.dataset)?;
        dialogue.serve(|_, _| {
            let read = Dataset::read(&files, &Columns::default(), false).expect("a good dataset");
            read.recordings.iter().map(|recording| recording.session.len() as f64).sum()
        })
    }

    /// The folds of the cross-validation: another shuffle of the rest for every outer fold.
    fn all_folds(&self, all: &[&Recording<'_>], numbers: &mut Vec<f64>) {
        let CrossValidation { folds: count, inner_folds, group_by, seed, .. } =
            self.cross_validation;
        let outer = folds(all, count, group_by, seed).expect("enough recordings");
        for (k, held_out) in outer.iter().enumerate() {
            let rest: Vec<usize> = (0..all.len()).filter(|at| !held_out.contains(at)).collect();
            let kept: Vec<&Recording> = rest.iter().map(|&at| all[at]).collect();
            let seed = seed.wrapping_add(1 + k as u64);
            let inner = folds(&kept, inner_folds, group_by, seed).expect("enough recordings");
            let mut row = vec![-1.0; all.len()];
            for (fold, positions) in inner.iter().enumerate() {
                positions.iter().for_each(|&at| row[rest[at]] = fold as f64);
            }
            numbers.extend(row);
        }
    }
}

/// The log evidence of all sessions, each aligned with so many draws of the parameters.
fn aligned(fitted: &Fitted, sessions: &[Session<'_>], draws: usize) -> f64 {
    let options = AlignOptions { draws, ..AlignOptions::default() };
    let align = |session| fitted.align_with(session, &options).expect("stamps that are possible");
    sessions.iter().map(|session| align(session).log_evidence).sum()
}
