//! People with habits of their own, and several of them at one session.

use unjitter::diagnosis::{DiagnosisOptions, agreement, diagnose};
use unjitter::math::Random;
use unjitter::model::{Factor, Varying};
use unjitter::{Control, Error, Model, Session};

use crate::drawn::{Habit, Recording, USUAL, f1, fit, recordings};

/// A recording with the stamps of several people.
fn stamped(
    recording: &Recording,
    people: &[(&str, Habit)],
    random: &mut Random,
) -> Session<'static> {
    let mut all: Vec<(f64, String)> = Vec::new();
    for (name, habit) in people {
        let own = recording.stamps(*habit, (0.0, 0.0), random);
        all.extend(own.into_iter().map(|z| (z, (*name).to_owned())));
    }
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (stamps, of): (Vec<f64>, Vec<String>) = all.into_iter().unzip();
    let names: Vec<String> = people.iter().map(|(name, _)| (*name).to_owned()).collect();
    recording.session(stamps).with_annotators(&of, &names).unwrap()
}

#[test]
fn habits_of_two_people_are_told_apart() {
    let mut random = Random::new(21);
    let all = recordings(24, &mut random);
    let late = Habit { delay: 4.0, spread: 2.0, miss: 0.3, ..USUAL };
    let people = [("ann", USUAL), ("bob", late)];
    let sessions: Vec<Session> = all.iter().map(|own| stamped(own, &people, &mut random)).collect();
    let varies = [Varying::Delay, Varying::Spread, Varying::MissRate];
    let model =
        varies.into_iter().fold(Model::default(), |m, what| m.varying(what, Factor::Annotator));
    let fitted = fit(&model, &sessions);
    for own in fitted.group_estimates(0.99).unwrap() {
        let habit = people.iter().find(|(name, _)| *name == own.group).unwrap().1;
        let truth = match own.variation.what {
            Varying::Delay => habit.delay,
            Varying::Spread => habit.spread,
            _ => habit.miss,
        };
        let interval = own.estimate.unwrap();
        println!(
            "{} {}: {:.3} ({:.3} to {:.3}), {truth}",
            own.variation, own.group, own.value, interval.low, interval.high
        );
        assert!(interval.low <= truth && truth <= interval.high, "{own:?}");
    }
    // Told who pressed, the detector is as good as that of people who press alike.
    let alike: Vec<Session> =
        all.iter().map(|own| stamped(own, &[("ann", USUAL)], &mut random)).collect();
    let (two, one) = (f1(&fitted, &all), f1(&fit(&Model::default(), &alike), &all));
    assert!(two > one - 0.02, "{two} {one}");
    let agreed = agreement(&fitted, &sessions).unwrap();
    assert_eq!(agreed.pairs.len(), 1);
    let pair = &agreed.pairs[0];
    // They saw the same events but for those that they missed; presses are nowhere near each other.
    println!("{agreed:?}");
    assert!(pair.kappa > 0.6 && pair.kappa_nearest < 0.2, "{pair:?}");
    assert!((agreed.annotators[1].seen / agreed.annotators[1].events - 0.7).abs() < 0.08);
}

#[test]
fn a_diagnosis_supposes_that_groups_follow() {
    let mut random = Random::new(23);
    let people = [("ann", USUAL), ("bob", Habit { delay: 4.0, ..USUAL })];
    let all = recordings(10, &mut random);
    let sessions: Vec<Session> = all.iter().map(|own| stamped(own, &people, &mut random)).collect();
    let fitted = fit(&Model::default().varying(Varying::Delay, Factor::Annotator), &sessions);
    let found =
        diagnose(&fitted, &sessions, &DiagnosisOptions::default(), Control::default()).unwrap();
    // Two people hardly tell the delay of all, so its prior moves it, but not out of their reach.
    let delay = found.priors.unwrap().into_iter().filter(|own| own.prior == "noise.delay");
    for own in delay {
        assert!(own.most < 1.0, "{own:?}");
    }
    let intervals = found.intervals.unwrap();
    assert!(intervals.iter().all(|own| own.profile.is_none() && own.curve.is_empty()));
    let [delay, ..] = &intervals[..] else { panic!("{intervals:?}") };
    assert!(delay.information.0 < 1.0 && delay.information.1 > 3.0, "{delay:?}");
}

#[test]
fn two_sloppy_annotators_are_no_worse_than_either() {
    let mut random = Random::new(22);
    let (all, wide) = (recordings(16, &mut random), Habit { spread: 4.0, ..USUAL });
    let both: Vec<Session> =
        all.iter().map(|own| stamped(own, &[("ann", wide), ("bob", wide)], &mut random)).collect();
    let alone = |name: usize| -> Vec<Session> {
        let own = |(recording, session): (&Recording, &Session)| {
            recording.session(session.streams()[name].1.clone())
        };
        all.iter().zip(&both).map(own).collect()
    };
    let together = f1(&fit(&Model::default(), &both), &all);
    for name in [0, 1] {
        let own = f1(&fit(&Model::default(), &alone(name)), &all);
        println!("{together} together, {own} alone");
        assert!(together > own - 0.005, "{together} {own}");
    }
}

#[test]
fn events_of_several_annotators_are_merged() {
    let mut random = Random::new(23);
    let (all, exact) =
        (recordings(12, &mut random), Habit { spread: 0.2, delay: 0.0, miss: 0.0, extra: 0.0 });
    let sessions: Vec<Session> = all
        .iter()
        .map(|own| {
            stamped(own, &[("ann", exact), ("bob", Habit { miss: 0.5, ..exact })], &mut random)
        })
        .collect();
    let fitted = fit(&Model::default().varying(Varying::MissRate, Factor::Annotator), &sessions);
    let (mut found, mut by_both, mut truth) = (0, 0, 0);
    for (recording, session) in all.iter().zip(&sessions) {
        let aligned = fitted.align(session).unwrap();
        let events = aligned.events(session);
        let owned = aligned.stamps.iter().filter(|own| own.best_instance.is_some()).count();
        assert_eq!(events.iter().map(|event| event.stamps.len()).sum::<usize>(), owned);
        for event in &events {
            assert!(recording.labels[event.instance], "{event:?}");
            let mut of: Vec<usize> =
                event.stamps.iter().map(|&l| session.annotator_of(l).unwrap()).collect();
            of.sort_unstable();
            assert_eq!(of, event.seen_by);
        }
        found += events.len();
        by_both += events.iter().filter(|event| event.seen_by == [0, 1]).count();
        truth += recording.labels.iter().filter(|&&label| label).count();
    }
    println!("{found} of {truth}, {by_both} by both");
    // Some events hardly look like one, and their press may have come from nowhere.
    assert!(found * 100 >= truth * 95, "{found} of {truth}");
    // One press in two, to 4 %.
    assert!((by_both as f64 / found as f64 - 0.5).abs() < 0.12, "{by_both} of {found}");
}

#[test]
fn somebody_with_few_stamps_is_taken_to_be_like_the_others() {
    let mut random = Random::new(24);
    let all = recordings(20, &mut random);
    let habit = |k: usize| Habit { delay: 1.0 + 0.5 * (k % 4) as f64, ..USUAL };
    let mut sessions: Vec<Session> = (0..20)
        .map(|k| stamped(&all[k], &[(["a", "b", "c", "d"][k % 4], habit(k))], &mut random))
        .collect();
    // Two presses, ten late: less than four people who agree to half a spacing make credible.
    let late = all[0].labels.iter().position(|&label| label).unwrap() as f64 + 10.0;
    sessions.push(
        Recording { name: "new".to_owned(), ..all[0].clone() }
            .session(vec![late, late + 0.5])
            .with_annotators(&["e".to_owned(), "e".to_owned()], &[])
            .unwrap(),
    );
    let fitted = fit(&Model::default().varying(Varying::Delay, Factor::Annotator), &sessions);
    let delays: Vec<f64> =
        fitted.group_estimates(0.95).unwrap().iter().map(|own| own.value).collect();
    println!("{delays:?}");
    // 65 presses each tell a delay to 0.13.
    for (k, delay) in delays[..4].iter().enumerate() {
        assert!((delay - habit(k).delay).abs() < 0.5, "{delays:?}");
    }
    assert!((0.0..4.0).contains(&delays[4]), "{delays:?}");
}

#[test]
fn what_cannot_differ_is_refused() {
    let mut random = Random::new(25);
    let sessions: Vec<Session> =
        recordings(2, &mut random).iter().map(|own| own.session(vec![10.0, 20.0])).collect();
    let refused =
        |model: Model| model.fit(&sessions, &Default::default(), Default::default()).unwrap_err();
    let by_nobody = Model::default().varying(Varying::Delay, Factor::Annotator);
    assert!(matches!(refused(by_nobody.clone()), Error::NoGroups { .. }));
    let twice = by_nobody.varying(Varying::Delay, Factor::Annotator);
    assert!(matches!(refused(twice), Error::VariesTwice { .. }));
}
