//! Sessions prepared for the objective: features mapped once, times in units, unobserved rows removed.

use crate::math::lower_median;
use crate::model::classifier::Classifier;
use crate::model::{Classes, Exchange, Groups, InTime, Outside, Parts, StampParts};
use crate::{Control, Features, Session};

/// One session, ready for evaluation.
#[derive(Debug)]
pub(crate) struct SessionData<'a> {
    /// Position of the session among those given.
    pub(crate) index: usize,
    /// Prepared features of the observed instances.
    pub(crate) features: Features<'a>,
    /// These instances and the stamps in time.
    pub(crate) in_time: InTime,
    /// Instances with a known label outside the annotated intervals.
    pub(crate) unobserved: Option<LabelledRows<'a>>,
    /// Messages of the last evaluation.
    pub(super) exchange: Exchange,
}

/// Rows that take part by their label alone.
#[derive(Debug, Clone)]
pub(crate) struct LabelledRows<'a> {
    /// Prepared features.
    pub(crate) features: Features<'a>,
    /// When they are, and one label per row.
    pub(crate) outside: Outside,
}

impl<'a> SessionData<'a> {
    /// The same session with other stamps, in units: those of each stream.
    pub(super) fn with_stamps(&self, stamps: Vec<Vec<f64>>) -> Self {
        Self {
            index: self.index,
            features: self.features.clone(),
            in_time: self.in_time.with_stamps(stamps),
            unobserved: self.unobserved.clone(),
            exchange: Exchange::new(self.in_time.streams.len()),
        }
    }

    /// Prepares a session. Features are not copied if all are observed and the classifier takes them as
    /// they are.
    pub(crate) fn new(
        index: usize,
        session: &Session<'a>,
        parts: &Parts,
        time_unit: f64,
        control: Control<'_>,
    ) -> Self {
        let observed = session.observed_instances();
        let classifier = parts.classifier.as_ref();
        let StampParts { classes, .. } = &parts.stamps;
        let in_time = parts.stamps.in_time(session, &observed, time_unit);
        Self {
            index,
            features: rows(classifier, session.shared_features(), &observed, control),
            unobserved: Outside::of(session, &observed, time_unit, classes).map(|outside| {
                let chosen = &outside.instances;
                let features = rows(classifier, session.shared_features(), chosen, control);
                LabelledRows { features, outside }
            }),
            exchange: Exchange::new(in_time.streams.len()),
            in_time,
        }
    }
}

/// The chosen rows, prepared; a view if possible.
fn rows<'a>(
    classifier: &dyn Classifier,
    features: Features<'a>,
    chosen: &[usize],
    control: Control<'_>,
) -> Features<'a> {
    if chosen.len() == features.view().nrows() {
        return classifier.prepare(features, control);
    }
    classifier.prepare(features.view().select(chosen), control)
}

/// How long bouts last, by the stamps that tell an end: the median; none if no stamp does.
pub(super) fn median_bout(sessions: &[Session]) -> Option<f64> {
    let bout = |session: &Session| -> Vec<f64> {
        let stamps = session.stamps().iter().enumerate();
        stamps.filter_map(|(l, start)| Some(session.end_of(l)? - start)).collect()
    };
    lower_median(sessions.iter().flat_map(bout).collect())
}

/// Gaps between neighbouring stamps of the same annotator.
pub(super) fn gaps(session: &Session) -> Vec<f64> {
    let own = |stamps: Vec<f64>| -> Vec<f64> {
        stamps.windows(2).map(|pair| pair[1] - pair[0]).collect()
    };
    session.streams().into_iter().flat_map(|(_, stamps)| own(stamps)).collect()
}

/// The median gap between neighbouring stamps of a session; of all its time if there are no neighbours.
pub(super) fn median_gap(sessions: &[Session]) -> f64 {
    let gap = lower_median(sessions.iter().flat_map(gaps).filter(|&gap| gap > 0.0).collect());
    gap.unwrap_or_else(|| 1.0 / stamp_rate(sessions))
}

/// Which sessions to leave out so that about enough stamps are left, given those of each: of every stretch
/// of sessions the same share is kept.
pub(super) fn beyond(stamps: impl Iterator<Item = usize> + Clone, enough: usize) -> Vec<bool> {
    let all = stamps.clone().sum::<usize>().max(enough);
    let (mut seen, mut kept) = (0, 0);
    let is_out = |own: usize| {
        seen += own;
        let is_out = kept * all >= seen * enough;
        kept += if is_out { 0 } else { own };
        is_out
    };
    stamps.map(is_out).collect()
}

/// Stamps per unit of the data's time, over all sessions.
pub(super) fn stamp_rate(sessions: &[Session]) -> f64 {
    let duration = |session: &Session| {
        let observed = session.observed_instances();
        let (groups, classes) = (Groups::default(), Classes::default());
        InTime::new(session, &observed, 1.0, &groups, &classes).duration()
    };
    let stamps: usize = sessions.iter().map(|session| session.stamps().len()).sum();
    let duration: f64 = sessions.iter().map(duration).sum();
    if duration > 0.0 { stamps.max(1) as f64 / duration } else { 1.0 }
}

/// The unit of time of the priors: the median spacing of neighbouring instances; if that is zero, the
/// median of the spacings that are not; 1 if there are none.
pub fn median_spacing(sessions: &[Session]) -> f64 {
    let spacings = |at_least: fn(f64) -> bool| -> Vec<f64> {
        let gaps = sessions.iter().flat_map(|s| s.times().windows(2).map(|pair| pair[1] - pair[0]));
        gaps.filter(|&gap| at_least(gap)).collect()
    };
    let median_of_all = lower_median(spacings(|_| true)).unwrap_or(0.0);
    if median_of_all > 0.0 {
        median_of_all
    } else {
        lower_median(spacings(|g| g > 0.0)).unwrap_or(1.0)
    }
}

/// The spacing of instances that lie on a grid, as windows do; more than half of the steps are then the same to
/// a hundredth. An event is somewhere in its window, so a grid blurs delays. Instances that were found in a signal
/// are where events are, however far apart, and do not.
pub(super) fn grid_spacing(sessions: &[Session]) -> Option<f64> {
    let spacing = median_spacing(sessions);
    let steps = sessions.iter().flat_map(|session| session.times().windows(2));
    let (even, all) = steps.fold((0, 0), |(even, all), step| {
        let is_even = (step[1] - step[0] - spacing).abs() <= 0.01 * spacing;
        (even + usize::from(is_even), all + 1)
    });
    (2 * even > all).then_some(spacing)
}
