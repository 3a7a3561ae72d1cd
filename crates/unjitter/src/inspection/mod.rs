//! Contents of a dataset, and what looks wrong with it.
//!
//! Stamps and recordings come from different clocks, people and programs, so the first fit often fails for a
//! reason that is visible in the data: a unit, a time zone, a name. Inspection takes the tables unchanged,
//! even if they could not be learned from. It counts in one pass or after one sort; pairs of stamps and
//! positive instances are sampled beyond a limit. It prints nothing: findings are data, with a message each.

mod delay;
mod duplicates;
mod event_columns;
mod features;
mod finding;
mod histogram;
mod labels;
mod lag_profile;
mod leak;
mod message;
mod outside;
mod pairs;
mod phrases;
mod rounding;
mod runs;
mod shift;
mod stamps;
mod summary;
mod times;
mod units;
mod view;
mod words;

pub use finding::{Finding, SessionShift, SessionStamps, Severity, Shift, Stranger, Telling};
pub use histogram::Histogram;
pub use summary::{Balance, PerSession, Spacing, Summary};
pub use words::duration;
pub(crate) use words::{count, names, three_digits};

use serde::Serialize;

use crate::io::{Clock, Columns, Dataset, DatasetFiles, EventsTable, InstancesTable};
use crate::scan::{Scan, Stretch, scan_stretches};
use crate::session::nearest;
use crate::{Control, Result, Session};
use view::View;

/// Contents of a dataset, and what looks wrong.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Inspection {
    /// Numbers of everything.
    pub summary: Summary,
    /// Delays from the nearest instance to each stamp, in seconds.
    pub from_nearest_instance: Option<Histogram>,
    /// Delays from the nearest positive instance to each stamp, in seconds; with labels, this shows the
    /// annotator.
    pub from_nearest_positive: Option<Histogram>,
    /// Where around the stamps features change, if there is anything to scan.
    pub changes: Option<Scan>,
    /// The findings, the worst first.
    pub findings: Vec<Finding>,
}

/// Inspects tables that have been read.
pub fn inspect(instances: &InstancesTable, events: Option<&EventsTable>) -> Inspection {
    let (view, mut findings) = View::new(instances, events);
    // If there are no stamps because none has a place, that was reported already.
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
    findings.extend(events.map(event_columns::check).unwrap_or_default());
    findings.extend(labels::check(&view));
    findings.extend(runs::check(&view).or_else(|| runs::overlap(&view)));
    findings.extend(duplicates::check(&view));
    findings.extend(times::check(&view));
    let of_features = features::check(&view);
    if !of_features.iter().any(|finding| matches!(finding, Finding::LabelAsFeature { .. })) {
        findings.extend(leak::check(&view));
    }
    findings.extend(of_features);
    worst_first(&mut findings);
    Inspection {
        summary: Summary::of(&view),
        from_nearest_instance: Histogram::of(view.delays(|session| session.times.to_vec())),
        from_nearest_positive: Histogram::of(view.delays(view::Stamped::positives)),
        changes: changes(&view),
        findings,
    }
}

/// The scan of all sessions.
fn changes(view: &View<'_>) -> Option<Scan> {
    let stretches = view.sessions.iter().map(|session| Stretch {
        times: session.times,
        features: session.features,
        stamps: &session.stamps,
    });
    let recordings: Vec<Stretch<'_>> = stretches.collect();
    // It fails only if it is stopped, and nothing stops it.
    scan_stretches(&recordings, Control::default()).ok().flatten()
}

/// Findings that make sessions unfit for learning or alignment, and suspicious ones: the part of
/// [`inspect`] that is cheap compared with a fit. Labels are not used. Clocks give the meaning of times;
/// there are none if times are numbers in an unknown unit.
pub fn check<'a>(
    sessions: impl IntoIterator<Item = &'a Session<'a>>,
    clocks: &[Clock],
    features: &'a [String],
) -> Vec<Finding> {
    let view = View::of_sessions(sessions, clocks, features);
    if view.sessions.is_empty() {
        return Vec::new();
    }
    let mut findings = misplaced(&view);
    // Learning itself warns of these.
    let is_slip = |finding: &Finding| matches!(finding, Finding::OutsideSession { .. });
    findings.retain(|finding| !is_slip(finding) || finding.severity() == Severity::Problem);
    // Closeness depends on the right clock.
    if findings.is_empty() {
        findings.extend(stamps::too_close(&view));
    }
    findings.extend(units::of_instances(&view));
    findings.extend(leak::check(&view));
    findings.retain(|finding| finding.severity() >= Severity::Suspicious);
    worst_first(&mut findings);
    findings
}

/// The same for a dataset that has been read, including the columns of its events.
pub fn check_dataset(dataset: &Dataset) -> Vec<Finding> {
    let sessions = dataset.recordings.iter().map(|recording| &recording.session);
    let mut findings = check(sessions, &dataset.clocks, &dataset.features);
    let columns = dataset.events.as_ref().map(event_columns::check).unwrap_or_default();
    findings.extend(columns.into_iter().filter(|one| one.severity() >= Severity::Suspicious));
    findings
}

fn worst_first(findings: &mut [Finding]) {
    // Stable: within a severity, the order of the checks.
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity()));
}

/// Misplaced stamps. Consequences of a wrong unit or clock are not reported beside it.
fn misplaced(view: &View<'_>) -> Vec<Finding> {
    let mut findings = units::between_tables(view);
    if findings.is_empty() {
        findings = outside::check(view);
    }
    if !matches!(
        findings.first(),
        Some(Finding::UnitMismatch { .. } | Finding::ShiftedClock { .. })
    ) {
        match shift::check(view) {
            Some(inside) => findings.push(inside),
            None => findings.extend(delay::check(view)),
        }
    }
    findings
}

/// Reads the tables of a dataset and inspects them.
pub fn inspect_files(files: &DatasetFiles, columns: &Columns) -> Result<Inspection> {
    let mut instances = InstancesTable::read(&files.instances, columns)?;
    if let Some(path) = &files.sessions {
        instances = instances.with_sessions(path, columns)?;
    }
    let events = EventsTable::read_files(&files.events, columns, &instances)?;
    Ok(inspect(&instances, events.as_ref()))
}

/// Delay of each time after the nearest of `places`, which are sorted.
fn delays_after(places: &[f64], times: &[f64]) -> Vec<f64> {
    match places.is_empty() {
        true => Vec::new(),
        false => times.iter().map(|&time| time - places[nearest(places, time)]).collect(),
    }
}
