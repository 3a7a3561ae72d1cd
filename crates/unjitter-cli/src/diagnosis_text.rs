//! A diagnosis, in words and tables.

use std::fmt::Write as _;

use unjitter::diagnosis::{
    Agreement, Diagnosis, Distance, FamilyFit, Intervals, PriorSensitivity, Remedy, SessionFit,
    Slope,
};

use crate::agreement_text;
use crate::commands::evaluate::{align_right, bare_table};
use crate::inspection_text::paragraph;
use crate::modes_text;
use crate::tables::as_text;
use crate::words::{counted, number, percent, seconds};

/// Sessions that are listed.
pub(crate) const LISTED: usize = 10;
/// Columns of the table of sessions.
pub(crate) const HEADER: [&str; 7] =
    ["session", "stamps", "expected", "evidence", "gaps", "delays", "mended by"];
/// Columns of the table of intervals.
pub(crate) const INTERVALS: [&str; 5] = ["95 % intervals", "learned", "by", "from", "to"];
/// What the table needs to be understood.
pub(crate) const CAPTION: &str = "Worst first. Evidence: log evidence per stamp, in deviations from \
    the other sessions. Gaps, delays: distance from what the model says, and what 95 % of chance \
    stays below; * is above.";

/// The whole diagnosis: numbers, tables, and what stands out last, where the eye rests.
pub(crate) fn render(found: &Diagnosis, agreement: &Agreement) -> String {
    let sessions = counted(found.sessions.len(), "session");
    let mut text = format!(
        "{} in {sessions}, {} expected ({:+.1} standard errors)\n\n",
        counted(found.stamps, "stamp"),
        number(found.expected),
        found.surplus,
    );
    let numbers = [
        ("gaps between stamps", distance(&found.residuals)),
        ("delays", distance(&found.delays)),
        ("delay, over a session", slope(found.over_session.as_ref(), "")),
        ("delay, over the day", slope(found.over_day.as_ref(), " per hour")),
    ];
    for (name, value) in numbers {
        let _ = writeln!(text, "{name:<23}{value}");
    }
    let _ = write!(text, "\n{}", table(&HEADER, rows(found), 1));
    let more = found.sessions.len().saturating_sub(LISTED);
    if more > 0 {
        let _ = writeln!(text, " and {}", counted(more, "other session"));
    }
    let _ = writeln!(text, " {}\n", CAPTION.replace(". ", ".\n "));
    for view in agreement_text::tables(Some(found), agreement) {
        let _ = writeln!(text, "{}", as_text(&view, 1));
    }
    if let Some(families) = &found.families {
        let header = ["noise", "held-out log evidence", "standard error"];
        let _ = writeln!(text, "{}", table(&header, family_rows(&found.noise, families), 1));
    }
    if let Some(intervals) = &found.intervals {
        let _ = writeln!(text, "{}", table(&INTERVALS, interval_rows(intervals), 1));
    }
    if let Some(priors) = &found.priors {
        let header = ["prior", "at half its strength", "at twice"];
        let _ = write!(text, "{}", table(&header, prior_rows(priors), 1));
        text.push_str(
            " The most that a parameter moves, in standard errors, by two Newton steps.\n\n",
        );
    }
    let modes = modes_text::rows(&found.modes);
    if !modes.is_empty() {
        let rows = modes.into_iter().map(Vec::from).collect();
        let _ = writeln!(text, "{}", table(&modes_text::HEADER, rows, 1));
    }
    text + &found.remarks(" s").iter().map(|remark| paragraph("", remark)).collect::<String>()
}

fn table(header: &[&str], rows: Vec<Vec<String>>, from: usize) -> String {
    let mut table = bare_table(header);
    table.add_rows(rows);
    align_right(&mut table, from);
    table.trim_fmt() + "\n"
}

fn distance(own: &Distance) -> String {
    let place = if own.is_outside() { "outside" } else { "inside" };
    format!(
        "distance {}, {place} of the band of {} ({} stamps)",
        number(own.distance),
        number(own.band),
        number(own.count)
    )
}

fn slope(own: Option<&Slope>, per: &str) -> String {
    own.map_or("not known".to_owned(), |own| {
        let sign = if own.slope > 0.0 { "+" } else { "" };
        let error = seconds(own.standard_error);
        format!("{sign}{}{per}, standard error {error}", seconds(own.slope))
    })
}

/// A distance, what chance allows, and whether it is more.
pub(crate) fn short_distance(own: &Distance) -> String {
    let mark = if own.is_outside() { " *" } else { "" };
    format!("{:.2} of {:.2}{mark}", own.distance, own.band)
}

/// A row for each of the worst sessions.
pub(crate) fn rows(found: &Diagnosis) -> Vec<Vec<String>> {
    found.sessions.iter().take(LISTED).map(row).collect()
}

fn row(own: &SessionFit) -> Vec<String> {
    vec![
        own.session.replace(char::is_control, "?"),
        own.stamps.to_string(),
        number(own.expected),
        own.deviations.map_or("–".to_owned(), |own| format!("{own:+.1}")),
        short_distance(&own.residuals),
        short_distance(&own.delays),
        match own.remedy {
            Some(Remedy::Shift { by, .. }) => format!("a shift of {}", seconds(by)),
            Some(Remedy::Spread { factor, .. }) => format!("{} × the spread", number(factor)),
            Some(Remedy::Unit { factor, .. }) => format!("a unit of {}", number(factor)),
            None => "–".to_owned(),
        },
    ]
}

fn family_rows(own: &str, others: &[FamilyFit]) -> Vec<Vec<String>> {
    let row = |one: &FamilyFit| {
        let error = number(one.held_out.standard_error);
        vec![one.noise.clone(), format!("{:+.2}", one.held_out.mean), error]
    };
    let first = vec![format!("{own} (in use)"), "0".to_owned(), "–".to_owned()];
    [first].into_iter().chain(others.iter().map(row)).collect()
}

/// Intervals of what was learned, a row for every way of asking.
pub(crate) fn interval_rows(all: &[Intervals]) -> Vec<Vec<String>> {
    let rows = |own: &Intervals| {
        let (name, show): (&str, fn(f64) -> String) = match own.name {
            "delay" => ("delay", seconds),
            "spread" => ("spread", seconds),
            "miss_rate" => ("missed", percent),
            "false_rate" => ("false", percent),
            _ => ("from nowhere, per hour", |rate| number(3600.0 * rate)),
        };
        let ways = [
            ("curvature", Some(own.information)),
            ("profile", own.profile),
            ("clusters", own.clusters),
            ("bootstrap", own.bootstrap),
        ];
        let mut first = [name.to_owned(), show(own.value)];
        let row = |(way, ends): (&str, Option<(f64, f64)>)| {
            let (low, high) = ends?;
            let [name, value] = std::mem::take(&mut first);
            Some(vec![name, value, way.to_owned(), show(low), show(high)])
        };
        ways.into_iter().filter_map(row).collect::<Vec<_>>()
    };
    all.iter().flat_map(rows).collect()
}

fn prior_rows(all: &[PriorSensitivity]) -> Vec<Vec<String>> {
    let mut rows: Vec<Vec<String>> = Vec::new();
    for own in all {
        let most = format!("{:.2}", own.most);
        match rows.last_mut().filter(|row| row[0] == own.prior) {
            Some(row) => row.push(most),
            None => rows.push(vec![own.prior.clone(), most]),
        }
    }
    rows
}
