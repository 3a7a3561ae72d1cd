//! Folds that never split a session, or a subject.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::math::Random;
use crate::{Error, Recording, Result};

/// The unit that must stay on one side of a split.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GroupBy {
    /// A session.
    #[default]
    Session,
    /// All sessions of a subject; one without a subject is its own.
    Subject,
}

/// Positions of the recordings that stay together, in the order of first appearance: names do not decide
/// which recordings share a fold.
pub(super) fn groups(recordings: &[&Recording], group_by: GroupBy) -> Vec<Vec<usize>> {
    let mut groups: BTreeMap<(bool, &str), Vec<usize>> = BTreeMap::new();
    for (k, recording) in recordings.iter().enumerate() {
        let session = &recording.session;
        let group = match (group_by, session.subject()) {
            (GroupBy::Subject, Some(subject)) => (true, subject),
            _ => (false, session.name()),
        };
        groups.entry(group).or_default().push(k);
    }
    let mut groups: Vec<Vec<usize>> = groups.into_values().collect();
    groups.sort();
    groups
}

/// Splits recordings into `count` folds (or one per group, if there are fewer groups): for each fold the
/// positions of its recordings, in order. Groups are shuffled by `seed` and assigned in turn, so folds
/// differ by at most one group.
pub fn folds(
    recordings: &[&Recording],
    count: usize,
    group_by: GroupBy,
    seed: u64,
) -> Result<Vec<Vec<usize>>> {
    let mut groups = groups(recordings, group_by);
    let found = groups.len().min(count);
    if found < 2 {
        return Err(Error::TooFewGroups { groups: groups.len(), folds: count });
    }
    let mut random = Random::new(seed);
    for k in (1..groups.len()).rev() {
        groups.swap(k, random.below(k + 1));
    }
    let mut folds = vec![Vec::new(); found];
    for (k, group) in groups.into_iter().enumerate() {
        folds[k % found].extend(group);
    }
    folds.iter_mut().for_each(|fold| fold.sort_unstable());
    Ok(folds)
}
