//! What came of a review, as tables.
//!
//! Tables have the columns of the user's events, with corrected times and a few more, so whatever reads the events
//! reads them. In Python, `unjitter.stamps.read` of the original file, moved by the column of times, writes any of
//! its formats.

use unjitter::io::TableText;

use super::desk::{Desk, State};
use super::item::{Action, Decision, Item};
use crate::commands::align::{STAMP, events, place_column, probability};

/// Columns beside the times.
const COLUMNS: [&str; 5] = [STAMP, "instance_time", "p_spurious", "decision", "reviewer"];

/// The tables, by name.
pub(crate) fn tables(desk: &Desk, time_column: &str) -> Vec<(&'static str, Vec<u8>)> {
    let state = desk.lock();
    let is = |decision: Option<Decision>, action: Action| {
        decision.is_some_and(|own| own.action == action)
    };
    let of = |pick: &dyn Fn(Option<Decision>) -> bool| stamps(desk, &state, time_column, pick);
    vec![
        ("aligned.csv", of(&|decision| !is(decision, Action::Reject))),
        (
            "confirmed.csv",
            of(&|decision| is(decision, Action::Accept) || is(decision, Action::Move)),
        ),
        ("rejected.csv", of(&|decision| is(decision, Action::Reject))),
        ("added.csv", added(desk, &state, time_column)),
    ]
}

/// Stamps whose decision is to be in the table, in the order of the events.
fn stamps(
    desk: &Desk,
    state: &State,
    time_column: &str,
    pick: &dyn Fn(Option<Decision>) -> bool,
) -> Vec<u8> {
    let data = &desk.recordings.data;
    let events = events(data);
    let mut items: Vec<Option<Item>> = vec![None; events.rows.len()];
    for (k, rows) in data.stamp_rows.iter().enumerate() {
        rows.iter().enumerate().for_each(|(l, &row)| items[row] = Some(Item::Stamp(k, l)));
    }
    let mut header = events.header.clone();
    let places: Vec<usize> = [place_column(data, time_column)]
        .into_iter()
        .chain(COLUMNS)
        .map(|name| match header.iter().position(|column| column == name) {
            Some(place) => place,
            None => {
                header.push(name.to_owned());
                header.len() - 1
            }
        })
        .collect();
    let mut table = TableText::new(events.layout().2, &header);
    for (row, item) in items.iter().enumerate() {
        // Events of another kind, which were not asked for.
        let Some(item) = item else { continue };
        let decision = state.decision(*item).filter(|own| own.settles());
        if !pick(decision) {
            continue;
        }
        let mut line: Vec<String> = events.rows[row].cells().map(str::to_owned).collect();
        line.resize(header.len(), String::new());
        let cells =
            cells(desk, state, *item, decision, events.time_text(row), events.stamp_text(row));
        places.iter().zip(cells).for_each(|(&place, cell)| line[place] = cell);
        table.push(&line);
    }
    table.into()
}

/// Where a stamp belongs by decision, or else by the model.
fn cells(
    desk: &Desk,
    state: &State,
    item: Item,
    decision: Option<Decision>,
    like: &str,
    pressed: String,
) -> [String; 6] {
    let Item::Stamp(k, l) = item else { unreachable!("rows of events are stamps") };
    let session = desk.recordings.session(k);
    let write = |i: usize| desk.recordings.data.clocks[k].write_like(session.times()[i], like);
    let place = &state.current.mixed[k].stamps[l];
    let by = state
        .ledger
        .reviewer_of(item)
        .filter(|_| decision.is_some())
        .unwrap_or_default()
        .to_owned();
    match decision {
        Some(Decision { action: Action::Reject, .. }) => {
            [like.to_owned(), pressed, String::new(), probability(1.0), "reject".to_owned(), by]
        }
        Some(Decision { action, instance: Some(i) }) => {
            let action = if action == Action::Accept { "accept" } else { "move" };
            [write(i), pressed, write(i), probability(0.0), action.to_owned(), by]
        }
        _ => {
            let best = place.best().map(|best| write(best.instance));
            let (time, instance) =
                (best.clone().unwrap_or_else(|| like.to_owned()), best.unwrap_or_default());
            [time, pressed, instance, probability(place.p_spurious), String::new(), String::new()]
        }
    }
}

/// Events that nobody had stamped.
fn added(desk: &Desk, state: &State, time_column: &str) -> Vec<u8> {
    let data = &desk.recordings.data;
    let (session, _, delimiter) = events(data).layout();
    let mut table = TableText::new(
        delimiter,
        [session, place_column(data, time_column), "decision", "reviewer"],
    );
    for (&item, decision) in state.decisions.iter() {
        let (Item::Missed(k, _), Some(i), action) = (item, decision.instance, decision.action)
        else {
            continue;
        };
        let own = desk.recordings.session(k);
        let time = data.clocks[k].write(own.times()[i]);
        let word = if action == Action::Add { "add" } else { "missed" };
        let by = state.ledger.reviewer_of(item).unwrap_or_default();
        table.push([own.name(), &time, word, by]);
    }
    table.into()
}
