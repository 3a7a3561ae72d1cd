//! What a plan promises is what fits on so many sessions find.

use ndarray::Array2;
use unjitter::math::{Random, sigmoid};
use unjitter::planning::{Plan, PlanOptions};
use unjitter::{Control, Counts, FitOptions, Fitted, Model, Session};

const DELAY: f64 = 0.8;
const MISSED: f64 = 0.1;
/// Presses from nowhere per instance: one in ten.
const NOWHERE: f64 = 0.003;

/// Sessions of an instance per unit of time, one event in about thirty, and the labels of each.
fn draw(count: usize, spread: f64, seed: u64) -> (Vec<Session<'static>>, Vec<Vec<bool>>) {
    let mut random = Random::new(seed);
    let one = |k: usize| {
        let features = Array2::from_shape_simple_fn((600, 4), || random.normal());
        let mut labels = Vec::new();
        let mut stamps = Vec::new();
        for (i, row) in features.rows().into_iter().enumerate() {
            labels.push(random.uniform() < sigmoid(-9.0 + 4.0 * row[0] - 3.0 * row[1] + row[2]));
            if labels[i] && random.uniform() >= MISSED {
                stamps.push(i as f64 + DELAY + spread * random.normal());
            }
            if random.uniform() < NOWHERE {
                stamps.push(i as f64 + random.uniform());
            }
        }
        stamps.sort_by(f64::total_cmp);
        let times = (0..600).map(f64::from).collect();
        (Session::new(format!("s{k}"), features, times, stamps).unwrap(), labels)
    };
    (0..count).map(one).unzip()
}

fn fit(model: &Model, sessions: &[Session<'_>]) -> Fitted {
    let options = FitOptions { restarts: 2, ..FitOptions::default() };
    model.fit(sessions, &options, Control::default()).unwrap()
}

fn plan(fitted: &Fitted, sessions: &[Session<'_>], options: &PlanOptions) -> Plan {
    fitted.plan(sessions, options, Control::default()).unwrap()
}

/// Nothing missed, nothing for nothing: exact but for the spread.
fn exact(spread: f64) -> Model {
    Model { counts: Counts::Bernoulli, ..Model::default() }
        .freeze("noise.delay", 0.0)
        .freeze("noise.spread", spread)
        .freeze("counts.hit_rate", 1.0 - 1e-9)
        .freeze("counts.false_rate", 1e-9)
        .freeze("background.rate", 1e-9)
}

#[test]
fn an_exact_stamp_is_worth_one_label() {
    let (sessions, labels) = draw(3, 1.0, 1);
    let stamped = |session: Session<'static>, labels: &Vec<bool>| {
        let times = labels.iter().zip(0..).filter(|(label, _)| **label).map(|(_, i)| f64::from(i));
        session.with_stamps(times.collect()).unwrap()
    };
    let sessions: Vec<Session> =
        sessions.into_iter().zip(&labels).map(|(own, labels)| stamped(own, labels)).collect();
    let fitted = fit(&exact(0.01), &sessions);
    let found = plan(&fitted, &sessions, &PlanOptions::default());
    // Differences of gradients over steps of a thousandth.
    assert!((found.worth - 1.0).abs() < 1e-3, "{}", found.worth);
    for labelled in &found.labelled {
        assert!((labelled.f1 - found.now.f1).abs() < 1e-3, "{labelled:?} {:?}", found.now);
        assert!(labelled.as_good_as.unwrap().abs() < 1e-2, "{labelled:?}");
    }
}

#[test]
fn the_worth_of_a_stamp_falls_with_the_spread() {
    let worth = |spread: f64| {
        let (sessions, _) = draw(8, spread, 2);
        plan(&fit(&Model::default(), &sessions), &sessions, &PlanOptions::default()).worth
    };
    let worths = [0.3, 1.0, 3.0, 8.0].map(worth);
    println!("worth at spreads of 0.3, 1, 3 and 8 spacings: {worths:.3?}");
    assert!(worths.windows(2).all(|pair| pair[1] < 0.9 * pair[0]), "{worths:?}");
    assert!(worths[0] < 1.0 && worths[3] > 0.0, "{worths:?}");
}

#[test]
fn widths_and_f1_of_four_times_the_sessions_are_those_of_a_fit_on_them() {
    const SETS: u64 = 6;
    let options = PlanOptions { more: Some(vec![18]), ..PlanOptions::default() };
    let (mut ratios, mut gains, mut level) = ([0.0; 3], [0.0; 2], [0.0; 2]);
    let (test, truth) = draw(20, 2.0, 999);
    // Labels are drawn from their probabilities: F1 against them, pooled.
    let f1 = |fitted: &Fitted| {
        let (mut hits, mut all) = (0.0, 0.0);
        for (session, labels) in test.iter().zip(&truth) {
            for (p, &label) in fitted.predict(session.features()).unwrap().iter().zip(labels) {
                let found = *p >= 0.5;
                hits += f64::from(u8::from(found && label));
                all += f64::from(u8::from(found)) + f64::from(u8::from(label));
            }
        }
        2.0 * hits / all
    };
    for seed in 0..SETS {
        let (sessions, _) = draw(24, 2.0, 10 + seed);
        let (few, many) =
            (fit(&Model::default(), &sessions[..6]), fit(&Model::default(), &sessions));
        let found = plan(&few, &sessions[..6], &options);
        let sure = many.learned_estimates(0.95).unwrap();
        let (then, widths) = (&found.more[0], [sure.delay, sure.spread, sure.miss_rate]);
        let promised = [then.widths.delay, then.widths.spread, then.widths.miss_rate];
        for (ratio, (promised, own)) in ratios.iter_mut().zip(promised.iter().zip(widths)) {
            let own = own.unwrap();
            *ratio += (promised.unwrap() / (own.high - own.low)).ln() / SETS as f64;
        }
        gains[0] += (then.f1 - found.now.f1) / SETS as f64;
        gains[1] += (f1(&many) - f1(&few)) / SETS as f64;
        level = [level[0] + found.now.f1 / SETS as f64, level[1] + f1(&few) / SETS as f64];
    }
    let ratios = ratios.map(f64::exp);
    println!("F1 promised and found with six sessions: {level:.4?}");
    println!("widths promised over found: {ratios:.3?}; gain in F1 promised, found: {gains:.4?}");
    // Information of 85 stamps is known to a tenth and a spread to 8 %, on average over six less; a share
    // of missed events of 0.1 to a third, and its width with it.
    for (ratio, most) in ratios.iter().zip([1.2, 1.25, 1.6]) {
        assert!((1.0 / most..most).contains(ratio), "{ratios:?}");
    }
    // F1 of a fit differs by about 0.02 from one set to the next. The level that is promised is too low by
    // 0.1 here, since the prior makes probabilities cautious.
    assert!(gains[0] > 0.0 && gains[1] > 0.0, "{gains:?}");
    assert!((gains[0] - gains[1]).abs() < 0.02 && (0.5..2.0).contains(&(gains[0] / gains[1])));
}

#[test]
fn labels_and_sessions_only_add() {
    let (sessions, _) = draw(8, 3.0, 5);
    let fitted = fit(&Model::default(), &sessions);
    let options = PlanOptions { more: Some(vec![80, 4, 8, 4]), ..PlanOptions::default() };
    let found = plan(&fitted, &sessions, &options);
    let sizes = |of: &[unjitter::planning::Outlook]| -> Vec<(usize, usize)> {
        of.iter().map(|own| (own.sessions, own.labelled)).collect()
    };
    assert_eq!(sizes(&found.more), [(12, 0), (16, 0), (88, 0)]);
    assert_eq!(sizes(&found.labelled), [(8, 1), (8, 2), (8, 4), (8, 8)]);
    let now = found.now.clone();
    for steps in [&found.more, &found.labelled] {
        for pair in std::iter::once(&now).chain(steps).collect::<Vec<_>>().windows(2) {
            assert!(pair[1].f1 > pair[0].f1, "{pair:?}");
            assert!(pair[1].widths.delay < pair[0].widths.delay, "{pair:?}");
            assert!(pair[1].widths.spread < pair[0].widths.spread, "{pair:?}");
            assert!(pair[1].widths.miss_rate < pair[0].widths.miss_rate, "{pair:?}");
            assert!(pair[1].as_good_as > pair[0].as_good_as, "{pair:?}");
        }
    }
    let sure = fitted.learned_estimates(0.95).unwrap().spread.unwrap();
    let now = now.widths.spread.unwrap();
    // The same measurement as the fit's.
    assert!((now / (sure.high - sure.low) - 1.0).abs() < 1e-6, "{now} {sure:?}");
    // One labelled session replaces its own stamps, which are worth less, by one over their worth.
    let one = found.labelled[0].as_good_as.unwrap();
    let simple = 1.0 / found.worth - 1.0;
    assert!(
        (0.5..2.0).contains(&(one / simple)),
        "{one} sessions, {simple} if all weights count alike"
    );
}

#[test]
fn refits_on_parts_agree_with_the_promise() {
    let (sessions, _) = draw(24, 2.0, 7);
    let fitted = fit(&Model::default(), &sessions);
    let options = PlanOptions { refits: 3, ..PlanOptions::default() };
    let found = plan(&fitted, &sessions, &options);
    let curve = found.refits.as_ref().unwrap();
    let sizes: Vec<(usize, usize)> = curve.points.iter().map(|p| (p.sessions, p.fits)).collect();
    assert_eq!(sizes, [(6, 3), (12, 3), (18, 3)]);
    assert!(curve.slope > 0.0, "{curve:?}");
    println!("now {:.3}, refits lead to {:.3}", found.now.f1, found.now.f1_refits.unwrap());
    for outlook in std::iter::once(&found.now).chain(&found.more) {
        // Three shuffles of 24 sessions: F1 on a quarter of them is known to about 0.03.
        let refits = outlook.f1_refits.unwrap();
        assert!((outlook.f1 - refits).abs() < 0.06, "{outlook:?}");
    }
    assert!(found.labelled.iter().all(|own| own.f1_refits.is_none()));
    assert_eq!(found, plan(&fitted, &sessions, &options), "the same seed, the same plan");
}

#[test]
fn mistakes_are_named() {
    let (sessions, _) = draw(3, 1.0, 8);
    let fitted = fit(&Model::default(), &sessions);
    let fails = |sessions: &[Session<'_>], options: PlanOptions| {
        fitted.plan(sessions, &options, Control::default()).unwrap_err().to_string()
    };
    let usual = PlanOptions::default;
    assert_eq!(fails(&[], usual()), "no sessions were given");
    let none = PlanOptions { more: Some(vec![0]), ..usual() };
    let message = "number of further sessions is 0, expected a number from 1 to 1000000";
    assert_eq!(fails(&sessions, none), message);
    let beyond = PlanOptions { labelled: Some(vec![2, 4]), ..usual() };
    let message =
        "number of sessions to label is 4, expected a number from 1 to that of the sessions";
    assert_eq!(fails(&sessions, beyond), message);
    let level = PlanOptions { level: 1.0, ..usual() };
    assert!(fails(&sessions, level).starts_with("level is 1, expected"));
    let draws = PlanOptions { draws: 1, ..usual() };
    assert_eq!(fails(&sessions, draws), "draws is 1, expected a number from 2 to 1000000");
    let refits = PlanOptions { refits: 1, ..usual() };
    let message = "3 sessions to learn from parts of, expected at least 4";
    assert_eq!(fails(&sessions, refits), message);
    let bare: Vec<Session> =
        sessions.iter().map(|own| own.clone().with_stamps(vec![]).unwrap()).collect();
    assert_eq!(fails(&bare, usual()), "none of the 3 sessions has a stamp to learn from");
    let narrow = Session::new("n", Array2::<f64>::zeros((2, 1)), vec![0.0, 1.0], vec![0.0]);
    assert_eq!(fails(&[narrow.unwrap()], usual()), "session n: 1 features, expected 4");
}
