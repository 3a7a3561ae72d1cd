//! Standard errors are the errors that estimates have, and intervals hold the truth as often as they say.

use ndarray::Array2;
use unjitter::math::{Random, sigmoid};
use unjitter::model::Estimate;
use unjitter::{AlignOptions, Control, FitOptions, Fitted, Model, Session};

const DELAY: f64 = 1.0;
const SPREAD: f64 = 2.0;
const MISSED: f64 = 0.1;
/// Presses from nowhere per unit of time: one in ten, as the prior expects.
const NOWHERE: f64 = 0.0018;

/// A session and the owner of each stamp; the last number for those from nowhere.
struct Drawn {
    session: Session<'static>,
    owners: Vec<usize>,
}

/// One event in 60 instances, told apart well but not perfectly; its presses are late by `delay` more.
fn draw(name: String, instances: usize, delay: f64, random: &mut Random) -> Drawn {
    let features = Array2::from_shape_simple_fn((instances, 2), || random.normal());
    let mut pressed = Vec::new();
    for (i, row) in features.rows().into_iter().enumerate() {
        let is_event = random.uniform() < sigmoid(-11.0 + 4.0 * row[0] - 3.0 * row[1]);
        if is_event && random.uniform() >= MISSED {
            pressed.push((i as f64 + DELAY + delay + SPREAD * random.normal(), i));
        }
    }
    for i in 0..instances {
        if random.uniform() < NOWHERE {
            pressed.push((i as f64 + random.uniform(), usize::MAX));
        }
    }
    pressed.sort_by(|a, b| a.0.total_cmp(&b.0));
    let times = (0..instances).map(|i| i as f64).collect();
    let (stamps, owners) = pressed.into_iter().unzip();
    Drawn { session: Session::new(name, features, times, stamps).unwrap(), owners }
}

fn draw_many(sessions: usize, instances: usize, apart: f64, seed: u64) -> Vec<Drawn> {
    let mut random = Random::new(seed);
    let each = |k| {
        let delay = apart * random.normal();
        draw(format!("s{k}"), instances, delay, &mut random)
    };
    (0..sessions).map(each).collect()
}

fn fit(drawn: &[Drawn]) -> Fitted {
    let sessions: Vec<Session> = drawn.iter().map(|own| own.session.clone()).collect();
    let options = FitOptions { restarts: 0, ..FitOptions::default() };
    Model::default().fit(&sessions, &options, Control::default()).unwrap()
}

/// Estimates of the same truth from many draws.
#[derive(Default)]
struct Many {
    errors: Vec<f64>,
    squares: f64,
    inside: usize,
}

impl Many {
    fn add(&mut self, estimate: Estimate, truth: f64) {
        let Estimate { value, standard_error, low, high } = estimate;
        self.errors.push(value - truth);
        self.squares += standard_error * standard_error;
        self.inside += usize::from((low..=high).contains(&truth));
    }

    /// The standard error as stated, over the one that estimates have.
    fn ratio(&self) -> f64 {
        let count = self.errors.len() as f64;
        let mean = self.errors.iter().sum::<f64>() / count;
        let variance = self.errors.iter().map(|e| (e - mean) * (e - mean)).sum::<f64>() / count;
        (self.squares / count / variance).sqrt()
    }
}

#[test]
fn intervals_of_what_was_learned_hold_the_truth() {
    const FITS: usize = 60;
    let [mut delay, mut spread, mut missed] = [(); 3].map(|()| Many::default());
    let (mut inside, mut certain, mut stamps) = (0, 0, 0);
    for seed in 0..FITS {
        let drawn = draw_many(5, 3000, 0.0, 500 + seed as u64);
        let fitted = fit(&drawn);
        let sure = fitted.learned_estimates(0.95).unwrap();
        delay.add(sure.delay.unwrap(), DELAY);
        spread.add(sure.spread.unwrap(), SPREAD);
        missed.add(sure.miss_rate.unwrap(), MISSED);
        for Drawn { session, owners } in drawn.iter().take(1) {
            let holds = |draws: usize| {
                let options = AlignOptions { draws, ..AlignOptions::default() };
                let aligned = fitted.align_with(session, &options).unwrap();
                let held = aligned.stamps.iter().zip(owners).filter(|(_, i)| **i != usize::MAX);
                held.filter(|(s, i)| s.low <= **i as f64 && **i as f64 <= s.high).count()
            };
            inside += holds(32);
            certain += holds(0);
            stamps += owners.iter().filter(|i| **i != usize::MAX).count();
        }
    }
    // 60 · 0.95 = 57; below 51 by chance once in 100.
    for (name, many) in [("delay", &delay), ("spread", &spread), ("missed", &missed)] {
        assert!(many.inside >= 51, "{name}: {} of {FITS}", many.inside);
    }
    // A standard deviation of 60 numbers is known to 9 %.
    for (name, many) in [("delay", &delay), ("spread", &spread)] {
        assert!((0.75..1.35).contains(&many.ratio()), "{name}: {}", many.ratio());
    }
    // At least as often as they say: a stamp belongs to a whole instance, and most have few candidates.
    assert!(inside as f64 > 0.95 * stamps as f64, "{inside} of {stamps}");
    assert!(certain <= inside, "{certain} of {stamps} without draws, {inside} with them");
}

#[test]
fn sessions_that_differ_make_the_mean_delay_less_certain() {
    let mut delay = Many::default();
    let mut informed = 0.0;
    for seed in 0..12 {
        let fitted = fit(&draw_many(60, 300, 1.5, 900 + seed));
        assert_eq!(fitted.uncertainty().unwrap().clusters(), Some(60));
        delay.add(fitted.learned_estimates(0.95).unwrap().delay.unwrap(), DELAY);
        informed = fitted.learned().spread / (60.0_f64 * 9.0).sqrt();
    }
    // 1.5/√60 = 0.19 for the people alone, and about 0.1 for their presses.
    let stated = (delay.squares / 12.0).sqrt();
    assert!((0.17..0.28).contains(&stated), "{stated}");
    assert!(stated > 1.5 * informed, "{stated} is hardly more than {informed}");
    assert!(delay.inside >= 10, "{} of 12", delay.inside); // fewer by chance once in 50
}

#[test]
fn levels_are_in_order_and_held_values_have_none() {
    let drawn = draw_many(4, 600, 0.0, 3);
    let fitted = fit(&drawn);
    let at = |level: f64| fitted.learned_estimates(level).unwrap().spread.unwrap();
    assert!(at(0.5).low > at(0.95).low && at(0.5).high < at(0.95).high);
    assert!(fitted.learned_estimates(1.0).is_err());
    let weights = fitted.estimates("classifier.weights", 0.9).unwrap();
    assert!(weights.iter().all(Option::is_some) && weights.len() == 2);

    let align = |level: f64| {
        let options = AlignOptions { level, ..AlignOptions::default() };
        fitted.align_with(&drawn[0].session, &options).unwrap()
    };
    for (narrow, wide) in align(0.5).stamps.iter().zip(&align(0.99).stamps) {
        assert!(wide.low <= narrow.low && narrow.low <= narrow.time);
        assert!(narrow.time <= narrow.high && narrow.high <= wide.high);
    }
    assert_eq!(align(0.9), align(0.9), "the same draws");

    let sessions: Vec<Session> = drawn.iter().map(|own| own.session.clone()).collect();
    let held = Model::default().freeze("noise.delay", DELAY);
    let held = held.fit(&sessions, &FitOptions::default(), Control::default()).unwrap();
    let sure = held.learned_estimates(0.95).unwrap();
    assert!(sure.delay.is_none() && sure.spread.is_some());

    let text = fitted.to_json();
    let again = Fitted::from_json(text.as_bytes()).unwrap();
    assert_eq!(again.uncertainty(), fitted.uncertainty());
    let mut spoilt: serde_json::Value = serde_json::from_str(&text).unwrap();
    spoilt["uncertainty"]["places"] = serde_json::json!([0]);
    assert!(Fitted::from_json(spoilt.to_string().as_bytes()).is_err());
}
