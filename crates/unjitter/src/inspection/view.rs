//! Every session with its stamps, from unchanged tables or from sessions in memory.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::delays_after;
use super::finding::{Finding, Stranger};
use crate::Session;
use crate::features::FeatureView;
use crate::io::{Clock, EventsTable, InstancesTable, ReadSession, ReadStamp, suggest};
use crate::math::quantile;

/// Most unknown names that are looked up.
const STRANGERS: usize = 20;

/// A dataset, prepared for the checks.
pub(super) struct View<'a> {
    pub(super) features: &'a [String],
    pub(super) sessions: Vec<Stamped<'a>>,
    /// Spacings of neighbouring instances, sorted.
    pub(super) gaps: Vec<f64>,
    /// The usual spacing of neighbouring instances; zero if there is none.
    pub(super) spacing: f64,
}

/// A session and its stamps.
pub(super) struct Stamped<'a> {
    pub(super) name: &'a str,
    pub(super) subject: Option<&'a str>,
    /// The clock of the times; none if they are numbers in an unknown unit.
    pub(super) clock: Option<Clock>,
    pub(super) times: &'a [f64],
    pub(super) features: FeatureView<'a>,
    /// One per instance.
    pub(super) labels: Cow<'a, [Option<bool>]>,
    /// On the clock of the times, sorted.
    pub(super) stamps: Vec<f64>,
    /// Whether stamps are said to lie in intervals, as rounded ones do.
    pub(super) are_between: bool,
    /// The same by annotator; those of unknown ones together.
    pub(super) streams: BTreeMap<Option<String>, Vec<f64>>,
    pub(super) device: Option<&'a str>,
    /// The clock of the stamps, if sessions share it.
    pub(super) shared_clock: Option<&'a str>,
}

impl<'a> Stamped<'a> {
    fn of_table(read: &'a ReadSession, columns: usize) -> Self {
        Self {
            name: &read.name,
            subject: read.subject.as_deref(),
            clock: Some(read.clock),
            times: &read.times,
            features: FeatureView::of_rows(&read.values, columns),
            labels: Cow::Borrowed(&read.labels),
            stamps: Vec::new(),
            are_between: false,
            streams: read.annotators.iter().map(|name| (Some(name.clone()), vec![])).collect(),
            device: read.device.as_deref(),
            shared_clock: read.shared_clock.as_deref(),
        }
    }

    fn of_session(session: &'a Session<'_>, clock: Option<Clock>) -> Self {
        Self {
            name: session.name(),
            subject: session.subject(),
            clock,
            times: session.times(),
            features: session.features(),
            labels: vec![None; session.len()].into(),
            stamps: session.stamps().to_vec(),
            are_between: (0..session.stamps().len()).any(|l| session.width_of(l) > 0.0),
            streams: session
                .streams()
                .into_iter()
                .map(|(name, stamps)| (name.map(str::to_owned), stamps))
                .collect(),
            device: session.device(),
            shared_clock: session.clock(),
        }
    }

    /// Beginning and end of the session.
    pub(super) fn span(&self) -> (f64, f64) {
        (self.times[0], self.times[self.times.len() - 1])
    }

    /// The number written for a moment; none if times are dates.
    pub(super) fn written(&self, time: f64) -> Option<f64> {
        self.clock.map_or(Some(time), |clock| clock.number(time))
    }

    /// Times of the instances labelled positive.
    pub(super) fn positives(&self) -> Vec<f64> {
        let labelled = self.times.iter().zip(self.labels.iter());
        labelled.filter(|(_, label)| **label == Some(true)).map(|(time, _)| *time).collect()
    }
}

impl<'a> View<'a> {
    /// Combines the tables, and finds events without a session.
    pub(super) fn new(
        instances: &'a InstancesTable,
        events: Option<&EventsTable>,
    ) -> (Self, Vec<Finding>) {
        let stamped = |read| Stamped::of_table(read, instances.features.len());
        let mut sessions: Vec<Stamped<'a>> = instances.sessions.iter().map(stamped).collect();
        let findings = match events {
            Some(events) => place(events, instances, &mut sessions),
            None => Vec::new(),
        };
        for session in &mut sessions {
            session.stamps.sort_by(f64::total_cmp);
            session.streams.values_mut().for_each(|stamps| stamps.sort_by(f64::total_cmp));
        }
        (Self::together(&instances.features, sessions), findings)
    }

    /// Sessions without their labels. Clocks give the meaning of times; there are none if times are
    /// numbers in an unknown unit.
    pub(super) fn of_sessions(
        sessions: impl IntoIterator<Item = &'a Session<'a>>,
        clocks: &[Clock],
        features: &'a [String],
    ) -> Self {
        let stamped = |(k, session)| Stamped::of_session(session, clocks.get(k).copied());
        Self::together(features, sessions.into_iter().enumerate().map(stamped).collect())
    }

    fn together(features: &'a [String], sessions: Vec<Stamped<'a>>) -> Self {
        let mut gaps: Vec<f64> =
            sessions.iter().flat_map(|s| s.times.windows(2).map(|t| t[1] - t[0])).collect();
        gaps.sort_by(f64::total_cmp);
        let apart = &gaps[gaps.partition_point(|&gap| gap <= 0.0)..];
        let spacing = if apart.is_empty() { 0.0 } else { quantile(apart, 0.5) };
        Self { features, sessions, gaps, spacing }
    }

    /// Whether times are known to be in seconds.
    pub(super) fn in_seconds(&self) -> bool {
        self.sessions.iter().all(|session| session.clock.is_some())
    }

    /// Number of instances.
    pub(super) fn instances(&self) -> usize {
        self.sessions.iter().map(|session| session.times.len()).sum()
    }

    /// Number of stamps with a place.
    pub(super) fn stamps(&self) -> usize {
        self.sessions.iter().map(|session| session.stamps.len()).sum()
    }

    /// Whether stamps are said to lie in intervals, as rounded ones do.
    pub(super) fn are_between(&self) -> bool {
        self.sessions.iter().any(|session| session.are_between)
    }

    /// The stamps of every annotator in every session.
    pub(super) fn streams(&self) -> impl Iterator<Item = &Vec<f64>> {
        self.sessions.iter().flat_map(|session| session.streams.values())
    }

    /// Gaps of neighbouring stamps of one annotator, sorted.
    pub(super) fn stamp_gaps(&self) -> Vec<f64> {
        let gaps = |stamps: &Vec<f64>| -> Vec<f64> {
            stamps.windows(2).map(|pair| pair[1] - pair[0]).collect()
        };
        let mut gaps: Vec<f64> = self.streams().flat_map(gaps).collect();
        gaps.sort_by(f64::total_cmp);
        gaps
    }

    /// Delays of all stamps after the nearest of the session's `places`, sorted.
    pub(super) fn delays(&self, places: impl Fn(&Stamped<'a>) -> Vec<f64>) -> Vec<f64> {
        let of = |session| delays_after(&places(session), &session.stamps);
        let mut delays: Vec<f64> = self.sessions.iter().flat_map(of).collect();
        delays.sort_by(f64::total_cmp);
        delays
    }

    /// Names of the sessions for which `holds`.
    pub(super) fn names(&self, holds: impl Fn(&Stamped<'a>) -> bool) -> Vec<String> {
        let chosen = self.sessions.iter().filter(|session| holds(session));
        chosen.map(|session| session.name.to_owned()).collect()
    }
}

/// Assigns stamps to their sessions and reports those without a session or a time.
fn place(
    events: &EventsTable,
    instances: &InstancesTable,
    sessions: &mut [Stamped<'_>],
) -> Vec<Finding> {
    let (mut strangers, mut unreadable) = (BTreeMap::<&str, usize>::new(), Vec::new());
    for row in events.meant() {
        let at = match events.session_of(row) {
            Some(name) => match instances.position(name) {
                Some(at) => at,
                None => {
                    *strangers.entry(name).or_default() += 1;
                    continue;
                }
            },
            None if sessions.len() == 1 => 0,
            None => return vec![Finding::NoSessionColumn { sessions: sessions.len() }],
        };
        match events.stamp(row, &instances.sessions[at]) {
            Ok(ReadStamp { time, width, .. }) => {
                sessions[at].are_between |= width > 0.0;
                let annotator = events.annotator_of(row).map(str::to_owned);
                sessions[at].stamps.push(time);
                sessions[at].streams.entry(annotator).or_default().push(time);
            }
            Err((column, expected)) => unreadable.push((row, column, expected)),
        }
    }
    let mut findings = Vec::new();
    if !strangers.is_empty() {
        findings.push(unknown_sessions(&strangers, instances));
    }
    if let Some((row, column, expected)) = unreadable.first() {
        findings.push(Finding::UnreadableTimes {
            stamps: unreadable.len(),
            line: events.rows[*row].line(),
            value: crate::io::shown(events.rows[*row].cell(*column)),
            expected: expected.clone(),
        });
    }
    findings
}

fn unknown_sessions(strangers: &BTreeMap<&str, usize>, instances: &InstancesTable) -> Finding {
    let known = || instances.sessions.iter().map(|session| session.name.as_str());
    let stranger = |(name, stamps): (&&str, &usize)| Stranger {
        session: (*name).to_owned(),
        stamps: *stamps,
        likely: suggest(name, known()).map(str::to_owned),
    };
    Finding::UnknownSessions {
        stamps: strangers.values().sum(),
        names: strangers.len(),
        examples: strangers.iter().take(STRANGERS).map(stranger).collect(),
    }
}
