//! What is asked about: a stamp, or an instance at which an event was probably missed.
//!
//! An item is named by where it is in the data, `s0-12` for the stamp 12 of the first session and `m0-340` for
//! its instance 340. The log keeps these names; a fingerprint sees to it that the data are the same.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Something to decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub(crate) enum Item {
    /// A stamp of a session: where does it belong?
    Stamp(usize, usize),
    /// An instance of a session: was there an event that nobody stamped?
    Missed(usize, usize),
}

impl Item {
    /// The session.
    pub(crate) fn session(self) -> usize {
        match self {
            Self::Stamp(session, _) | Self::Missed(session, _) => session,
        }
    }

    /// What it is called for the page.
    pub(crate) fn kind(self) -> &'static str {
        match self {
            Self::Stamp(..) => "stamp",
            Self::Missed(..) => "missed",
        }
    }
}

impl fmt::Display for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stamp(session, stamp) => write!(f, "s{session}-{stamp}"),
            Self::Missed(session, instance) => write!(f, "m{session}-{instance}"),
        }
    }
}

impl From<Item> for String {
    fn from(item: Item) -> Self {
        item.to_string()
    }
}

impl FromStr for Item {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("expected an item such as s0-12, found {text:?}");
        let numbers = text.get(1..).and_then(|rest| rest.split_once('-')).ok_or_else(wrong)?;
        let number = |text: &str| text.parse::<usize>().map_err(|_| wrong());
        let (session, place) = (number(numbers.0)?, number(numbers.1)?);
        match text.as_bytes()[0] {
            b's' => Ok(Self::Stamp(session, place)),
            b'm' => Ok(Self::Missed(session, place)),
            _ => Err(wrong()),
        }
    }
}

impl TryFrom<String> for Item {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

/// What somebody said of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Decision {
    /// What was done.
    pub(crate) action: Action,
    /// The instance that the stamp or the event belongs to, if to any.
    pub(crate) instance: Option<usize>,
}

/// Ways to decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Action {
    /// It belongs where it was proposed.
    Accept,
    /// It belongs to another instance.
    Move,
    /// There was no event: a stamp for nothing, or nothing missed.
    Reject,
    /// There was an event that nobody stamped, as proposed.
    Missed,
    /// There was an event that nobody proposed.
    Add,
    /// Not now.
    Skip,
}

impl Decision {
    /// Whether anything is known now that was not before.
    pub(crate) fn settles(self) -> bool {
        self.action != Action::Skip
    }

    /// Whether two people say the same of an item, in whatever way they came to it.
    pub(crate) fn agrees(self, other: Self) -> bool {
        !self.settles()
            || !other.settles()
            || (self.action == Action::Reject) == (other.action == Action::Reject)
                && self.instance == other.instance
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back_or_refused() {
        for item in [Item::Stamp(0, 12), Item::Missed(7, 0)] {
            assert_eq!(item.to_string().parse(), Ok(item));
        }
        for text in
            ["", "s", "s1", "s1-", "x1-2", "s-1-2", "s1-2-3", "é1-2", "s1-99999999999999999999"]
        {
            assert!(text.parse::<Item>().is_err(), "{text}");
        }
    }

    #[test]
    fn people_agree_if_they_mean_the_same() {
        let said = |action, instance| Decision { action, instance };
        let accept = said(Action::Accept, Some(3));
        assert!(
            accept.agrees(said(Action::Move, Some(3))) && accept.agrees(said(Action::Skip, None))
        );
        assert!(
            !accept.agrees(said(Action::Move, Some(4)))
                && !accept.agrees(said(Action::Reject, None))
        );
    }
}
