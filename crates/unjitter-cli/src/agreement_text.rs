//! How annotators fit and agree, as tables.

use unjitter::diagnosis::{Agreement, AnnotatorShare, Diagnosis, GroupFit, PairAgreement};

use crate::diagnosis_text::short_distance;
use crate::report::TableView;
use crate::words::{counted, number, percent};

/// Most rows of a table.
const SHOWN: usize = 12;

/// All tables about annotators; none if there is only one, or they are not known.
pub(crate) fn tables(found: Option<&Diagnosis>, agreement: &Agreement) -> Vec<TableView> {
    let mut tables = Vec::new();
    if let Some(found) = found.filter(|found| found.annotators.len() > 1) {
        tables.push(fits(&found.annotators));
    }
    if !agreement.annotators.is_empty() {
        tables.push(shares(&agreement.annotators));
        tables.push(pairs(&agreement.pairs));
    }
    tables
}

/// A table of what was measured, and how many rows are left out.
fn table<T>(
    title: &str,
    caption: &str,
    header: &[&str],
    all: &[T],
    row: impl Fn(&T) -> Vec<String>,
) -> TableView {
    let mut caption = caption.to_owned();
    if let Some(others) = all.len().checked_sub(SHOWN).filter(|others| *others > 0) {
        caption += &format!(" And {} more.", counted(others, "row"));
    }
    TableView {
        title: title.to_owned(),
        caption,
        header: header.iter().map(|name| (*name).to_owned()).collect(),
        rows: all.iter().take(SHOWN).map(row).collect(),
    }
}

fn fits(all: &[GroupFit]) -> TableView {
    table(
        "Fit by annotator",
        "Gaps, delays: distance from what the model says, and what 95 % of chance stays below; * is above.",
        &["annotator", "sessions", "stamps", "expected", "gaps", "delays"],
        all,
        |own| {
            vec![
                own.name.clone(),
                own.sessions.to_string(),
                own.stamps.to_string(),
                number(own.expected),
                short_distance(&own.residuals),
                short_distance(&own.delays),
            ]
        },
    )
}

fn shares(all: &[AnnotatorShare]) -> TableView {
    table(
        "What annotators of the same sessions saw",
        "Events: as the stamps of all and the features tell. For nothing: stamps that belong to no event.",
        &["annotator", "sessions", "stamps", "events", "saw", "missed", "for nothing"],
        all,
        |own| {
            let missed = (own.events - own.seen).max(0.0) / own.events.max(f64::MIN_POSITIVE);
            vec![
                own.annotator.clone(),
                own.sessions.to_string(),
                own.stamps.to_string(),
                number(own.events),
                number(own.seen),
                percent(missed),
                number(own.spurious.max(0.0)),
            ]
        },
    )
}

fn pairs(all: &[PairAgreement]) -> TableView {
    let mut all = all.to_vec();
    if all.len() > SHOWN {
        all.sort_by(|a, b| a.kappa.total_cmp(&b.kappa));
    }
    table(
        "How far annotators agree",
        "Cohen's kappa over instances. Nearest: with each stamp at its nearest instance, as is usual. \
         By the model: with stamps where they belong. Both: instances that both stamped.",
        &["annotators", "sessions", "kappa, nearest", "kappa, by the model", "both"],
        &all,
        |own| {
            let kappa = |kappa: f64| match kappa.is_nan() {
                true => "–".to_owned(),
                false => format!("{kappa:.2}"),
            };
            vec![
                format!("{} and {}", own.a, own.b),
                own.sessions.to_string(),
                kappa(own.kappa_nearest),
                kappa(own.kappa),
                number(own.both),
            ]
        },
    )
}
