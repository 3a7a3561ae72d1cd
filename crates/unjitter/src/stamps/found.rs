//! What a file holds: its stamps, and how to write it again with some of them elsewhere.
//!
//! A format reads a file into stamps and a [`Source`], which keeps whatever else the file has. So moved
//! stamps go back among everything else as it was.

use super::dates::Origin;
use super::problem::wrong;
use crate::Result;

/// Most stamps of a file: nobody presses a button that often, and each takes memory.
const MOST: usize = 10_000_000;

/// Stamps in the order of their file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Found {
    /// When each is, in seconds from the origin.
    pub times: Vec<f64>,
    /// How long each lasts, in seconds; 0 for an instant.
    pub durations: Vec<f64>,
    /// What each says; may be empty.
    pub labels: Vec<String>,
    /// What else the file tells of each.
    pub facts: Vec<Fact>,
    /// When second 0 was.
    pub origin: Option<Origin>,
    /// The fact that names the recording of each stamp, in a format that holds several.
    pub recording: Option<usize>,
}

/// Something told of every stamp, such as who gave it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// Its name, as the format has it.
    pub name: String,
    /// As text, one for each stamp.
    pub values: Vec<String>,
}

impl Found {
    /// Stamps of which these facts are told.
    pub(super) fn with_facts<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let fact = |name: &str| Fact { name: name.to_owned(), values: Vec::new() };
        Self { facts: names.into_iter().map(fact).collect(), ..Self::default() }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.times.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    /// Adds a stamp of `file`; with no more facts than there are names.
    pub(super) fn push<'a>(
        &mut self,
        file: &str,
        time: f64,
        duration: f64,
        label: impl Into<String>,
        facts: impl IntoIterator<Item = &'a str>,
    ) -> Result<()> {
        if self.len() == MOST {
            return Err(wrong(file, format!("expected at most {MOST} stamps")));
        }
        self.times.push(time);
        self.durations.push(duration);
        self.labels.push(label.into());
        let mut facts = facts.into_iter();
        for fact in &mut self.facts {
            fact.values.push(facts.next().unwrap_or_default().to_owned());
        }
        Ok(())
    }
}

/// Where the stamps of a file are now, in the order of the file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moved<'a> {
    before: &'a [f64],
    now: &'a [f64],
    kept: &'a [bool],
}

impl<'a> Moved<'a> {
    /// Stamps from `before` to `now`, without those that are not kept.
    pub(super) fn new(before: &'a [f64], now: &'a [f64], kept: &'a [bool]) -> Self {
        assert!(before.len() == now.len() && now.len() == kept.len(), "one of each per stamp");
        Self { before, now, kept }
    }

    /// Whether the file stays as it is.
    pub(super) fn is_nothing(&self) -> bool {
        (0..self.now.len()).all(|stamp| !self.changes(stamp))
    }

    /// Whether a stamp moves or goes.
    pub(super) fn changes(&self, stamp: usize) -> bool {
        !self.kept[stamp] || self.to(stamp).is_some()
    }

    /// Whether a stamp stays in the file.
    pub(super) fn keeps(&self, stamp: usize) -> bool {
        self.kept[stamp]
    }

    /// Where a stamp moves to; none if it stays.
    pub(super) fn to(&self, stamp: usize) -> Option<f64> {
        (self.now[stamp] != self.before[stamp]).then_some(self.now[stamp])
    }

    /// When a stamp was.
    pub(super) fn before(&self, stamp: usize) -> f64 {
        self.before[stamp]
    }

    /// When a stamp is now.
    pub(super) fn now(&self, stamp: usize) -> f64 {
        self.now[stamp]
    }

    /// The entries of a file that are kept, in the order to write them, each as its index and its stamp. A
    /// file that was in order of time stays so; one that was not keeps its own order.
    pub(super) fn order(&self, stamps: impl Iterator<Item = usize> + Clone) -> Vec<(usize, usize)> {
        let kept = |entry: &(usize, usize)| self.kept[entry.1];
        let mut entries: Vec<_> = stamps.clone().enumerate().filter(kept).collect();
        if stamps.map(|stamp| self.before[stamp]).is_sorted() {
            entries.sort_by(|a, b| self.now[a.1].total_cmp(&self.now[b.1]));
        }
        entries
    }

    /// The stamps that are kept, in the order to write them.
    pub(super) fn stamps(&self) -> Vec<usize> {
        self.order(0..self.now.len()).into_iter().map(|(_, stamp)| stamp).collect()
    }
}

/// Takes the bytes of a file, piece by piece.
pub(crate) type Sink<'a> = &'a mut dyn FnMut(&[u8]) -> Result<()>;

/// A file as it was read.
pub(super) trait Source: std::fmt::Debug + Send + Sync {
    /// The file with its stamps moved. What did not move is written as it was, byte for byte.
    fn render(&self, moved: Moved<'_>, sink: Sink<'_>) -> Result<()>;
}

/// The stamps of a file, and the file.
pub(super) type Read = (Found, Box<dyn Source>);
