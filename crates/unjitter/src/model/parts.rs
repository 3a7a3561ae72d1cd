//! A classifier and everything between its log-odds and stamps.

use std::ops::Range;
use std::sync::Arc;

use super::bound_session::BoundSession;
use super::classes::Classes;
use super::classifier::{Classifier, PerClass};
use super::groups::{Effect, Groups};
use super::in_time::InTime;
use super::labelling::Labelling;
use super::stamp_model::StampModel;
use super::stamp_parts::StampParts;
use super::uncertainty::GroupPosterior;
use crate::labels::Rates;
use crate::params::{CLASSIFIER, Layout};

/// Detector and annotator, with the layout of their parameters: the classifier's come first.
#[derive(Debug, Clone)]
pub struct Parts {
    /// Features to log-odds.
    pub classifier: Arc<dyn Classifier>,
    /// Log-odds to stamps.
    pub stamps: StampParts,
    /// Layout of their parameters.
    pub layout: Layout,
}

impl Parts {
    /// Combines them, the same for all stamps. Several classes have a copy of the classifier each.
    pub fn new(
        classifier: Box<dyn Classifier>,
        labelling: Labelling,
        classes: Classes,
        stamp_model: impl StampModel + 'static,
    ) -> Self {
        let classifier: Arc<dyn Classifier> = match classes.are_several() {
            true => Arc::new(PerClass::new(classifier, classes.names().to_vec())),
            false => Arc::from(classifier),
        };
        let stamps = StampParts::new(labelling, classes, Arc::new(stamp_model), Groups::default());
        Self::of(classifier, stamps)
    }

    fn of(classifier: Arc<dyn Classifier>, stamps: StampParts) -> Self {
        let mut parts = vec![(CLASSIFIER.to_owned(), classifier.parameters())];
        parts.extend(stamps.parts());
        Self { classifier, stamps, layout: Layout::new(parts) }
    }

    /// The same classifier with another stamp model, the same for all stamps.
    pub fn with_stamp_model(&self, stamp_model: impl StampModel + 'static) -> Self {
        let StampParts { labelling, classes, .. } = &self.stamps;
        let model = Arc::new(stamp_model);
        let stamps = StampParts::new(*labelling, classes.clone(), model, Groups::default());
        Self::of(Arc::clone(&self.classifier), stamps)
    }

    /// The same parts with what differs between groups.
    pub(crate) fn with_groups(&self, groups: Groups) -> Self {
        let StampParts { labelling, classes, model, .. } = &self.stamps;
        let stamps = StampParts::new(*labelling, classes.clone(), Arc::clone(model), groups);
        Self::of(Arc::clone(&self.classifier), stamps)
    }

    /// The same parts with stamps scored as a superposition.
    pub fn superposed(&self) -> Self {
        Self { stamps: self.stamps.superposed(), ..self.clone() }
    }

    /// Range of the detector's parameters.
    pub fn detector(&self) -> Range<usize> {
        self.layout.part(CLASSIFIER)
    }

    /// Range of the parameters of the labels and of their classes; empty if every label is a yes or no of its own.
    pub fn labels(&self) -> Range<usize> {
        self.behind_detector(self.stamps.labels())
    }

    /// Range of the annotator's parameters, without those about ends and the deviations of groups.
    pub fn annotator(&self) -> Range<usize> {
        self.behind_detector(self.stamps.annotator())
    }

    /// Range of the annotator's parameters about the ends of bouts; empty if stamps do not tell these.
    pub fn ends(&self) -> Range<usize> {
        self.behind_detector(self.stamps.ends())
    }

    /// Range of the deviations of groups.
    pub fn deviations(&self) -> Range<usize> {
        self.behind_detector(self.stamps.deviations())
    }

    /// Classes of events; one if they have none.
    pub(crate) fn classes(&self) -> usize {
        self.stamps.classes.count()
    }

    /// Range of the confusion matrix; empty if nothing can be confused.
    pub(crate) fn confusion(&self) -> Range<usize> {
        self.behind_detector(self.stamps.confusion())
    }

    /// The transitions of a chain at some parameters; see [`StampParts::rates`].
    pub(crate) fn rates(&self, params: &[f64], unit: f64) -> Option<Rates> {
        self.stamps.rates(&params[self.detector().end..], unit)
    }

    fn behind_detector(&self, own: Range<usize>) -> Range<usize> {
        let first = self.detector().end;
        first + own.start..first + own.end
    }

    /// What is known of deviations without a stamp: how wide those of other groups scatter.
    pub(crate) fn unstamped(&self, is_own: &[bool]) -> Vec<GroupPosterior> {
        let groups = &self.stamps.groups;
        let (first, effects) = (self.deviations().start, groups.effects().iter().enumerate());
        let own = |(k, effect): (usize, &Effect)| {
            let covariance = vec![effect.scale * effect.scale];
            let places = groups.range(k).filter(|&at| is_own[at]).collect::<Vec<usize>>();
            places.into_iter().map(move |at| GroupPosterior {
                places: vec![first + at],
                covariance: covariance.clone(),
                follows: Vec::new(),
            })
        };
        effects.flat_map(own).collect()
    }

    /// The stamp model at its part of all parameters, for the annotators of a session.
    pub(crate) fn bind<'a>(&'a self, params: &[f64], session: &'a InTime) -> BoundSession<'a> {
        self.stamps.bind(&params[self.detector().end..], session)
    }
}
