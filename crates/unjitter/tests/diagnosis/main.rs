//! A diagnosis is content with data from the model itself, and finds and names defects that are planted.

mod honest;
mod options;
mod planted;

use ndarray::Array2;
use unjitter::diagnosis::{Diagnosis, DiagnosisOptions, diagnose};
use unjitter::math::{Random, sigmoid};
use unjitter::model::BoundNoise;
use unjitter::model::noise::Gaussian;
use unjitter::{Control, Counts, FitOptions, Fitted, Model, Session};

/// An annotator to draw from. Features are standard normal, instances one unit apart, events about one in
/// `rare`.
pub(crate) struct Annotator {
    pub(crate) noise: BoundNoise,
    /// How much later a press is, by session and by its place there.
    pub(crate) later: fn(session: usize, position: f64) -> f64,
    /// By how much delays are further from their mean, by session.
    pub(crate) wider: fn(session: usize) -> f64,
    /// Stamps of an event: one with this probability, or a Poisson number with this probability of any.
    pub(crate) pressed: f64,
    pub(crate) several: bool,
    /// Presses from nowhere per unit of time.
    pub(crate) nowhere: f64,
    pub(crate) intercept: f64,
}

pub(crate) const SPREAD: f64 = 1.0;
pub(crate) const DELAY: f64 = 0.5;
const WEIGHTS: [f64; 2] = [4.0, -3.0];

impl Default for Annotator {
    fn default() -> Self {
        Self {
            noise: Gaussian::at(DELAY, SPREAD).unwrap(),
            later: |_, _| 0.0,
            wider: |_| 1.0,
            pressed: 0.9,
            several: false,
            nowhere: 0.003,
            intercept: -10.0,
        }
    }
}

impl Annotator {
    pub(crate) fn sessions(
        &self,
        sessions: usize,
        instances: usize,
        seed: u64,
    ) -> Vec<Session<'static>> {
        let mut random = Random::new(seed);
        (0..sessions).map(|k| self.session(k, instances, &mut random)).collect()
    }

    fn session(&self, k: usize, instances: usize, random: &mut Random) -> Session<'static> {
        let features = Array2::from_shape_simple_fn((instances, 2), || random.normal());
        let mut stamps = Vec::new();
        for (i, row) in features.rows().into_iter().enumerate() {
            let log_odds = self.intercept + WEIGHTS[0] * row[0] + WEIGHTS[1] * row[1];
            let is_event = random.uniform() < sigmoid(log_odds);
            for _ in 0..if is_event { self.presses(random) } else { 0 } {
                let scatter = self.noise.sample(random) - self.noise.delay();
                let place = i as f64 / instances as f64;
                let delay = self.noise.delay() + (self.wider)(k) * scatter + (self.later)(k, place);
                stamps.push(i as f64 + delay);
            }
            if random.uniform() < self.nowhere {
                stamps.push(i as f64 + random.uniform());
            }
        }
        stamps.sort_by(f64::total_cmp);
        let times = (0..instances).map(|i| i as f64).collect();
        Session::new(format!("s{k}"), features, times, stamps).unwrap()
    }

    fn presses(&self, random: &mut Random) -> usize {
        if !self.several {
            return usize::from(random.uniform() < self.pressed);
        }
        // Waiting times of a Poisson process until one is over.
        let (mean, mut sum) = (-(1.0 - self.pressed).ln(), 0.0);
        let mut count = 0;
        loop {
            sum -= (1.0 - random.uniform()).ln();
            if sum > mean {
                return count;
            }
            count += 1;
        }
    }

    /// The model with the truth as its parameters.
    pub(crate) fn truth(&self, sessions: &[Session<'_>]) -> Fitted {
        let counts = if self.several { Counts::Poisson } else { Counts::Bernoulli };
        let (weights, intercept) = standardised(sessions, self.intercept);
        let model = Model { counts, time_unit: Some(1.0), ..Model::default() }
            .freeze("classifier.weights", &weights)
            .freeze("classifier.intercept", intercept)
            .freeze("counts.hit_rate", self.pressed)
            .freeze("counts.false_rate", 0.0)
            .freeze("noise.delay", DELAY)
            .freeze("noise.spread", SPREAD)
            .freeze("background.rate", self.nowhere);
        fit(&model, sessions)
    }
}

/// The true detector for features that are standardised over all sessions.
fn standardised(sessions: &[Session<'_>], intercept: f64) -> ([f64; 2], f64) {
    let column = |k: usize| -> Vec<f64> {
        let all = sessions.iter().map(|session| session.features().to_f64());
        all.flat_map(|features| features.column(k).to_vec()).collect()
    };
    let (mut weights, mut intercept) = (WEIGHTS, intercept);
    for (k, weight) in weights.iter_mut().enumerate() {
        let values = column(k);
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
        intercept += *weight * mean;
        *weight *= (squares / values.len() as f64).sqrt();
    }
    (weights, intercept)
}

pub(crate) fn fit(model: &Model, sessions: &[Session<'_>]) -> Fitted {
    let options = FitOptions { restarts: 0, ..FitOptions::default() };
    model.fit(sessions, &options, Control::default()).unwrap()
}

pub(crate) fn diagnosed(fitted: &Fitted, sessions: &[Session<'_>]) -> Diagnosis {
    let options = DiagnosisOptions { priors: false, ..DiagnosisOptions::default() };
    diagnose(fitted, sessions, &options, Control::default()).unwrap()
}
