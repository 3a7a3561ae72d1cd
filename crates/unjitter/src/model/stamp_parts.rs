//! Everything between log-odds and stamps.

use std::ops::Range;
use std::sync::Arc;

use super::bound_session::BoundSession;
use super::groups::{GROUPS, Groups};
use super::in_time::InTime;
use super::labelling::{ENDS, LABELS, Labelling, presence};
use super::stamp_model::StampModel;
use crate::Session;
use crate::params::{Layout, ParameterSpec};

/// Labels, the stamps they give rise to and what differs between groups of these, with the layout of their
/// parameters: those of the labels come first, then those of the annotator, as many for the ends of bouts if stamps
/// tell these, and deviations of groups last.
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
    pub(super) fn parts(&self) -> Vec<(String, Vec<ParameterSpec>)> {
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

    /// The observed instances of a session, by position, and the stamps that these parts are about.
    pub(crate) fn in_time(
        &self,
        session: &Session<'_>,
        observed: &[usize],
        time_unit: f64,
    ) -> InTime {
        let in_time = InTime::new(session, observed, time_unit, &self.groups);
        if self.labelling.ends { in_time.with_ends(session, time_unit) } else { in_time }
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
) -> Vec<(String, Vec<ParameterSpec>)> {
    let mut parts = Vec::new();
    if !labelling.is_independent() {
        parts.push((LABELS.to_owned(), labelling.parameters()));
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
