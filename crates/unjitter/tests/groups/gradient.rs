//! The objective with groups against central differences.

use unjitter::learning::{Objective, Problem};
use unjitter::math::Random;
use unjitter::model::{Factor, Varying};
use unjitter::{Control, Counts, Model, Noise, Session};

use crate::drawn::{Recording, USUAL};

/// Two sessions: one stamped by two people, one by one of them, each with a device and a subject.
fn sessions() -> Vec<Session<'static>> {
    let mut random = Random::new(4);
    let mut session = |name: &str, annotators: &[&str]| {
        let recording = Recording::draw(name.to_owned(), 80, &mut random);
        let mut stamped: Vec<(f64, String)> = Vec::new();
        for &annotator in annotators {
            let own = recording.stamps(USUAL, (0.4, 0.004), &mut random);
            stamped.extend(own.into_iter().map(|z| (z, annotator.to_owned())));
        }
        stamped.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (stamps, annotators): (Vec<f64>, Vec<String>) = stamped.into_iter().unzip();
        let session = recording.session(stamps).with_annotators(&annotators, &[]).unwrap();
        session.with_subject(name).with_device(format!("phone of {name}"))
    };
    vec![session("one", &["ann", "bob"]), session("two", &["bob"])]
}

#[test]
fn derivatives_in_deviations_are_those_of_the_value() {
    const STEP: f64 = 1e-4;
    let sessions = sessions();
    let varies = [
        (Varying::Delay, Factor::Annotator),
        (Varying::Offset, Factor::Session),
        (Varying::Drift, Factor::Clock),
        (Varying::Spread, Factor::Annotator),
        (Varying::MissRate, Factor::Subject),
        (Varying::FalseRate, Factor::Device),
        (Varying::BackgroundRate, Factor::Annotator),
    ];
    for noise in [Noise::Gaussian, Noise::StudentT, Noise::GaussianMixture { components: 2 }] {
        let mut model = Model { noise, counts: Counts::Bernoulli, ..Model::default() };
        for (what, by) in varies {
            model = model.varying(what, by);
        }
        let problem = Problem::new(&model, &sessions, 0, Control::default()).unwrap();
        let objective = problem.objective().unwrap();
        let mut at = problem.start(&objective, 0, 0).unwrap();
        let mut random = Random::new(1);
        at.iter_mut().for_each(|x| *x += 0.1 * random.normal());
        // A drift of 0.1 over 80 spacings would be far from all stamps.
        let drifts = objective.dim() - 12;
        assert_eq!(problem.layout().parameter("groups.drift_by_clock").unwrap().range.len(), 2);
        at[drifts..].iter_mut().for_each(|x| *x *= 0.05);
        let mut gradient = vec![0.0; at.len()];
        let value = objective.evaluate(&at, &mut gradient);
        assert!(value.is_finite());
        for k in 0..at.len() {
            let beside = |step: f64| {
                let mut near = at.clone();
                near[k] += step;
                objective.evaluate(&near, &mut vec![0.0; at.len()])
            };
            let want = (beside(STEP) - beside(-STEP)) / (2.0 * STEP);
            // Messages settle to 1e-7; second differences of values of order 100.
            let allowed = 2e-4 * (1.0 + want.abs());
            assert!((gradient[k] - want).abs() < allowed, "number {k}: {} {want}", gradient[k]);
        }
    }
}
