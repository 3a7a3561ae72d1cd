//! Everything between log-odds and stamps.

use std::ops::Range;
use std::sync::Arc;

use super::bound_session::BoundSession;
use super::groups::{GROUPS, Groups};
use super::in_time::InTime;
use super::labelling::{LABELS, Labelling, presence};
use super::stamp_model::StampModel;
use crate::params::{Layout, ParameterSpec};

/// Labels, the stamps they give rise to and what differs between groups of these, with the layout of their
/// parameters: those of the labels come first, then those of the annotator, and deviations of groups last.
#[derive(Debug, Clone)]
pub struct StampParts {
    /// Log-odds to labels.
    pub labelling: Labelling,
    /// Labels to stamps.
    pub model: Arc<dyn StampModel>,
    /// What differs between groups of stamps.
    pub groups: Groups,
    /// Layout of their parameters.
    pub layout: Layout,
}

impl StampParts {
    /// Combines them.
    pub(crate) fn new(labelling: Labelling, model: Arc<dyn StampModel>, groups: Groups) -> Self {
        let layout = Layout::new(parts(labelling, model.as_ref(), &groups));
        Self { labelling, model, groups, layout }
    }

    /// The parameters of each by name.
    pub(super) fn parts(&self) -> Vec<(&'static str, Vec<ParameterSpec>)> {
        parts(self.labelling, self.model.as_ref(), &self.groups)
    }

    /// The same parts with stamps scored as a superposition.
    pub(super) fn superposed(&self) -> Self {
        Self { model: Arc::clone(&self.model).superposed(), ..self.clone() }
    }

    /// Range of the parameters of the labels; empty if these are independent.
    pub(crate) fn labels(&self) -> Range<usize> {
        0..self.layout.part(LABELS).len()
    }

    /// Range of the annotator's parameters, without the deviations of groups.
    pub(crate) fn annotator(&self) -> Range<usize> {
        self.labels().end..self.deviations().start
    }

    /// Range of the deviations of groups.
    pub(crate) fn deviations(&self) -> Range<usize> {
        self.layout.dim() - self.groups.dim()..self.layout.dim()
    }

    /// p(y = 1) without stamps, of instances at these times in units with these log-odds.
    pub(crate) fn presence(&self, params: &[f64], times: &[f64], log_odds: &[f64]) -> Vec<f64> {
        presence(self.labelling.rates(&params[self.labels()], 1.0), times, log_odds)
    }

    /// The stamp model at its parameters, for the annotators of a session.
    pub(crate) fn bind<'a>(&'a self, params: &[f64], session: &'a InTime) -> BoundSession<'a> {
        BoundSession::new(self, params, session)
    }
}

fn parts(
    labelling: Labelling,
    model: &dyn StampModel,
    groups: &Groups,
) -> Vec<(&'static str, Vec<ParameterSpec>)> {
    let mut parts = Vec::new();
    if !labelling.is_independent() {
        parts.push((LABELS, labelling.parameters()));
    }
    parts.extend(model.parts());
    if !groups.is_empty() {
        parts.push((GROUPS, groups.parameters()));
    }
    parts
}
