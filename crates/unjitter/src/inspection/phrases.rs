//! Longer parts of messages.

use super::finding::{SessionShift, SessionStamps, Shift, Stranger, Telling};
use super::words::{count, list, names};
use crate::io::{TimeUnit, shown};

/// Formats a length of time.
pub(super) type Words = fn(f64) -> String;

pub(super) fn strangers(examples: &[Stranger], all: usize) -> String {
    let entry = |stranger: &Stranger| {
        let name = shown(&stranger.session);
        match &stranger.likely {
            Some(likely) => format!("`{name}` (did you mean `{}`?)", shown(likely)),
            None => format!("`{name}`"),
        }
    };
    let mut entries: Vec<String> = examples.iter().map(entry).collect();
    entries.resize(all.max(entries.len()), String::new());
    list(entries)
}

pub(super) fn grouped(groups: &[Vec<String>]) -> String {
    list(groups.iter().map(|group| names(group).replace(", ", " = ")).collect())
}

pub(super) fn per_session(sessions: &[SessionStamps]) -> String {
    list(sessions.iter().map(|s| format!("{} in {}", s.stamps, shown(&s.session))).collect())
}

pub(super) fn telling(one: &Telling) -> String {
    let Telling { feature, runs, stamps, matched, .. } = one;
    format!(
        "`{}` goes with the stamps one to one ({matched} times, of {runs} and {stamps})",
        shown(feature)
    )
}

pub(super) fn shifted_inside(
    sessions: &[SessionShift],
    common: Option<&Shift>,
    doubtless: bool,
    duration: Words,
) -> String {
    let seem = if doubtless { "are" } else { "seem to be" };
    let Some(shift) = common else {
        let own = |session: &SessionShift| {
            format!("{} by {}", shown(&session.session), in_words(&session.shift, duration))
        };
        return format!(
            "the stamps {seem} off by a long constant time in some sessions, for the features \
             stand out so long from them and nowhere else; shift them: {}",
            list(sessions.iter().map(own).collect())
        );
    };
    let side = if shift.seconds < 0.0 { "before" } else { "after" };
    format!(
        "the stamps {seem} off by a long constant time: the features stand out about {} {side} \
         them, and nowhere else; set the clock right, or shift the stamps by {}",
        duration(shift.seconds.abs()),
        in_words(shift, duration)
    )
}

pub(super) fn shifted(
    sessions: &[SessionShift],
    common: Option<&Shift>,
    duration: Words,
) -> String {
    let stamps: usize = sessions.iter().map(|session| session.stamps).sum();
    let begun = format!(
        "the stamps of {} ({stamps} stamps) lie outside",
        count(sessions.len(), "session", "sessions")
    );
    let remedy = match common {
        Some(shift) => format!("all would fit if shifted by {}", in_words(shift, duration)),
        None => "each would fit after a shift of its own".to_owned(),
    };
    let entry = |session: &SessionShift| match common {
        Some(_) => shown(&session.session),
        None => format!("{} by {}", shown(&session.session), in_words(&session.shift, duration)),
    };
    let where_ = list(sessions.iter().map(entry).collect());
    format!(
        "{begun}, and {remedy}: {where_}; set the clocks right, or drop stamps of times that \
             were not recorded"
    )
}

fn in_words(shift: &Shift, duration: Words) -> String {
    match shift.hours {
        Some(hours) => format!("{hours:+} h (a time zone?)"),
        None => {
            format!("{} (give or take {})", signed(shift.seconds, duration), duration(shift.give))
        }
    }
}

pub(super) fn signed(seconds: f64, duration: Words) -> String {
    let sign = if seconds > 0.0 { "+" } else { "" };
    format!("{sign}{}", duration(seconds))
}

pub(super) fn late(delay: f64, duration: Words) -> String {
    let side = if delay < 0.0 { "before" } else { "after" };
    format!("{} {side}", duration(delay.abs()))
}

pub(super) fn own_delay(session: &SessionShift, duration: Words) -> String {
    format!("{} them in {}", late(-session.shift.seconds, duration), shown(&session.session))
}

pub(super) fn units_of(factor: f64) -> String {
    let (table, other) =
        if factor < 1.0 { ("events", "instances") } else { ("instances", "events") };
    let size = factor.max(1.0 / factor);
    let example = if size < 100.0 {
        "seconds beside minutes?"
    } else if size < 1e5 {
        "milliseconds beside seconds?"
    } else if size < 1e8 {
        "microseconds beside seconds?"
    } else {
        "nanoseconds beside seconds?"
    };
    format!("the {table} seem to be in a smaller unit than the {other} ({example})")
}

pub(super) fn unit_name(unit: TimeUnit) -> &'static str {
    match unit {
        TimeUnit::S => "seconds",
        TimeUnit::Ms => "milliseconds",
        TimeUnit::Us => "microseconds",
        TimeUnit::Ns => "nanoseconds",
    }
}
