//! What sessions tell of the parameters by their stamps, and what labels would.
//!
//! ```text
//! H(s, l) = s·H_stamps + l·H_labels + H_prior
//! ```
//!
//! with s and l multiples of the sessions at hand that are stamped or labelled. The estimate itself moves
//! too, since more sessions outweigh the prior: to first order by (s − 1)·H(s, 0)⁻¹·g, with g the gradient
//! of the evidence, which the prior's balances now. The expected excess loss of a detector, by which ways to
//! spend effort are compared, is to second order ½·tr(L·H⁻¹), with L the detector's block of H_labels and
//! H⁻¹ that of the inverse: the annotator is accounted for.

use super::labelled::labelled;
use crate::learning::Information;
use crate::math::{eigen, factorise, solve};
use crate::model::Uncertainty;
use crate::{Control, Error, Fitted, Result, Session};

/// The largest multiple of the sessions at hand that is looked at; its inverse is the smallest.
const MOST: f64 = 1e6;
/// Halvings of its logarithm: to some 1e-12 of the result.
const HALVINGS: usize = 45;

/// Times the sessions at hand up to which the estimate's way is followed: beyond, it is no small step.
const FAR: f64 = 5.0;

/// What the sessions at hand tell.
pub(super) struct Told {
    /// By their stamps, and labels that they have.
    stamps: Information,
    /// If all were labelled.
    labels: Information,
}

impl Told {
    pub(super) fn new(fitted: &Fitted, sessions: &[Session], control: Control<'_>) -> Result<Self> {
        let mut stamps = Information::of(fitted, sessions, control)?;
        let by_hand = sessions.iter().map(|session| labelled(fitted, session));
        let by_hand: Vec<Session> = by_hand.collect::<Result<_>>()?;
        let mut labels = Information::of(fitted, &by_hand, control)?;
        // Only with the prior is an optimum certainly one: what evidence alone takes away, more of it would not.
        for told in [&mut stamps, &mut labels] {
            told.evidence = without_losses(&told.evidence, told.places.len());
        }
        Ok(Self { stamps, labels })
    }

    /// The parameters of a fitted model, moved to where so many times the sessions would lead.
    pub(super) fn moved(&self, params: &[f64], stamped: f64) -> Result<Vec<f64>> {
        let stamped = stamped.min(FAR);
        let sure = self.uncertainty(stamped, 0.0)?;
        let mut moved = params.to_vec();
        let rows = sure.posterior.chunks_exact(self.stamps.places.len());
        for (&at, row) in self.stamps.places.iter().zip(rows) {
            let step: f64 = row.iter().zip(&self.stamps.pull).map(|(a, b)| a * b).sum();
            moved[at] += (stamped - 1.0) * step;
        }
        Ok(moved)
    }

    /// How sure a fit on so many times the sessions at hand would be.
    pub(super) fn uncertainty(&self, stamped: f64, labelled: f64) -> Result<Uncertainty> {
        let mixed = |a: &[f64], b: &[f64]| -> Vec<f64> {
            a.iter().zip(b).map(|(a, b)| stamped * a + labelled * b).collect()
        };
        let Information { evidence, squares, .. } = &self.stamps;
        // How scores of labelled sessions differ is not known: the labels are taken at the model's word.
        let squares = squares.as_ref().map(|(clusters, own)| {
            let all = (*clusters as f64 * (stamped + labelled)).round().max(2.0);
            (all as usize, mixed(own, &self.labels.evidence))
        });
        let evidence = mixed(evidence, &self.labels.evidence);
        let told = Information { evidence, squares, ..self.stamps.clone() };
        told.uncertainty().ok_or(Error::NotInformative)
    }

    /// Twice the expected excess loss of the detector over all sessions at hand.
    fn excess(&self, stamped: f64, labelled: f64) -> Result<f64> {
        let sure = self.uncertainty(stamped, labelled)?;
        let (told, sure) = (self.detector(&self.labels.evidence), self.detector(&sure.posterior));
        Ok(told.iter().zip(&sure).map(|(a, b)| a * b).sum())
    }

    /// The same of labels alone, to which the annotator does not matter.
    fn excess_of_labels(&self, share: f64) -> Result<f64> {
        let few = self.labels.detector;
        let (told, prior) =
            (self.detector(&self.labels.evidence), self.detector(&self.labels.prior));
        let mut factor: Vec<f64> = told.iter().zip(prior).map(|(a, b)| share * a + b).collect();
        if !factorise(&mut factor, few) {
            return Err(Error::NotInformative);
        }
        let entry = |i: usize| {
            let mut column = told[i * few..][..few].to_vec();
            solve(&factor, &mut column);
            column[i]
        };
        Ok((0..few).map(entry).sum())
    }

    /// The detector's block of a matrix.
    fn detector(&self, matrix: &[f64]) -> Vec<f64> {
        let (size, few) = (self.stamps.places.len(), self.stamps.detector);
        matrix.chunks_exact(size).take(few).flat_map(|row| &row[..few]).copied().collect()
    }

    /// The share of the sessions at hand that, labelled and not stamped, tell the detector as much as the
    /// stamps of all do.
    pub(super) fn worth(&self) -> Result<f64> {
        if self.stamps.detector == 0 {
            return Err(Error::NotInformative);
        }
        let as_much = falls_to(self.excess(1.0, 0.0)?, |share| self.excess_of_labels(share));
        as_much.ok_or(Error::NotInformative)
    }

    /// How many times the sessions at hand would have to be stamped to tell the detector as much.
    pub(super) fn stamped_like(&self, stamped: f64, labelled: f64) -> Result<Option<f64>> {
        if labelled == 0.0 {
            return Ok(Some(stamped));
        }
        Ok(falls_to(self.excess(stamped, labelled)?, |share| self.excess(share, 0.0)))
    }
}

/// A symmetric matrix without its negative eigenvalues, which are found on the scale of its diagonal.
fn without_losses(matrix: &[f64], size: usize) -> Vec<f64> {
    let scale = |k: usize| matrix[k * (size + 1)].abs().max(f64::MIN_POSITIVE).sqrt();
    let scales: Vec<f64> = (0..size).map(scale).collect();
    let both = |at: usize| scales[at / size] * scales[at % size];
    let scaled = matrix.iter().enumerate().map(|(at, entry)| entry / both(at)).collect();
    let (values, vectors) = eigen(scaled, size);
    let mut kept = matrix.to_vec();
    for (value, vector) in values.iter().zip(&vectors).filter(|(value, _)| **value < 0.0) {
        for (at, entry) in kept.iter_mut().enumerate() {
            *entry -= value * vector[at / size] * vector[at % size] * both(at);
        }
    }
    kept
}

/// Where a falling function reaches a value; none if it does not where anybody looks. It is taken as
/// infinite where it fails: hardly any data and no prior tell nothing.
fn falls_to(value: f64, falling: impl Fn(f64) -> Result<f64>) -> Option<f64> {
    let is_above = |at: f64| falling(at).map_or(true, |found| found > value);
    let (mut low, mut high) = (1.0 / MOST, MOST);
    if is_above(high) || !is_above(low) {
        return None;
    }
    for _ in 0..HALVINGS {
        let middle = (low * high).sqrt();
        (low, high) = if is_above(middle) { (middle, high) } else { (low, middle) };
    }
    Some((low * high).sqrt())
}

#[cfg(test)]
mod tests {
    use ndarray::Array2;

    use super::*;
    use crate::math::{Random, sigmoid};
    use crate::{FitOptions, Model};

    #[test]
    fn labels_tell_the_detector_what_a_logistic_regression_learns() {
        let mut random = Random::new(4);
        let features = Array2::from_shape_simple_fn((400, 2), || random.normal());
        let times = (0..400).map(f64::from).collect();
        let positive = (0..400).filter(|&i| features[[i, 0]] + 0.3 * random.normal() > 1.5);
        let stamps = positive.map(|i| i as f64 + 0.2).collect();
        let sessions = [Session::new("one", features, times, stamps).unwrap()];
        let fitted = Model::default().fit(&sessions, &FitOptions::default(), Control::default());
        let fitted = fitted.unwrap();
        let told = Told::new(&fitted, &sessions, Control::default()).unwrap();
        let (classifier, theta) = (&fitted.parts.classifier, &fitted.params[..3]);
        let mut want = [0.0; 9];
        for row in sessions[0].features().chunks(1) {
            let (mut slopes, mut log_odds) = ([0.0; 3], [0.0]);
            let prepared = classifier.prepare(row.into(), Control::default());
            classifier.log_odds(theta, prepared.view(), &mut log_odds);
            classifier.pull_back(theta, prepared.view(), &[1.0], &mut slopes);
            let p = sigmoid(log_odds[0]);
            for (at, sum) in want.iter_mut().enumerate() {
                *sum += p * (1.0 - p) * slopes[at / 3] * slopes[at % 3];
            }
        }
        for (got, want) in told.detector(&told.labels.evidence).iter().zip(want) {
            // Differences over steps of a thousandth, against entries of up to a dozen.
            assert!((got - want).abs() < 0.02, "{got} is not {want}");
        }
    }

    #[test]
    fn only_losses_are_taken_out() {
        // Eigenvalues 3 and −1, along (1, 1) and (1, −1).
        let kept = without_losses(&[1.0, 2.0, 2.0, 1.0], 2);
        assert!(kept.iter().all(|entry| (entry - 1.5).abs() < 1e-14), "{kept:?}"); // roundings
        let good = [2.0, 1.0, 1.0, 3.0];
        assert_eq!(without_losses(&good, 2), good);
    }

    #[test]
    fn a_falling_function_is_followed_to_its_value() {
        let found = falls_to(4.0, |x| Ok(1.0 / x)).unwrap();
        assert!((found - 0.25).abs() < 1e-11, "{found}"); // halvings of the logarithm
        assert!(falls_to(1e-9, |x| Ok(1.0 / x)).is_none());
        assert!(falls_to(1e9, |x| Ok(1.0 / x)).is_none());
        let fails = |x: f64| if x < 0.1 { Err(Error::NotInformative) } else { Ok(1.0 / x) };
        assert!((falls_to(4.0, fails).unwrap() - 0.25).abs() < 1e-11);
    }
}
