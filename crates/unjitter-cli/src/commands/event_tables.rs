//! What `unjitter align` tells of events: those that were probably missed, and those that stamps belong to.

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
    let header = [session, time].into_iter().chain(end).chain(["p_missed", "p_detector"]);
    let mut table = TableText::new(delimiter, header);
    let mut missed = 0;
    for (k, aligned) in aligned.iter().enumerate() {
        let (name, write) = (data.recordings[k].session.name(), |t| data.clocks[k].write(t));
        let write_end = |begin: f64, last: f64| match told {
            Some((_, false)) => events(data).write_duration(last - begin),
            _ => write(last),
        };
        let mut push = |begin: f64, last: f64, p_missed: f64, p_detector: f64| {
            if p_missed > above {
                missed += 1;
                let times = [name.to_owned(), write(begin)].into_iter();
                let times = times.chain(end.map(|_| write_end(begin, last)));
                table.push(times.chain([p_missed, p_detector].map(probability)));
            }
        };
        match &aligned.runs {
            Some(runs) => {
                runs.iter().for_each(|one| push(one.begin, one.end, one.p_missed, one.p_detector));
            }
            None => aligned
                .instances
                .iter()
                .for_each(|one| push(one.time, one.time, one.p_missed, one.p_detector)),
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
    let header = [session, time].into_iter().chain(end).chain(["p_positive", "stamps", "seen_by"]);
    let mut table = TableText::new(delimiter, header);
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
            table.push(times.chain([probability(event.p_positive), stamps, seen_by]));
        }
    }
    (table.into(), count)
}

/// The column for the ends of events, where they are runs.
fn ends(aligned: &[Aligned]) -> Option<&'static str> {
    aligned.iter().any(|own| own.runs.is_some()).then_some("end")
}
