//! The results of an outcome, in plain sentences made from its numbers.

use crate::outcome::{Outcome, Point, Role, Series, Test};
use crate::spec::Measure;

/// The level below which a difference is called significant.
const SIGNIFICANT: f64 = 0.05;

/// One or a few sentences.
pub(crate) fn sentence(outcome: &Outcome) -> String {
    let parts = match (outcome.measure, outcome.sweep.is_some()) {
        (Measure::Kept, _) => kept(outcome),
        (Measure::F1, true) => swept(outcome),
        (Measure::F1, false) => ranked(outcome),
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

/// How our learner changes over the sweep, all learners at the end that is harder for it, and how often
/// it is the best.
fn swept(outcome: &Outcome) -> Option<String> {
    let ours = outcome.series.iter().find(|series| series.role == Role::Ours)?;
    let (first, last) = ends(ours)?;
    let is_last = last.mean.mean <= first.mean.mean;
    let (hard, place) = if is_last { (last, ours.points.len() - 1) } else { (first, 0) };
    let scores: Vec<String> = outcome
        .series
        .iter()
        .map(|series| format!("{} {:.2}", series.learner, series.points[place].mean.mean))
        .collect();
    let moved = format!(
        "{} F1 of {} goes from {:.2} to {:.2}; at {} the scores are {}.",
        course(outcome, first, last),
        ours.learner,
        first.mean.mean,
        last.mean.mean,
        at(hard),
        scores.join(", "),
    );
    Some(match leads(outcome, ours) {
        Some(leads) => format!("{moved} {leads}"),
        None => moved,
    })
}

/// At how many settings our learner is above all others that use stamps; `None` without others.
fn leads(outcome: &Outcome, ours: &Series) -> Option<String> {
    let rivals: Vec<&Series> =
        outcome.series.iter().filter(|series| series.role == Role::Baseline).collect();
    let is_ahead = |k: &usize| {
        rivals.iter().all(|rival| rival.points[*k].mean.mean < ours.points[*k].mean.mean)
    };
    let of = ours.points.len();
    let wins = (0..of).filter(is_ahead).count();
    (!rivals.is_empty()).then(|| {
        let name = &ours.learner;
        format!("{name} is ahead of all others that learn from stamps at {wins} of {of} settings.")
    })
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
