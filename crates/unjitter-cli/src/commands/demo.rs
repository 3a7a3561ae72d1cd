//! `unjitter demo`: all verbs once, on data with a known truth.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use unjitter::diagnosis::agreement;
use unjitter::evaluation::{CrossValidation, EventScoring, Summary};
use unjitter::io::{Channels, Columns, Dataset, DatasetFiles, RawSignal, read_signals};
use unjitter::learning::median_spacing;
use unjitter::simulation::{Respiration, Sloppiness, Tails};
use unjitter::{AlignOptions, ClassifierSpec, FitOptions, Fitted, Model};

use super::align::{align, events_table};
use super::diagnose::diagnosed;
use super::evaluate::{How, compare, table};
use super::event_tables::missed_table;
use super::fit::{fit, notes, with_notes};
use super::report::{Content, questions};
use super::review::Review;
use super::simulate::Made;
use crate::annotator_text::annotator;
use crate::console::Console;
use crate::demo_clocks::{self, ClockDemo, clock_demo};
use crate::diagnosis_gallery::diagnosis_drawings;
use crate::evaluation_file::EvaluationFile;
use crate::gallery::{Drawing, drawings};
use crate::learners::{Grid, Kind, named};
use crate::output::Output;
use crate::report::page;
use crate::words::{count, lateness, number, percent};

/// The annotator of the demo, in median spacings: late, scattered, forgetful, sometimes wrong.
const DELAY: f64 = 0.5;
const SPREAD: f64 = 1.0;
const PRESSED: f64 = 0.9;
const EXTRA: f64 = 0.1;
/// Learners of the demo, ours first.
const LEARNERS: [&str; 6] = ["LR-M", "LR-H", "MI", "LR-D", "LR-S", "LR-N"];
/// Where it writes by default.
const FOLDER: &str = "unjitter-demo";
/// The time column of its tables.
const TIME: &str = "time";
/// Every file that it writes.
const FILES: [&str; 19] = [
    "report.html",
    "model.json",
    "evaluation.json",
    "aligned.csv",
    "missed.csv",
    "data/instances.csv",
    "data/events.csv",
    "data/true_events.csv",
    "data/signal.csv.gz",
    "figures/comparison.svg",
    "figures/delays.svg",
    "figures/precision-recall.svg",
    "figures/calibration.svg",
    "figures/alignment.svg",
    "figures/residuals.svg",
    "figures/quantiles.svg",
    "figures/drift.svg",
    "figures/changes.svg",
    "figures/profiles.svg",
];

/// See what it does, on simulated data
///
/// Simulates people smoking with a chest band on, and somebody who presses a button at each puff:
/// late, scattered, forgetful and sometimes wrong. Learns from the presses, compares learners,
/// aligns, learns again as if every telephone had a clock of its own, and writes a report to look at, with the data and figures beside it.
#[derive(Debug, Clone, Args)]
pub(crate) struct Demo {
    /// Folder for the report, the figures, the model and the data
    #[arg(short, long, value_name = "FOLDER", default_value = FOLDER)]
    output: PathBuf,
    /// Replace files that are there
    #[arg(long)]
    force: bool,
    /// Seed of everything random
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Open the page on which to put the presses right by hand, as `unjitter review` does; if the folder has a demo
    /// already, at once
    #[arg(long)]
    review: bool,
    /// With --review, do not open a browser
    #[arg(long, requires = "review")]
    no_open: bool,
}

impl Demo {
    pub(crate) fn run(self, console: &Console) -> anyhow::Result<()> {
        let is_there = || FILES.iter().all(|name| self.output.join(name).is_file());
        if !(self.review && !self.force && is_there()) {
            self.shown(console)?;
        }
        if self.review { self.reviewed(console) } else { Ok(()) }
    }

    /// The review of its data, with its model.
    fn reviewed(&self, console: &Console) -> anyhow::Result<()> {
        let mut review = Review::of(
            &self.output.join("data"),
            &self.output.join("model.json"),
            &self.output.join("review.jsonl"),
        );
        review.no_open = self.no_open;
        review.run(console)
    }

    /// Everything but the review.
    fn shown(&self, console: &Console) -> anyhow::Result<()> {
        let paths = FILES.map(|name| self.output.join(name));
        let mut output = Output::promise(paths.iter().map(PathBuf::as_path), self.force)?;
        console.note("simulating chest-band recordings and somebody who presses a button …");
        let (data, signals) = self.simulate(&mut output)?;
        let grid = grid(&data, self.seed);
        let file = self.compare(&data, &grid, console)?;
        let fitted = fit(&data, &grid.model, &grid.fit, console)?;
        let fitted = with_notes(fitted, notes(&data, self.note())?)?;
        let aligned = align(&fitted, &data, &AlignOptions::default())?;
        let found = diagnosed(&fitted, &data, &questions(&data), console)?;
        let content = Content {
            fitted: &fitted,
            data: &data,
            aligned: &aligned,
            signals: &signals,
            found: Some(&found),
            agreement: &agreement(&fitted, &data.sessions())?,
            unknown: None,
        };
        self.draw(&content, &file, &mut output)?;
        output.add(self.output.join("model.json"), fitted.to_json());
        output.add(self.output.join("evaluation.json"), serde_json::to_vec(&file)?);
        output.add(self.output.join("aligned.csv"), events_table(&data, &aligned, TIME));
        output.add(self.output.join("missed.csv"), missed_table(&data, &aligned, TIME, 0.5).0);
        output.write()?;
        let clocks = self.clocks(&fitted, &data, console)?;
        let summaries: Vec<&Summary> = file.learners.iter().map(|one| &one.summary).collect();
        let result = serde_json::json!({
            "learned": fitted.learned(),
            "learners": summaries,
            "clocks": clocks,
            "report": self.output.join("report.html"),
        });
        console.result(&result, || text(&data, &summaries, &fitted, &clocks, &self.output))
    }

    /// The data, as a user would read them from the files.
    fn simulate(&self, output: &mut Output) -> anyhow::Result<(Dataset, Vec<RawSignal>)> {
        let sloppiness = Sloppiness {
            tails: Tails::Gaussian,
            delay: DELAY,
            spread: SPREAD,
            pressed: PRESSED,
            extra: EXTRA,
            ..Sloppiness::default()
        };
        let made = Made::respiration(&Respiration::mpuff(), self.seed)?;
        let made = made.annotated(&sloppiness, self.seed)?;
        let folder = tempfile::tempdir()?;
        for (name, bytes) in made.files() {
            std::fs::write(folder.path().join(name), &bytes)?;
            output.add(self.output.join("data").join(name), bytes);
        }
        let files = DatasetFiles::in_folder(folder.path())?;
        let data = Dataset::read(&files, &Columns::default(), false)?;
        let signal = files.signal.as_deref().expect("the signal was written");
        let known = data.known_clocks();
        let signals = read_signals(signal, &Columns::default(), Channels::All, &known)?.1;
        Ok((data, signals))
    }

    fn compare(
        &self,
        data: &Dataset,
        grid: &Grid,
        console: &Console,
    ) -> anyhow::Result<EvaluationFile> {
        let learners = LEARNERS.iter().map(|name| named(name, grid, |_| ClassifierSpec::Logistic));
        let learners = learners.collect::<anyhow::Result<Vec<_>>>()?;
        let how = How {
            folds: CrossValidation { seed: self.seed, ..CrossValidation::default() },
            events: EventScoring::default(),
            journal: None,
            note: self.note(),
        };
        compare(&data.recordings, &learners, how, console)
    }

    fn draw(
        &self,
        content: &Content<'_>,
        file: &EvaluationFile,
        output: &mut Output,
    ) -> anyhow::Result<()> {
        let mut figures = drawings(content.fitted, content.data, content.aligned, Some(file))?;
        figures.extend(content.found.into_iter().flat_map(diagnosis_drawings));
        for (name, svg) in figures.iter().map(Drawing::file) {
            output.add(self.output.join("figures").join(name), svg);
        }
        let title = "Smoking puffs from sloppy button presses (simulated)".to_owned();
        let command = format!("unjitter demo --seed {}", self.seed);
        let html = page(&content.page(title, command, figures, Some(file)));
        output.add(self.output.join("report.html"), html);
        Ok(())
    }

    /// The same presses by clocks that are off.
    fn clocks(
        &self,
        fitted: &Fitted,
        data: &Dataset,
        console: &Console,
    ) -> anyhow::Result<ClockDemo> {
        let delay = DELAY * median_spacing(&data.sessions());
        clock_demo(fitted, &data.recordings, delay, self.seed, console)
    }

    /// The origin that files record.
    fn note(&self) -> serde_json::Value {
        serde_json::json!({ "demo": { "seed": self.seed } })
    }
}

/// Settings common to all learners of the demo: without choices, so that it takes seconds.
fn grid(data: &Dataset, seed: u64) -> Grid {
    let spacing = median_spacing(&data.sessions());
    Grid {
        kind: Kind::Imprecise,
        model: Model::default(),
        fit: FitOptions { seed, ..FitOptions::default() },
        precisions: vec![1.0],
        bag_sizes: vec![4],
        radii: vec![2.0 * spacing],
        widths: vec![spacing],
    }
}

fn text(
    data: &Dataset,
    summaries: &[&Summary],
    fitted: &Fitted,
    clocks: &ClockDemo,
    folder: &Path,
) -> String {
    let truth = data.recordings.iter().flat_map(|one| one.truth.iter().flatten());
    let spacing = median_spacing(&data.sessions());
    let mut text = format!(
        "{} recordings of {} breaths, {} of them smoking puffs. Somebody pressed a button {} times:\n\
         {},\nmissing {} of the puffs, with {} presses for nothing per puff.\n\n\
         How well detectors find puffs in recordings they have not seen (F1, 1 is perfect):\n\n",
        data.recordings.len(),
        count(data.instances()),
        truth.filter(|label| **label).count(),
        count(data.stamps()),
        lateness(DELAY * spacing, SPREAD * spacing),
        percent(1.0 - PRESSED),
        number(EXTRA),
    );
    let _ = writeln!(text, "{}\n", table(summaries));
    text.push_str("What was learned, from the presses alone, about who pressed them:\n\n");
    text.push_str(&annotator(fitted));
    let _ = write!(text, "\n{}", demo_clocks::text(clocks));
    let report = folder.join("report.html");
    let other = match folder == Path::new(FOLDER) {
        true => String::new(),
        false => format!(" -o {}", folder.display()),
    };
    let _ = write!(
        text,
        "\nLook at {}\nPut presses right by hand: unjitter demo --review{other}",
        report.display()
    );
    text
}
