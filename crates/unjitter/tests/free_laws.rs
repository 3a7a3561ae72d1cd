//! Laws and symmetries that free alignment obeys although it is approximate.

#[path = "common/kept.rs"]
mod kept;

use std::sync::{Arc, Mutex};

use kept::Kept;
use unjitter::inference::{Marginals, Order, Stamp, Timeline};
use unjitter::math::Random;
use unjitter::model::{Clock, Learned, OneAnnotator, StampModel, Sums};
use unjitter::{Counts, Noise};

/// A session and its annotator.
#[derive(Clone)]
struct Case {
    counts: Counts,
    times: Vec<f64>,
    stamps: Vec<f64>,
    log_odds: Vec<f64>,
    learned: Learned,
    duration: f64,
    /// Stamps per unit of time that are usual, if the background goes with them.
    usual_rate: Option<f64>,
}

impl Case {
    fn with<T>(&self, work: impl FnOnce(&OneAnnotator, &[f64], Timeline<'_>) -> T) -> T {
        let (counts, noise) = (self.counts.build().unwrap(), Noise::Gaussian.build(1.0).unwrap());
        let model = OneAnnotator::new(Arc::from(counts), Arc::from(noise));
        let model = model.with_order(Order::Free);
        let model = match self.usual_rate {
            Some(rate) => model.with_proportional_background(rate),
            None => model.with_background(),
        };
        let stamps = Stamp::at(&self.stamps);
        let timeline = Timeline::new(&self.times, &stamps, 1.0);
        let timeline = Timeline { duration: self.duration, ..timeline };
        work(&model, &model.start(&self.learned), timeline)
    }

    fn posterior(&self) -> Marginals {
        self.with(|model, params, timeline| {
            model
                .bind(params, Clock::default(), self.stamps.len())
                .posterior(timeline, &self.log_odds, None)
                .unwrap()
        })
    }
}

/// Multiples of 2⁻¹⁶, so that adding epoch seconds to them loses nothing.
fn dyadic(value: f64) -> f64 {
    (value * 65536.0).round() / 65536.0
}

/// A session of every count model, with ties, known labels, and stamps from anywhere.
fn cases(instances: usize, stamps: usize) -> Vec<Case> {
    let kinds = [
        Counts::Bernoulli,
        Counts::Categorical { max_count: 3 },
        Counts::Poisson,
        Counts::Geometric,
    ];
    let case = |(seed, counts): (u64, Counts)| {
        let mut random = Random::new(seed);
        let mut t = 0.0;
        let mut step = || {
            t += if random.below(8) == 0 { 0.0 } else { 2.0 * random.uniform() };
            dyadic(t)
        };
        let times: Vec<f64> = (0..instances).map(|_| step()).collect();
        let mut z: Vec<f64> = (0..stamps)
            .map(|_| dyadic(times[random.below(instances)] + 0.5 + 1.5 * random.normal()))
            .collect();
        z.sort_by(f64::total_cmp);
        let log_odds = (0..instances)
            .map(|_| match random.below(8) {
                0 => f64::INFINITY,
                1 => f64::NEG_INFINITY,
                _ => -1.0 + 2.0 * random.normal(),
            })
            .collect();
        let (delay, spread, miss_rate, false_rate) = (0.5, 1.5, 0.15, 0.03);
        let learned = Learned { delay, spread, miss_rate, false_rate, background_rate: 0.02 };
        let duration = times[instances - 1] + 20.0;
        Case { counts, times, stamps: z, log_odds, learned, duration, usual_rate: None }
    };
    (0..).zip(kinds).map(case).collect()
}

/// Fails unless two posteriors agree, with instances and stamps of the second renamed.
fn assert_same(
    a: &Marginals,
    b: &Marginals,
    place: impl Fn(usize, usize) -> (usize, usize),
    tolerance: f64,
    what: &Counts,
) {
    for i in 0..a.counts.instances() {
        let (x, y) = (a.counts.positive(i), b.counts.positive(place(i, 0).0));
        assert!((x - y).abs() <= tolerance, "{what:?}: p(y_{i}): {x} {y}");
        for l in 0..a.responsibilities.stamps() {
            let (j, k) = place(i, l);
            let (x, y) = (a.responsibilities.get(i, l), b.responsibilities.get(j, k));
            assert!((x - y).abs() <= tolerance, "{what:?}: w({i},{l}): {x} {y}");
        }
    }
}

#[test]
fn shifting_every_time_changes_nothing() {
    for case in cases(40, 12) {
        let plain = case.posterior();
        for shift in [-37.5, 1.7e9] {
            let mut shifted = case.clone();
            shifted.times.iter_mut().for_each(|t| *t += shift);
            shifted.stamps.iter_mut().for_each(|z| *z += shift);
            let shifted = shifted.posterior();
            // Delays are the same to the bit; windows may end an instance apart, of 1e-10 of a stamp.
            let (a, b) = (plain.log_evidence, shifted.log_evidence);
            assert!((a - b).abs() < 1e-8, "{:?}: {a} {b}", case.counts);
            assert_same(&plain, &shifted, |i, l| (i, l), 1e-8, &case.counts);
        }
    }
}

#[test]
fn time_run_backwards_gives_mirrored_marginals() {
    for case in cases(40, 12) {
        let flip = |values: &[f64]| -> Vec<f64> { values.iter().rev().map(|v| -v).collect() };
        let mut mirrored = case.clone();
        (mirrored.times, mirrored.stamps) = (flip(&case.times), flip(&case.stamps));
        mirrored.log_odds.reverse();
        mirrored.learned.delay *= -1.0;
        let (plain, mirrored) = (case.posterior(), mirrored.posterior());
        let (a, b) = (plain.log_evidence, mirrored.log_evidence);
        // Rounds in the other order end at the same messages, to 1e-6; the evidence is stationary there.
        assert!((a - b).abs() < 1e-9, "{:?}: {a} {b}", case.counts);
        let place = |i: usize, l: usize| (39 - i, 11 - l);
        assert_same(&plain, &mirrored, place, 1e-6, &case.counts);
    }
}

#[test]
fn scaling_time_scales_the_density() {
    for case in cases(40, 12) {
        let plain = case.posterior();
        for factor in [1000.0, 1.0 / 86400.0] {
            let mut scaled = case.clone();
            scaled.times.iter_mut().for_each(|t| *t *= factor);
            scaled.stamps.iter_mut().for_each(|z| *z *= factor);
            scaled.duration *= factor;
            scaled.learned.delay *= factor;
            scaled.learned.spread *= factor;
            scaled.learned.background_rate /= factor;
            let scaled = scaled.posterior();
            let want = plain.log_evidence - case.stamps.len() as f64 * f64::ln(factor);
            // Delays are rounded anew, and windows may end an instance apart.
            let got = scaled.log_evidence;
            assert!((got - want).abs() < 1e-8, "{:?}: {got} {want}", case.counts);
            assert_same(&plain, &scaled, |i, l| (i, l), 1e-8, &case.counts);
        }
    }
}

#[test]
fn halves_far_apart_are_sessions_of_their_own() {
    for (early, mut late) in cases(40, 12).into_iter().zip(cases(30, 9)) {
        let [a, b] = [&early, &late].map(Case::posterior);
        late.times.iter_mut().for_each(|t| *t += 65536.0);
        late.stamps.iter_mut().for_each(|z| *z += 65536.0);
        let mut both = early.clone();
        both.times.extend(&late.times);
        both.stamps.extend(&late.stamps);
        both.log_odds.extend(&late.log_odds);
        both.duration += late.duration;
        let both = both.posterior();
        let (got, want) = (both.log_evidence, a.log_evidence + b.log_evidence);
        // As for a shift.
        assert!((got - want).abs() < 1e-8, "{:?}: {got} {want}", early.counts);
        assert_same(&a, &both, |i, l| (i, l), 1e-8, &early.counts);
        assert_same(&b, &both, |i, l| (i + 40, l + 12), 1e-8, &early.counts);
    }
}

#[test]
fn the_order_of_ties_does_not_matter() {
    for mut case in cases(40, 12) {
        case.times[11] = case.times[10];
        case.stamps[6] = case.stamps[5];
        (case.log_odds[10], case.log_odds[11]) = (2.0, -3.0);
        let plain = case.posterior();
        case.log_odds.swap(10, 11);
        let swapped = case.posterior();
        // The same products in another order; the evidence is stationary at messages good to 1e-6.
        let (a, b) = (plain.log_evidence, swapped.log_evidence);
        assert!((a - b).abs() < 1e-9, "{:?}: {a} {b}", case.counts);
        let instance = |i: usize| if i == 10 || i == 11 { 21 - i } else { i };
        assert_same(&plain, &swapped, |i, l| (instance(i), l), 1e-6, &case.counts);
        // Stamps that tie have the same owners.
        let stamp = |l: usize| if l == 5 || l == 6 { 11 - l } else { l };
        assert_same(&plain, &plain, |i, l| (i, stamp(l)), 1e-6, &case.counts);
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    for case in cases(40_000, 1_000) {
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let derivatives = Mutex::new(vec![0.0; case.times.len()]);
            let rows = Kept { log_odds: &case.log_odds, derivatives };
            let sums = case.with(|model, params, timeline| {
                let mut sums = Sums::zeros(0, params.len());
                let bound = model.bind(params, Clock::default(), case.stamps.len());
                pool.install(|| bound.add(timeline, &rows, &mut sums)).unwrap();
                sums
            });
            (sums, rows.derivatives.into_inner().unwrap())
        };
        let one = on(1);
        assert!(one.0.value.is_finite());
        assert_eq!(one, on(2), "{:?}", case.counts);
        assert_eq!(one, on(4), "{:?}", case.counts);
    }
}

#[test]
fn a_background_in_proportion_is_that_of_the_sessions_own_rate() {
    for mut case in cases(40, 12) {
        // Three times as many stamps as are usual.
        let usual = 12.0 / case.duration / 3.0;
        let proportional = Case { usual_rate: Some(usual), ..case.clone() }.posterior();
        case.learned.background_rate *= 3.0;
        let own = case.posterior();
        // A few roundings, in an evidence that is stationary at messages good to 1e-6.
        let (a, b) = (proportional.log_evidence, own.log_evidence);
        assert!((a - b).abs() < 1e-9, "{:?}: {a} {b}", case.counts);
        assert_same(&proportional, &own, |i, l| (i, l), 1e-6, &case.counts);
        // Nobody who does not press slips.
        let silent = Case { stamps: Vec::new(), usual_rate: Some(usual), ..case.clone() };
        let without = Case { stamps: Vec::new(), ..case.clone() };
        let slips = case.learned.background_rate * case.duration;
        let gain = silent.posterior().log_evidence - without.posterior().log_evidence;
        assert!((gain - slips).abs() < 1e-12 * slips.max(1.0), "{gain} {slips}"); // one rounding
    }
}
