//! What the page is told, as JSON.
//!
//! Texts are data here, never markup: names of sessions come from other people's files.

use serde::Serialize;
use serde_json::{Value, json};
use unjitter::model::Estimate;

use super::desk::{Current, Desk, Fit, State};
use super::item::{Decision, Item};
use super::link::link;
use super::ranking::Ranked;
use super::recordings::View;
use crate::annotator_text::estimates;
use crate::failure::usage;

/// Instances on each side of a stamp that are listed.
const NEIGHBOURS: usize = 12;
/// Items of the queue that are told at once.
const MOST: usize = 1000;

/// An item in the queue.
#[derive(Debug, Serialize)]
struct Queued {
    id: Item,
    kind: &'static str,
    session: usize,
    time: f64,
    stamp: Option<f64>,
    probability: f64,
    decision: Option<Decision>,
}

/// Ways to order the queue.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Order {
    /// What tells most.
    #[default]
    Informative,
    /// As recorded.
    Time,
    /// What is least sure.
    Probability,
    /// By session, and in each what tells most.
    Session,
}

/// Everything but the queue.
pub(crate) fn state(desk: &Desk) -> Value {
    let revision = desk.revision();
    let state = desk.lock();
    let (left, done, seconds_left) = state.progress();
    let conflicts: Vec<Value> = state.ledger.conflicts().into_iter().map(|conflict| {
        let by: Vec<Value> = conflict.by.into_iter().map(|(reviewer, Decision { action, instance })| {
            json!({ "reviewer": reviewer, "action": action, "instance": instance })
        }).collect();
        json!({ "item": conflict.item, "by": by })
    }).collect();
    let findings: Vec<Value> = desk
        .findings
        .iter()
        .map(|(severity, message)| json!({ "severity": severity, "message": message }))
        .collect();
    json!({
        "revision": revision,
        "sessions": sessions(desk),
        "reviewer": desk.reviewer,
        "progress": { "left": left, "done": done, "seconds_left": seconds_left },
        "fit": fit(&state, revision),
        "findings": findings,
        "conflicts": conflicts,
    })
}

fn sessions(desk: &Desk) -> Vec<Value> {
    let data = &desk.recordings.data;
    let session = |(recording, clock): (&unjitter::Recording<'static>, &unjitter::io::Clock)| {
        let session = &recording.session;
        let (times, stamps) = (session.times(), session.stamps());
        let ends = |pick: fn(f64, f64) -> f64, own: f64, stamp: Option<&f64>| {
            stamp.map_or(own, |stamp| pick(own, *stamp))
        };
        json!({
            "name": session.name(),
            "start": ends(f64::min, times[0], stamps.first()),
            "end": ends(f64::max, times[times.len() - 1], stamps.last()),
            "instances": session.len(),
            "stamps": stamps.len(),
            "zero": clock.start(),
        })
    };
    data.recordings.iter().zip(&data.clocks).map(session).collect()
}

fn fit(state: &State, revision: u64) -> Value {
    let current = &state.current;
    let lead = &current.lead().fitted;
    let (learned, sure) = (lead.learned(), estimates(lead));
    let interval = |value: f64, own: Option<Estimate>| {
        own.map_or([Some(value), None, None], |own| [Some(value), Some(own.low), Some(own.high)])
    };
    let mode = |fit: &Fit| {
        let learned = fit.fitted.learned();
        json!({ "delay": learned.delay, "spread": learned.spread, "share": fit.share })
    };
    json!({
        "running": state.running,
        "revision": revision,
        "delay": interval(learned.delay, sure.delay),
        "spread": interval(learned.spread, sure.spread),
        "modes": current.fits.iter().map(mode).collect::<Vec<_>>(),
        "expected_errors": state.expected_errors(),
        "changed": state.changed,
    })
}

/// A part of the queue.
pub(crate) fn queue(desk: &Desk, order: Order, search: &str, from: usize, count: usize) -> Value {
    let (current, decisions) = {
        let state = desk.lock();
        (std::sync::Arc::clone(&state.current), std::sync::Arc::clone(&state.decisions))
    };
    let search = search.trim().to_lowercase();
    let mut items: Vec<&Ranked> = current
        .ranked
        .iter()
        .filter(|one| search.is_empty() || is_found(desk, one, &search))
        .collect();
    match order {
        // Those that were put off come last.
        Order::Informative => items.sort_by_key(|one| {
            decisions.get(&one.item).is_some_and(|decision| !decision.settles())
        }),
        Order::Time => items.sort_by(|a, b| {
            (a.item.session().cmp(&b.item.session())).then(a.time.total_cmp(&b.time))
        }),
        Order::Probability => items.sort_by(|a, b| a.probability.total_cmp(&b.probability)),
        Order::Session => items.sort_by_key(|one| one.item.session()),
    }
    let some = items.iter().skip(from).take(count.min(MOST));
    let some: Vec<Queued> = some
        .map(|one| {
            let decision = decisions.get(&one.item).copied();
            queued(one, decision)
        })
        .collect();
    json!({ "total": items.len(), "items": some })
}

fn queued(one: &Ranked, decision: Option<Decision>) -> Queued {
    let Ranked { item, time, probability, .. } = *one;
    let stamp = matches!(item, Item::Stamp(..)).then_some(time);
    Queued {
        id: item,
        kind: item.kind(),
        session: item.session(),
        time,
        stamp,
        probability,
        decision,
    }
}

/// Whether the search names the session, the annotator, the time or the item.
fn is_found(desk: &Desk, one: &Ranked, search: &str) -> bool {
    let k = one.item.session();
    let has = |text: &str| text.to_lowercase().contains(search);
    let annotator = match one.item {
        Item::Stamp(_, l) => desk.recordings.annotator(k, l),
        Item::Missed(..) => None,
    };
    has(desk.recordings.session(k).name())
        || annotator.is_some_and(has)
        || one.item.to_string() == search
        || has(one.item.kind())
        || has(&desk.recordings.data.clocks[k].write(one.time))
}

/// All about an item.
pub(crate) fn item(desk: &Desk, item: Item) -> anyhow::Result<Value> {
    let (current, decision) = {
        let state = desk.lock();
        (std::sync::Arc::clone(&state.current), state.decision(item))
    };
    let k = item.session();
    let there = desk.recordings.data.recordings.get(k).is_some_and(|own| match item {
        Item::Stamp(_, l) => l < own.session.stamps().len(),
        Item::Missed(_, i) => i < own.session.len(),
    });
    if !there {
        return Err(usage(format!("there is no item {item}")));
    }
    let session = desk.recordings.session(k);
    let times = session.times();
    let (centre, p_spurious, mut candidates) = proposed(desk, &current, item);
    let nearest = times.partition_point(|time| *time < centre).min(times.len() - 1);
    let around = nearest.saturating_sub(NEIGHBOURS)..(nearest + NEIGHBOURS + 1).min(times.len());
    let neighbours: Vec<Value> = around.map(|i| {
        json!({ "instance": i, "time": times[i], "p_detector": current.mixed[k].instances[i].p_detector })
    }).collect();
    let (from, to) = window(desk, item, centre, &candidates);
    candidates.sort_by(|a, b| b.1.total_cmp(&a.1));
    let candidates: Vec<Value> = candidates
        .into_iter()
        .map(|(i, p)| json!({ "instance": i, "time": times[i], "p": p }))
        .collect();
    Ok(json!({
        "id": item,
        "kind": item.kind(),
        "session": k,
        "stamp": matches!(item, Item::Stamp(..)).then_some(centre),
        "p_spurious": p_spurious,
        "candidates": candidates,
        "neighbours": neighbours,
        "from": from,
        "to": to,
        "others": others(desk, item, from, to),
        "link": link(desk, k, centre),
        "decision": decision,
    }))
}

/// Where an item is, the probability that there was no event, and where there may have been one.
fn proposed(desk: &Desk, current: &Current, item: Item) -> (f64, f64, Vec<(usize, f64)>) {
    let session = desk.recordings.session(item.session());
    let places = &current.mixed[item.session()];
    match item {
        Item::Stamp(_, l) => {
            let place = &places.stamps[l];
            let candidates = place.candidates.iter().map(|one| (one.instance, one.p));
            (session.stamps()[l], place.p_spurious, candidates.collect())
        }
        Item::Missed(_, i) => {
            let p =
                current.ranked(item).map_or(places.instances[i].p_missed, |one| one.probability);
            (session.times()[i], 1.0 - p, vec![(i, p)])
        }
    }
}

/// From where to where to look: all likely candidates, and some instances beyond.
fn window(desk: &Desk, item: Item, centre: f64, candidates: &[(usize, f64)]) -> (f64, f64) {
    let times = desk.recordings.session(item.session()).times();
    let likely = candidates.iter().filter(|(_, p)| *p > 0.01).map(|(i, _)| times[*i]);
    let (first, last) = likely.fold((centre, centre), |(a, b), time| (a.min(time), b.max(time)));
    let margin = (8.0 * desk.recordings.spacing(item.session())).max(0.25 * (last - first));
    (first - margin, last + margin)
}

/// Stamps of others nearby.
fn others(desk: &Desk, item: Item, from: f64, to: f64) -> Vec<Value> {
    let k = item.session();
    let session = desk.recordings.session(k);
    let own = match item {
        Item::Stamp(_, l) => session.annotator_of(l),
        Item::Missed(..) => None,
    };
    let is_other = |l: &usize| {
        session.annotator_of(*l).is_some_and(|who| Some(who) != own)
            && (from..=to).contains(&session.stamps()[*l])
    };
    let each = (0..session.stamps().len()).filter(is_other);
    each.map(
        |l| json!({ "annotator": desk.recordings.annotator(k, l), "time": session.stamps()[l] }),
    )
    .collect()
}

/// A part of a session.
pub(crate) fn signal(
    desk: &Desk,
    k: usize,
    range: (f64, f64),
    pixels: usize,
) -> anyhow::Result<View> {
    let current = std::sync::Arc::clone(&desk.lock().current);
    let Some(places) = current.mixed.get(k) else {
        return Err(usage(format!("there is no session {k}")));
    };
    if !(range.0.is_finite() && range.1.is_finite() && range.0 < range.1) {
        return Err(usage("expected a time and a later one"));
    }
    Ok(desk.recordings.view(k, range, pixels, places))
}
