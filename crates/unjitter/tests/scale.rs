//! How densely a recording is cut into instances says nothing about the annotator: what is learned of
//! people does not depend on it, from a third to fifty instances per second.

use ndarray::Array2;
use unjitter::evaluation::confusion;
use unjitter::learning::{Supervised, Target};
use unjitter::math::Random;
use unjitter::{Control, FitOptions, Fitted, Model, Session};

/// Recordings with events of one instance each, and presses that come late.
#[derive(Debug, Clone, Copy)]
struct Case {
    /// Instances per second.
    rate: f64,
    delay: f64,
    spread: f64,
    /// Seconds from one event to the next, half of it at least, twice at most.
    gap: f64,
}

const SESSIONS: usize = 4;
/// Events of a session: 100 presses in all.
const EVENTS: usize = 25;

/// A session and its truth.
struct Drawn {
    times: Vec<f64>,
    features: Array2<f64>,
    labels: Vec<bool>,
    stamps: Vec<f64>,
}

impl Case {
    fn draw(&self, random: &mut Random) -> Drawn {
        let mut events = vec![self.gap];
        for k in 1..EVENTS {
            events.push(events[k - 1] + self.gap * 0.5 * 4.0f64.powf(random.uniform()));
        }
        let length = events[EVENTS - 1] + self.gap;
        let instances = (length * self.rate) as usize;
        let times: Vec<f64> =
            (0..instances).map(|i| (i as f64 + 0.3 * random.uniform()) / self.rate).collect();
        let mut labels = vec![false; instances];
        for event in &events {
            labels[times.partition_point(|t| t < event).min(instances - 1)] = true;
        }
        let mut features = Array2::zeros((instances, 3));
        for (mut row, &label) in features.rows_mut().into_iter().zip(&labels) {
            // Told apart well, but not perfectly, where one in hundreds is positive.
            let bump = if label { [4.0, -2.5, 0.0] } else { [0.0; 3] };
            row.iter_mut().zip(bump).for_each(|(x, bump)| *x = bump + random.normal());
        }
        let is_event = |i: &usize| labels[*i];
        let late = |i: usize| times[i] + self.delay + self.spread * random.normal();
        let mut stamps: Vec<f64> = (0..instances).filter(is_event).map(late).collect();
        stamps.sort_by(f64::total_cmp);
        Drawn { times, features, labels, stamps }
    }

    fn draw_many(&self, seed: u64) -> Vec<Drawn> {
        let mut random = Random::new(seed);
        (0..SESSIONS).map(|_| self.draw(&mut random)).collect()
    }
}

impl Drawn {
    fn session(&self, name: usize) -> Session<'_> {
        let (times, stamps) = (self.times.clone(), self.stamps.clone());
        Session::new(format!("s{name}"), self.features.view(), times, stamps).unwrap()
    }

    /// With `more` instances after each one in which nothing stirs.
    fn with_silence(&self, more: usize) -> Self {
        let rows = self.times.len() * (more + 1);
        let (mut times, mut labels) = (Vec::with_capacity(rows), Vec::with_capacity(rows));
        let mut features = Array2::zeros((rows, 3));
        for (i, &time) in self.times.iter().enumerate() {
            let next = self.times.get(i + 1).copied().unwrap_or(time + 1.0);
            for k in 0..=more {
                times.push(time + (next - time) * k as f64 / (more + 1) as f64);
                labels.push(k == 0 && self.labels[i]);
                let mut row = features.row_mut(i * (more + 1) + k);
                match k {
                    0 => row.assign(&self.features.row(i)),
                    // Far on the side of the negatives.
                    _ => row.assign(&ndarray::aview1(&[-1.5, 1.0, 0.0])),
                }
            }
        }
        Self { times, features, labels, stamps: self.stamps.clone() }
    }
}

fn sessions(drawn: &[Drawn]) -> Vec<Session<'_>> {
    drawn.iter().enumerate().map(|(k, d)| d.session(k)).collect()
}

fn fit(sessions: &[Session]) -> Fitted {
    Model::default().fit(sessions, &FitOptions::default(), Control::default()).unwrap()
}

#[test]
fn silent_instances_between_the_others_change_nothing() {
    let cases = [
        Case { rate: 1.0, delay: 0.0, spread: 1.5, gap: 15.0 },
        Case { rate: 1.0, delay: 2.0, spread: 1.0, gap: 15.0 },
        Case { rate: 1.0, delay: 1.0, spread: 4.0, gap: 8.0 },
    ];
    for case in cases {
        let drawn = case.draw_many(3);
        let silent: Vec<Drawn> = drawn.iter().map(|d| d.with_silence(9)).collect();
        let [few, many] = [&drawn, &silent].map(|drawn| fit(&sessions(drawn)).learned());
        let stamps = (SESSIONS * EVENTS) as f64;
        // A quarter of a standard error, if the owner of every stamp were known.
        let (delay, spread) =
            (0.25 * case.spread / stamps.sqrt(), 0.25 * case.spread / (2.0 * stamps).sqrt());
        assert!((few.delay - many.delay).abs() < delay, "{case:?}: {few:?}, silent {many:?}");
        assert!((few.spread - many.spread).abs() < spread, "{case:?}: {few:?}, silent {many:?}");
    }
}

/// F1 of the rows said to be positive at a probability of one half.
fn f1(fresh: &[Drawn], predict: impl Fn(&Drawn) -> Vec<f64>) -> f64 {
    let judge = |drawn: &Drawn| confusion(&predict(drawn), &drawn.labels, 0.5).unwrap();
    fresh.iter().map(judge).reduce(|a, b| a + b).unwrap().scores().f1
}

#[test]
fn people_are_learned_at_every_sampling_rate() {
    let cases = [
        Case { rate: 10.0, delay: 2.0, spread: 1.0, gap: 12.0 },
        Case { rate: 4.0, delay: 3.0, spread: 2.0, gap: 20.0 },
        Case { rate: 50.0, delay: 0.5, spread: 0.3, gap: 4.0 },
        Case { rate: 0.3, delay: 2.0, spread: 4.0, gap: 40.0 },
    ];
    for case in cases {
        let drawn = case.draw_many(11);
        let fresh: Vec<Drawn> = (12..17).flat_map(|seed| case.draw_many(seed)).collect();
        let sessions = sessions(&drawn);
        let fitted = fit(&sessions);
        let got = fitted.learned();
        // What the program promises; a standard error is 10 % of the spread in the delay, 7 % in the spread.
        assert!((got.delay - case.delay).abs() < 0.2 * case.delay, "{case:?}: {got:?}");
        assert!((got.spread - case.spread).abs() < 0.2 * case.spread, "{case:?}: {got:?}");
        let targets: Vec<Vec<Target>> =
            drawn.iter().map(|d| d.labels.iter().map(|&y| y.into()).collect()).collect();
        let rows: Vec<_> =
            sessions.iter().zip(&targets).map(|(s, t)| (s.features(), t.as_slice())).collect();
        let (by_hand, _) = Supervised::default().fit(&rows, 0, Control::default()).unwrap();
        let best = f1(&fresh, |d| by_hand.predict(d.features.view()).unwrap());
        let own = f1(&fresh, |d| fitted.predict(d.features.view()).unwrap());
        assert!(own > 0.95 * best, "{case:?}: F1 {own}, by hand {best}");
    }
}
