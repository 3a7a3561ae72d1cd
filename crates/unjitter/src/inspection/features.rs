//! Features that are constant, repeated, or reveal the label.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hasher};

use super::finding::Finding;
use super::view::View;

/// Labels of each class from which equality with a feature is no accident.
const TELLING: usize = 5;
/// Share of instances that may differ in a nearly constant feature.
const FEW: f64 = 0.001;
/// Values from this size on are no measurements; many programs write missing values so.
const HUGE: f64 = 1e15;

/// Statistics of a column from one pass.
#[derive(Clone, Default)]
struct Column {
    hasher: DefaultHasher,
    /// The majority value, if there is one, and its votes (Boyer and Moore).
    common: f64,
    votes: usize,
    largest: f64,
    same_as_label: bool,
    opposite_of_label: bool,
}

pub(super) fn check(view: &View<'_>) -> Vec<Finding> {
    let columns = look(view);
    let instances = view.instances();
    let others = others(view, &columns);
    let names = |chosen: &dyn Fn(usize) -> bool| -> Vec<String> {
        (0..columns.len()).filter(|&k| chosen(k)).map(|k| view.features[k].clone()).collect()
    };
    let is_constant = |k: usize| others[k] == 0;
    let is_nearly = |k: usize| others[k] > 0 && others[k] as f64 <= FEW * instances as f64;
    let is_label = |k: usize| columns[k].same_as_label || columns[k].opposite_of_label;
    let is_huge = |k: usize| columns[k].largest >= HUGE;
    let largest = columns.iter().map(|column| column.largest).fold(0.0, f64::max);
    let groups = repeated(view, &columns, &|k| !is_constant(k));
    let one_value = if instances > 1 { names(&is_constant) } else { Vec::new() };
    let mut findings = vec![
        Finding::LabelAsFeature { features: names(&|k| is_label(k) && !is_constant(k)) },
        Finding::ConstantFeatures { features: one_value },
        Finding::NearlyConstant { features: names(&is_nearly) },
        Finding::HugeValues { features: names(&is_huge), largest },
    ];
    findings.retain(|finding| match finding {
        Finding::LabelAsFeature { features }
        | Finding::ConstantFeatures { features }
        | Finding::NearlyConstant { features }
        | Finding::HugeValues { features, .. } => !features.is_empty(),
        _ => true,
    });
    if !groups.is_empty() {
        findings.push(Finding::RepeatedFeatures { groups });
    }
    findings
}

/// Calls `visit` with every row of features and its label.
fn visit_rows(view: &View<'_>, mut visit: impl FnMut(&[f64], Option<bool>)) {
    for session in &view.sessions {
        let mut labels = session.labels.iter();
        let next = |row: &[f64]| visit(row, labels.next().copied().flatten());
        session.features.visit_rows(next);
    }
}

fn look(view: &View<'_>) -> Vec<Column> {
    // Labels of one class, or very few labels, equal many a feature.
    let labels = || view.sessions.iter().flat_map(|session| session.labels.iter());
    let has = |class: bool| labels().filter(|label| **label == Some(class)).take(TELLING).count();
    let telling = has(true) == TELLING && has(false) == TELLING;
    let fresh = Column { same_as_label: telling, opposite_of_label: telling, ..Column::default() };
    let mut columns = vec![fresh; view.features.len()];
    visit_rows(view, |values, label| {
        for (column, &value) in columns.iter_mut().zip(values) {
            column.see(value, label);
        }
    });
    columns
}

impl Column {
    fn see(&mut self, value: f64, label: Option<bool>) {
        self.hasher.write_u64(value.to_bits());
        self.largest = self.largest.max(value.abs());
        if self.votes == 0 {
            (self.common, self.votes) = (value, 1);
        } else if self.common == value {
            self.votes += 1;
        } else {
            self.votes -= 1;
        }
        if let Some(label) = label {
            let label = f64::from(u8::from(label));
            self.same_as_label &= value == label;
            self.opposite_of_label &= value == 1.0 - label;
        }
    }
}

/// How many instances differ from the commonest value, by feature; exact if that is a majority.
fn others(view: &View<'_>, columns: &[Column]) -> Vec<usize> {
    let mut others = vec![0; columns.len()];
    visit_rows(view, |values, _| {
        for ((count, column), &value) in others.iter_mut().zip(columns).zip(values) {
            *count += usize::from(value != column.common);
        }
    });
    others
}

/// Groups of features that are equal to the bit, among those for which `counts`.
fn repeated(
    view: &View<'_>,
    columns: &[Column],
    counts: &dyn Fn(usize) -> bool,
) -> Vec<Vec<String>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut seen: HashMap<u64, usize> = HashMap::new();
    for k in (0..columns.len()).filter(|&k| counts(k)) {
        let at = *seen.entry(columns[k].hasher.finish()).or_insert(groups.len());
        match groups.get_mut(at) {
            // Features with equal hashes are equal: a collision of 64 bits is too unlikely.
            Some(group) => group.push(k),
            None => groups.push(vec![k]),
        }
    }
    let names = |group: &Vec<usize>| group.iter().map(|&k| view.features[k].clone()).collect();
    groups.iter().filter(|group| group.len() > 1).map(names).collect()
}
