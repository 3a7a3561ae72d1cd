//! Fits without order give back what was put in: spreads up to twice the gap between events, and presses
//! that come from no event.

#[allow(dead_code, reason = "labels are for others")]
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
    for (at, (share, allowed)) in
        [(0.1, 0.1), (0.5, 0.12), (1.0, 0.15), (2.0, 0.25)].into_iter().enumerate()
    {
        let spread = share * GAP;
        let drawn = draw(0.5 * spread, spread, 70 + at as u64);
        let sessions: Vec<Session> = drawn.iter().map(|d| d.session.clone()).collect();
        let learned = fit(&sessions).learned();
        // 700 stamps with known owners would tell the spread to 3 % and the delay to 4 % of the spread. Owners
        // are less known the wider the spread.
        assert!((learned.spread / spread - 1.0).abs() < allowed, "{share} gaps: {learned:?}");
        assert!((learned.delay / spread - 0.5).abs() < allowed, "{share} gaps: {learned:?}");
    }
}

#[test]
fn draws_from_the_fit_tell_how_short_the_spread_is() {
    let (mut plain, mut stretched) = (0.0, 0.0);
    const DRAWS: u64 = 6;
    for seed in 0..DRAWS {
        let drawn = draw(0.5 * GAP, GAP, 700 + seed);
        let sessions: Vec<Session> = drawn.iter().map(|d| d.session.clone()).collect();
        let log_ratio = |simulations: usize| {
            let options =
                FitOptions { simulations, standard_errors: false, ..FitOptions::default() };
            let fitted = Model::default().fit(&sessions, &options, Control::default()).unwrap();
            (fitted.learned().spread / GAP).ln() / DRAWS as f64
        };
        plain += log_ratio(0);
        stretched += log_ratio(4);
    }
    println!("log spread learned over the truth: {plain:.3}, with draws {stretched:.3}");
    // Six draws tell a mean to about 0.03.
    assert!(plain < -0.06, "{plain}");
    assert!(stretched.abs() < 0.06, "{stretched}");
}

/// The session with presses from nowhere, `rate` per unit of time.
fn with_presses(drawn: &Drawn, rate: f64, random: &mut Random) -> Session<'static> {
    let session = &drawn.session;
    let (features, times) = (session.features().to_f64().into_owned(), session.times().to_vec());
    let mut stamps = session.stamps().to_vec();
    let mut time = 0.0;
    loop {
        time -= (1.0 - random.uniform()).ln() / rate;
        if time > times[times.len() - 1] {
            break;
        }
        stamps.push(time);
    }
    stamps.sort_by(f64::total_cmp);
    Session::new(session.name(), features, times, stamps).unwrap()
}

#[test]
fn the_rate_of_presses_for_nothing_is_learned() {
    for (at, rate) in [0.005, 0.02, 0.04].into_iter().enumerate() {
        let mut random = Random::new(80 + at as u64);
        let drawn = draw(1.0, 1.0, 90 + at as u64);
        let sessions: Vec<Session> =
            drawn.iter().map(|d| with_presses(d, rate, &mut random)).collect();
        let presses = rate * 1e4;
        // Four standard errors; half as much again because they are not known one by one, and a tenth for
        // presses beside events that were missed. The prior is worth 19 presses.
        let allowed = (6.0 * presses.sqrt() + 0.1 * presses + 19.0) / 1e4;
        // Where instances are regular, presses from nowhere and false presses of negatives are alike: either
        // alone, or both together.
        let only = Model::default().freeze("counts.false_rate", 1e-9);
        let alone = only.fit(&sessions, &FitOptions::default(), Control::default()).unwrap();
        let alone = alone.learned().background_rate;
        assert!((alone - rate).abs() < allowed, "{alone}, expected {rate} ± {allowed}");
        let both = fit(&sessions).learned();
        let both = both.background_rate + both.false_rate;
        assert!((both - rate).abs() < allowed, "{both}, expected {rate} ± {allowed}");
    }
}
