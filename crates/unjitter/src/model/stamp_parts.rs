//! Everything between log-odds and stamps.

use std::ops::Range;
use std::sync::Arc;

use super::bound_session::BoundSession;
use super::classes::{CONFUSION, Classes};
use super::groups::{GROUPS, Groups};
use super::in_time::InTime;
use super::labelling::{ENDS, LABELS, Labelling, presence};
use super::stamp_model::StampModel;
use crate::Session;
use crate::inference::Impossible;
use crate::labels::{Chain, Rates, Scene, Spare, Summed, Wanted};
use crate::params::{Layout, ParameterSpec};
use crate::scratch::Scratch;

/// Labels, the stamps they give rise to and what differs between groups of these, with the layout of their
/// parameters: those of the labels come first, then those of the annotator, as many for the ends of bouts if stamps
/// tell these, and deviations of groups last.
#[derive(Debug, Clone)]
pub struct StampParts {
    /// Log-odds to labels.
    pub labelling: Labelling,
    /// Classes of events, and what these are recorded as.
    pub classes: Classes,
    /// Labels to stamps.
    pub model: Arc<dyn StampModel>,
    /// What differs between groups of stamps.
    pub groups: Groups,
    /// Layout of their parameters.
    pub layout: Layout,
    /// Room for sums over labels that are not plain.
    pub(super) spare: Arc<Scratch<Spare>>,
}

impl StampParts {
    /// Combines them.
    pub(crate) fn new(
        labelling: Labelling,
        classes: Classes,
        model: Arc<dyn StampModel>,
        groups: Groups,
    ) -> Self {
        let layout = Layout::new(parts(labelling, &classes, model.as_ref(), &groups));
        Self { labelling, classes, model, groups, layout, spare: Arc::default() }
    }

    /// The parameters of each by name.
    pub(super) fn parts(&self) -> Vec<(String, Vec<ParameterSpec>)> {
        parts(self.labelling, &self.classes, self.model.as_ref(), &self.groups)
    }

    /// The same parts with stamps scored as a superposition.
    pub(super) fn superposed(&self) -> Self {
        Self { model: Arc::clone(&self.model).superposed(), ..self.clone() }
    }

    /// Whether every label is a yes or no of its own. One that is known then has infinite log-odds.
    pub(crate) fn are_labels_plain(&self) -> bool {
        self.labelling.is_independent() && !self.classes.are_several()
    }

    /// Range of the parameters of the labels, those of their classes last; empty if these are plain.
    pub(crate) fn labels(&self) -> Range<usize> {
        0..self.layout.part(LABELS).len() + self.confusion().len()
    }

    /// Range of the confusion matrix; empty if nothing can be confused.
    pub(crate) fn confusion(&self) -> Range<usize> {
        self.layout.part(CONFUSION)
    }

    /// Range of the annotator's parameters, without those about ends and the deviations of groups.
    pub(crate) fn annotator(&self) -> Range<usize> {
        let first = self.labels().end;
        first..first + (self.deviations().start - first) / self.blocks()
    }

    /// Range of the annotator's parameters about the ends of bouts; empty if stamps do not tell these.
    pub(crate) fn ends(&self) -> Range<usize> {
        self.annotator().end..self.deviations().start
    }

    /// How many sets of the annotator's parameters there are, of one kind.
    pub(super) fn blocks(&self) -> usize {
        1 + usize::from(self.labelling.ends)
    }

    /// Range of the deviations of groups.
    pub(crate) fn deviations(&self) -> Range<usize> {
        self.layout.dim() - self.groups.dim()..self.layout.dim()
    }

    /// The transitions at these parameters, for times of which one unit of the parameters is so many; none if labels are
    /// independent.
    pub(crate) fn rates(&self, params: &[f64], unit: f64) -> Option<Rates> {
        self.labelling.rates(&params[self.layout.part(LABELS)], unit)
    }

    /// Probabilities of records, by class of the event.
    pub(crate) fn recorded(&self, params: &[f64]) -> Vec<Vec<f64>> {
        self.classes.confusion(&params[self.confusion()])
    }

    /// The observed instances of a session, by position, and the stamps that these parts are about.
    pub(crate) fn in_time(
        &self,
        session: &Session<'_>,
        observed: &[usize],
        time_unit: f64,
    ) -> InTime {
        let in_time = InTime::new(session, observed, time_unit, &self.groups, &self.classes);
        if self.labelling.ends { in_time.with_ends(session, time_unit) } else { in_time }
    }

    /// p(an event) without stamps, of instances at these times in units with these log-odds by instance and class.
    pub(crate) fn presence(&self, params: &[f64], times: &[f64], log_odds: &[f64]) -> Vec<f64> {
        presence(self.rates(params, 1.0), self.classes.count(), times, log_odds)
    }

    /// What labels that are all known come to without stamps, and its slopes: those of instances that nobody watched, at these times in
    /// units with these log-odds by instance and class. They are a chain of their own, if labels form one.
    pub(crate) fn labelled(
        &self,
        params: &[f64],
        times: &[f64],
        labels: &[usize],
        log_odds: &[f64],
    ) -> Result<Summed, Impossible> {
        let known: Vec<Option<usize>> = labels.iter().copied().map(Some).collect();
        let chain = Chain::new(times, self.classes.count(), self.rates(params, 1.0), log_odds);
        let scene = Scene { chain: &chain, known: &known, streams: Vec::new() };
        self.spare.with(|spare| scene.sum(Wanted::Slopes, None, spare))
    }

    /// The stamp model at its parameters, for the annotators of a session.
    pub(crate) fn bind<'a>(&'a self, params: &[f64], session: &'a InTime) -> BoundSession<'a> {
        BoundSession::new(self, params, session)
    }
}

fn parts(
    labelling: Labelling,
    classes: &Classes,
    model: &dyn StampModel,
    groups: &Groups,
) -> Vec<(String, Vec<ParameterSpec>)> {
    let mut parts = Vec::new();
    if !labelling.is_independent() {
        parts.push((LABELS.to_owned(), labelling.parameters()));
    }
    if classes.are_several() {
        parts.push((CONFUSION.to_owned(), classes.parameters()));
    }
    parts.extend(model.parts().into_iter().map(|(name, own)| (name.to_owned(), own)));
    if labelling.ends {
        parts.extend(model.parts().into_iter().map(|(name, own)| (format!("{ENDS}.{name}"), own)));
    }
    if !groups.is_empty() {
        parts.push((GROUPS.to_owned(), groups.parameters()));
    }
    parts
}
