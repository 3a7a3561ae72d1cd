//! Messages of findings: what was seen, where, and what to do.
//!
//! Lengths of time are given in seconds, minutes and so on, or as bare numbers if the unit is unknown.

use std::fmt;

use super::finding::Finding;
use super::phrases::{
    Words, grouped, late, own_delay, per_session, shifted, shifted_inside, signed, strangers,
    telling, unit_name, units_of,
};
use super::words::{count, duration, list, names, percent, three_digits};
use crate::io::shown;

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&message(self, duration))
    }
}

impl Finding {
    /// The message for times in an unknown unit.
    pub fn in_unit_of_times(&self) -> String {
        message(self, three_digits)
    }
}

/// One long match, so that a finding without a message does not compile.
fn message(finding: &Finding, duration: Words) -> String {
    match finding {
        // Names, units and columns.
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
        Finding::OtherUnit { unit, since_1970: true, .. } => {
            format!("the times look like {} since 1970; if so, read them as such", unit_name(*unit))
        }
        Finding::OtherUnit { unit, spacing, .. } => format!(
            "neighbouring instances are {} apart; if the times are {}, read them as such",
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
             those of one, who presses more than once where they press for the same events; name it \
             as the column of annotators, and each has stamps of their own",
            shown(column),
            people.len(),
            names(people)
        ),
        Finding::EndsUnused { column, time } => format!(
            "the column `{}` of the events is not used: an event is the moment `{}`",
            shown(column),
            shown(time)
        ),
        // Misplaced stamps.
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
        // Number of stamps, and their gaps.
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
             there are any, or say what they were rounded to",
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
        // Labels and times of instances.
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
        Finding::LabelRuns { positives, runs, stamps } => format!(
            "the {positives} positive instances come in {runs} runs of {} on average, with {} in all: \
             stamps are about runs, and a fit that takes each instance for an event believes that \
             most were missed; let labels form a chain",
            three_digits(*positives as f64 / *runs as f64),
            count(*stamps, "stamp", "stamps")
        ),
        Finding::OverlappingWindows { alike, stamps } => format!(
            "neighbouring instances share at least {} of what they show, as windows that overlap do: an \
             event is in several of them, with {} in all; let labels form a chain, unless each of \
             them would be stamped",
            percent(*alike),
            count(*stamps, "stamp", "stamps")
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
        // Features.
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
    }
}
