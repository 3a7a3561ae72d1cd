//! Sessions as the objective sees them: features mapped once, times in units, unobserved rows out.

use crate::inference::{Stamp, Timeline};
use crate::math::lower_median;
use crate::model::classifier::Classifier;
use crate::{FeatureView, Features, Session, Stop};

/// One session, ready for evaluation.
#[derive(Debug)]
pub(crate) struct SessionData<'a> {
    /// Position of the session among those given.
    pub(crate) index: usize,
    /// Prepared features of the observed instances.
    pub(crate) features: Features<'a>,
    /// These instances and the stamps in time.
    pub(crate) in_time: InTime,
    /// Instances with a known label at which nobody was annotating.
    pub(crate) unobserved: Option<LabelledRows<'a>>,
}

/// The observed instances of a session and its stamps, in units from its first instance on.
#[derive(Debug)]
pub(crate) struct InTime {
    /// Times of the instances.
    pub(crate) times: Vec<f64>,
    /// The stamps.
    pub(crate) stamps: Vec<Stamp>,
    /// Known labels of the instances; empty where none is.
    pub(crate) labels: Vec<Option<bool>>,
}

/// Rows that take part by their label alone.
#[derive(Debug)]
pub(crate) struct LabelledRows<'a> {
    /// Prepared features.
    pub(crate) features: Features<'a>,
    /// One label per row.
    pub(crate) labels: Vec<bool>,
}

impl<'a> SessionData<'a> {
    /// Prepares a session. No copy is made of features that are all observed and that the
    /// classifier takes as they are.
    pub(crate) fn new(
        index: usize,
        session: &'a Session<'_>,
        classifier: &dyn Classifier,
        time_unit: f64,
        stop: Stop<'_>,
    ) -> Self {
        let observed = session.observed_instances();
        Self {
            index,
            features: rows(classifier, session.features(), &observed, stop),
            unobserved: unobserved_rows(session, &observed, classifier, stop),
            in_time: InTime::new(session, time_unit),
        }
    }
}

impl InTime {
    /// The observed part of a session.
    pub(crate) fn new(session: &Session<'_>, time_unit: f64) -> Self {
        let observed = session.observed_instances();
        // Differences first: epoch seconds keep their digits.
        let origin = session.times()[0];
        let in_units = |t: &f64| (t - origin) / time_unit;
        let known = |i: &usize| session.label(*i);
        let labels: Vec<Option<bool>> = observed.iter().map(known).collect();
        let any_label = labels.iter().any(Option::is_some);
        Self {
            times: observed.iter().map(|&i| in_units(&session.times()[i])).collect(),
            stamps: session.stamps().iter().map(|z| Stamp { time: in_units(z) }).collect(),
            labels: if any_label { labels } else { Vec::new() },
        }
    }

    /// Instances and stamps in time.
    pub(crate) fn timeline(&self) -> Timeline<'_> {
        Timeline { times: &self.times, stamps: &self.stamps, unit: 1.0 }
    }

    /// The log-odds that inference sees: ±∞ where the label is known.
    pub(crate) fn pin_labels(&self, first: usize, log_odds: &mut [f64]) {
        if self.labels.is_empty() {
            return;
        }
        for (f, label) in log_odds.iter_mut().zip(&self.labels[first..]) {
            match label {
                Some(true) => *f = f64::INFINITY,
                Some(false) => *f = f64::NEG_INFINITY,
                None => {}
            }
        }
    }
}

/// The chosen rows, prepared; a view where that is possible.
fn rows<'a>(
    classifier: &dyn Classifier,
    features: FeatureView<'a>,
    chosen: &[usize],
    stop: Stop<'_>,
) -> Features<'a> {
    if chosen.len() == features.nrows() {
        return classifier.prepare(features.into(), stop);
    }
    classifier.prepare(features.select(chosen), stop)
}

fn unobserved_rows<'a>(
    session: &'a Session<'_>,
    observed: &[usize],
    classifier: &dyn Classifier,
    stop: Stop<'_>,
) -> Option<LabelledRows<'a>> {
    if observed.len() == session.len() {
        return None;
    }
    let mut is_observed = vec![false; session.len()];
    observed.iter().for_each(|&i| is_observed[i] = true);
    let chosen: Vec<usize> =
        (0..session.len()).filter(|&i| !is_observed[i] && session.label(i).is_some()).collect();
    if chosen.is_empty() {
        return None;
    }
    let labels = chosen.iter().filter_map(|&i| session.label(i)).collect();
    Some(LabelledRows { features: rows(classifier, session.features(), &chosen, stop), labels })
}

/// The unit of time that priors are measured in: the median spacing of neighbouring instances, or
/// of those that do not coincide; 1 where there are none.
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
