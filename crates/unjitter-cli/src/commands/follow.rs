//! `unjitter predict --follow`: instances and events leave while the table of instances is still written.

use std::collections::VecDeque;

use unjitter::evaluation::{Departed, Stream};
use unjitter::io::{Chunk, Clock, InstanceChunks, TableText};
use unjitter::labels::Labels;

use super::predicted::{event_header, event_line};
use crate::output;
use crate::words::write_probability;

/// A session that goes on.
struct Followed {
    name: String,
    clock: Clock,
    stream: Stream,
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

/// Follows a table until it ends, or until nobody reads what is printed. A line is read at a time, so that none waits
/// for another.
pub(super) fn follow(
    mut chunks: InstanceChunks,
    new: &Stream,
    told: Told,
    printed: &mut output::Stream,
) -> anyhow::Result<()> {
    let header = match told {
        Told::Instances => vec!["session", "time", "probability"],
        Told::Events(labels) => event_header(labels, &[]),
    };
    let mut table = TableText::new(chunks.delimiter(), header);
    let (mut sessions, mut chunk) = (Vec::<Followed>::new(), Chunk::default());
    printed.write(&table.take())?;
    while !printed.is_closed() && chunks.next(&mut chunk, 1)? {
        let at = chunk.positions[0];
        if at == sessions.len() {
            let (name, clock) = (chunk.session(0).to_owned(), chunks.clock(at));
            sessions.push(Followed { name, clock, stream: new.clone(), waiting: VecDeque::new() });
        }
        let own = &mut sessions[at];
        own.waiting.push_back(chunk.time_text(0).to_owned());
        let left = own.stream.push(&chunk.times, chunk.features())?;
        own.tell(&left, told, &mut table);
        printed.write(&table.take())?;
    }
    for own in &mut sessions {
        let left = own.stream.finish();
        own.tell(&left, told, &mut table);
    }
    printed.write(&table.take())
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
