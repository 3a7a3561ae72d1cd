//! A classifier and a stamp model together.

use std::ops::Range;
use std::sync::Arc;

use super::bound_session::BoundSession;
use super::classifier::Classifier;
use super::groups::{Effect, GROUPS, Groups};
use super::in_time::InTime;
use super::stamp_model::StampModel;
use super::uncertainty::GroupPosterior;
use crate::params::{CLASSIFIER, Layout};

/// Detector and annotator, with the layout of their parameters: the detector's come first, deviations of
/// groups last.
#[derive(Debug, Clone)]
pub struct Parts {
    /// Features to log-odds.
    pub classifier: Arc<dyn Classifier>,
    /// Log-odds to stamps.
    pub stamp_model: Arc<dyn StampModel>,
    /// What differs between groups of stamps.
    pub groups: Groups,
    /// Layout of their parameters.
    pub layout: Layout,
}

impl Parts {
    /// Combines both, the same for all stamps.
    pub fn new(classifier: Box<dyn Classifier>, stamp_model: impl StampModel + 'static) -> Self {
        Self::of(Arc::from(classifier), Arc::new(stamp_model), Groups::default())
    }

    fn of(
        classifier: Arc<dyn Classifier>,
        stamp_model: Arc<dyn StampModel>,
        groups: Groups,
    ) -> Self {
        let mut parts = vec![(CLASSIFIER, classifier.parameters())];
        parts.extend(stamp_model.parts());
        if !groups.is_empty() {
            parts.push((GROUPS, groups.parameters()));
        }
        Self { classifier, stamp_model, groups, layout: Layout::new(parts) }
    }

    /// The same classifier with another stamp model, the same for all stamps.
    pub fn with_stamp_model(&self, stamp_model: impl StampModel + 'static) -> Self {
        Self::of(Arc::clone(&self.classifier), Arc::new(stamp_model), Groups::default())
    }

    /// The same parts with what differs between groups.
    pub(crate) fn with_groups(&self, groups: Groups) -> Self {
        Self::of(Arc::clone(&self.classifier), Arc::clone(&self.stamp_model), groups)
    }

    /// The same parts with stamps scored as a superposition.
    pub fn superposed(&self) -> Self {
        Self { stamp_model: Arc::clone(&self.stamp_model).superposed(), ..self.clone() }
    }

    /// Range of the detector's parameters.
    pub fn detector(&self) -> Range<usize> {
        self.layout.part(CLASSIFIER)
    }

    /// Range of the annotator's parameters, without the deviations of groups.
    pub fn annotator(&self) -> Range<usize> {
        self.detector().end..self.deviations().start
    }

    /// Range of the deviations of groups.
    pub fn deviations(&self) -> Range<usize> {
        self.layout.dim() - self.groups.dim()..self.layout.dim()
    }

    /// What is known of deviations without a stamp: how wide those of other groups scatter.
    pub(crate) fn unstamped(&self, is_own: &[bool]) -> Vec<GroupPosterior> {
        let (first, effects) = (self.deviations().start, self.groups.effects().iter().enumerate());
        let own = |(k, effect): (usize, &Effect)| {
            let covariance = vec![effect.scale * effect.scale];
            let places = self.groups.range(k).filter(|&at| is_own[at]).collect::<Vec<usize>>();
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
        let (annotator, deviations) = (&params[self.annotator()], &params[self.deviations()]);
        BoundSession::new(self.stamp_model.as_ref(), &self.groups, annotator, deviations, session)
    }
}
