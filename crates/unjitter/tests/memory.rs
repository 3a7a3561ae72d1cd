//! Work beyond the memory limit is refused before it is allocated, and the counted memory is the allocated one.

#[path = "common/peak.rs"]
mod peak;

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use peak::{peak_of, peak_of_all};
use unjitter::inference::{Impossible, Order, Stamp, Timeline};
use unjitter::labels::{Labels, Variable};
use unjitter::learning::{LbfgsOptions, Objective, Problem};
use unjitter::memory::{memory_limit, set_memory_limit};
use unjitter::model::{
    Annotator, BoundStampModel, Clock, Labelling, Learned, OneAnnotator, Rows, StampModel, Sums,
};
use unjitter::{
    Control, Counts, Error, FitOptions, Model, Noise, PosteriorOptions, Result, Session, Warning,
    posterior,
};

/// The limit is the process's, so that one test at a time has it.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Lets `work` set the limit as it likes.
fn with_limit<T>(work: impl FnOnce() -> T) -> T {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let before = memory_limit();
    let result = work();
    set_memory_limit(before);
    result
}

/// Ten instances a second, and stamps whose clock is so many seconds off.
fn wrong_clock(instances: usize, stamps: usize, off: f64) -> (Vec<f64>, Vec<f64>) {
    let times: Vec<f64> = (0..instances).map(|i| i as f64 / 10.0).collect();
    let end = times[instances - 1];
    let apart = end / stamps as f64;
    (times, (0..stamps).map(|l| off + apart * l as f64).collect())
}

/// The least limit under which `work` succeeds.
fn least_limit<T>(work: impl Fn() -> Result<T>) -> u64 {
    let mut limit = 1;
    loop {
        set_memory_limit(limit);
        match work() {
            Err(Error::TooLarge { bytes, .. }) => limit = bytes,
            Err(error) => panic!("{error}"),
            Ok(_) => return limit,
        }
    }
}

/// Fails unless `work` holds as much as is counted for it, and not much less.
fn assert_counted<T>(what: &str, work: impl Fn() -> Result<T>) {
    let counted = least_limit(&work) as f64;
    let held = peak_of(&work).1 as f64;
    // Log space and room to grow into are counted, and not always used.
    assert!(held <= counted && counted <= 2.5 * held, "{what}: {counted} counted, {held} held");
}

const NARROW: (usize, usize, f64) = (5_000, 400, 0.3);
const DENSE: (usize, usize, f64) = (3_000, 3_000, 0.5);
const WIDE: (usize, usize, f64) = (1_500, 150, 20.0);
/// A block of many panels.
const LONG: (usize, usize, f64) = (20_000, 100, 500.0);
/// Windows wider than a panel.
const FAR: (usize, usize, f64) = (100_000, 20, 3000.0);

#[test]
fn what_is_counted_is_what_is_allocated() {
    let splits: [(&str, &[f64]); 2] =
        [("false_split", &[0.5, 0.3, 0.2]), ("hit_split", &[0.5, 0.3, 0.2])];
    let kinds = [
        (Counts::Bernoulli, &[NARROW, DENSE, WIDE, LONG, FAR][..], &splits[..0]),
        (Counts::Poisson, &[NARROW, DENSE, WIDE], &splits[..0]),
        (Counts::Categorical { max_count: 3 }, &[NARROW, DENSE, WIDE], &splits[..]),
    ];
    for (counts, shapes, splits) in kinds {
        for (&(instances, stamps, spread), hit_rate) in
            shapes.iter().flat_map(|shape| [(shape, 0.9), (shape, 1.0)])
        {
            let what = format!("{counts:?}, {stamps} of {instances}, {spread}, {hit_rate}");
            let (times, stamps) = wrong_clock(instances, stamps, 0.05);
            let mut log_odds = vec![-4.0; instances];
            if hit_rate == 1.0 {
                // Cannot be silent, so that its block is done whole and in log space.
                log_odds[instances / 2] = f64::INFINITY;
            }
            let rates: [(&str, &[f64]); 2] = [("false_rate", &[0.01]), ("hit_rate", &[hit_rate])];
            let bound = counts.with(&[&rates, splits].concat()).unwrap();
            let noise = Noise::Gaussian.with(&[("delay", &[0.0]), ("spread", &[spread])]).unwrap();
            let gradient = || {
                let evidence = Annotator::new(&counts, &Noise::Gaussian, Order::Ordered, 1.0)?;
                let values: [(&str, &[f64]); 2] =
                    [("noise.spread", &[spread]), ("background.rate", &[0.0])];
                let mut params = evidence.start(&values)?;
                if hit_rate == 1.0 {
                    // Nearly one, as a fit would have it.
                    params[1] = 200.0;
                }
                evidence.gradient("night", &params, &times, &stamps, &log_odds)
            };
            let found = || {
                posterior(&times, &stamps, &log_odds, &bound, &noise, &PosteriorOptions::default())
            };
            with_limit(|| {
                assert_counted(&format!("gradient, {what}"), gradient);
                if hit_rate == 1.0 && counts == Counts::Poisson {
                    // Its mean would be infinite.
                    return;
                }
                assert_counted(&format!("posterior, {what}"), found);
                assert_counted(&format!("alignment, {what}"), || {
                    found().map(|found| found.best_alignment())
                });
            });
        }
    }
}

/// Log-odds as they are, on this thread.
struct Given<'a>(&'a [f64]);

impl Rows for Given<'_> {
    fn at_a_time(&self) -> usize {
        512
    }

    fn log_odds<'a>(&'a self, instances: Range<usize>, _: &'a mut [f64]) -> &'a [f64] {
        &self.0[instances]
    }

    fn pull_back(&self, _: Range<usize>, _: &mut [f64], _: &mut Sums) {}

    fn in_parallel(&self) -> bool {
        false
    }
}

fn model(counts: &Counts, order: Order) -> OneAnnotator {
    let (counts, noise) = (counts.build().unwrap(), Noise::Gaussian.build(1.0).unwrap());
    let model = OneAnnotator::new(Arc::from(counts), Arc::from(noise)).with_order(order);
    if order == Order::Free { model.with_background() } else { model }
}

/// A session under a model.
struct Presses {
    counts: Counts,
    order: Order,
    params: Vec<f64>,
    times: Vec<f64>,
    stamps: Vec<Stamp>,
    log_odds: Vec<f64>,
}

impl Presses {
    /// In any order with a background, or in order without one.
    fn new(
        counts: &Counts,
        order: Order,
        (instances, stamps, spread): (usize, usize, f64),
    ) -> Self {
        let (times, stamps) = wrong_clock(instances, stamps, 0.05);
        let (delay, background_rate) = (0.0, 1e-3);
        let (miss_rate, false_rate) = (0.1, 0.01);
        let learned = Learned { delay, spread, miss_rate, false_rate, background_rate };
        let params = model(counts, order).start(&learned);
        let (counts, log_odds) = (counts.clone(), vec![-4.0; instances]);
        Self { counts, order, params, times, stamps: Stamp::at(&stamps), log_odds }
    }

    fn with<T>(
        &self,
        work: impl FnOnce(&dyn BoundStampModel, Timeline<'_>) -> std::result::Result<T, Impossible>,
    ) -> Result<T> {
        // A model of its own, whose buffers are empty.
        let model = model(&self.counts, self.order);
        let bound = model.bind(&self.params, Clock::default(), self.stamps.len());
        let (session, stamps, instances) = (String::new(), self.stamps.len(), self.times.len());
        work(bound.as_ref(), Timeline::new(&self.times, &self.stamps, 1.0)).map_err(|why| match why
        {
            Impossible::TooLarge(bytes) => {
                Error::TooLarge { session, stamps, instances, bytes, limit: memory_limit() }
            }
            other => panic!("{other:?}"),
        })
    }

    fn evidence(&self) -> Result<f64> {
        let mut sums = Sums::zeros(0, self.params.len());
        self.with(|bound, timeline| bound.add(timeline, &Given(&self.log_odds), &mut sums))?;
        Ok(sums.value)
    }

    fn aligned(&self) -> Result<f64> {
        self.with(|bound, timeline| {
            let found = bound.posterior(timeline, &self.log_odds, None)?;
            Ok(bound.best_alignment(timeline, &self.log_odds, &found).log_weight)
        })
    }
}

#[test]
fn what_is_counted_is_what_is_allocated_without_order() {
    // General counts keep a number per count and cell, and take their time.
    let small = |(instances, stamps, spread)| (instances / 5, stamps / 5, spread);
    let kinds = [
        (Counts::Bernoulli, &[NARROW, DENSE, WIDE, LONG][..]),
        (Counts::Poisson, &[NARROW, small(DENSE), small(WIDE)]),
        (Counts::Categorical { max_count: 3 }, &[NARROW, small(DENSE), small(WIDE)]),
    ];
    for (counts, shapes) in kinds {
        for &shape in shapes {
            let what = format!("{counts:?}, {shape:?}");
            let case = Presses::new(&counts, Order::Free, shape);
            with_limit(|| {
                assert_counted(&format!("evidence, {what}"), || case.evidence());
                assert_counted(&format!("alignment, {what}"), || case.aligned());
            });
        }
    }
}

#[test]
fn any_order_takes_little_more_memory() {
    // A stamp at every twentieth instance, with a spread of two spacings.
    let [in_order, free] = [Order::Ordered, Order::Free].map(|order| {
        let case = Presses::new(&Counts::Bernoulli, order, (10_000, 500, 0.2));
        with_limit(|| peak_of(|| case.evidence().unwrap()).1)
    });
    let more = (free - in_order) as f64 / 10_000.0;
    println!("{in_order} bytes in order, {free} in any: {more} more per instance");
    assert!(more < 64.0, "{more} bytes more per instance");
}

/// A recording with an event at every thirtieth instance.
fn session(name: &str, times: Vec<f64>, stamps: Vec<f64>) -> Session<'static> {
    let features =
        ndarray::Array2::from_shape_fn((times.len(), 1), |(i, _)| f64::from(i % 30 == 0));
    Session::new(name, features, times, stamps).unwrap()
}

/// One start, one step.
fn briefly(threads: usize) -> FitOptions {
    let optimiser = LbfgsOptions { max_iterations: 1, ..LbfgsOptions::default() };
    FitOptions { restarts: 0, threads: Some(threads), optimiser, ..FitOptions::default() }
}

#[test]
fn threads_share_the_limit() {
    let wide = |name: &str| {
        let (times, stamps) = wrong_clock(6_000, 100, 0.05);
        session(name, times, stamps)
    };
    // Four such blocks behind each other, which are worked on in parallel too.
    let (times, stamps) = wrong_clock(6_000, 100, 0.05);
    let later = |all: &[f64]| -> Vec<f64> {
        (0..4).flat_map(|k| all.iter().map(move |t| t + 1e6 * f64::from(k))).collect()
    };
    let sessions = [
        wide("a"),
        wide("b"),
        wide("c"),
        session("long", later(&times), later(&stamps)),
        wide("d"),
    ];
    let model = Model { counts: Counts::Poisson, time_unit: Some(1.0), ..Model::default() };
    let model = model.freeze("noise.spread", &[100.0]);
    let evaluate = |threads: usize| {
        let problem = Problem::new(&model, &sessions, 0, Control::default()).unwrap();
        let objective = problem.objective().unwrap();
        let start = problem.start(&objective, 0, 0).unwrap();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let mut gradient = vec![0.0; objective.dim()];
        let (value, held) =
            peak_of_all(|| pool.install(|| objective.evaluate(&start, &mut gradient)));
        (value, gradient, held as f64)
    };
    with_limit(|| {
        let limit = least_limit(|| model.fit(&sessions, &briefly(1), Control::default()));
        let (value, gradient, held) = evaluate(1);
        assert!(value.is_finite() && held <= limit as f64, "{held} of {limit}");
        for _ in 0..3 {
            let (same_value, same_gradient, held) = evaluate(4);
            assert_eq!((value, &gradient), (same_value, &same_gradient));
            // A quarter is the memory of threads that need little.
            assert!(held <= 1.25 * limit as f64, "{held} of {limit}");
        }
        set_memory_limit(u64::MAX);
        let (same_value, same_gradient, _) = evaluate(4);
        assert_eq!((value, gradient), (same_value, same_gradient));
    });
}

/// Four threads at once hold hardly more than the least limit under which one of them succeeds.
fn assert_shared(ask: impl Fn() -> unjitter::Result<()> + Copy + Sync) {
    let together = || {
        std::thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(|| ask().unwrap()))));
    };
    with_limit(|| {
        let limit = least_limit(ask) as f64;
        let held = peak_of_all(together).1 as f64;
        // What is there before the sum, and results of the one before that may not be dropped yet.
        assert!(held <= 1.25 * limit, "{held} of {limit}");
    });
}

#[test]
fn threads_of_others_share_the_limit_too() {
    let (times, stamps) = wrong_clock(3_000, 150, 0.05);
    let log_odds = vec![-4.0; times.len()];
    let counts = Counts::Bernoulli.with(&[("false_rate", &[0.01]), ("hit_rate", &[0.9])]).unwrap();
    let noise = Noise::Gaussian.with(&[("delay", &[0.0]), ("spread", &[30.0])]).unwrap();
    let ask = || {
        posterior(&times, &stamps, &log_odds, &counts, &noise, &PosteriorOptions::default())
            .map(drop)
    };
    assert_shared(ask);
}

#[test]
fn what_the_limit_made_a_fit_give_up_is_told() {
    // Stamps scatter far more than the first start supposes.
    let times: Vec<f64> = (0..3_000).map(f64::from).collect();
    let stamps = (0..100).map(|l| f64::from(30 * l + 7 * l % 13)).collect();
    let sessions = [session("day", times, stamps)];
    let model = Model::paper();
    let warned = |restarts: usize| {
        let options = FitOptions { restarts, threads: Some(1), ..FitOptions::default() };
        let fitted = model.fit(&sessions, &options, Control::default()).unwrap();
        let mut found = fitted.warnings().iter();
        found.find(|warning| matches!(warning, Warning::MemoryLimit { .. })).cloned()
    };
    with_limit(|| {
        assert_eq!(warned(1), None);
        // Enough for the start, and for no step to wider windows.
        let limit = least_limit(|| model.fit(&sessions, &briefly(1), Control::default()));
        set_memory_limit(limit);
        let Some(warning) = warned(0) else { panic!("no warning") };
        let Warning::MemoryLimit { session, bytes, limit: told } = &warning else { unreachable!() };
        assert_eq!((session.as_str(), *told), ("day", limit));
        assert!(*bytes > limit, "{bytes} of {limit}");
        assert!(
            warning.to_string().starts_with("session day: a start or a step of learning would")
        );
        // A second start asks for all marginals at once.
        let still = model.clone().freeze("noise.spread", &[1.0]);
        set_memory_limit(least_limit(|| still.fit(&sessions, &briefly(1), Control::default())));
        let fitted = still.fit(&sessions, &briefly(1), Control::default()).unwrap();
        assert!(!fitted.warnings().iter().any(|w| matches!(w, Warning::MemoryLimit { .. })));
        let fitted = still
            .fit(&sessions, &FitOptions { restarts: 1, ..briefly(1) }, Control::default())
            .unwrap();
        assert!(fitted.warnings().iter().any(|w| matches!(w, Warning::MemoryLimit { .. })));
    });
}

#[test]
fn too_much_memory_is_refused_with_numbers() {
    let (times, stamps) = wrong_clock(20_000, 200, 3600.0);
    let log_odds = vec![-4.0; times.len()];
    let counts = Counts::Poisson.with(&[("false_rate", &[0.01]), ("hit_rate", &[0.9])]).unwrap();
    let noise = Noise::Gaussian.with(&[("delay", &[0.0]), ("spread", &[1000.0])]).unwrap();
    let limit = 20 << 20;
    with_limit(|| {
        set_memory_limit(limit);
        match posterior(&times, &stamps, &log_odds, &counts, &noise, &PosteriorOptions::default())
            .map(|_| ())
        {
            Err(Error::TooLarge { stamps: 200, instances: 20_000, bytes, limit: told, .. }) => {
                assert_eq!(told, limit);
                // Four million cells of all stamps; each has some numbers.
                assert!((4 << 23..4 << 28).contains(&bytes), "{bytes}");
            }
            other => panic!("{other:?}"),
        }
        let sessions = [session("night", times.clone(), stamps.clone())];
        let model = Model { counts: Counts::Poisson, ..Model::default() };
        let model = model.freeze("noise.spread", &[1000.0]);
        let text = model
            .fit(&sessions, &FitOptions::default(), Control::default())
            .unwrap_err()
            .to_string();
        assert!(text.starts_with("session night: its 200 stamps could each belong to"), "{text}");
        assert!(
            text.contains("a limit of 0.02 GiB; most likely the stamps have another clock"),
            "{text}"
        );
        // A narrow spread needs little.
        let narrow =
            Model::default().freeze("noise.spread", &[1.0]).freeze("noise.delay", &[3600.0]);
        let outcome = narrow.fit(
            &sessions,
            &FitOptions { restarts: 0, ..FitOptions::default() },
            Control::default(),
        );
        assert!(outcome.is_ok(), "{outcome:?}");
        set_memory_limit(0);
        assert_eq!(memory_limit(), 1);
    });
}

#[test]
fn a_chain_takes_memory_in_proportion_to_instances() {
    let model = Model { labels: Labels::Chain, ..Model::default() };
    let held = |instances: usize| {
        let times: Vec<f64> = (0..instances).map(|i| i as f64).collect();
        let shown = |(i, _): (usize, usize)| f64::from(u8::from(i % 40 < 8));
        let features = ndarray::Array2::from_shape_fn((instances, 1), shown);
        let stamps = times.iter().copied().step_by(40).collect();
        let sessions = [Session::new("day", features, times, stamps).unwrap()];
        let problem = Problem::new(&model, &sessions, 0, Control::default()).unwrap();
        let objective = problem.objective().unwrap();
        let start = problem.start(&objective, 0, 0).unwrap();
        let mut gradient = vec![0.0; objective.dim()];
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let evaluate = || pool.install(|| objective.evaluate(&start, &mut gradient));
        let (value, held) = with_limit(|| peak_of_all(evaluate));
        assert!(value.is_finite());
        held as f64 / instances as f64
    };
    let (short, long) = (held(10_000), held(80_000));
    println!("{short:.0} and {long:.0} bytes for each instance");
    // Vectors of results grow by doubling; a session takes a page or two besides.
    assert!(long < 1.2 * short && long < 1000.0, "{short} {long}");
}

/// Fails unless `work`, on one thread of a pool, holds as much as is counted for it, and not much less.
fn assert_counted_on_a_pool<T: Send>(what: &str, work: impl Fn() -> Result<T> + Sync) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let counted = least_limit(|| pool.install(&work)) as f64;
    let held = peak_of_all(|| pool.install(&work)).1 as f64;
    println!("{what}: {counted} counted, {held} held");
    // What is counted of visits is not always used, nor is room for results of those who ask.
    assert!(held <= counted && counted <= 2.5 * held, "{what}: {counted} counted, {held} held");
}

#[test]
fn what_is_counted_is_what_is_allocated_for_labels_in_a_chain() {
    let labelling = |stamps| Labelling { labels: Labels::Chain, stamps, ..Labelling::default() };
    // Few stamps for many instances.
    const LONE: (usize, usize, f64) = (200_000, 100, 1.0);
    for shape in [NARROW, DENSE, WIDE, LONE] {
        let (instances, stamps, spread) = shape;
        let (times, stamps) = wrong_clock(instances, stamps, 0.05);
        let log_odds = vec![-2.0; instances];
        for about in [Variable::Onset, Variable::Presence] {
            for order in [Order::Ordered, Order::Free] {
                // Stamps that compete for every instance in any order may not settle.
                if order == Order::Free && [DENSE, WIDE].contains(&shape) {
                    continue;
                }
                let what =
                    format!("{about:?}, {order:?}, {} of {instances}, {spread}", stamps.len());
                let gradient = || {
                    let annotator = Annotator::new(&Counts::Poisson, &Noise::Gaussian, order, 1.0)?;
                    let annotator = annotator.with_labels(labelling(about));
                    let params = annotator.start(&[("noise.spread", &[spread])])?;
                    annotator.gradient("night", &params, &times, &stamps, &log_odds)
                };
                with_limit(|| assert_counted_on_a_pool(&what, gradient));
            }
        }
    }
}

#[test]
fn what_is_counted_is_what_is_allocated_for_classes() {
    let session = |instances: usize, stamps: usize| {
        let (times, stamps) = wrong_clock(instances, stamps, 0.05);
        let class = |l: usize| ["meal", "walk", "rest"][l % 3].to_owned();
        let classes: Vec<String> = (0..stamps.len()).map(class).collect();
        session("day", times, stamps).with_classes(&classes).unwrap()
    };
    for labels in [Labels::Independent, Labels::Chain] {
        let model = Model { labels, time_unit: Some(1.0), ..Model::default() };
        let model = model.freeze("noise.spread", &[1.0]);
        let fitted = model.fit(&[session(300, 12)], &briefly(1), Control::default()).unwrap();
        for (instances, stamps) in [(5_000, 400), (3_000, 3_000), (100_000, 100)] {
            let large = session(instances, stamps);
            let what = format!("{labels:?}, {stamps} of {instances}");
            with_limit(|| {
                assert_counted_on_a_pool(&what, || fitted.log_evidence(&large));
            });
        }
    }
}

#[test]
fn threads_that_sum_over_chains_share_the_limit() {
    let (times, stamps) = wrong_clock(20_000, 100, 0.05);
    let log_odds = vec![-2.0; times.len()];
    let labelling = Labelling { labels: Labels::Chain, ..Labelling::default() };
    let ask = || {
        let annotator = Annotator::new(&Counts::Poisson, &Noise::Gaussian, Order::Ordered, 1.0)?;
        let annotator = annotator.with_labels(labelling);
        let params = annotator.start(&[("noise.spread", &[20.0])])?;
        annotator.gradient("night", &params, &times, &stamps, &log_odds).map(drop)
    };
    assert_shared(ask);
}
