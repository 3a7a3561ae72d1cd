//! Sessions drawn from known parameters.

use ndarray::{Array2, ArrayView1};
use unjitter::Session;
use unjitter::math::{Random, sigmoid};
use unjitter::model::{BoundCounts, BoundNoise};

/// The parameters to draw from. Features are standard normal; instances lie one unit of time apart.
pub(crate) struct Truth<'a> {
    /// Log-odds of an instance with these features.
    pub(crate) log_odds: &'a dyn Fn(ArrayView1<'_, f64>) -> f64,
    pub(crate) features: usize,
    pub(crate) counts: BoundCounts,
    pub(crate) noise: BoundNoise,
}

/// A drawn session and the labels behind it.
pub(crate) struct Drawn {
    pub(crate) session: Session<'static>,
    pub(crate) labels: Vec<bool>,
}

impl Truth<'_> {
    /// One session of `instances`. Stamps are sorted, so that those of close neighbours may
    /// exchange owners, as with a real annotator.
    pub(crate) fn draw(&self, name: &str, instances: usize, random: &mut Random) -> Drawn {
        let features = Array2::from_shape_simple_fn((instances, self.features), || random.normal());
        let times: Vec<f64> = (0..instances).map(|i| i as f64).collect();
        let labels: Vec<bool> = features
            .rows()
            .into_iter()
            .map(|row| random.uniform() < sigmoid((self.log_odds)(row)))
            .collect();
        let mut stamps = Vec::new();
        for (t, &label) in times.iter().zip(&labels) {
            for _ in 0..self.counts.sample(usize::from(label), random) {
                // Multiples of 2⁻¹⁶: epoch seconds can be added without loss.
                let z = t + self.noise.sample(random);
                stamps.push((z * 65536.0).round() / 65536.0);
            }
        }
        stamps.sort_by(f64::total_cmp);
        let session = Session::new(name, features, times, stamps).expect("drawn in order");
        Drawn { session, labels }
    }

    /// Several sessions, named by their number.
    pub(crate) fn draw_many(&self, sessions: usize, instances: usize, seed: u64) -> Vec<Drawn> {
        let mut random = Random::new(seed);
        (0..sessions).map(|k| self.draw(&format!("s{k}"), instances, &mut random)).collect()
    }
}
