//! Which data a review is of, in enough detail to say what changed.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use unjitter::evaluation::fingerprint;
use unjitter::io::Dataset;

use crate::words::{counted, few};

/// A dataset, briefly.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Fingerprint {
    /// Changes with any value.
    pub(crate) all: String,
    /// Names of the features.
    pub(crate) features: Vec<String>,
    /// In order.
    pub(crate) sessions: Vec<SessionPrint>,
}

/// A session, briefly.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct SessionPrint {
    pub(crate) name: String,
    pub(crate) instances: usize,
    pub(crate) stamps: usize,
    /// Changes with any value.
    pub(crate) print: String,
}

impl Fingerprint {
    /// That of a dataset.
    pub(crate) fn of(data: &Dataset) -> Self {
        let session = |recording: &unjitter::Recording<'static>| SessionPrint {
            name: recording.session.name().to_owned(),
            instances: recording.session.len(),
            stamps: recording.session.stamps().len(),
            print: fingerprint(std::slice::from_ref(recording)),
        };
        Self {
            all: fingerprint(&data.recordings),
            features: data.features.clone(),
            sessions: data.recordings.iter().map(session).collect(),
        }
    }

    /// What is different now, in words; nothing if the data are the same.
    pub(crate) fn changes(&self, now: &Self) -> Option<String> {
        if self.all == now.all {
            return None;
        }
        if self.features != now.features {
            let (before, now) = (few(&self.features), few(&now.features));
            return Some(format!("the features were {before} and are {now}"));
        }
        let by_name = |print: &Self| -> BTreeMap<String, SessionPrint> {
            let sessions = print.sessions.iter().cloned();
            sessions.map(|session| (session.name.clone(), session)).collect()
        };
        let (before, after) = (by_name(self), by_name(now));
        let names = |names: Vec<&String>| few(&names.into_iter().cloned().collect::<Vec<_>>());
        let gone: Vec<&String> = before.keys().filter(|name| !after.contains_key(*name)).collect();
        let new: Vec<&String> = after.keys().filter(|name| !before.contains_key(*name)).collect();
        let mut words = Vec::new();
        if !gone.is_empty() {
            words.push(format!("{} gone ({})", counted(gone.len(), "session"), names(gone)));
        }
        if !new.is_empty() {
            words.push(format!("{} new ({})", counted(new.len(), "session"), names(new)));
        }
        let both = before.values().filter_map(|old| Some((old, after.get(&old.name)?)));
        let other: Vec<String> = both.filter_map(|(old, now)| difference(old, now)).collect();
        if !other.is_empty() {
            words.push(few(&other));
        }
        if words.is_empty() {
            words.push("the sessions are in another order".to_owned());
        }
        Some(words.join("; "))
    }
}

fn difference(old: &SessionPrint, now: &SessionPrint) -> Option<String> {
    let name = &old.name;
    if old.stamps != now.stamps {
        return Some(format!("{name} had {} and has {}", counted(old.stamps, "stamp"), now.stamps));
    }
    if old.instances != now.instances {
        let before = counted(old.instances, "instance");
        return Some(format!("{name} had {before} and has {}", now.instances));
    }
    (old.print != now.print)
        .then(|| format!("{name} has other times, features, labels or annotators"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(sessions: &[(&str, usize, usize, &str)]) -> Fingerprint {
        let session = |&(name, instances, stamps, print): &(&str, usize, usize, &str)| {
            SessionPrint { name: name.to_owned(), instances, stamps, print: print.to_owned() }
        };
        let all = format!("{sessions:?}");
        Fingerprint {
            all,
            features: vec!["x".to_owned()],
            sessions: sessions.iter().map(session).collect(),
        }
    }

    #[test]
    fn what_changed_is_said() {
        let before = data(&[("a", 10, 2, "1"), ("b", 20, 4, "2")]);
        assert_eq!(before.changes(&before.clone()), None);
        let said =
            |sessions: &[(&str, usize, usize, &str)]| before.changes(&data(sessions)).unwrap();
        let words = said(&[("a", 10, 3, "1"), ("b", 21, 4, "2")]);
        assert!(words.contains("a had 2 stamps and has 3"), "{words}");
        assert!(words.contains("b had 20 instances and has 21"), "{words}");
        let words = said(&[("a", 10, 2, "9"), ("c", 1, 1, "3")]);
        assert!(
            words.contains("1 session gone (b)") && words.contains("1 session new (c)"),
            "{words}"
        );
        assert!(words.contains("a has other times"), "{words}");
        assert!(said(&[("b", 20, 4, "2"), ("a", 10, 2, "1")]).contains("another order"));
        let mut other = before.clone();
        (other.all, other.features) = ("other".to_owned(), vec!["y".to_owned()]);
        assert!(before.changes(&other).unwrap().contains("the features were x and are y"));
    }
}
