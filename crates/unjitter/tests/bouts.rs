//! Bouts: stamps that tell a beginning and an end, both sloppy, each in its own way.

use ndarray::Array2;
use unjitter::labels::{Labels, Variable};
use unjitter::math::Random;
use unjitter::{AlignOptions, Control, Counts, Error, FitOptions, Fitted, Model, Session};

/// Instances per unit of time, as with windows that slide by half a second.
const PER_UNIT: f64 = 2.0;
/// Mean length of bouts, and of the time between them.
const LASTING: f64 = 5.0;
const BETWEEN: f64 = 15.0;
/// Delay and spread of beginnings, and of ends.
const STARTS: (f64, f64) = (0.6, 0.8);
const ENDS: (f64, f64) = (1.5, 2.0);
const MISSED: f64 = 0.1;

/// A session and the true bouts, from the first instance to the last.
struct Drawn {
    session: Session<'static>,
    truth: Vec<(f64, f64)>,
    /// Which of them each stamp is of.
    of_stamps: Vec<usize>,
}

impl Drawn {
    /// How late beginnings were told, and ends: as drawn, but that no end is before its beginning.
    fn delays(&self) -> [Vec<f64>; 2] {
        let of = |own: &dyn Fn(usize, (f64, f64)) -> f64| {
            let stamps = self.of_stamps.iter().enumerate();
            stamps.map(|(l, &bout)| own(l, self.truth[bout])).collect()
        };
        [
            of(&|l, (start, _)| self.session.stamps()[l] - start),
            of(&|l, (_, end)| self.session.end_of(l).unwrap() - end),
        ]
    }
}

fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    (mean, (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / count).sqrt())
}

fn draw(name: &str, instances: usize, random: &mut Random) -> Drawn {
    let times: Vec<f64> = (0..instances).map(|i| i as f64 / PER_UNIT).collect();
    let mut labels = vec![false; instances];
    for i in 1..instances {
        let rate = if labels[i - 1] { LASTING } else { BETWEEN };
        labels[i] = labels[i - 1] ^ (random.uniform() < -(-1.0 / rate / PER_UNIT).exp_m1());
    }
    let mut features = Array2::zeros((instances, 2));
    for (mut row, &label) in features.rows_mut().into_iter().zip(&labels) {
        row[0] = random.normal() + if label { 2.5 } else { 0.0 };
        row[1] = random.normal();
    }
    let (mut truth, mut rows) = (Vec::new(), Vec::new());
    for i in (1..instances - 1).filter(|&i| labels[i] && !labels[i - 1]) {
        let last = (i..instances).take_while(|&j| labels[j]).last().unwrap_or(i);
        truth.push((times[i], times[last]));
        if random.uniform() >= MISSED {
            let start = times[i] + STARTS.0 + STARTS.1 * random.normal();
            let end = times[last] + ENDS.0 + ENDS.1 * random.normal();
            rows.push((start, end.max(start), truth.len() - 1));
        }
    }
    rows.sort_by(|a, b| a.0.total_cmp(&b.0));
    let stamps = rows.iter().map(|row| row.0).collect();
    let ends = rows.iter().map(|row| Some(row.1)).collect();
    let session = Session::new(name, features, times, stamps);
    let session = session.and_then(|session| session.with_ends(ends)).unwrap();
    Drawn { session, truth, of_stamps: rows.iter().map(|row| row.2).collect() }
}

fn drawn(sessions: usize, instances: usize, seed: u64) -> Vec<Drawn> {
    let mut random = Random::new(seed);
    (0..sessions).map(|k| draw(&format!("s{k}"), instances, &mut random)).collect()
}

fn fitted(drawn: &[Drawn]) -> Fitted {
    let sessions: Vec<Session<'static>> = drawn.iter().map(|own| own.session.clone()).collect();
    let model = Model { counts: Counts::Bernoulli, ..Model::default() };
    let options = FitOptions { restarts: 2, ..FitOptions::default() };
    model.fit(&sessions, &options, Control::default()).unwrap()
}

#[test]
fn both_ends_come_back_with_their_own_noise() {
    let drawn = drawn(5, 1000, 1);
    let fitted = fitted(&drawn);
    assert_eq!((fitted.model().labels, fitted.model().ends), (Labels::Chain, true));
    assert!(fitted.outcome().converged, "{:?}", fitted.outcome());
    let stamps: usize = drawn.iter().map(|own| own.of_stamps.len()).sum();
    let (starts, ends) = (fitted.learned(), fitted.learned_ends().unwrap());
    let sure = fitted.learned_estimates(0.95).unwrap();
    let sure_of_ends = fitted.ends_estimates(0.95).unwrap().unwrap();
    let [of_starts, of_ends] = [0, 1].map(|k| {
        let all: Vec<f64> = drawn.iter().flat_map(|own| own.delays()[k].clone()).collect();
        mean_and_deviation(&all)
    });
    for (own, sure, (delay, spread)) in [(starts, sure, of_starts), (ends, sure_of_ends, of_ends)] {
        println!("drawn: {delay} {spread}");
        println!("{stamps} stamps: {own:?}\n{:?}\n{:?}", sure.delay, sure.spread);
        // Three standard errors of the fit, which also knows no owner, and a tenth by which spreads come out short.
        let [of_delay, of_spread] =
            [sure.delay, sure.spread].map(|own| own.unwrap().standard_error);
        assert!((own.delay - delay).abs() < 3.0 * of_delay, "{own:?} {delay} {of_delay}");
        let short = 3.0 * of_spread + 0.1 * spread;
        assert!((own.spread - spread).abs() < short, "{own:?} {spread} {of_spread}");
        // No less than if all owners were known, and not five times that.
        let known = spread / (stamps as f64).sqrt();
        assert!((0.8 * known..5.0 * known).contains(&of_delay), "{of_delay} {known}");
        // Some 125 bouts: three standard errors.
        assert!((own.miss_rate - MISSED).abs() < 0.08, "{own:?}");
    }
    let loaded = Fitted::from_json(fitted.to_json().as_bytes()).unwrap();
    assert_eq!(loaded.learned_ends(), fitted.learned_ends());
    aligned_bouts_are_nearer(&fitted, &drawn);
}

/// Both ends of a bout move towards the truth, and intervals hold it.
fn aligned_bouts_are_nearer(fitted: &Fitted, drawn: &[Drawn]) {
    let (mut before, mut after, mut inside, mut all) = ([0.0; 2], [0.0; 2], [0.0; 2], 0.0);
    for Drawn { session, truth, of_stamps } in drawn {
        let aligned = fitted.align_with(session, &AlignOptions::default()).unwrap();
        assert_eq!(aligned.ends.len(), aligned.stamps.len());
        for (l, &bout) in of_stamps.iter().enumerate() {
            let (start, end) = (aligned.stamps[l], aligned.ends[l].unwrap());
            assert!(start.time <= end.time && start.low <= end.low && start.high <= end.high);
            assert_eq!(end.stamp, session.end_of(l).unwrap());
            for (k, (own, truth)) in
                [(start, truth[bout].0), (end, truth[bout].1)].iter().enumerate()
            {
                before[k] += (own.stamp - truth).abs();
                after[k] += (own.time - truth).abs();
                inside[k] += f64::from(u8::from((own.low..=own.high).contains(truth)));
            }
            all += 1.0;
        }
    }
    println!("moved from {before:?} to {after:?}, {inside:?} of {all} inside");
    for k in 0..2 {
        assert!(after[k] < 0.5 * before[k], "{k}: {before:?} {after:?}");
        // 95 % and three standard errors of some 110, which cost 6 %.
        assert!(inside[k] > 0.89 * all, "{k}: {inside:?} of {all}");
    }
}

/// Learned from a part of the sessions and then from all: ends count as stamps of their own.
#[test]
fn a_part_of_the_sessions_tells_how_sure_all_are() {
    let sessions: Vec<Session<'static>> =
        drawn(12, 400, 4).into_iter().map(|own| own.session).collect();
    let stamps: usize = sessions.iter().map(|own| own.stamps().len()).sum();
    let model = Model { counts: Counts::Bernoulli, ..Model::default() };
    let fit = |sample: usize| {
        let options = FitOptions { restarts: 0, sample, ..FitOptions::default() };
        model.fit(&sessions, &options, Control::default()).unwrap()
    };
    let (all, part) = (fit(usize::MAX), fit(stamps / 2));
    for fitted in [&all, &part] {
        println!("{:?} {:?} {:?}", fitted.learned(), fitted.learned_ends(), fitted.warnings());
        assert!(fitted.outcome().converged, "{:?}", fitted.outcome());
        let each = sessions.iter().map(|session| fitted.log_evidence(session).unwrap());
        let (sum, told) = (each.sum::<f64>(), fitted.outcome().log_evidence);
        // Messages begin elsewhere, and have six digits.
        assert!((sum - told).abs() < 1e-4 * sum.abs(), "{sum} {told}");
    }
    let error = |fitted: &Fitted, name: &str| {
        fitted.estimates(name, 0.95).unwrap()[0].unwrap().standard_error
    };
    let names = ["noise.delay", "noise.spread", "ends.noise.delay", "ends.noise.spread"];
    let log_ratios = names.map(|name| (error(&part, name) / error(&all, name)).ln());
    println!("{log_ratios:?}");
    // Half of the sessions tells each to some fifteen per cent, so the mean of four to less than half of √2.
    let mean = log_ratios.iter().sum::<f64>() / names.len() as f64;
    assert!(mean.abs() < 0.2, "{log_ratios:?}");
}

#[test]
fn ends_are_refused_where_they_tell_nothing() {
    let sessions = [drawn(1, 200, 2).swap_remove(0).session];
    let model = Model { stamps: Variable::Presence, labels: Labels::Chain, ..Model::default() };
    let refused = model.fit(&sessions, &FitOptions::default(), Control::default());
    assert!(matches!(refused, Err(Error::EndsOfOther { .. })), "{refused:?}");
    let model = Model { ends: true, ..Model::default() };
    let plain =
        [Session::new("s", Array2::<f64>::zeros((3, 1)), vec![0.0, 1.0, 2.0], vec![1.0]).unwrap()];
    let refused = model.fit(&plain, &FitOptions::default(), Control::default());
    assert!(matches!(refused, Err(Error::EndsWithoutRuns)), "{refused:?}");
}
