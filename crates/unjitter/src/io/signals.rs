//! Tables of raw signals: a time and one or more channels, by session.

use std::collections::HashMap;
use std::path::Path;

use super::clock::Clock;
use super::dataset::{Columns, lone_session};
use super::instances::named;
use super::odd_times::refuse_days;
use super::order;
use super::table::{Row, Table, shown};
use crate::Result;
use crate::signal::Signal;

/// Shortest plausible step between samples in seconds: sensors of this kind give fewer than 20 000
/// samples a second.
const SHORTEST: f64 = 5e-5;

/// The raw signal of one session.
#[derive(Debug, Clone)]
pub struct RawSignal {
    /// Its session.
    pub session: String,
    /// Its clock.
    pub clock: Clock,
    /// Its channels, in the order of the columns.
    pub channels: Vec<Signal>,
}

/// The columns of a table of signals that are channels.
#[derive(Debug, Clone, Copy)]
pub enum Channels<'a> {
    /// All except session and time.
    All,
    /// The first of them.
    First,
    /// These.
    Named(&'a [String]),
}

/// Reads a table of signals; an empty cell is a missing sample. `known` sessions keep their clocks; for others
/// the first sample sets it. A table without a session column belongs to the one known session, if there is one.
pub fn read_signals(
    path: &Path,
    columns: &Columns,
    channels: Channels<'_>,
    known: &[(&str, Clock)],
) -> Result<(Vec<String>, Vec<RawSignal>)> {
    let mut table = Table::open(path, columns.has_header)?;
    let session = named(&table, "session", &columns.session, &Columns::default().session)?;
    let time = table.column_of(Some("time"), &columns.time)?;
    let channels = places(&table, columns, channels, session, time)?;
    let lone = match known {
        [(name, _)] => (*name).to_owned(),
        _ => lone_session(path),
    };
    let clocks: HashMap<&str, Clock> = known.iter().copied().collect();
    let mut found: Vec<Samples> = Vec::new();
    let mut positions: HashMap<String, usize> = HashMap::new();
    let mut row = Row::default();
    while table.next(&mut row)? {
        let name = session.map_or(lone.as_str(), |column| row.cell(column));
        let at = match positions.get(name) {
            Some(&at) => at,
            None => {
                let clock = match clocks.get(name) {
                    Some(&clock) => clock,
                    None => Clock::starting_at(row.cell(time), columns.times_in)
                        .map_err(|expected| table.wrong_cell(&row, time, expected))?,
                };
                found.push(Samples::new(name, clock, channels.len()));
                positions.insert(name.to_owned(), found.len() - 1);
                found.len() - 1
            }
        };
        found[at].add(&table, &row, time, &channels)?;
    }
    if found.is_empty() {
        return Err(table.wrong("it has a header and no samples"));
    }
    for Samples { session, clock, times, .. } in &found {
        refuse_days(clock, times, SHORTEST)
            .map_err(|problem| table.wrong(format!("session {}: {problem}", shown(session))))?;
    }
    let names = channels.iter().map(|&k| table.header()[k].clone()).collect();
    let signals: Result<Vec<RawSignal>> = found.into_iter().map(Samples::finish).collect();
    Ok((names, signals?))
}

fn places(
    table: &Table,
    columns: &Columns,
    channels: Channels<'_>,
    session: Option<usize>,
    time: usize,
) -> Result<Vec<usize>> {
    let free = (0..table.header().len())
        .filter(|&k| Some(k) != session && k != time)
        .filter(|&k| !columns.ignore.contains(&table.header()[k]));
    let places: Vec<usize> = match channels {
        Channels::All => free.collect(),
        Channels::First => free.take(1).collect(),
        Channels::Named(names) => {
            names.iter().map(|name| table.column(name)).collect::<Result<_>>()?
        }
    };
    match places.is_empty() {
        true => Err(table.wrong("it has no column left for a channel")),
        false => Ok(places),
    }
}

/// The samples of a session so far.
struct Samples {
    session: String,
    clock: Clock,
    times: Vec<f64>,
    values: Vec<Vec<f64>>,
}

impl Samples {
    fn new(session: &str, clock: Clock, channels: usize) -> Self {
        let values = vec![Vec::new(); channels];
        Self { session: session.to_owned(), clock, times: Vec::new(), values }
    }

    fn add(&mut self, table: &Table, row: &Row, time: usize, channels: &[usize]) -> Result<()> {
        let moment = self.clock.seconds(row.cell(time));
        let moment = moment.map_err(|expected| table.wrong_cell(row, time, expected))?;
        if self.times.last().is_some_and(|&previous| moment < previous) {
            let expected = order::expected(&self.clock, &self.session, &self.times, moment);
            return Err(table.wrong_cell(row, time, expected));
        }
        self.times.push(moment);
        for (values, &column) in self.values.iter_mut().zip(channels) {
            values.push(match row.cell(column) {
                "" | "NA" | "NaN" | "nan" => f64::NAN,
                _ => table.number(row, column)?,
            });
        }
        Ok(())
    }

    fn finish(self) -> Result<RawSignal> {
        let Self { session, clock, times, values } = self;
        let channels: Result<Vec<Signal>> =
            values.into_iter().map(|values| Signal::new(times.clone(), values)).collect();
        Ok(RawSignal { session, clock, channels: channels? })
    }
}
