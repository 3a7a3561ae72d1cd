//! Columns of the events table beyond session and time.
//!
//! A fit assumes stamps of one kind, each a moment, and tells annotators apart by the one column that is named
//! for it, and classes by the one that is asked for. It ignores further columns, so the user should know about them.

use std::collections::BTreeMap;

use super::finding::Finding;
use crate::io::EventsTable;

/// Names of columns, in lower case.
const KINDS: [&str; 8] =
    ["class", "type", "trial_type", "event_type", "label", "kind", "category", "code"];
const PEOPLE: [&str; 5] = ["annotator", "rater", "coder", "observer", "annotator_id"];
const ENDS: [&str; 5] = ["end", "stop", "duration", "end_time", "stop_time"];
/// Most values of a column of kinds or people; a column with more holds notes or numbers.
const MOST_VALUES: usize = 30;

pub(super) fn check(events: &EventsTable) -> Vec<Finding> {
    let (session, time, _) = events.layout();
    let mut findings = Vec::new();
    for (k, name) in events.header.iter().enumerate() {
        let lower = name.to_lowercase();
        let is_among = |names: &[&str]| names.contains(&lower.as_str());
        let names = [events.annotator_column(), events.class_column()];
        let is_read = events.tells_moments(k) || names.contains(&Some(k));
        if name == session || is_read {
            continue;
        }
        let column = name.clone();
        if is_among(&ENDS) {
            findings.push(Finding::EndsUnused { column, time: time.to_owned() });
        } else if is_among(&KINDS) {
            findings.extend(values(events, k).map(|kinds| Finding::SeveralKinds { column, kinds }));
        } else if is_among(&PEOPLE) {
            let people = values(events, k);
            findings.extend(people.map(|people| Finding::SeveralAnnotators { column, people }));
        }
    }
    findings
}

/// The values of a column in the chosen events, the commonest first, if there are several and not many.
fn values(events: &EventsTable, column: usize) -> Option<Vec<String>> {
    let mut numbers = BTreeMap::<&str, usize>::new();
    for row in events.meant() {
        let value = events.rows[row].cell(column);
        if !value.is_empty() {
            *numbers.entry(value).or_default() += 1;
            if numbers.len() > MOST_VALUES {
                return None;
            }
        }
    }
    let mut values: Vec<(&str, usize)> = numbers.into_iter().collect();
    values.sort_by_key(|value| std::cmp::Reverse(value.1));
    (values.len() > 1).then(|| values.iter().map(|(value, _)| (*value).to_owned()).collect())
}
