//! Stamps from nowhere, the others in order.

use super::*;
use crate::Control;

fn with_background<'a>(lattice: Lattice<'a>, log_background: f64) -> Lattice<'a> {
    Lattice { stamped: Stamped { log_background, ..lattice.stamped }, ..lattice }
}

/// Every choice of stamps from nowhere, with the enumerated posterior of the others.
fn choices(lattice: &Lattice<'_>) -> Vec<(Vec<usize>, Vec<Stamp>)> {
    let stamps = lattice.stamped.stamps;
    let owned = |code: usize| (0..stamps.len()).filter(move |l| code >> l & 1 == 1);
    let choice = |code: usize| (owned(code).collect(), owned(code).map(|l| stamps[l]).collect());
    (0..1 << stamps.len()).map(choice).collect()
}

/// Everything from the joint, term by term.
fn enumerate_all(lattice: &Lattice<'_>) -> Option<Marginals> {
    let (instances, stamps) = (lattice.stamped.times.len(), lattice.stamped.stamps.len());
    let log_background = lattice.stamped.log_background;
    let mut found = Vec::new();
    for (owned, left) in choices(lattice) {
        let stamped =
            Stamped { stamps: &left, log_background: f64::NEG_INFINITY, ..lattice.stamped };
        let Some(own) = enumerate(&Lattice { stamped, ..*lattice }) else { continue };
        let log_weight = own.log_evidence + (stamps - left.len()) as f64 * log_background;
        found.push((owned, own, log_weight));
    }
    let log_evidence = found.iter().fold(f64::NEG_INFINITY, |sum, (.., w)| log_add(sum, *w));
    if log_evidence == f64::NEG_INFINITY {
        return None;
    }
    let mut counts = vec![vec![[0.0; 2]; stamps + 1]; instances];
    let mut values = vec![0.0; stamps * instances];
    let mut positive = vec![0.0; stamps * instances];
    for (owned, own, log_weight) in &found {
        let mass = (log_weight - log_evidence).exp();
        for i in 0..instances {
            for (sum, pair) in counts[i].iter_mut().zip(own.counts.row(i)) {
                [0, 1].into_iter().for_each(|y| sum[y] += mass * pair[y]);
            }
            for (k, l) in owned.iter().enumerate() {
                values[l * instances + i] += mass * own.responsibilities.of_stamp(k)[i];
                positive[l * instances + i] += mass * own.responsibilities.of_stamp_positive(k)[i];
            }
        }
    }
    Some(Marginals::whole(log_evidence, &counts, &values, &positive))
}

/// A tiny session, at times impossible without a background.
fn tiny(random: &mut Random, round: usize) -> (Case, CountTables, Bell, f64) {
    let kind = KINDS[round % 4];
    let (instances, stamps) = (1 + random.below(4), random.below(5));
    let case = case(random, instances, stamps, 5.0, [3.0, 800.0][round / 4 % 2]);
    let rates = [[-2.0, 1.5], [-27.0, 27.0], [0.3, 0.3], [2.0, -3.0]][random.below(4)];
    let cut = [1.0, 5.0, f64::INFINITY][random.below(3)];
    let log_background = [-30.0, -4.0, -1.0, 2.0][random.below(4)];
    (case, tables(kind, rates, stamps), Bell { delay: 0.2, spread: 0.7, cut }, log_background)
}

#[test]
fn every_way_agrees_with_enumeration() {
    let mut random = Random::new(11);
    let mut impossible = 0;
    for round in 0..400 {
        let (case, counts, density, log_background) = tiny(&mut random, round);
        let lattice = with_background(case.lattice(&counts, &density), log_background);
        let what = format!("round {round}, {}, {log_background}", KINDS[round % 4]);
        let Some(want) = enumerate_all(&lattice) else {
            impossible += 1;
            assert!(lattice.marginals().is_err(), "{what}");
            continue;
        };
        assert_same(&dense::marginals(&lattice).unwrap(), &want, &format!("{what}, dense"));
        assert_same(&lattice.marginals().unwrap(), &want, &format!("{what}, banded"));
        assert_learning_agrees(&lattice, &want, 1, &what);
    }
    // An instance that must give a stamp may have none near.
    assert!(impossible < 40, "{impossible} impossible cases");
}

#[test]
fn banded_agrees_with_dense_on_long_sessions() {
    let mut random = Random::new(12);
    for round in 0..80 {
        let kind = KINDS[round % 4];
        let instances = if kind == "geometric" { 200 } else { 400 };
        let stamps = [1, instances / 25, instances / 8, instances / 3][random.below(4)];
        let saturation = [5.0, 40.0, 800.0][random.below(3)];
        let spread = [0.1, 0.5, 2.0, 8.0][random.below(4)];
        let case = case(&mut random, instances, stamps, 100.0 * spread, saturation);
        let rates = [[-4.0, 2.0], [-27.6, 27.6], [-27.6, 0.0], [-3.0, -3.0]][random.below(4)];
        let log_background = [-60.0, -9.0, -4.0, -1.0][random.below(4)];
        let counts = tables(kind, rates, stamps);
        let bell = Bell { delay: 0.2, spread, cut: [3.0, f64::INFINITY][random.below(2)] };
        let tails = Tails { scale: spread, degrees: 3.0 };
        let density = [&bell as &dyn DelayDensity, &tails][random.below(2)];
        let lattice = with_background(case.lattice(&counts, density), log_background);
        let what = format!("round {round}, {kind}, M = {stamps}, {spread}, {rates:?}");
        let what = format!("{what}, background {log_background}");
        let want = dense::marginals(&lattice).unwrap();
        assert_same(&lattice.marginals().unwrap(), &want, &what);
        assert_learning_agrees(&lattice, &want, 64, &what);
    }
}

#[test]
fn what_leaves_the_range_agrees_with_dense() {
    // Hundreds of stamps on one instance, and stamps that are far beyond both ends of an instance that
    // cannot be silent.
    // Some before them can only come from earlier instances.
    let crowd = (0..200).map(|k| 2.0 + 2.0 * f64::from(k) / 200.0);
    let crowd: Vec<f64> = [-5.0, -4.0, -1.0].into_iter().chain(crowd).collect();
    let far: Vec<f64> = (0..40).map(|k| -60.0 + 3.0 * f64::from(k)).collect();
    let mut log_odds = vec![-6.0; 15];
    let density = Bell { delay: 0.0, spread: 0.4, cut: f64::INFINITY };
    for sure in [false, true] {
        for (kind, rates) in [
            ("bernoulli", [-4.0, f64::INFINITY]),
            ("bernoulli", [-4.0, 2.0]),
            ("categorical", [-4.0, f64::INFINITY]),
            ("poisson", [-4.0, 2.0]),
            ("poisson", [-4.0, 300.0]),
            ("poisson", [-4.0, 500.0]),
            ("poisson", [-4.0, 700.0]),
            ("poisson", [-900.0, 900.0]),
            ("geometric", [-4.0, 5.0]),
        ] {
            log_odds[11] = if sure { f64::INFINITY } else { 3.0 };
            for (stamps, log_background) in
                [(&crowd, -3.0), (&crowd, -200.0), (&far, -2.0), (&far, -300.0)]
            {
                let counts = tables(kind, rates, stamps.len());
                let times = (-8..7).map(f64::from).collect();
                let case = Case { times, stamps: Stamp::at(stamps), log_odds: log_odds.clone() };
                let lattice = with_background(case.lattice(&counts, &density), log_background);
                let what = format!("{kind}, {rates:?}, {} stamps, {log_background}", stamps.len());
                let want = dense::marginals(&lattice).unwrap();
                assert_same(&lattice.marginals().unwrap(), &want, &what);
                assert_learning_agrees(&lattice, &want, 1, &what);
            }
        }
    }
}

#[test]
fn a_faint_background_is_none_and_a_strong_one_takes_all() {
    let mut random = Random::new(13);
    for kind in KINDS {
        let case = case(&mut random, 60, 8, 2.0, 5.0);
        let counts = tables(kind, [-3.0, 2.0], 8);
        let density = Bell { delay: 0.2, spread: 2.0, cut: f64::INFINITY };
        let plain = case.lattice(&counts, &density);
        let faint = with_background(plain, -300.0).marginals().unwrap();
        assert_same(&faint, &plain.marginals().unwrap(), kind);
        let strong = with_background(plain, 60.0).marginals().unwrap();
        let silence: f64 = case.log_odds.iter().map(|&f| counts.log_mixed(f, 0)).sum();
        // Sixty logs and eight times sixty: rounding only.
        assert!((strong.log_evidence - (silence + 8.0 * 60.0)).abs() < 1e-11, "{kind}");
        for l in 0..8 {
            // Below e⁻⁶⁰ times the odds of sixty instances.
            assert!(strong.responsibilities.of_stamp(l).iter().sum::<f64>() < 1e-20, "{kind}");
        }
    }
}

#[test]
fn a_far_stamp_changes_nothing_but_the_evidence() {
    let mut random = Random::new(14);
    let density = Bell { delay: 0.0, spread: 0.5, cut: f64::INFINITY };
    for kind in KINDS {
        let mut case = case(&mut random, 40, 6, 1.0, 5.0);
        let counts = tables(kind, [-3.0, 2.0], 7);
        let without = with_background(case.lattice(&counts, &density), -3.0).marginals().unwrap();
        case.stamps.push(Stamp { time: case.times[39] + 1000.0, width: 0.0 });
        let lattice = with_background(case.lattice(&counts, &density), -3.0);
        let with = lattice.marginals().unwrap();
        // Its density underflows everywhere: rounding only.
        assert!((with.log_evidence - (without.log_evidence - 3.0)).abs() < 1e-12, "{kind}");
        assert_eq!(with.responsibilities.of_stamp(6).iter().sum::<f64>(), 0.0, "{kind}");
        for (i, l) in (0..40).flat_map(|i| (0..6).map(move |l| (i, l))) {
            let of = |marginals: &Marginals| marginals.responsibilities.get(i, l);
            assert!((of(&with) - of(&without)).abs() < 1e-14, "{kind}: w({i},{l})"); // rounding
        }
        assert_eq!(lattice.best_alignment(&with).instances[6], None, "{kind}");
    }
}

#[test]
fn one_of_three_stamps_in_a_gap_may_have_the_only_instance() {
    // u(0)·ρ³ + u(1)·(p_1 + p_2 + p_3)·ρ²; a second stamp could only come from nowhere.
    let case = Case { times: vec![0.0], stamps: Stamp::at(&[0.1, 0.4, 0.9]), log_odds: vec![0.4] };
    let counts = tables("bernoulli", [-2.0, 1.0], 3);
    let density = Bell { delay: 0.0, spread: 0.7, cut: f64::INFINITY };
    let rho = 0.2;
    let lattice = with_background(case.lattice(&counts, &density), f64::ln(rho));
    let mut log_p = [0.0; 3];
    density.log_density(&[0.1, 0.4, 0.9], &mut log_p);
    let weight = |c: usize| counts.log_mixed(0.4, c).exp();
    let owned = log_p.map(|log_p| weight(1) * log_p.exp() * rho * rho);
    let total = weight(0) * rho * rho * rho + owned.iter().sum::<f64>();
    let got = lattice.marginals().unwrap();
    assert!((got.log_evidence - total.ln()).abs() < 1e-14); // a dozen roundings
    for (l, owned) in owned.iter().enumerate() {
        assert!((got.responsibilities.get(0, l) - owned / total).abs() < 1e-15); // likewise
    }
}

/// The heaviest choice of owners and its log weight; owned stamps keep their order.
fn heaviest(lattice: &Lattice<'_>) -> (Vec<Option<usize>>, f64) {
    let Stamped { times, stamps, density, log_background, .. } = lattice.stamped;
    let instances = times.len();
    let mut best = (Vec::new(), f64::NEG_INFINITY);
    for code in 0..(instances + 1).pow(stamps.len() as u32) {
        let owner = |l: usize| code / (instances + 1).pow(l as u32) % (instances + 1);
        let owners: Vec<Option<usize>> =
            (0..stamps.len()).map(|l| owner(l).checked_sub(1)).collect();
        let count = |i: usize| owners.iter().filter(|owner| **owner == Some(i)).count();
        let is_possible = (0..instances).all(|i| count(i) <= lattice.counts.max_count());
        if !is_possible || !owners.iter().flatten().is_sorted() {
            continue;
        }
        let mut weight: f64 =
            (0..instances).map(|i| lattice.counts.log_mixed(lattice.log_odds[i], count(i))).sum();
        for (stamp, owner) in stamps.iter().zip(&owners) {
            let mut log_density = [log_background];
            if let Some(i) = owner {
                density.log_density(&[stamp.time - times[*i]], &mut log_density);
            }
            weight += log_density[0];
        }
        if weight > best.1 {
            best = (owners, weight);
        }
    }
    best
}

#[test]
fn the_best_alignment_is_the_heaviest() {
    let mut random = Random::new(15);
    let (mut nowhere, mut owned) = (0, 0);
    for round in 0..300 {
        let (case, counts, density, log_background) = tiny(&mut random, round);
        let lattice = with_background(case.lattice(&counts, &density), log_background);
        let Ok(found) = lattice.marginals() else { continue };
        let got = lattice.best_alignment(&found);
        let (want, log_weight) = heaviest(&lattice);
        // Ten logs of up to 800.
        assert!((got.log_weight - log_weight).abs() < 1e-11, "{round}: {got:?} {log_weight}");
        let ties = case.times.windows(2).any(|pair| pair[0] == pair[1])
            || case.stamps.windows(2).any(|pair| pair[0].time == pair[1].time);
        assert!(ties || got.instances == want, "{round}: {got:?} {want:?}");
        nowhere += got.instances.iter().filter(|owner| owner.is_none()).count();
        owned += got.instances.iter().flatten().count();
    }
    assert!(nowhere > 100 && owned > 100, "{nowhere} and {owned}: both kinds are needed");
}

#[test]
fn draws_have_the_frequencies_of_the_marginals() {
    let mut random = Random::new(16);
    let draws = 20_000;
    for kind in KINDS {
        let case = case(&mut random, 12, 4, 2.0, 5.0);
        let counts = tables(kind, [-2.0, 1.0], 4);
        let density = Bell { delay: 0.2, spread: 1.0, cut: f64::INFINITY };
        let lattice = with_background(case.lattice(&counts, &density), -2.0);
        let found = lattice.marginals().unwrap();
        let drawn = lattice.sample(&found, draws, 7, Control::default());
        let agrees = |holds: &dyn Fn(&[Option<usize>]) -> bool, p: f64, what: &str| {
            let share = drawn.iter().filter(|draw| holds(draw)).count() as f64 / draws as f64;
            // Five standard errors, and five draws where hardly one is expected.
            let allowed = 5.0 * (p * (1.0 - p) / draws as f64).sqrt() + 5.0 / draws as f64;
            assert!((share - p).abs() < allowed, "{kind}: {what}: {share} {p}");
        };
        for l in 0..4 {
            let nowhere = 1.0 - found.responsibilities.of_stamp(l).iter().sum::<f64>();
            agrees(&|draw| draw[l].is_none(), nowhere, &format!("{l} from nowhere"));
            for i in 0..12 {
                let p = found.responsibilities.get(i, l);
                agrees(&|draw| draw[l] == Some(i), p, &format!("w({i},{l})"));
            }
        }
        // Counts see several stamps at once: draws that are right one by one may fail here.
        for (i, c) in (0..12).flat_map(|i| (0..3).map(move |c| (i, c))) {
            let p = found.counts.row(i).get(c).map_or(0.0, |pair| pair[0] + pair[1]);
            let given = |draw: &[Option<usize>]| draw.iter().filter(|j| **j == Some(i)).count();
            agrees(&|draw| given(draw) == c, p.min(1.0), &format!("o_{i} = {c}"));
        }
    }
}
