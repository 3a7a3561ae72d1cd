//! Stamps that are known only to an interval.

#[allow(dead_code, reason = "labels are for others")]
mod common;

use std::sync::Arc;

use common::{Drawn, Truth};
use ndarray::ArrayView1;
use unjitter::inference::{Order, Stamp, Timeline};
use unjitter::learning::{Objective, Problem};
use unjitter::model::{Clock, Factor, Learned, OneAnnotator, StampModel, Sums};
use unjitter::{Control, Counts, FitOptions, Fitted, Model, Noise, Session};

const TIMES: [f64; 6] = [0.0, 1.1, 2.0, 3.2, 4.0, 5.1];
const LOG_ODDS: [f64; 6] = [-1.0, 0.5, -2.0, 1.0, -0.5, -1.5];

/// Log evidence of two stamps, the first of this width.
fn evidence(order: Order, noise: &Noise, counts: &Counts, first: Stamp) -> f64 {
    let (counts, noise) = (counts.build().unwrap(), noise.build(1.0).unwrap());
    let model = OneAnnotator::new(Arc::from(counts), Arc::from(noise)).with_order(order);
    let model = model.with_background();
    let params = model.start(&Learned {
        delay: 0.2,
        spread: 0.7,
        miss_rate: 0.2,
        false_rate: 0.05,
        background_rate: 0.03,
    });
    let second = Stamp { time: 4.6, width: 0.0 };
    let stamps = [first, second];
    let timeline = Timeline { duration: 6.0, ..Timeline::new(&TIMES, &stamps, 1.0) };
    let mut sums = Sums::zeros(0, params.len());
    let bound = model.bind(&params, Clock::default(), 2);
    bound.add(timeline, &LOG_ODDS.as_slice(), &mut sums).unwrap();
    sums.value
}

#[test]
fn an_interval_is_the_mean_over_its_times() {
    // The joint is linear in the density of each stamp, so that its mean over an interval is the mean of the sums.
    let noises = [Noise::Gaussian, Noise::StudentT, Noise::Laplace];
    let counts = [Counts::Bernoulli, Counts::Poisson, Counts::Categorical { max_count: 2 }];
    for noise in &noises {
        for counts in &counts {
            for width in [0.05, 1.0, 3.0] {
                let middle = 1.9;
                let got = evidence(Order::Ordered, noise, counts, Stamp { time: middle, width });
                let steps = 3000;
                let at = |k: u32| middle + width * ((f64::from(k) + 0.5) / f64::from(steps) - 0.5);
                let point =
                    |k| evidence(Order::Ordered, noise, counts, Stamp { time: at(k), width: 0.0 });
                let mean = (0..steps).map(|k| point(k).exp()).sum::<f64>() / f64::from(steps);
                // 3000 steps of the rule of midpoints, with kinks.
                assert!(
                    (got - mean.ln()).abs() < 1e-6,
                    "{noise:?} {counts:?} {width}: {got} {}",
                    mean.ln()
                );
            }
        }
    }
}

#[test]
fn without_order_an_interval_shrinks_to_its_time() {
    let stamp = |width| Stamp { time: 1.9, width };
    let at = |width| evidence(Order::Free, &Noise::Gaussian, &Counts::Bernoulli, stamp(width));
    let (point, narrow, wide) = (at(0.0), at(1e-3), at(2.0));
    // Second order in the width, and a table of 1e-9 over it.
    assert!((narrow - point).abs() < 1e-5, "{narrow} {point}");
    assert!((wide - point).abs() > 0.01, "{wide} {point}");
}

/// About 5 % positives, told apart well.
fn linear(row: ArrayView1<'_, f64>) -> f64 {
    -7.0 + 4.0 * row[0] - 3.0 * row[1]
}

fn drawn(seed: u64) -> Vec<Drawn> {
    let truth = Truth {
        log_odds: &linear,
        features: 2,
        counts: Counts::Bernoulli.with(&[("false_rate", &[1e-4]), ("hit_rate", &[0.9])]).unwrap(),
        noise: Noise::Gaussian.with(&[("delay", &[0.5]), ("spread", &[1.0])]).unwrap(),
    };
    truth.draw_many(12, 500, seed)
}

/// The session with its stamps rounded to multiples, and told so or not.
fn rounded(session: &Session<'static>, to: f64, is_told: bool) -> Session<'static> {
    let stamps: Vec<f64> = session.stamps().iter().map(|z| (z / to).round() * to).collect();
    let widths = vec![if is_told { to } else { 0.0 }; stamps.len()];
    session.clone().with_stamps(stamps).unwrap().with_widths(widths).unwrap()
}

fn fit(sessions: &[Session<'_>]) -> Fitted {
    Model::default().fit(sessions, &FitOptions::default(), Control::default()).unwrap()
}

#[test]
fn rounding_that_is_told_is_not_taken_for_scatter() {
    let drawn = drawn(31);
    let [exact, told, silent] = [(1e-9, false), (4.0, true), (4.0, false)].map(|(to, is_told)| {
        let sessions: Vec<Session> =
            drawn.iter().map(|own| rounded(&own.session, to, is_told)).collect();
        fit(&sessions).learned()
    });
    println!("{exact:?}\n{told:?}\n{silent:?}");
    // 390 stamps tell a spread to 4 %, and rounded ones to less.
    assert!((exact.spread - 1.0).abs() < 0.12, "{exact:?}");
    assert!((told.spread - 1.0).abs() < 0.25 && (told.delay - 0.5).abs() < 0.3, "{told:?}");
    // √(1 + 16/12).
    assert!(silent.spread > 1.35, "{silent:?}");
}

#[test]
fn derivatives_with_intervals_and_drifts_are_those_of_the_value() {
    const STEP: f64 = 1e-4;
    let sessions: Vec<Session> = drawn(32)[..2]
        .iter()
        .map(|own| {
            let session = rounded(&own.session, 1.5, true);
            // Some are known to the second.
            let widths = (0..session.stamps().len()).map(|l| if l % 3 == 0 { 0.0 } else { 1.5 });
            let widths = widths.collect();
            session.with_widths(widths).unwrap()
        })
        .collect();
    for noise in [Noise::Gaussian, Noise::StudentT, Noise::ShiftedGamma] {
        let model = Model { noise, counts: Counts::Bernoulli, ..Model::default() };
        let model = model.with_clocks(Factor::Session);
        let problem = Problem::new(&model, &sessions, 0, Control::default()).unwrap();
        let objective = problem.objective().unwrap();
        let mut at = problem.start(&objective, 1, 0).unwrap();
        let drifts = at.len() - 2;
        at[drifts..].copy_from_slice(&[1e-3, -5e-4]);
        let mut gradient = vec![0.0; at.len()];
        assert!(objective.evaluate(&at, &mut gradient).is_finite());
        for k in 0..at.len() {
            let step = if k >= drifts { STEP * 1e-2 } else { STEP };
            let beside = |step: f64| {
                let mut near = at.clone();
                near[k] += step;
                objective.evaluate(&near, &mut vec![0.0; at.len()])
            };
            let want = (beside(step) - beside(-step)) / (2.0 * step);
            // Tables of 1e-9 for some 60 stamps, over a step of 1e-4 (1e-6 for drifts, whose derivatives are large).
            let allowed = 2e-3 * (1.0 + want.abs());
            assert!(
                (gradient[k] - want).abs() < allowed,
                "{:?} {k}: {} {want}",
                model.noise,
                gradient[k]
            );
        }
    }
}

#[test]
fn widths_that_are_none_are_refused() {
    let session = &drawn(33)[0].session;
    let count = session.stamps().len();
    for widths in [vec![0.0; count + 1], vec![-1.0; count], vec![f64::NAN; count]] {
        assert!(session.clone().with_widths(widths).is_err());
    }
}
