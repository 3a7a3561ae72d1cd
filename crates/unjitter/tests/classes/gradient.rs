//! The objective with classes against central differences, and its bits with one.

use unjitter::inference::Order;
use unjitter::labels::Labels;
use unjitter::learning::{Objective, Problem};
use unjitter::math::Random;
use unjitter::model::{Factor, Varying};
use unjitter::{Activation, ClassifierSpec, Control, Counts, Model, Session};

use crate::drawn::{Plan, labels, sessions};

/// Two sessions of two people; in the second some labels are known, some of them where nobody watched.
fn people() -> Vec<Session<'static>> {
    let plan = Plan { instances: 60, run: 2, people: vec!["ann", "bob"], ..Plan::usual(2) };
    let drawn = plan.draw(5);
    let mut known = labels(&drawn[1].truth);
    known.iter_mut().enumerate().filter(|(i, _)| i % 5 > 1).for_each(|(_, label)| *label = None);
    let mut sessions = sessions(&drawn);
    let last = sessions.remove(1).with_class_labels(&known).unwrap();
    let last = last.keeping_stamps(|_| true);
    let inside: Vec<bool> = last.stamps().iter().map(|&z| z <= 45.5).collect();
    let last = last.keeping_stamps(|l| inside[l]).with_observed(vec![(-9.0, 45.5)]).unwrap();
    sessions.push(last);
    sessions
}

#[test]
fn derivatives_are_those_of_the_value() {
    const STEP: f64 = 1e-4;
    let sessions = people();
    let network = ClassifierSpec::Mlp { hidden: vec![2], activation: Activation::Tanh };
    let kernel = ClassifierSpec::Kernel { length_scale: None, landmarks: Some(5) };
    let cases = [
        (ClassifierSpec::Logistic, Labels::Independent, Order::Free, Counts::Bernoulli),
        (network, Labels::Independent, Order::Ordered, Counts::Poisson),
        (kernel, Labels::Chain, Order::Free, Counts::Poisson),
        (ClassifierSpec::Logistic, Labels::Chain, Order::Ordered, Counts::Bernoulli),
    ];
    for (classifier, labels, alignment, counts) in cases {
        let what = format!("{classifier:?} {labels:?} {alignment:?} {counts:?}");
        let mut model = Model { classifier, labels, alignment, counts, ..Model::default() };
        for what in [Varying::Delay, Varying::Spread, Varying::MissRate, Varying::BackgroundRate] {
            model = model.varying(what, Factor::Class);
        }
        let model = model.varying(Varying::MissRate, Factor::Annotator);
        let problem = Problem::new(&model, &sessions, 0, Control::default()).unwrap();
        let objective = problem.objective().unwrap();
        let mut at = problem.start(&objective, 0, 0).unwrap();
        let mut random = Random::new(1);
        at.iter_mut().for_each(|x| *x += 0.2 * random.normal());
        let mut gradient = vec![0.0; at.len()];
        assert!(objective.evaluate(&at, &mut gradient).is_finite(), "{what}");
        for k in 0..at.len() {
            let beside = |step: f64| {
                let mut near = at.clone();
                near[k] += step;
                objective.evaluate(&near, &mut vec![0.0; at.len()])
            };
            let want = (beside(STEP) - beside(-STEP)) / (2.0 * STEP);
            // Messages settle to 1e-6 of a share; second differences of values of order 100.
            let off = (gradient[k] - want).abs() / (1.0 + want.abs());
            assert!(off < 2e-4, "{what} number {k}: {} {want}", gradient[k]);
        }
    }
}

#[test]
fn one_class_has_the_bits_of_none() {
    let plan = Plan { classes: 1, confusion: vec![vec![1.0]], ..Plan::usual(2) };
    for labels in [Labels::Independent, Labels::Chain] {
        let model = Model { labels, ..Model::default() };
        let named = sessions(&plan.draw(3));
        let bare = |own: &Session<'static>| {
            let times = own.times().to_vec();
            Session::new(
                own.name(),
                own.features().to_f64().into_owned(),
                times,
                own.stamps().to_vec(),
            )
            .unwrap()
        };
        let plain: Vec<Session<'static>> = named.iter().map(bare).collect();
        let values = [&named, &plain].map(|sessions| {
            let problem = Problem::new(&model, sessions, 0, Control::default()).unwrap();
            let objective = problem.objective().unwrap();
            let at = problem.start(&objective, 1, 0).unwrap();
            let mut gradient = vec![0.0; at.len()];
            (objective.evaluate(&at, &mut gradient), gradient)
        });
        assert_eq!(values[0], values[1], "{labels:?}");
    }
}
