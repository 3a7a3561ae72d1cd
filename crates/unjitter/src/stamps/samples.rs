//! Numbers of samples beside times in a table, such as `Beg File Samp (samples)` of Raven.
//!
//! Scripts cut sound by them, so they must not stay behind when a selection moves. The table does not say how many
//! samples a second has, but its rows do: a sample at a time, and samples that last a time, each to the digits that
//! were written. All rows are of one sound, so what all of them allow is known well. Where it is not, a move is
//! refused: a number that is wrong by a little would mislead more than none.

use super::delimited::Row;
use super::numerals::{decimals_of, number_text, parse_number};
use super::problem::{quoted, wrong};
use crate::Result;

/// Sampling rates that recorders have; there is no other near them.
const USUAL: [f64; 21] = [
    8e3, 11_025.0, 12e3, 16e3, 22_050.0, 24e3, 32e3, 44_100.0, 48e3, 64e3, 88_200.0, 96e3, 128e3,
    176_400.0, 192e3, 200e3, 250e3, 256e3, 300e3, 384e3, 500e3,
];
/// How far rates may spread, as a share of a usual one, to be that one.
const NEAR: f64 = 0.02;
/// Samples by which a number may be off: programs cut or round, and count from 0 or 1.
const OFF: f64 = 1.0;

/// Columns of the first and last sample, by name.
#[derive(Debug, Clone, Copy)]
pub(super) struct SampleColumns<'a> {
    pub(super) first: &'a str,
    pub(super) last: &'a str,
    /// The time that the first is at.
    pub(super) at: &'a str,
    /// When a stamp begins and ends.
    pub(super) times: [&'a str; 2],
    /// The files that it begins and ends in, if the samples count within each.
    pub(super) files: Option<[&'a str; 2]>,
}

/// The places of these columns in a table, with one of samples at least.
#[derive(Debug)]
pub(super) struct Samples {
    names: [String; 2],
    numbers: [Option<usize>; 2],
    at: Option<usize>,
    times: Option<[usize; 2]>,
    files: Option<[usize; 2]>,
}

impl SampleColumns<'_> {
    /// Where they are among the columns of these names.
    pub(super) fn find(&self, names: &[String]) -> Option<Samples> {
        let place = |name: &str| names.iter().position(|known| known == name);
        let both = |[first, last]: [&str; 2]| Some([place(first)?, place(last)?]);
        let numbers = [self.first, self.last].map(place);
        numbers.iter().any(Option::is_some).then(|| Samples {
            names: [self.first, self.last].map(str::to_owned),
            numbers,
            at: place(self.at),
            times: both(self.times),
            files: self.files.and_then(both),
        })
    }
}

/// How many samples a second may have, by all rows.
#[derive(Debug)]
pub(super) struct Evidence {
    least: f64,
    most: f64,
}

impl Default for Evidence {
    fn default() -> Self {
        Self { least: 0.0, most: f64::INFINITY }
    }
}

/// A number of a row, and by how much it may be off, as it is written.
fn number(row: &Row<'_>, column: Option<usize>) -> Option<(f64, f64)> {
    let text = row.value(column?)?;
    let unit = 10_f64.powi(-i32::try_from(decimals_of(&text)).ok()?);
    Some((parse_number(&text)?, unit))
}

impl Evidence {
    /// What a row tells.
    pub(super) fn add(&mut self, samples: &Samples, row: &Row<'_>) {
        let [first, last] = samples.numbers.map(|column| number(row, column));
        if let (Some((first, _)), Some((at, unit))) = (first, number(row, samples.at)) {
            self.narrow(first, OFF, at, unit);
        }
        let times = samples.times.map(|columns| columns.map(|column| number(row, Some(column))));
        let is_one_file =
            samples.files.is_none_or(|[begin, end]| row.value(begin) == row.value(end));
        if let (Some((first, _)), Some((last, _)), Some([Some(begin), Some(end)]), true) =
            (first, last, times, is_one_file)
        {
            self.narrow(last - first, 2.0 * OFF, end.0 - begin.0, begin.1 + end.1);
        }
    }

    /// So many samples in so many seconds, each more or less.
    fn narrow(&mut self, samples: f64, samples_off: f64, seconds: f64, seconds_off: f64) {
        // What is as short as its last digit tells nothing.
        if seconds > 2.0 * seconds_off && samples > 0.0 {
            self.least = self.least.max((samples - samples_off) / (seconds + seconds_off));
            self.most = self.most.min((samples + samples_off) / (seconds - seconds_off));
        }
    }

    /// Samples in so many seconds, if that is known to the sample.
    fn samples_in(&self, seconds: f64) -> Option<f64> {
        let Self { least, most } = *self;
        if seconds == 0.0 {
            return Some(0.0);
        }
        let mut usual = USUAL.into_iter().filter(|rate| (least..=most).contains(rate));
        let rate = match (usual.next(), usual.next()) {
            (Some(only), None) if most - least <= NEAR * only => only,
            _ if least <= most && (most - least) * seconds.abs() <= 1.0 => 0.5 * (least + most),
            _ => return None,
        };
        // A whole number of samples a second is likelier than one with decimals.
        let whole = rate.round();
        let rate = if (least..=most).contains(&whole) { whole } else { rate };
        Some((seconds * rate).round_ties_even())
    }
}

impl Samples {
    /// The numbers of a row after its begin and its end moved by so many seconds.
    pub(super) fn moved(
        &self,
        file: &str,
        row: &Row<'_>,
        shifts: [f64; 2],
        evidence: &Evidence,
    ) -> Result<Vec<(usize, String)>> {
        let mut changes = Vec::new();
        for ((column, name), shift) in self.numbers.iter().zip(&self.names).zip(shifts) {
            let (Some(column), Some((before, _))) = (*column, number(row, *column)) else {
                continue;
            };
            let Some(by) = evidence.samples_in(shift) else {
                let problem = format!(
                    "{} would have to move by {shift} s, and its rows do not tell how many samples a second has; \
                     take the column out, which Raven can add again",
                    quoted(name)
                );
                return Err(wrong(file, problem));
            };
            if before + by < 0.0 {
                let problem = format!(
                    "the selection {} would begin before its sound: {} would be {}",
                    quoted(row.text),
                    quoted(name),
                    before + by
                );
                return Err(wrong(file, problem));
            }
            changes.push((column, number_text(before + by)));
        }
        Ok(changes)
    }
}
