//! Defects that are planted.

use unjitter::diagnosis::{DiagnosisOptions, Remedy, diagnose};
use unjitter::model::noise::ShiftedGamma;
use unjitter::{Control, Model, Session};

use crate::{Annotator, diagnosed, fit};

#[test]
fn a_session_that_is_shifted_is_named_with_its_shift() {
    let later = |session: usize, _: f64| if session == 3 { 5.0 } else { 0.0 };
    let sessions = Annotator { later, ..Annotator::default() }.sessions(12, 400, 1);
    let found = diagnosed(&fit(&Model::default(), &sessions), &sessions);
    let worst = &found.sessions[0];
    assert_eq!(worst.session, "s3");
    assert!(worst.deviations.unwrap() < -3.0, "{worst:?}");
    let Some(Remedy::Shift { by, .. }) = worst.remedy else { panic!("{worst:?}") };
    // Twenty presses that scatter by one, on steps of an eighth.
    assert!((by + 5.0).abs() < 0.7, "{worst:?}");
    assert!(found.sessions[1..].iter().all(|own| !own.is_odd()), "{:?}", found.sessions[1]);
    let remarks = found.remarks(" s").join("\n");
    assert!(remarks.contains("session s3 does not fit: its stamps are 5"), "{remarks}");
    assert!(remarks.contains(" s later than those of the others"), "{remarks}");
}

#[test]
fn a_session_of_another_hand_is_named_with_its_spread() {
    let wider = |session: usize| if session == 2 { 2.0 } else { 1.0 };
    let sessions = Annotator { wider, ..Annotator::default() }.sessions(12, 1500, 2);
    let found = diagnosed(&fit(&Model::default(), &sessions), &sessions);
    let worst = &found.sessions[0];
    assert_eq!(worst.session, "s2");
    let Some(Remedy::Spread { factor, .. }) = worst.remedy else { panic!("{worst:?}") };
    // A standard deviation of some forty numbers is known to 11 %: within three of that.
    assert!((1.4..2.7).contains(&factor), "{worst:?}");
    let remarks = found.remarks("").join("\n");
    assert!(remarks.contains("session s2 does not fit: its presses scatter"), "{remarks}");
}

#[test]
fn a_session_in_another_unit_is_named_with_its_factor() {
    let mut sessions = Annotator::default().sessions(8, 400, 3);
    let stamps: Vec<f64> = sessions[5].stamps().iter().map(|z| 1000.0 * z).collect();
    let changed: Session<'_> = sessions[5].clone().with_stamps(stamps).unwrap();
    let fitted = fit(&Model::default(), &sessions);
    sessions[5] = changed;
    let found = diagnosed(&fitted, &sessions);
    let Some(Remedy::Unit { factor, .. }) = found.sessions[0].remedy else {
        panic!("{:?}", found.sessions[0])
    };
    assert_eq!((found.sessions[0].session.as_str(), factor), ("s5", 1e-3));
    let remarks = found.remarks("").join("\n");
    assert!(remarks.contains("s5 does not fit: its stamps are in another unit"), "{remarks}");
}

#[test]
fn a_session_that_nothing_would_mend_is_named_too() {
    let mut sessions = Annotator::default().sessions(24, 600, 7);
    let fitted = fit(&Model::default(), &sessions);
    // Presses at any time, whatever happens.
    let stamps = (0..40).map(|k| 15.0 * f64::from(k) + 4.0 * f64::from(k % 3)).collect();
    sessions[9] = sessions[9].clone().with_stamps(stamps).unwrap();
    let found = diagnosed(&fitted, &sessions);
    let worst = found.sessions.iter().find(|own| own.session == "s9").unwrap();
    assert!(worst.is_far_below && worst.residuals.is_outside(), "{worst:?}");
    assert!(found.sessions.iter().filter(|own| own.is_odd()).count() <= 2);
    let remarks = found.remarks("").join("\n");
    assert!(remarks.contains("session s9 does not fit: "), "{remarks}");
}

#[test]
fn presses_that_get_later_are_noticed() {
    let later = |_: usize, place: f64| 2.0 * place;
    let sessions = Annotator { later, ..Annotator::default() }.sessions(10, 500, 4);
    let found = diagnosed(&fit(&Model::default(), &sessions), &sessions);
    let slope = found.over_session.unwrap();
    assert!(slope.is_clear(), "{slope:?}");
    // Posterior delays lean to the mean, so the slope comes out smaller, by a fifth at most here.
    let apart = (slope.slope - 2.0).abs();
    assert!(apart < 3.0 * slope.standard_error + 0.4, "{slope:?}");
    let remarks = found.remarks(" s").join("\n");
    assert!(remarks.contains("presses get later by "), "{remarks}");
    assert!(remarks.contains("from the beginning to the end of a session"), "{remarks}");
}

#[test]
fn presses_that_get_earlier_with_the_hour_are_noticed() {
    // Every session begins an hour after the one before, from half past five on.
    let later = |session: usize, _: f64| -0.3 * session as f64;
    let sessions = Annotator { later, ..Annotator::default() }.sessions(12, 400, 5);
    let hours: Vec<Option<f64>> = (0..12).map(|k| Some(5.5 + f64::from(k))).collect();
    let options = DiagnosisOptions { hours, priors: false, ..DiagnosisOptions::default() };
    let fitted = fit(&Model::default(), &sessions);
    let found = diagnose(&fitted, &sessions, &options, Control::default()).unwrap();
    let slope = found.over_day.unwrap();
    assert!(slope.is_clear() && (slope.slope + 0.3).abs() < 0.1, "{slope:?}");
    assert!(found.points.iter().all(|own| (5.5..17.0).contains(&own.hour.unwrap())));
    let remarks = found.remarks(" s").join("\n");
    assert!(remarks.contains("earlier by 0.") && remarks.contains("hour of the day"), "{remarks}");
}

#[test]
fn another_noise_model_is_noticed_and_the_right_one_fits_better() {
    // Never early, and mostly prompt: far from a bell.
    let noise = ShiftedGamma::at(-1.0, 1.2, 1.5).unwrap();
    let sessions = Annotator { noise, ..Annotator::default() }.sessions(12, 900, 6);
    let fitted = fit(&Model::default(), &sessions);
    let options = DiagnosisOptions { priors: false, families: true, ..DiagnosisOptions::default() };
    let found = diagnose(&fitted, &sessions, &options, Control::default()).unwrap();
    assert!(found.delays.is_outside(), "{:?}", found.delays);
    let families = found.families.as_ref().unwrap();
    assert_eq!(families[0].noise, "shifted_gamma");
    assert!(families[0].is_better(), "{families:?}");
    let remarks = found.remarks("").join("\n");
    assert!(remarks.contains("delays are not distributed as was learned"), "{remarks}");
    assert!(remarks.contains("shifted_gamma noise fits better than gaussian noise"), "{remarks}");
}
