//! Laws, closed forms and symmetries that exact inference obeys on any data.

#[path = "common/noises.rs"]
mod noises;

use noises::noise_models;
use unjitter::inference::{
    CountMarginals, CountTables, DelayDensity, Lattice, Responsibilities, Stamp, Timeline, dense,
};
use unjitter::math::{Random, ln_gamma, log_sum, sigmoid};
use unjitter::model::{BoundCounts, BoundNoise};
use unjitter::{Control, Counts, Noise, Posterior, PosteriorOptions, posterior};

/// A session with counts and noise, drawn so that its stamps are possible.
struct Case {
    what: String,
    times: Vec<f64>,
    stamps: Vec<f64>,
    log_odds: Vec<f64>,
    counts: BoundCounts,
    noise: BoundNoise,
}

impl Case {
    fn posterior(&self) -> Posterior {
        posterior(
            &self.times,
            &self.stamps,
            &self.log_odds,
            &self.counts,
            &self.noise,
            &PosteriorOptions::default(),
        )
        .unwrap_or_else(|error| panic!("{}: {error}", self.what))
    }
}

fn count_models() -> Vec<BoundCounts> {
    let rates: [(&str, &[f64]); 2] = [("false_rate", &[0.03]), ("hit_rate", &[0.85])];
    let split: [(&str, &[f64]); 2] =
        [("false_split", &[0.8, 0.15, 0.05]), ("hit_split", &[0.6, 0.3, 0.1])];
    vec![
        Counts::Bernoulli.with(&rates).unwrap(),
        Counts::Categorical { max_count: 3 }.with(&[rates, split].concat()).unwrap(),
        Counts::Poisson.with(&rates).unwrap(),
        Counts::Geometric.with(&rates).unwrap(),
    ]
}

/// Multiples of 2⁻¹⁶, so that adding epoch seconds to them loses nothing.
fn dyadic(value: f64) -> f64 {
    (value * 65536.0).round() / 65536.0
}

/// Every count model with every noise model on a session of its own; some times and stamps tie,
/// and some labels are known.
fn cases(instances: usize, stamps: usize) -> Vec<Case> {
    let mut cases = Vec::new();
    for noise_at in 0..noise_models(1.0).len() {
        for (counts_at, counts) in count_models().into_iter().enumerate() {
            let mut random = Random::new((10 * noise_at + counts_at) as u64);
            let (model, noise) = noise_models(1.0).swap_remove(noise_at);
            let mut t = 0.0;
            let times: Vec<f64> = (0..instances)
                .map(|_| {
                    t += if random.below(8) == 0 { 0.0 } else { 2.0 * random.uniform() };
                    dyadic(t)
                })
                .collect();
            let mut free: Vec<usize> = (0..instances).collect();
            let owners: Vec<usize> =
                (0..stamps).map(|_| free.swap_remove(random.below(free.len()))).collect();
            let mut z: Vec<f64> =
                owners.iter().map(|&i| dyadic(times[i] + noise.sample(&mut random))).collect();
            z.sort_by(f64::total_cmp);
            let log_odds = (0..instances)
                .map(|i| match random.below(8) {
                    0 => f64::INFINITY,
                    1 if !owners.contains(&i) => f64::NEG_INFINITY,
                    _ => -1.0 + 2.0 * random.normal(),
                })
                .collect();
            let what = format!("{}, counts {counts_at}", model.name());
            cases.push(Case { what, times, stamps: z, log_odds, counts, noise });
        }
    }
    cases
}

fn sampled(found: &Posterior, draws: usize, seed: u64) -> Vec<Vec<Option<usize>>> {
    found.sample(draws, seed, Control::default()).unwrap()
}

/// Inference's results about counts and stamps.
type Answer<'a> = (&'a CountMarginals, &'a Responsibilities);

fn answer(found: &Posterior) -> Answer<'_> {
    (found.counts(), found.responsibilities())
}

/// Every number of two answers, with the instances of the second renamed.
fn assert_same(
    (counts, shares): Answer<'_>,
    (other_counts, other_shares): Answer<'_>,
    instances: usize,
    place: impl Fn(usize, usize) -> (usize, usize),
    tolerance: f64,
    what: &str,
) {
    let stamps = shares.stamps();
    assert_eq!(stamps, other_shares.stamps(), "{what}");
    for i in 0..instances {
        let (j, _) = place(i, 0);
        for c in 0..=stamps {
            for y in [0, 1] {
                let of = |row: &[[f64; 2]]| row.get(c).map_or(0.0, |v| v[y]);
                let (x, y) = (of(counts.row(i)), of(other_counts.row(j)));
                assert!((x - y).abs() <= tolerance, "{what}: o_{i} = {c}: {x} {y}");
            }
        }
        for l in 0..stamps {
            let (j, k) = place(i, l);
            let (x, y) = (shares.get(i, l), other_shares.get(j, k));
            assert!((x - y).abs() <= tolerance, "{what}: w({i},{l}): {x} {y}");
        }
    }
}

#[test]
fn marginals_agree_with_each_other() {
    for case in cases(30, 6) {
        let found = case.posterior();
        let what = &case.what;
        let (shares, counts) = (found.responsibilities(), found.counts());
        for l in 0..case.stamps.len() {
            let total: f64 = shares.of_stamp(l).iter().sum();
            // Each column is divided by its own sum: rounding only.
            assert!((total - 1.0).abs() < 1e-12, "{what}: stamp {l} has {total}");
            for (all, positive) in shares.of_stamp(l).iter().zip(shares.of_stamp_positive(l)) {
                assert!(*positive >= 0.0 && *positive <= all + 1e-15, "{what}"); // one rounding
            }
        }
        for i in 0..case.times.len() {
            let row = counts.row(i);
            let total: f64 = row.iter().map(|pair| pair[0] + pair[1]).sum();
            assert!((total - 1.0).abs() < 1e-12, "{what}: o_{i} has {total}"); // rounding
            let given: f64 = (0..case.stamps.len()).map(|l| shares.get(i, l)).sum();
            let mean: f64 =
                row.iter().enumerate().map(|(c, pair)| c as f64 * (pair[0] + pair[1])).sum();
            // Columns of different scales; the certificate of each is far above rounding.
            assert!((given - mean).abs() < 1e-11, "{what}: instance {i}: {given} {mean}");
            let known = match case.log_odds[i] {
                f64::INFINITY => Some(1.0),
                f64::NEG_INFINITY => Some(0.0),
                _ => None,
            };
            let positive = found.positive()[i];
            assert!(known.is_none_or(|known| (positive - known).abs() < 1e-12), "{what}"); // rounding
        }
        let best = found.best_alignment();
        assert!(best.instances.is_sorted(), "{what}");
        assert!(best.log_weight <= found.log_evidence(), "{what}: the best of several paths");
        let owners = best.instances.iter().flatten().enumerate();
        let best_shares = owners.map(|(l, &i)| shares.get(i, l)).fold(1.0, f64::min);
        let log_share = best.log_weight - found.log_evidence();
        // A stamp's owner in the best alignment is at least as likely as that alignment.
        assert!(best_shares.ln() >= log_share - 1e-12, "{what}"); // rounding
    }
}

/// Density one everywhere: it turns sums over alignments into their number.
struct Flat;

impl DelayDensity for Flat {
    fn log_density(&self, _delays: &[f64], out: &mut [f64]) {
        out.fill(0.0);
    }
    fn log_peak(&self) -> f64 {
        0.0
    }
    fn reach(&self, _log_drop: f64) -> (f64, f64) {
        (f64::NEG_INFINITY, f64::INFINITY)
    }
    fn log_mean_density(&self, delays: &[f64], _width: f64, out: &mut [f64]) {
        self.log_density(delays, out);
    }
}

fn log_binomial(n: usize, k: usize) -> f64 {
    let log_factorial = |n: usize| ln_gamma(n as f64 + 1.0);
    log_factorial(n) - log_factorial(k) - log_factorial(n - k)
}

/// Tables with c!·p(c | y) = 1 up to `most`.
fn all_one(most: usize) -> CountTables {
    let table: Vec<f64> = (0..=most).map(|c| -ln_gamma(c as f64 + 1.0)).collect();
    CountTables::new([table.clone(), table], None)
}

const SIZES: [(usize, usize); 7] = [(1, 1), (2, 1), (5, 5), (7, 3), (60, 60), (200, 1), (200, 60)];

#[test]
fn weights_of_one_count_alignments() {
    for (instances, stamps) in SIZES {
        let times: Vec<f64> = (0..instances).map(|i| i as f64).collect();
        let stamp_times: Vec<f64> = (0..stamps).map(|l| l as f64).collect();
        let log_odds = vec![0.3; instances];
        let at_most_one = log_binomial(instances, stamps);
        let any_number = log_binomial(instances + stamps - 1, stamps);
        // k instances with two stamps, M − 2k with one.
        let pairs = stamps.saturating_sub(instances)..=stamps / 2;
        let at_most_two: Vec<f64> = pairs
            .map(|k| log_binomial(instances, k) + log_binomial(instances - k, stamps - 2 * k))
            .collect();
        for (most, want) in [(1, at_most_one), (2, log_sum(&at_most_two)), (stamps, any_number)] {
            let counts = all_one(most);
            // At most one stamp twice over where M = 1.
            let want = if most.min(stamps) == 1 { at_most_one } else { want };
            let placed = Stamp::at(&stamp_times);
            let lattice = Lattice {
                stamped: Timeline::new(&times, &placed, 1.0).with(&Flat),
                log_odds: &log_odds,
                counts: &counts,
            };
            let what = format!("L = {instances}, M = {stamps}, at most {most}");
            for (how, got) in
                [("banded", lattice.marginals()), ("dense", dense::marginals(&lattice))]
            {
                let got = got.unwrap().log_evidence;
                // 12 000 additions, and logs of gamma functions near 800: 1e-16 each at worst.
                assert!((got - want).abs() < 1e-10 * want.max(1.0), "{what}, {how}: {got} {want}");
            }
        }
    }
}

#[test]
fn weights_of_one_give_hypergeometric_responsibilities() {
    let (instances, stamps) = (200, 60);
    let times: Vec<f64> = (0..instances).map(|i| i as f64).collect();
    let stamp_times: Vec<f64> = (0..stamps).map(|l| l as f64).collect();
    let counts = all_one(1);
    let placed = Stamp::at(&stamp_times);
    let lattice = Lattice {
        stamped: Timeline::new(&times, &placed, 1.0).with(&Flat),
        log_odds: &vec![-1.0; instances],
        counts: &counts,
    };
    let got = lattice.marginals().unwrap().responsibilities;
    for l in 0..stamps {
        for i in 0..instances {
            // l stamps among the i instances before, the rest among those after.
            let want = if i < l || instances - i < stamps - l {
                0.0
            } else {
                let paths = log_binomial(i, l) + log_binomial(instances - i - 1, stamps - l - 1)
                    - log_binomial(instances, stamps);
                paths.exp()
            };
            // Logs of gamma functions near 800 are good to 1e-13 each.
            assert!((got.get(i, l) - want).abs() < 1e-11, "w({i},{l}): {} {want}", got.get(i, l));
        }
    }
}

#[test]
fn shifting_every_time_changes_nothing() {
    for case in cases(25, 5) {
        let plain = case.posterior();
        // Dyadic fractions: the sums are exact even at epoch seconds.
        for shift in [-37.5, 1024.0, 1.7e9] {
            let times: Vec<f64> = case.times.iter().map(|t| t + shift).collect();
            let stamps: Vec<f64> = case.stamps.iter().map(|z| z + shift).collect();
            let shifted = posterior(
                &times,
                &stamps,
                &case.log_odds,
                &case.counts,
                &case.noise,
                &PosteriorOptions::default(),
            )
            .unwrap();
            let what = format!("{} shifted by {shift}", case.what);
            let (a, b) = (plain.log_evidence(), shifted.log_evidence());
            // Delays are the same to the bit; windows may end one negligible instance apart.
            assert!((a - b).abs() < 1e-13 * a.abs(), "{what}: {a} {b}");
            assert_same(
                answer(&plain),
                answer(&shifted),
                case.times.len(),
                |i, l| (i, l),
                1e-13,
                &what,
            );
            assert_eq!(plain.best_alignment().instances, shifted.best_alignment().instances);
            assert_eq!(sampled(&plain, 20, 1), sampled(&shifted, 20, 1), "{what}");
        }
    }
}

#[test]
fn scaling_time_scales_the_density() {
    for (at, case) in cases(25, 5).into_iter().enumerate() {
        let plain = case.posterior();
        for factor in [1000.0, 0.0625, 1.0 / 86400.0] {
            let times: Vec<f64> = case.times.iter().map(|t| t * factor).collect();
            let stamps: Vec<f64> = case.stamps.iter().map(|z| z * factor).collect();
            let (_, noise) = noise_models(factor).swap_remove(at / count_models().len());
            let scaled = posterior(
                &times,
                &stamps,
                &case.log_odds,
                &case.counts,
                &noise,
                &PosteriorOptions::default(),
            )
            .unwrap();
            let what = format!("{} scaled by {factor}", case.what);
            let want = plain.log_evidence() - stamps.len() as f64 * f64::ln(factor);
            let got = scaled.log_evidence();
            // Each delay is rounded anew; five densities with slopes of order ten.
            assert!((got - want).abs() < 1e-12 * want.abs().max(1.0), "{what}: {got} {want}");
            assert_same(
                answer(&plain),
                answer(&scaled),
                case.times.len(),
                |i, l| (i, l),
                1e-12,
                &what,
            ); // likewise
        }
    }
}

/// The density of minus the delay.
struct Mirrored<'a>(&'a BoundNoise);

impl DelayDensity for Mirrored<'_> {
    fn log_density(&self, delays: &[f64], out: &mut [f64]) {
        let delays: Vec<f64> = delays.iter().map(|delay| -delay).collect();
        self.0.density().log_density(&delays, out);
    }

    fn log_peak(&self) -> f64 {
        self.0.density().log_peak()
    }

    fn reach(&self, log_drop: f64) -> (f64, f64) {
        let (low, high) = self.0.density().reach(log_drop);
        (-high, -low)
    }

    fn log_mean_density(&self, delays: &[f64], width: f64, out: &mut [f64]) {
        let delays: Vec<f64> = delays.iter().map(|delay| -delay).collect();
        self.0.density().log_mean_density(&delays, width, out);
    }
}

#[test]
fn time_run_backwards_gives_mirrored_marginals() {
    for case in cases(25, 5) {
        let flip = |values: &[f64]| -> Vec<f64> { values.iter().rev().map(|v| -v).collect() };
        let (times, stamps) = (flip(&case.times), flip(&case.stamps));
        let log_odds: Vec<f64> = case.log_odds.iter().rev().copied().collect();
        let counts = &case.counts.tables(stamps.len());
        let density = &Mirrored(&case.noise);
        let placed = Stamp::at(&stamps);
        let stamped = Timeline::new(&times, &placed, 1.0).with(density);
        let backwards = Lattice { stamped, log_odds: &log_odds, counts };
        let (plain, backwards) = (case.posterior(), backwards.marginals().unwrap());
        let (a, b) = (plain.log_evidence(), backwards.log_evidence);
        // The same sums in the other order: rounding only.
        assert!((a - b).abs() < 1e-12 * a.abs(), "{}: {a} {b}", case.what);
        let (instances, last) = (times.len(), stamps.len().saturating_sub(1));
        let place = |i: usize, l: usize| (instances - 1 - i, last - l);
        let backwards = (&backwards.counts, &backwards.responsibilities);
        assert_same(answer(&plain), backwards, instances, place, 1e-11, &case.what); // likewise
    }
}

#[test]
fn draws_have_the_frequencies_of_the_marginals() {
    let draws = 20_000;
    for case in cases(14, 4) {
        let found = case.posterior();
        let drawn = sampled(&found, draws, 7);
        assert_eq!(drawn, sampled(&found, draws, 7), "{}: same seed, same draws", case.what);
        assert_ne!(drawn[..50], sampled(&found, draws, 8)[..50], "{}: another seed", case.what);
        assert!(drawn.iter().all(|alignment| alignment.is_sorted()), "{}", case.what);
        let agrees = |frequency: f64, p: f64, what: &str| {
            // Five standard errors, and five draws where hardly one is expected.
            let n = draws as f64;
            let allowed = 5.0 * (p.max(0.0) * (1.0 - p).max(0.0) / n).sqrt() + 5.0 / n;
            assert!((frequency - p).abs() < allowed, "{}: {what}: {frequency} {p}", case.what);
        };
        let share = |holds: &dyn Fn(&[Option<usize>]) -> bool| {
            drawn.iter().filter(|alignment| holds(alignment)).count() as f64 / draws as f64
        };
        for i in 0..case.times.len() {
            for l in 0..case.stamps.len() {
                let p = found.responsibilities().get(i, l);
                agrees(share(&|a| a[l] == Some(i)), p, &format!("w({i},{l})"));
            }
            // Counts see several stamps at once: draws that are right one by one may fail here.
            for c in 0..=case.stamps.len() {
                let p = found.counts().row(i).get(c).map_or(0.0, |pair| pair[0] + pair[1]);
                let frequency = share(&|a| a.iter().filter(|&&j| j == Some(i)).count() == c);
                agrees(frequency, p, &format!("o_{i} = {c}"));
            }
        }
    }
}

fn gaussian(delay: f64, spread: f64) -> (BoundNoise, impl Fn(f64) -> f64) {
    let noise = Noise::Gaussian.with(&[("delay", &[delay]), ("spread", &[spread])]).unwrap();
    let log_density = move |d: f64| {
        let s = (d - delay) / spread;
        -0.5 * s * s - spread.ln() - 0.5 * (2.0 * std::f64::consts::PI).ln()
    };
    (noise, log_density)
}

#[test]
fn without_stamps_every_instance_is_silent() {
    let log_odds = [-3.0, 0.5, 40.0, f64::INFINITY, f64::NEG_INFINITY];
    let times = [0.0, 1.0, 1.0, 2.0, 9.0];
    let (noise, _) = gaussian(0.0, 1.0);
    for counts in count_models() {
        let found =
            posterior(&times, &[], &log_odds, &counts, &noise, &PosteriorOptions::default())
                .unwrap();
        let mut log_evidence = 0.0;
        for (i, &f) in log_odds.iter().enumerate() {
            let (negative, positive) = (sigmoid(-f) * 0.97, sigmoid(f) * 0.15);
            log_evidence += (negative + positive).ln();
            let want = positive / (negative + positive);
            assert!((found.positive()[i] - want).abs() < 1e-14, "{i}"); // three roundings
            assert!((found.counts().missed(i) - want).abs() < 1e-14, "{i}"); // the same number
        }
        assert!((found.log_evidence() - log_evidence).abs() < 1e-13); // five logs
        let best = found.best_alignment();
        assert!(best.instances.is_empty());
        assert!((best.log_weight - log_evidence).abs() < 1e-13); // five logs
        assert_eq!(sampled(&found, 3, 0), vec![Vec::new(); 3]);
    }
}

#[test]
fn at_capacity_only_one_alignment_is_left() {
    let times = [0.0, 0.0, 1.5, 4.0];
    let log_odds = [-1.0, 2.0, 0.0, -4.0];
    let (noise, log_density) = gaussian(0.2, 0.9);
    let one = [0.03, 0.85];
    let three = [0.03 * 0.05 * 6.0, 0.85 * 0.1 * 6.0]; // 3!·p(3 | y)
    for (at, per_instance, weights) in [(0, 1, one), (1, 3, three)] {
        let counts = count_models().swap_remove(at);
        let stamps: Vec<f64> = (0..4 * per_instance).map(|l| 0.4 * l as f64).collect();
        let found =
            posterior(&times, &stamps, &log_odds, &counts, &noise, &PosteriorOptions::default())
                .unwrap();
        let mut want = 0.0;
        for (i, &f) in log_odds.iter().enumerate() {
            let joint = [sigmoid(-f) * weights[0], sigmoid(f) * weights[1]];
            want += (joint[0] + joint[1]).ln();
            // Three roundings.
            assert!((found.positive()[i] - joint[1] / (joint[0] + joint[1])).abs() < 1e-14);
        }
        for (l, z) in stamps.iter().enumerate() {
            want += log_density(z - times[l / per_instance]);
            assert_eq!(found.best_alignment().instances[l], Some(l / per_instance));
            assert!((found.responsibilities().get(l / per_instance, l) - 1.0).abs() < 1e-14); // rounding
        }
        let got = found.log_evidence();
        assert!((got - want).abs() < 1e-13 * want.abs(), "{got} {want}"); // sixteen logs
        // Rounding.
        assert!((found.best_alignment().log_weight - want).abs() < 1e-13 * want.abs());
    }
}

#[test]
fn one_instance_takes_every_stamp() {
    let stamps = [0.1, 0.4, 0.4];
    let (noise, log_density) = gaussian(0.2, 0.9);
    let log_odds = [0.7];
    let [f] = log_odds;
    let rate = |y: usize| [0.03f64, 0.85][y];
    // c!·p(c | y) at c = 3.
    let weights: [fn(f64, f64) -> f64; 3] = [
        |pi, split| 6.0 * pi * split,
        |pi, _| (1.0 - pi) * (-(-pi).ln_1p()).powi(3),
        |pi, _| 6.0 * (1.0 - pi) * pi.powi(3),
    ];
    for (counts, weight) in count_models().into_iter().skip(1).zip(weights) {
        let found =
            posterior(&[0.0], &stamps, &log_odds, &counts, &noise, &PosteriorOptions::default())
                .unwrap();
        let joint = [sigmoid(-f) * weight(rate(0), 0.05), sigmoid(f) * weight(rate(1), 0.1)];
        let log_densities: f64 = stamps.iter().map(|z| log_density(*z)).sum();
        let want = (joint[0] + joint[1]).ln() + log_densities;
        let got = found.log_evidence();
        assert!((got - want).abs() < 1e-13, "{got} {want}"); // a dozen roundings
        let positive = found.positive()[0];
        assert!((positive - joint[1] / (joint[0] + joint[1])).abs() < 1e-13); // likewise
        assert_eq!(found.best_alignment().instances, [Some(0); 3]);
    }
}

#[test]
fn equal_instances_share_a_stamp_equally() {
    let (noise, _) = gaussian(0.0, 1.0);
    for counts in count_models() {
        let found =
            posterior(&[2.0; 4], &[2.3], &[0.4; 4], &counts, &noise, &PosteriorOptions::default())
                .unwrap();
        for i in 0..4 {
            assert!((found.responsibilities().get(i, 0) - 0.25).abs() < 1e-15); // rounding
            assert!((found.positive()[i] - found.positive()[0]).abs() < 1e-15); // rounding
        }
    }
}

#[test]
fn stamps_that_tie_are_the_limit_of_stamps_that_meet() {
    for case in cases(12, 3) {
        let middle = case.stamps[1];
        let meeting = |gap: f64| {
            let stamps = [middle, middle + gap, case.stamps[2].max(middle + gap)];
            let (counts, noise) = (&case.counts, &case.noise);
            posterior(
                &case.times,
                &stamps,
                &case.log_odds,
                counts,
                noise,
                &PosteriorOptions::default(),
            )
            .ok()
            .map(|found| (found.log_evidence(), found.positive()))
        };
        // A pair at one place may be out of every other instance's reach.
        let Some((tied, positive)) = meeting(0.0) else { continue };
        let (near, near_positive) = meeting(1e-9).expect("as possible as the tie");
        // Slopes of log densities of order ten over a gap of 1e-9; the Gamma's edge is steeper.
        assert!((tied - near).abs() < 1e-6, "{}: {tied} {near}", case.what);
        for (a, b) in positive.iter().zip(near_positive) {
            assert!((a - b).abs() < 1e-6, "{}: {a} {b}", case.what); // likewise
        }
    }
}

#[test]
fn delays_on_the_edge_of_bounded_noise_are_within_it() {
    // Tenths have no exact binary form: z − t may equal the bound where z − bound is not t.
    let noise = Noise::Uniform { earliest: -0.2, latest: 0.7 }.with(&[]).unwrap();
    let counts = count_models().swap_remove(0);
    let mut on_edge = 0;
    for origin in [0.0, 12.3, 1.7e9] {
        let times: Vec<f64> = (0..60).map(|i| origin + 0.1 * f64::from(i)).collect();
        let log_odds = vec![-1.0; times.len()];
        for stamp in times[10..50].iter().flat_map(|t| [t + 0.7, t - 0.2]) {
            let stamps = [stamp];
            on_edge += times.iter().filter(|&t| [0.7, -0.2].contains(&(stamp - t))).count();
            let tables = counts.tables(1);
            let (density, placed) = (noise.density(), Stamp::at(&stamps));
            let lattice = Lattice {
                stamped: Timeline::new(&times, &placed, 1.0).with(&density),
                log_odds: &log_odds,
                counts: &tables,
            };
            let (got, want) = (lattice.marginals().unwrap(), dense::marginals(&lattice).unwrap());
            // Sixty terms: rounding only.
            let (a, b) = (got.log_evidence, want.log_evidence);
            assert!((a - b).abs() < 1e-12 * b.abs(), "stamp {stamp}: {a} {b}");
        }
    }
    assert!(on_edge > 10, "{on_edge} delays lie on an edge");
}

#[test]
fn parameters_at_the_end_of_the_numbers_still_align() {
    // Log densities of −1e308 each: their sum overflows, their differences do not matter.
    let counts = Counts::Bernoulli.with(&[("false_rate", &[0.0]), ("hit_rate", &[0.9])]).unwrap();
    for delay in [-5e307, 5e307] {
        let noise = Noise::Laplace.with(&[("delay", &[delay]), ("spread", &[0.5])]).unwrap();
        let found = posterior(
            &[0.0, 1.0, 2.0, 3.0],
            &[1.2, 2.3],
            &[0.0; 4],
            &counts,
            &noise,
            &PosteriorOptions::default(),
        )
        .unwrap();
        assert_eq!(found.best_alignment().instances.len(), 2);
        assert!(sampled(&found, 3, 1).iter().all(|alignment| alignment.len() == 2));
    }
}
