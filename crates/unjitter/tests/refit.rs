//! A fit that goes on after more is known of its sessions, and all that it holds possible of a stamp.

mod common;

use std::sync::atomic::AtomicBool;

use common::{Drawn, Truth};
use ndarray::ArrayView1;
use unjitter::{AlignOptions, Control, Counts, Error, FitOptions, Model, Noise, Session};

fn linear(row: ArrayView1<'_, f64>) -> f64 {
    -5.0 + 3.0 * row[0] - 2.0 * row[1]
}

fn drawn() -> Vec<Drawn> {
    let rates: [(&str, &[f64]); 2] = [("false_rate", &[0.005]), ("hit_rate", &[0.9])];
    let truth = Truth {
        log_odds: &linear,
        features: 2,
        counts: Counts::Bernoulli.with(&rates).unwrap(),
        noise: Noise::Gaussian.with(&[("delay", &[0.6]), ("spread", &[0.7])]).unwrap(),
    };
    truth.draw_many(5, 300, 3)
}

fn sessions(drawn: &[Drawn]) -> Vec<Session<'static>> {
    drawn.iter().map(|one| one.session.clone()).collect()
}

#[test]
fn a_fit_of_the_same_sessions_stays_where_it_is() {
    let sessions = sessions(&drawn());
    let options = FitOptions::default();
    let fitted = Model::default().fit(&sessions, &options, Control::default()).unwrap();
    let again = fitted.refitted(&sessions, &options, Control::default()).unwrap();
    let (before, after) = (fitted.learned(), again.learned());
    // The optimiser stops within its tolerance of the optimum.
    assert!((before.delay - after.delay).abs() < 0.01, "{before:?} {after:?}");
    assert!((before.spread / after.spread).ln().abs() < 0.03, "{before:?} {after:?}");
    assert_eq!(again.modes().len(), 1);
    assert!(again.uncertainty().is_some() && again.outcome().converged);
}

#[test]
fn labels_move_a_fit_towards_the_truth() {
    let drawn = drawn();
    let without = sessions(&drawn);
    let options = FitOptions { restarts: 0, ..FitOptions::default() };
    let fitted = Model::default().fit(&without, &options, Control::default()).unwrap();
    let labelled: Vec<Session<'static>> = drawn
        .iter()
        .map(|one| {
            let labels = one.labels.iter().map(|&label| Some(label)).collect();
            one.session.clone().with_labels(labels).unwrap()
        })
        .collect();
    let again = fitted.refitted(&labelled, &options, Control::default()).unwrap();
    let evidence = |fitted: &unjitter::Fitted| -> f64 {
        labelled.iter().map(|session| fitted.log_evidence(session).unwrap()).sum()
    };
    assert!(evidence(&again) > evidence(&fitted), "{} {}", evidence(&again), evidence(&fitted));
    // As one that knew them from the beginning.
    let afresh = Model::default().fit(&labelled, &options, Control::default()).unwrap();
    assert!((again.learned().delay - afresh.learned().delay).abs() < 0.05);
}

#[test]
fn a_fit_that_is_stopped_gives_nothing() {
    let sessions = sessions(&drawn());
    let options = FitOptions { restarts: 0, ..FitOptions::default() };
    let fitted = Model::default().fit(&sessions, &options, Control::default()).unwrap();
    let stop = AtomicBool::new(true);
    let control = Control { stop: Some(&stop), watch: None };
    assert!(matches!(fitted.refitted(&sessions, &options, control), Err(Error::Cancelled)));
}

#[test]
fn candidates_are_all_that_a_stamp_may_belong_to() {
    let sessions = sessions(&drawn());
    let options = FitOptions { restarts: 0, ..FitOptions::default() };
    let fitted = Model::default().fit(&sessions, &options, Control::default()).unwrap();
    for draws in [0, 8] {
        let how = AlignOptions { draws, ..AlignOptions::default() };
        let (aligned, candidates) = fitted.align_among(&sessions[0], &how, 0.0).unwrap();
        assert_eq!(aligned, fitted.align_with(&sessions[0], &how).unwrap());
        assert_eq!(candidates.len(), aligned.stamps.len());
        for (stamp, own) in aligned.stamps.iter().zip(&candidates) {
            let best = own.iter().max_by(|a, b| a.p.total_cmp(&b.p)).unwrap();
            assert_eq!((best.instance, best.p), (stamp.instance, stamp.p_instance));
            let all: f64 = own.iter().map(|one| one.p).sum();
            // All but what came from nowhere, which is spurious.
            assert!(all <= 1.0 + 1e-9 && all >= 1.0 - stamp.p_spurious - 1e-9, "{all}");
            assert!(own.is_sorted_by_key(|one| one.instance));
        }
        let (_, few) = fitted.align_among(&sessions[0], &how, 0.1).unwrap();
        let least = few.iter().flatten().map(|one| one.p).fold(1.0, f64::min);
        assert!(least >= 0.1 && few.iter().flatten().count() < candidates.iter().flatten().count());
    }
}

#[test]
fn stamps_are_left_out_with_their_annotators_and_widths() {
    let features = unjitter::Features::new(vec![0.0; 4], 4, 1).unwrap();
    let times = vec![0.0, 1.0, 2.0, 3.0];
    let session = Session::new("walk", features, times, vec![0.5, 1.5, 2.5]).unwrap();
    let names = ["Ada", "Ben", "Ben"].map(str::to_owned);
    let session = session.with_widths(vec![0.1, 0.0, 0.3]).unwrap();
    let session = session.with_annotators(&names, &[]).unwrap();
    let kept = session.keeping_stamps(|stamp| stamp != 1);
    assert_eq!(kept.stamps(), [0.5, 2.5]);
    assert_eq!([kept.width_of(0), kept.width_of(1)], [0.1, 0.3]);
    assert_eq!([kept.annotator_of(0), kept.annotator_of(1)], [Some(0), Some(1)]);
    assert_eq!(kept.annotators().len(), 2);
}
