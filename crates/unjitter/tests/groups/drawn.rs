//! Sessions stamped by people with habits and clocks of their own.

use ndarray::Array2;
use unjitter::math::Random;
use unjitter::{Control, FitOptions, Fitted, Model, Session};

/// An annotator, in spacings of the instances.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Habit {
    pub(crate) delay: f64,
    pub(crate) spread: f64,
    pub(crate) miss: f64,
    /// Presses for nothing, per event.
    pub(crate) extra: f64,
}

pub(crate) const USUAL: Habit = Habit { delay: 0.5, spread: 1.0, miss: 0.1, extra: 0.1 };

/// A clock: how far it is ahead in the middle of a session, and what it gains per unit of time.
pub(crate) type Clock = (f64, f64);

/// A session without stamps.
#[derive(Debug, Clone)]
pub(crate) struct Recording {
    pub(crate) name: String,
    pub(crate) features: Array2<f64>,
    pub(crate) labels: Vec<bool>,
}

impl Recording {
    /// One instance in 20 is an event, which features tell well but not perfectly.
    pub(crate) fn draw(name: String, instances: usize, random: &mut Random) -> Self {
        let labels: Vec<bool> = (0..instances).map(|_| random.uniform() < 0.05).collect();
        let mut features = Array2::from_shape_simple_fn((instances, 4), || random.normal());
        for (mut row, _) in features.rows_mut().into_iter().zip(&labels).filter(|(_, l)| **l) {
            row[0] += 2.2;
            row[1] -= 1.8;
        }
        Self { name, features, labels }
    }

    pub(crate) fn times(&self) -> Vec<f64> {
        (0..self.labels.len()).map(|i| i as f64).collect()
    }

    /// The stamps that somebody gives.
    pub(crate) fn stamps(&self, habit: Habit, clock: Clock, random: &mut Random) -> Vec<f64> {
        let last = (self.labels.len() - 1) as f64;
        let mut stamps = Vec::new();
        for (i, _) in self.labels.iter().enumerate().filter(|(_, label)| **label) {
            if random.uniform() >= habit.miss {
                let shift = clock.0 + clock.1 * (i as f64 - 0.5 * last);
                stamps.push(i as f64 + shift + habit.delay + habit.spread * random.normal());
            }
            if random.uniform() < habit.extra {
                stamps.push(last * random.uniform());
            }
        }
        stamps.sort_by(f64::total_cmp);
        stamps
    }

    pub(crate) fn session(&self, stamps: Vec<f64>) -> Session<'static> {
        Session::new(&*self.name, self.features.clone(), self.times(), stamps).unwrap()
    }
}

/// Recordings of 300 instances.
pub(crate) fn recordings(count: usize, random: &mut Random) -> Vec<Recording> {
    (0..count).map(|k| Recording::draw(format!("s{k:03}"), 300, random)).collect()
}

pub(crate) fn fit(model: &Model, sessions: &[Session<'_>]) -> Fitted {
    model.fit(sessions, &FitOptions::default(), Control::default()).unwrap()
}

/// F1 of a detector on recordings.
pub(crate) fn f1(fitted: &Fitted, recordings: &[Recording]) -> f64 {
    let (mut both, mut found, mut all) = (0.0, 0.0, 0.0);
    for recording in recordings {
        let probabilities = fitted.predict(recording.features.view()).unwrap();
        for (p, &label) in probabilities.into_iter().zip(&recording.labels) {
            let is_found = p >= 0.5;
            found += f64::from(u8::from(is_found));
            all += f64::from(u8::from(label));
            both += f64::from(u8::from(is_found && label));
        }
    }
    2.0 * both / (found + all)
}
