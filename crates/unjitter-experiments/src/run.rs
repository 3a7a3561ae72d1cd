//! Work through the grid, with one journal per cell, so that interrupted work can continue.

use std::collections::HashMap;
use std::path::PathBuf;

use anyhow::Context;
use unjitter::baselines::kept_by_naive;
use unjitter::evaluation::{
    Confusion, ContenderResult, MeanInterval, bonferroni, mean_interval, mean_of_each,
    paired_t_test,
};
use unjitter::simulation::Tails;
use unjitter::{Control, Progress};
use unjitter_cli::inputs;
use unjitter_cli::learners::Kind;

use crate::bouts;
use crate::datasets::Dataset;
use crate::outcome::{DatasetSummary, How, Outcome, Point, Role, Series, Test};
use crate::plan::{self, Cell, Setting};
use crate::spec::{Measure, Spec};

/// Settings of a run.
#[derive(Debug, Clone, Default)]
pub(crate) struct RunOptions {
    /// The small version.
    pub quick: bool,
    /// Folder of journals; without one, nothing is kept on the way.
    pub work: Option<PathBuf>,
    /// Recorded human errors, instead of the annotator's `tails`.
    pub errors: Option<Vec<f64>>,
    /// The command, for the record.
    pub command: String,
    /// The version of the program, for the record. Journals of another version are not used.
    pub commit: String,
    /// Whether there will be a figure.
    pub figure: bool,
}

/// Level of the interval around a mean.
const LEVEL: f64 = 0.95;

/// Runs an experiment on each dataset. `control` hears of every fit, and `begin` of the purpose of the
/// next ones. After a request to stop the error is the library's `Interrupted`, and the next run with the
/// same work folder continues from there.
pub(crate) fn run(
    spec: &Spec,
    datasets: &[Dataset],
    options: &RunOptions,
    begin: &dyn Fn(&str),
    control: Control<'_>,
) -> anyhow::Result<Vec<Outcome>> {
    let mut spec = spec.quick(options.quick);
    if let Some(errors) = &options.errors {
        draw_from(errors, &mut spec);
    }
    let kept = |dataset: &Dataset| match spec.quick.sessions.filter(|_| options.quick) {
        Some(count) => Dataset {
            name: dataset.name.clone(),
            recordings: dataset.recordings.iter().take(count).cloned().collect(),
        },
        None => dataset.clone(),
    };
    let datasets: Vec<Dataset> = datasets.iter().map(kept).collect();
    let settings = plan::settings(&spec);
    if spec.measure == Measure::Kept {
        return datasets.iter().map(|d| kept_outcome(&spec, d, &settings, options)).collect();
    }
    let mut plans = Vec::new();
    for dataset in &datasets {
        let cells = plan::cells(&spec, dataset, &settings, &options.commit)
            .with_context(|| format!("experiment {} on {}", spec.name, dataset.name))?;
        plans.push(cells);
    }
    let scores = judge_all(spec.measure, &plans, options, begin, control)?;
    let outcome = |(dataset, cells): (&Dataset, &Vec<Cell>)| {
        let series = series(&spec, &settings, cells, &scores)?;
        finish(&spec, dataset, series, options)
    };
    datasets.iter().zip(&plans).map(outcome).collect()
}

/// Replaces the shape of the delays, and records it: the results differ from those of the file.
fn draw_from(errors: &[f64], spec: &mut Spec) {
    spec.annotator.tails = Tails::Recorded { errors: errors.to_vec() };
    spec.name.push_str("-recorded");
    let note = format!(
        "Here delays are drawn from {} recorded errors instead, bias and tails as they are, scaled \
         to the same spread.",
        errors.len()
    );
    spec.about = format!("{}\n\n{note}", spec.about.trim());
}

/// The stored scores of a cell.
struct Scores {
    folds: Vec<f64>,
    pooled: Confusion,
}

/// Evaluates every distinct cell once.
fn judge_all(
    measure: Measure,
    plans: &[Vec<Cell>],
    options: &RunOptions,
    begin: &dyn Fn(&str),
    control: Control<'_>,
) -> anyhow::Result<HashMap<String, Scores>> {
    let mut distinct: Vec<(&Cell, usize)> = Vec::new();
    for cell in plans.iter().flatten() {
        if distinct.iter().all(|(other, _)| other.key != cell.key) {
            let contenders = std::slice::from_ref(&cell.contender);
            distinct.push((cell, cell.options.cells(&cell.recordings, contenders)?));
        }
    }
    let total = distinct.iter().map(|(_, fits)| fits).sum();
    if let Some(work) = &options.work {
        std::fs::create_dir_all(work)
            .with_context(|| format!("cannot make the work folder {}", work.display()))?;
    }
    let mut before = 0;
    let mut scores = HashMap::new();
    for (cell, fits) in distinct {
        begin(&cell.label);
        let watch = |cells: Progress| control.tell(before + cells.done, total, None);
        let own = Control { watch: Some(&watch), ..control };
        let judged = judge(measure, cell, options, own).with_context(|| cell.label.clone())?;
        let (folds, pooled) = (judged.f1_where_positive(), judged.pooled());
        let missing = || format!("{}: a session has no hand-aligned labels", cell.label);
        let (folds, pooled) = folds.zip(pooled).with_context(missing)?;
        scores.insert(cell.key.clone(), Scores { folds, pooled });
        before += fits;
    }
    Ok(scores)
}

fn judge(
    measure: Measure,
    cell: &Cell,
    options: &RunOptions,
    control: Control<'_>,
) -> anyhow::Result<ContenderResult> {
    let journal = options.work.as_ref().map(|work| work.join(format!("{}.jsonl", cell.key)));
    journal.iter().try_for_each(|journal| inputs::refuse(journal))?;
    let contenders = std::slice::from_ref(&cell.contender);
    let comparison = cell.options.run(&cell.recordings, contenders, journal.as_deref(), control);
    let mut comparison = match comparison {
        Err(error @ unjitter::Error::Journal { .. }) => {
            let advice = "the journal cannot be used; delete it, or choose another work folder";
            return Err(anyhow::Error::new(error).context(advice));
        }
        other => other?,
    };
    if measure == Measure::Bouts {
        bouts::count(&cell.recordings, &mut comparison)?;
    }
    comparison.contenders.into_iter().next().context("one contender was judged")
}

/// The mean of shares, such as F1, and its t-interval clipped to 0 and 1: with few folds it would reach beyond.
fn mean_share(folds: &[f64]) -> unjitter::Result<MeanInterval> {
    let found = mean_interval(folds, LEVEL)?;
    Ok(MeanInterval { low: found.low.max(0.0), high: found.high.min(1.0), ..found })
}

/// The points of every learner, from the scores of its cells over all seeds.
fn series(
    spec: &Spec,
    settings: &[Setting],
    cells: &[Cell],
    scores: &HashMap<String, Scores>,
) -> anyhow::Result<Vec<Series>> {
    let mut all = Vec::new();
    for (learner, of) in spec.learners.iter().enumerate() {
        let mut points = Vec::new();
        for (setting, Setting { x, .. }) in settings.iter().enumerate() {
            let own = cells.iter().filter(|c| c.learner == learner && c.setting == setting);
            let own: Vec<&Scores> = own.map(|cell| &scores[&cell.key]).collect();
            let seeds: Vec<&[f64]> = own.iter().map(|scores| scores.folds.as_slice()).collect();
            let folds = mean_of_each(&seeds)?;
            let pooled = own.iter().map(|s| s.pooled).fold(Confusion::default(), |a, b| a + b);
            let pooled = pooled.scores();
            points.push(Point {
                x: *x,
                mean: mean_share(&folds)?,
                folds,
                pooled: pooled.f1,
                precision: Some(pooled.precision),
                recall: Some(pooled.recall),
            });
        }
        let role = match of.kind {
            Kind::Imprecise => Role::Ours,
            Kind::HandAligned => Role::Ceiling,
            _ => Role::Baseline,
        };
        all.push(Series { learner: of.name(), role, points });
    }
    Ok(all)
}

/// The share of true positives that naive alignment keeps, session by session.
fn kept_outcome(
    spec: &Spec,
    dataset: &Dataset,
    settings: &[Setting],
    options: &RunOptions,
) -> anyhow::Result<Outcome> {
    let drawn = plan::draw(spec, dataset, settings)?;
    let mut points = Vec::new();
    for (setting, Setting { x, .. }) in settings.iter().enumerate() {
        let share = |(kept, positives): (usize, usize)| kept as f64 / positives as f64;
        let (mut seeds, mut all) = (Vec::new(), (0, 0));
        for of in drawn.iter().filter(|drawn| drawn.setting == setting) {
            let counts: Result<Vec<_>, _> = of.recordings.iter().map(kept_by_naive).collect();
            let counts = counts?.into_iter().filter(|&(_, positives)| positives > 0);
            let counts: Vec<(usize, usize)> = counts.collect();
            all = counts.iter().fold(all, |sum, count| (sum.0 + count.0, sum.1 + count.1));
            seeds.push(counts.into_iter().map(share).collect::<Vec<f64>>());
        }
        let seeds: Vec<&[f64]> = seeds.iter().map(Vec::as_slice).collect();
        let folds = mean_of_each(&seeds)?;
        let mean = mean_share(&folds)?;
        points.push(Point {
            x: *x,
            folds,
            mean,
            pooled: share(all),
            precision: None,
            recall: None,
        });
    }
    let learner = "naive alignment".to_owned();
    finish(spec, dataset, vec![Series { learner, role: Role::Baseline, points }], options)
}

fn finish(
    spec: &Spec,
    dataset: &Dataset,
    series: Vec<Series>,
    options: &RunOptions,
) -> anyhow::Result<Outcome> {
    let truth = || dataset.recordings.iter().flat_map(|recording| recording.truth.iter().flatten());
    let is_judged = spec.measure != Measure::Kept;
    Ok(Outcome {
        name: spec.name.clone(),
        panel: spec.panel.clone(),
        title: spec.title.clone(),
        about: spec.about.trim().to_owned(),
        measure: spec.measure,
        dataset: DatasetSummary {
            name: dataset.name.clone(),
            sessions: dataset.recordings.len(),
            instances: truth().count(),
            positives: truth().filter(|positive| **positive).count(),
            unit: plan::unit(spec, dataset),
        },
        sweep: spec.sweep.as_ref().map(|sweep| sweep.over.label(spec.time_unit)),
        tests: tests(spec.compare.as_deref(), &series)?,
        series,
        how: How {
            command: options.command.clone(),
            commit: options.commit.clone(),
            figure: options.figure,
            quick: options.quick,
            seeds: spec.seeds.clone(),
            folds: if is_judged { spec.cross_validation.folds } else { 0 },
            inner_folds: if is_judged { spec.cross_validation.inner_folds } else { 0 },
            took: None,
        },
    })
}

/// The learner to compare against every other one at every setting, corrected for their number.
fn tests(compare: Option<&str>, series: &[Series]) -> anyhow::Result<Vec<Test>> {
    let Some(of) = series.iter().find(|one| Some(one.learner.as_str()) == compare) else {
        return Ok(Vec::new());
    };
    let others: Vec<&Series> = series.iter().filter(|one| one.learner != of.learner).collect();
    let comparisons = others.len() * of.points.len();
    let mut tests = Vec::new();
    for other in others {
        for (own, against) in of.points.iter().zip(&other.points) {
            let test = paired_t_test(&own.folds, &against.folds)?;
            tests.push(Test {
                x: own.x,
                learner: of.learner.clone(),
                against: other.learner.clone(),
                difference: test.mean_difference,
                p_value: bonferroni(test.p_value, comparisons)?,
                comparisons,
            });
        }
    }
    Ok(tests)
}
