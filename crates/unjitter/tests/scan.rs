//! The scan finds how late stamps are, and nothing if there is nothing.

use std::sync::atomic::AtomicBool;

use ndarray::Array2;
use unjitter::math::Random;
use unjitter::scan::{Peak, Scan, scan};
use unjitter::{Control, Error, Session};

/// Recordings in which features differ for a while around each event, and presses come later.
#[derive(Clone, Copy)]
struct Case {
    /// Instances per second.
    rate: f64,
    delay: f64,
    spread: f64,
    /// Seconds for which features differ.
    bump: f64,
    /// Most seconds from one event to the next; half of it at least.
    gap: f64,
    /// How far features differ, in deviations.
    height: f64,
}

const CASES: [Case; 4] = [
    Case { rate: 10.0, delay: 2.0, spread: 1.0, bump: 0.5, gap: 20.0, height: 2.0 },
    Case { rate: 4.0, delay: 3.0, spread: 2.0, bump: 1.0, gap: 30.0, height: 2.0 },
    Case { rate: 50.0, delay: 0.5, spread: 0.3, bump: 0.3, gap: 15.0, height: 1.5 },
    Case { rate: 0.3, delay: 2.0, spread: 4.0, bump: 3.3, gap: 60.0, height: 4.0 },
];

/// Events of one session of a case.
const EVENTS: usize = 40;

/// Times, rows of three features, and presses.
struct Drawn {
    times: Vec<f64>,
    features: Vec<[f64; 3]>,
    presses: Vec<f64>,
}

impl Case {
    fn draw(&self, random: &mut Random) -> Drawn {
        let (mut events, mut time) = (Vec::new(), self.gap);
        for _ in 0..EVENTS {
            events.push(time);
            time += self.gap * (0.5 + 0.5 * random.uniform());
        }
        // Not quite regular.
        let instances = (time * self.rate) as usize;
        let times: Vec<f64> =
            (0..instances).map(|i| (i as f64 + 0.5 * random.uniform()) / self.rate).collect();
        let row = |&time: &f64| {
            let is_near = |event: &f64| (time - event).abs() <= 0.5 * self.bump;
            let bump = if events.iter().any(is_near) { self.height } else { 0.0 };
            [random.normal() + bump, random.normal() - 0.5 * bump, random.normal()]
        };
        let features = times.iter().map(row).collect();
        let late = |event: &f64| event + self.delay + self.spread * random.normal();
        let mut presses: Vec<f64> = events.iter().map(late).collect();
        presses.sort_by(f64::total_cmp);
        Drawn { times, features, presses }
    }

    /// Two sessions.
    fn sessions(&self, seed: u64) -> Vec<Session<'static>> {
        let mut random = Random::new(seed);
        (0..2).map(|k| self.draw(&mut random).session(&format!("s{k}"))).collect()
    }
}

impl Drawn {
    fn session(self, name: &str) -> Session<'static> {
        let features = self.features.into_iter().flatten().collect();
        let features = Array2::from_shape_vec((self.times.len(), 3), features).unwrap();
        Session::new(name, features, self.times, self.presses).unwrap()
    }
}

fn scanned(sessions: &[Session<'_>]) -> Scan {
    scan(sessions, Control::default()).unwrap().expect("something to scan")
}

fn best(sessions: &[Session<'_>]) -> Peak {
    *scanned(sessions).peaks.first().expect("a peak")
}

/// Stamps of other recordings of the same kind: they have nothing to do with the features.
fn unrelated(case: &Case, seed: u64) -> Vec<Session<'static>> {
    let others = case.sessions(seed + 1000);
    let sessions = case.sessions(seed).into_iter().zip(others);
    sessions.map(|(own, other)| own.with_stamps(other.stamps().to_vec()).unwrap()).collect()
}

#[test]
fn the_best_peak_is_as_late_as_the_presses() {
    for case in CASES {
        for seed in 0..3 {
            let peak = best(&case.sessions(seed));
            let Case { rate, delay, spread, .. } = case;
            // Half a spread is near enough to start from; the mean of 80 presses is known to a ninth.
            let near = (peak.lag - delay).abs() <= 0.5 * spread;
            assert!(near, "{rate} Hz, {delay} ± {spread} s, seed {seed}: {peak:?}");
            // A normal bump fills a window of three deviations best; widths are powers of two apart, and the bump itself has a width.
            let ratio = peak.width / spread;
            assert!(
                (1.2..6.0).contains(&ratio),
                "{rate} Hz, {delay} ± {spread} s, {seed}: {peak:?}"
            );
        }
    }
}

#[test]
fn presses_before_the_event_have_a_negative_lag() {
    let case = Case { delay: -3.0, ..CASES[0] };
    let peak = best(&case.sessions(0));
    assert!((peak.lag + 3.0).abs() < 0.5, "{peak:?}"); // half a spread, as above
}

#[test]
fn features_without_relation_have_no_peak() {
    for case in CASES {
        for seed in 0..5 {
            let peaks = scanned(&unrelated(&case, seed)).peaks;
            assert!(peaks.is_empty(), "{} Hz, seed {seed}: {peaks:?}", case.rate);
        }
    }
}

/// Bouts of events, in which a slow feature is high, and presses anywhere in the bouts.
#[test]
fn slow_features_and_presses_in_the_same_bouts_have_no_narrow_peak() {
    let mut random = Random::new(3);
    let times: Vec<f64> = (0..8000).map(f64::from).collect();
    let is_bout = |time: &f64| (time / 400.0).fract() > 0.75;
    let (mut slow, mut presses) = (0.0, Vec::new());
    let mut row = |time: &f64| {
        slow += 0.05 * (f64::from(u8::from(is_bout(time))) - slow) + 0.1 * random.normal();
        if is_bout(time) && random.uniform() < 0.1 {
            presses.push(time + 1.0);
        }
        [slow, random.normal(), random.normal()]
    };
    let features = times.iter().map(&mut row).collect();
    let peaks = scanned(&[Drawn { times, features, presses }.session("bouts")]).peaks;
    // Presses are ten seconds apart within a bout, and bouts are 100 s long.
    assert!(peaks.iter().all(|peak| peak.width > 10.0), "{peaks:?}");
}

fn assert_same(peak: Peak, want: Peak, tolerance: f64) {
    let far = [peak.lag - want.lag, peak.width - want.width, peak.strength - want.strength];
    assert!(far.iter().all(|far| far.abs() <= tolerance), "{peak:?} is not {want:?}");
}

#[test]
fn neither_the_origin_of_time_nor_the_scale_of_features_matters() {
    let sessions = CASES[1].sessions(0);
    let want = best(&sessions);
    let later = |session: &Session<'static>| {
        let add = |times: &[f64]| times.iter().map(|time| time + 1.7e9).collect::<Vec<f64>>();
        let (times, stamps) = (add(session.times()), add(session.stamps()));
        session.clone().with_times(times).unwrap().with_stamps(stamps).unwrap()
    };
    // Seconds since 1970 round by 2e-7 s, so that an instance in 10⁶ may change its bin.
    assert_same(best(&sessions.iter().map(later).collect::<Vec<_>>()), want, 0.05);
    let scaled = |session: &Session<'static>| {
        let mut features = session.features().to_f64().into_owned();
        features.column_mut(0).mapv_inplace(|x| 1e-6 * x + 3.0);
        features.column_mut(1).mapv_inplace(|x| -1e6 * x);
        session.clone().with_features(features).unwrap()
    };
    // Sums are kept in single precision.
    assert_same(best(&sessions.iter().map(scaled).collect::<Vec<_>>()), want, 1e-3);
    let slower = |session: &Session<'static>| {
        let times = |times: &[f64]| times.iter().map(|time| 1024.0 * time).collect::<Vec<f64>>();
        let (times, stamps) = (times(session.times()), times(session.stamps()));
        session.clone().with_times(times).unwrap().with_stamps(stamps).unwrap()
    };
    let slow = best(&sessions.iter().map(slower).collect::<Vec<_>>());
    assert_eq!((slow.lag, slow.width), (1024.0 * want.lag, 1024.0 * want.width));
}

#[test]
fn silent_instances_between_the_others_hardly_matter() {
    for case in CASES {
        let want = best(&case.sessions(0));
        let mut random = Random::new(0);
        let mut silent = |k: usize| {
            let drawn = case.draw(&mut random);
            let (mut times, mut features) = (Vec::new(), Vec::new());
            for (i, time) in drawn.times.iter().enumerate() {
                let next = drawn.times.get(i + 1).copied().unwrap_or(time + 1.0 / case.rate);
                times.extend((0..11).map(|j| time + f64::from(j) * (next - time) / 11.0));
                features.push(drawn.features[i]);
                features.extend((0..10).map(|_| [0.0; 3]));
            }
            Drawn { times, features, ..drawn }.session(&format!("s{k}"))
        };
        let peak = best(&[silent(0), silent(1)]);
        // The next width may win if two are nearly as strong.
        let ratio = peak.width / want.width;
        assert!((0.49..2.01).contains(&ratio), "{} Hz: {peak:?} is not {want:?}", case.rate);
        let far = (peak.lag - want.lag).abs();
        assert!(far < 0.3 * case.spread, "{} Hz: {peak:?} is not {want:?}", case.rate); // half of what chance allows
    }
}

#[test]
fn one_column_among_hundreds_is_enough() {
    let widened = |session: &Session<'static>| {
        let (own, mut random) = (session.features().to_f64().into_owned(), Random::new(9));
        let rows = session.len();
        let mut features = Array2::from_shape_simple_fn((rows, 200), || random.normal());
        features.column_mut(131).assign(&own.column(0));
        // Collinear, constant.
        let sum = &features.column(5) + &features.column(6);
        features.column_mut(7).assign(&sum);
        features.column_mut(8).fill(4.2);
        session.clone().with_features(features).unwrap()
    };
    let sessions: Vec<_> = CASES[2].sessions(0).iter().map(widened).collect();
    let peak = best(&sessions);
    assert!((peak.lag - 0.5).abs() < 0.15, "{peak:?}"); // half a spread
}

#[test]
fn a_long_gap_in_a_recording_does_no_harm() {
    let sessions = CASES[0].sessions(0);
    let want = best(&sessions);
    let joined = {
        let shift = 1e7;
        let times = |k: usize| sessions[k].times().iter().map(move |time| time + shift * k as f64);
        let stamps = |k: usize| sessions[k].stamps().iter().map(move |z| z + shift * k as f64);
        let features = [sessions[0].features().to_f64(), sessions[1].features().to_f64()];
        let features = ndarray::concatenate![ndarray::Axis(0), features[0], features[1]];
        let times = times(0).chain(times(1)).collect();
        Session::new("both", features, times, stamps(0).chain(stamps(1)).collect()).unwrap()
    };
    let peak = best(&[joined]);
    assert!((peak.lag - 2.0).abs() < 0.5 && peak.strength > 0.8 * want.strength, "{peak:?}"); // half a spread
}

#[test]
fn the_level_of_a_recording_does_not_matter() {
    let case = CASES[0];
    for seed in 0..5 {
        // With holes, where the level would show.
        let lifted = |(k, session): (usize, Session<'static>)| {
            let kept: Vec<usize> = (0..session.len()).filter(|i| i / 37 % 3 > 0).collect();
            let features = session.features().to_f64().select(ndarray::Axis(0), &kept);
            let times = kept.iter().map(|&i| session.times()[i]).collect();
            let stamps = session.stamps().to_vec();
            Session::new(session.name(), features + 20.0 * k as f64, times, stamps).unwrap()
        };
        let sessions: Vec<_> = unrelated(&case, seed).into_iter().enumerate().map(lifted).collect();
        let peaks = scanned(&sessions).peaks;
        assert!(peaks.is_empty(), "seed {seed}: {peaks:?}");
        let sessions: Vec<_> = case.sessions(seed).into_iter().enumerate().map(lifted).collect();
        let peak = best(&sessions);
        assert!((peak.lag - 2.0).abs() < 0.5, "seed {seed}: {peak:?}"); // half a spread
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let sessions: Vec<_> = (0..20).flat_map(|seed| CASES[3].sessions(seed)).collect();
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| scanned(&sessions))
    };
    assert_eq!(on(1), on(3));
}

#[test]
fn there_may_be_nothing_to_scan() {
    let random = std::cell::RefCell::new(Random::new(0));
    let session = |instances: usize, stamps: Vec<f64>| {
        let draw = || random.borrow_mut().normal();
        let features = Array2::from_shape_simple_fn((instances, 2), draw);
        Session::new("s", features, (0..instances).map(|i| i as f64).collect(), stamps).unwrap()
    };
    let none = |sessions: &[Session<'_>]| scan(sessions, Control::default()).unwrap().is_none();
    assert!(none(&[]));
    assert!(none(&[session(1, vec![0.0])]));
    assert!(none(&[session(3, vec![0.0, 1.5])]));
    assert!(none(&[session(500, vec![])]));
    let constant = session(500, vec![20.0, 70.0, 90.0]);
    assert!(none(&[constant.clone().with_features(Array2::from_elem((500, 3), 0.1)).unwrap()]));
    assert!(none(&[constant.clone().with_features(Array2::<f64>::zeros((500, 0))).unwrap()]));
    assert!(none(&[constant.clone().with_times(vec![7.0; 500]).unwrap()]));
    for stamps in [vec![250.0], vec![250.0; 40], vec![-1e300, 1e300], vec![1e9, 1e9 + 1.0]] {
        let scan = scan(&[session(500, stamps.clone())], Control::default()).unwrap();
        let peaks = scan.map_or_else(Vec::new, |scan| scan.peaks);
        assert!(peaks.is_empty(), "{stamps:?}: {peaks:?}");
    }
}

#[test]
fn mistakes_and_stops_are_errors() {
    let sessions = CASES[3].sessions(0);
    let narrow = sessions[1].clone();
    let narrow = narrow.with_features(Array2::<f64>::zeros((sessions[1].len(), 2))).unwrap();
    let mixed = scan(&[sessions[0].clone(), narrow], Control::default());
    assert!(matches!(mixed, Err(Error::FeatureCount { found: 2, expected: 3, .. })), "{mixed:?}");
    let stop = AtomicBool::new(true);
    let stopped = scan(&sessions, Control { stop: Some(&stop), watch: None });
    assert!(matches!(stopped, Err(Error::Cancelled)), "{stopped:?}");
}
