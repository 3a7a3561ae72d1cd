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
    let case = Case::long(30_000, Variable::Onset, 7);
    let alone = slopes(&case, false);
    for threads in [1, 3] {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let found = pool.install(|| slopes(&case, true));
        assert_eq!(found.log_evidence, alone.log_evidence);
        assert_eq!((found.presence, found.d_rates), (alone.presence.clone(), alone.d_rates));
    }
}

/// Somewhere cut every few edges, where stamps are open, or not at all.
fn cut_and_whole(case: &Case, long: usize) -> [Summed; 2] {
    [long, 1_000_000].map(|long| case.summed_with(Effort { long, ..Effort::USUAL }))
}

#[test]
fn cuts_leave_no_trace() {
    use Variable::{End, Onset, Presence};
    let mut cases = vec![long(11)];
    // Long sessions with streams and classes that enumeration has no time for.
    for (classes, about) in
        [(1, vec![Onset, End]), (2, vec![Onset]), (3, vec![Presence]), (2, vec![End, Presence])]
    {
        let about: Vec<(Variable, Order)> =
            about.into_iter().map(|own| (own, Order::Free)).collect();
        let mut case = Case::draw(classes, &about, 5, 21);
        let (times, scores) = (case.times.clone(), case.scores.clone());
        let period = times[times.len() - 1] + 0.7;
        for k in 1..12 {
            case.times.extend(times.iter().map(|time| time + period * f64::from(k)));
            case.scores.extend(scores.iter().rev());
        }
        // Two instances at a time, and some that are known.
        case.times[3] = case.times[2];
        case.known = vec![None; case.times.len()];
        (case.known[20], case.known[41]) = (Some(0), Some(classes));
        for stamps in case.heard.iter_mut().flat_map(|own| &mut own.stamps) {
            let drawn: Vec<f64> = stamps.iter().map(|own| own.time).collect();
            let later = |k: usize| drawn.iter().map(move |time| time + 3.0 * period * k as f64);
            *stamps = Stamp::at(&(0..4).flat_map(later).collect::<Vec<f64>>());
        }
        cases.extend([case.clone(), case.sharing()]);
    }
    for (number, case) in cases.iter().enumerate() {
        for every in [3, 10] {
            let [cut, whole] = cut_and_whole(case, every);
            let off = (cut.log_evidence - whole.log_evidence).abs();
            // Rows are one where they differ by 1e-14 of themselves.
            assert!(off < 1e-10, "{number} {every}: {off}");
            for (one, other) in cut.presence.iter().zip(&whole.presence) {
                assert!((one - other).abs() < 1e-11, "{number} {every}: {one} {other}");
            }
            (0..2).for_each(|k| assert!((cut.d_rates[k] - whole.d_rates[k]).abs() < 1e-9));
            for (one, other) in cut.streams.iter().zip(&whole.streams) {
                for (one, other) in one.stamps.iter().flatten().zip(other.stamps.iter().flatten()) {
                    let both = cut.shares(one).iter().zip(whole.shares(other));
                    both.for_each(|(one, other)| assert!((one - other).abs() < 1e-11));
                    let both = cut.classes(one).iter().zip(whole.classes(other));
                    both.for_each(|(one, other)| assert!((one - other).abs() < 1e-11));
                }
                for (one, other) in one.counts.iter().flatten().zip(other.counts.iter().flatten()) {
                    assert!((one - other).abs() < 1e-10);
                }
            }
        }
    }
}

#[test]
fn contradictions_at_one_time_are_told_without_nan() {
    // All at one time: labels cannot change, and what speaks for them is beyond numbers.
    let scores = [vec![15.0; 60], vec![-15.0; 60]].concat();
    let times = vec![1.0; 120];
    let heard = Case::draw(1, &[(Variable::Onset, Order::Free)], 0, 1).heard;
    let case = Case { times, scores, ..Case { heard, ..Case::draw(1, &[], 0, 1) } };
    let found = slopes(&case, false);
    let numbers = found.presence.iter().chain(&found.d_rates);
    assert!(found.log_evidence.is_finite() && numbers.into_iter().all(|own| own.is_finite()));
}

#[test]
fn stretches_hold_every_edge_and_rider_once() {
    for (seed, most_states, every) in [(0, 512, 1024), (1, 4, 100), (2, 2, 1024), (3, 0, 50)] {
        let case = long(seed);
        let chain = case.chain();
        let riders = case.show(Riders::place);
        let effort = Effort { most_states, long: every, ..Effort::USUAL };
        let all = stretches(&riders, &chain, effort);
        let mut edge = 0;
        for Stretch { edges, riders: own, states, .. } in &all {
            assert_eq!(edges.start, edge);
            edge = edges.end;
            let mut open = vec![0_u32; edges.len()];
            for (k, rider) in riders.riders.iter().enumerate() {
                let here = rider.edges.start.max(edges.start)..rider.edges.end.min(edges.end);
                assert!(here.is_empty() || own.contains(&k));
                here.for_each(|edge| open[edge - edges.start] += 1);
            }
            let by_edge = open.iter().map(|open| 2 << open);
            assert_eq!(states.unwrap_or_default(), states.map_or(0, |_| by_edge.clone().sum()));
            // A crowd is somewhere too much; where nothing is open there is none.
            let is_too_much = by_edge.max() > Some(most_states) && open.contains(&1);
            assert_eq!(states.is_none(), is_too_much, "{edges:?}, {most_states}");
            // Here windows leave room within half again, and what is left is half as long at least.
            assert!(states.is_none() || edges.len() <= 2 * every + 1, "{edges:?}");
        }
        assert_eq!(edge, 3001);
        assert!(all.len() > 2, "{} stretches", all.len());
        assert_eq!(all.iter().any(|own| own.states.is_none()), most_states < 512);
    }
}
