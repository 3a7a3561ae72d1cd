//! Each class of events by itself: the start of a fit of several classes.
//!
//! The stamps that are recorded as one class are learned from as if there were no other, with all starts that this has: those
//! of other classes are then nothing that happened, and what annotators confuse comes from nowhere. The superposition
//! is in there, which stamps of several classes at once do not have. Detectors of all classes together, and
//! the annotator as one class or another has it, are where the common search begins. Costs a fit for each class.

use std::ops::Range;

use super::fit::FitOptions;
use super::grouped::KnownShift;
use crate::model::{Fitted, Learned, Model, Parts};
use crate::params::{Parameter, Role};
use crate::prior::Priors;
use crate::{Control, Error, Result, Session};

/// The fits of all classes, by class; none of one that no stamp here is of.
#[derive(Debug)]
pub(super) struct Apart(Vec<Option<Fitted>>);

impl Apart {
    /// Fits every class; none if the stamps of one do not allow it.
    pub(super) fn fit(
        model: &Model,
        sessions: &[Session<'_>],
        known: Option<KnownShift>,
        options: &FitOptions,
        control: Control<'_>,
    ) -> Result<Option<Self>> {
        let mut alone = Model { classes: Vec::new(), ..model.clone() };
        // Detectors have a name for each class there.
        alone.frozen.retain(|own| {
            !own.name.starts_with("classifier.") && !own.name.starts_with("confusion.")
        });
        let options = FitOptions { simulations: 0, standard_errors: false, ..options.clone() };
        let quiet = Control { watch: None, ..control };
        let mut fits = Vec::with_capacity(model.classes.len());
        for class in &model.classes {
            let own: Vec<Session<'_>> =
                sessions.iter().map(|session| session.of_class(class)).collect::<Result<_>>()?;
            if own.iter().all(|session| session.stamps().is_empty()) {
                fits.push(None);
                continue;
            }
            match alone.fit_alike(&own, known, &options, quiet) {
                Ok(fitted) => fits.push(Some(fitted)),
                Err(Error::Cancelled) => return Err(Error::Cancelled),
                Err(_) => return Ok(None),
            }
        }
        Ok(Some(Self(fits)).filter(|own| own.fits().next().is_some()))
    }

    fn fits(&self) -> impl Iterator<Item = &Fitted> {
        self.0.iter().flatten()
    }

    /// Classes that have stamps.
    pub(super) fn stamped(&self) -> Vec<usize> {
        (0..self.0.len()).filter(|&class| self.0[class].is_some()).collect()
    }

    /// Whether the stamps of most classes are of events with several.
    pub(super) fn are_several(&self) -> bool {
        let several = |own: &&Fitted| own.model().counts == crate::Counts::Poisson;
        2 * self.fits().filter(several).count() > self.fits().count()
    }

    /// All parameters, with the annotator and the runs as one class has them that has stamps. The detector of one without
    /// stamps, of so few events as these log-odds say, knows nothing.
    pub(super) fn start(
        &self,
        like: usize,
        parts: &Parts,
        priors: &Priors,
        unstamped: f64,
    ) -> Option<Vec<f64>> {
        let mut params = vec![0.0; parts.layout.dim()];
        let own = self.0.get(like)?.as_ref()?;
        // The same share of all stamps.
        let usual: f64 = self.fits().filter_map(|own| own.stamp_rate).sum();
        let times = own.stamp_rate.map_or(1.0, |rate| usual / rate);
        let start = |annotator: &[f64]| {
            let learned = own.parts.stamps.model.learned(annotator);
            let background_rate = learned.background_rate * times;
            parts.stamps.model.start(&Learned { background_rate, ..learned })
        };
        params[parts.annotator()].copy_from_slice(&start(&own.params[own.parts.annotator()]));
        if !parts.ends().is_empty() {
            params[parts.ends()].copy_from_slice(&start(&own.params[own.parts.ends()]));
        }
        params[parts.detector()].copy_from_slice(&parts.classifier.start(0));
        let size = parts.detector().len() / self.0.len();
        let classes = params[parts.detector()].chunks_exact_mut(size);
        for (theta, own) in classes.zip(&self.0) {
            let known = own.iter().flat_map(|own| &own.params[own.parts.detector()]);
            theta.iter_mut().zip(known).for_each(|(own, known)| *own = *known);
        }
        for (intercept, own) in intercepts(parts).zip(&self.0) {
            if own.is_none() {
                params[intercept].fill(unstamped);
            }
        }
        params[parts.confusion()].copy_from_slice(&parts.stamps.classes.start(&priors.confusion));
        self.set_rates(own, parts, &mut params);
        Some(params)
    }

    /// Sets the rates of a chain: runs begin as often as those of all classes, and last as those of one. A class that says
    /// nothing of an instance then says nothing of it still.
    fn set_rates(&self, like: &Fitted, parts: &Parts, params: &mut [f64]) {
        let rates = |own: &Fitted| own.parts.rates(&own.params, 1.0);
        let Some(of_one) = rates(like) else { return };
        let onset: f64 = self.fits().filter_map(rates).map(|own| own.onset).sum();
        let first = parts.labels().start;
        (params[first], params[first + 1]) = (onset.ln(), of_one.offset.ln());
        let neutral = (onset / of_one.offset).ln() - (self.0.len() as f64).ln();
        for (intercept, own) in intercepts(parts).zip(&self.0) {
            let Some(own) = own.as_ref().and_then(rates) else { continue };
            let shift = neutral - (own.onset / own.offset).ln();
            params[intercept].iter_mut().for_each(|own| *own += shift);
        }
    }
}

/// Where the constant term of each class is.
fn intercepts(parts: &Parts) -> impl Iterator<Item = Range<usize>> {
    let is_intercept = |p: &&Parameter| p.spec.role == Role::Intercept;
    parts.layout.parameters().iter().filter(is_intercept).map(|own| own.range.clone())
}

#[cfg(test)]
mod tests {
    use ndarray::Array2;

    use super::*;
    use crate::labels::Labels;
    use crate::learning::Problem;

    #[test]
    fn ends_begin_as_a_class_has_them_and_classes_without_stamps_are_rare() {
        let features = Array2::from_shape_fn((120, 2), |(i, k)| {
            f64::from(u8::from(i % 20 < 4 && (i / 20) % 2 == k)) + 0.3 * ((i + k) as f64).sin()
        });
        let times = (0..120).map(f64::from).collect();
        let stamps: Vec<f64> = (0..6).map(|l| f64::from(20 * l) + 0.4).collect();
        let ends = stamps.iter().map(|start| Some(start + 4.5)).collect();
        let of: Vec<String> = (0..6).map(|l| ["a", "b"][l % 2].to_owned()).collect();
        let session = Session::new("walk", features, times, stamps).unwrap();
        let session = [session.with_ends(ends).unwrap().with_classes(&of).unwrap()];
        let classes = ["a", "b", "c"].map(str::to_owned).to_vec();
        let model = Model { labels: Labels::Chain, ends: true, classes, ..Model::default() };
        let options = FitOptions { restarts: 0, ..FitOptions::default() };
        let control = Control::default();
        let apart = Apart::fit(&model, &session, None, &options, control).unwrap().unwrap();
        assert_eq!(apart.stamped(), [0, 1]);
        let problem = Problem::new(&model, &session, 0, control).unwrap();
        let (parts, priors) = (problem.parts(), Priors::default());
        assert_eq!(apart.start(2, parts, &priors, -9.0), None);
        for like in [0, 1] {
            let params = apart.start(like, parts, &priors, -9.0).unwrap();
            let learned = |own: Range<usize>| parts.stamps.model.learned(&params[own]);
            let (own, want) = (learned(parts.ends()), apart.0[like].as_ref().unwrap());
            let want = want.learned_ends().unwrap().in_units_of(want.time_unit());
            // To a unit and back: rounding only.
            assert!((own.delay - want.delay).abs() < 1e-12, "{own:?} {want:?}");
            assert!((own.spread - want.spread).abs() < 1e-12, "{own:?} {want:?}");
            let last = intercepts(parts).last().unwrap();
            assert_eq!(params[last], [-9.0]);
        }
    }
}
