//! Results of `align`, for every noise model.

mod common;

use common::{Drawn, Truth};
use unjitter::{Control, Counts, FitOptions, Model, Noise, PosteriorOptions, Session, posterior};

const RATES: [(&str, &[f64]); 2] = [("false_rate", &[0.01]), ("hit_rate", &[0.85])];

/// Natural values by name.
type Values = Vec<(&'static str, &'static [f64])>;

/// Every noise model, with ordinary parameters; the Gaussian first.
fn noises() -> Vec<(Noise, Values)> {
    Noise::kinds().iter().map(|kind| (kind.example(), kind.example_values())).collect()
}

/// Sessions pressed with this noise, told apart well but not perfectly.
fn drawn(noise: &Noise, values: &[(&str, &[f64])]) -> Vec<Drawn> {
    let truth = Truth {
        log_odds: &|row| -6.0 + 3.5 * row[0] - 2.5 * row[1],
        features: 2,
        counts: Counts::Bernoulli.with(&RATES).unwrap(),
        noise: noise.with(values).unwrap(),
    };
    truth.draw_many(4, 400, 7)
}

fn sessions(drawn: &[Drawn]) -> Vec<Session<'static>> {
    drawn.iter().map(|drawn| drawn.session.clone()).collect()
}

#[test]
fn a_time_lies_within_its_own_interval() {
    for (noise, values) in noises() {
        let sessions = sessions(&drawn(&noise, &values));
        let model = Model { noise: noise.clone(), ..Model::default() };
        let fitted = model.fit(&sessions, &FitOptions::default(), Control::default()).unwrap();
        let (mut points, mut stamps) = (0, 0);
        for stamp in sessions.iter().flat_map(|one| fitted.align(one).unwrap().stamps) {
            assert!(stamp.low <= stamp.time && stamp.time <= stamp.high, "{noise:?}: {stamp:?}");
            points += usize::from(stamp.low == stamp.high);
            stamps += 1;
        }
        // Both kinds of interval were met: one instance alone, and several.
        assert!(points > 0 && points < stamps, "{noise:?}: {points} of {stamps}");
    }
}

#[test]
fn a_time_is_the_posterior_median() {
    let (noise, values) = noises().swap_remove(0);
    let sessions = sessions(&drawn(&noise, &values));
    let model = Model { counts: Counts::Bernoulli, ..Model::default() };
    let fitted = model.fit(&sessions, &FitOptions::default(), Control::default()).unwrap();
    let background_rate = fitted.learned().background_rate;
    let options = PosteriorOptions { alignment: model.alignment, background_rate };
    let value = |name: &str| fitted.parameter(name).unwrap();
    let (misses, hits) = (value("counts.false_rate"), value("counts.hit_rate"));
    let counts = Counts::Bernoulli.with(&[("false_rate", &misses), ("hit_rate", &hits)]).unwrap();
    let (delay, spread) = (value("noise.delay"), value("noise.spread"));
    let noise = noise.with(&[("delay", &delay), ("spread", &spread)]).unwrap();
    for session in &sessions {
        let log_odds = fitted.log_odds(session.features()).unwrap();
        let times = session.times();
        let bare =
            posterior(times, session.stamps(), &log_odds, &counts, &noise, &options).unwrap();
        for (l, stamp) in fitted.align(session).unwrap().stamps.iter().enumerate() {
            let shares = bare.responsibilities();
            let candidates = shares.instances(l).zip(shares.of_stamp(l));
            let (mut before, mut after) = (0.0, 0.0);
            for (i, share) in candidates {
                before += if times[i] < stamp.time { *share } else { 0.0 };
                after += if times[i] > stamp.time { *share } else { 0.0 };
            }
            // Another order of the same additions; no share of these data is so near to a half.
            assert!(before < 0.5 + 1e-9 && after < 0.5 + 1e-9, "{stamp:?}: {before}, {after}");
        }
    }
}

#[test]
fn a_time_is_that_of_an_instance_which_mostly_is_an_event() {
    let (noise, values) = noises().swap_remove(0);
    let drawn = drawn(&noise, &values);
    let fitted = Model::default()
        .fit(&sessions(&drawn), &FitOptions::default(), Control::default())
        .unwrap();
    let (mut events, mut stamps) = (0, 0);
    for Drawn { session, labels } in &drawn {
        for stamp in fitted.align(session).unwrap().stamps {
            let at = session.times().iter().position(|time| *time == stamp.time);
            events += usize::from(labels[at.expect("a time between instances")]);
            stamps += 1;
        }
    }
    // One press in ten is for nothing, and some positives are hard to tell.
    assert!(events * 10 >= stamps * 7, "{events} of {stamps}");
}
