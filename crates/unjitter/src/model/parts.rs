//! A classifier and a stamp model together.

use std::ops::Range;
use std::sync::Arc;

use super::classifier::Classifier;
use super::stamp_model::{BoundStampModel, StampModel};
use crate::params::{CLASSIFIER, Layout};

/// Detector and annotator, with the layout of their parameters: the detector's come first.
#[derive(Debug, Clone)]
pub struct Parts {
    /// Features to log-odds.
    pub classifier: Arc<dyn Classifier>,
    /// Log-odds to stamps.
    pub stamp_model: Arc<dyn StampModel>,
    /// Layout of their parameters.
    pub layout: Layout,
}

impl Parts {
    /// Combines both.
    pub fn new(classifier: Box<dyn Classifier>, stamp_model: impl StampModel + 'static) -> Self {
        let mut parts = vec![(CLASSIFIER, classifier.parameters())];
        parts.extend(stamp_model.parts());
        Self {
            classifier: Arc::from(classifier),
            stamp_model: Arc::new(stamp_model),
            layout: Layout::new(parts),
        }
    }

    /// The same classifier with another stamp model.
    pub fn with_stamp_model(&self, stamp_model: impl StampModel + 'static) -> Self {
        let mut parts = vec![(CLASSIFIER, self.classifier.parameters())];
        parts.extend(stamp_model.parts());
        let stamp_model = Arc::new(stamp_model);
        Self { classifier: Arc::clone(&self.classifier), stamp_model, layout: Layout::new(parts) }
    }

    /// The same parts with stamps scored as a superposition.
    pub fn superposed(&self) -> Self {
        Self { stamp_model: Arc::clone(&self.stamp_model).superposed(), ..self.clone() }
    }

    /// Range of the detector's parameters.
    pub fn detector(&self) -> Range<usize> {
        self.layout.part(CLASSIFIER)
    }

    /// Range of the annotator's parameters.
    pub fn annotator(&self) -> Range<usize> {
        self.detector().end..self.layout.dim()
    }

    /// The stamp model at its part of all parameters, for sessions of at most so many stamps.
    pub fn bind<'a>(
        &'a self,
        params: &'a [f64],
        most_stamps: usize,
    ) -> Box<dyn BoundStampModel + 'a> {
        self.stamp_model.bind(&params[self.annotator()], most_stamps)
    }
}
