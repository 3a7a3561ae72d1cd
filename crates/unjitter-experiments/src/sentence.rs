//! The results of an outcome, in plain sentences made from its numbers.

use crate::outcome::{Outcome, Point, Role, Series, Test};
use crate::spec::Measure;

/// The level below which a difference is called significant.
const SIGNIFICANT: f64 = 0.05;

/// One or a few sentences.
pub(crate) fn sentence(outcome: &Outcome) -> String {
    let parts = match (outcome.measure, outcome.sweep.is_some()) {
        (Measure::Kept, _) => kept(outcome),
        (_, true) => swept(outcome),
        (_, false) => ranked(outcome),
    };
    let parts: Vec<String> = parts.into_iter().chain(tested(&outcome.tests)).collect();
    parts.join(" ")
}

fn ends(series: &Series) -> Option<(&Point, &Point)> {
    Some((series.points.first()?, series.points.last()?))
}

fn at(point: &Point) -> String {
    point.x.map_or(String::new(), |x| x.to_string())
}

/// "As the spread of delays goes from 0.25 to 5": the swept setting without its unit.
fn course(outcome: &Outcome, first: &Point, last: &Point) -> String {
    let setting = outcome.sweep.as_deref().unwrap_or("setting");
    let setting = setting.split(" (").next().unwrap_or_default();
    format!("As the {setting} goes from {} to {},", at(first), at(last))
}

fn kept(outcome: &Outcome) -> Option<String> {
    let (first, last) = ends(outcome.series.first()?)?;
    let percent = |point: &Point| format!("{:.0} %", 100.0 * point.pooled);
    Some(format!(
        "{} the share of true positives that naive alignment keeps goes from {} to {}.",
        course(outcome, first, last),
        percent(first),
        percent(last),
    ))
}

/// How our learners change over the sweep, all learners at the end that is harder for the first of ours,
/// and how often ours are the best.
fn swept(outcome: &Outcome) -> Option<String> {
    let ours: Vec<&Series> = with(outcome, Role::Ours);
    let (first, last) = ends(ours.first()?)?;
    let place = if last.mean.mean <= first.mean.mean { ours[0].points.len() - 1 } else { 0 };
    let moves = ours.iter().filter_map(|series| Some((&series.learner, ends(series)?)));
    let moves: Vec<String> = moves
        .map(|(name, (a, b))| format!("from {:.2} to {:.2} for {name}", a.mean.mean, b.mean.mean))
        .collect();
    let score =
        |series: &Series| format!("{} {:.2}", series.learner, series.points[place].mean.mean);
    let scores: Vec<String> = outcome.series.iter().map(score).collect();
    let moved = format!(
        "{} F1 goes {}; at {} the scores are {}.",
        course(outcome, first, last),
        moves.join(" and "),
        at(&ours[0].points[place]),
        scores.join(", "),
    );
    Some(match leads(&ours, &with(outcome, Role::Baseline)) {
        Some(leads) => format!("{moved} {leads}"),
        None => moved,
    })
}

fn with(outcome: &Outcome, role: Role) -> Vec<&Series> {
    outcome.series.iter().filter(|series| series.role == role).collect()
}

/// At how many settings each of our learners is above all rivals; `None` without rivals.
fn leads(ours: &[&Series], rivals: &[&Series]) -> Option<String> {
    let lead = |own: &&Series| {
        let mean = |series: &Series, k: usize| series.points[k].mean.mean;
        let is_ahead = |&k: &usize| rivals.iter().all(|rival| mean(rival, k) < mean(own, k));
        let of = own.points.len();
        format!("{} at {} of {of} settings", own.learner, (0..of).filter(is_ahead).count())
    };
    let names: Vec<&str> = rivals.iter().map(|rival| rival.learner.as_str()).collect();
    let leads: Vec<String> = ours.iter().map(lead).collect();
    (!rivals.is_empty()).then(|| format!("Ahead of {}: {}.", names.join(" and "), leads.join(", ")))
}

fn ranked(outcome: &Outcome) -> Option<String> {
    let mut scored: Vec<(&str, f64)> = outcome
        .series
        .iter()
        .filter_map(|series| Some((series.learner.as_str(), series.points.first()?.mean.mean)))
        .collect();
    scored.sort_by(|a, b| b.1.total_cmp(&a.1));
    let listed: Vec<String> =
        scored.iter().map(|(name, score)| format!("{name} {score:.2}")).collect();
    (!listed.is_empty()).then(|| format!("From best to worst by mean F1: {}.", listed.join(", ")))
}

/// The results of the tests, one by one; `None` if there are none.
fn tested(tests: &[Test]) -> Option<String> {
    let tell = |test: &Test| {
        let way = if test.difference < 0.0 { "below" } else { "above" };
        let verdict = if test.p_value < SIGNIFICANT { "significant" } else { "not significant" };
        let setting = test.x.map_or(String::new(), |x| format!(" at {x}"));
        format!(
            "{}{setting} is {:.3} {way} {} ({}, {verdict})",
            test.learner,
            test.difference.abs(),
            test.against,
            p_value(test.p_value),
        )
    };
    let first = tests.first()?;
    let told: Vec<String> = tests.iter().map(tell).collect();
    let correction = format!("paired t-tests over folds, Bonferroni over {}", first.comparisons);
    Some(format!("{} ({correction}).", told.join("; ")))
}

/// A p-value in significant digits, and a small one as a bound.
pub(crate) fn p_value(p: f64) -> String {
    match p {
        _ if p < 1e-4 => "p below 0.0001".to_owned(),
        _ if p < 0.01 => format!("p = {p:.4}"),
        _ => format!("p = {p:.2}"),
    }
}
