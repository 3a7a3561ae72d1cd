//! Each class of events by itself: the start of a fit of several classes.
//!
//! The stamps that are recorded as one class are learned from as if there were no other, with all starts that this has: those
//! of other classes are then nothing that happened, and what annotators confuse comes from nowhere. The superposition
//! is in there, which stamps of several classes at once do not have. Detectors of all classes together, and
//! the annotator as one class or another has it, are where the common search begins. Costs a fit for each class.

use super::fit::FitOptions;
use super::grouped::KnownShift;
use crate::model::{Fitted, Learned, Model, Parts};
use crate::params::Role;
use crate::prior::Priors;
use crate::{Control, Error, Result, Session};

/// The fits of all classes, by class.
#[derive(Debug)]
pub(super) struct Apart(Vec<Fitted>);

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
            match alone.fit_alike(&own, known, &options, quiet) {
                Ok(fitted) => fits.push(fitted),
                Err(Error::Cancelled) => return Err(Error::Cancelled),
                Err(_) => return Ok(None),
            }
        }
        Ok(Some(Self(fits)))
    }

    /// How many classes there are.
    pub(super) fn count(&self) -> usize {
        self.0.len()
    }

    /// Whether the stamps of most classes are of events with several.
    pub(super) fn are_several(&self) -> bool {
        let several = |own: &&Fitted| own.model().counts == crate::Counts::Poisson;
        2 * self.0.iter().filter(several).count() > self.0.len()
    }

    /// All parameters, with the annotator and the runs as one class has them.
    pub(super) fn start(&self, like: usize, parts: &Parts, priors: &Priors) -> Vec<f64> {
        let mut params = vec![0.0; parts.layout.dim()];
        let own = &self.0[like];
        let learned = own.parts.stamps.model.learned(&own.params[own.parts.annotator()]);
        // The same share of all stamps.
        let usual: f64 = self.0.iter().filter_map(|own| own.stamp_rate).sum();
        let background_rate =
            learned.background_rate * own.stamp_rate.map_or(1.0, |rate| usual / rate);
        let learned = Learned { background_rate, ..learned };
        params[parts.annotator()].copy_from_slice(&parts.stamps.model.start(&learned));
        let size = parts.detector().len() / self.count();
        let classes = params[parts.detector()].chunks_exact_mut(size);
        for (theta, own) in classes.zip(&self.0) {
            theta.copy_from_slice(&own.params[own.parts.detector()]);
        }
        params[parts.confusion()].copy_from_slice(&parts.stamps.classes.start(&priors.confusion));
        self.set_rates(like, parts, &mut params);
        params
    }

    /// Sets the rates of a chain: runs begin as often as those of all classes, and last as those of one. A class that says
    /// nothing of an instance then says nothing of it still.
    fn set_rates(&self, like: usize, parts: &Parts, params: &mut [f64]) {
        let rates = |own: &Fitted| own.parts.rates(&own.params, 1.0);
        let Some(of_one) = rates(&self.0[like]) else { return };
        let onset: f64 = self.0.iter().filter_map(rates).map(|own| own.onset).sum();
        let first = parts.labels().start;
        (params[first], params[first + 1]) = (onset.ln(), of_one.offset.ln());
        let neutral = (onset / of_one.offset).ln() - (self.count() as f64).ln();
        let is_intercept = |p: &&crate::params::Parameter| p.spec.role == Role::Intercept;
        let intercepts = parts.layout.parameters().iter().filter(is_intercept);
        for (parameter, own) in intercepts.zip(self.0.iter().filter_map(rates)) {
            let shift = neutral - (own.onset / own.offset).ln();
            params[parameter.range.clone()].iter_mut().for_each(|own| *own += shift);
        }
    }
}
