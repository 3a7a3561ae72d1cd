//! What `unjitter align` tells of events: those that were probably missed, and those that stamps belong to.

use std::ops::Range;

use unjitter::Aligned;
use unjitter::io::{Dataset, TableText};

use super::align::{STAMP, events, place_column, probability};

/// A table of events that were probably missed, and how many there are.
pub(crate) fn missed_table(
    data: &Dataset,
    aligned: &[Aligned],
    time_column: &str,
    above: f64,
) -> (Vec<u8>, usize) {
    let (session, time, delimiter) = events(data).layout();
    let is_place = time != STAMP && !events(data).is_between();
    let time = if is_place { time } else { place_column(data, time_column) };
    // Where labels form runs, events end: as the table tells ends, or at a time.
    let told = events(data).end_column();
    let end = told.map(|(name, _)| name).or(ends(aligned));
    let class = class_column(aligned);
    let header = [session, time].into_iter().chain(end).chain(class);
    let mut table = TableText::new(delimiter, header.chain(["p_missed", "p_detector"]));
    let mut missed = 0;
    for (k, aligned) in aligned.iter().enumerate() {
        let (name, write) = (data.recordings[k].session.name(), |t| data.clocks[k].write(t));
        let write_end = |begin: f64, last: f64| match told {
            Some((_, false)) => events(data).write_duration(last - begin),
            _ => write(last),
        };
        let mut push = |instances: Range<usize>, [begin, last]: [f64; 2], told: [f64; 2]| {
            if told[0] > above {
                missed += 1;
                let times = [name.to_owned(), write(begin)].into_iter();
                let times = times.chain(end.map(|_| write_end(begin, last)));
                let own = aligned.classes.as_ref().map(|own| own.of_event(instances).to_owned());
                let own = class.map(|_| own.unwrap_or_default());
                table.push(times.chain(own).chain(told.map(probability)));
            }
        };
        match &aligned.runs {
            Some(runs) => runs.iter().for_each(|one| {
                let within = one.first..one.last + 1;
                push(within, [one.begin, one.end], [one.p_missed, one.p_detector]);
            }),
            None => aligned.instances.iter().enumerate().for_each(|(i, one)| {
                push(i..i + 1, [one.time; 2], [one.p_missed, one.p_detector]);
            }),
        }
    }
    (table.into(), missed)
}

/// A table of the events that stamps belong to, each with the stamps of all annotators; and how many there are.
pub(super) fn merged_table(
    data: &Dataset,
    aligned: &[Aligned],
    time_column: &str,
) -> (Vec<u8>, usize) {
    let (session, _, delimiter) = events(data).layout();
    let time = place_column(data, time_column);
    let end = ends(aligned);
    let class = class_column(aligned);
    let header = [session, time].into_iter().chain(end).chain(class);
    let mut table = TableText::new(delimiter, header.chain(["p_positive", "stamps", "seen_by"]));
    let mut count = 0;
    for (k, aligned) in aligned.iter().enumerate() {
        let session = &data.recordings[k].session;
        for event in aligned.events(session) {
            count += 1;
            let write = |t| data.clocks[k].write(t);
            let times = [session.name().to_owned(), write(event.time)].into_iter();
            let times = times.chain(end.map(|_| write(event.end)));
            let stamps = event.stamps.len().to_string();
            let names = event.seen_by.iter().map(|&who| session.annotators()[who].as_str());
            let seen_by = names.collect::<Vec<_>>().join("; ");
            let own = class.map(|_| event.class.unwrap_or_default());
            table.push(times.chain(own).chain([probability(event.p_positive), stamps, seen_by]));
        }
    }
    (table.into(), count)
}

/// The column for the likeliest class of an event, if there are several.
fn class_column(aligned: &[Aligned]) -> Option<&'static str> {
    aligned.iter().any(|own| own.classes.is_some()).then_some("class")
}

/// The column for the ends of events, where they are runs.
fn ends(aligned: &[Aligned]) -> Option<&'static str> {
    aligned.iter().any(|own| own.runs.is_some()).then_some("end")
}
