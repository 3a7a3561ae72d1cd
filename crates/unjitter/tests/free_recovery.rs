//! Fits without order give back what was put in: spreads up to twice the gap between events, and presses
//! that come from no event.

mod common;

use common::{Drawn, Truth};
use ndarray::ArrayView1;
use unjitter::math::Random;
use unjitter::{Control, Counts, FitOptions, Fitted, Model, Noise, Session};

/// About 8 % positives, told apart well but not perfectly: one event in 12 units of time.
fn linear(row: ArrayView1<'_, f64>) -> f64 {
    -7.5 + 4.0 * row[0] - 3.0 * row[1]
}
const GAP: f64 = 12.0;

fn draw(delay: f64, spread: f64, seed: u64) -> Vec<Drawn> {
    let truth = Truth {
        log_odds: &linear,
        features: 2,
        counts: Counts::Bernoulli.with(&[("false_rate", &[1e-4]), ("hit_rate", &[0.9])]).unwrap(),
        noise: Noise::Gaussian.with(&[("delay", &[delay]), ("spread", &[spread])]).unwrap(),
    };
    truth.draw_many(10, 1000, seed)
}

fn fit(sessions: &[Session]) -> Fitted {
    Model::default().fit(sessions, &FitOptions::default(), Control::default()).unwrap()
}

#[test]
fn spreads_up_to_twice_the_gap_are_learned() {
    for (at, share) in [0.1, 0.5, 1.0, 2.0].into_iter().enumerate() {
        let spread = share * GAP;
        let drawn = draw(0.5 * spread, spread, 70 + at as u64);
        let sessions: Vec<Session> = drawn.iter().map(|d| d.session.clone()).collect();
        let learned = fit(&sessions).learned();
        eprintln!("{share} {learned:?}");
        assert!((learned.spread / spread - 1.0).abs() < 0.1, "{share} gaps: {learned:?}");
        assert!((learned.delay / spread - 0.5).abs() < 0.2, "{share} gaps: {learned:?}");
    }
}

#[test]
fn the_rate_of_presses_for_nothing_is_learned() {
    for (at, rate) in [0.0, 0.01, 0.04].into_iter().enumerate() {
        let mut random = Random::new(80 + at as u64);
        let drawn = draw(1.0, 1.0, 90 + at as u64);
        let with_more = |drawn: &Drawn| {
            let length = *drawn.session.times().last().unwrap();
            let mut stamps = drawn.session.stamps().to_vec();
            let mut time = 0.0;
            loop {
                time -= (1.0 - random.uniform()).ln() / f64::max(rate, 1e-9);
                if time > length {
                    break;
                }
                stamps.push(time);
            }
            stamps.sort_by(f64::total_cmp);
            let (features, times) =
                (drawn.session.features().to_f64().into_owned(), drawn.session.times().to_vec());
            Session::new(drawn.session.name(), features, times, stamps).unwrap()
        };
        let sessions: Vec<Session> = drawn.iter().map(with_more).collect();
        let learned = fit(&sessions).learned();
        eprintln!("{rate} {learned:?}");
    }
}
