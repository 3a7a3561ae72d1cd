//! Observations of BORIS: its project (`.boris`), and the tables that it exports.
//!
//! The label of a stamp is the behaviour. In a project and in a table of events, a state that lasts is two
//! stamps, of its start and of its stop, because both were pressed; in a table of aggregated events it is one
//! with a duration. Each observation is a recording of its own.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::format::{ReadOptions, WriteOptions};
use super::found::{Found, Moved, Read, Sink, Source};
use super::numerals::{number_text, parse_number};
use super::problem::wrong;
use super::table::{Column, Layout, read_table};
use super::text::Text;
use crate::{Error, Result};

pub(super) const BEHAVIOR: &str = "Behavior";
/// Columns of times: of aggregated events, and of events.
pub(super) const TIMES: [&str; 2] = ["Start (s)", "Time"];

pub(super) fn read(path: &Path, options: &ReadOptions) -> Result<Read> {
    let text = Text::load(path, options.encoding.as_deref())?;
    if text.body.trim_start().starts_with('{') {
        return read_project(text);
    }
    let layout = Layout {
        delimiters: &['\t', ',', ';'],
        time: &TIMES,
        end: &["Stop (s)"],
        label: Column { given: options.label.as_deref(), usual: &[BEHAVIOR] },
        recording: &["Observation id"],
        ..Layout::default()
    };
    read_table(text, layout, options.origin)
}

/// The parts of a project that matter here.
#[derive(Deserialize)]
struct Project<'a> {
    #[serde(borrow, default)]
    observations: BTreeMap<String, &'a RawValue>,
}

#[derive(Deserialize)]
struct Observation<'a> {
    #[serde(borrow, default)]
    events: Vec<&'a RawValue>,
}

/// Where an event stands in the text, and its time within that.
#[derive(Debug)]
struct Event {
    stamp: usize,
    at: Range<usize>,
    time: Range<usize>,
}

/// A project, and the events of each of its observations.
#[derive(Debug)]
struct Observations {
    text: Text,
    observations: Vec<Vec<Event>>,
}

/// Fields of an event, by their place.
const FACTS: [(usize, &str); 3] = [(1, "Subject"), (3, "Modifiers"), (4, "Comment")];
const CODE: usize = 2;

fn read_project(text: Text) -> Result<Read> {
    let mut found =
        Found::with_facts(["Observation id"].into_iter().chain(FACTS.map(|(_, name)| name)));
    found.recording = Some(0);
    let body = text.body.as_str();
    let project: Project<'_> =
        serde_json::from_str(body).map_err(|error| broken(&text, "", &error))?;
    let mut observations = Vec::new();
    for (id, observation) in &project.observations {
        let place = format!("observation {id}: ");
        let observation: Observation<'_> = serde_json::from_str(observation.get())
            .map_err(|error| broken(&text, &place, &error))?;
        let mut events = Vec::new();
        for event in observation.events {
            let fields: Vec<&RawValue> =
                serde_json::from_str(event.get()).map_err(|error| broken(&text, &place, &error))?;
            let at = within(body, event);
            let line = || body[..at.start].matches('\n').count() + 1;
            let expected = "an event: time, subject, code, modifiers, comment";
            let bad = || text.bad(line(), event.get(), expected);
            let time = fields.first().and_then(|time| parse_number(time.get())).ok_or_else(bad)?;
            let told = |place: usize| -> String {
                let text = fields.get(place).and_then(|text| serde_json::from_str(text.get()).ok());
                text.unwrap_or_default()
            };
            let facts = FACTS.map(|(place, _)| told(place));
            let facts = [id.as_str()].into_iter().chain(facts.iter().map(String::as_str));
            let time_at = within(body, fields[0]);
            events.push(Event { stamp: found.len(), at, time: time_at });
            found.push(&text.file, time, 0.0, told(CODE), facts)?;
        }
        observations.push(events);
    }
    observations.sort_by_key(|events| events.first().map_or(0, |event| event.at.start));
    Ok((found, Box::new(Observations { text, observations })))
}

/// Where a value stands in the text that it was read from, which it is a part of.
fn within(body: &str, value: &RawValue) -> Range<usize> {
    let start = value.get().as_ptr() as usize - body.as_ptr() as usize;
    start..start + value.get().len()
}

fn broken(text: &Text, place: &str, error: &serde_json::Error) -> Error {
    wrong(&text.file, format!("{place}expected a project of BORIS: {error}"))
}

impl Source for Observations {
    fn render(&self, moved: Moved<'_>, sink: Sink<'_>) -> Result<()> {
        let body = &self.text.body;
        let (mut written, mut at) = (String::with_capacity(body.len()), 0);
        for events in self.observations.iter().filter(|events| !events.is_empty()) {
            // The first places take the events that are kept; the last, with what is before them, go.
            let order = moved.order(events.iter().map(|event| event.stamp));
            written.push_str(&body[at..events[0].at.start]);
            for (place, (k, stamp)) in order.into_iter().enumerate() {
                if place > 0 {
                    written.push_str(&body[events[place - 1].at.end..events[place].at.start]);
                }
                let Event { at, time, .. } = &events[k];
                match moved.to(stamp) {
                    None => written.push_str(&body[at.clone()]),
                    Some(now) => {
                        written.push_str(&body[at.start..time.start]);
                        written.push_str(&number_text(now));
                        written.push_str(&body[time.end..at.end]);
                    }
                }
            }
            at = events[events.len() - 1].at.end;
        }
        written.push_str(&body[at..]);
        sink(&self.text.encode(written)?)
    }
}

/// There is no file of stamps alone: a project says much of an observation that stamps do not know.
pub(super) fn compose(_: &Found, _: &WriteOptions) -> Result<Vec<u8>> {
    Err(wrong("BORIS", "a project cannot be made of stamps alone; write a table (csv)"))
}
