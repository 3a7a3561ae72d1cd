//! Data from the model itself.

use unjitter::{Model, Session};

use crate::{Annotator, diagnosed, fit};

/// Of how many draws, and of how many sessions, the truth stays inside its bands.
#[derive(Debug, Default)]
struct Inside {
    draws: usize,
    sessions: usize,
    gaps: usize,
    delays: usize,
    gaps_of_sessions: usize,
    delays_of_sessions: usize,
    clear_slopes: usize,
    clear_surplus: usize,
    odd_sessions: usize,
}

fn inside(annotator: &Annotator, draws: u64) -> Inside {
    let mut all = Inside::default();
    for seed in 0..draws {
        let drawn = annotator.sessions(5, 400, seed);
        let found = diagnosed(&annotator.truth(&drawn), &drawn);
        all.draws += 1;
        all.sessions += found.sessions.len();
        all.gaps += usize::from(!found.residuals.is_outside());
        all.delays += usize::from(!found.delays.is_outside());
        all.clear_slopes += usize::from(found.over_session.is_some_and(|slope| slope.is_clear()));
        all.clear_surplus += usize::from(found.surplus.abs() > 2.0);
        for own in &found.sessions {
            all.gaps_of_sessions += usize::from(!own.residuals.is_outside());
            all.delays_of_sessions += usize::from(!own.delays.is_outside());
            all.odd_sessions += usize::from(own.is_odd());
        }
    }
    all
}

#[test]
fn the_truth_stays_inside_its_bands() {
    // Events far apart and close together (one in 35 instances and one in 6), one press or several.
    for (name, several, intercept) in
        [("one", false, -10.0), ("crowded", false, -5.0), ("several", true, -10.0)]
    {
        let annotator = Annotator { several, intercept, ..Annotator::default() };
        let found = inside(&annotator, 100);
        println!("{name}: {found:?}");
        // 95 of 100, and outside 89 to 99 by chance once in 50. Delays scatter less than the band allows.
        assert!((89..=99).contains(&found.gaps), "{name}: {found:?}");
        assert!(found.delays >= 90, "{name}: {found:?}");
        // 475 of 500; three standard errors are 15.
        assert!((460..=490).contains(&found.gaps_of_sessions), "{name}: {found:?}");
        assert!(found.delays_of_sessions >= 465, "{name}: {found:?}");
        // 5 of 100 by chance; above 12 once in 300.
        assert!(found.clear_slopes <= 12, "{name}: {found:?}");
        assert!(found.clear_surplus <= 12, "{name}: {found:?}");
        // Half of one expected.
        assert!(found.odd_sessions <= 5, "{name}: {found:?}");
    }
}

#[test]
fn a_fit_stays_inside_too_and_nothing_stands_out() {
    let drawn = Annotator::default().sessions(8, 600, 77);
    let found = diagnosed(&fit(&Model::default(), &drawn), &drawn);
    assert!(!found.residuals.is_outside() && !found.delays.is_outside(), "{:?}", found.residuals);
    // As many as expected, to the root of 150 and a little.
    assert!((found.expected - found.stamps as f64).abs() < 20.0, "{}", found.expected);
    assert_eq!(found.gaps.len(), found.stamps);
    let remarks = found.remarks(" s");
    assert_eq!(remarks.len(), 2, "{remarks:?}");
    assert!(remarks[0].starts_with("stamps come when and as often"), "{remarks:?}");
    assert!(remarks[1].starts_with("delays are distributed as was learned"), "{remarks:?}");
}

#[test]
fn quantiles_lie_beside_the_learned_ones() {
    let drawn = Annotator::default().sessions(8, 600, 78);
    let fitted = Annotator::default().truth(&drawn);
    let found = diagnosed(&fitted, &drawn);
    assert_eq!(found.quantiles.len(), 100);
    for own in &found.quantiles {
        assert!(own.low <= own.learned && own.learned <= own.high, "{own:?}");
        assert!(own.low <= own.found && own.found <= own.high, "{own:?}");
    }
    // The median is the learned delay.
    let middle = (found.quantiles[49].learned + found.quantiles[50].learned) / 2.0;
    assert!((middle - crate::DELAY).abs() < 0.01, "{middle}");
}

#[test]
fn nothing_is_expected_while_nobody_annotates() {
    let annotator = Annotator { nowhere: 0.05, ..Annotator::default() };
    let whole = annotator.sessions(6, 600, 80);
    let fitted = annotator.truth(&whole);
    // The first and the last third.
    let intervals = vec![(0.0, 200.0), (400.0, 600.0)];
    let inside = |z: &f64| intervals.iter().any(|(from, to)| (*from..=*to).contains(z));
    let part: Vec<_> = whole
        .iter()
        .map(|own| {
            let stamps = own.stamps().iter().copied().filter(inside).collect();
            let kept = own.clone().with_stamps(stamps).unwrap();
            kept.with_observed(intervals.clone()).unwrap()
        })
        .collect();
    let (all, some) = (diagnosed(&fitted, &whole), diagnosed(&fitted, &part));
    // Events are spread evenly, to the root of some 250.
    assert!((some.expected / all.expected - 2.0 / 3.0).abs() < 0.06, "{}", some.expected);
    assert!(!some.residuals.is_outside(), "{:?}", some.residuals);
    assert!(some.surplus.abs() < 3.0, "{}", some.surplus);
    // If the middle counted, a third of the stamps would be missing.
    let silent: Vec<_> = part.iter().map(|own| annotated_throughout(own)).collect();
    let silent = diagnosed(&fitted, &silent);
    assert!(silent.surplus < -3.0, "{}", silent.surplus);
    let remarks = silent.remarks("");
    assert!(remarks[0].starts_with("there are fewer stamps than the model expects"), "{remarks:?}");
}

/// The same stamps, as if somebody had annotated all the time.
fn annotated_throughout(session: &Session<'static>) -> Session<'static> {
    let features = session.features().to_f64().into_owned();
    let (times, stamps) = (session.times().to_vec(), session.stamps().to_vec());
    Session::new(session.name(), features, times, stamps).unwrap()
}

#[test]
fn subjects_are_told_beside_sessions() {
    let drawn: Vec<_> = Annotator::default().sessions(6, 400, 79);
    let subject = |k: usize| ["Ada", "Ben"][k % 2];
    let named: Vec<_> =
        drawn.into_iter().enumerate().map(|(k, own)| own.with_subject(subject(k))).collect();
    let found = diagnosed(&Annotator::default().truth(&named), &named);
    let told: Vec<_> = found.subjects.iter().map(|own| (own.name.as_str(), own.sessions)).collect();
    assert_eq!(told, [("Ada", 3), ("Ben", 3)]);
    let gaps: f64 = found.subjects.iter().map(|own| own.residuals.count).sum();
    assert_eq!(gaps, found.residuals.count);
}
