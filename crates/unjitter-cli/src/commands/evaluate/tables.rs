//! Learners compared, as tables: by instances, events, bouts and classes.

use comfy_table::{CellAlignment, Table, TableComponent, presets};
use unjitter::evaluation::{BoutMetrics, EventSummary, LabelledSummary, Scores, Summary};
use unjitter::labels::Labels;

use crate::classes_text::score_rows;
use crate::evidence_text::{behind, caption, options_table};
use crate::learners::description;
use crate::words::seconds;

/// The comparison for people: instances, and below them events.
pub(crate) fn table(summaries: &[&Summary]) -> String {
    let labelled = summaries.iter().any(|summary| summary.labelled.is_some());
    let header: &[&str] = match labelled {
        true => &["learner", "learns from", "F1", "95 % interval", "precision", "recall", "p"],
        false => &["learner", "learns from", "log evidence per stamp", "behind the best"],
    };
    let mut table = bare_table(header);
    for summary in summaries {
        let mut row = vec![summary.name.clone(), description(&summary.name).to_owned()];
        match &summary.labelled {
            Some(labelled) => row.extend(scores(labelled)),
            None => {
                let evidence = summary.log_evidence_per_stamp;
                row.push(evidence.map_or("impossible".to_owned(), |value| format!("{value:.3}")));
                row.push(behind(summary.behind));
            }
        }
        table.add_row(row);
    }
    align_right(&mut table, 2);
    let mut text = table.trim_fmt();
    if let [first, _, ..] = summaries
        && labelled
    {
        let name = &first.name;
        text += &format!(
            "\n p: how easily chance alone gives such a difference to {name} over the folds\n    \
             (paired t-test, corrected for the number of learners)"
        );
    }
    let further = [
        event_table(summaries),
        bout_table(summaries),
        class_table(summaries),
        options_table(summaries),
    ];
    if !labelled && further[3].is_none() {
        text += &format!("\n{}", caption());
    }
    further.into_iter().flatten().fold(text, |text, more| format!("{text}\n\n{more}"))
}

/// Scores of the learners by events; nothing without labels.
fn event_table(summaries: &[&Summary]) -> Option<String> {
    let header = ["learner", "event F1", "precision", "recall", "false alarms per hour"];
    let mut table = bare_table(&header);
    let mut said = None;
    for summary in summaries {
        let Some(LabelledSummary { events, .. }) = &summary.labelled else { continue };
        table.add_row([vec![summary.name.clone()], event_scores(events).to_vec()].concat());
        said = said.or_else(|| Some(tolerance(events)));
    }
    align_right(&mut table, 1);
    said.map(|said| format!("{}\n {said}", table.trim_fmt()))
}

/// What detected runs have in common with true ones; nothing if events are no runs.
fn bout_table(summaries: &[&Summary]) -> Option<String> {
    let rows = bout_rows(summaries);
    if rows.is_empty() {
        return None;
    }
    let mut table = bare_table(&BOUT_HEADER);
    table.add_rows(rows);
    align_right(&mut table, 1);
    Some(format!("{}\n {}", table.trim_fmt(), BOUT_CAPTION.replace("; ", ";\n ")))
}

/// Columns of scores of bouts.
pub(crate) const BOUT_HEADER: [&str; 7] =
    ["learner", "overlap F1", "start off by", "end off by", "PSDS F1", "segment F1", "error rate"];
/// What they mean.
pub(crate) const BOUT_CAPTION: &str = "overlap: at least half of what both cover is common; PSDS: \
    seven tenths of what is found lies in events, and covers seven tenths of them; segments: seconds \
    with and without events";

/// Scores of bouts of all learners that have some.
pub(crate) fn bout_rows(summaries: &[&Summary]) -> Vec<Vec<String>> {
    let row = |summary: &&Summary| {
        let own = summary.labelled.as_ref()?.events.bouts?;
        Some([vec![summary.name.clone()], bout_scores(&own).to_vec()].concat())
    };
    summaries.iter().filter_map(row).collect()
}

/// How well each class is found; nothing if no learner knows classes.
fn class_table(summaries: &[&Summary]) -> Option<String> {
    let mut table = bare_table(&CLASS_HEADER);
    let rows: Vec<Vec<String>> = summaries.iter().flat_map(|own| class_rows(own)).collect();
    if rows.is_empty() {
        return None;
    }
    table.add_rows(rows);
    align_right(&mut table, 2);
    Some(format!("{}\n {CLASS_CAPTION}\n {}", table.trim_fmt(), any_class(summaries),))
}

/// What scores by class are.
pub(crate) const CLASS_CAPTION: &str =
    "Instances by class; macro is the mean of all classes, micro counts all events together.";
/// Columns of them.
pub(crate) const CLASS_HEADER: [&str; 6] =
    ["learner", "class", "events", "F1", "precision", "recall"];

/// Scores of a learner by class, and their averages; none if it knows no classes.
pub(crate) fn class_rows(summary: &Summary) -> Vec<Vec<String>> {
    let Some(own) = summary.labelled.as_ref().and_then(|own| own.classes.as_ref()) else {
        return Vec::new();
    };
    let named = |row: Vec<String>| [summary.name.clone()].into_iter().chain(row).collect();
    score_rows(own).into_iter().map(named).collect()
}

/// What the scores of all learners are about where there are classes.
pub(crate) fn any_class(summaries: &[&Summary]) -> String {
    let is_blind = |own: &&&Summary| class_rows(own).is_empty();
    let blind: Vec<&str> = summaries.iter().filter(is_blind).map(|own| own.name.as_str()).collect();
    let others = match blind[..] {
        [] => String::new(),
        [only] => format!("; {only} tells no classes apart"),
        _ => format!("; {} tell no classes apart", blind.join(", ")),
    };
    format!("All other scores are of events of any class{others}.")
}

/// The scores of bouts as text.
fn bout_scores(bouts: &BoutMetrics) -> [String; 6] {
    let BoutMetrics { overlap, errors, intersection, stretches, error_rate, .. } = bouts;
    let f1 = |scores: &Scores| format!("{:.3}", scores.f1);
    let or_none = |text: Option<String>| text.unwrap_or_else(|| "–".to_owned());
    [
        f1(overlap),
        or_none(errors.map(|(start, _)| seconds(start))),
        or_none(errors.map(|(_, end)| seconds(end))),
        f1(intersection),
        f1(stretches),
        or_none(error_rate.map(|rate| format!("{rate:.3}"))),
    ]
}

/// The tolerance of detections, in a sentence.
pub(crate) fn tolerance(events: &EventSummary) -> String {
    let apart = match events.min_separation {
        0.0 => String::new(),
        apart => format!(", and two detections are {} apart at least", seconds(apart)),
    };
    let tolerance = seconds(events.tolerance);
    match events.labels {
        Labels::Independent => {
            format!("An event is found by a detection within {tolerance} of it{apart}.")
        }
        Labels::Chain => format!(
            "An event is a run of instances, and found by one that begins within {tolerance} of \
             it{apart}."
        ),
    }
}

/// F1, precision, recall and false alarms per hour.
pub(crate) fn event_scores(events: &EventSummary) -> [String; 4] {
    let EventSummary { metrics, .. } = events;
    let [f1, precision, recall] =
        [metrics.scores.f1, metrics.scores.precision, metrics.scores.recall]
            .map(|score| format!("{score:.3}"));
    [
        f1,
        precision,
        recall,
        metrics.false_alarms_per_hour.map_or("–".to_owned(), |rate| format!("{rate:.2}")),
    ]
}

pub(crate) fn bare_table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_preset(presets::UTF8_HORIZONTAL_ONLY);
    table.remove_style(TableComponent::HorizontalLines);
    table.remove_style(TableComponent::MiddleIntersections);
    table.set_header(header);
    table
}

pub(crate) fn align_right(table: &mut Table, from: usize) {
    for column in table.column_iter_mut().skip(from) {
        column.set_cell_alignment(CellAlignment::Right);
    }
}

fn scores(labelled: &LabelledSummary) -> [String; 5] {
    let LabelledSummary { scores, f1_interval, p_value, .. } = labelled;
    [
        format!("{:.3}", scores.f1),
        format!("{:.3} to {:.3}", f1_interval.low, f1_interval.high),
        format!("{:.3}", scores.precision),
        format!("{:.3}", scores.recall),
        match p_value {
            None => String::new(),
            Some(p) if *p < 0.001 => "< 0.001".to_owned(),
            Some(p) => format!("{p:.3}"),
        },
    ]
}
