//! The gradient of the log evidence of one session, for people who bring their own log-odds.
//!
//! All of it comes out of one pass over the alignments:
//!
//! ```text
//! ∂ log Z / ∂f_i    = p(y_i = 1 | z) − sigmoid(f_i)
//! ∂ log Z / ∂counts = Σ_y Σ_c E[instances with count c and label y | z] · ∂ log p(c | y)
//! ∂ log Z / ∂noise  = Σ_{i,l} p(w(i,l) | z) · ∂ log p(z_l − t_i)
//! ```
//!
//! Section 8 of `docs/model.md`. The cost is that of the evidence alone.

use super::evidence::{Desk, Evidence};
use super::parts::{Density, tables};
use super::posterior::{check, infeasible};
use crate::Result;
use crate::inference::{Expected, Shares, SpanOutputs, Stamped, widen};
use crate::params::Part;

/// The log evidence of one session and its derivatives.
#[derive(Debug, Clone, PartialEq)]
pub struct Gradient {
    /// log p(stamps | log-odds, times).
    pub log_evidence: f64,
    /// Its derivative in each log-odds; zero where those are infinite (a known label).
    pub d_log_odds: Vec<f64>,
    /// Its derivative in each unconstrained parameter.
    pub d_params: Vec<f64>,
}

/// Instances that go through together, about: their numbers stay in the second-level cache.
const SPAN_INSTANCES: usize = 512;

impl Evidence {
    /// Log evidence and derivatives at the unconstrained parameters `params`. `session` is its name
    /// in errors; the slices are as in [`posterior`](crate::posterior).
    ///
    /// ```
    /// use unjitter::model::Evidence;
    /// use unjitter::{Counts, Noise};
    ///
    /// let evidence = Evidence::new(&Counts::Bernoulli, &Noise::Gaussian, 1.0)?;
    /// let params = evidence.start(&[("noise.delay", &[0.5]), ("noise.spread", &[0.3])])?;
    /// let (times, stamps, log_odds) = ([0.0, 1.0, 2.0], [1.6], [-2.0; 3]);
    /// let gradient = evidence.gradient("walk", &params, &times, &stamps, &log_odds)?;
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
        check(session, times, stamps, log_odds, self.counts.max_count())?;
        let counts = self.layout().part(Part::Counts);
        let noise = self.layout().part(Part::Noise);
        let tables = tables(self.counts.as_ref(), &params[counts.clone()], stamps.len());
        let density = Density { noise: self.noise.as_ref(), params: &params[noise.clone()] };
        let stamped = Stamped { times, stamps, unit: self.time_unit, density: &density };
        let solved = self.desks.with(|Desk { band, solver }| {
            widen(band, &stamped, &tables, false, |band| {
                let mut sums = Gradient {
                    log_evidence: 0.0,
                    d_log_odds: vec![0.0; log_odds.len()],
                    d_params: vec![0.0; params.len()],
                };
                let mut expected = Expected::zeros(&tables);
                for span in band.spans(tables.rows_of_span(SPAN_INSTANCES)) {
                    let d_noise = &mut sums.d_params[noise.clone()];
                    let outputs = SpanOutputs {
                        d_log_odds: &mut sums.d_log_odds[span.instances.clone()],
                        expected: &mut expected,
                        visit: &mut |Shares { band, responsibilities, .. }| {
                            let delays = band.delays();
                            self.noise.pull_back(density.params, delays, responsibilities, d_noise);
                        },
                    };
                    let log_odds = &log_odds[span.instances.clone()];
                    sums.log_evidence +=
                        solver.solve(band, &stamped, &tables, &span, log_odds, outputs)?;
                }
                Ok((sums, expected))
            })
        });
        let (mut sums, expected) = solved.map_err(|why| infeasible(session, times, stamps, why))?;
        for (label, expected) in expected.0.iter().enumerate() {
            let d_counts = &mut sums.d_params[counts.clone()];
            self.counts.pull_back(&params[counts.clone()], label, expected, d_counts);
        }
        // A density per unit of time becomes one per unit of the data.
        sums.log_evidence -= stamps.len() as f64 * self.time_unit.ln();
        Ok(sums)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{log_sigmoid, sigmoid};
    use crate::model::posterior;
    use crate::{Counts, Noise};

    const COUNTS: [Counts; 4] = [
        Counts::Bernoulli,
        Counts::Categorical { max_count: 3 },
        Counts::Poisson,
        Counts::Geometric,
    ];

    const NOISE: [Noise; 6] = [
        Noise::Gaussian,
        Noise::GaussianMixture { components: 2 },
        Noise::Laplace,
        Noise::StudentT,
        Noise::ShiftedGamma,
        Noise::Uniform { earliest: -2.513, latest: 4.017 },
    ];

    /// A unit of time that is not one, so that forgetting it shows.
    const UNIT: f64 = 2.0;

    const TIMES: [f64; 7] = [0.0, 1.1, 2.0, 3.2, 4.1, 5.0, 6.3];
    const LOG_ODDS: [f64; 7] = [-2.0, 0.5, 1.0, -1.5, 0.3, -0.7, 3.0];
    /// No delay is within 0.01 of a kink at 0.4 or of an end of the uniform interval.
    const STAMPS: [f64; 3] = [1.83, 2.74, 5.97];

    fn every_pair() -> impl Iterator<Item = Evidence> {
        let pair = |counts, noise| Evidence::new(counts, noise, UNIT).expect("valid settings");
        COUNTS.iter().flat_map(move |counts| NOISE.iter().map(move |noise| pair(counts, noise)))
    }

    /// Parameters off their starting point, the location of the delay at 0.4.
    fn params_of(evidence: &Evidence) -> Vec<f64> {
        let mut params = evidence.start(&[("counts.false_rate", &[0.07])]).expect("a rate");
        let mut steps = [0.11, -0.3, 0.23, -0.17, 0.31].into_iter().cycle();
        for block in evidence.layout().blocks() {
            let steps = params[block.range.clone()].iter_mut().zip(&mut steps);
            steps.for_each(|(x, step)| *x += step);
            if ["noise.delay", "noise.shift"].contains(&block.name.as_str()) {
                let numbers = block.unconstrained(&[0.4], UNIT).expect("a delay");
                params[block.range.clone()].copy_from_slice(&numbers);
            }
        }
        params
    }

    fn gradient(evidence: &Evidence, params: &[f64], stamps: &[f64], log_odds: &[f64]) -> Gradient {
        evidence.gradient("test", params, &TIMES, stamps, log_odds).expect("an alignment exists")
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
        for evidence in every_pair() {
            let params = params_of(&evidence);
            let got = gradient(&evidence, &params, &STAMPS, &LOG_ODDS);
            let want_log_odds =
                differences(&LOG_ODDS, |f| gradient(&evidence, &params, &STAMPS, f).log_evidence);
            let want_params =
                differences(&params, |p| gradient(&evidence, p, &STAMPS, &LOG_ODDS).log_evidence);
            let pairs = got.d_log_odds.iter().zip(&want_log_odds);
            for (got, want) in pairs.chain(got.d_params.iter().zip(&want_params)) {
                // Differences: h² truncation and 1e-15/h rounding of a value of order 10.
                assert!(
                    (got - want).abs() < 1e-8 * want.abs().max(1.0),
                    "{evidence:?} {got} {want}"
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
        let found = posterior(&TIMES, &STAMPS, &LOG_ODDS, &bound_counts, &bound_noise)
            .expect("an alignment exists");
        let evidence = Evidence::new(&counts, &noise, UNIT).expect("valid settings");
        let start: [(&str, &[f64]); 4] = [
            ("counts.false_rate", &[0.05]),
            ("counts.hit_rate", &[0.8]),
            ("noise.delay", &[0.4]),
            ("noise.spread", &[1.3]),
        ];
        let params = evidence.start(&start).expect("values");
        let got = gradient(&evidence, &params, &STAMPS, &LOG_ODDS);
        // Another recursion and another unit of time: rounding only.
        assert!((got.log_evidence - found.log_evidence()).abs() < 1e-12);
        for ((d, positive), f) in got.d_log_odds.iter().zip(found.positive()).zip(LOG_ODDS) {
            assert!((d - (positive - sigmoid(f))).abs() < 1e-14); // rounding
        }
        let natural = evidence.natural(&params).expect("numbers");
        let names: Vec<&str> = natural.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, start.map(|(name, _)| name));
        let there_and_back = natural.iter().zip(start).all(|((_, got), (_, want))| {
            (got[0] - want[0]).abs() < 1e-15 // one exponential and one logarithm
        });
        assert!(there_and_back, "{natural:?}");
        assert!((evidence.delay_and_spread(&params).expect("numbers").0 - 0.4).abs() < 1e-15);
    }

    #[test]
    fn known_labels_have_no_derivative() {
        let mut log_odds = LOG_ODDS;
        (log_odds[1], log_odds[3]) = (f64::INFINITY, f64::NEG_INFINITY);
        for evidence in every_pair() {
            let params = params_of(&evidence);
            let got = gradient(&evidence, &params, &STAMPS, &log_odds);
            assert_eq!((got.d_log_odds[1], got.d_log_odds[3]), (0.0, 0.0), "{evidence:?}");
            assert!(got.d_log_odds[0] != 0.0 && got.log_evidence.is_finite(), "{evidence:?}");
            let want =
                differences(&params, |p| gradient(&evidence, p, &STAMPS, &log_odds).log_evidence);
            for (got, want) in got.d_params.iter().zip(want) {
                // As above.
                assert!(
                    (got - want).abs() < 1e-8 * want.abs().max(1.0),
                    "{evidence:?} {got} {want}"
                );
            }
        }
    }

    #[test]
    fn without_stamps_every_instance_is_silent() {
        for evidence in every_pair() {
            let params = params_of(&evidence);
            let got = gradient(&evidence, &params, &[], &LOG_ODDS);
            let silent = [log_sigmoid(-params[0]).exp(), log_sigmoid(-params[1]).exp()];
            let mut want = 0.0;
            for (f, d) in LOG_ODDS.iter().zip(&got.d_log_odds) {
                let weight = sigmoid(-f) * silent[0] + sigmoid(*f) * silent[1];
                want += weight.ln();
                // Bayes, with rounding.
                assert!((d - (sigmoid(*f) * silent[1] / weight - sigmoid(*f))).abs() < 1e-14);
            }
            assert!((got.log_evidence - want).abs() < 1e-13, "{evidence:?}"); // rounding
            let noise = evidence.layout().part(Part::Noise);
            assert!(got.d_params[noise].iter().all(|&d| d == 0.0), "{evidence:?}");
        }
    }

    #[test]
    fn epoch_seconds_keep_their_digits() {
        // Hardly any time divided by this is exact.
        let evidence =
            Evidence::new(&Counts::Bernoulli, &Noise::Gaussian, 0.3).expect("valid settings");
        let params = params_of(&evidence);
        // A power of two, so that the shifted times are exact to 2⁻²².
        let epoch = 2_f64.powi(30);
        let exact = |t: &f64| (t * 1024.0).round() / 1024.0;
        let [times, stamps] =
            [&TIMES[..], &STAMPS].map(|v| v.iter().map(exact).collect::<Vec<_>>());
        let [late_times, late_stamps] =
            [&times, &stamps].map(|v| v.iter().map(|t| epoch + t).collect::<Vec<_>>());
        let near = evidence.gradient("test", &params, &times, &stamps, &LOG_ODDS);
        let far = evidence.gradient("test", &params, &late_times, &late_stamps, &LOG_ODDS);
        assert_eq!(near.expect("an alignment"), far.expect("an alignment"));
    }

    #[test]
    fn impossible_inputs_are_named() {
        let uniform = Noise::Uniform { earliest: 0.0, latest: 0.5 };
        let evidence = Evidence::new(&Counts::Bernoulli, &uniform, UNIT).expect("valid settings");
        let params = evidence.start(&[]).expect("a start");
        let message = |params: &[f64], stamps: &[f64], log_odds: &[f64]| {
            let result = evidence.gradient("seven", params, &TIMES, stamps, log_odds);
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
