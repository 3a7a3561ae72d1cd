//! Priors on natural values.
//!
//! A prior is a density of a natural value (a rate, a squared spread), differentiated in the
//! unconstrained number. It has no Jacobian, so the estimate is the mode on the natural scale, as in the
//! paper. Delays and spreads are in the model's unit of time.

use serde::{Deserialize, Serialize};

use crate::Result;
use crate::error::require;
use crate::math::{ln_gamma, log_sigmoid, sigmoid};
use crate::params::{Layout, Role, Transform, log_softmax};

/// Beta(a, b), density ∝ p^(a−1)·(1−p)^(b−1).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Beta {
    /// a > 0
    pub a: f64,
    /// b > 0
    pub b: f64,
}

/// Normal with mean and standard deviation, in units of time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Normal {
    /// Mean.
    pub mean: f64,
    /// Standard deviation > 0.
    pub sd: f64,
}

/// Inverse-Gamma, density ∝ v^(−shape−1)·exp(−scale/v).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InverseGamma {
    /// Shape > 0.
    pub shape: f64,
    /// Scale > 0.
    pub scale: f64,
}

/// Gamma, density ∝ v^(shape−1)·exp(−rate·v).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gamma {
    /// Shape > 0.
    pub shape: f64,
    /// Rate > 0.
    pub rate: f64,
}

/// Dirichlet that expects events to be recorded as what they are: its mode has a share that is not.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Confusion {
    /// Events of each class that it counts as, > 0.
    pub events: f64,
    /// The share of them that is recorded as another class, between 0 and 1; evenly as all others.
    pub share: f64,
}

impl Default for Confusion {
    /// As if of ten events of each class half an event had been recorded as another.
    fn default() -> Self {
        Self { events: 10.0, share: 0.05 }
    }
}

impl Confusion {
    /// The most probable shares of an own class among so many.
    pub(crate) fn mode(&self, own: usize, classes: usize) -> Vec<f64> {
        let others = self.share / (classes - 1) as f64;
        (0..classes).map(|k| if k == own { 1.0 - self.share } else { others }).collect()
    }
}

/// The prior of every kind of parameter.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Priors {
    /// Precision (1/variance) of the zero-mean normal on each classifier weight, on standardised
    /// features; for a kernel classifier, the factor of half the squared RKHS norm. Zero is flat.
    pub weight_precision: f64,
    /// The same for the classifier's intercept.
    pub intercept_precision: f64,
    /// On P(at least one stamp | positive).
    pub hit_rate: Beta,
    /// On P(no stamp | negative) = 1 − false rate. By default the data decide the scale: three in a hundred
    /// stamps, and never none.
    pub silence: Option<Beta>,
    /// Concentration of the symmetric Dirichlet on the split of counts of at least one.
    pub count_split: f64,
    /// On each location of the delay. By default a Cauchy density about zero: a delay of nothing is
    /// likeliest, and a long one costs hardly more than a short one. Ends of bouts always have that one: how late
    /// beginnings are does not say how late ends are.
    pub delay: Option<Normal>,
    /// Width of that Cauchy density, in units of time. By default a quarter of the usual gap between stamps.
    pub delay_width: Option<f64>,
    /// On each squared spread.
    pub variance: InverseGamma,
    /// Concentration of the symmetric Dirichlet on mixture weights.
    pub mixture_weight: f64,
    /// On the degrees of freedom of a Student-t.
    pub degrees_of_freedom: Gamma,
    /// On the shape of a shifted Gamma, less one.
    pub shape: Gamma,
    /// On the stamps per unit of time that no instance gives. By default the data decide the scale: one
    /// in ten stamps, and never none.
    pub background: Option<Gamma>,
    /// On the runs that begin per unit of time, in a chain over labels. By default about as many as there are
    /// stamps: at equal spacing data tell only its product with the next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub onset_rate: Option<Gamma>,
    /// On the runs that end per unit of time of a run. By default they last between an instance and the usual
    /// gap between stamps, on a log scale.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset_rate: Option<Gamma>,
    /// On what events of each class are recorded as, if there are several.
    #[serde(skip_serializing_if = "is_default")]
    pub confusion: Confusion,
}

fn is_default(confusion: &Confusion) -> bool {
    *confusion == Confusion::default()
}

/// What the names of parameters begin with that are about the ends of bouts.
const ENDS: &str = "ends.";

/// The paper's prior on hits and silence.
const NEARLY_ALWAYS: Beta = Beta { a: 5.0, b: 1.0 };
/// The paper's prior on a delay, in units.
const UNIT_NORMAL: Normal = Normal { mean: 0.0, sd: 1.0 };

/// Share of stamps that negatives give, by default and at a start.
pub(crate) const FALSE_SHARE: f64 = 0.03;
/// Mode of the share of stamps from nowhere, by default.
const BACKGROUND_SHARE: f64 = 0.1;
/// Shape of its prior: 19 stamps, between 6 and 15 in a hundred. It is firm because a detector with a heavy tail
/// explains such stamps nearly as well, and then fires where it should not in recordings to come; in hundreds
/// of stamps without any the share falls all the same.
const BACKGROUND_SHAPE: f64 = 20.0;

impl Gamma {
    /// The value of highest density; 0 if the density falls throughout.
    pub(crate) fn mode(&self) -> f64 {
        ((self.shape - 1.0) / self.rate).max(0.0)
    }
}

impl Default for Priors {
    fn default() -> Self {
        Self {
            weight_precision: 1.0,
            // Weak, but proper: rare events put the intercept near −4.
            intercept_precision: 0.01,
            // Nobody hits always; an exact 1 would force every positive to have a stamp.
            hit_rate: Beta { a: 5.0, b: 1.5 },
            silence: None,
            count_split: 2.0,
            delay: None,
            delay_width: None,
            variance: InverseGamma { shape: 1.0, scale: 1.0 },
            // Above one, so that no component can vanish altogether.
            mixture_weight: 2.0,
            degrees_of_freedom: Gamma { shape: 2.0, rate: 0.1 },
            shape: Gamma { shape: 2.0, rate: 0.2 },
            background: None,
            onset_rate: None,
            offset_rate: None,
            confusion: Confusion::default(),
        }
    }
}

impl Priors {
    /// The paper's priors, in units of time.
    pub fn paper() -> Self {
        Self {
            delay: Some(UNIT_NORMAL),
            hit_rate: NEARLY_ALWAYS,
            silence: Some(NEARLY_ALWAYS),
            ..Self::default()
        }
    }

    /// The prior on the silence of negatives, for sessions with so many stamps per instance. Its density
    /// counts as half a false stamp: enough to keep the rate off nothing, where it would have no bounds.
    pub(crate) fn silence(stamps_per_instance: f64) -> Beta {
        let mode = FALSE_SHARE * stamps_per_instance;
        Beta { a: 0.5 / mode + 0.5, b: 1.5 }
    }

    /// The prior on the background of sessions with so many stamps per unit of time.
    pub(crate) fn background(stamp_rate: f64) -> Gamma {
        let mode = BACKGROUND_SHARE * stamp_rate;
        Gamma { shape: BACKGROUND_SHAPE, rate: (BACKGROUND_SHAPE - 1.0) / mode }
    }

    /// The prior on the onsets of runs, for so many stamps per unit of time: within a factor of two, about.
    pub(crate) fn onset_rate(stamp_rate: f64) -> Gamma {
        Gamma { shape: 8.0, rate: 7.0 / stamp_rate }
    }

    /// The prior on the ends of runs that may last from the spacing of instances to the gap between stamps.
    pub(crate) fn offset_rate(spacing: f64, gap: f64) -> Gamma {
        Gamma { shape: 2.0, rate: (spacing * gap).sqrt() }
    }

    /// Checks every setting.
    pub fn check(&self) -> Result<()> {
        let at_least_zero = [
            ("weight_precision", self.weight_precision),
            ("intercept_precision", self.intercept_precision),
        ];
        for (name, value) in at_least_zero {
            require(&format!("prior {name}"), value, value >= 0.0, "a number of at least 0")?;
        }
        let positive = [
            ("hit_rate.a", self.hit_rate.a),
            ("hit_rate.b", self.hit_rate.b),
            ("count_split", self.count_split),
            ("variance.shape", self.variance.shape),
            ("variance.scale", self.variance.scale),
            ("mixture_weight", self.mixture_weight),
            ("degrees_of_freedom.shape", self.degrees_of_freedom.shape),
            ("degrees_of_freedom.rate", self.degrees_of_freedom.rate),
            ("shape.shape", self.shape.shape),
            ("shape.rate", self.shape.rate),
        ];
        let delay = self.delay.unwrap_or(UNIT_NORMAL);
        require("prior delay.sd", delay.sd, delay.sd > 0.0, "a number above 0")?;
        let silence = self.silence.unwrap_or(NEARLY_ALWAYS);
        let silence = [("silence.a", silence.a), ("silence.b", silence.b)];
        let gammas = [
            ("background", self.background),
            ("onset_rate", self.onset_rate),
            ("offset_rate", self.offset_rate),
        ];
        for (name, prior) in gammas {
            let Gamma { shape, rate } = prior.unwrap_or(Gamma { shape: 1.0, rate: 1.0 });
            for (what, value) in [("shape", shape), ("rate", rate)] {
                let name = format!("prior {name}.{what}");
                require(&name, value, value > 0.0, "a number above 0")?;
            }
        }
        let width = ("delay_width", self.delay_width.unwrap_or(1.0));
        let Confusion { events, share } = self.confusion;
        require(
            "prior confusion.share",
            share,
            share > 0.0 && share < 1.0,
            "a number between 0 and 1",
        )?;
        let others = [width, ("confusion.events", events)];
        for (name, value) in positive.into_iter().chain(silence).chain(others) {
            require(&format!("prior {name}"), value, value > 0.0, "a number above 0")?;
        }
        require("prior delay.mean", delay.mean, true, "a finite number")
    }

    /// Precisions of the weights and the intercept of a classifier.
    pub(crate) fn precisions(&self, layout: &Layout) -> Vec<f64> {
        // Their prior is a quadratic with its minimum at zero: at parameters of one, the gradient of its logarithm is
        // minus their precisions.
        let (ones, is_free) = (vec![1.0; layout.dim()], vec![true; layout.dim()]);
        let mut slopes = vec![0.0; layout.dim()];
        self.log_density(layout, &ones, &is_free, &mut slopes);
        slopes.iter().map(|slope| -slope).collect()
    }

    /// log p(natural values) of the parameters that `is_free`, adding its gradient in the
    /// unconstrained numbers to `gradient`. A simplex counts as free if its first number is.
    pub fn log_density(
        &self,
        layout: &Layout,
        params: &[f64],
        is_free: &[bool],
        gradient: &mut [f64],
    ) -> f64 {
        let mut total = 0.0;
        let of_ends = Self { delay: None, ..*self };
        for parameter in layout.parameters() {
            if parameter.spec.transform == Transform::Simplex {
                let range = parameter.range.clone();
                if range.clone().next().is_some_and(|first| is_free[first]) {
                    let count = parameter.spec.len;
                    let alphas = match parameter.spec.role {
                        Role::MixtureWeight => vec![self.mixture_weight; count],
                        Role::Confusion(own) => {
                            let Confusion { events, .. } = self.confusion;
                            let mode = self.confusion.mode(own, count);
                            mode.into_iter().map(|share| 1.0 + events * share).collect()
                        }
                        _ => vec![self.count_split; count],
                    };
                    total += dirichlet(&alphas, &params[range.clone()], &mut gradient[range]);
                }
                continue;
            }
            let own = if parameter.name.starts_with(ENDS) { &of_ends } else { self };
            for at in parameter.range.clone().filter(|&at| is_free[at]) {
                let (value, derivative) = own.scalar(parameter.spec.role, params[at]);
                total += value;
                gradient[at] += derivative;
            }
        }
        total
    }

    /// Log density and its derivative in the unconstrained number x.
    fn scalar(&self, role: Role, x: f64) -> (f64, f64) {
        match role {
            Role::Weight => ridge(self.weight_precision, x),
            Role::Intercept => ridge(self.intercept_precision, x),
            Role::HitRate => beta(self.hit_rate, x),
            Role::FalseRate => {
                let (value, derivative) = beta(self.silence.unwrap_or(NEARLY_ALWAYS), -x);
                (value, -derivative)
            }
            Role::Delay => {
                let Some(Normal { mean, sd }) = self.delay else {
                    return cauchy(self.delay_width.unwrap_or(1.0), x);
                };
                let s = (x - mean) / sd;
                let constant = -sd.ln() - 0.5 * (2.0 * std::f64::consts::PI).ln();
                (constant - 0.5 * s * s, -s / sd)
            }
            Role::Spread => inverse_gamma_of_square(self.variance, x),
            Role::DegreesOfFreedom => gamma(self.degrees_of_freedom, x),
            Role::Shape => gamma(self.shape, x),
            Role::Background => gamma(self.background.unwrap_or(Self::background(1.0)), x),
            Role::OnsetRate => gamma(self.onset_rate.unwrap_or(Self::onset_rate(1.0)), x),
            Role::OffsetRate => gamma(self.offset_rate.unwrap_or(Self::offset_rate(1.0, 1.0)), x),
            // How wide deviations scatter is learned with them: their density is that of the groups.
            Role::Deviation => (0.0, 0.0),
            Role::CountSplit | Role::MixtureWeight | Role::Confusion(_) => {
                unreachable!("simplexes are handled as a whole")
            }
        }
    }
}

/// Normal(0, 1/precision); flat, without the constant, at precision zero.
fn ridge(precision: f64, x: f64) -> (f64, f64) {
    if precision == 0.0 {
        return (0.0, 0.0);
    }
    let constant = 0.5 * (precision / (2.0 * std::f64::consts::PI)).ln();
    (constant - 0.5 * precision * x * x, -precision * x)
}

/// Beta density of sigmoid(x), through log-sigmoids so that no digits are lost at either end.
fn beta(prior: Beta, x: f64) -> (f64, f64) {
    let Beta { a, b } = prior;
    let constant = ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b);
    let value = constant + (a - 1.0) * log_sigmoid(x) + (b - 1.0) * log_sigmoid(-x);
    (value, (a - 1.0) * sigmoid(-x) - (b - 1.0) * sigmoid(x))
}

/// Cauchy density about zero.
fn cauchy(width: f64, x: f64) -> (f64, f64) {
    let s = x / width;
    (-(std::f64::consts::PI * width * (1.0 + s * s)).ln(), -2.0 * s / width / (1.0 + s * s))
}

/// Inverse-Gamma density of v = e²ˣ, the square of a spread eˣ.
fn inverse_gamma_of_square(prior: InverseGamma, x: f64) -> (f64, f64) {
    let InverseGamma { shape, scale } = prior;
    let constant = shape * scale.ln() - ln_gamma(shape);
    let inverse = (-2.0 * x).exp();
    let value = constant - 2.0 * (shape + 1.0) * x - scale * inverse;
    (value, -2.0 * (shape + 1.0) + 2.0 * scale * inverse)
}

/// Gamma density of v = eˣ.
fn gamma(prior: Gamma, x: f64) -> (f64, f64) {
    let Gamma { shape, rate } = prior;
    let constant = shape * rate.ln() - ln_gamma(shape);
    let value = x.exp();
    (constant + (shape - 1.0) * x - rate * value, (shape - 1.0) - rate * value)
}

/// Dirichlet density of softmax(logits, 0).
fn dirichlet(alphas: &[f64], logits: &[f64], gradient: &mut [f64]) -> f64 {
    let log_weights = log_softmax(logits);
    let (all, less) = (alphas.iter().sum::<f64>(), alphas.iter().map(|alpha| alpha - 1.0));
    let constant = ln_gamma(all) - alphas.iter().map(|&alpha| ln_gamma(alpha)).sum::<f64>();
    let total: f64 = less.clone().sum();
    for ((d, log_weight), less) in gradient.iter_mut().zip(&log_weights).zip(less.clone()) {
        *d += less - total * log_weight.exp();
    }
    constant + less.zip(&log_weights).map(|(less, log_weight)| less * log_weight).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::ParameterSpec;

    /// Simpson's rule.
    fn integral(low: f64, high: f64, f: impl Fn(f64) -> f64) -> f64 {
        let n = 20_000;
        let h = (high - low) / f64::from(n);
        let weight = |k| {
            if k == 0 || k == n {
                1.0
            } else if k % 2 == 1 {
                4.0
            } else {
                2.0
            }
        };
        (0..=n).map(|k| weight(k) * f(low + h * f64::from(k))).sum::<f64>() * h / 3.0
    }

    #[test]
    fn a_stated_range_of_delays_is_that_of_beginnings() {
        let delay = || ParameterSpec::new("delay", 1, Transform::Free, Role::Delay).in_time();
        let parts =
            vec![("noise".to_owned(), vec![delay()]), ("ends.noise".to_owned(), vec![delay()])];
        let layout = Layout::new(parts);
        let stated = Normal { mean: 0.5, sd: 0.1 };
        let priors = Priors { delay: Some(stated), delay_width: Some(2.0), ..Priors::default() };
        let mut slopes = vec![0.0; 2];
        priors.log_density(&layout, &[0.5, 3.0], &[true; 2], &mut slopes);
        // Where the normal density is highest; and of the Cauchy one, -2x / (x² + γ²).
        assert_eq!(slopes[0], 0.0);
        assert!((slopes[1] + 6.0 / 13.0).abs() < 1e-15, "{slopes:?}");
    }

    #[test]
    fn every_density_integrates_to_one_over_natural_values() {
        let priors = Priors { delay_width: Some(3.0), ..Priors::default() };
        // ∫ p(v) dv = ∫ p(v(x)) |dv/dx| dx over the unconstrained line.
        let over = |role: Role, jacobian: fn(f64) -> f64, low: f64, high: f64| {
            integral(low, high, |x| priors.scalar(role, x).0.exp() * jacobian(x))
        };
        let logistic = |x: f64| sigmoid(x) * sigmoid(-x);
        let integrals = [
            over(Role::Weight, |_| 1.0, -12.0, 12.0),
            over(Role::Intercept, |_| 1.0, -120.0, 120.0),
            over(Role::HitRate, logistic, -40.0, 40.0),
            over(Role::FalseRate, logistic, -40.0, 40.0),
            // Cauchy, by x = 3 tan u, so that its tails are all there.
            integral(-1.57, 1.57, |u| {
                3.0 * priors.scalar(Role::Delay, 3.0 * u.tan()).0.exp() / (u.cos() * u.cos())
            }) + 2.0 * (std::f64::consts::FRAC_PI_2 - 1.57) / std::f64::consts::PI,
            // dv = 2 e²ˣ dx; the tail beyond x = 20 holds e⁻⁴⁰.
            over(Role::Spread, |x| 2.0 * (2.0 * x).exp(), -4.0, 20.0),
            over(Role::DegreesOfFreedom, f64::exp, -25.0, 7.0),
            over(Role::Shape, f64::exp, -25.0, 7.0),
        ];
        for (k, integral) in integrals.iter().enumerate() {
            // Simpson on smooth integrands; truncation of the tails is smaller.
            assert!((integral - 1.0).abs() < 1e-8, "prior {k} integrates to {integral}");
        }
    }

    #[test]
    fn dirichlet_integrates_to_one() {
        // Two weights: a Beta(α, α) in disguise. dw = w(1−w) dx.
        let density =
            |x: f64| dirichlet(&[2.0; 2], &[x], &mut [0.0]).exp() * sigmoid(x) * sigmoid(-x);
        // Simpson on a smooth integrand.
        assert!((integral(-40.0, 40.0, density) - 1.0).abs() < 1e-8);
    }

    #[test]
    fn the_mode_of_a_confusion_is_what_is_stated() {
        let priors = Priors::default();
        let specs = vec![ParameterSpec::new("rain", 3, Transform::Simplex, Role::Confusion(1))];
        let mode = priors.confusion.mode(1, 3);
        assert_eq!(mode, [0.025, 0.95, 0.025]);
        let params = Transform::Simplex.unconstrained(&mode).unwrap();
        let mut gradient = [0.0; 2];
        let layout = Layout::new(vec![("confusion", specs)]);
        priors.log_density(&layout, &params, &[true; 2], &mut gradient);
        // Ten events times roundings of shares.
        assert!(gradient.iter().all(|d| d.abs() < 1e-13), "{gradient:?}");
    }

    #[test]
    fn gradients_match_central_differences() {
        let roles = [
            ("w", Role::Weight, Transform::Free),
            ("b", Role::Intercept, Transform::Free),
            ("hit", Role::HitRate, Transform::Probability),
            ("false", Role::FalseRate, Transform::Probability),
            ("delay", Role::Delay, Transform::Free),
            ("spread", Role::Spread, Transform::Positive),
            ("nu", Role::DegreesOfFreedom, Transform::Positive),
            ("shape", Role::Shape, Transform::AboveOne),
        ];
        let mut specs: Vec<ParameterSpec> =
            roles.iter().map(|&(name, role, t)| ParameterSpec::new(name, 1, t, role)).collect();
        specs.push(ParameterSpec::new("mix", 4, Transform::Simplex, Role::MixtureWeight));
        specs.push(ParameterSpec::new("split", 3, Transform::Simplex, Role::CountSplit));
        specs.push(ParameterSpec::new("rain", 3, Transform::Simplex, Role::Confusion(1)));
        let layout = Layout::new(vec![("noise", specs)]);
        let priors = Priors { count_split: 3.5, ..Priors::default() };
        let params: Vec<f64> = (0..layout.dim()).map(|k| 0.3 * (k as f64) - 1.1).collect();
        let free = vec![true; params.len()];
        let value = |p: &[f64]| priors.log_density(&layout, p, &free, &mut vec![0.0; p.len()]);
        let mut gradient = vec![0.0; params.len()];
        priors.log_density(&layout, &params, &free, &mut gradient);
        for (k, got) in gradient.iter().enumerate() {
            let h = 1e-5;
            let at = |step: f64| {
                let mut moved = params.clone();
                moved[k] += step;
                value(&moved)
            };
            let want = (at(h) - at(-h)) / (2.0 * h);
            // Central differences: h² truncation and 1e-16/h rounding.
            assert!((got - want).abs() < 1e-7 * want.abs().max(1.0), "{k}: {got} {want}");
        }
    }

    #[test]
    fn frozen_parameters_have_no_prior() {
        let specs =
            vec![ParameterSpec::new("false_rate", 1, Transform::Probability, Role::FalseRate)];
        let layout = Layout::new(vec![("counts", specs)]);
        let mut gradient = [0.0];
        let value =
            Priors::default().log_density(&layout, &[f64::NEG_INFINITY], &[false], &mut gradient);
        assert_eq!((value, gradient[0]), (0.0, 0.0));
    }

    #[test]
    fn settings_out_of_range_are_named() {
        let bad = Priors { weight_precision: -1.0, ..Priors::default() };
        assert!(bad.check().unwrap_err().to_string().contains("weight_precision is -1"));
        let bad = Priors { hit_rate: Beta { a: f64::NAN, b: 1.0 }, ..Priors::default() };
        assert!(bad.check().unwrap_err().to_string().contains("hit_rate.a is NaN"));
    }
}
