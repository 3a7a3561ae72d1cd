//! Counts of everything in a dataset.

use std::collections::HashSet;

use serde::Serialize;

use super::view::{Stamped, View};
use crate::math::quantile;

/// Instances are irregular if the widest twentieth of their spacings is at least this many times the
/// narrowest: beats and breaths are, sliding windows are not.
const IRREGULAR: f64 = 1.2;

/// Contents of a dataset.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// Sessions.
    pub sessions: usize,
    /// Subjects, if any session names one.
    pub subjects: Option<usize>,
    /// Annotators, if any are known.
    pub annotators: Option<usize>,
    /// Devices, if any session names one.
    pub devices: Option<usize>,
    /// Clocks that sessions name, if any does.
    pub clocks: Option<usize>,
    /// Instances.
    pub instances: usize,
    /// Features.
    pub features: usize,
    /// Stamps that belong to a session.
    pub stamps: usize,
    /// Hours from first to last instance, over all sessions.
    pub hours: f64,
    /// Spacings of neighbouring instances.
    pub spacing: Option<Spacing>,
    /// Instances per session.
    pub instances_per_session: PerSession,
    /// Stamps per session.
    pub stamps_per_session: PerSession,
    /// Stamps per hour recorded.
    pub stamps_per_hour: Option<f64>,
    /// Median gap of neighbouring stamps, in seconds.
    pub stamp_gap: Option<f64>,
    /// Labels, if there are any.
    pub balance: Option<Balance>,
}

/// Counts per session.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PerSession {
    /// The lowest.
    pub lowest: f64,
    /// The middle one.
    pub median: f64,
    /// The highest.
    pub highest: f64,
}

/// Spacings of neighbouring instances, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Spacing {
    /// The middle one.
    pub median: f64,
    /// One in twenty is shorter.
    pub low: f64,
    /// One in twenty is longer.
    pub high: f64,
    /// The longest.
    pub longest: f64,
    /// Whether they differ much.
    pub irregular: bool,
}

/// Balance of the labels.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Balance {
    /// Instances with a label.
    pub labelled: usize,
    /// Instances labelled positive.
    pub positives: usize,
    /// Share of positives among labelled instances.
    pub share: f64,
    /// The same in the session where it is lowest.
    pub lowest_share: f64,
    /// The same in the session where it is highest.
    pub highest_share: f64,
    /// Share of instances without a label.
    pub unlabelled: f64,
}

impl Summary {
    pub(super) fn of(view: &View<'_>) -> Self {
        let streams = view.sessions.iter().flat_map(|session| session.streams.keys());
        let annotators: HashSet<&String> = streams.flatten().collect();
        let length = |session: &Stamped<'_>| session.span().1 - session.span().0;
        let hours = view.sessions.iter().map(length).sum::<f64>() / 3600.0;
        let stamps = view.stamps();
        let gaps = view.stamp_gaps();
        Self {
            sessions: view.sessions.len(),
            subjects: distinct(view, |session| session.subject),
            annotators: Some(annotators.len()).filter(|&annotators| annotators > 0),
            devices: distinct(view, |session| session.device),
            clocks: distinct(view, |session| session.shared_clock),
            instances: view.instances(),
            features: view.features.len(),
            stamps,
            hours,
            spacing: spacing(&view.gaps),
            instances_per_session: PerSession::of(view, |session| session.times.len()),
            stamps_per_session: PerSession::of(view, |session| session.stamps.len()),
            stamps_per_hour: (hours > 0.0).then(|| stamps as f64 / hours),
            stamp_gap: (!gaps.is_empty()).then(|| quantile(&gaps, 0.5)),
            balance: Balance::of(view),
        }
    }
}

/// How many different names sessions have for something, if any has one.
fn distinct<'a>(view: &View<'a>, name: impl Fn(&Stamped<'a>) -> Option<&'a str>) -> Option<usize> {
    let names: HashSet<&str> = view.sessions.iter().filter_map(name).collect();
    Some(names.len()).filter(|&names| names > 0)
}

impl PerSession {
    fn of(view: &View<'_>, number: impl Fn(&Stamped<'_>) -> usize) -> Self {
        let mut numbers: Vec<f64> = view.sessions.iter().map(|s| number(s) as f64).collect();
        numbers.sort_by(f64::total_cmp);
        Self {
            lowest: numbers[0],
            median: quantile(&numbers, 0.5),
            highest: numbers[numbers.len() - 1],
        }
    }
}

fn spacing(gaps: &[f64]) -> Option<Spacing> {
    let longest = *gaps.last()?;
    let (low, high) = (quantile(gaps, 0.05), quantile(gaps, 0.95));
    let irregular = high > IRREGULAR * low;
    Some(Spacing { median: quantile(gaps, 0.5), low, high, longest, irregular })
}

impl Balance {
    fn of(view: &View<'_>) -> Option<Self> {
        let (mut labelled, mut positives) = (0, 0);
        let (mut lowest_share, mut highest_share) = (f64::INFINITY, f64::NEG_INFINITY);
        for session in &view.sessions {
            let known = session.labels.iter().flatten().count();
            let positive = session.labels.iter().flatten().filter(|label| **label).count();
            if known > 0 {
                let share = positive as f64 / known as f64;
                (lowest_share, highest_share) = (share.min(lowest_share), share.max(highest_share));
            }
            labelled += known;
            positives += positive;
        }
        (labelled > 0).then(|| Self {
            labelled,
            positives,
            share: positives as f64 / labelled as f64,
            lowest_share,
            highest_share,
            unlabelled: 1.0 - labelled as f64 / view.instances() as f64,
        })
    }
}
