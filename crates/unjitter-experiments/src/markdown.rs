//! Outcomes as one Markdown page, a section each.

use std::fmt::Write;
use unjitter_cli::words::counted;

use crate::outcome::{How, Outcome, Point, Series};
use crate::sentence::{p_value, sentence};
use crate::spec::Measure;
use crate::stopwatch::{Took, in_words};

/// The page of all outcomes; `figures` is the folder of their figures, relative to the page.
pub(crate) fn page(outcomes: &[Outcome], figures: &str) -> String {
    let mut page = String::from(
        "# Results\n\n\
         Written by `make experiments`; every section names its version, and the command and seeds \
         that gave it. Scores are means over folds with a 95 % t-interval, cut at 0 and 1; the score \
         of a fold is its mean over the seeds, which draw stamps. Folds share training sessions, so \
         the intervals are somewhat narrow. Folds without a positive label are left out. *Pooled* \
         scores count hits and errors of all folds and seeds together. LR-M, KLR-M and NN-M are the \
         library's default model, in which stamps come in any order or from nowhere; *(paper)* is the \
         paper's model, in which they keep the order of their instances. Both have three starts, \
         networks two; the library's default is up to seven.\n",
    );
    page.push_str(&times(outcomes));
    let mut experiment = "";
    for outcome in outcomes {
        if outcome.name != experiment {
            experiment = &outcome.name;
            let panel = if outcome.panel.is_empty() {
                String::new()
            } else {
                format!("({}) ", outcome.panel)
            };
            let _ = write!(page, "\n## {panel}{}\n", text(&outcome.title));
            if !outcome.about.is_empty() {
                let _ = write!(page, "\n{}\n", outcome.about);
            }
        }
        page.push_str(&section(outcome, figures));
    }
    page
}

/// Time of all experiments together; empty if no time is known.
fn times(outcomes: &[Outcome]) -> String {
    // One command ran its datasets together: each has the time of all.
    let mut commands: Vec<&How> = Vec::new();
    for how in outcomes.iter().map(|outcome| &outcome.how).filter(|how| how.took.is_some()) {
        if commands.iter().all(|other| other.command != how.command) {
            commands.push(how);
        }
    }
    let took: Vec<Took> = commands.iter().filter_map(|how| how.took).collect();
    let Some(threads) = took.iter().map(|took| took.threads).max() else { return String::new() };
    let total = in_words(took.iter().map(|took| took.seconds).sum());
    let experiments = counted(took.len(), "experiment");
    let threads = counted(threads, "thread");
    format!("\n{experiments}: {total} on {threads}, interrupted runs included.\n")
}

fn section(outcome: &Outcome, figures: &str) -> String {
    let data = &outcome.dataset;
    let name = text(&data.name);
    let mut section = format!("\n### {}: {name}\n\n{}\n\n", outcome.name, text(&sentence(outcome)));
    if outcome.how.figure {
        let (title, stem) = (text(&outcome.title), outcome.stem());
        let _ = writeln!(section, "![{name}: {title}]({figures}/{stem}.svg)\n");
    }
    let table = if outcome.sweep.is_some() { sweep_table(outcome) } else { learner_table(outcome) };
    let _ = writeln!(section, "{table}");
    let _ = writeln!(section, "{}", how(outcome));
    section
}

/// Data and settings of the run, for reproduction.
fn how(outcome: &Outcome) -> String {
    let (data, how) = (&outcome.dataset, &outcome.how);
    let seeds: Vec<String> = how.seeds.iter().map(u64::to_string).collect();
    let folds = match outcome.measure {
        Measure::Kept => String::new(),
        _ => format!(", {} outer and {} inner folds", how.folds, how.inner_folds),
    };
    let quick = if how.quick { "Quick version. " } else { "" };
    let took = how.took.map_or(String::new(), |took| format!(" in {}", in_words(took.seconds)));
    format!(
        "{quick}{} sessions, {} instances, {} positive; one unit of the annotator's time is {:.3} \
         of the data's; seeds {}{folds}; version {}: `{}`",
        data.sessions,
        data.instances,
        data.positives,
        data.unit,
        seeds.join(" and "),
        how.commit,
        how.command.replace('`', "'"),
    ) + &took
}

fn interval(point: &Point) -> String {
    let mean = point.mean;
    format!("{:.3} [{:.3}, {:.3}]", mean.mean, mean.low, mean.high)
}

/// Settings down, learners across.
fn sweep_table(outcome: &Outcome) -> String {
    let names: Vec<String> = outcome.series.iter().map(|s| text(&s.learner)).collect();
    let setting = outcome.sweep.as_deref().unwrap_or_default();
    let mut table = format!("| {setting} | {} |\n|---|", names.join(" | "));
    table.push_str(&"---|".repeat(names.len()));
    table.push('\n');
    let rows = outcome.series.iter().map(|series| series.points.len()).max().unwrap_or(0);
    for row in 0..rows {
        let cell = |series: &Series| {
            let point = &series.points[row];
            format!("{}; pooled {:.3}", interval(point), point.pooled)
        };
        let x = outcome.series[0].points[row].x.map_or(String::new(), |x| x.to_string());
        let cells: Vec<String> = outcome.series.iter().map(cell).collect();
        let _ = writeln!(table, "| {x} | {} |", cells.join(" | "));
    }
    table
}

/// Learners down, scores across; the last column only if there are tests.
fn learner_table(outcome: &Outcome) -> String {
    let mut table = String::from("| learner | mean F1 | pooled F1 | precision | recall |");
    let mut rule = String::from("|---|---|---|---|---|");
    if let Some(test) = outcome.tests.first() {
        let _ = write!(table, " {} less this one |", text(&test.learner));
        rule.push_str("---|");
    }
    let _ = write!(table, "\n{rule}\n");
    for series in &outcome.series {
        if let Some(point) = series.points.first() {
            table.push_str(&learner_row(outcome, series, point));
        }
    }
    table
}

fn learner_row(outcome: &Outcome, series: &Series, point: &Point) -> String {
    let share = |value: Option<f64>| value.map_or("–".to_owned(), |value| format!("{value:.3}"));
    let mut row = format!(
        "| {} | {} | {:.3} | {} | {} |",
        text(&series.learner),
        interval(point),
        point.pooled,
        share(point.precision),
        share(point.recall),
    );
    if !outcome.tests.is_empty() {
        let test = outcome.tests.iter().find(|test| test.against == series.learner);
        let told = test.map_or("–".to_owned(), |test| {
            format!("{:+.3}, {}", test.difference, p_value(test.p_value))
        });
        let _ = write!(row, " {told} |");
    }
    row.push('\n');
    row
}

/// Names are data: they must not end a table cell or begin a tag.
fn text(name: &str) -> String {
    name.replace('\n', " ").replace('|', "\\|").replace('&', "&amp;").replace('<', "&lt;")
}
