//! What would need more memory than is allowed is refused before it is allocated.
//!
//! The limit is the process's, so one test does all of it.

use unjitter::memory::{memory_limit, set_memory_limit};
use unjitter::{Counts, Error, Features, FitOptions, Model, Noise, Session, posterior};

/// Ten instances a second, and stamps whose clock is an hour off.
fn wrong_clock(instances: usize, stamps: usize) -> (Vec<f64>, Vec<f64>) {
    let times: Vec<f64> = (0..instances).map(|i| i as f64 / 10.0).collect();
    let end = times[instances - 1];
    let apart = end / stamps as f64;
    (times, (0..stamps).map(|l| 3600.0 + apart * l as f64).collect())
}

#[test]
fn too_much_memory_is_refused_with_numbers() {
    let (times, stamps) = wrong_clock(20_000, 200);
    let log_odds = vec![-4.0; times.len()];
    let counts = Counts::Poisson.with(&[("false_rate", &[0.01]), ("hit_rate", &[0.9])]).unwrap();
    let noise = Noise::Gaussian.with(&[("delay", &[0.0]), ("spread", &[1000.0])]).unwrap();
    let limit = 20 << 20;
    set_memory_limit(limit);
    match posterior(&times, &stamps, &log_odds, &counts, &noise).map(|_| ()) {
        Err(Error::TooLarge { stamps: 200, instances: 20_000, bytes, limit: told, .. }) => {
            assert_eq!(told, limit);
            // Four million cells of all stamps; each has some numbers.
            assert!((4 << 23..4 << 28).contains(&bytes), "{bytes}");
        }
        other => panic!("{other:?}"),
    }
    let features =
        Features::from(ndarray::Array2::from_shape_fn((times.len(), 1), |(i, _)| (i % 7) as f64));
    let sessions = [Session::new("night", features, times, stamps).unwrap()];
    let model = Model { counts: Counts::Poisson, ..Model::default() };
    let model = model.freeze("noise.spread", &[1000.0]);
    let text = model.fit(&sessions, &FitOptions::default()).unwrap_err().to_string();
    assert!(text.starts_with("session night: its 200 stamps could each belong to"), "{text}");
    assert!(
        text.contains("a limit of 0.02 GiB; most likely the stamps have another clock"),
        "{text}"
    );
    // A narrow spread needs little.
    let narrow = Model::default().freeze("noise.spread", &[1.0]).freeze("noise.delay", &[3600.0]);
    let outcome = narrow.fit(&sessions, &FitOptions { restarts: 0, ..FitOptions::default() });
    assert!(outcome.is_ok(), "{outcome:?}");
    set_memory_limit(0);
    assert_eq!(memory_limit(), 1);
}
