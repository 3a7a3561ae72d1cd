//! The figures of a fitted model and of a comparison, shared by the report and the files for papers.

use unjitter::evaluation::{Bins, precision_recall_curve, reliability_curve};
use unjitter::io::Dataset;
use unjitter::planning::{Outlook, Plan, Widths};
use unjitter::scan::{LEAST_STRENGTH, Peak, Row, Scan, scan};
use unjitter::{Aligned, AlignedStamp, Control, Fitted, Learned};

use crate::evaluation_file::{EvaluationFile, LearnerResult};
use crate::figures::{
    Alignment, AlignmentBout, AlignmentInstance, AlignmentStamp, Bar, Bars, Calibration,
    CalibrationBin, Changes, Curve, CurveDot, Delays, Panel, Panels, PrecisionRecall,
    PrecisionRecallCurve, alignment, as_file, bars, calibration, changes, delays, panels,
    precision_recall,
};
use crate::groups_gallery::groups_drawing;
use crate::report::Figure;
use crate::words::seconds;

/// Points of a curve that a screen can show.
const CURVE_POINTS: usize = 400;
/// Spreads on either side of the delay that the density is drawn over.
const REACH: f64 = 4.5;
/// The question that the scan answers.
const CHANGES: &str = "Where around the presses do the features change?";
/// Widths on either side of a top that are drawn.
const BESIDE: f64 = 5.0;
/// Stamps in the static picture of an alignment.
const EXCERPT: usize = 8;

/// A figure and the name of its file.
pub(crate) struct Drawing {
    /// File name without extension.
    pub stem: &'static str,
    /// With its title and caption.
    pub figure: Figure,
}

impl Drawing {
    /// As a file, and its name.
    pub(crate) fn file(&self) -> (String, String) {
        (format!("{}.svg", self.stem), as_file(&self.figure.svg))
    }
}

/// A figure with its title and caption.
pub(crate) fn drawing(stem: &'static str, title: &str, caption: &str, svg: String) -> Drawing {
    let figure = Figure { title: title.to_owned(), caption: caption.to_owned(), svg };
    Drawing { stem, figure }
}

/// Names of all possible figures.
pub(crate) fn drawn(with_evaluation: bool) -> &'static [&'static str] {
    match with_evaluation {
        true => &[
            "delays",
            "end-delays",
            "groups",
            "changes",
            "alignment",
            "comparison",
            "precision-recall",
            "calibration",
        ],
        false => &["delays", "end-delays", "groups", "changes", "alignment"],
    }
}

/// All figures that the data allow.
pub(crate) fn drawings(
    fitted: &Fitted,
    data: &Dataset,
    aligned: &[Aligned],
    evaluation: Option<&EvaluationFile>,
) -> anyhow::Result<Vec<Drawing>> {
    let mut all = Vec::new();
    if let Some(file) = evaluation {
        all.extend(compared(&file.learners));
    }
    all.push(delays_drawing(fitted, aligned));
    all.extend(end_delays_drawing(fitted, aligned));
    all.extend(groups_drawing(fitted));
    let sessions = data.recordings.iter().map(|recording| &recording.session);
    all.extend(scan(sessions, Control::default())?.as_ref().and_then(changes_drawing));
    if let Some(file) = evaluation {
        all.extend(curves(&file.learners, data)?);
        all.extend(calibrated(&file.learners, data)?);
    }
    all.extend(excerpt(data, aligned));
    Ok(all)
}

fn compared(learners: &[LearnerResult]) -> Option<Drawing> {
    let bar = |learner: &LearnerResult| {
        let labelled = learner.summary.labelled.as_ref()?;
        Some(Bar {
            name: learner.summary.name.clone(),
            value: labelled.scores.f1,
            low: labelled.f1_interval.low,
            high: labelled.f1_interval.high,
            folds: labelled.fold_f1.clone(),
        })
    };
    let bars_of: Option<Vec<Bar>> = learners.iter().map(bar).collect();
    let data = Bars {
        title: "F1 of the learners".to_owned(),
        score_label: "F1 on held-out sessions".to_owned(),
        range: Some((0.0, 1.0)),
        bars: bars_of?,
    };
    let caption = "F1 on sessions that were held out, with its 95 % interval over sessions; light \
                   dots are folds.";
    Some(drawing("comparison", "F1 of the learners", caption, bars(&data)))
}

fn delays_drawing(fitted: &Fitted, aligned: &[Aligned]) -> Drawing {
    let stamps = aligned.iter().flat_map(|one| &one.stamps);
    let (title, of) = ("How late the presses are", "from event to press");
    delays_of("delays", title, of, fitted.learned(), stamps, |grid| fitted.delay_density(grid))
}

/// The same of ends; none if stamps do not tell these.
fn end_delays_drawing(fitted: &Fitted, aligned: &[Aligned]) -> Option<Drawing> {
    let ends = aligned.iter().flat_map(|one| one.ends.iter().flatten());
    let (title, of) = ("How late the presses of ends are", "from the end of an event to its press");
    let density = |grid: &[f64]| fitted.ends_delay_density(grid).unwrap_or_default();
    Some(delays_of("end-delays", title, of, fitted.learned_ends()?, ends, density))
}

fn delays_of<'a>(
    stem: &'static str,
    title: &str,
    of: &str,
    learned: Learned,
    stamps: impl Iterator<Item = &'a AlignedStamp>,
    density: impl Fn(&[f64]) -> Vec<f64>,
) -> Drawing {
    let observed = stamps.map(|stamp| (stamp.stamp - stamp.instance_time, 1.0 - stamp.p_spurious));
    let (low, high) =
        (learned.delay - REACH * learned.spread, learned.delay + REACH * learned.spread);
    let steps = CURVE_POINTS as f64;
    let grid: Vec<f64> =
        (0..=CURVE_POINTS).map(|k| low + (high - low) * k as f64 / steps).collect();
    let density = grid.iter().copied().zip(density(&grid)).collect();
    let data = Delays {
        title: title.to_owned(),
        x_label: format!("delay {of}, in seconds"),
        delays: observed.collect(),
        density,
    };
    let caption = "Delays of the stamps from the instances they most probably belong to, each \
                   counted by the probability that it is no spurious one, and the distribution \
                   that was learned.";
    drawing(stem, title, caption, delays(&data))
}

/// Strength of the change by lag, around the tops. None for a scan without rows.
pub(crate) fn changes_drawing(scan: &Scan) -> Option<Drawing> {
    let highest = |row: &Row| row.strength.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let best = match scan.peaks.first() {
        Some(peak) => scan.rows.iter().find(|row| row.width == peak.width)?,
        None => scan.rows.iter().max_by(|a, b| highest(a).total_cmp(&highest(b)))?,
    };
    let line = |row: &Row| row.lags.iter().copied().zip(row.strength.iter().copied()).collect();
    let around = |lag: f64, width: f64| [lag - BESIDE * width, lag + BESIDE * width];
    let tops = scan.peaks.iter().flat_map(|peak| around(peak.lag, peak.width));
    let ends: Vec<f64> = around(0.0, best.width).into_iter().chain(tops).collect();
    let outermost = (best.lags[0], best.lags[best.lags.len() - 1]);
    let named = |peak: &Peak| (peak.lag, peak.strength, before(peak.lag));
    let data = Changes {
        title: CHANGES.to_owned(),
        x_label: "time before the press, in seconds".to_owned(),
        best_width: format!("windows of {}", seconds(best.width)),
        best: line(best),
        others: scan.rows.iter().filter(|row| row.width != best.width).map(line).collect(),
        chance: LEAST_STRENGTH,
        peaks: scan.peaks.iter().map(named).collect(),
        range: (
            ends.iter().copied().fold(f64::INFINITY, f64::min).max(outermost.0),
            ends.iter().copied().fold(f64::NEG_INFINITY, f64::max).min(outermost.1),
        ),
    };
    let caption = "How far the features in a window so long before the presses differ from those \
                   around it, compared with windows at random places; by the data alone, without \
                   a detector.";
    Some(drawing("changes", CHANGES, caption, changes(&data)))
}

/// What more sessions, or labels for those at hand, would bring.
pub(crate) fn plan_drawing(plan: &Plan) -> Drawing {
    let line = |name: &str, steps: &[Outlook], y: &dyn Fn(&Outlook) -> Option<f64>| {
        let dot = |own: &Outlook| {
            let x = (own.sessions - plan.sessions + own.labelled) as f64;
            Some(CurveDot { x, y: y(own)?, low: f64::NAN, high: f64::NAN })
        };
        let points: Vec<_> = std::iter::once(&plan.now).chain(steps).filter_map(dot).collect();
        (points.len() > 1).then(|| Curve { name: name.to_owned(), points })
    };
    let share = |of: fn(&Widths) -> Option<f64>| {
        move |own: &Outlook| Some(of(&own.widths)? / of(&plan.now.widths)?)
    };
    let f1 = [
        line("stamp more", &plan.more, &|own| Some(own.f1)),
        line("label these", &plan.labelled, &|own| Some(own.f1)),
        line("refits", &plan.more, &|own| own.f1_refits),
    ];
    let widths = [
        line("delay", &plan.more, &share(|own| own.delay)),
        line("spread", &plan.more, &share(|own| own.spread)),
        line("missed", &plan.more, &share(|own| own.miss_rate)),
    ];
    let title = "What more sessions would bring";
    let data = Panels {
        title: title.to_owned(),
        x_label: "sessions stamped in addition, or labelled by hand".to_owned(),
        panels: vec![
            Panel { y_label: "expected F1".to_owned(), curves: f1.into_iter().flatten().collect() },
            Panel {
                y_label: "width of intervals, now 1".to_owned(),
                curves: widths.into_iter().flatten().collect(),
            },
        ],
    };
    let caption = "Expected F1 with more stamped sessions, and with some of those at hand labelled by \
                   hand; and how much narrower the intervals of the annotator become.";
    drawing("plan", title, caption, panels(&data))
}

/// A lag in words.
pub(crate) fn before(lag: f64) -> String {
    format!("{} {}", seconds(lag.abs()), if lag >= 0.0 { "before" } else { "after" })
}

/// The probabilities of a learner and the labels, concatenated over sessions.
fn pooled(learner: &LearnerResult, data: &Dataset) -> Option<(Vec<f64>, Vec<bool>)> {
    let truth: Option<Vec<&Vec<bool>>> =
        data.recordings.iter().map(|recording| recording.truth.as_ref()).collect();
    Some((learner.probabilities.concat(), truth?.into_iter().flatten().copied().collect()))
}

fn curves(learners: &[LearnerResult], data: &Dataset) -> anyhow::Result<Option<Drawing>> {
    let mut drawn = Vec::new();
    for learner in learners {
        let Some((probabilities, labels)) = pooled(learner, data) else { return Ok(None) };
        let mut curve = precision_recall_curve(&probabilities, &labels)?;
        // At equal recall the curve only falls: its highest point is enough.
        curve.dedup_by(|next, kept| next.scores.recall == kept.scores.recall);
        let step = curve.len().div_ceil(CURVE_POINTS).max(1);
        let scores = learner.summary.labelled.as_ref().map(|labelled| labelled.scores);
        drawn.push(PrecisionRecallCurve {
            name: learner.summary.name.clone(),
            points: curve
                .iter()
                .step_by(step)
                .chain(curve.last())
                .map(|point| (point.scores.recall, point.scores.precision))
                .collect(),
            used: scores.map(|scores| (scores.recall, scores.precision)),
        });
    }
    let title = "Precision and recall".to_owned();
    let svg = precision_recall(&PrecisionRecall { title, curves: drawn });
    let caption = "On held-out sessions, for every threshold; a dot marks the threshold in use.";
    Ok(Some(drawing("precision-recall", "Precision and recall", caption, svg)))
}

fn calibrated(learners: &[LearnerResult], data: &Dataset) -> anyhow::Result<Option<Drawing>> {
    let Some(first) = learners.first() else { return Ok(None) };
    let Some((probabilities, labels)) = pooled(first, data) else { return Ok(None) };
    let bins = reliability_curve(&probabilities, &labels, Bins::EqualWidth(10))?;
    let title = format!("Calibration of {}", first.summary.name);
    let bins = bins
        .iter()
        .map(|bin| CalibrationBin {
            predicted: bin.mean_predicted,
            observed: bin.observed_share,
            count: bin.count,
        })
        .collect();
    let svg = calibration(&Calibration { title: title.clone(), bins });
    let caption = "Whether what is called seventy per cent likely happens seven times out of ten, \
                   and below it how many instances were called that.";
    Ok(Some(drawing("calibration", &title, caption, svg)))
}

/// Bouts as they were stamped, and where they belong.
fn bouts(aligned: &Aligned) -> impl Iterator<Item = AlignmentBout> {
    aligned.stamps.iter().zip(&aligned.ends).filter_map(|(start, end)| {
        let end = end.as_ref()?;
        Some(AlignmentBout {
            stamped: (start.stamp, end.stamp),
            placed: (start.time, end.time),
            is_spurious: start.p_spurious > 0.5 && end.p_spurious > 0.5,
        })
    })
}

/// The densest sequence of a few stamps: it shows most.
fn excerpt(data: &Dataset, aligned: &[Aligned]) -> Option<Drawing> {
    let most = aligned.iter().map(|one| one.stamps.len()).max().filter(|most| *most > 0)?;
    let in_a_row = aligned
        .iter()
        .enumerate()
        .flat_map(|(k, one)| one.stamps.windows(most.min(EXCERPT)).map(move |stamps| (k, stamps)));
    let ends = |stamp: &AlignedStamp| [stamp.stamp, stamp.instance_time];
    let span = |stamps: &[AlignedStamp]| {
        let times = || stamps.iter().flat_map(ends);
        (times().fold(f64::INFINITY, f64::min), times().fold(f64::NEG_INFINITY, f64::max))
    };
    let width = |stamps: &[AlignedStamp]| span(stamps).1 - span(stamps).0;
    let (k, stamps) = in_a_row.min_by(|a, b| width(a.1).total_cmp(&width(b.1)))?;
    let (recording, aligned) = (&data.recordings[k], &aligned[k]);
    let (from, to) = span(stamps);
    let margin = 0.05 * (to - from);
    let truth = recording.truth.as_deref();
    let inside = |time: f64| (from - margin..=to + margin).contains(&time);
    let instances = aligned.instances.iter().enumerate().filter(|(_, one)| inside(one.time));
    let drawn = Alignment {
        title: format!("Stamps of {}", recording.session.name()),
        x_label: "time, in seconds".to_owned(),
        instances: instances
            .map(|(i, instance)| AlignmentInstance {
                time: instance.time,
                probability: instance.p_positive,
                is_true: truth.is_some_and(|truth| truth[i]),
            })
            .collect(),
        stamps: stamps
            .iter()
            .map(|stamp| AlignmentStamp {
                time: stamp.stamp,
                instance: stamp.instance_time,
                is_spurious: stamp.p_spurious > 0.5,
            })
            .collect(),
        bouts: bouts(aligned).filter(|bout| bout.placed.1 >= from && bout.placed.0 <= to).collect(),
    };
    let has_bouts = !drawn.bouts.is_empty();
    let caption = "Where each press belongs: instances by their probability, presses below, an arc \
                   from each to its instance.";
    let of_bouts = " Bars are bouts: thin as they were stamped, thick where they belong.";
    let caption = &format!("{caption}{}", if has_bouts { of_bouts } else { "" });
    Some(drawing("alignment", "Where presses belong", caption, alignment(&drawn)))
}
