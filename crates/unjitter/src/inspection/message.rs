//! Findings in plain words: what was seen, where, and what to do.
//!
//! Lengths of time are said in seconds, minutes and so on, or as bare numbers where nobody told
//! what the unit is.

use std::fmt;

use super::finding::{Finding, SessionShift, SessionStamps, Shift, Stranger, Telling};
use super::words::{count, duration, list, names, percent, three_digits};
use crate::io::{TimeUnit, shown};

/// How a length of time is said.
type Words = fn(f64) -> String;

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&message(self, duration))
    }
}

impl Finding {
    /// The message, for times in a unit that nobody told.
    pub fn in_unit_of_times(&self) -> String {
        message(self, three_digits)
    }
}

fn message(finding: &Finding, duration: Words) -> String {
    let text = about_tables(finding, duration)
        .or_else(|| about_clocks(finding, duration))
        .or_else(|| about_stamps(finding, duration))
        .or_else(|| about_instances(finding, duration))
        .or_else(|| about_features(finding));
    text.expect("every finding is in one of the groups")
}

/// Names, units and columns.
fn about_tables(finding: &Finding, duration: Words) -> Option<String> {
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
        Finding::UnitMismatch { factor, doubtless } => format!(
            "the stamps {} if their times are multiplied by {}: {}; write both in one unit",
            match doubtless {
                true => "fit their sessions only",
                false => "lie in a small part of their sessions, and would fill them",
            },
            three_digits(*factor),
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
        Finding::RepeatedSessions { groups } => format!(
            "the same times and features under several names: {}; keep one of each, or a detector \
             is judged on what it learned from",
            grouped(groups)
        ),
        Finding::RepeatedStamps { groups } => format!(
            "the same stamps under several names: {}; were they copied into the wrong session?",
            grouped(groups)
        ),
        Finding::SeveralKinds { column, kinds } => format!(
            "the column `{}` of the events tells {} kinds apart: {}; all are taken for stamps of \
             one kind of event: if they are not, keep one of them with `only`",
            shown(column),
            kinds.len(),
            names(kinds)
        ),
        Finding::SeveralAnnotators { column, people } => format!(
            "the column `{}` of the events tells {} people apart: {}; their stamps are taken for \
             those of one, who presses more than once where they press for the same events: if \
             they differ much, keep one with `only`",
            shown(column),
            people.len(),
            names(people)
        ),
        Finding::EndsUnused { column, time } => format!(
            "the column `{}` of the events is not used: an event is the moment `{}`",
            shown(column),
            shown(time)
        ),
        _ => return None,
    })
}

/// Stamps that are not where they belong.
fn about_clocks(finding: &Finding, duration: Words) -> Option<String> {
    Some(match finding {
        Finding::ShiftedClock { sessions, common, .. } => {
            shifted(sessions, common.as_ref(), duration)
        }
        Finding::ShiftedInside { sessions, common, doubtless } => {
            shifted_inside(sessions, common.as_ref(), *doubtless, duration)
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
            late(*delay, duration),
            three_digits((delay / spacing).abs()),
            signed(-delay, duration)
        ),
        Finding::FarFromPositives { delay: None, sessions, .. } => format!(
            "the stamps are far from the positive instances in some sessions, by about the same \
             time each: {}; was a clock wrong there?",
            list(sessions.iter().map(|session| own_delay(session, duration)).collect())
        ),
        _ => return None,
    })
}

/// How many stamps there are, and how close.
fn about_stamps(finding: &Finding, duration: Words) -> Option<String> {
    Some(match finding {
        Finding::NoEventsTable => {
            "there is no events table: a detector can be applied here, but not learned".to_owned()
        }
        Finding::NoStamps => {
            "no stamp belongs to any session: there is nothing to learn from".to_owned()
        }
        Finding::SameTime { stamps, of } => {
            format!("{stamps} of {of} stamps are at the very time of another; drop repeated lines")
        }
        Finding::DoublePresses { stamps, of, within } => format!(
            "{stamps} of {of} stamps come within {} of another, far more than by chance: double \
             presses? drop the second, or allow for several stamps per event",
            duration(*within)
        ),
        Finding::Pairs { pairs, of, apart } => format!(
            "{} of {of} stamps are one of two that lie about {} apart and far from all others: two \
             people pressing for each event, or one pressing twice? A fit takes them for two \
             events; keep one of each two, or allow for several stamps per event",
            2 * pairs,
            duration(*apart)
        ),
        Finding::RoundedStamps { stamps, of, grid, spacing } => format!(
            "{stamps} of {of} stamps are at a whole multiple of {}, with instances {} apart: they \
             were rounded. A fit takes that for sloppiness, about {} of it; use finer ones if \
             there are any",
            duration(*grid),
            duration(*spacing),
            duration(grid / 12f64.sqrt())
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

/// Labels and times of instances.
fn about_instances(finding: &Finding, duration: Words) -> Option<String> {
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
        _ => return None,
    })
}

/// Features.
fn about_features(finding: &Finding) -> Option<String> {
    Some(match finding {
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
        Finding::StampsAsFeature { features } => format!(
            "{}: a label, or the stamps, among the features? A detector would learn to copy it, \
             and fail where there is none: name it as the label, or ignore the column",
            list(features.iter().map(telling).collect())
        ),
        Finding::LabelName { features } => format!(
            "{} is taken for a feature; if it is the label, say so, or ignore the column",
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

fn telling(one: &Telling) -> String {
    let Telling { feature, runs, stamps, matched, .. } = one;
    format!(
        "`{}` goes with the stamps one to one ({matched} times, of {runs} and {stamps})",
        shown(feature)
    )
}

fn shifted_inside(
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

fn shifted(sessions: &[SessionShift], common: Option<&Shift>, duration: Words) -> String {
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

fn signed(seconds: f64, duration: Words) -> String {
    let sign = if seconds > 0.0 { "+" } else { "" };
    format!("{sign}{}", duration(seconds))
}

fn late(delay: f64, duration: Words) -> String {
    let side = if delay < 0.0 { "before" } else { "after" };
    format!("{} {side}", duration(delay.abs()))
}

fn own_delay(session: &SessionShift, duration: Words) -> String {
    format!("{} them in {}", late(-session.shift.seconds, duration), shown(&session.session))
}

fn units_of(factor: f64) -> String {
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

fn unit_name(unit: TimeUnit) -> &'static str {
    match unit {
        TimeUnit::S => "seconds",
        TimeUnit::Ms => "milliseconds",
        TimeUnit::Us => "microseconds",
        TimeUnit::Ns => "nanoseconds",
    }
}
