//! Exact sums: against enumeration, whatever streams are about, and cut into stretches.

use rayon::ThreadPoolBuilder;

use super::super::riders::Riders;
use super::super::stretch::{Stretch, stretches};
use super::*;

#[test]
fn few_open_windows_are_summed_exactly() {
    let mut exact = 0;
    for row in errors::rows().into_iter().filter(|row| row.order == Order::Free) {
        for seed in 0..4 {
            let case = row.case(seed);
            let stamps: usize = case.heard.iter().flat_map(|own| &own.stamps).map(Vec::len).sum();
            if (case.classes + 1) << stamps <= Effort::USUAL.most_states {
                exact += 1;
                for (error, of) in
                    errors(&case, Effort::USUAL).iter().zip(["Z", "y", "w", "missed"])
                {
                    // Windows leave out 1e-10 of the background for each stamp; all else is rounding.
                    assert!(*error < 1e-8, "{row:?} {seed}: {of} off by {error}");
                }
            }
        }
    }
    assert_eq!(exact, 4 * 30);
}

/// About two dozen stamps, here and there some together, along 3000 instances.
fn long(seed: u64) -> Case {
    let mut case = Case::long(3000, Variable::Onset, seed);
    case.heard[0].order = Order::Free;
    case
}

fn slopes(case: &Case, in_parallel: bool) -> Summed {
    let chain = case.chain().in_parallel(in_parallel);
    case.show(|scene| {
        let streams = scene.streams.iter().map(|own| Stream {
            variable: own.variable,
            habits: own.habits.clone(),
            order: own.order,
            sources: own
                .sources
                .iter()
                .map(|own| Source { stamped: own.stamped, recorded: own.recorded.clone() })
                .collect(),
        });
        let scene = Scene { chain: &chain, known: scene.known, streams: streams.collect() };
        scene.sum(Wanted::Slopes, None, &mut Spare::default()).unwrap()
    })
}

#[test]
fn slopes_are_the_posterior_less_the_prior() {
    for seed in 0..3 {
        let case = long(seed);
        let (slopes, posterior) = (slopes(&case, false), case.summed());
        assert_eq!(slopes.log_evidence, posterior.log_evidence);
        let prior = case.chain().presence();
        for ((slope, after), before) in slopes.presence.iter().zip(&posterior.presence).zip(prior) {
            assert!((slope - (after - before)).abs() < 1e-12); // both ways along the chain
        }
        let events = &posterior.streams[0].events;
        for k in 0..2 {
            let all: f64 = events.iter().map(|own| own[k]).sum();
            assert!((slopes.streams[0].counts[0][k] - all).abs() < 1e-9); // thousands of terms below one
        }
    }
}

#[test]
fn slopes_in_rates_and_scores_match_central_differences() {
    let case = long(5);
    let at = |change: &dyn Fn(&mut Case)| {
        let mut case = case.clone();
        change(&mut case);
        case.summed().log_evidence
    };
    let found = slopes(&case, false);
    let step = 1e-4;
    let difference = |change: &dyn Fn(&mut Case, f64)| {
        (at(&|case| change(case, step)) - at(&|case| change(case, -step))) / (2.0 * step)
    };
    let onset = difference(&|case, by| case.rates.as_mut().unwrap().onset *= by.exp());
    let offset = difference(&|case, by| case.rates.as_mut().unwrap().offset *= by.exp());
    // The square of the step times third derivatives of about a hundred.
    assert!((found.d_rates[0] - onset).abs() < 1e-5, "{} {onset}", found.d_rates[0]);
    assert!((found.d_rates[1] - offset).abs() < 1e-5, "{} {offset}", found.d_rates[1]);
    for i in [0, 1, 511, 512, 1500, 2999] {
        let score = difference(&|case, by| case.scores[i] += by);
        assert!((found.presence[i] - score).abs() < 1e-7, "{i}: {} {score}", found.presence[i]);
    }
}

#[test]
fn threads_change_no_bit_of_a_sum() {
    let case = long(7);
    let alone = slopes(&case, false);
    for threads in [1, 3] {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let found = pool.install(|| slopes(&case, true));
        assert_eq!(found.log_evidence, alone.log_evidence);
        assert_eq!((found.presence, found.d_rates), (alone.presence.clone(), alone.d_rates));
    }
}

#[test]
fn stretches_hold_every_edge_and_rider_once() {
    for (seed, most_states) in [(0, 512), (1, 4), (2, 2), (3, 0)] {
        let case = long(seed);
        let chain = case.chain();
        let riders = case.show(Riders::place);
        let all = stretches(&riders, &chain, most_states);
        let (mut edge, mut rider) = (0, 0);
        for Stretch { edges, riders: own, states } in &all {
            assert_eq!((edges.start, own.start), (edge, rider));
            (edge, rider) = (edges.end, own.end);
            let mut open = vec![0_u32; edges.len()];
            for rider in &riders.riders[own.clone()] {
                assert!(edges.start <= rider.edges.start && rider.edges.end <= edges.end);
                rider.edges.clone().for_each(|edge| open[edge - edges.start] += 1);
            }
            let by_edge = open.iter().map(|open| 2 << open);
            let is_crowded = by_edge.clone().max() > Some(most_states);
            // Where nothing is open there is no crowd, however few states are allowed.
            let counted = (own.is_empty() || !is_crowded).then(|| by_edge.sum());
            assert_eq!(*states, counted, "{edges:?}, {most_states}");
        }
        assert_eq!((edge, rider), (3001, riders.riders.len()));
        assert!(all.len() > 3, "{} stretches", all.len());
        assert_eq!(all.iter().any(|own| own.states.is_none()), most_states < 512);
    }
}
