//! What is in a dataset, and what looks wrong with it.
//!
//! Stamps and recordings come from different clocks, people and programs, so the first fit often
//! fails for a reason that a look at the data shows: a unit, a time zone, a name. The tables are
//! looked at as they stand, even where they could not be learned from. Everything is counted in
//! one pass or after one sort; pairs of stamps and positive instances are sampled beyond a limit.
//! Nothing is printed: findings are data, with a message each.

mod delay;
mod duplicates;
mod features;
mod finding;
mod histogram;
mod labels;
mod message;
mod outside;
mod stamps;
mod summary;
mod times;
mod units;
mod view;
mod words;

pub use finding::{Finding, SessionShift, SessionStamps, Severity, Shift, Stranger};
pub use histogram::Histogram;
pub use summary::{Balance, PerSession, Spacing, Summary};
pub use words::duration;

use serde::Serialize;

use crate::Result;
use crate::io::{Columns, DatasetFiles, EventsTable, InstancesTable};
use crate::session::nearest;
use view::View;

/// What is in a dataset, and what looks wrong.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Inspection {
    /// Numbers of everything.
    pub summary: Summary,
    /// Delays from the nearest instance to each stamp, in seconds.
    pub from_nearest_instance: Option<Histogram>,
    /// Delays from the nearest positive instance to each stamp, in seconds; where there are labels,
    /// this shows the annotator.
    pub from_nearest_positive: Option<Histogram>,
    /// What looks wrong, the worst first.
    pub findings: Vec<Finding>,
}

/// Looks at tables that have been read.
pub fn inspect(instances: &InstancesTable, events: Option<&EventsTable>) -> Inspection {
    let (view, mut findings) = View::new(instances, events);
    // Without stamps because none has a place: that has been said.
    if view.stamps() > 0 || findings.is_empty() {
        findings.extend(stamps::check(&view, events.is_some()));
    }
    let misplaced = misplaced(&view);
    let is_slip = |finding: &Finding| {
        matches!(finding, Finding::OutsideSession { .. }) && finding.severity() < Severity::Problem
    };
    if misplaced.iter().all(is_slip) {
        findings.extend(stamps::beside_instances(&view));
    }
    findings.extend(misplaced);
    findings.extend(units::of_instances(&view));
    findings.extend(labels::check(&view));
    findings.extend(duplicates::check(&view));
    findings.extend(times::check(&view));
    findings.extend(features::check(&view));
    // Stable: within a severity, the order of the checks.
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity()));
    Inspection {
        summary: Summary::of(&view),
        from_nearest_instance: Histogram::of(view.delays(|session| session.times.to_vec())),
        from_nearest_positive: Histogram::of(view.delays(view::Stamped::positives)),
        findings,
    }
}

/// Stamps that are not where they belong. What follows from a wrong unit or clock is not reported
/// beside it.
fn misplaced(view: &View<'_>) -> Vec<Finding> {
    let mut findings = units::between_tables(view);
    if findings.is_empty() {
        findings = outside::check(view);
    }
    match findings.first() {
        Some(Finding::UnitMismatch { .. } | Finding::ShiftedClock { .. }) => {}
        _ => findings.extend(delay::check(view)),
    }
    findings
}

/// Reads the tables of a dataset and looks at them.
pub fn inspect_files(files: &DatasetFiles, columns: &Columns) -> Result<Inspection> {
    let mut instances = InstancesTable::read(&files.instances, columns)?;
    if let Some(path) = &files.sessions {
        instances = instances.with_subjects(path, columns)?;
    }
    let events = files.events.as_ref().map(|path| EventsTable::read(path, columns)).transpose()?;
    Ok(inspect(&instances, events.as_ref()))
}

/// Delay of each time after the nearest of `places`, which are in order.
fn delays_after(places: &[f64], times: &[f64]) -> Vec<f64> {
    match places.is_empty() {
        true => Vec::new(),
        false => times.iter().map(|&time| time - places[nearest(places, time)]).collect(),
    }
}
