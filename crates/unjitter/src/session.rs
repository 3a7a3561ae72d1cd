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
    /// When what was stamped ended, for stamps that say so; empty if none does.
    ends: Vec<Option<f64>>,
    labels: Option<Vec<Option<bool>>>,
    /// Classes of stamps and of instances that are events.
    classes: Classes,
    observed: Option<Vec<(f64, f64)>>,
    annotators: Annotators,
    about: About,
}

/// The label of an instance whose events have classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Label<'a> {
    /// No event.
    Nothing,
    /// An event of this class.
    Event(&'a str),
}

/// Classes of events.
#[derive(Debug, Clone, Default, PartialEq)]
struct Classes {
    /// Their names, in order; none if events have no classes.
    names: Vec<String>,
    /// Which of them each stamp is recorded as; empty if stamps have none.
    of_stamps: Vec<usize>,
    /// Which of them each instance is that is an event; empty if labels have none.
    of_labels: Vec<usize>,
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
            ends: Vec::new(),
            labels: None,
            classes: Classes::default(),
            observed: None,
            annotators: Annotators::default(),
            about: About::default(),
        })
    }

    /// Adds known labels: one per instance, `None` if unknown.
    pub fn with_labels(mut self, labels: Vec<Option<bool>>) -> Result<Self> {
        same_length(&self.name, "labels", labels.len(), self.len())?;
        self.labels = Some(labels);
        let of_stamps = self.stamp_classes();
        self.set_classes(&of_stamps, &[]);
        Ok(self)
    }

    /// Adds known labels whose events have classes: one per instance, `None` if unknown.
    pub fn with_class_labels(mut self, labels: &[Option<Label<'_>>]) -> Result<Self> {
        same_length(&self.name, "labels", labels.len(), self.len())?;
        let class = |label: &Option<Label<'_>>| match label {
            Some(Label::Event(class)) => Some((*class).to_owned()),
            _ => None,
        };
        let of_labels: Vec<Option<String>> = labels.iter().map(class).collect();
        let is_event = |label: &Option<Label<'_>>| label.map(|label| label != Label::Nothing);
        self.labels = Some(labels.iter().map(is_event).collect());
        let of_stamps = self.stamp_classes();
        self.set_classes(&of_stamps, &of_labels);
        Ok(self)
    }

    /// Adds the class that each stamp is recorded as.
    pub fn with_classes(mut self, of_stamps: &[String]) -> Result<Self> {
        let (found, expected) = (of_stamps.len(), self.stamps.len());
        if found != expected {
            let what = "classes";
            return Err(Error::StampMismatch { session: self.name, what, found, expected });
        }
        let of_stamps: Vec<Option<String>> = of_stamps.iter().cloned().map(Some).collect();
        let of_labels = self.label_classes();
        self.set_classes(&of_stamps, &of_labels);
        Ok(self)
    }

    /// Names of the classes of stamps; empty if these have none.
    fn stamp_classes(&self) -> Vec<Option<String>> {
        let Classes { names, of_stamps, .. } = &self.classes;
        of_stamps.iter().map(|&k| Some(names[k].clone())).collect()
    }

    fn label_classes(&self) -> Vec<Option<String>> {
        let Classes { names, of_labels, .. } = &self.classes;
        let class = |(i, &k): (usize, &usize)| (self.label(i)?).then(|| names[k].clone());
        of_labels.iter().enumerate().map(class).collect()
    }

    fn set_classes(&mut self, of_stamps: &[Option<String>], of_labels: &[Option<String>]) {
        let names: BTreeSet<&String> = of_stamps.iter().chain(of_labels).flatten().collect();
        let names: Vec<String> = names.into_iter().cloned().collect();
        let number = |name: &Option<String>| {
            name.as_ref().and_then(|name| names.binary_search(name).ok()).unwrap_or(0)
        };
        let of_stamps = of_stamps.iter().map(number).collect();
        let of_labels = of_labels.iter().map(number).collect();
        self.classes = Classes { names, of_stamps, of_labels };
    }

    /// Adds when what was stamped ended, for stamps that say so: their own times are then the beginnings.
    pub fn with_ends(mut self, ends: Vec<Option<f64>>) -> Result<Self> {
        let (found, expected) = (ends.len(), self.stamps.len());
        if found != expected {
            let what = "ends";
            return Err(Error::StampMismatch { session: self.name, what, found, expected });
        }
        for (index, (&start, end)) in self.stamps.iter().zip(&ends).enumerate() {
            if let Some(end) = end.filter(|&end| !(end >= start && end.is_finite())) {
                return Err(Error::StampEnd { session: self.name, index, start, end });
            }
        }
        self.ends = if ends.iter().any(Option::is_some) { ends } else { Vec::new() };
        Ok(self)
    }

    /// The same session with other features of the same instances.
    pub fn with_features<'b>(self, features: impl Into<Features<'b>>) -> Result<Session<'b>> {
        let features = features.into();
        same_length(&self.name, "rows of features", features.view().nrows(), self.len())?;
        check_features(&self.name, features.view())?;
        let Self { name, times, stamps, widths, ends, labels, classes, .. } = self;
        let Self { observed, annotators, about, .. } = self;
        Ok(Session {
            name,
            features,
            times,
            stamps,
            widths,
            ends,
            labels,
            classes,
            observed,
            annotators,
            about,
        })
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
        self.ends = Vec::new();
        self.classes.of_stamps = Vec::new();
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
        let before = std::mem::take(&mut self.stamps);
        self.stamps = order.iter().map(|&l| moved[l]).collect();
        check_times(&self.name, "stamp", &self.stamps)?;
        if !self.annotators.of_stamps.is_empty() {
            let of = &self.annotators.of_stamps;
            self.annotators.of_stamps = order.iter().map(|&l| of[l]).collect();
        }
        if !self.widths.is_empty() {
            self.widths = order.iter().map(|&l| self.widths[l]).collect();
        }
        if !self.classes.of_stamps.is_empty() {
            let of = &self.classes.of_stamps;
            self.classes.of_stamps = order.iter().map(|&l| of[l]).collect();
        }
        if !self.ends.is_empty() {
            // An end moves with its beginning: how long things last does not depend on the clock.
            let moved_end = |&l: &usize| self.ends[l].map(|end| end + moved[l] - before[l]);
            self.ends = order.iter().map(moved_end).collect();
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
        if !self.ends.is_empty() {
            self.ends = kept.iter().map(|&l| self.ends[l]).collect();
        }
        if !self.classes.of_stamps.is_empty() {
            self.classes.of_stamps = kept.iter().map(|&l| self.classes.of_stamps[l]).collect();
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
            ends: own.iter().filter_map(|&l| self.ends.get(l).copied()).collect(),
            labels: self.labels.clone(),
            classes: Classes {
                of_stamps: own
                    .iter()
                    .filter_map(|&l| self.classes.of_stamps.get(l).copied())
                    .collect(),
                ..self.classes.clone()
            },
            observed: self.observed.clone(),
            annotators: Annotators::default(),
            about: self.about.clone(),
        })
    }

    /// The same session with the stamps and labels of one class alone, as if there were no other, and borrowed features.
    pub(crate) fn of_class(&self, class: &str) -> Result<Session<'_>> {
        let labels = self.labels.as_ref().map(|labels| {
            let is_own = |i: usize| match self.class_label(i) {
                Some(label) => Some(label == Label::Event(class)),
                None => labels[i].filter(|is_event| !is_event),
            };
            (0..self.len()).map(is_own).collect()
        });
        let own = self.clone().with_features(self.features())?;
        let own = own.keeping_stamps(|l| self.class_of(l) == Some(class));
        Ok(Session { labels, classes: Classes::default(), ..own })
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

    /// When what was stamped ended, if the stamp says so.
    pub fn end_of(&self, stamp: usize) -> Option<f64> {
        self.ends.get(stamp).copied().flatten()
    }

    /// Whether any stamp says when what was stamped ended.
    pub fn has_ends(&self) -> bool {
        !self.ends.is_empty()
    }

    /// How many stamps say so.
    pub(crate) fn ends(&self) -> usize {
        self.ends.iter().flatten().count()
    }

    /// The classes of stamps and labels, in order of their names; empty if events have none.
    pub fn classes(&self) -> &[String] {
        &self.classes.names
    }

    /// The class that a stamp is recorded as.
    pub fn class_of(&self, stamp: usize) -> Option<&str> {
        self.classes.of_stamps.get(stamp).map(|&k| self.classes.names[k].as_str())
    }

    /// The label of an instance with its class, if both are known.
    pub fn class_label(&self, instance: usize) -> Option<Label<'_>> {
        match self.label(instance)? {
            false => Some(Label::Nothing),
            true => {
                let class = *self.classes.of_labels.get(instance)?;
                Some(Label::Event(&self.classes.names[class]))
            }
        }
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

    /// First and last instance of every run of events by hand; an error if there are no labels.
    pub fn true_runs(&self) -> Result<Vec<(usize, usize)>> {
        let (mut runs, mut first) = (Vec::new(), 0);
        for alike in self.hand_labels()?.chunk_by(|a, b| a == b) {
            let next = first + alike.len();
            runs.extend(alike[0].then_some((first, next - 1)));
            first = next;
        }
        Ok(runs)
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
pub(crate) fn is_inside(intervals: &[(f64, f64)], time: f64) -> bool {
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

    /// Four instances and three stamps.
    fn walk() -> Session<'static> {
        let features = Features::new(vec![0.0; 4], 4, 1).unwrap();
        Session::new("walk", features, vec![0.0, 1.0, 2.0, 3.0], vec![0.5, 1.5, 2.5]).unwrap()
    }

    fn classes(of: [&str; 3]) -> Vec<String> {
        of.map(str::to_owned).to_vec()
    }

    #[test]
    fn true_runs_go_from_their_first_event_to_their_last() {
        let runs = |truth: Option<[bool; 4]>| {
            let truth = truth.map(Vec::from);
            Recording { session: walk(), truth }.true_runs()
        };
        assert_eq!(runs(Some([true, true, false, true])).unwrap(), [(0, 1), (3, 3)]);
        assert_eq!(runs(Some([false, true, true, false])).unwrap(), [(1, 2)]);
        assert!(runs(Some([false; 4])).unwrap().is_empty() && runs(None).is_err());
    }

    #[test]
    fn classes_are_those_of_stamps_and_labels_in_order_of_names() {
        let labels = [Some(Label::Event("b")), None, Some(Label::Nothing), Some(Label::Event("a"))];
        let both = walk().with_classes(&classes(["c", "b", "c"])).unwrap();
        let both = both.with_class_labels(&labels).unwrap();
        assert_eq!(both.classes(), ["a", "b", "c"]);
        assert_eq!([0, 1, 2].map(|l| both.class_of(l)), [Some("c"), Some("b"), Some("c")]);
        assert_eq!([0, 1, 2, 3].map(|i| both.class_label(i)), labels);
        assert_eq!(
            [0, 1, 2, 3].map(|i| both.label(i)),
            [Some(true), None, Some(false), Some(true)]
        );
        // The other way round, and with plain labels instead.
        let other = walk().with_class_labels(&labels).unwrap();
        let other = other.with_classes(&classes(["c", "b", "c"])).unwrap();
        assert_eq!([0, 1, 2, 3].map(|i| other.class_label(i)), labels);
        let plain = other.with_labels(vec![Some(true); 4]).unwrap();
        assert_eq!((plain.classes().len(), plain.class_label(0)), (2, None));
        let few = walk().with_classes(&classes(["c", "b", "c"])[..2]).unwrap_err().to_string();
        assert_eq!(few, "session walk: 2 classes for 3 stamps");
    }

    #[test]
    fn ends_and_classes_stay_with_their_stamps() {
        let ends = vec![Some(0.75), None, Some(4.0)];
        let bouts =
            walk().with_ends(ends).and_then(|own| own.with_classes(&classes(["a", "b", "a"])));
        let bouts = bouts.unwrap();
        assert!(bouts.has_ends());
        // The last begins first now, and lasts as long.
        let moved = bouts.clone().with_moved_stamps(&[0.5, 1.5, 0.0]).unwrap();
        let of = |own: &Session<'_>, l: usize| (own.end_of(l), own.class_of(l).map(str::to_owned));
        assert_eq!(of(&moved, 0), (Some(1.5), Some("a".to_owned())));
        assert_eq!(of(&moved, 1), (Some(0.75), Some("a".to_owned())));
        assert_eq!(of(&moved, 2), (None, Some("b".to_owned())));
        let seen = bouts.clone().keeping_stamps(|l| l > 0);
        assert_eq!((of(&seen, 0).0, of(&seen, 1).0), (None, Some(4.0)));
        assert!(!bouts.with_stamps(vec![1.0]).unwrap().has_ends());
        let early = walk().with_ends(vec![None, Some(1.0), None]).unwrap_err().to_string();
        let want = "session walk: stamp 1 begins at 1.5 and ends at 1, expected an end that is not earlier";
        assert_eq!(early, want);
    }

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
