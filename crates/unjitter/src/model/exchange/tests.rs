//! The exchange against sums over all labels.

use std::cell::Cell;
use std::sync::Arc;

use ndarray::Array2;

use super::*;
use crate::inference::{Order, Stamp};
use crate::math::{Random, log_add, log_sigmoid};
use crate::model::OneAnnotator;
use crate::model::counts::Counts;
use crate::model::noise::Noise;
use crate::model::stamp_model::{Clock, Learned, StampModel};
use crate::{Control, FitOptions, Fitted, Model, Session, Warning};

const INSTANCES: usize = 8;

thread_local! {
    /// How many further sums of this thread are taken for ones that do not converge.
    static FAILING: Cell<usize> = const { Cell::new(0) };
}

/// Whether this sum is one of them.
pub(super) fn is_failing() -> bool {
    FAILING.with(|left| left.replace(left.get().saturating_sub(1)) > 0)
}

/// A session of several annotators, each with habits of its own.
struct Case {
    model: OneAnnotator,
    params: Vec<Vec<f64>>,
    times: Vec<f64>,
    stamps: Vec<Vec<Stamp>>,
    features: Vec<f64>,
}

impl Case {
    /// Events of about one instance in four, with presses of this spread, in spacings.
    fn draw(annotators: usize, spread: f64, order: Order, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let (counts, noise) = (Counts::Bernoulli.build(), Noise::Gaussian.build(1.0));
        let model = OneAnnotator::new(Arc::from(counts.unwrap()), Arc::from(noise.unwrap()));
        let model = model.with_order(order).with_background();
        let times: Vec<f64> = (0..INSTANCES).map(|i| i as f64).collect();
        let features: Vec<f64> = times.iter().map(|_| -1.0 + 1.5 * random.normal()).collect();
        let labels: Vec<bool> = features.iter().map(|&f| random.uniform() < sigmoid(f)).collect();
        let mut annotator = |k: usize| {
            let learned = Learned {
                delay: 0.3 * k as f64,
                spread,
                miss_rate: 0.1 + 0.1 * k as f64,
                false_rate: 0.02,
                background_rate: 0.02,
            };
            let params = model.start(&learned);
            let mut drawn = model.draw(&params, &times, &labels, &mut random).times;
            // Enumeration grows with the stamps of each.
            drawn.truncate(4);
            (params, Stamp::at(&drawn))
        };
        let (params, stamps) = (0..annotators).map(&mut annotator).unzip();
        Self { model, params, times, stamps, features }
    }

    fn streams<'a>(&'a self, bound: &'a [Bound<'a>]) -> Vec<Stream<'a>> {
        let stream = |(bound, stamps): (&'a Bound<'a>, &'a Vec<Stamp>)| {
            let timeline = Timeline::new(&self.times, stamps, 1.0);
            let timeline = Timeline { duration: INSTANCES as f64, ..timeline };
            Stream { bound, timeline, positions: &[0, 1, 2, 3], in_parallel: true }
        };
        bound.iter().zip(&self.stamps).map(stream).collect()
    }

    fn bound(&self) -> Vec<Bound<'_>> {
        let bind = |(params, stamps): (&Vec<f64>, &Vec<Stamp>)| {
            self.model.bind(params, Clock::default(), stamps.len())
        };
        self.params.iter().zip(&self.stamps).map(bind).collect()
    }

    fn exchanged(&self) -> Result<Exchanged, Impossible> {
        let bound = self.bound();
        exchange(&self.streams(&bound), &self.features, self.params[0].len(), None)
    }

    /// log Z and p(y_i = 1), by the sum over all labels of what each stream is under these: with labels known, a
    /// stream is summed by itself.
    fn enumerated(&self) -> (f64, Vec<f64>) {
        let bound = self.bound();
        let streams = self.streams(&bound);
        let mut weights = Vec::new();
        for labels in 0..1_u32 << INSTANCES {
            let is_one = |i: usize| (labels >> i) & 1 == 1;
            let known = |i: usize| if is_one(i) { f64::INFINITY } else { f64::NEG_INFINITY };
            let pinned: Vec<f64> = (0..INSTANCES).map(known).collect();
            let sign = |i: usize| if is_one(i) { 1.0 } else { -1.0 };
            let mut log_weight: f64 =
                (0..INSTANCES).map(|i| log_sigmoid(sign(i) * self.features[i])).sum();
            for stream in &streams {
                let mut sums = Sums::zeros(0, self.params[0].len());
                let rows = pinned.as_slice();
                log_weight += match stream.bound.add(stream.timeline, &rows, &mut sums) {
                    Ok(()) => sums.value,
                    Err(_) => f64::NEG_INFINITY,
                };
            }
            weights.push(log_weight);
        }
        let log_evidence = weights.iter().copied().fold(f64::NEG_INFINITY, log_add);
        let positive = |i: usize| {
            let own = weights.iter().enumerate().filter(|(labels, _)| (labels >> i) & 1 == 1);
            own.map(|(_, weight)| (weight - log_evidence).exp()).sum()
        };
        (log_evidence, (0..INSTANCES).map(positive).collect())
    }

    /// Errors of log Z, and of p(y) on average.
    fn errors(&self) -> (f64, f64) {
        let found = self.exchanged().unwrap();
        let (log_evidence, positive) = self.enumerated();
        let p = |i: usize| sigmoid(self.features[i]) + found.d_log_odds[i];
        let off = (0..INSTANCES).map(|i| (p(i) - positive[i]).abs()).sum::<f64>();
        ((found.log_evidence - log_evidence).abs(), off / INSTANCES as f64)
    }
}

#[test]
fn one_stream_is_summed_exactly() {
    for seed in 0..20 {
        let case = Case::draw(1, 0.8, Order::Ordered, seed);
        let (evidence, positive) = case.errors();
        // Thousands of terms of either sum: rounding only.
        assert!(evidence < 1e-10 && positive < 1e-10, "seed {seed}: {evidence} {positive}");
    }
}

#[test]
fn several_streams_are_exact_where_stamps_have_one_owner_each() {
    for seed in 0..20 {
        let mut case = Case::draw(3, 0.02, Order::Free, seed);
        // Delays differ by annotator, and stay within a fraction of a spacing.
        for (k, stamps) in case.stamps.iter_mut().enumerate() {
            case.params[k] = case.model.start(&Learned {
                delay: 0.1 * k as f64,
                spread: 0.02,
                miss_rate: 0.2,
                false_rate: 0.05,
                background_rate: 0.02,
            });
            stamps.iter_mut().for_each(|z| z.time = z.time.round() + 0.1 * k as f64);
            stamps.dedup_by(|a, b| a.time == b.time);
            stamps.retain(|z| (-0.5..7.5).contains(&z.time));
        }
        let (evidence, positive) = case.errors();
        // Messages settle to 1e-7 in probability, and the evidence to their square.
        assert!(evidence < 1e-6 && positive < 1e-6, "seed {seed}: {evidence} {positive}");
    }
}

#[test]
fn two_and_three_streams_are_near_the_sum_over_all_labels() {
    // Mean and worst error of log Z and mean of p(y), as docs/model.md has them.
    for (annotators, spread, most) in
        [(2, 0.3, (0.005, 0.1, 0.001)), (2, 1.0, (0.2, 0.5, 0.02)), (3, 1.0, (0.3, 0.8, 0.035))]
    {
        let errors: Vec<(f64, f64)> = (0..60)
            .map(|seed| Case::draw(annotators, spread, Order::Ordered, seed).errors())
            .collect();
        let mean = |pick: fn(&(f64, f64)) -> f64| errors.iter().map(pick).sum::<f64>() / 60.0;
        let worst = errors.iter().map(|own| own.0).fold(0.0, f64::max);
        let (evidence, positive) = (mean(|own| own.0), mean(|own| own.1));
        println!("{annotators} {spread}: {evidence:.4} {worst:.4} {positive:.4}");
        assert!(
            evidence < most.0 && worst < most.1 && positive < most.2,
            "{annotators} annotators, spread {spread}: {evidence} {worst} {positive}"
        );
    }
}

#[test]
fn derivatives_are_those_of_the_value() {
    const STEP: f64 = 1e-4;
    for (seed, order) in [(1, Order::Ordered), (2, Order::Free), (3, Order::Ordered)] {
        let mut case = Case::draw(2, 1.0, order, seed);
        let found = case.exchanged().unwrap();
        let value = |case: &Case| case.exchanged().unwrap().log_evidence;
        for i in 0..INSTANCES {
            let here = case.features[i];
            case.features[i] = here + STEP;
            let above = value(&case);
            case.features[i] = here - STEP;
            let below = value(&case);
            case.features[i] = here;
            let want = (above - below) / (2.0 * STEP);
            // Messages of 1e-7 over a step of 1e-4, squared where the value is stationary in them.
            assert!((found.d_log_odds[i] - want).abs() < 1e-4, "{i}: {want}");
        }
        for s in 0..2 {
            for k in 0..case.params[s].len() {
                let here = case.params[s][k];
                case.params[s][k] = here + STEP;
                let above = value(&case);
                case.params[s][k] = here - STEP;
                let below = value(&case);
                case.params[s][k] = here;
                let want = (above - below) / (2.0 * STEP);
                let got = found.sums[s].d_annotator[k];
                assert!((got - want).abs() < 1e-4 * (1.0 + want.abs()), "{s} {k}: {got} {want}"); // as above
            }
        }
    }
}

#[test]
fn what_is_kept_changes_nothing() {
    let case = Case::draw(2, 1.0, Order::Free, 5);
    let bound = case.bound();
    let (streams, kept) = (case.streams(&bound), Exchange::new(2));
    let ask = |kept| exchange(&streams, &case.features, case.params[0].len(), kept).unwrap();
    let plain = ask(None).log_evidence;
    for kept in [ask(Some(&kept)), ask(Some(&kept))] {
        // All settled to 1e-7 in probability, and the evidence to the square of that.
        assert!((kept.log_evidence - plain).abs() < 1e-9);
    }
}

#[test]
fn what_counts_can_tell_is_a_range_whatever_they_are() {
    let (all, none) = (f64::INFINITY, f64::NEG_INFINITY);
    assert_eq!(bounds((-3.0, 2.0)), (-3.0, 2.0));
    assert_eq!(bounds((none, all)), (-CERTAIN, CERTAIN));
    // Only a negative instance could have given any count; and none could have.
    assert_eq!(bounds((none, none)), (-CERTAIN, -CERTAIN));
    assert_eq!(bounds((all, none)), (0.0, 0.0));
    assert_eq!(extrinsic(0.3, f64::NAN, bounds((none, none))), -CERTAIN);
}

/// A session of two people.
fn session(name: &str) -> Session<'static> {
    let features = Array2::from_shape_fn((60, 1), |(i, _)| {
        f64::from(u8::from(i % 10 == 5)) + 0.2 * (i as f64).sin()
    });
    let times = (0..60).map(f64::from).collect();
    let stamps: Vec<f64> =
        (0..12).map(|l| f64::from(10 * (l / 2) + 5) + 0.2 * f64::from(l % 2)).collect();
    let people: Vec<String> = (0..12).map(|l| ["ann", "bob"][l % 2].to_owned()).collect();
    let session = Session::new(name, features, times, stamps).unwrap();
    session.with_annotators(&people, &[]).unwrap()
}

/// A fit whose first so many sums do not converge, on a thread of its own.
fn fit(failing: usize, restarts: usize) -> crate::Result<Fitted> {
    let sessions = ["a", "b", "c"].map(session);
    let options = FitOptions { restarts, standard_errors: false, ..FitOptions::default() };
    let model = Model { counts: Counts::Bernoulli, ..Model::default() };
    let work = || {
        FAILING.with(|left| left.set(failing));
        let fitted = model.fit(&sessions, &options, Control::default());
        FAILING.with(|left| left.set(0));
        fitted
    };
    rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap().install(work)
}

#[test]
fn sums_that_do_not_converge_are_told() {
    let fitted = fit(0, 2).unwrap();
    let is_told = |own: &Warning| matches!(own, Warning::NotSettled { .. });
    assert!(!fitted.warnings().iter().any(is_told));
    for ask in [
        |fitted: &Fitted| fitted.align(&session("d")).map(|_| ()),
        |fitted: &Fitted| fitted.log_evidence(&session("d")).map(|_| ()),
    ] {
        FAILING.with(|left| left.set(1));
        let words = ask(&fitted).unwrap_err().to_string();
        assert!(words.contains("d") && words.contains("did not converge"), "{words}");
        FAILING.with(|left| left.set(0));
        ask(&fitted).unwrap();
    }
    // The first evaluation of the first start, and the search for the session that is to blame.
    let fitted = fit(2, 2).unwrap();
    let told: Vec<&Warning> = fitted.warnings().iter().filter(|own| is_told(own)).collect();
    let want = Warning::NotSettled { session: "a".to_owned(), sessions: 1 };
    assert_eq!(told, [&want], "{:?}", fitted.warnings());
    assert!(want.to_string().starts_with("session a: its sum over all owners"), "{want}");
    // All starts.
    let words = fit(usize::MAX, 1).unwrap_err().to_string();
    assert!(words.contains("session a") && words.contains("did not converge"), "{words}");
}
