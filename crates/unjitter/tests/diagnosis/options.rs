//! Questions that are asked on request, and mistakes.

use std::sync::atomic::AtomicBool;

use unjitter::diagnosis::{DiagnosisOptions, diagnose};
use unjitter::prior::InverseGamma;
use unjitter::{Control, Error, Model, Priors, Session};

use crate::{Annotator, fit};

#[test]
fn noise_that_is_right_is_not_left() {
    let sessions = Annotator::default().sessions(6, 500, 11);
    let fitted = fit(&Model::default(), &sessions);
    let options = DiagnosisOptions { families: true, ..DiagnosisOptions::default() };
    let told = std::sync::Mutex::new(Vec::new());
    let watch = |progress: unjitter::Progress| told.lock().unwrap().push(progress.done);
    let control = Control { watch: Some(&watch), stop: None };
    let found = diagnose(&fitted, &sessions, &options, control).unwrap();
    let families = found.families.as_ref().unwrap();
    assert!(families.iter().all(|own| !own.is_better()), "{families:?}");
    let names: Vec<&str> = families.iter().map(|own| own.noise.as_str()).collect();
    assert!(names.contains(&"student_t") && !names.contains(&"gaussian"), "{names:?}");
    assert!(!names.contains(&"uniform"), "its settings have no defaults");
    assert_eq!(*told.lock().unwrap(), [1, 2, 3, 4, 5]);
    let remarks = found.remarks("").join("\n");
    assert!(remarks.contains("gaussian noise f") || remarks.contains("cannot tell"), "{remarks}");
    // One session cannot be left out.
    let found = diagnose(&fitted, &sessions[..1], &options, Control::default()).unwrap();
    assert_eq!(found.families, None);
}

/// The most that a fit moves by, and the parameters that move by more than a standard error.
fn moved(model: &Model, sessions: &[Session<'_>]) -> (f64, Vec<String>) {
    let fitted = fit(model, sessions);
    let options = DiagnosisOptions::default();
    let found = diagnose(&fitted, sessions, &options, Control::default()).unwrap();
    let priors = found.priors.unwrap();
    let names = priors.iter().flat_map(|own| own.moved.iter().map(|one| one.parameter.clone()));
    (priors.iter().map(|own| own.most).fold(0.0, f64::max), names.collect())
}

#[test]
fn priors_matter_where_they_contradict_the_stamps() {
    // As strong as the stamps, for a spread three times as wide as theirs.
    let few = Annotator::default().sessions(5, 400, 12);
    let variance = InverseGamma { shape: 30.0, scale: 300.0 };
    let firm = Model { priors: Priors { variance, ..Priors::default() }, ..Model::default() };
    let (most, names) = moved(&firm, &few);
    assert!(most > 1.0 && names.contains(&"noise.spread".to_owned()), "{most} {names:?}");
    let many = Annotator::default().sessions(10, 600, 13);
    let (most, names) = moved(&Model::default(), &many);
    assert!(!names.contains(&"noise.spread".to_owned()), "{most} {names:?}");
}

#[test]
fn a_prior_of_twice_the_strength_moves_a_fit_as_far_as_fitting_with_it() {
    // An inverse Gamma of twice the strength is another inverse Gamma: (v^(−a−1)·e^(−b/v))².
    let sessions = Annotator::default().sessions(4, 400, 14);
    let with = |shape: f64, scale: f64| {
        let priors = Priors { variance: InverseGamma { shape, scale }, ..Priors::default() };
        Model { priors, ..Model::default() }
    };
    let fitted = fit(&with(9.0, 20.0), &sessions);
    let found =
        diagnose(&fitted, &sessions, &DiagnosisOptions::default(), Control::default()).unwrap();
    let spread = |model: &Model| fit(model, &sessions).parameter("noise.spread").unwrap()[0];
    let (here, there) = (spread(&with(9.0, 20.0)), spread(&with(19.0, 40.0)));
    let twice = |own: &&unjitter::diagnosis::PriorSensitivity| {
        own.prior == "noise.spread" && own.strength == 2.0
    };
    let priors = found.priors.unwrap();
    let told = priors.iter().find(twice).unwrap();
    let error = fitted.learned_estimates(0.95).unwrap().spread.unwrap().standard_error;
    let wanted = (there - here) / error;
    assert!(wanted > 0.3, "the prior pulls: {wanted}");
    // Two Newton steps, and an error that is measured on the scale of logarithms.
    assert!((told.most / wanted - 1.0).abs() < 0.1, "{told:?} {wanted}");
}

#[test]
fn mistakes_are_named() {
    let sessions = Annotator::default().sessions(3, 200, 15);
    let fitted = fit(&Model::default(), &sessions);
    let ask = |sessions: &[Session<'_>], options: &DiagnosisOptions| {
        diagnose(&fitted, sessions, options, Control::default())
    };
    let options = DiagnosisOptions::default();
    assert!(matches!(ask(&[], &options), Err(Error::NoSessions)));
    let hours = DiagnosisOptions { hours: vec![None], ..options.clone() };
    let error = ask(&sessions, &hours).unwrap_err().to_string();
    assert!(error.contains("hours") && error.contains("one for each session"), "{error}");
    let features = ndarray::Array2::<f64>::zeros((3, 5));
    let other = Session::new("other", features, vec![0.0, 1.0, 2.0], vec![1.0]).unwrap();
    let error = ask(&[other], &options).unwrap_err().to_string();
    assert!(error.contains("other") && error.contains('5'), "{error}");
    let stop = AtomicBool::new(true);
    let stopped = Control { stop: Some(&stop), watch: None };
    let stopped = diagnose(&fitted, &sessions, &options, stopped);
    assert!(matches!(stopped, Err(Error::Cancelled)));
}

#[test]
fn sessions_without_stamps_or_time_are_taken() {
    let mut sessions = Annotator::default().sessions(3, 200, 16);
    let fitted = fit(&Model::default(), &sessions);
    let silent = sessions[0].clone().with_stamps(Vec::new()).unwrap();
    let features = ndarray::Array2::<f64>::zeros((1, 2));
    let moment = Session::new("moment", features, vec![7.0], vec![7.5]).unwrap();
    sessions[0] = silent;
    sessions.push(moment);
    let options = DiagnosisOptions::default();
    let found = diagnose(&fitted, &sessions, &options, Control::default()).unwrap();
    let silent = found.sessions.iter().find(|own| own.session == "s0").unwrap();
    assert!(silent.stamps == 0 && !silent.residuals.is_outside(), "{silent:?}");
    assert!(silent.log_evidence_per_stamp.is_none() && silent.expected > 5.0, "{silent:?}");
    let all: Vec<Session<'_>> =
        sessions.iter().map(|own| own.clone().with_stamps(Vec::new()).unwrap()).collect();
    let quiet = DiagnosisOptions { priors: false, ..options.clone() };
    let found = diagnose(&fitted, &all, &quiet, Control::default()).unwrap();
    assert!(found.gaps.is_empty() && found.over_session.is_none(), "{found:?}");
    let refused = diagnose(&fitted, &all, &options, Control::default());
    assert!(matches!(refused, Err(Error::NoStamps { .. })));
}
