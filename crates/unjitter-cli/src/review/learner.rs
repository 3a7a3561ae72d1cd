//! Learning from decisions, on a thread of its own.
//!
//! Every so many decisions, each explanation that is not ruled out is followed from where it was, with the labels
//! that the decisions give and without the stamps that were rejected. No starts are searched, so this takes
//! a fraction of the first fit. If what was confirmed is unlike all explanations, another is looked for first, at
//! once: where the delays of confirmed stamps are. The page goes on meanwhile; what was decided in between counts next time.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use unjitter::{Control, Error, FitOptions, Model};

use super::delays;
use super::desk::{Current, DRAWS, Decisions, Desk, Fit, sessions};
use super::explanations::{Explanation, RULED_OUT};
use super::item::{Action, Item};
use super::posteriors::{known, places};
use crate::words::{number, seconds};

/// Starts besides the naive one where an explanation is looked for: up to the one in the middle of the range.
const STARTS: usize = 4;

/// Starts the thread.
pub(crate) fn start(desk: Arc<Desk>) -> std::thread::JoinHandle<()> {
    std::thread::spawn(move || while learn(&desk) {})
}

/// Ends it.
pub(crate) fn stop(desk: &Desk) {
    desk.stop.store(true, Ordering::SeqCst);
    // With the lock, so that it is not missed between a look and the wait.
    let _state = desk.lock();
    desk.news.notify_all();
}

/// Learns from all decisions now.
pub(crate) fn learn_now(desk: &Desk) {
    if look(desk) && !desk.lock().decisions.is_empty() {
        learn_again(desk);
    }
}

/// Waits for decisions and learns from them; false once it is over.
fn learn(desk: &Desk) -> bool {
    {
        let mut state = desk.lock();
        while !state.is_news(desk.every) && !desk.stop.load(Ordering::SeqCst) {
            state = desk.news.wait(state).unwrap_or_else(std::sync::PoisonError::into_inner);
        }
        if desk.stop.load(Ordering::SeqCst) {
            return false;
        }
        state.running = true;
    }
    desk.changed();
    if look(desk) { learn_again(desk) } else { false }
}

/// Looks for an explanation of what was confirmed, if it is unlike all that there are; false if it was stopped. It
/// learns from the decisions, where to look and which instances are events; what it says of each stamp is then asked
/// without them, as of the others.
pub(crate) fn look(desk: &Desk) -> bool {
    let (lead, decisions) = {
        let mut state = desk.lock();
        if !state.is_surprised() {
            return true;
        }
        state.looked_at = delays::confirmed(&state.decisions);
        (Arc::clone(&state.current.lead().fitted), Arc::clone(&state.decisions))
    };
    let own: Vec<&unjitter::Session<'static>> = sessions(&desk.recordings).collect();
    let spacing = lead.time_unit();
    let Some(range) = delays::range(&own, spacing, &decisions) else { return true };
    let model = Model { delay: Some(range), ..lead.model().clone() };
    let options = FitOptions { restarts: STARTS, simulations: 0, ..FitOptions::default() };
    let control = Control { stop: Some(&desk.stop), watch: None };
    let decided: Vec<unjitter::Session<'static>> =
        known(sessions(&desk.recordings), &decisions).into_iter().map(|own| own.session).collect();
    let found = model.fit(&decided, &options, control).and_then(|fitted| {
        let untouched = known(sessions(&desk.recordings), &Decisions::new());
        let places = places(&fitted, &untouched, DRAWS)?;
        Ok((fitted, places))
    });
    match found {
        Ok((fitted, places)) => {
            let is_known = desk.lock().explanations.iter().any(|own| own.tells(&fitted));
            if !is_known {
                desk.found(Explanation::later(fitted, places));
            }
            true
        }
        Err(Error::Cancelled | Error::Interrupted { .. }) => false,
        // Nothing there; the explanations stay as they are.
        Err(_) => true,
    }
}

/// Follows all explanations with what is decided now; false if it was stopped.
fn learn_again(desk: &Desk) -> bool {
    let (fits, decisions, fresh, first) = {
        let state = desk.lock();
        let first = state.explanations.clone();
        (state.current.fits.clone(), Arc::clone(&state.decisions), state.fresh, first)
    };
    let known = known(sessions(&desk.recordings), &decisions);
    let own: Vec<unjitter::Session<'static>> =
        known.iter().map(|own| own.session.clone()).collect();
    let again = |fit: &Fit| -> Result<Fit, Error> {
        if fit.share < RULED_OUT {
            return Ok(fit.clone());
        }
        let options = FitOptions::default();
        let control = Control { stop: Some(&desk.stop), watch: None };
        let fitted = fit.fitted.refitted(&own, &options, control)?;
        let mut places = places(&fitted, &known, DRAWS)?;
        // Whoever thinks again of a stamp that was rejected sees where it might have belonged.
        for (item, decision) in decisions.iter() {
            if let (Item::Stamp(k, l), Action::Reject) = (*item, decision.action) {
                places[k].stamps[l] = first[fit.number].places[k].stamps[l].clone();
            }
        }
        Ok(Fit { fitted: Arc::new(fitted), places: Arc::new(places), ..fit.clone() })
    };
    let mut trouble = None;
    let mut learned = Vec::new();
    for fit in &fits {
        match again(fit) {
            Ok(fit) => learned.push(fit),
            Err(Error::Cancelled | Error::Interrupted { .. }) => return false,
            // Labels that contradict the stamps under this explanation: it stays as it was.
            Err(error) => {
                trouble.get_or_insert(error.to_string());
                learned.push(fit.clone());
            }
        }
    }
    desk.learned(learned, fresh, |before, after| {
        let words = changes(before, after, &decisions);
        match trouble {
            Some(trouble) => format!("{words}; not all could be learned again: {trouble}"),
            None => words,
        }
    });
    true
}

/// What moved, in words. That explanations were ruled out was said with the decision that did it.
fn changes(before: &Current, after: &Current, decisions: &Decisions) -> String {
    let (old, new) = (before.lead().fitted.learned(), after.lead().fitted.learned());
    let mut words = Vec::new();
    let moved = |name: &str, old: f64, new: f64| {
        let (old, new) = (seconds(old), seconds(new));
        (old != new).then(|| format!("{name} {old} → {new}"))
    };
    words.extend(moved("delay", old.delay, new.delay));
    words.extend(moved("spread", old.spread, new.spread));
    let errors = [before, after].map(|one| number(one.expected_errors(decisions)));
    words.push(format!("expected errors left {} → {}", errors[0], errors[1]));
    words.join("; ")
}
