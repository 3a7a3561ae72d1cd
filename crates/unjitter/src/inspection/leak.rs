//! Features that copy the label, or the stamps, under another name.
//!
//! For a column with one value nearly everywhere, each run of other values is matched with the stamps,
//! one to one and at the best lag. A detector would copy a column in which nearly every run has its stamp
//! and nearly every stamp its run. Columns of measured values have no such common value and are skipped:
//! among those, a column that predicts nearly everything is what users hope for.

use super::finding::{Finding, Telling};
use super::view::{Stamped, View};
use crate::math::median;
use crate::session::nearest;

/// Rows sampled to find out whether a column has a majority value.
const SAMPLE: usize = 2000;
/// Fewer runs or stamps than this fit by chance.
const LEAST: usize = 20;
/// Share of matched runs and stamps that is too good to be true; and the share if the name is a label's
/// too. By chance it is about a half.
const TOO_GOOD: f64 = 0.8;
const WITH_NAME: f64 = 0.65;
/// Stamps scatter around their runs by no more than so many deviations.
const DEVIATIONS: f64 = 3.0;
/// Standard deviation of a normal variable over its median absolute deviation.
const DEVIATION: f64 = 1.4826;
/// Names of labels, in lower case, letters only.
const NAMES: [&str; 14] = [
    "label",
    "labels",
    "y",
    "target",
    "targets",
    "truth",
    "groundtruth",
    "gt",
    "event",
    "events",
    "isevent",
    "annotation",
    "annotations",
    "class",
];

pub(super) fn check(view: &View<'_>) -> Vec<Finding> {
    // A single feature is meant to be used.
    if view.features.len() < 2 {
        return Vec::new();
    }
    let telling: Vec<Telling> =
        candidates(view).into_iter().filter_map(|(k, common)| tells(view, k, common)).collect();
    let mut findings = Vec::new();
    let told = |name: &String| telling.iter().any(|telling| telling.feature == *name);
    let is_label = |name: &&String| matches!(plain(name).as_str(), "label" | "labels");
    let named: Vec<String> =
        view.features.iter().filter(is_label).filter(|name| !told(name)).cloned().collect();
    if !telling.is_empty() {
        findings.push(Finding::StampsAsFeature { features: telling });
    }
    if !named.is_empty() {
        findings.push(Finding::LabelName { features: named });
    }
    findings
}

/// A name in lower case, letters only.
fn plain(name: &str) -> String {
    name.chars().filter(|c| c.is_alphabetic()).flat_map(char::to_lowercase).collect()
}

/// Columns with a majority value in a sample of rows, and that value.
fn candidates(view: &View<'_>) -> Vec<(usize, f64)> {
    let every = view.instances().div_ceil(SAMPLE).max(1);
    let mut columns: Vec<Vec<f64>> = vec![Vec::new(); view.features.len()];
    for session in &view.sessions {
        for row in (0..session.times.len()).step_by(every) {
            let values = session.features.row(row);
            columns.iter_mut().zip(values).for_each(|(column, value)| column.push(value));
        }
    }
    let common = |(k, mut column): (usize, Vec<f64>)| {
        column.sort_by(f64::total_cmp);
        let middle = *column.get(column.len() / 2)?;
        let same = column.iter().filter(|&&value| value == middle).count();
        // A majority value is the median.
        (2 * same > column.len()).then_some((k, middle))
    };
    columns.into_iter().enumerate().filter_map(common).collect()
}

fn tells(view: &View<'_>, column: usize, common: f64) -> Option<Telling> {
    let runs: Vec<Vec<f64>> = view.sessions.iter().map(|s| runs(s, column, common)).collect();
    let (of_runs, of_stamps) = (runs.iter().map(Vec::len).sum::<usize>(), view.stamps());
    if of_runs.min(of_stamps) < LEAST {
        return None;
    }
    let pairs = || view.sessions.iter().zip(&runs).filter(|(_, runs)| !runs.is_empty());
    let delay = |session: &Stamped<'_>, runs: &[f64]| -> Vec<f64> {
        session.stamps.iter().map(|&z| z - runs[nearest(runs, z)]).collect()
    };
    let delays: Vec<f64> = pairs().flat_map(|(session, runs)| delay(session, runs)).collect();
    let lag = median(delays.clone())?;
    let distance = median(delays.into_iter().map(|delay| (delay - lag).abs()).collect())?;
    let gaps = runs.iter().flat_map(|r| r.windows(2).map(|p| p[1] - p[0]));
    let gap = median(gaps.collect()).unwrap_or(f64::INFINITY);
    let reach = (DEVIATIONS * DEVIATION * distance).max(view.spacing);
    let reach = reach.min(gap / 2.0);
    let matched: usize =
        pairs().map(|(session, runs)| matched(runs, &session.stamps, lag, reach)).sum();
    let feature = view.features[column].clone();
    let named = NAMES.contains(&plain(&feature).as_str());
    let least = if named { WITH_NAME } else { TOO_GOOD };
    let share = matched as f64 / of_runs.max(of_stamps) as f64;
    (share >= least).then_some(Telling {
        feature,
        runs: of_runs,
        stamps: of_stamps,
        matched,
        named,
    })
}

/// The middle of each run of values other than the common one.
fn runs(session: &Stamped<'_>, column: usize, common: f64) -> Vec<f64> {
    let (mut runs, mut begun, mut row) = (Vec::new(), None, 0);
    let mut end = |begun: &mut Option<usize>, row: usize| {
        if let Some(first) = begun.take() {
            runs.push((session.times[first] + session.times[row - 1]) / 2.0);
        }
    };
    session.features.visit_rows(|values| {
        match values[column] == common {
            true => end(&mut begun, row),
            false => _ = begun.get_or_insert(row),
        }
        row += 1;
    });
    end(&mut begun, row);
    runs
}

/// How many runs have a stamp of their own within reach, in order.
fn matched(runs: &[f64], stamps: &[f64], lag: f64, reach: f64) -> usize {
    let (mut i, mut j, mut matched) = (0, 0, 0);
    while i < runs.len() && j < stamps.len() {
        let delay = stamps[j] - lag - runs[i];
        matched += usize::from(delay.abs() <= reach);
        i += usize::from(delay >= -reach);
        j += usize::from(delay <= reach);
    }
    matched
}
