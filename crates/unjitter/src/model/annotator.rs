//! The annotator as a function for an external optimiser.
//!
//! A network provides the log-odds; the annotator's rates and delays are learned with it. [`Annotator`]
//! has the layout of the parameters, their start values and their priors. One pass over the alignments
//! gives all derivatives of the log evidence:
//!
//! ```text
//! ∂ log Z / ∂f_i    = p(y_i = 1 | z) − sigmoid(f_i)
//! ∂ log Z / ∂counts = Σ_y Σ_c E[instances with count c and label y | z] · ∂ log p(c | y)
//! ∂ log Z / ∂noise  = Σ_{i,l} p(w(i,l) | z) · ∂ log p(z_l − t_i)
//! ```
//!
//! (section 8 of `docs/model.md`). The type holds no values: parameters are a flat slice of unconstrained
//! numbers, counts before noise, in the order of [`Annotator::layout`].

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use super::counts::Counts;
use super::noise::Noise;
use super::one_annotator::OneAnnotator;
use super::posterior::{check, infeasible};
use super::stamp_model::{Learned, ROWS, Rows, StampModel, Sums};
use crate::error::require;
use crate::inference::{Stamp, Timeline};
use crate::params::Layout;
use crate::prior::Priors;
use crate::{Error, Result};

/// A first guess: annotators are mostly silent, and mostly right. Times are in units.
pub(crate) const GUESS: Learned =
    Learned { delay: 0.0, spread: 1.0, miss_rate: 0.1, false_rate: 0.01, background_rate: 1e-3 };

/// A stamp model with the layout of its parameters.
///
/// Delays are measured in multiples of `time_unit`, so that parameters and priors are of order one in any
/// unit of the data. Natural values (a spread, a stamp, the evidence) are in the unit of the data.
#[derive(Debug)]
pub struct Annotator {
    model: Box<dyn StampModel>,
    time_unit: f64,
    layout: Layout,
}

/// The log evidence of one session and its derivatives.
#[derive(Debug, Clone, PartialEq)]
pub struct Gradient {
    /// log p(stamps | log-odds, times).
    pub log_evidence: f64,
    /// Its derivative in each log-odds; zero if those are infinite (a known label).
    pub d_log_odds: Vec<f64>,
    /// Its derivative in each unconstrained parameter.
    pub d_params: Vec<f64>,
}

impl Annotator {
    /// Builds counts and noise from their settings.
    pub fn new(counts: &Counts, noise: &Noise, time_unit: f64) -> Result<Self> {
        require("time_unit", time_unit, time_unit > 0.0, "a time above 0")?;
        let (counts, noise) = (Arc::from(counts.build()?), Arc::from(noise.build(time_unit)?));
        let model = Box::new(OneAnnotator::new(counts, noise));
        Ok(Self { layout: Layout::new(model.parts()), model, time_unit })
    }

    /// The parameters: those of the counts, then those of the noise.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Start parameters: natural `values` by full name (`noise.spread`), and a first guess for the others.
    pub fn start(&self, values: &[(&str, &[f64])]) -> Result<Vec<f64>> {
        let mut params = self.model.start(&GUESS);
        for (name, natural) in values {
            let (range, numbers) = self.layout.resolve(name, natural, self.time_unit)?;
            params[range].copy_from_slice(&numbers);
        }
        Ok(params)
    }

    /// Natural values of every parameter, by full name.
    pub fn natural(&self, params: &[f64]) -> Result<Vec<(&str, Vec<f64>)>> {
        self.check_params(params)?;
        let natural =
            |parameter| crate::params::Parameter::natural(parameter, params, self.time_unit);
        Ok(self.layout.parameters().iter().map(|b| (b.name.as_str(), natural(b))).collect())
    }

    /// Mean and standard deviation of the delay (its scale if that is infinite).
    pub fn delay_and_spread(&self, params: &[f64]) -> Result<(f64, f64)> {
        self.check_params(params)?;
        let Learned { delay, spread, .. } = self.model.learned(params);
        Ok((delay * self.time_unit, spread * self.time_unit))
    }

    /// The log prior of the free parameters, and its gradient. Priors measure delays in the unit of time.
    pub fn log_prior(
        &self,
        priors: &Priors,
        params: &[f64],
        is_free: &[bool],
    ) -> Result<(f64, Vec<f64>)> {
        priors.check()?;
        self.check_params(params)?;
        let mut gradient = vec![0.0; params.len()];
        let value = priors.log_density(&self.layout, params, is_free, &mut gradient);
        Ok((value, gradient))
    }

    /// Fails if there are too few or too many parameters, or one is NaN.
    fn check_params(&self, params: &[f64]) -> Result<()> {
        let expected = self.layout.dim();
        if params.len() != expected {
            let name = "counts and noise".to_owned();
            return Err(Error::ParameterLength { name, found: params.len(), expected });
        }
        for parameter in self.layout.parameters() {
            if let Some(&value) = params[parameter.range.clone()].iter().find(|v| v.is_nan()) {
                let expected = "a number; has learning diverged?";
                return Err(Error::OutOfRange { name: parameter.name.clone(), value, expected });
            }
        }
        Ok(())
    }

    /// Log evidence and derivatives at the unconstrained parameters `params`. `session` is its name
    /// in errors; the slices are as in [`posterior`](crate::posterior).
    ///
    /// ```
    /// use unjitter::model::Annotator;
    /// use unjitter::{Counts, Noise};
    ///
    /// let annotator = Annotator::new(&Counts::Bernoulli, &Noise::Gaussian, 1.0)?;
    /// let params = annotator.start(&[("noise.delay", &[0.5]), ("noise.spread", &[0.3])])?;
    /// let (times, stamps, log_odds) = ([0.0, 1.0, 2.0], [1.6], [-2.0; 3]);
    /// let gradient = annotator.gradient("walk", &params, &times, &stamps, &log_odds)?;
    /// // The press at 1.6 speaks for the instance at 1.
    /// assert!(gradient.d_log_odds[1] > 0.0 && gradient.d_log_odds[0] < 0.0);
    /// # Ok::<(), unjitter::Error>(())
    /// ```
    pub fn gradient(
        &self,
        session: &str,
        params: &[f64],
        times: &[f64],
        stamps: &[f64],
        log_odds: &[f64],
    ) -> Result<Gradient> {
        self.check_params(params)?;
        check(session, times, stamps, log_odds, self.model.max_count(params))?;
        let placed = Stamp::at(stamps);
        let timeline = Timeline::new(times, &placed, self.time_unit);
        let rows = Given { log_odds, d_log_odds: Mutex::new(vec![0.0; log_odds.len()]) };
        let mut sums = Sums::zeros(0, params.len());
        let bound = self.model.bind(params, stamps.len());
        bound
            .add(timeline, &rows, &mut sums)
            .map_err(|why| infeasible(session, times, stamps, why))?;
        Ok(Gradient {
            // A density per unit of time becomes one per unit of the data.
            log_evidence: sums.value - stamps.len() as f64 * self.time_unit.ln(),
            d_log_odds: rows.d_log_odds.into_inner().unwrap_or_else(PoisonError::into_inner),
            d_params: sums.d_annotator,
        })
    }
}

/// Log-odds as they were given, and their derivatives.
struct Given<'a> {
    log_odds: &'a [f64],
    d_log_odds: Mutex<Vec<f64>>,
}

impl Rows for Given<'_> {
    fn at_a_time(&self) -> usize {
        ROWS
    }

    fn log_odds<'a>(&'a self, instances: Range<usize>, _: &'a mut [f64]) -> &'a [f64] {
        &self.log_odds[instances]
    }

    fn pull_back(&self, instances: Range<usize>, d_log_odds: &mut [f64], _: &mut Sums) {
        let mut all = self.d_log_odds.lock().unwrap_or_else(PoisonError::into_inner);
        all[instances].copy_from_slice(d_log_odds);
    }

    /// The caller may be outside any pool, and a pool started for it would stay.
    fn in_parallel(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{log_sigmoid, sigmoid};
    use crate::model::{PosteriorOptions, posterior};
    use crate::{Counts, Noise};

    const COUNTS: [Counts; 4] = [
        Counts::Bernoulli,
        Counts::Categorical { max_count: 3 },
        Counts::Poisson,
        Counts::Geometric,
    ];

    /// A unit of time that is not one, so that forgetting it shows.
    const UNIT: f64 = 2.0;

    const TIMES: [f64; 7] = [0.0, 1.1, 2.0, 3.2, 4.1, 5.0, 6.3];
    const LOG_ODDS: [f64; 7] = [-2.0, 0.5, 1.0, -1.5, 0.3, -0.7, 3.0];
    /// No delay is within 0.01 of a kink at 0.4.
    const STAMPS: [f64; 3] = [1.83, 2.74, 5.97];

    fn every_pair() -> impl Iterator<Item = Annotator> {
        let pair =
            |counts, noise: Noise| Annotator::new(counts, &noise, UNIT).expect("valid settings");
        COUNTS.iter().flat_map(move |counts| {
            Noise::kinds().iter().map(move |kind| pair(counts, kind.example()))
        })
    }

    /// Parameters off their starting point, the location of the delay at 0.4.
    fn params_of(annotator: &Annotator) -> Vec<f64> {
        let mut params = annotator.start(&[("counts.false_rate", &[0.07])]).expect("a rate");
        let mut steps = [0.11, -0.3, 0.23, -0.17, 0.31].into_iter().cycle();
        for parameter in annotator.layout().parameters() {
            let steps = params[parameter.range.clone()].iter_mut().zip(&mut steps);
            steps.for_each(|(x, step)| *x += step);
            if ["noise.delay", "noise.shift"].contains(&parameter.name.as_str()) {
                let numbers = parameter.unconstrained(&[0.4], UNIT).expect("a delay");
                params[parameter.range.clone()].copy_from_slice(&numbers);
            }
        }
        params
    }

    fn gradient(
        annotator: &Annotator,
        params: &[f64],
        stamps: &[f64],
        log_odds: &[f64],
    ) -> Gradient {
        annotator.gradient("test", params, &TIMES, stamps, log_odds).expect("an alignment exists")
    }

    /// Central differences of `value` in every coordinate.
    fn differences(at: &[f64], value: impl Fn(&[f64]) -> f64) -> Vec<f64> {
        let step = 1e-5;
        let moved = |k: usize, by: f64| {
            let mut moved = at.to_vec();
            moved[k] += by;
            value(&moved)
        };
        (0..at.len()).map(|k| (moved(k, step) - moved(k, -step)) / (2.0 * step)).collect()
    }

    #[test]
    fn every_pair_matches_central_differences() {
        for annotator in every_pair() {
            let params = params_of(&annotator);
            let got = gradient(&annotator, &params, &STAMPS, &LOG_ODDS);
            let want_log_odds =
                differences(&LOG_ODDS, |f| gradient(&annotator, &params, &STAMPS, f).log_evidence);
            let want_params =
                differences(&params, |p| gradient(&annotator, p, &STAMPS, &LOG_ODDS).log_evidence);
            let pairs = got.d_log_odds.iter().zip(&want_log_odds);
            for (got, want) in pairs.chain(got.d_params.iter().zip(&want_params)) {
                // Differences: h² truncation and 1e-15/h rounding of a value of order 10.
                assert!(
                    (got - want).abs() < 1e-8 * want.abs().max(1.0),
                    "{annotator:?} {got} {want}"
                );
            }
        }
    }

    #[test]
    fn evidence_and_labels_are_those_of_the_posterior() {
        let counts = Counts::Poisson;
        let noise = Noise::Laplace;
        let values: [(&str, &[f64]); 2] = [("delay", &[0.4]), ("spread", &[1.3])];
        let rates: [(&str, &[f64]); 2] = [("false_rate", &[0.05]), ("hit_rate", &[0.8])];
        let (bound_counts, bound_noise) =
            (counts.with(&rates).expect("rates"), noise.with(&values).expect("values"));
        let options = PosteriorOptions::default();
        let found = posterior(&TIMES, &STAMPS, &LOG_ODDS, &bound_counts, &bound_noise, &options)
            .expect("an alignment exists");
        let annotator = Annotator::new(&counts, &noise, UNIT).expect("valid settings");
        let start: [(&str, &[f64]); 4] = [
            ("counts.false_rate", &[0.05]),
            ("counts.hit_rate", &[0.8]),
            ("noise.delay", &[0.4]),
            ("noise.spread", &[1.3]),
        ];
        let params = annotator.start(&start).expect("values");
        let got = gradient(&annotator, &params, &STAMPS, &LOG_ODDS);
        // Another recursion and another unit of time: rounding only.
        assert!((got.log_evidence - found.log_evidence()).abs() < 1e-12);
        for ((d, positive), f) in got.d_log_odds.iter().zip(found.positive()).zip(LOG_ODDS) {
            assert!((d - (positive - sigmoid(f))).abs() < 1e-14); // rounding
        }
        let natural = annotator.natural(&params).expect("numbers");
        let names: Vec<&str> = natural.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, start.map(|(name, _)| name));
        let there_and_back = natural.iter().zip(start).all(|((_, got), (_, want))| {
            (got[0] - want[0]).abs() < 1e-15 // one exponential and one logarithm
        });
        assert!(there_and_back, "{natural:?}");
        assert!((annotator.delay_and_spread(&params).expect("numbers").0 - 0.4).abs() < 1e-15);
    }

    #[test]
    fn known_labels_have_no_derivative() {
        let mut log_odds = LOG_ODDS;
        (log_odds[1], log_odds[3]) = (f64::INFINITY, f64::NEG_INFINITY);
        for annotator in every_pair() {
            let params = params_of(&annotator);
            let got = gradient(&annotator, &params, &STAMPS, &log_odds);
            assert_eq!((got.d_log_odds[1], got.d_log_odds[3]), (0.0, 0.0), "{annotator:?}");
            assert!(got.d_log_odds[0] != 0.0 && got.log_evidence.is_finite(), "{annotator:?}");
            let want =
                differences(&params, |p| gradient(&annotator, p, &STAMPS, &log_odds).log_evidence);
            for (got, want) in got.d_params.iter().zip(want) {
                // As above.
                assert!(
                    (got - want).abs() < 1e-8 * want.abs().max(1.0),
                    "{annotator:?} {got} {want}"
                );
            }
        }
    }

    #[test]
    fn without_stamps_every_instance_is_silent() {
        for annotator in every_pair() {
            let params = params_of(&annotator);
            let got = gradient(&annotator, &params, &[], &LOG_ODDS);
            let silent = [log_sigmoid(-params[0]).exp(), log_sigmoid(-params[1]).exp()];
            let mut want = 0.0;
            for (f, d) in LOG_ODDS.iter().zip(&got.d_log_odds) {
                let weight = sigmoid(-f) * silent[0] + sigmoid(*f) * silent[1];
                want += weight.ln();
                // Bayes, with rounding.
                assert!((d - (sigmoid(*f) * silent[1] / weight - sigmoid(*f))).abs() < 1e-14);
            }
            assert!((got.log_evidence - want).abs() < 1e-13, "{annotator:?}"); // rounding
            let noise = annotator.layout().part("noise");
            assert!(got.d_params[noise].iter().all(|&d| d == 0.0), "{annotator:?}");
        }
    }

    #[test]
    fn epoch_seconds_keep_their_digits() {
        // Hardly any time divided by this is exact.
        let annotator =
            Annotator::new(&Counts::Bernoulli, &Noise::Gaussian, 0.3).expect("valid settings");
        let params = params_of(&annotator);
        // A power of two, so that the shifted times are exact to 2⁻²².
        let epoch = 2_f64.powi(30);
        let exact = |t: &f64| (t * 1024.0).round() / 1024.0;
        let [times, stamps] =
            [&TIMES[..], &STAMPS].map(|v| v.iter().map(exact).collect::<Vec<_>>());
        let [late_times, late_stamps] =
            [&times, &stamps].map(|v| v.iter().map(|t| epoch + t).collect::<Vec<_>>());
        let near = annotator.gradient("test", &params, &times, &stamps, &LOG_ODDS);
        let far = annotator.gradient("test", &params, &late_times, &late_stamps, &LOG_ODDS);
        assert_eq!(near.expect("an alignment"), far.expect("an alignment"));
    }

    #[test]
    fn impossible_inputs_are_named() {
        let uniform = Noise::Uniform { earliest: 0.0, latest: 0.5 };
        let annotator = Annotator::new(&Counts::Bernoulli, &uniform, UNIT).expect("valid settings");
        let params = annotator.start(&[]).expect("a start");
        let message = |params: &[f64], stamps: &[f64], log_odds: &[f64]| {
            let result = annotator.gradient("seven", params, &TIMES, stamps, log_odds);
            result.expect_err("a mistake").to_string()
        };
        let far = message(&params, &[9.0], &LOG_ODDS);
        assert!(far.contains("session seven") && far.contains("stamp 0 at 9"), "{far}");
        let many = message(&params, &[0.1; 8], &LOG_ODDS);
        assert!(many.contains("session seven: 8 stamps"), "{many}");
        let short = message(&params, &[0.1], &LOG_ODDS[1..]);
        assert!(short.contains("6 log-odds for 7 instances"), "{short}");
        let unordered = message(&params, &[3.3, 0.1], &LOG_ODDS);
        assert!(unordered.contains("stamp 1"), "{unordered}");
        let diverged = message(&[f64::NAN, 0.0], &[0.1], &LOG_ODDS);
        assert!(diverged.contains("counts.false_rate is NaN"), "{diverged}");
        let few = message(&[0.0], &[0.1], &LOG_ODDS);
        assert!(few.contains("counts and noise"), "{few}");
    }
}
