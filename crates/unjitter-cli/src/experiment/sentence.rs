//! What an outcome shows, in plain sentences made from its numbers.

use super::outcome::{Outcome, Point, Role, Series, Test};
use super::spec::Measure;

/// The level below which a difference is called significant.
const SIGNIFICANT: f64 = 0.05;

/// One or a few sentences.
pub(super) fn sentence(outcome: &Outcome) -> String {
    let parts = match (outcome.measure, outcome.sweep.is_some()) {
        (Measure::Kept, _) => kept(outcome),
        (Measure::F1, true) => swept(outcome),
        (Measure::F1, false) => ranked(outcome),
    };
    let mut parts: Vec<String> = parts.into_iter().collect();
    parts.extend(tested(&outcome.tests));
    parts.join(" ")
}

fn ends(series: &Series) -> Option<(&Point, &Point)> {
    Some((series.points.first()?, series.points.last()?))
}

fn at(point: &Point) -> String {
    point.x.map_or(String::new(), |x| x.to_string())
}

fn kept(outcome: &Outcome) -> Option<String> {
    let (first, last) = ends(outcome.series.first()?)?;
    let percent = |point: &Point| format!("{:.0} %", 100.0 * point.pooled);
    Some(format!(
        "Naive alignment keeps {} of the true positives at {} and {} at {}.",
        percent(first),
        at(first),
        percent(last),
        at(last),
    ))
}

/// The far end of the sweep, and who is best there; for one learner from where to where it goes.
fn swept(outcome: &Outcome) -> Option<String> {
    let score = |series: &Series| series.points.last().map(|last| last.mean.mean);
    let at_end: Vec<String> = outcome
        .series
        .iter()
        .filter_map(|series| Some(format!("{} {:.2}", series.learner, score(series)?)))
        .collect();
    let ours = outcome.series.iter().find(|series| series.role == Role::Ours)?;
    let (first, last) = ends(ours)?;
    let moved = format!(
        "From {} to {}, F1 of {} goes from {:.2} to {:.2}; at {} it is {}.",
        at(first),
        at(last),
        ours.learner,
        first.mean.mean,
        last.mean.mean,
        at(last),
        at_end.join(", "),
    );
    let rivals = |series: &&Series| series.role == Role::Baseline;
    if !outcome.series.iter().any(|series| rivals(&series)) {
        return Some(moved);
    }
    let wins = (0..ours.points.len())
        .filter(|&k| {
            let beaten = |rival: &Series| rival.points[k].mean.mean < ours.points[k].mean.mean;
            outcome.series.iter().filter(rivals).all(beaten)
        })
        .count();
    let of = ours.points.len();
    Some(format!(
        "{moved} {} is the best of those that learn from stamps at {wins} of {of} settings.",
        ours.learner
    ))
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

/// How the tests came out, where they are few enough to be told one by one.
fn tested(tests: &[Test]) -> Vec<String> {
    let tell = |test: &Test| {
        let way = if test.difference < 0.0 { "below" } else { "above" };
        let verdict = if test.p_value < SIGNIFICANT { "significant" } else { "not significant" };
        let setting = test.x.map_or(String::new(), |x| format!("at {x} "));
        format!(
            "{setting}{} is {:.3} {way} {} ({}, {verdict})",
            test.learner,
            test.difference.abs(),
            test.against,
            p_value(test.p_value),
        )
    };
    let Some(first) = tests.first() else { return Vec::new() };
    let told: Vec<String> = tests.iter().map(tell).collect();
    let correction = format!("paired t-tests, Bonferroni over {}", first.comparisons);
    let joined = told.join("; ");
    vec![format!("{joined} ({correction}).")]
}

/// A p-value in as many digits as matter, and a small one as a bound.
pub(super) fn p_value(p: f64) -> String {
    match p {
        _ if p < 1e-4 => "p < 0.0001".to_owned(),
        _ if p < 0.01 => format!("p = {p:.4}"),
        _ => format!("p = {p:.2}"),
    }
}
