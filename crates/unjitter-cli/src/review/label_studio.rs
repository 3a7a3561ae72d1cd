//! Tasks for Label Studio, and what it makes of them.
//!
//! A task is a session: its signal, thinned out to what a screen shows, and as predictions an instant for every event
//! as it stands now. The id of a region is that of its item, so that a region which was moved in Label Studio is the
//! same stamp. Read back: a region with a known id was accepted where it is, or moved; one that is gone was
//! rejected; one that is new, and nobody's, is an event that was added. Sessions that nobody submitted are left
//! alone.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::desk::{Desk, State};
use super::item::{Action, Item};
use crate::failure::Mistake;

/// What regions are called.
const EVENT: &str = "event";
const NOTHING: &str = "for nothing";
const MISSED: &str = "missed";
/// Points of a signal.
const POINTS: usize = 2000;

/// A decision that Label Studio's annotation amounts to.
pub(crate) type Imported = (Item, Action, Option<usize>);

/// The tasks, and the labelling interface that shows them.
pub(crate) fn tasks(desk: &Desk) -> (String, String) {
    let state = desk.lock();
    let mut channels = Vec::new();
    let tasks: Vec<Value> = (0..desk.recordings.data.recordings.len())
        .map(|k| {
            let series = series(desk, &state, k, &mut channels);
            let result: Vec<Value> = regions(desk, &state, k);
            let version = format!("unjitter {}", env!("CARGO_PKG_VERSION"));
            let name = desk.recordings.session(k).name();
            json!({
                "data": { "session": name, "ts": series },
                "predictions": [{ "model_version": version, "result": result }],
            })
        })
        .collect();
    let text = serde_json::to_string_pretty(&tasks).expect("tasks are plain data");
    (text, interface(&channels))
}

fn interface(channels: &[String]) -> String {
    let escaped = |text: &str| {
        text.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;").replace('>', "&gt;")
    };
    let channels: String = channels
        .iter()
        .map(|name| format!("    <Channel column=\"{}\"/>\n", escaped(name)))
        .collect();
    format!(
        "<View>\n  <Header value=\"$session\"/>\n  <TimeSeriesLabels name=\"label\" toName=\"ts\">\n    \
         <Label value=\"{EVENT}\"/>\n    <Label value=\"{MISSED}\"/>\n    <Label value=\"{NOTHING}\"/>\n  \
         </TimeSeriesLabels>\n  <TimeSeries name=\"ts\" value=\"$ts\" valueType=\"json\" timeColumn=\"time\">\n\
         {channels}  </TimeSeries>\n</View>\n"
    )
}

/// The signal of a session on one axis of times.
fn series(desk: &Desk, state: &State, k: usize, channels: &mut Vec<String>) -> Value {
    let session = desk.recordings.session(k);
    let (first, last) = (session.times()[0], session.times()[session.len() - 1]);
    let view = desk.recordings.view(k, (first, last), POINTS, &state.current.mixed[k]);
    let mut series = serde_json::Map::new();
    for channel in view.channels() {
        // Lowest and highest one after the other, so that the line touches both.
        let points = || channel.low.iter().zip(&channel.high);
        let values: Vec<Value> =
            points().flat_map(|(low, high)| [json!(low), json!(high)]).collect();
        if !series.contains_key("time") {
            let times: Vec<Value> =
                channel.times.iter().flat_map(|time| [json!(time), json!(time)]).collect();
            series.insert("time".to_owned(), times.into());
        }
        // Channels of a session have the same times, unless values are missing in some.
        if series["time"].as_array().is_some_and(|times| times.len() == values.len()) {
            series.insert(channel.name.clone(), values.into());
            if !channels.contains(&channel.name) {
                channels.push(channel.name.clone());
            }
        }
    }
    series.into()
}

fn regions(desk: &Desk, state: &State, k: usize) -> Vec<Value> {
    let session = desk.recordings.session(k);
    let times = session.times();
    let region = |item: Item, time: f64, label: &str, score: f64| {
        json!({
            "id": item,
            "from_name": "label",
            "to_name": "ts",
            "type": "timeserieslabels",
            "score": score,
            "value": { "start": time, "end": time, "instant": true, "timeserieslabels": [label] },
        })
    };
    let mut regions = Vec::new();
    for one in state.current.ranked.iter().filter(|one| one.item.session() == k) {
        let decision = state.decision(one.item).filter(|own| own.settles());
        match (one.item, decision) {
            (_, Some(decision)) => {
                // What was rejected is gone.
                let label = if matches!(one.item, Item::Stamp(..)) { EVENT } else { MISSED };
                regions.extend(decision.instance.map(|i| region(one.item, times[i], label, 1.0)));
            }
            (Item::Stamp(_, l), None) => {
                let place = &state.current.mixed[k].stamps[l];
                regions.push(match place.best().filter(|best| best.p >= place.p_spurious) {
                    Some(best) => region(one.item, times[best.instance], EVENT, best.p),
                    None => region(one.item, session.stamps()[l], NOTHING, place.p_spurious),
                });
            }
            (Item::Missed(_, i), None) => {
                regions.push(region(one.item, times[i], MISSED, one.probability));
            }
        }
    }
    regions
}

/// The decisions in an export of Label Studio (JSON).
pub(crate) fn decisions(desk: &Desk, name: &str, text: &str) -> anyhow::Result<Vec<Imported>> {
    let wrong = |why: &str| anyhow::Error::from(Mistake::Data(format!("{name}: {why}")));
    let tasks: Vec<Value> = serde_json::from_str(text).map_err(|error| {
        wrong(&format!("expected the tasks that Label Studio exports as JSON: {error}"))
    })?;
    let state = desk.lock();
    let mut decisions = Vec::new();
    for task in &tasks {
        let session = task["data"]["session"].as_str();
        let session = session.ok_or_else(|| wrong("a task has no data.session"))?;
        let Some(k) = desk.recordings.data.position(session) else {
            return Err(wrong(&format!("there is no session {session:?} in the data")));
        };
        let annotations = task["annotations"].as_array().map_or(&[][..], Vec::as_slice);
        // The last word of whoever did not give up.
        let Some(last) = annotations.iter().rfind(|own| own["was_cancelled"] != true) else {
            continue;
        };
        let results = last["result"].as_array().map_or(&[][..], Vec::as_slice);
        decisions.extend(of_session(desk, &state, k, results).map_err(|why| wrong(&why))?);
    }
    Ok(decisions)
}

fn of_session(
    desk: &Desk,
    state: &State,
    k: usize,
    results: &[Value],
) -> Result<Vec<Imported>, String> {
    let times = desk.recordings.session(k).times();
    let nearest = |time: f64| {
        let after = times.partition_point(|own| *own < time).min(times.len() - 1);
        let before = after.saturating_sub(1);
        if (time - times[before]).abs() <= (times[after] - time).abs() { before } else { after }
    };
    let mut known: HashMap<Item, Option<usize>> = HashMap::new();
    let mut new = Vec::new();
    for result in results.iter().filter(|result| result["type"] == "timeserieslabels") {
        let value = &result["value"];
        let ends = [value["start"].as_f64(), value["end"].as_f64()];
        let [Some(start), Some(end)] = ends else {
            return Err("a region has no start and end in seconds".to_owned());
        };
        let instance = nearest((start + end) / 2.0);
        let is_nothing =
            value["timeserieslabels"].as_array().is_some_and(|own| own.contains(&json!(NOTHING)));
        let id: Option<Item> = result["id"].as_str().and_then(|id| id.parse().ok());
        match id.filter(|item| item.session() == k && state.current.place_of.contains_key(item)) {
            Some(item) => drop(known.insert(item, (!is_nothing).then_some(instance))),
            None if is_nothing => {}
            None => new.push(instance),
        }
    }
    // An event that was added here before has an id of its own now.
    new.retain(|&instance| {
        let item = Item::Missed(k, instance);
        let is_asked = state.current.place_of.contains_key(&item) && !known.contains_key(&item);
        if is_asked {
            known.insert(item, Some(instance));
        }
        !is_asked
    });
    let mut decisions: Vec<Imported> = Vec::new();
    for one in state.current.ranked.iter().filter(|one| one.item.session() == k) {
        let at = known.get(&one.item).copied().flatten();
        if state.decision(one.item).is_some_and(|own| own.settles() && own.instance == at) {
            continue;
        }
        let proposed = match one.item {
            Item::Stamp(_, l) => state.current.mixed[k].stamps[l].best().map(|best| best.instance),
            Item::Missed(_, i) => Some(i),
        };
        decisions.push(match (one.item, at) {
            (item, None) => (item, Action::Reject, None),
            (Item::Missed(..), at) => (one.item, Action::Missed, at),
            (Item::Stamp(..), at) if at == proposed => (one.item, Action::Accept, at),
            (Item::Stamp(..), at) => (one.item, Action::Move, at),
        });
    }
    let added = |instance: usize| (Item::Missed(k, instance), Action::Add, Some(instance));
    decisions.extend(new.into_iter().map(added));
    Ok(decisions)
}
