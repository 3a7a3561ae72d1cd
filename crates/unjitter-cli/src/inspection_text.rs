//! The contents of a dataset, as text for a terminal.

use std::fmt::Write as _;

use unjitter::inspection::{
    Finding, Histogram, Inspection, PerSession, Severity, Summary, duration,
};

use unjitter::scan::Scan;

use crate::words::counted;

/// Columns of the longest bar of a histogram, of the 60 that it takes with its labels.
const BAR: usize = 38;
/// Columns of text.
const WIDTH: usize = 80;
/// Eighths of a column.
const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/// The whole inspection: numbers, delays, and the findings last, where the eye rests.
pub(crate) fn render(inspection: &Inspection) -> String {
    let mut text = numbers(&inspection.summary, inspection.changes.as_ref());
    let histograms = [
        ("Delay of stamps after the nearest instance", &inspection.from_nearest_instance),
        ("Delay of stamps after the nearest positive instance", &inspection.from_nearest_positive),
    ];
    for (title, histogram) in histograms {
        if let Some(histogram) = histogram {
            let _ = write!(text, "\n{title}, in seconds\n{}", bars(histogram));
        }
    }
    text + "\n" + &findings(&inspection.findings)
}

fn numbers(summary: &Summary, changes: Option<&Scan>) -> String {
    let mut lines = vec![("sessions", summary.sessions.to_string())];
    let groups = [
        ("subjects", summary.subjects),
        ("annotators", summary.annotators),
        ("devices", summary.devices),
        ("clocks", summary.clocks),
    ];
    let named = groups.into_iter().filter_map(|(name, groups)| Some((name, groups?.to_string())));
    lines.extend(named);
    let instances = format!(
        "{}, {} per session, {}",
        summary.instances,
        range(&summary.instances_per_session),
        counted(summary.features, "feature")
    );
    lines.push(("instances", instances));
    lines.push(("recorded", duration(3600.0 * summary.hours)));
    if let Some(spacing) = &summary.spacing {
        let kind = if spacing.irregular { "irregular" } else { "regular" };
        let text = format!(
            "{} ({} to {} in nine of ten, at most {}; {kind})",
            duration(spacing.median),
            duration(spacing.low),
            duration(spacing.high),
            duration(spacing.longest)
        );
        lines.push(("spacing", text));
    }
    lines.push(("stamps", stamps(summary)));
    if let Some(balance) = &summary.balance {
        let mut text = format!(
            "{} of {} ({:.1} %; {:.1} to {:.1} % by session)",
            balance.positives,
            balance.labelled,
            100.0 * balance.share,
            100.0 * balance.lowest_share,
            100.0 * balance.highest_share
        );
        if balance.unlabelled > 0.0 {
            let _ = write!(text, ", {:.1} % without a label", 100.0 * balance.unlabelled);
        }
        lines.push(("positives", text));
    }
    if let Some(scan) = changes {
        lines.push(("changes", most_changed(scan)));
    }
    lines.iter().map(|(name, value)| format!("{name:<11}{value}\n")).collect()
}

fn most_changed(scan: &Scan) -> String {
    match scan.peaks.first() {
        Some(peak) => {
            let side = if peak.lag >= 0.0 { "before" } else { "after" };
            let (lag, width) = (duration(peak.lag.abs()), duration(peak.width));
            format!("features differ most {lag} {side} the stamps, in windows of {width}")
        }
        None => "features differ around the stamps no more than by chance".to_owned(),
    }
}

fn stamps(summary: &Summary) -> String {
    let mut text = format!("{}", summary.stamps);
    if summary.stamps == 0 {
        return text;
    }
    let _ = write!(text, ", {} per session", range(&summary.stamps_per_session));
    if let Some(rate) = summary.stamps_per_hour {
        let _ = write!(text, ", {rate:.1} per hour");
    }
    if let Some(gap) = summary.stamp_gap {
        let _ = write!(text, ", every {}", duration(gap));
    }
    text
}

fn range(numbers: &PerSession) -> String {
    match numbers.lowest == numbers.highest {
        true => format!("{}", numbers.lowest),
        false => format!("{} to {}", numbers.lowest, numbers.highest),
    }
}

/// One line per bin: its middle, a bar, its count.
fn bars(histogram: &Histogram) -> String {
    let highest = *histogram.counts.iter().max().unwrap_or(&1);
    let width = histogram.edges[1] - histogram.edges[0];
    let decimals = (1.0 - width.log10().floor()).clamp(0.0, 9.0) as usize;
    let label = |middle: f64| format!("{middle:>12.decimals$}");
    let mut lines = Vec::new();
    let beyond = |sign, edge: f64, count| {
        let edge = format!("{sign} {edge:.*}", decimals.saturating_sub(1));
        format!("{edge:>12}   {:BAR$} {count:>5}\n", "")
    };
    if histogram.below > 0 {
        lines.push(beyond("<", histogram.edges[0], histogram.below));
    }
    for (edges, &count) in histogram.edges.windows(2).zip(&histogram.counts) {
        let middle = (edges[0] + edges[1]) / 2.0;
        let bar = bar(count, highest);
        lines.push(format!("{}  │{bar:BAR$} {count:>5}\n", label(middle)));
    }
    if histogram.above > 0 {
        lines.push(beyond("≥", histogram.edges[histogram.counts.len()], histogram.above));
    }
    let quartiles = (histogram.lower_quartile, histogram.upper_quartile);
    let middle = format!(
        "{:>12}  half between {} and {}, median {}\n",
        "",
        duration(quartiles.0),
        duration(quartiles.1),
        duration(histogram.median)
    );
    lines.concat() + &middle
}

/// A bar of up to `BAR` columns, to an eighth of a column; visible unless zero.
fn bar(count: usize, highest: usize) -> String {
    let eighths = (count * BAR * 8).div_ceil(highest.max(1));
    "█".repeat(eighths / 8) + EIGHTHS[eighths % 8]
}

fn findings(findings: &[Finding]) -> String {
    if findings.is_empty() {
        return "Nothing looks wrong.\n".to_owned();
    }
    findings.iter().map(finding).collect()
}

/// The message of a finding, with the option that helps, which the library does not know.
pub(crate) fn in_words(finding: &Finding) -> String {
    match finding {
        Finding::OtherUnit { unit, .. } => format!("{finding} (--times-in {unit})"),
        Finding::SeveralAnnotators { column, .. } => {
            format!("{finding} (--annotator-column {})", column.replace(char::is_control, "?"))
        }
        Finding::LabelRuns { .. } | Finding::OverlappingWindows { .. } => {
            format!("{finding} (--labels chain)")
        }
        Finding::RoundedStamps { grid, .. } => format!("{finding} (--rounded {grid}s)"),
        // One shift for all is better put right at its source.
        Finding::ShiftedClock { common: None, .. }
        | Finding::ShiftedInside { common: None, .. }
        | Finding::FarFromPositives { delay: None, .. } => {
            format!("{finding} (`unjitter sync` looks for clocks, --clock session learns them)")
        }
        _ => finding.to_string(),
    }
}

/// A finding behind its severity.
fn finding(finding: &Finding) -> String {
    let severity = match finding.severity() {
        Severity::Problem => "problem",
        Severity::Suspicious => "suspicious",
        Severity::Note => "note",
    };
    paragraph(severity, &in_words(finding))
}

/// A paragraph behind a heading, or behind a dash if that is empty, with all lines but the first indented.
pub(crate) fn paragraph(heading: &str, words: &str) -> String {
    let (heading, indent) = if heading.is_empty() { ("–", 2) } else { (heading, 11) };
    let mut text = format!("{heading:<indent$}");
    let mut column = indent;
    for word in words.split(' ') {
        let length = word.chars().count();
        if column + length > WIDTH && column > indent {
            text.truncate(text.trim_end().len());
            let _ = write!(text, "\n{:indent$}", "");
            column = indent;
        }
        let _ = write!(text, "{word} ");
        column += length + 1;
    }
    text.truncate(text.trim_end().len());
    text + "\n"
}

#[cfg(test)]
mod tests {
    use unjitter::inspection::inspect_files;
    use unjitter::io::{Columns, DatasetFiles};

    use super::*;

    /// A walk of 200 instances with every tenth positive, stamped `late` seconds after.
    fn text(late: f64) -> String {
        let row = |k: u32| format!("walk,{k},{},{}\n", f64::from(k).sin(), u8::from(k % 10 == 5));
        let stamp = |k: u32| format!("walk,{}\n", f64::from(10 * k + 5) + late);
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: String| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        let instances =
            "session,time,x,label\n".to_owned() + &(0..200).map(row).collect::<String>();
        let events = "session,time\n".to_owned() + &(0..20).map(stamp).collect::<String>();
        let files = DatasetFiles {
            instances: write("instances.csv", instances),
            events: Some(write("events.csv", events)).into(),
            ..DatasetFiles::default()
        };
        render(&inspect_files(&files, &Columns::default()).unwrap())
    }

    #[test]
    fn healthy_data_is_told_in_numbers_and_bars() {
        let text = text(0.25);
        for line in [
            "sessions   1\n",
            "instances  200, 200 per session, 1 feature\n",
            "spacing    1 s (1 s to 1 s in nine of ten, at most 1 s; regular)\n",
            "stamps     20, 20 per session, 361.8 per hour, every 10 s\n",
            "positives  20 of 200 (10.0 %; 10.0 to 10.0 % by session)\n",
            &format!("│{}    20\n", "█".repeat(BAR)),
            "median 0.25 s\n",
            "\nNothing looks wrong.\n",
        ] {
            assert!(text.contains(line), "{line:?} in\n{text}");
        }
    }

    #[test]
    fn findings_stand_below_and_fit_the_terminal() {
        let text = text(-7200.0);
        assert!(text.contains("\nproblem    the stamps of 1 session (20 stamps) lie outside"));
        assert!(text.contains("+2 h (a time zone?)"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
    }

    #[test]
    fn bars_grow_by_eighths() {
        assert_eq!(bar(0, 9), "");
        assert_eq!(bar(1, 1_000_000), "▏");
        assert_eq!(bar(9, 9), "█".repeat(BAR));
        assert_eq!(bar(1, 2 * BAR), "▌");
    }
}
