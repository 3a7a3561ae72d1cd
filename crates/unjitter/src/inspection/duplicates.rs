//! Identical data under two names.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hasher};

use ndarray::{Array2, CowArray, Ix2};

use super::finding::Finding;
use super::view::{Stamped, View};

/// Shorter sessions, and fewer stamps, may be equal by chance if values are rounded.
const LEAST_INSTANCES: usize = 5;
const LEAST_STAMPS: usize = 3;

pub(super) fn check(view: &View<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let long = |session: &&Stamped<'_>| session.times.len() >= LEAST_INSTANCES;
    let groups = groups(view.sessions.iter().filter(long), |session| {
        (session.times, session.features.to_f64())
    });
    let repeated: HashSet<&str> = groups.iter().flatten().map(String::as_str).collect();
    let others = |session: &&Stamped<'_>| {
        session.stamps.len() >= LEAST_STAMPS && !repeated.contains(session.name)
    };
    let stamps = self::groups(view.sessions.iter().filter(others), |session| {
        (session.stamps.as_slice(), Array2::zeros((0, 0)).into())
    });
    if !groups.is_empty() {
        findings.push(Finding::RepeatedSessions { groups });
    }
    if !stamps.is_empty() {
        findings.push(Finding::RepeatedStamps { groups: stamps });
    }
    findings
}

/// Names of sessions with `content` equal to the bit, in groups of two or more.
fn groups<'v, 'a: 'v>(
    sessions: impl Iterator<Item = &'v Stamped<'a>>,
    content: impl Fn(&'v Stamped<'a>) -> (&'v [f64], CowArray<'v, f64, Ix2>),
) -> Vec<Vec<String>> {
    let mut seen: HashMap<u64, Vec<Vec<&'v Stamped<'a>>>> = HashMap::new();
    let mut order = Vec::new();
    for session in sessions {
        let own = content(session);
        let hash = hash(own.0.iter().chain(&own.1));
        let alike = seen.entry(hash).or_default();
        if alike.is_empty() {
            order.push(hash);
        }
        match alike.iter_mut().find(|group| content(group[0]) == own) {
            Some(group) => group.push(session),
            None => alike.push(vec![session]),
        }
    }
    let names =
        |group: &Vec<&Stamped<'_>>| group.iter().map(|session| session.name.to_owned()).collect();
    let several = order.iter().flat_map(|hash| &seen[hash]).filter(|group| group.len() > 1);
    several.map(names).collect()
}

/// A hash of the bits of numbers.
fn hash<'n>(numbers: impl Iterator<Item = &'n f64>) -> u64 {
    let mut hasher = DefaultHasher::new();
    numbers.for_each(|number| hasher.write_u64(number.to_bits()));
    hasher.finish()
}
