//! Observations of BORIS: its project (`.boris`), and the tables that it exports.
//!
//! The label of a stamp is the behaviour. A state that lasts is one stamp with a duration, in a project and in a
//! table of aggregated events. A project has its start and its stop as two events with nothing to tell them apart,
//! so they are paired as BORIS does: in turn, by subject, behaviour and modifiers. One without a partner is an
//! error: nobody knows when it began or ended, and which of the others are starts. A table of events tells starts
//! from stops in a column of its own (`Status` or `Behavior type`) and has a stamp for each, to choose from. Each
//! observation is a recording of its own.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;
use std::path::Path;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::format::{ReadOptions, WriteOptions};
use super::found::{Found, MOST, Moved, Read, Sink, Source, check_room, rounded};
use super::numerals::{number_text, parse_number};
use super::problem::{quoted, wrong};
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
    #[serde(default)]
    behaviors_conf: BTreeMap<String, Behavior>,
}

/// What is told of a behaviour.
#[derive(Deserialize)]
struct Behavior {
    #[serde(default)]
    code: String,
    #[serde(default, rename = "type")]
    kind: String,
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
    /// Whether it is the stop of a state.
    is_stop: bool,
    before: f64,
    at: Range<usize>,
    time: Range<usize>,
    /// The state that it belongs to, if any: subject, code and modifiers.
    state: Option<[String; 3]>,
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

/// Whether the event at each place starts or stops the state that it stops or starts: starts to stops and back, as
/// BORIS pairs them, in order of time by subject, code and modifiers. Else the place of one that has no partner.
fn pairs(
    times: &[f64],
    states: &[Option<[String; 3]>],
) -> std::result::Result<Vec<Option<usize>>, usize> {
    let mut order: Vec<usize> = (0..times.len()).filter(|&k| states[k].is_some()).collect();
    order.sort_by(|&a, &b| times[a].total_cmp(&times[b]));
    let mut open: HashMap<&[String; 3], usize> = HashMap::new();
    let mut partners = vec![None; times.len()];
    for k in order {
        let Some(state) = &states[k] else { continue };
        match open.remove(state) {
            Some(start) => (partners[start], partners[k]) = (Some(k), Some(start)),
            None => {
                open.insert(state, k);
            }
        }
    }
    match open.into_values().min() {
        None => Ok(partners),
        Some(alone) => Err(alone),
    }
}

fn read_project(text: Text) -> Result<Read> {
    let mut found =
        Found::with_facts(["Observation id"].into_iter().chain(FACTS.map(|(_, name)| name)));
    found.recording = Some(0);
    let body = text.body.as_str();
    let project: Project<'_> =
        serde_json::from_str(body).map_err(|error| broken(&text, "", &error))?;
    let lasts = |behavior: &&Behavior| behavior.kind.to_lowercase().starts_with("state");
    let states: HashSet<&str> =
        project.behaviors_conf.values().filter(lasts).map(|one| one.code.as_str()).collect();
    let mut observations = Vec::new();
    for (id, observation) in &project.observations {
        observations.push(read_observation(&text, id, observation, &states, &mut found)?);
    }
    observations.sort_by_key(|events| events.first().map_or(0, |event| event.at.start));
    Ok((found, Box::new(Observations { text, observations })))
}

/// The events of an observation, whose stamps are added to those that were found.
fn read_observation(
    text: &Text,
    id: &str,
    observation: &RawValue,
    states: &HashSet<&str>,
    found: &mut Found,
) -> Result<Vec<Event>> {
    let (body, place) = (text.body.as_str(), format!("observation {id}: "));
    let observation: Observation<'_> =
        serde_json::from_str(observation.get()).map_err(|error| broken(text, &place, &error))?;
    let (mut times, mut own_states, mut all) = (Vec::new(), Vec::new(), Vec::new());
    for event in &observation.events {
        check_room(&text.file, found.len() + times.len(), MOST)?;
        let fields: Vec<&RawValue> =
            serde_json::from_str(event.get()).map_err(|error| broken(text, &place, &error))?;
        let expected = "an event: time, subject, code, modifiers, comment";
        let bad = || text.bad(line_of(body, event), event.get(), expected);
        times.push(fields.first().and_then(|time| parse_number(time.get())).ok_or_else(bad)?);
        let told = |place: usize| -> String {
            let text = fields.get(place).and_then(|text| serde_json::from_str(text.get()).ok());
            text.unwrap_or_default()
        };
        let (code, facts) = (told(CODE), FACTS.map(|(place, _)| told(place)));
        let [subject, modifiers, _] = &facts;
        let state = [subject, &code, modifiers].map(String::clone);
        own_states.push(states.contains(code.as_str()).then_some(state));
        all.push((within(body, fields[0]), code, facts));
    }
    let partners = pairs(&times, &own_states).map_err(|alone| {
        let event = observation.events[alone];
        let expected = "a state event with a start and a stop; BORIS can fix unpaired events";
        text.bad(line_of(body, event), event.get(), expected)
    })?;
    let (mut events, mut stamps) = (Vec::new(), vec![0; times.len()]);
    let is_stop = |k: usize| partners[k].is_some_and(|other| (times[other], other) < (times[k], k));
    for (k, (_, code, facts)) in all.iter().enumerate().filter(|(k, _)| !is_stop(*k)) {
        let lasting = partners[k].map_or(0.0, |stop| times[stop] - times[k]);
        stamps[k] = found.len();
        let facts = [id].into_iter().chain(facts.iter().map(String::as_str));
        found.push(&text.file, times[k], lasting, code.as_str(), facts)?;
    }
    for (k, (state, (time, _, _))) in own_states.into_iter().zip(all).enumerate() {
        let start = partners[k].filter(|_| is_stop(k));
        let (stamp, at) = (stamps[start.unwrap_or(k)], within(body, observation.events[k]));
        events.push(Event { stamp, is_stop: start.is_some(), before: times[k], at, time, state });
    }
    Ok(events)
}

/// The line of an event in the text.
fn line_of(body: &str, event: &RawValue) -> usize {
    body[..within(body, event).start].matches('\n').count() + 1
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
    fn holds_ends(&self) -> bool {
        self.observations.iter().flatten().any(|event| event.is_stop)
    }

    fn render(&self, moved: Moved<'_>, sink: Sink<'_>) -> Result<()> {
        let body = &self.text.body;
        if moved.is_nothing() {
            return sink(&self.text.encode(body.clone())?);
        }
        let (mut written, mut at) = (String::with_capacity(body.len()), 0);
        for events in self.observations.iter().filter(|events| !events.is_empty()) {
            // The first places take the events that are kept; the last, with what is before them, go.
            let order = self.arranged(events, moved)?;
            written.push_str(&body[at..events[0].at.start]);
            for (place, (k, now)) in order.into_iter().enumerate() {
                if place > 0 {
                    written.push_str(&body[events[place - 1].at.end..events[place].at.start]);
                }
                let Event { at, time, before, .. } = &events[k];
                if now == *before {
                    written.push_str(&body[at.clone()]);
                } else {
                    written.push_str(&body[at.start..time.start]);
                    written.push_str(&number_text(now));
                    written.push_str(&body[time.end..at.end]);
                }
            }
            at = events[events.len() - 1].at.end;
        }
        written.push_str(&body[at..]);
        sink(&self.text.encode(written)?)
    }
}

impl Observations {
    /// The events of an observation that are kept, in the order to write them, with their times. If they were in
    /// order of time, they stay so.
    fn arranged(&self, events: &[Event], moved: Moved<'_>) -> Result<Vec<(usize, f64)>> {
        let mut order = Vec::new();
        for (k, event) in events.iter().enumerate().filter(|(_, event)| moved.keeps(event.stamp)) {
            let stamp = event.stamp;
            let is_point = event.state.is_none();
            if let Some(end) = moved.end(stamp).filter(|_| is_point) {
                let problem = format!("a point event cannot last, to {end} s; move its time alone");
                return Err(wrong(&self.text.file, problem));
            }
            let now = match moved.to(stamp) {
                None => event.before,
                Some(start) if !event.is_stop => start,
                Some(start) => moved.end(stamp).unwrap_or(rounded(start + moved.lasts(stamp))),
            };
            order.push((k, now));
        }
        if events.is_sorted_by_key(|event| event.before) {
            order.sort_by(|a, b| a.1.total_cmp(&b.1));
        }
        self.refuse_mixed(events, &order)?;
        Ok(order)
    }

    /// Refuses states that BORIS would pair otherwise, because one starts before another like it stops.
    fn refuse_mixed(&self, events: &[Event], order: &[(usize, f64)]) -> Result<()> {
        let times: Vec<f64> = order.iter().map(|(_, now)| *now).collect();
        let states: Vec<_> = order.iter().map(|(k, _)| events[*k].state.clone()).collect();
        let stamp = |place: usize| events[order[place].0].stamp;
        let partners = pairs(&times, &states).unwrap_or_default();
        for (place, partner) in partners.into_iter().enumerate() {
            let Some(partner) = partner.filter(|&partner| stamp(partner) != stamp(place)) else {
                continue;
            };
            let [_, code, _] = states[place].as_ref().expect("it has a partner");
            let problem = format!(
                "states {} from {} and {} s would overlap; those of a subject cannot",
                quoted(code),
                times[place],
                times[partner]
            );
            return Err(wrong(&self.text.file, problem));
        }
        Ok(())
    }
}

/// There is no file of stamps alone: a project says much of an observation that stamps do not know.
pub(super) fn compose(_: &Found, _: &WriteOptions) -> Result<Vec<u8>> {
    Err(wrong("BORIS", "a project cannot be made of stamps alone; write a table (csv)"))
}
