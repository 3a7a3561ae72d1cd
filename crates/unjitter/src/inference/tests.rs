//! Every way of computing the posterior against enumeration and against the dense recursion.

mod background;
mod free;

use std::ops::Range;

use super::vocabulary::Window;
use super::*;
use crate::math::{Random, ln_gamma, log_add, log_sigmoid, log_softplus, sigmoid};
use crate::scratch::Scratch;

/// A Gaussian, or a density that is zero beyond `cut` spreads, for tests that need no parameters.
struct Bell {
    delay: f64,
    spread: f64,
    cut: f64,
}

impl DelayDensity for Bell {
    fn log_density(&self, delays: &[f64], out: &mut [f64]) {
        for (out, d) in out.iter_mut().zip(delays) {
            let s = (d - self.delay) / self.spread;
            let inside = s.abs() <= self.cut;
            *out = if inside { self.log_peak() - 0.5 * s * s } else { f64::NEG_INFINITY };
        }
    }
    fn log_peak(&self) -> f64 {
        -(self.spread * (2.0 * std::f64::consts::PI).sqrt()).ln()
    }
    fn reach(&self, log_drop: f64) -> (f64, f64) {
        let far = self.spread * (2.0 * log_drop).sqrt().min(self.cut);
        (self.delay - far, self.delay + far)
    }

    fn log_mean_density(&self, _: &[f64], _: f64, _: &mut [f64]) {
        unreachable!("all times are known");
    }
}

/// A Student-t density, up to a factor: tails that fall like a power.
struct Tails {
    scale: f64,
    degrees: f64,
}

impl DelayDensity for Tails {
    fn log_density(&self, delays: &[f64], out: &mut [f64]) {
        for (out, d) in out.iter_mut().zip(delays) {
            let q = d / self.scale;
            *out = -0.5 * (self.degrees + 1.0) * (q * q / self.degrees).ln_1p();
        }
    }
    fn log_peak(&self) -> f64 {
        0.0
    }
    fn reach(&self, log_drop: f64) -> (f64, f64) {
        let far = (self.degrees * (2.0 * log_drop / (self.degrees + 1.0)).exp_m1()).sqrt();
        (-self.scale * far, self.scale * far)
    }

    fn log_mean_density(&self, _: &[f64], _: f64, _: &mut [f64]) {
        unreachable!("all times are known");
    }
}

const KINDS: [&str; 4] = ["bernoulli", "categorical", "poisson", "geometric"];

/// Tables with the given logits of the rates, as the count models make them.
fn tables(kind: &str, logits: [f64; 2], stamps: usize) -> CountTables {
    let split = [[0.7f64, 0.2, 0.1], [0.5, 0.3, 0.2]];
    let most = match kind {
        "bernoulli" => 1,
        "categorical" => 3,
        _ => stamps,
    };
    let log_factorial = |c: usize| (1..=c).map(|k| (k as f64).ln()).sum::<f64>();
    let log_p = |y: usize, c: usize| {
        let (none, some) = (log_sigmoid(-logits[y]), log_sigmoid(logits[y]));
        match (kind, c) {
            (_, 0) => none,
            ("bernoulli", _) => some,
            ("categorical", _) => some + split[y][c - 1].ln(),
            ("poisson", _) => none + c as f64 * log_softplus(logits[y]) - log_factorial(c),
            _ => none + c as f64 * some,
        }
    };
    let table = |y: usize| (0..=most.min(stamps.max(1))).map(|c| log_p(y, c)).collect();
    let ratios = (kind == "poisson").then(|| logits.map(log_softplus));
    CountTables::new([table(0), table(1)], ratios)
}

/// A random session with spacings of one on average.
struct Case {
    times: Vec<f64>,
    stamps: Vec<Stamp>,
    log_odds: Vec<f64>,
}

impl Case {
    fn lattice<'a>(
        &'a self,
        counts: &'a CountTables,
        density: &'a dyn DelayDensity,
    ) -> Lattice<'a> {
        let Self { times, stamps, log_odds } = self;
        let stamped = Timeline::new(times, stamps, 1.0).with(density);
        Lattice { stamped, log_odds, counts }
    }
}

fn case(random: &mut Random, instances: usize, stamps: usize, gap: f64, saturation: f64) -> Case {
    let mut t = 0.0;
    let times = (0..instances)
        .map(|_| {
            // Ties and gaps.
            t += match random.below(20) {
                0 => 0.0,
                1 => gap,
                _ => 2.0 * random.uniform(),
            };
            t
        })
        .collect();
    let mut z: Vec<f64> = Vec::new();
    while z.len() < stamps {
        let at = t * random.uniform();
        // Clusters and ties.
        let cluster = if random.below(4) == 0 { 1 + random.below(4) } else { 1 };
        for k in 0..cluster.min(stamps - z.len()) {
            z.push(at + if k == 2 { 0.0 } else { 0.3 * random.normal() });
        }
    }
    z.sort_by(f64::total_cmp);
    let log_odds = (0..instances)
        .map(|_| match random.below(12) {
            0 => saturation,
            1 => -saturation,
            2 => f64::INFINITY,
            3 => f64::NEG_INFINITY,
            _ => -2.0 + 2.0 * random.normal(),
        })
        .collect();
    Case { times, stamps: Stamp::at(&z), log_odds }
}

fn close(got: f64, want: f64, tolerance: f64) -> bool {
    (got - want).abs() <= tolerance * want.abs().max(1.0)
}

fn assert_same(got: &Marginals, want: &Marginals, what: &str) {
    // The promise of this module: agreement to 1e-10, relative for the log evidence and absolute
    // for probabilities.
    let evidence = (got.log_evidence, want.log_evidence);
    assert!(close(evidence.0, evidence.1, 1e-10), "{what}: {evidence:?}");
    let (g, w) = (&got.counts, &want.counts);
    for i in 0..w.instances() {
        for c in 0..w.row(i).len().max(g.row(i).len()) {
            for y in [0, 1] {
                let of = |m: &CountMarginals| m.row(i).get(c).map_or(0.0, |pair| pair[y]);
                assert!(
                    (of(g) - of(w)).abs() < 1e-10,
                    "{what}: o_{i} = {c}, y = {y}: {} {}",
                    of(g),
                    of(w)
                );
            }
        }
    }
    for l in 0..want.responsibilities.stamps() {
        for i in 0..w.instances() {
            let (a, b) = (got.responsibilities.get(i, l), want.responsibilities.get(i, l));
            assert!((a - b).abs() < 1e-10, "{what}: w({i},{l}): {a} {b}");
        }
        let spurious =
            |m: &Marginals| 1.0 - m.responsibilities.of_stamp_positive(l).iter().sum::<f64>();
        assert!((spurious(got) - spurious(want)).abs() < 1e-10, "{what}: spurious {l}");
    }
}

/// The part of a session's solution that learning uses: windows with their shares, and derivatives.
struct Derivatives<'a> {
    log_odds: &'a [f64],
    rows: usize,
    messages: Messages,
}

impl Pass for Derivatives<'_> {
    type Sums = (Vec<(usize, Window, Vec<f64>)>, Vec<f64>);

    fn rows_at_a_time(&self) -> usize {
        self.rows
    }

    fn zero(&self) -> Self::Sums {
        Default::default()
    }

    fn log_odds<'a>(&'a self, instances: Range<usize>, _: &'a mut [f64]) -> &'a [f64] {
        &self.log_odds[instances]
    }

    fn take_stamps(&self, shares: Shares<'_>, sums: &mut Self::Sums) {
        let Shares { band, responsibilities, .. } = shares;
        let found = |l| (l, band.windows()[l], responsibilities[band.cells_of(l)].to_vec());
        sums.0.extend(band.loaded().map(found));
    }

    fn take_span(&self, solved: SpanSolution<'_>, sums: &mut Self::Sums) {
        assert_eq!(solved.instances.start, sums.1.len());
        sums.1.extend_from_slice(solved.d_log_odds);
    }

    fn add(&self, sums: &mut Self::Sums, later: Self::Sums) {
        sums.0.extend(later.0);
        sums.1.extend(later.1);
    }

    fn messages(&self) -> Option<&Messages> {
        Some(&self.messages)
    }

    fn in_parallel(&self) -> bool {
        false
    }
}

/// The value and derivatives that learning uses, span by span.
fn assert_learning_agrees(lattice: &Lattice<'_>, want: &Marginals, min_span: usize, what: &str) {
    let instances = lattice.log_odds.len();
    let pass =
        Derivatives { log_odds: lattice.log_odds, rows: min_span, messages: Messages::default() };
    let found = lattice.stamped.run(&pass, lattice.counts, &Scratch::default()).unwrap();
    let (log_evidence, expected, (mut shares, d_log_odds)) =
        (found.log_evidence, found.expected, found.sums);
    // Panels of a long block are visited last to first.
    shares.sort_by_key(|(l, ..)| *l);
    assert_eq!(shares.len(), lattice.stamped.stamps.len(), "{what}");
    assert!(close(log_evidence, want.log_evidence, 1e-10), "{what}");
    for (i, d) in d_log_odds.iter().enumerate() {
        let wanted = want.counts.positive(i) - sigmoid(lattice.log_odds[i]);
        assert!((d - wanted).abs() < 1e-10, "{what}: d log-odds {i}: {d} {wanted}");
    }
    for (at, (l, window, shares)) in shares.into_iter().enumerate() {
        assert_eq!(at, l, "{what}");
        assert_eq!(window.len(), shares.len(), "{what}");
        for (i, share) in (window.first..window.end).zip(shares) {
            assert!((share - want.responsibilities.get(i, l)).abs() < 1e-10, "{what}");
        }
    }
    for y in [0, 1] {
        let rows = || (0..instances).map(|i| want.counts.row(i));
        let total: f64 = rows().flatten().map(|pair| pair[y]).sum();
        let mean: f64 =
            rows().flat_map(|row| row.iter().enumerate().map(|(c, pair)| c as f64 * pair[y])).sum();
        let got_total: f64 = expected.0[y].iter().sum();
        let got_mean: f64 = expected.0[y].iter().enumerate().map(|(c, e)| c as f64 * e).sum();
        assert!(close(got_total, total, 1e-10) && close(got_mean, mean, 1e-10), "{what}");
    }
}

/// Everything from the joint: labels and counts enumerated, nothing summed out first.
fn enumerate(lattice: &Lattice<'_>) -> Option<Marginals> {
    let (instances, stamps) = (lattice.stamped.times.len(), lattice.stamped.stamps.len());
    let most = lattice.counts.max_count().min(stamps);
    let mut log_p = vec![0.0; instances * stamps];
    let times = lattice.stamped.times;
    let delays: Vec<f64> =
        times.iter().flat_map(|t| lattice.stamped.stamps.iter().map(move |z| z.time - t)).collect();
    lattice.stamped.density.log_density(&delays, &mut log_p);
    let mut log_evidence = f64::NEG_INFINITY;
    let mut paths = Vec::new();
    let total = (most + 1).pow(instances as u32);
    for code in 0..total {
        let counts: Vec<usize> =
            (0..instances).map(|i| code / (most + 1).pow(i as u32) % (most + 1)).collect();
        if counts.iter().sum::<usize>() != stamps {
            continue;
        }
        let mut log_density = 0.0;
        let mut stamp = 0;
        for (i, &c) in counts.iter().enumerate() {
            log_density += log_p[i * stamps + stamp..i * stamps + stamp + c].iter().sum::<f64>();
            stamp += c;
        }
        for labels in 0..1usize << instances {
            let label = |i: usize| labels >> i & 1;
            let log_joint: f64 = (0..instances)
                .map(|i| lattice.counts.log_joint(lattice.log_odds[i], label(i), counts[i]))
                .sum();
            log_evidence = log_add(log_evidence, log_density + log_joint);
            paths.push((counts.clone(), labels, log_density + log_joint));
        }
    }
    if log_evidence == f64::NEG_INFINITY {
        return None;
    }
    let mut counts = vec![vec![[0.0; 2]; most + 1]; instances];
    let mut values = vec![0.0; stamps * instances];
    let mut positive = vec![0.0; stamps * instances];
    for (path, labels, log_joint) in paths {
        let mass = (log_joint - log_evidence).exp();
        let mut stamp = 0;
        for (i, &c) in path.iter().enumerate() {
            counts[i][c][labels >> i & 1] += mass;
            for l in stamp..stamp + c {
                values[l * instances + i] += mass;
                positive[l * instances + i] += mass * (labels >> i & 1) as f64;
            }
            stamp += c;
        }
    }
    Some(Marginals::whole(log_evidence, &counts, &values, &positive))
}

#[test]
fn enumeration_agrees_for_every_count_model() {
    let mut random = Random::new(1);
    let mut impossible = 0;
    for round in 0..400 {
        let kind = KINDS[round % 4];
        let (instances, stamps) = (1 + random.below(5), random.below(5));
        let case = case(&mut random, instances, stamps, 5.0, [3.0, 800.0][round / 4 % 2]);
        let rates = [[-2.0, 1.5], [-27.0, 27.0], [0.3, 0.3], [2.0, -3.0]][random.below(4)];
        let counts = tables(kind, rates, stamps);
        // Zero densities in two of three.
        let cut = [2.0, 5.0, f64::INFINITY][random.below(3)];
        let density = Bell { delay: 0.2, spread: 0.7, cut };
        let lattice = case.lattice(&counts, &density);
        let what = format!("round {round}, {kind}");
        match enumerate(&lattice) {
            None => {
                impossible += 1;
                assert!(lattice.marginals().is_err(), "{what}");
                assert!(dense::marginals(&lattice).is_err(), "{what}");
            }
            Some(want) => {
                assert_same(&dense::marginals(&lattice).unwrap(), &want, &format!("{what}, dense"));
                assert_same(&lattice.marginals().unwrap(), &want, &format!("{what}, banded"));
                assert_learning_agrees(&lattice, &want, 1, &what);
            }
        }
    }
    assert!(
        (20..300).contains(&impossible),
        "{impossible} impossible cases: both kinds are needed"
    );
}

#[test]
fn banded_agrees_with_dense_on_long_sessions() {
    let mut random = Random::new(2);
    for round in 0..60 {
        let kind = KINDS[round % 4];
        let instances =
            if kind == "geometric" { 200 } else { [300, 2000][usize::from(round % 12 < 2)] };
        let stamps = [0, 1, instances / 25, instances / 10][random.below(4)];
        let saturation = [5.0, 40.0, 800.0][random.below(3)];
        let spread = [0.1, 0.5, 2.0, 8.0][random.below(4)];
        // In the middle of a gap, 50 spreads from any instance.
        let case = case(&mut random, instances, stamps, 100.0 * spread, saturation);
        let rates =
            [[-4.0, 2.0], [-27.6, 27.6], [-27.6, 0.0], [0.0, 27.6], [-3.0, -3.0]][random.below(5)];
        let counts = tables(kind, rates, stamps);
        let density = Bell { delay: 0.2, spread, cut: f64::INFINITY };
        let lattice = case.lattice(&counts, &density);
        let what = format!(
            "round {round}, {kind}, L = {instances}, M = {stamps}, spread {spread}, rates {rates:?}"
        );
        let want = dense::marginals(&lattice).unwrap();
        assert_same(&lattice.marginals().unwrap(), &want, &what);
        assert_learning_agrees(&lattice, &want, 64, &what);
    }
}

#[test]
fn what_underflows_in_a_column_goes_to_log_space() {
    // A positive of probability e⁻⁷⁴⁰ that eight stamps make the only explanation; and a negative
    // that must give seventeen times as many stamps as is usual for it.
    let rare = CountTables::new(
        [0, 1].map(|y: usize| {
            let rate: f64 = [1e-40, 2.0][y];
            let log_factorial = |c: i32| (1..=c).map(|k| f64::from(k).ln()).sum::<f64>();
            (0..9).map(|c| -rate + f64::from(c) * rate.ln() - log_factorial(c)).collect()
        }),
        Some([1e-40f64.ln(), 2f64.ln()]),
    );
    let density = Bell { delay: 0.0, spread: 1.0, cut: f64::INFINITY };
    let packed: Vec<f64> = (0..68).map(|k| 0.5 + 2.0 * f64::from(k) / 68.0).collect();
    let many = tables("geometric", [-13.8, 2.2], packed.len());
    let one = Case { times: vec![0.0], stamps: Stamp::at(&[0.0; 8]), log_odds: vec![-740.0] };
    let negatives = vec![f64::NEG_INFINITY; 4];
    let four =
        Case { times: vec![0.0, 1.0, 2.0, 3.0], stamps: Stamp::at(&packed), log_odds: negatives };
    for (case, counts) in [(one, &rare), (four, &many)] {
        let lattice = case.lattice(counts, &density);
        let want = dense::marginals(&lattice).unwrap();
        assert_same(&lattice.marginals().unwrap(), &want, "underflow");
        assert_learning_agrees(&lattice, &want, 1, "underflow");
    }
}

#[test]
fn hundreds_of_stamps_on_one_instance_leave_no_range() {
    // λ of 2 and of 300, which makes silence a matter of e⁻³⁰⁰; geometric weights of up to 300!.
    let stamps: Vec<f64> = (0..300).map(|k| 2.0 + 2.0 * f64::from(k) / 300.0).collect();
    let log_odds = vec![-6.0, -6.0, -5.0, 3.0, -6.0, -6.0];
    let case =
        Case { times: (0..6).map(f64::from).collect(), stamps: Stamp::at(&stamps), log_odds };
    let density = Bell { delay: 0.0, spread: 0.4, cut: f64::INFINITY };
    for (kind, rates) in [
        ("poisson", [-4.0, 2.0]),
        ("poisson", [-4.0, 300.0]),
        ("poisson", [-900.0, 900.0]),
        ("geometric", [-4.0, 5.0]),
    ] {
        let counts = tables(kind, rates, 300);
        let lattice = case.lattice(&counts, &density);
        let want = dense::marginals(&lattice).unwrap();
        assert_same(&lattice.marginals().unwrap(), &want, kind);
        assert_learning_agrees(&lattice, &want, 1, kind);
    }
}

#[test]
fn windows_reach_what_certain_rates_make_necessary() {
    let times: Vec<f64> = (0..40).map(f64::from).collect();
    let density = Bell { delay: 0.0, spread: 0.5, cut: f64::INFINITY };
    // No false presses, and the only likely event is twenty spreads away.
    let honest = tables("bernoulli", [f64::NEG_INFINITY, 2.0], 1);
    let mut far = vec![-800.0; 40];
    far[20] = 5.0;
    // Every event is pressed, and the only known one is far from both presses.
    let diligent = tables("bernoulli", [-3.0, f64::INFINITY], 2);
    let mut sure = vec![-2.0; 40];
    sure[20] = f64::INFINITY;
    let far = Case { times: times.clone(), stamps: Stamp::at(&[10.0]), log_odds: far };
    let sure = Case { times, stamps: Stamp::at(&[1.0, 2.0]), log_odds: sure };
    for (case, counts) in [(far, &honest), (sure, &diligent)] {
        let lattice = case.lattice(counts, &density);
        let want = dense::marginals(&lattice).unwrap();
        assert_same(&lattice.marginals().unwrap(), &want, "certain rates");
        assert_learning_agrees(&lattice, &want, 1, "certain rates");
    }
}

/// Share of all cells that lie in the windows.
fn share_of_cells(marginals: &Marginals, instances: usize) -> f64 {
    let shares = &marginals.responsibilities;
    let cells: usize = (0..shares.stamps()).map(|l| shares.of_stamp(l).len()).sum();
    cells as f64 / (shares.stamps() * instances) as f64
}

#[test]
fn heavy_tails_agree_with_dense() {
    let mut random = Random::new(3);
    for round in 0..48 {
        let kind = KINDS[round % 3];
        let degrees = [0.5, 1.0, 2.0, 5.0, 30.0][random.below(5)];
        let scale = [0.3, 2.0, 8.0][random.below(3)];
        let instances = if kind == "bernoulli" { 1500 } else { 300 };
        let stamps = instances / [8, 20, 50][random.below(3)];
        let saturation = [5.0, 40.0][random.below(2)];
        let case = case(&mut random, instances, stamps, 10.0 * scale, saturation);
        let rates = [[-4.0, 2.0], [-7.0, 3.0], [0.3, 0.3], [-27.6, 27.6]][random.below(4)];
        let counts = tables(kind, rates, stamps);
        let density = Tails { scale, degrees };
        let lattice = case.lattice(&counts, &density);
        let what = format!("round {round}, {kind}, {degrees} degrees, scale {scale}, {rates:?}");
        let want = dense::marginals(&lattice).unwrap();
        assert_same(&lattice.marginals().unwrap(), &want, &what);
        assert_learning_agrees(&lattice, &want, 64, &what);
    }
}

#[test]
fn windows_do_not_reach_over_the_session_for_a_heavy_tail() {
    let times: Vec<f64> = (0..20_000).map(f64::from).collect();
    let stamps: Vec<f64> = (0..1000).map(|l| 20.0 * f64::from(l) + 5.3).collect();
    let log_odds = vec![-3.0; times.len()];
    let case = Case { times, stamps: Stamp::at(&stamps), log_odds };
    let counts = tables("bernoulli", [-7.0, 2.0], 1000);
    let density = Tails { scale: 2.0, degrees: 5.0 };
    let found = case.lattice(&counts, &density).marginals().unwrap();
    // Alone, a stamp would reach 5000 spreads.
    let cells = share_of_cells(&found, 20_000);
    assert!(cells < 0.02, "{cells}");
}

#[test]
fn every_stamp_that_is_pushed_may_be_drawn_on_by_the_odds() {
    // Tied presses, and the only event so far off that it takes the odds of every one of them, yet
    // outside every ring.
    let times: Vec<f64> = (0..900).map(f64::from).collect();
    let counts = tables("poisson", [-9.0, 4.0], 24);
    let tails = Tails { scale: 2.0, degrees: 3.0 };
    let bell = Bell { delay: 0.0, spread: 3.9, cut: f64::INFINITY };
    for (density, away) in [(&tails as &dyn DelayDensity, 22), (&bell, 15)] {
        for event in [400 + away, 400 - away] {
            let mut log_odds = vec![-800.0; times.len()];
            log_odds[event] = 40.0;
            let case = Case { times: times.clone(), stamps: Stamp::at(&[400.0; 24]), log_odds };
            let lattice = case.lattice(&counts, density);
            let want = dense::marginals(&lattice).unwrap();
            // Check that the case is as described.
            assert!(want.responsibilities.get(event, 12) > 0.5, "{event}");
            assert_same(&lattice.marginals().unwrap(), &want, &format!("event {event}"));
        }
    }
}

#[test]
fn stamps_may_be_drawn_together_by_counts_that_like_company() {
    // Nearly always two presses or none.
    let twice = |some: f64| vec![(1.0 - some).ln(), (1e-25 * some).ln(), some.ln()];
    let counts = CountTables::new([twice(0.01), twice(0.9)], None);
    let times: Vec<f64> = (0..120).map(f64::from).collect();
    let case = Case { times, stamps: Stamp::at(&[49.0, 69.0]), log_odds: vec![-1.0; 120] };
    let density = Bell { delay: 0.0, spread: 1.0, cut: f64::INFINITY };
    let lattice = case.lattice(&counts, &density);
    let want = dense::marginals(&lattice).unwrap();
    let together: f64 = (55..64).map(|i| want.counts.row(i)[2][0] + want.counts.row(i)[2][1]).sum();
    assert!(together > 0.9, "{together}");
    assert_same(&lattice.marginals().unwrap(), &want, "together");
}

#[test]
fn crowds_on_islands_make_room_for_each_other() {
    // Presses between islands of few instances: the best place of one is needed more by another.
    let islands = [2281.8, 2336.5, 2388.3, 2440.1];
    let times: Vec<f64> =
        islands.iter().flat_map(|t| [0.0, 1.1, 1.8].map(|step| t + step)).collect();
    let stamps = [2323.8, 2344.9, 2353.3, 2366.2, 2370.0, 2388.8, 2388.9, 2396.8];
    let density = Bell { delay: 0.0, spread: 0.5, cut: f64::INFINITY };
    for kind in ["bernoulli", "categorical"] {
        for rates in [[-27.6, 0.0], [-4.0, 2.0], [0.3, 0.3]] {
            for most in 4..=stamps.len() {
                let (times, stamps) = (times.clone(), stamps[..most].to_vec());
                let log_odds = vec![-2.0; times.len()];
                let counts = tables(kind, rates, most);
                let case = Case { times, stamps: Stamp::at(&stamps), log_odds };
                let lattice = case.lattice(&counts, &density);
                let want = dense::marginals(&lattice).unwrap();
                let what = format!("{kind} {rates:?} {most}");
                assert_same(&lattice.marginals().unwrap(), &want, &what);
            }
        }
    }
}

#[test]
fn a_crowd_past_the_end_has_windows_that_hold_it() {
    let times: Vec<f64> = (0..400).map(f64::from).collect();
    let during = (0..20).map(|l| 20.0 * f64::from(l) + 0.2);
    let after: Vec<f64> = (0..30).map(|l| 430.0 + 3.0 * f64::from(l)).collect();
    let late: Vec<f64> = during.chain(after).collect();
    let early: Vec<f64> = late.iter().rev().map(|z| 399.0 - z).collect();
    let mut random = Random::new(5);
    let log_odds: Vec<f64> = times.iter().map(|_| -2.0 + random.normal()).collect();
    for kind in ["bernoulli", "categorical"] {
        let counts = tables(kind, [-4.0, 2.0], 50);
        for stamps in [&late, &early] {
            let (times, stamps, log_odds) = (times.clone(), stamps.clone(), log_odds.clone());
            let case = Case { times, stamps: Stamp::at(&stamps), log_odds };
            let bell = Bell { delay: 0.0, spread: 1.0, cut: f64::INFINITY };
            let tails = Tails { scale: 1.0, degrees: 4.0 };
            for (density, most) in [(&bell as &dyn DelayDensity, 0.2), (&tails, 0.6)] {
                let lattice = case.lattice(&counts, density);
                let want = dense::marginals(&lattice).unwrap();
                let got = lattice.marginals().unwrap();
                assert_same(&got, &want, kind);
                let cells = share_of_cells(&got, 400);
                assert!(cells < most, "{kind}: {cells}");
            }
        }
    }
}

#[test]
fn a_series_of_weights_of_one_counts_alignments() {
    // C(L + M − 1, M) ways to put M stamps on L instances in order, with any number on one instance.
    for (instances, stamps) in [(1, 1), (5, 3), (40, 12), (300, 200)] {
        let table: Vec<f64> = (0..=stamps).map(|c| -ln_gamma(c as f64 + 1.0)).collect();
        let counts = CountTables::new([table.clone(), table], Some([0.0, 0.0]));
        let times = (0..instances).map(|i| i as f64).collect();
        let stamps_at: Vec<f64> = (0..stamps).map(|l| l as f64).collect();
        let case = Case { times, stamps: Stamp::at(&stamps_at), log_odds: vec![0.3; instances] };
        let flat = Bell { delay: 0.0, spread: 1e200, cut: f64::INFINITY };
        let lattice = case.lattice(&counts, &flat);
        let pass = Derivatives {
            log_odds: &case.log_odds,
            rows: usize::MAX,
            messages: Messages::default(),
        };
        let got = lattice.stamped.run(&pass, &counts, &Scratch::default()).unwrap();
        let log_binomial = |n: usize, k: usize| {
            let [n, k] = [n, k].map(|x| x as f64 + 1.0);
            ln_gamma(n) - ln_gamma(k) - ln_gamma(n - k + 1.0)
        };
        let want = log_binomial(instances + stamps - 1, stamps) + stamps as f64 * flat.log_peak();
        // Logs of gamma functions near 2000, and 200 log peaks near −461: 1e-16 each, relatively.
        assert!((got.log_evidence - want).abs() < 1e-10 * want.abs(), "{instances} {stamps}");
    }
}
