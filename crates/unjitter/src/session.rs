//! One recording: instances with features and times, and the annotator's stamps.
//!
//! Input is checked here; the rest of the crate relies on it.

use std::collections::{BTreeSet, HashMap};

use crate::features::{FeatureView, Features};
use crate::{Error, Result};

/// A recording with its sloppy stamps. Its features are owned, or borrowed for `'a` from another owner,
/// such as NumPy.
#[derive(Debug, Clone, PartialEq)]
pub struct Session<'a> {
    name: String,
    features: Features<'a>,
    times: Vec<f64>,
    stamps: Vec<f64>,
    /// Widths of the intervals in which stamps lie, around their times; empty if all times are known.
    widths: Vec<f64>,
    labels: Option<Vec<Option<bool>>>,
    observed: Option<Vec<(f64, f64)>>,
    annotators: Annotators,
    about: About,
}

/// Who stamped a session.
#[derive(Debug, Clone, Default, PartialEq)]
struct Annotators {
    /// Their names, in order; none if they are not known.
    names: Vec<String>,
    /// Which of them gave each stamp.
    of_stamps: Vec<usize>,
}

/// What sessions may have in common.
#[derive(Debug, Clone, Default, PartialEq)]
struct About {
    subject: Option<String>,
    device: Option<String>,
    clock: Option<String>,
}

impl<'a> Session<'a> {
    /// A session of `features` (instances × columns; see [`Features`]), one time per instance, and
    /// stamps; times and stamps do not decrease and share one unit and one origin.
    pub fn new(
        name: impl Into<String>,
        features: impl Into<Features<'a>>,
        times: Vec<f64>,
        stamps: Vec<f64>,
    ) -> Result<Self> {
        let (name, features) = (name.into(), features.into());
        let view = features.view();
        if view.nrows() == 0 {
            return Err(Error::EmptySession { session: name });
        }
        same_length(&name, "times", times.len(), view.nrows())?;
        check_features(&name, view)?;
        check_times(&name, "time", &times)?;
        check_times(&name, "stamp", &stamps)?;
        Ok(Self {
            name,
            features,
            times,
            stamps,
            widths: Vec::new(),
            labels: None,
            observed: None,
            annotators: Annotators::default(),
            about: About::default(),
        })
    }

    /// Adds known labels: one per instance, `None` if unknown.
    pub fn with_labels(mut self, labels: Vec<Option<bool>>) -> Result<Self> {
        same_length(&self.name, "labels", labels.len(), self.len())?;
        self.labels = Some(labels);
        Ok(self)
    }

    /// The same session with other features of the same instances.
    pub fn with_features<'b>(self, features: impl Into<Features<'b>>) -> Result<Session<'b>> {
        let features = features.into();
        same_length(&self.name, "rows of features", features.view().nrows(), self.len())?;
        check_features(&self.name, features.view())?;
        let Self { name, times, stamps, widths, labels, observed, annotators, about, .. } = self;
        Ok(Session { name, features, times, stamps, widths, labels, observed, annotators, about })
    }

    /// The same session with other times of its instances, in the unit of the stamps.
    pub fn with_times(mut self, times: Vec<f64>) -> Result<Self> {
        same_length(&self.name, "times", times.len(), self.len())?;
        check_times(&self.name, "time", &times)?;
        self.times = times;
        Ok(self)
    }

    /// The same session with other stamps at known times, whose annotators are not known. Stamps outside the
    /// observed intervals are dropped, since they were not annotated.
    pub fn with_stamps(mut self, stamps: Vec<f64>) -> Result<Self> {
        check_times(&self.name, "stamp", &stamps)?;
        self.stamps = stamps;
        self.widths = Vec::new();
        self.annotators = Annotators::default();
        if let Some(intervals) = &self.observed {
            self.stamps.retain(|&stamp| is_inside(intervals, stamp));
        }
        Ok(self)
    }

    /// The same session with each stamp moved, in any way; they are put in order again, each with its
    /// annotator. All are kept: what was annotated is not asked.
    pub(crate) fn with_moved_stamps(mut self, moved: &[f64]) -> Result<Self> {
        let mut order: Vec<usize> = (0..moved.len()).collect();
        order.sort_by(|&a, &b| moved[a].total_cmp(&moved[b]));
        self.stamps = order.iter().map(|&l| moved[l]).collect();
        check_times(&self.name, "stamp", &self.stamps)?;
        if !self.annotators.of_stamps.is_empty() {
            let of = &self.annotators.of_stamps;
            self.annotators.of_stamps = order.iter().map(|&l| of[l]).collect();
        }
        if !self.widths.is_empty() {
            self.widths = order.iter().map(|&l| self.widths[l]).collect();
        }
        Ok(self)
    }

    /// The same session with some of its stamps only, each with its annotator; `is_kept` is asked by position.
    pub fn keeping_stamps(mut self, is_kept: impl Fn(usize) -> bool) -> Self {
        let kept: Vec<usize> = (0..self.stamps.len()).filter(|&l| is_kept(l)).collect();
        self.stamps = kept.iter().map(|&l| self.stamps[l]).collect();
        if !self.widths.is_empty() {
            self.widths = kept.iter().map(|&l| self.widths[l]).collect();
        }
        if !self.annotators.of_stamps.is_empty() {
            let of = &self.annotators.of_stamps;
            self.annotators.of_stamps = kept.iter().map(|&l| of[l]).collect();
        }
        self
    }

    /// Adds how wide the intervals are, around the times of the stamps, in which these were pressed; 0 where a
    /// time is known.
    pub fn with_widths(mut self, widths: Vec<f64>) -> Result<Self> {
        let (found, expected) = (widths.len(), self.stamps.len());
        if found != expected {
            let what = "widths of stamps";
            return Err(Error::StampMismatch { session: self.name, what, found, expected });
        }
        check_widths(&self.name, &widths)?;
        let is_any = widths.iter().any(|&width| width > 0.0);
        self.widths = if is_any { widths } else { Vec::new() };
        Ok(self)
    }

    /// The same session with the stamps of one annotator alone, who is then not told, and borrowed features.
    pub(crate) fn stream(&self, annotator: usize) -> Result<Session<'_>> {
        let is_own = |l: &usize| self.annotator_of(*l).is_none_or(|own| own == annotator);
        let own: Vec<usize> = (0..self.stamps.len()).filter(is_own).collect();
        let pick = |values: &[f64]| own.iter().filter_map(|&l| values.get(l).copied()).collect();
        let (name, features) = (self.name.clone(), Features::from(self.features.view()));
        Ok(Session {
            name,
            features,
            times: self.times.clone(),
            stamps: pick(&self.stamps),
            widths: pick(&self.widths),
            labels: self.labels.clone(),
            observed: self.observed.clone(),
            annotators: Annotators::default(),
            about: self.about.clone(),
        })
    }

    /// Adds the person or animal recorded, whose sessions belong together.
    pub fn with_subject(mut self, subject: impl Into<String>) -> Self {
        self.about.subject = Some(subject.into());
        self
    }

    /// Adds the device that recorded or was pressed.
    pub fn with_device(mut self, device: impl Into<String>) -> Self {
        self.about.device = Some(device.into());
        self
    }

    /// Adds the clock that the stamps were taken by, if sessions share one.
    pub fn with_clock(mut self, clock: impl Into<String>) -> Self {
        self.about.clock = Some(clock.into());
        self
    }

    /// Adds who gave each stamp. Everybody who gave one annotated the whole session, and so did those of
    /// `also`, who gave none. Each annotator's stamps are a stream of their own.
    pub fn with_annotators(mut self, of_stamps: &[String], also: &[String]) -> Result<Self> {
        let (found, expected) = (of_stamps.len(), self.stamps.len());
        if found != expected {
            let what = "annotators";
            return Err(Error::StampMismatch { session: self.name, what, found, expected });
        }
        let names: BTreeSet<&String> = of_stamps.iter().chain(also).collect();
        let names: Vec<String> = names.into_iter().cloned().collect();
        let number = |name| names.binary_search(name).unwrap_or(0);
        let of_stamps = of_stamps.iter().map(number).collect();
        self.annotators = Annotators { names, of_stamps };
        Ok(self)
    }

    /// Adds the closed intervals of time that were annotated. Instances outside them neither explain
    /// stamps nor count as evidence of absence.
    pub fn with_observed(mut self, intervals: Vec<(f64, f64)>) -> Result<Self> {
        let mut previous = f64::NEG_INFINITY;
        for (index, &(start, end)) in intervals.iter().enumerate() {
            let finite = start.is_finite() && end.is_finite();
            if !finite || start >= end || start < previous {
                return Err(Error::BadInterval { session: self.name, index, start, end });
            }
            previous = end;
        }
        let outside = self.stamps.iter().position(|&stamp| !is_inside(&intervals, stamp));
        if let Some(index) = outside {
            let time = self.stamps[index];
            return Err(Error::StampOutsideObserved { session: self.name, index, time });
        }
        self.observed = Some(intervals);
        Ok(self)
    }

    /// Name of the session.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Number of instances, at least one.
    #[expect(clippy::len_without_is_empty, reason = "a session is never empty")]
    pub fn len(&self) -> usize {
        self.times.len()
    }

    /// Features, instances × columns.
    pub fn features(&self) -> FeatureView<'_> {
        self.features.view()
    }

    /// The same, shared or borrowed as the session has them.
    pub(crate) fn shared_features(&self) -> Features<'a> {
        self.features.clone()
    }

    /// Time of each instance.
    pub fn times(&self) -> &[f64] {
        &self.times
    }

    /// The width of the interval, around its time, in which a stamp was pressed; 0 if the time is known.
    pub fn width_of(&self, stamp: usize) -> f64 {
        self.widths.get(stamp).copied().unwrap_or(0.0)
    }

    /// The stamps.
    pub fn stamps(&self) -> &[f64] {
        &self.stamps
    }

    /// The known labels, if there are any.
    pub fn labels(&self) -> Option<&[Option<bool>]> {
        self.labels.as_deref()
    }

    /// The label of an instance, if it is known.
    pub fn label(&self, instance: usize) -> Option<bool> {
        self.labels.as_ref().and_then(|labels| labels[instance])
    }

    /// The person or animal recorded.
    pub fn subject(&self) -> Option<&str> {
        self.about.subject.as_deref()
    }

    /// The device that recorded or was pressed.
    pub fn device(&self) -> Option<&str> {
        self.about.device.as_deref()
    }

    /// The clock that the stamps were taken by.
    pub fn clock(&self) -> Option<&str> {
        self.about.clock.as_deref()
    }

    /// Who annotated the session, in order of their names; empty if that is not known.
    pub fn annotators(&self) -> &[String] {
        &self.annotators.names
    }

    /// Which annotator gave a stamp, by position among [`annotators`](Self::annotators).
    pub fn annotator_of(&self, stamp: usize) -> Option<usize> {
        self.annotators.of_stamps.get(stamp).copied()
    }

    /// The stamps of each annotator by themselves; of all together if annotators are not known.
    pub fn streams(&self) -> Vec<(Option<&str>, Vec<f64>)> {
        if self.annotators.names.is_empty() {
            return vec![(None, self.stamps.clone())];
        }
        let own = |k: usize| -> Vec<f64> {
            let of = self.stamps.iter().zip(&self.annotators.of_stamps);
            of.filter(|(_, of)| **of == k).map(|(stamp, _)| *stamp).collect()
        };
        let names = self.annotators.names.iter().enumerate();
        names.map(|(k, name)| (Some(name.as_str()), own(k))).collect()
    }

    /// The annotated intervals, if they are given.
    pub fn observed(&self) -> Option<&[(f64, f64)]> {
        self.observed.as_deref()
    }

    /// Positions of the instances in annotated intervals, in order.
    pub fn observed_instances(&self) -> Vec<usize> {
        let Some(intervals) = &self.observed else { return (0..self.len()).collect() };
        let mut instances = Vec::new();
        for &(start, end) in intervals {
            let first = self.times.partition_point(|&t| t < start);
            let last = self.times.partition_point(|&t| t <= end);
            // Touching intervals share their end.
            let from = instances.last().map_or(0, |&i: &usize| i + 1);
            instances.extend(first.max(from)..last);
        }
        instances
    }
}

/// A session with its hand-aligned labels, if there are any. The labels serve evaluation and the learners
/// trained on them; other learners never use them.
#[derive(Debug, Clone)]
pub struct Recording<'a> {
    /// The input of every learner.
    pub session: Session<'a>,
    /// One label per instance.
    pub truth: Option<Vec<bool>>,
}

impl Recording<'_> {
    /// The hand-aligned labels; an error if there are none.
    pub fn hand_labels(&self) -> Result<&[bool]> {
        let missing = || Error::NoTruth { session: self.session.name().to_owned() };
        self.truth.as_deref().ok_or_else(missing)
    }
}

/// The instance nearest in time; the earlier of two. There must be at least one.
pub(crate) fn nearest(times: &[f64], time: f64) -> usize {
    let after = times.partition_point(|&t| t < time);
    if after == 0 {
        return 0;
    }
    if after == times.len() || time - times[after - 1] <= times[after] - time {
        after - 1
    } else {
        after
    }
}

/// Whether a time lies in one of the sorted intervals.
fn is_inside(intervals: &[(f64, f64)], time: f64) -> bool {
    let begun = intervals.partition_point(|&(start, _)| start <= time);
    begun > 0 && time <= intervals[begun - 1].1
}

/// Checks that sessions can be learned from together: at least one, distinct names, the same number of features.
pub(crate) fn check_together(sessions: &[Session]) -> Result<()> {
    let first = sessions.first().ok_or(Error::NoSessions)?;
    let expected = first.features().ncols();
    let mut seen = HashMap::new();
    for (second, session) in sessions.iter().enumerate() {
        if let Some(first) = seen.insert(session.name(), second) {
            return Err(Error::DuplicateSession { session: session.name.clone(), first, second });
        }
        check_columns(session.name(), session.features().ncols(), expected)?;
    }
    Ok(())
}

pub(crate) fn check_columns(session: &str, found: usize, expected: usize) -> Result<()> {
    if found == expected {
        Ok(())
    } else {
        Err(Error::FeatureCount { session: session.to_owned(), found, expected })
    }
}

pub(crate) fn check_features(session: &str, features: FeatureView<'_>) -> Result<()> {
    match features.first_non_finite() {
        None => Ok(()),
        Some((instance, column, value)) => {
            Err(Error::NonFiniteFeature { session: session.to_owned(), instance, column, value })
        }
    }
}

/// Checks times without a session: finite and not decreasing.
pub(crate) fn check_order(what: &'static str, values: &[f64]) -> Result<()> {
    // One pass without an early exit, which vectorises; all are finite if both ends are.
    let in_order = values.windows(2).fold(true, |good, pair| good & (pair[1] >= pair[0]));
    let ends = [values.first(), values.last()];
    if in_order && ends.into_iter().flatten().all(|value| value.is_finite()) {
        return Ok(());
    }
    for (index, &value) in values.iter().enumerate() {
        if !value.is_finite() {
            return Err(Error::BadInput { what, index, value, expected: "a finite time" });
        }
        if index > 0 && value < values[index - 1] {
            let expected = "a time no earlier than the one before it";
            return Err(Error::BadInput { what, index, value, expected });
        }
    }
    Ok(())
}

fn same_length(session: &str, what: &'static str, found: usize, expected: usize) -> Result<()> {
    if found == expected {
        Ok(())
    } else {
        Err(Error::LengthMismatch { session: session.to_owned(), what, found, expected })
    }
}

/// Fails unless all can be widths of intervals.
pub(crate) fn check_widths(session: &str, widths: &[f64]) -> Result<()> {
    let is_width = |width: &f64| *width >= 0.0 && width.is_finite();
    match widths.iter().position(|width| !is_width(width)) {
        None => Ok(()),
        Some(index) => {
            let (session, width) = (session.to_owned(), widths[index]);
            Err(Error::StampWidth { session, index, width })
        }
    }
}

fn check_times(session: &str, what: &'static str, times: &[f64]) -> Result<()> {
    let session = || session.to_owned();
    if let Some(index) = times.iter().position(|t| !t.is_finite()) {
        return Err(Error::NonFiniteTime { session: session(), what, index, value: times[index] });
    }
    match times.windows(2).position(|pair| pair[1] < pair[0]) {
        None => Ok(()),
        Some(k) => Err(Error::OutOfOrder {
            session: session(),
            what,
            index: k + 1,
            value: times[k + 1],
            previous: times[k],
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_replaced_is_kept() {
        let features = |value| Features::new(vec![value; 3], 3, 1).unwrap();
        let times = vec![0.0, 1.0, 2.0];
        let labels = vec![Some(true), None, Some(false)];
        let session = Session::new("walk", features(1.0), times, vec![0.5, 1.5])
            .and_then(|session| session.with_observed(vec![(0.0, 2.0)]))
            .and_then(|session| session.with_labels(labels.clone()))
            .unwrap()
            .with_subject("Ada");
        let other = session.clone().with_features(features(2.0)).unwrap();
        let other = other.with_times(vec![0.1, 1.1, 1.9]).unwrap().with_stamps(vec![1.6]).unwrap();
        assert_eq!(other.labels(), Some(labels.as_slice()));
        assert_eq!((other.name(), other.subject()), ("walk", Some("Ada")));
        assert_eq!(other.observed(), session.observed());
        assert_eq!((other.times(), other.stamps()), (&[0.1, 1.1, 1.9][..], &[1.6][..]));
        assert_eq!(other.features().to_f64(), features(2.0).view().to_f64());
    }
}
