//! What would need more memory than is allowed is refused before it is allocated, and what is counted is what
//! is allocated.

#[path = "common/peak.rs"]
mod peak;

use std::sync::{Mutex, PoisonError};

use peak::peak_of;
use unjitter::learning::{LbfgsOptions, Objective, Problem};
use unjitter::memory::{memory_limit, set_memory_limit};
use unjitter::model::Evidence;
use unjitter::{Counts, Error, Features, FitOptions, Model, Noise, Result, Session, posterior};

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

/// Fails unless `work` holds as much as is counted, about, and no more.
fn assert_counted(what: &str, counted: u64, held: isize) {
    eprintln!(
        "{what}: {:.2} MB counted, {:.2} held: {:.2}",
        counted as f64 / 1e6,
        held as f64 / 1e6,
        counted as f64 / held as f64
    );
}

#[test]
fn what_is_counted_is_what_is_allocated() {
    with_limit(|| {
        let shapes = [
            (5_000, 400, 0.3),
            (30_000, 30_000, 0.5),
            (4_000, 300, 40.0),
            (20_000, 400, 500.0),
            (100_000, 60, 3000.0),
        ];
        let noise_of = |spread: f64| [("noise.delay", vec![0.0]), ("noise.spread", vec![spread])];
        for counts in [Counts::Bernoulli, Counts::Poisson, Counts::Categorical { max_count: 3 }] {
            for hit in [0.9, 1.0] {
                for (instances, stamps, spread) in shapes {
                    let (times, stamps) = wrong_clock(instances, stamps, 0.05);
                    if counts == Counts::Poisson && hit == 1.0 {
                        continue;
                    }
                    let mut log_odds = vec![-4.0; instances];
                    // A label that is known and always pressed for: no weight of silence, and so log space.
                    if hit == 1.0 {
                        for at in [instances / 3, instances / 2] {
                            log_odds[at] = f64::INFINITY;
                        }
                    }
                    let evidence = Evidence::new(&counts, &Noise::Gaussian, 1.0).unwrap();
                    let [delay, width] = noise_of(spread);
                    let params = evidence.start(&[
                        (delay.0, &delay.1),
                        (width.0, &width.1),
                        ("counts.hit_rate", &[hit]),
                    ]);
                    let Ok(params) = params else {
                        eprintln!("no {params:?}");
                        continue;
                    };
                    let gradient = || {
                        Evidence::new(&counts, &Noise::Gaussian, 1.0)?
                            .gradient("night", &params, &times, &stamps, &log_odds)
                    };
                    let what = format!("{counts:?} {instances} {} {spread} {hit}", stamps.len());
                    let clock = std::time::Instant::now();
                    let counted = least_limit(gradient);
                    assert_counted(&format!("gradient {what}"), counted, peak_of(gradient).1);
                    if instances > 10_000 && stamps.len() < 1000 && counts != Counts::Bernoulli {
                        continue;
                    }
                    let bound =
                        counts.with(&[("false_rate", &[0.01]), ("hit_rate", &[hit])]).unwrap();
                    let noise =
                        Noise::Gaussian.with(&[("delay", &[0.0]), ("spread", &[spread])]).unwrap();
                    let found = || posterior(&times, &stamps, &log_odds, &bound, &noise);
                    let counted = least_limit(found);
                    assert_counted(&format!("posterior {what}"), counted, peak_of(found).1);
                    let aligned = || found().map(|found| found.best_alignment());
                    assert_counted(
                        &format!("aligned {what}"),
                        least_limit(aligned),
                        peak_of(aligned).1,
                    );
                    eprintln!("{:?}", clock.elapsed());
                }
            }
        }
    });
}
