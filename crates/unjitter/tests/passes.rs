//! Sessions in several places: the same bits as in one, and about the fit without a sample.

use std::sync::atomic::{AtomicUsize, Ordering};

use unjitter::learning::{
    Evidence, FitOptions, LeftOut, Partition, Size, Workers, fold_of, sampled,
};
use unjitter::math::Random;
use unjitter::{Control, Error, Fitted, Model, Result, Session};

/// Sessions of 150 instances; one in ten is an event, which three features show, stamped 1.5 late.
fn sessions(count: usize) -> Vec<Session<'static>> {
    let mut random = Random::new(3);
    let session = |k: usize| {
        let (mut times, mut features, mut stamps) = (vec![], vec![], vec![]);
        let mut time = 0.0;
        for _ in 0..150 {
            time += 0.5 + random.uniform();
            let event = random.uniform() < 0.1;
            features.extend((0..3).map(|_| random.normal() + if event { 1.5 } else { 0.0 }));
            times.push(time);
            if event && random.uniform() < 0.9 {
                stamps.push(time + 1.5 + 0.7 * random.normal());
            }
        }
        stamps.sort_by(f64::total_cmp);
        let features = ndarray::Array2::from_shape_vec((150, 3), features).unwrap();
        let session = Session::new(format!("s{k:03}"), features, times, stamps).unwrap();
        session.with_subject(format!("p{}", k / 2))
    };
    (0..count).map(session).collect()
}

/// Workers that hold sessions in partitions, and speak in text.
struct Cluster {
    partitions: Vec<Vec<Session<'static>>>,
    passes: AtomicUsize,
    /// The pass at which the last worker fails.
    fails_at: usize,
    /// Whether the stamps of a session are impossible.
    spoils: bool,
    /// Whether workers forget what they prepared.
    forgets: bool,
    kept: std::sync::Mutex<Vec<Option<Partition<'static>>>>,
}

impl Cluster {
    fn new(partitions: Vec<Vec<Session<'static>>>) -> Self {
        let kept = std::sync::Mutex::new(partitions.iter().map(|_| None).collect());
        let (passes, fails_at) = (AtomicUsize::new(0), usize::MAX);
        Self { partitions, passes, fails_at, spoils: false, forgets: false, kept }
    }

    /// So many partitions of sessions, dealt out from the last.
    fn of(sessions: &[Session<'static>], partitions: usize) -> Self {
        let mut all = vec![Vec::new(); partitions];
        for (k, session) in sessions.iter().rev().enumerate() {
            all[k % partitions].push(session.clone());
        }
        Self::new(all)
    }
}

impl Workers for Cluster {
    fn sessions(&self) -> usize {
        self.partitions.iter().map(Vec::len).sum()
    }

    fn stamps(&self) -> usize {
        self.partitions.iter().flatten().map(|session| session.stamps().len()).sum()
    }

    fn evaluate(&self, fitted: &Fitted, params: &[Vec<f64>]) -> Result<Vec<Evidence>> {
        if self.passes.fetch_add(1, Ordering::Relaxed) == self.fails_at {
            return Err(Error::Worker("part-7.parquet: session s003: the disk is gone".to_owned()));
        }
        let fitted = Fitted::from_json(fitted.to_json().as_bytes())?;
        let mut total = vec![Evidence::default(); params.len()];
        let mut kept = self.kept.lock().unwrap();
        for (own, kept) in self.partitions.iter().zip(kept.iter_mut()) {
            if self.forgets || kept.is_none() {
                *kept = Some(Partition::new(&fitted, own, Control::default())?);
            }
            let found = kept.as_ref().unwrap().evaluate(params, None, Control::default())?;
            for (total, own) in total.iter_mut().zip(found) {
                let text = serde_json::to_string(&own).unwrap();
                *total += &serde_json::from_str(&text).unwrap();
            }
        }
        if self.spoils {
            total[0].value += f64::NEG_INFINITY;
            total[0].impossible = Some("s004".to_owned());
        }
        Ok(total)
    }
}

fn options(sample: usize) -> FitOptions {
    FitOptions { sample, ..FitOptions::default() }
}

fn sample_of(sessions: &[Session<'static>], enough: usize) -> Vec<Session<'static>> {
    let size = |own: &Session<'static>| (own.stamps().len(), own.len());
    let sizes: Vec<Size<'_>> = sessions
        .iter()
        .map(|own| Size { name: own.name(), stamps: size(own).0, instances: size(own).1 })
        .collect();
    let kept = sessions.iter().zip(sampled(&sizes, enough)).filter(|(_, is_in)| *is_in);
    kept.map(|(session, _)| session.clone()).collect()
}

fn fit_over(sessions: &[Session<'static>], cluster: &Cluster, enough: usize) -> Result<Fitted> {
    let sample = sample_of(sessions, enough);
    Model::default().fit_over(&sample, cluster, &options(enough), Control::default())
}

#[test]
fn places_change_no_bit() {
    let sessions = sessions(40);
    let model = Model::default();
    let here = model.fit(&sessions, &options(200), Control::default()).unwrap();
    let mut with_none = vec![Vec::new()];
    with_none.push(sessions.clone());
    let mut clusters: Vec<Cluster> = [1, 2, 7].map(|n| Cluster::of(&sessions, n)).into();
    clusters.push(Cluster::new(with_none));
    clusters.push(Cluster { forgets: true, ..Cluster::of(&sessions, 3) });
    for cluster in clusters {
        let there = fit_over(&sessions, &cluster, 200).unwrap();
        assert_eq!(here.to_json(), there.to_json());
        // One for the modes, and some for the optimum and for that with the spread stretched: 12.
        let passes = cluster.passes.load(Ordering::Relaxed);
        assert!((3..30).contains(&passes), "{passes}");
    }
    let one_thread = FitOptions { threads: Some(1), ..options(200) };
    assert_eq!(
        model.fit(&sessions, &one_thread, Control::default()).unwrap().to_json(),
        here.to_json()
    );
}

#[test]
fn a_sample_leads_to_the_optimum_of_all() {
    let sessions = sessions(60);
    let fit = |sample: usize| {
        Model::default().fit(&sessions, &options(sample), Control::default()).unwrap()
    };
    let (all, part) = (fit(usize::MAX), fit(300));
    // Standardised by other sessions, so compared by what it says.
    let (a, b) = (all.learned(), part.learned());
    let error = |fitted: &Fitted, name: &str| {
        fitted.estimates(name, 0.95).unwrap()[0].unwrap().standard_error
    };
    assert!((a.delay - b.delay).abs() < 0.1 * error(&all, "noise.delay"), "{a:?} {b:?}");
    assert!((a.spread / b.spread).ln().abs() < 0.05, "{a:?} {b:?}");
    for session in &sessions[..5] {
        let [p, q] = [&all, &part].map(|own| own.predict(session.features()).unwrap());
        let far = p.iter().zip(&q).map(|(p, q)| (p - q).abs()).fold(0.0, f64::max);
        assert!(far < 0.02, "{far}");
    }
    // The prior of a sample's scale is another, by less than one.
    let evidence = |fitted: &Fitted| fitted.outcome().log_evidence;
    assert!((evidence(&all) - evidence(&part)).abs() < 1.0);
    // How sure: a third of the sessions tells it to some fifteen per cent.
    for name in ["noise.delay", "noise.spread", "counts.hit_rate"] {
        let ratio = error(&part, name) / error(&all, name);
        assert!((0.7..1.4).contains(&ratio), "{name}: {ratio}");
    }
}

#[test]
fn evidence_is_that_of_the_objective() {
    let sessions = sessions(8);
    let fitted = Model::default().fit(&sessions, &options(usize::MAX), Control::default()).unwrap();
    let near: Vec<f64> = fitted.unconstrained().iter().map(|own| own + 0.01).collect();
    let partition = Partition::new(&fitted, &sessions, Control::default()).unwrap();
    let both = [fitted.unconstrained().to_vec(), near];
    let found = partition.evaluate(&both, None, Control::default()).unwrap();
    for (params, found) in both.iter().zip(&found) {
        // One by one, and in one pass.
        let alone =
            partition.evaluate(std::slice::from_ref(params), None, Control::default()).unwrap();
        assert_eq!(&alone[0], found);
    }
    // Session by session, through another door.
    let unit = fitted.time_unit().ln();
    let mine =
        |own: &Session<'_>| fitted.log_evidence(own).unwrap() + own.stamps().len() as f64 * unit;
    let (value, want) = (found[0].value.value(), sessions.iter().map(mine).sum::<f64>());
    // Messages begin elsewhere, and have seven digits.
    assert!((value - want).abs() < 1e-6 * want.abs(), "{value} {want}");
    // The gradient, by differences along each parameter.
    for k in 0..both[0].len() {
        let at = |step: f64| {
            let mut there = both[0].clone();
            there[k] += step;
            partition.evaluate(&[there], None, Control::default()).unwrap()[0].value.value()
        };
        let (got, want) = (found[0].gradient[k].value(), (at(1e-4) - at(-1e-4)) / 2e-4);
        // Seven digits of a value of some hundreds, over the step.
        assert!((got - want).abs() < 0.05 + 1e-3 * want.abs(), "{k}: {got} {want}");
    }
    let left_out: f64 = (0..5)
        .map(|part| {
            let left_out = Some(LeftOut { part, of: 5 });
            let found = partition.evaluate(&both[..1], left_out, Control::default()).unwrap();
            found[0].value.value()
        })
        .sum();
    assert!((left_out - 4.0 * found[0].value.value()).abs() < 1e-9 * left_out.abs());
    // Sessions of a subject stay together.
    let alone = |k: usize| Partition::new(&fitted, &sessions[k..=k], Control::default()).unwrap();
    let part = fold_of("p0", 5);
    for k in [0, 1] {
        let left_out = Some(LeftOut { part, of: 5 });
        let nothing = alone(k).evaluate(&both[..1], left_out, Control::default()).unwrap();
        assert_eq!(nothing[0].value.value(), 0.0);
    }
}

#[test]
fn what_a_worker_says_is_passed_on() {
    let sessions = sessions(40);
    for fails_at in [0, 2, 5] {
        let cluster = Cluster { fails_at, ..Cluster::of(&sessions, 3) };
        let error = fit_over(&sessions, &cluster, 200).unwrap_err().to_string();
        assert_eq!(error, "part-7.parquet: session s003: the disk is gone");
        assert_eq!(cluster.passes.load(Ordering::Relaxed), fails_at + 1);
    }
    let cluster = Cluster { spoils: true, ..Cluster::of(&sessions, 3) };
    let words = fit_over(&sessions, &cluster, 200).unwrap_err().to_string();
    assert!(words.contains("session s004: its stamps are impossible"), "{words}");
    let varying = Model::default().with_clocks(unjitter::model::Factor::Session);
    let cluster = Cluster::of(&sessions, 2);
    let error = varying.fit_over(&sessions[..5], &cluster, &options(200), Control::default());
    assert!(error.unwrap_err().to_string().contains("varies between groups"));
}
