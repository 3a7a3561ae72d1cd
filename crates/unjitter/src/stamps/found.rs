//! What a file holds: its stamps, and how to write it again with some of them elsewhere.
//!
//! A format reads a file into stamps and a [`Source`], which keeps whatever else the file has. So moved
//! stamps go back among everything else as it was.

use super::dates::Origin;
use super::problem::wrong;
use crate::Result;

/// Most stamps of a file: nobody presses a button that often, and each takes memory.
pub(super) const MOST: usize = 10_000_000;
/// Most facts of all stamps of a file: a short row of a wide table has all its columns, too.
const MOST_FACTS: usize = 20_000_000;

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
    /// Whether second 0 is that of the first stamp only because nothing tells when the recording began.
    pub origin_is_guess: bool,
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
        check_room(file, self.len(), MOST)?;
        check_facts(file, self.len() + 1, self.facts.len())?;
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

/// Refuses one more stamp beside so many. Formats that read all stamps before they know their times ask before
/// each, so that none takes memory in vain.
pub(super) fn check_room(file: &str, stamps: usize, most: usize) -> Result<()> {
    match stamps < most {
        true => Ok(()),
        false => Err(wrong(file, format!("expected at most {most} stamps"))),
    }
}

fn check_facts(file: &str, stamps: usize, facts: usize) -> Result<()> {
    match stamps.saturating_mul(facts) <= MOST_FACTS {
        true => Ok(()),
        false => {
            let problem = format!(
                "found {stamps} stamps and more with {facts} columns, expected at most {MOST_FACTS} values"
            );
            Err(wrong(file, problem))
        }
    }
}

/// Where the stamps of a file are now, in the order of the file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moved<'a> {
    before: &'a [f64],
    durations: &'a [f64],
    now: &'a [f64],
    ends: &'a [Option<f64>],
    kept: &'a [bool],
}

impl<'a> Moved<'a> {
    /// Stamps as they were found, now elsewhere, without those that are not kept. Those of which `ends` tells an
    /// end have it there; all others last as long as before. No ends at all are none.
    pub(super) fn new(
        found: &'a Found,
        now: &'a [f64],
        ends: &'a [Option<f64>],
        kept: &'a [bool],
    ) -> Self {
        let Found { times: before, durations, .. } = found;
        let is_each = |count: usize| count == before.len();
        assert!(is_each(now.len()) && is_each(kept.len()), "one of each per stamp");
        assert!(ends.is_empty() || is_each(ends.len()), "one end per stamp, or none");
        Self { before, durations, now, ends, kept }
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

    /// Where a stamp moves to; none if it stays, and its end does too.
    pub(super) fn to(&self, stamp: usize) -> Option<f64> {
        let is_elsewhere = self.now[stamp] != self.before[stamp] || self.end(stamp).is_some();
        is_elsewhere.then_some(self.now[stamp])
    }

    /// Where a stamp ends, if it does not last as long as before.
    pub(super) fn end(&self, stamp: usize) -> Option<f64> {
        let end = self.ends.get(stamp).copied().flatten()?;
        let lasted = self.durations[stamp];
        let is_same = end == self.now[stamp] + lasted || end - self.now[stamp] == lasted;
        (!is_same).then_some(end)
    }

    /// By how much longer a stamp lasts than before.
    pub(super) fn lengthened(&self, stamp: usize) -> f64 {
        self.lasts(stamp) - self.durations[stamp]
    }

    /// How long a stamp lasts now; if its end moved, a difference without the noise of rounding.
    pub(super) fn lasts(&self, stamp: usize) -> f64 {
        match self.end(stamp) {
            Some(end) => rounded(end - self.now[stamp]),
            None => self.durations[stamp],
        }
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

/// Decimals of sums and differences: far finer than any clock, far coarser than rounding.
const DECIMALS: f64 = 1e9;

/// A sum or a difference of times as it is written.
pub(super) fn rounded(time: f64) -> f64 {
    (time * DECIMALS).round_ties_even() / DECIMALS
}

/// Takes the bytes of a file, piece by piece.
pub(crate) type Sink<'a> = &'a mut dyn FnMut(&[u8]) -> Result<()>;

/// A file as it was read.
pub(super) trait Source: std::fmt::Debug + Send + Sync {
    /// Whether stamps can be given another end.
    fn holds_ends(&self) -> bool {
        false
    }

    /// The file with its stamps moved. What did not move is written as it was, byte for byte.
    fn render(&self, moved: Moved<'_>, sink: Sink<'_>) -> Result<()>;
}

/// The stamps of a file, and the file.
pub(super) type Read = (Found, Box<dyn Source>);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_and_what_is_told_of_them_are_bounded() {
        assert!(check_room("f", 4, 5).is_ok());
        let error = check_room("f", 5, 5).unwrap_err().to_string();
        assert_eq!(error, "f: expected at most 5 stamps");
        assert!(check_facts("f", MOST, 2).is_ok());
        assert!(check_facts("f", 2000, 10_000).is_ok());
        let error = check_facts("f", 2001, 10_000).unwrap_err().to_string();
        assert!(error.contains("found 2001 stamps and more with 10000 columns"), "{error}");
    }
}
