//! `unjitter predict --follow`: instances and events leave while the table of instances is still written.
//!
//! However the table ends, by itself, at a line that is no instance or with Ctrl-C, what waits has arrived and is told.

mod input;

use std::collections::VecDeque;
use std::path::Path;

use unjitter::evaluation::{Departed, Stream};
use unjitter::io::{Chunk, Clock, Columns, InstanceChunks, TableText};
use unjitter::labels::Labels;

use super::predicted::{event_header, event_line};
use crate::console::Console;
use crate::output;
use crate::words::write_probability;
use input::{Left, UntilInterrupted};

/// A session that goes on.
struct Followed {
    name: String,
    clock: Clock,
    stream: Stream,
    newest: f64,
    /// Times of the instances that wait, as they were written.
    waiting: VecDeque<String>,
}

/// Which of what leaves is printed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Told {
    /// Probabilities of instances.
    Instances,
    /// Events, of labels of this kind.
    Events(Labels),
}

/// Follows a table until it ends, or until nobody reads what is printed.
pub(super) fn follow(
    path: &Path,
    columns: &Columns,
    new: &Stream,
    told: Told,
    printed: &mut output::Stream,
    console: &Console,
) -> anyhow::Result<()> {
    let is_left = Left::default();
    let guard = |raw| UntilInterrupted::new(raw, is_left.clone());
    let followed = match InstanceChunks::follow(path, columns, guard) {
        Ok(chunks) => follow_lines(chunks, new, told, printed, &is_left, console),
        // Its header had not come.
        Err(_) if is_left.get() => Ok(()),
        Err(error) => Err(error.into()),
    };
    if is_left.get() {
        console.note("ended by Ctrl-C; all that waited has been printed");
    }
    followed
}

fn follow_lines(
    mut chunks: InstanceChunks,
    new: &Stream,
    told: Told,
    printed: &mut output::Stream,
    is_left: &Left,
    console: &Console,
) -> anyhow::Result<()> {
    let header = match told {
        Told::Instances => vec!["session", "time", "probability"],
        Told::Events(labels) => event_header(labels, &[]),
    };
    let mut table = TableText::new(chunks.delimiter(), header);
    printed.write(&table.take())?;
    let mut sessions = Vec::new();
    let arrived = arrive(&mut chunks, &mut sessions, new, |own, left| {
        own.tell(left, told, &mut table);
        printed.write(&table.take())?;
        Ok(!printed.is_closed())
    });
    for own in &mut sessions {
        let left = own.stream.finish();
        own.tell(&left, told, &mut table);
    }
    let finished = printed.write(&table.take());
    if let Some(line) = chunks.unfinished() {
        let file = chunks.file();
        console.warn(&format!(
            "{file}: the last line, `{line}`, has no line end and may be unfinished; it was left out"
        ));
    }
    // A table that ends with Ctrl-C may end anywhere.
    if is_left.get() { finished } else { arrived.and(finished) }
}

/// Reads the table to its end, a line at a time, so that none waits for another. `tell` is given what leaves, and says
/// whether to go on.
fn arrive(
    chunks: &mut InstanceChunks,
    sessions: &mut Vec<Followed>,
    new: &Stream,
    mut tell: impl FnMut(&mut Followed, &Departed) -> anyhow::Result<bool>,
) -> anyhow::Result<()> {
    let mut chunk = Chunk::default();
    let mut goes_on = true;
    while goes_on && chunks.next(&mut chunk, 1)? {
        let (at, time) = (chunk.positions[0], chunk.times[0]);
        if at == sessions.len() {
            let (name, clock) = (chunk.session(0).to_owned(), chunks.clock(at));
            let (stream, waiting, newest) = (new.clone(), VecDeque::new(), f64::NEG_INFINITY);
            sessions.push(Followed { name, clock, stream, newest, waiting });
        }
        let own = &mut sessions[at];
        if time < own.newest {
            let expected =
                "a time not before that of the session's line before it, as --follow needs";
            return Err(chunks.wrong_time(expected).into());
        }
        let left = own.stream.push(&chunk.times, chunk.features())?;
        own.newest = time;
        own.waiting.push_back(chunk.time_text(0).to_owned());
        goes_on = tell(own, &left)?;
    }
    Ok(())
}

impl Followed {
    fn tell(&mut self, left: &Departed, told: Told, table: &mut TableText) {
        let mut text = String::new();
        for instance in &left.instances {
            let time = self.waiting.pop_front().unwrap_or_default();
            if told == Told::Instances {
                text.clear();
                write_probability(&mut text, instance.probability);
                table.push([self.name.as_str(), &time, &text]);
            }
        }
        let Told::Events(labels) = told else { return };
        for event in &left.events {
            table.push(event_line(labels, &self.name, &self.clock, event, None));
        }
    }
}
