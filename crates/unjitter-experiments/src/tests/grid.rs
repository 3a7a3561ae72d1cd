//! The grid of a sweep, and its identical cells.

use std::collections::BTreeSet;

use unjitter::baselines::{AlignmentLearner, Learner};
use unjitter::inference::Order;
use unjitter::labels::Labels;
use unjitter::{FitOptions, Model};

use super::{TINY, dataset, parse};
use crate::plan::{cells, draw, settings};

#[test]
fn a_sweep_moves_its_setting_and_no_other() {
    let table = [
        ("spread", "[0.5, 2.0]"),
        ("delay", "[0.5, 2.0]"),
        ("offset_spread", "[0.5, 2.0]"),
        ("pressed", "[0.5, 0.9]"),
        ("extra", "[0.5, 2.0]"),
    ];
    let plain = parse(TINY).unwrap().annotator;
    for (over, values) in table {
        let text = TINY.replacen("spread", over, 1).replacen("[0.5, 2.0]", values, 1);
        let text = text.replacen("values = [1.0]", "", 1);
        let found = settings(&parse(&text).unwrap());
        assert_eq!(found.len(), 2, "{over}");
        let a = &found[0].annotator;
        let moved = [
            ("spread", a.spread != plain.spread),
            ("delay", a.delay != plain.delay),
            ("offset_spread", a.offset_spread != plain.offset_spread),
            ("pressed", a.pressed != plain.pressed),
            ("extra", a.extra != plain.extra),
        ];
        for (name, has_moved) in moved {
            assert_eq!(has_moved, name == over, "{name} under a sweep of {over}");
        }
    }
}

#[test]
fn both_ends_get_sloppier_together_if_both_are_pressed() {
    let ends = "[annotator]\nends = { delay = 0.0, spread = 1.0 }\n\n[sweep]";
    let spec = parse(&TINY.replacen("[sweep]", ends, 1)).unwrap();
    let found = settings(&spec);
    let spreads: Vec<(f64, f64)> = found
        .iter()
        .map(|own| (own.annotator.spread, own.annotator.ends.unwrap().spread))
        .collect();
    assert_eq!(spreads, [(0.5, 0.5), (2.0, 2.0)]);
    for drawn in draw(&spec, &dataset(4), &found).unwrap() {
        assert!(
            drawn.recordings.iter().all(|one| one.session.has_ends()),
            "setting {}",
            drawn.setting
        );
    }
}

#[test]
fn learners_blind_to_stamps_have_one_cell() {
    let text = TINY.replacen("seeds = [0]", "seeds = [0, 1]", 1);
    let (spec, data) = (parse(&text).unwrap(), dataset(4));
    let cells = cells(&spec, &data, &settings(&spec), "v").unwrap();
    assert_eq!(cells.len(), 2 * 2 * 2);
    let keys = |learner: usize| -> BTreeSet<&str> {
        cells.iter().filter(|c| c.learner == learner).map(|c| c.key.as_str()).collect()
    };
    assert_eq!((keys(0).len(), keys(1).len()), (4, 1));
}

#[test]
fn keys_change_with_whatever_changes_the_numbers() {
    let (spec, data) = (parse(TINY).unwrap(), dataset(4));
    let key = |text: &str, sessions: usize, version: &str| {
        let spec = parse(text).unwrap();
        cells(&spec, &dataset(sessions), &settings(&spec), version).unwrap()[0].key.clone()
    };
    let own = cells(&spec, &data, &settings(&spec), "v").unwrap()[0].key.clone();
    assert_eq!(key(TINY, 4, "v"), own);
    assert_eq!(key(&TINY.replace("tiny", "other"), 4, "v"), own, "names decide nothing");
    assert_ne!(key(TINY, 5, "v"), own);
    assert_ne!(key(TINY, 4, "w"), own);
    assert_ne!(key(&TINY.replace("0.5, 2.0", "0.6, 2.0"), 4, "v"), own);
    assert_ne!(key(&TINY.replace("restarts = 0", "restarts = 1"), 4, "v"), own);
}

#[test]
fn components_change_our_learners_only_and_one_is_a_gaussian() {
    let text = TINY.replacen("\"spread\"", "\"components\"", 1).replacen("0.5, 2.0", "1, 3", 1);
    let (spec, data) = (parse(&text).unwrap(), dataset(4));
    let cells = cells(&spec, &data, &settings(&spec), "v").unwrap();
    let options = |k: usize| cells[k].contender.candidates[0].options().to_string();
    assert!(options(0).contains(r#""noise":{"kind":"gaussian"}"#), "{}", options(0));
    assert!(options(2).contains(r#""noise":{"components":3,"kind":"gaussian_mixture"}"#));
    assert_eq!(options(1), options(3));
    // The same stamps at every setting.
    let drawn = draw(&spec, &data, &settings(&spec)).unwrap();
    assert_eq!(drawn[0].recordings[2].session, drawn[1].recordings[2].session);
}

#[test]
fn learners_are_named_after_the_model_and_the_order_they_have() {
    let found = |said: &str| {
        let text = TINY.replacen("restarts = 0", said, 1).replacen("compare = \"LR-M\"", "", 1);
        let (spec, data) = (parse(&text).unwrap(), dataset(4));
        let cells = cells(&spec, &data, &settings(&spec), "v").unwrap();
        (spec.learners[0].name(), cells[0].contender.candidates[0].options())
    };
    let (ours, paper) = (Model::default(), Model::paper());
    let chain = Model { labels: Labels::Chain, ..Model::default() };
    let table = [
        ("", "LR-M", Order::Free, &ours),
        ("model = \"library\"", "LR-M", Order::Free, &ours),
        ("alignment = \"ordered\"", "LR-M (in order)", Order::Ordered, &ours),
        ("model = \"paper\"", "LR-M (paper)", Order::Ordered, &paper),
        ("labels = \"chain\"", "LR-M (chain)", Order::Free, &chain),
        ("model = \"paper\"\nalignment = \"free\"", "LR-M (paper, any order)", Order::Free, &paper),
    ];
    for (said, name, alignment, model) in table {
        let learner = AlignmentLearner {
            model: Model { alignment, ..model.clone() },
            fit: FitOptions { restarts: 2, ..FitOptions::default() },
        };
        assert_eq!(found(said), (name.to_owned(), learner.options()), "{said}");
    }
}
