//! Labels with little information, or inverted ones.

use super::finding::Finding;
use super::view::View;

/// A larger share of positives may mean inverted labels.
const MOSTLY: f64 = 0.5;

pub(super) fn check(view: &View<'_>) -> Vec<Finding> {
    let known = || view.sessions.iter().flat_map(|session| session.labels.iter().flatten());
    let (labelled, of) = (known().count(), view.instances());
    let positives = known().filter(|label| **label).count();
    let mut findings = Vec::new();
    if labelled == 0 {
        return findings;
    }
    let share = positives as f64 / labelled as f64;
    if positives == 0 || positives == labelled {
        findings.push(Finding::OneClass { label: positives > 0 });
    } else if share > MOSTLY {
        findings.push(Finding::MostlyPositive { share });
    }
    if labelled < of {
        findings.push(Finding::PartlyLabelled { labelled, of });
    }
    findings
}
