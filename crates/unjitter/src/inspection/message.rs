//! Findings in plain words: what was seen, where, and what to do.

use std::fmt;

use super::finding::{Finding, SessionShift, SessionStamps, Shift, Stranger};
use super::words::{count, duration, list, names, percent, three_digits};
use crate::io::{TimeUnit, shown};

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = about_tables(self).or_else(|| about_stamps(self)).or_else(|| about_rest(self));
        f.write_str(&text.expect("every finding is in one of the three groups"))
    }
}

/// Names, units and clocks.
fn about_tables(finding: &Finding) -> Option<String> {
    Some(match finding {
        Finding::UnknownSessions { stamps, names, examples } => format!(
            "{} of {} without instances: {}; correct the names, or add the instances",
            count(*stamps, "event", "events"),
            count(*names, "session", "sessions"),
            strangers(examples, *names)
        ),
        Finding::NoSessionColumn { sessions } => format!(
            "the events name no session and there are {sessions}; add a column `session` to the \
             events"
        ),
        Finding::UnreadableTimes { stamps, line, value, expected } => format!(
            "{} with a time that cannot be read, first `{value}` on line {line}: expected {expected}",
            count(*stamps, "event", "events")
        ),
        Finding::UnitMismatch { factor } => format!(
            "the stamps lie in their sessions only if their times are multiplied by {}: {}; write \
             both tables in one unit",
            factor,
            units_of(*factor)
        ),
        Finding::OtherUnit { unit, since_1970: true, .. } => format!(
            "the times look like {} since 1970; if so, say `--times-in {unit}`",
            unit_name(*unit)
        ),
        Finding::OtherUnit { unit, spacing, .. } => format!(
            "neighbouring instances are {} apart; if the times are {}, say `--times-in {unit}`",
            duration(*spacing),
            unit_name(*unit)
        ),
        Finding::ShiftedClock { sessions, common } => shifted(sessions, common.as_ref()),
        Finding::RepeatedSessions { groups } => format!(
            "the same times and features under several names: {}; keep one of each, or a detector \
             is judged on what it learned from",
            grouped(groups)
        ),
        Finding::RepeatedStamps { groups } => format!(
            "the same stamps under several names: {}; were they copied into the wrong session?",
            grouped(groups)
        ),
        _ => return None,
    })
}

/// Stamps.
fn about_stamps(finding: &Finding) -> Option<String> {
    Some(match finding {
        Finding::NoEventsTable => {
            "there is no events table: a detector can be applied here, but not learned".to_owned()
        }
        Finding::NoStamps => {
            "no stamp belongs to any session: there is nothing to learn from".to_owned()
        }
        Finding::OutsideSession { stamps, of, margin, sessions } => format!(
            "{stamps} of {of} stamps lie more than {} before or after their session: {}; look at \
             their dates and sessions, or drop them",
            duration(*margin),
            per_session(sessions)
        ),
        Finding::FarFromPositives { delay: Some(delay), spacing, .. } => format!(
            "the stamps come about {} the positive instances, {} times the usual distance of \
             instances; if people are not so slow, shift them by {}",
            late(*delay),
            three_digits((delay / spacing).abs()),
            signed(-delay)
        ),
        Finding::FarFromPositives { delay: None, sessions, .. } => format!(
            "the stamps are far from the positive instances in some sessions, by about the same \
             time each: {}; was a clock wrong there?",
            list(sessions.iter().map(own_delay).collect())
        ),
        Finding::SameTime { stamps, of } => {
            format!("{stamps} of {of} stamps are at the very time of another; drop repeated lines")
        }
        Finding::DoublePresses { stamps, of, within } => format!(
            "{stamps} of {of} stamps come within {} of another, far more than by chance: double \
             presses? drop the second, or allow for several stamps per event",
            duration(*within)
        ),
        Finding::Unstamped { sessions, of, positive } => {
            let labels = match positive {
                0 => String::new(),
                _ => format!(", {positive} of them with instances labelled positive"),
            };
            format!(
                "{} of {of} sessions have no stamps{labels}: {}; leave them out if nobody was \
                 annotating",
                sessions.len(),
                names(sessions)
            )
        }
        Finding::FewStamps { stamps } => format!(
            "only {}; a detector learned from so few is a guess",
            count(*stamps, "stamp", "stamps")
        ),
        Finding::FewerThanFeatures { stamps, features } => format!(
            "fewer stamps ({stamps}) than features ({features}): expect to need stronger \
             regularisation, or fewer features"
        ),
        Finding::MoreThanInstances { sessions } => format!(
            "more stamps than instances in {}; are these stamps of events, in the right sessions?",
            names(sessions)
        ),
        Finding::WideBesideGap { spread, gap } => format!(
            "stamps scatter by about {} around the positive instances and follow each other every \
             {}: which belongs to which is then half a guess",
            duration(*spread),
            duration(*gap)
        ),
        _ => return None,
    })
}

/// Labels, instances and features.
fn about_rest(finding: &Finding) -> Option<String> {
    Some(match finding {
        Finding::OneClass { label } => format!(
            "every label is {}: nothing can be judged by such labels; leave other instances empty \
             only where nobody looked",
            u8::from(*label)
        ),
        Finding::MostlyPositive { share } => format!(
            "{} of the labels are positive; events are usually rare: are the labels the wrong way \
             round?",
            percent(*share)
        ),
        Finding::PartlyLabelled { labelled, of } => format!(
            "{labelled} of {of} instances have a label; sessions that are not labelled throughout \
             cannot be judged"
        ),
        Finding::InstancesAtOneTime { instances, of, session } => format!(
            "{instances} of {of} instances are at the very time of the one before, first in session \
             {}; are there repeated lines, or times rounded?",
            shown(session)
        ),
        Finding::LongGaps { gaps, longest, session, start, stamps } => {
            let inside = match stamps {
                0 => String::new(),
                _ => format!(", with {} in them", count(*stamps, "stamp", "stamps")),
            };
            format!(
                "{} without instances{inside}, the longest {} after {start} in session {}; split \
                 sessions there if they are several recordings",
                count(*gaps, "long stretch", "long stretches"),
                duration(*longest),
                shown(session)
            )
        }
        Finding::ConstantFeatures { features } => {
            format!("the same value everywhere: {}; these tell nothing", names(features))
        }
        Finding::NearlyConstant { features } => {
            format!("the same value nearly everywhere: {}", names(features))
        }
        Finding::RepeatedFeatures { groups } => {
            format!("the same feature twice: {}; keep one of each", grouped(groups))
        }
        Finding::LabelAsFeature { features } => format!(
            "{} is the label in disguise; a detector would learn to copy it: ignore the column",
            names(features)
        ),
        Finding::HugeValues { features, largest } => format!(
            "values as large as {largest:.1e} in {}; do they stand for missing ones?",
            names(features)
        ),
        _ => return None,
    })
}

fn strangers(examples: &[Stranger], all: usize) -> String {
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

fn grouped(groups: &[Vec<String>]) -> String {
    list(groups.iter().map(|group| names(group).replace(", ", " = ")).collect())
}

fn per_session(sessions: &[SessionStamps]) -> String {
    list(sessions.iter().map(|s| format!("{} in {}", s.stamps, shown(&s.session))).collect())
}

fn shifted(sessions: &[SessionShift], common: Option<&Shift>) -> String {
    let stamps: usize = sessions.iter().map(|session| session.stamps).sum();
    let begun = format!(
        "the stamps of {} ({stamps} stamps) lie outside",
        count(sessions.len(), "session", "sessions")
    );
    let remedy = match common {
        Some(shift) => format!("all would fit if shifted by {}", in_words(shift)),
        None => "each would fit after a shift of its own".to_owned(),
    };
    let entry = |session: &SessionShift| match common {
        Some(_) => shown(&session.session),
        None => format!("{} by {}", shown(&session.session), in_words(&session.shift)),
    };
    let where_ = list(sessions.iter().map(entry).collect());
    format!("{begun}, and {remedy}: {where_}; set the clocks right")
}

fn in_words(shift: &Shift) -> String {
    match shift.hours {
        Some(hours) => format!("{hours:+} h (a time zone?)"),
        None => format!("{} (give or take {})", signed(shift.seconds), duration(shift.give)),
    }
}

fn signed(seconds: f64) -> String {
    let sign = if seconds > 0.0 { "+" } else { "" };
    format!("{sign}{}", duration(seconds))
}

fn late(delay: f64) -> String {
    let side = if delay < 0.0 { "before" } else { "after" };
    format!("{} {side}", duration(delay.abs()))
}

fn own_delay(session: &SessionShift) -> String {
    format!("{} them in {}", late(-session.shift.seconds), shown(&session.session))
}

fn units_of(factor: f64) -> String {
    let (table, other) =
        if factor < 1.0 { ("events", "instances") } else { ("instances", "events") };
    let size = factor.max(1.0 / factor);
    let example = if size < 1e5 {
        "milliseconds beside seconds?"
    } else if size < 1e8 {
        "microseconds beside seconds?"
    } else {
        "nanoseconds beside seconds?"
    };
    format!("the {table} seem to be in a smaller unit than the {other} ({example})")
}

fn unit_name(unit: TimeUnit) -> &'static str {
    match unit {
        TimeUnit::S => "seconds",
        TimeUnit::Ms => "milliseconds",
        TimeUnit::Us => "microseconds",
        TimeUnit::Ns => "nanoseconds",
    }
}
