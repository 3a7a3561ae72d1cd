//! Free alignment against enumeration over all owners.

use super::super::free::VISITS;
use super::*;

/// Everything that enumeration gives.
struct Enumerated {
    log_evidence: f64,
    /// p(o_i = c, y), by instance, count and label.
    counts: Vec<Vec<[f64; 2]>>,
    /// p(w(i,l)) by stamp and instance.
    shares: Vec<Vec<f64>>,
    /// Log weight of the heaviest map.
    best: f64,
}

/// Log densities by stamp and instance.
fn log_densities(lattice: &Lattice<'_>) -> Vec<Vec<f64>> {
    let Stamped { times, stamps, density, .. } = lattice.stamped;
    let mut log_density = vec![0.0; times.len()];
    let of_stamp = |z: &Stamp| {
        let delays: Vec<f64> = times.iter().map(|t| z.time - t).collect();
        density.log_density(&delays, &mut log_density);
        log_density.clone()
    };
    stamps.iter().map(of_stamp).collect()
}

/// Log weight of one map of stamps to instances, or beyond the last for the background.
fn log_weight(lattice: &Lattice<'_>, densities: &[Vec<f64>], owners: &[usize]) -> f64 {
    let instances = lattice.log_odds.len();
    let mut counts = vec![0; instances];
    let mut log_weight = 0.0;
    for (l, &owner) in owners.iter().enumerate() {
        if owner < instances {
            counts[owner] += 1;
            log_weight += densities[l][owner];
        } else {
            log_weight += lattice.stamped.log_background;
        }
    }
    if counts.iter().any(|&c| c > lattice.counts.max_count()) {
        return f64::NEG_INFINITY;
    }
    let weights = counts.iter().zip(lattice.log_odds);
    log_weight + weights.map(|(&c, &f)| lattice.counts.log_mixed(f, c)).sum::<f64>()
}

/// Adds up every map of stamps to instances or the background.
fn enumerate(lattice: &Lattice<'_>) -> Enumerated {
    let (instances, stamps) = (lattice.log_odds.len(), lattice.stamped.stamps);
    let densities = log_densities(lattice);
    let mut owners = vec![0; stamps.len()];
    let mut found: Vec<(Vec<usize>, f64)> = Vec::new();
    loop {
        let log_weight = log_weight(lattice, &densities, &owners);
        if log_weight > f64::NEG_INFINITY {
            found.push((owners.clone(), log_weight));
        }
        let Some(at) = owners.iter().position(|&owner| owner < instances) else { break };
        owners[..at].fill(0);
        owners[at] += 1;
    }
    let log_evidence = found.iter().fold(f64::NEG_INFINITY, |sum, (_, w)| log_add(sum, *w));
    let best = found.iter().map(|(_, w)| *w).fold(f64::NEG_INFINITY, f64::max);
    let mut counts = vec![vec![[0.0; 2]; stamps.len() + 1]; instances];
    let mut shares = vec![vec![0.0; instances]; stamps.len()];
    for (owners, log_weight) in found {
        let p = (log_weight - log_evidence).exp();
        for (i, (row, &f)) in counts.iter_mut().zip(lattice.log_odds).enumerate() {
            let c = owners.iter().filter(|&&owner| owner == i).count();
            for y in [0, 1] {
                let given = lattice.counts.log_joint(f, y, c) - lattice.counts.log_mixed(f, c);
                row[c][y] += if p > 0.0 { p * given.exp() } else { 0.0 };
            }
        }
        for (l, &owner) in owners.iter().enumerate().filter(|(_, owner)| **owner < instances) {
            shares[l][owner] += p;
        }
    }
    Enumerated { log_evidence, counts, shares, best }
}

/// The largest differences to enumeration: log evidence, counts, responsibilities.
fn differences(lattice: &Lattice<'_>) -> [f64; 3] {
    let (got, want) = (lattice.marginals().unwrap(), enumerate(lattice));
    let (mut counts, mut shares) = (0.0_f64, 0.0_f64);
    for (i, row) in want.counts.iter().enumerate() {
        for (c, pair) in row.iter().enumerate() {
            let own = got.counts.row(i).get(c).copied().unwrap_or_default();
            counts = counts.max((own[0] - pair[0]).abs()).max((own[1] - pair[1]).abs());
        }
    }
    for (l, row) in want.shares.iter().enumerate() {
        for (i, share) in row.iter().enumerate() {
            shares = shares.max((got.responsibilities.get(i, l) - share).abs());
        }
    }
    [(got.log_evidence - want.log_evidence).abs(), counts, shares]
}

fn free<'a>(lattice: Lattice<'a>, log_background: f64) -> Lattice<'a> {
    let stamped = Stamped { order: Order::Free, log_background, ..lattice.stamped };
    Lattice { stamped, ..lattice }
}

/// Stamps between neighbours that share one instance at most: messages along a tree are exact.
#[test]
fn trees_are_exact() {
    let times = vec![0.0, 1.0, 2.0, 3.0, 4.0];
    let density = Bell { delay: 0.0, spread: 0.6, cut: 1.0 };
    for (kind, log_background) in
        KINDS.into_iter().flat_map(|kind| [(kind, -2.0), (kind, f64::NEG_INFINITY)])
    {
        for log_odds in [
            vec![-1.0, 0.5, 0.3, -0.2, 1.0],
            vec![f64::INFINITY, -9.0, 3.0, f64::NEG_INFINITY, 0.0],
        ] {
            let stamps = Stamp::at(&[0.55, 1.45, 2.5, 3.58]);
            let case = Case { times: times.clone(), stamps, log_odds };
            let counts = tables(kind, [-2.0, 1.5], 4);
            let got = differences(&free(case.lattice(&counts, &density), log_background));
            // Messages converge to 1e-7, and on a tree at once.
            assert!(got.iter().all(|d| *d < 1e-8), "{kind} {log_background}: {got:?}");
        }
    }
}

/// Two presses at nearly one time for two sure events: either may own either, and messages creep.
#[test]
fn stamps_that_may_change_places_settle() {
    let density = Bell { delay: 2.0, spread: 0.98, cut: 8.0 };
    let case = Case {
        times: vec![0.0, 1.0, 2.0, 3.0],
        stamps: Stamp::at(&[3.528_460, 3.531_134]),
        log_odds: vec![-24.7, 18.73, 21.21, -34.48],
    };
    // Log-odds of a stamp from a negative and from a positive.
    let counts = tables(KINDS[0], [-13.585, 8.951], 4);
    let [log_evidence, ..] = differences(&free(case.lattice(&counts, &density), -10.0));
    // Propagation counts one of the two ways: half of the sum.
    assert!(log_evidence < 0.7, "{log_evidence}");
}

/// With cycles the sum is approximate, but near.
#[test]
fn cycles_are_nearly_right() {
    let mut random = Random::new(3);
    let mut worst = [0.0_f64; 3];
    for round in 0..40 {
        let kind = KINDS[round % 4];
        let case = case(&mut random, 5, 4, 3.0, 1.0);
        let density = Bell { delay: 0.0, spread: 1.0, cut: f64::INFINITY };
        let counts = tables(kind, [-2.0, 1.5], 4);
        let got = differences(&free(case.lattice(&counts, &density), -3.0));
        for (worst, got) in worst.iter_mut().zip(got) {
            *worst = worst.max(got);
        }
    }
    println!("worst {worst:?}");
    assert!(worst[0] < 0.5 && worst[1] < 0.15 && worst[2] < 0.15, "{worst:?}");
}

/// Posterior minus prior is the derivative of the approximate evidence too.
#[test]
fn derivatives_are_those_of_the_approximate_evidence() {
    let mut random = Random::new(5);
    for round in 0..24 {
        let kind = KINDS[round % 4];
        let case = case(&mut random, 30, 14, 3.0, 1.0);
        let density = Bell { delay: 0.0, spread: 1.5, cut: f64::INFINITY };
        let counts = tables(kind, [-2.0, 1.5], 14);
        let value = |log_odds: &[f64]| {
            let lattice = free(case.lattice(&counts, &density), -3.0);
            let pass = Derivatives { log_odds, rows: 8, messages: Messages::default() };
            let found = lattice.stamped.run(&pass, &counts, &Scratch::default()).unwrap();
            (found.log_evidence, found.sums.1, found.expected)
        };
        let (_, derivatives, _) = value(&case.log_odds);
        for i in 0..30 {
            let moved = |step: f64| {
                let mut log_odds = case.log_odds.clone();
                log_odds[i] += step;
                value(&log_odds).0
            };
            let want = (moved(1e-4) - moved(-1e-4)) / 2e-4;
            // Differences: h² truncation, and messages to 1e-7, whose square counts.
            assert!((derivatives[i] - want).abs() < 1e-6, "{kind} {i}: {} {want}", derivatives[i]);
        }
    }
}

/// By how much the log weight of the best alignment found falls short of the enumerated best, in random
/// sessions that are much more crowded than recordings.
fn shortfalls(kind: &str, log_background: f64) -> Vec<f64> {
    let mut random = Random::new(11);
    let shortfall = |round: usize| {
        let mut case = case(&mut random, 6, 4, 3.0, 1.0);
        if log_background == f64::NEG_INFINITY || !round.is_multiple_of(4) {
            // So that every stamp can have an owner.
            case.log_odds.iter_mut().for_each(|f| *f = f.clamp(-4.0, 4.0));
        }
        let density = Bell { delay: 0.2, spread: [0.5, 1.0, 3.0][round % 3], cut: f64::INFINITY };
        let logits = [[-2.0, 1.5], [-4.0, 0.5], [-5.0, 4.0]][random.below(3)];
        let counts = tables(kind, logits, 4);
        let lattice = free(case.lattice(&counts, &density), log_background);
        let found = lattice.marginals().unwrap();
        let (got, best) = (lattice.best_alignment(&found), enumerate(&lattice).best);
        let nowhere = case.times.len();
        let owners: Vec<_> = got.instances.iter().map(|owner| owner.unwrap_or(nowhere)).collect();
        let own = log_weight(&lattice, &log_densities(&lattice), &owners);
        // A handful of logs: rounding.
        assert!((own - got.log_weight).abs() < 1e-12, "{owners:?}: {own} {}", got.log_weight);
        best - own
    };
    (0..100).map(shortfall).collect()
}

#[test]
fn the_best_assignment_is_the_enumerated_one() {
    for (kind, log_background) in
        KINDS.into_iter().flat_map(|kind| [-2.0, -6.0, f64::NEG_INFINITY].map(|log| (kind, log)))
    {
        let all = shortfalls(kind, log_background);
        // A handful of logs: rounding.
        let found = all.iter().filter(|shortfall| shortfall.abs() < 1e-12).count();
        let worst = all.iter().copied().fold(0.0, f64::max);
        println!("{kind}, {log_background}: {found} of {}, else short by {worst}", all.len());
        let least = if kind == "bernoulli" { 100 } else { 85 };
        assert!(found >= least && worst < 1.2, "{kind} {log_background}: {found}, {worst}");
        assert!(all.iter().all(|shortfall| *shortfall > -1e-12), "{kind}: better than the best");
    }
}

/// Visits per stamp, in a session with this share of stamped instances.
fn visits_per_stamp(instances: usize, share: f64) -> f64 {
    let mut random = Random::new(8);
    let times: Vec<f64> = (0..instances).map(|i| i as f64).collect();
    let positive: Vec<bool> = times.iter().map(|_| random.uniform() < share).collect();
    let log_odds = positive.iter().map(|&p| if p { 2.0 } else { -5.0 } + random.normal()).collect();
    let owners = times.iter().zip(&positive).filter(|(_, positive)| **positive);
    let mut stamps: Vec<f64> = owners.map(|(t, _)| t + 2.0 * random.normal()).collect();
    stamps.sort_by(f64::total_cmp);
    let case = Case { times, stamps: Stamp::at(&stamps), log_odds };
    let density = Bell { delay: 0.0, spread: 2.0, cut: f64::INFINITY };
    let counts = tables("bernoulli", [-5.0, 2.0], stamps.len());
    let lattice = free(case.lattice(&counts, &density), (0.01 * share).ln());
    let messages = Messages::default();
    let pass = Derivatives { log_odds: &case.log_odds, rows: 512, messages };
    VISITS.set(0);
    lattice.stamped.run(&pass, &counts, &Scratch::default()).unwrap();
    VISITS.get() as f64 / stamps.len() as f64
}

#[test]
fn the_work_per_stamp_does_not_grow_with_the_session() {
    for share in [0.05, 0.3] {
        let (short, long) = (visits_per_stamp(2_000, share), visits_per_stamp(32_000, share));
        println!("{share}: {short} and {long} visits per stamp");
        // Longer sessions have slower places, which are visited alone.
        assert!(long < 1.2 * short && long < 40.0, "{share}: {short} {long}");
    }
}
