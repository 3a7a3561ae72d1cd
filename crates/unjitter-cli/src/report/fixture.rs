//! A made-up report for tests and visual checks: breathing, puffs, and a late annotator.

use std::f64::consts::TAU;

use super::data::{
    ClassView, EndView, EventView, Fact, Figure, Report, SessionView, SignalView, StampClass,
    StampView, TableView,
};
use crate::palette;

/// Numbers in 0..1 that look random and are the same everywhere.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// Twenty minutes at 21 Hz, a breath about every three seconds, a puff about every fifty.
pub(super) fn breathing(seed: u64) -> SessionView {
    let mut noise = Noise((seed + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let mut session = SessionView {
        name: format!("day {}", seed + 1),
        subject: Some(format!("subject {}", seed % 4 + 1)),
        start: Some("2026-03-01T11:48:00+01:00".into()),
        truth: Some(Vec::new()),
        ..SessionView::default()
    };
    let mut time = 1.0;
    while time < 1196.0 {
        breath(&mut session, time, &mut noise);
        time += 2.4 + 1.4 * noise.next();
    }
    session.signal = Some(chest_band(&session, &mut noise));
    session
}

fn breath(session: &mut SessionView, time: f64, noise: &mut Noise) {
    let puff = noise.next() < 0.06;
    let doubt = noise.next();
    let p_detector = if puff { 1.0 - 0.6 * doubt } else { 0.35 * doubt.powi(6) };
    let pressed = puff && noise.next() < 0.8;
    let spurious = !puff && noise.next() < 0.006;
    if pressed || spurious {
        let late = 0.4 + 3.0 * noise.next();
        session.stamps.push(StampView {
            stamp: time + late,
            time,
            low: time - if noise.next() < 0.4 { 2.9 } else { 0.0 },
            high: time + if noise.next() < 0.3 { 3.1 } else { 0.0 },
            instance_time: time,
            p_instance: 0.5 + 0.5 * noise.next(),
            p_spurious: if spurious { 0.7 + 0.3 * noise.next() } else { 0.08 * noise.next() },
            ..StampView::default()
        });
    }
    let p_positive = if pressed { 1.0 - 0.1 * doubt } else { 0.8 * p_detector };
    session.times.push(time);
    session.p_detector.push(p_detector);
    session.p_positive.push(p_positive);
    session.p_missed.push(if pressed { 0.0 } else { p_positive });
    session.truth.get_or_insert_default().push(puff);
    if p_detector > 0.5 {
        session.detected.push(EventView::at(time));
    }
    if !pressed && p_positive > 0.5 {
        session.missed.push(EventView::at(time));
    }
}

/// One wave per breath, higher in puffs, with a sensor that fell off for a while.
fn chest_band(session: &SessionView, noise: &mut Noise) -> SignalView {
    let truth = session.truth.as_deref().unwrap_or_default();
    let mut signal = SignalView::default();
    let mut next = 0;
    for sample in 0..25_200 {
        let time = f64::from(sample) / 21.0;
        while next < session.times.len() && session.times[next] <= time {
            next += 1;
        }
        let from = if next == 0 { 0.0 } else { session.times[next - 1] };
        let to = session.times.get(next).copied().unwrap_or(1200.0);
        let height = if next > 0 && truth[next - 1] { 2.2 } else { 1.0 };
        let wave = height * (0.5 - 0.5 * (TAU * (time - from) / (to - from)).cos());
        let drift = 0.3 * (time / 90.0).sin();
        let lost = (612.0..655.0).contains(&time);
        signal.times.push(time);
        signal.values.push(if lost { f64::NAN } else { wave + drift + 0.05 * noise.next() });
    }
    signal
}

/// Five days with an instance each hour, starting before time zero.
fn hourly() -> SessionView {
    let times: Vec<f64> = (-2..118).map(|hour| f64::from(hour) * 3600.0).collect();
    SessionView {
        name: "hourly".into(),
        start: Some("2026-02-27T22:30:00Z".into()),
        p_detector: vec![0.1; times.len()],
        p_positive: vec![0.2; times.len()],
        p_missed: vec![f64::NAN; times.len()],
        stamps: vec![StampView {
            stamp: 90_000.0,
            time: 86_400.0,
            low: 82_800.0,
            high: 90_000.0,
            instance_time: 86_400.0,
            p_instance: 0.6,
            p_spurious: 0.9,
            ..StampView::default()
        }],
        times,
        ..SessionView::default()
    }
}

/// Six minutes with an instance each second: runs of a dozen, pressed at both ends, one of them missed.
fn walks() -> SessionView {
    let mut noise = Noise(7);
    let times: Vec<f64> = (0..360).map(f64::from).collect();
    let mut session = SessionView { name: "walks".into(), ..SessionView::default() };
    for k in 0..8 {
        let begin = 20.0 + 42.0 * f64::from(k) + (6.0 * noise.next()).round();
        let event = EventView { begin, end: begin + 10.0 + f64::from(k % 3), class: None };
        session.true_events.get_or_insert_default().push(event);
        session.detected.push(EventView { end: event.end - 1.0, ..event });
        if k == 3 {
            session.missed.push(event);
            continue;
        }
        let [late, early] = [1.0, -1.5].map(|delay: f64| delay + 2.0 * noise.next() - 1.0);
        let (begin, last) = (event.begin, event.end);
        let end = EndView {
            stamp: last + early,
            time: last,
            low: last - 1.0,
            high: last + 2.0,
            instance_time: last,
            p_spurious: 0.02,
        };
        session.stamps.push(StampView {
            stamp: begin + late,
            time: begin,
            low: begin - 1.0,
            high: begin + 1.0,
            instance_time: begin,
            p_instance: 0.8,
            p_spurious: 0.01,
            // One beginning was pressed alone.
            end: (k != 5).then_some(end),
            class: None,
        });
    }
    let lies_in = |time: &f64, own: &EventView| (own.begin..=own.end).contains(time);
    let truth = |time: &f64| session.true_events.iter().flatten().any(|own| lies_in(time, own));
    let truth: Vec<bool> = times.iter().map(truth).collect();
    session.p_positive = truth.iter().map(|&own| if own { 0.97 } else { 0.02 }).collect();
    session.p_detector = truth.iter().map(|&own| if own { 0.85 } else { 0.1 }).collect();
    session.p_missed = vec![0.0; times.len()];
    session.truth = Some(truth);
    session.times = times;
    session
}

/// Two minutes of two classes, one of them with a hostile name; every fourth press is recorded as the other.
fn coughs() -> SessionView {
    let times: Vec<f64> = (0..120).map(f64::from).collect();
    let names = ["cough", "</script><b>sneeze</b>"];
    let class = |k: usize| (k % 8 == 3).then_some(k / 8 % 2);
    let p = |own: usize, sure: f64| {
        (0..120).map(|k| if class(k) == Some(own) { sure } else { 0.03 }).collect()
    };
    let classes = [0, 1].map(|own| ClassView {
        name: names[own].into(),
        p_detector: p(own, 0.7),
        p_positive: p(own, 0.95),
    });
    let events: Vec<EventView> = (0..120)
        .filter_map(|k| Some(EventView { class: Some(class(k)?), ..EventView::at(k as f64) }))
        .collect();
    let stamps = events.iter().enumerate().map(|(n, own)| {
        let likeliest = own.class.unwrap_or_default();
        let recorded = if n % 4 == 2 { 1 - likeliest } else { likeliest };
        StampView {
            stamp: own.begin + 0.8,
            time: own.begin,
            low: own.begin,
            high: own.begin + 1.0,
            instance_time: own.begin,
            p_instance: 0.9,
            p_spurious: 0.01,
            end: None,
            class: Some(StampClass { recorded, likeliest, p: 0.93 }),
        }
    });
    SessionView {
        name: "two classes".into(),
        p_detector: (0..120).map(|k| if class(k).is_some() { 0.73 } else { 0.06 }).collect(),
        p_positive: (0..120).map(|k| if class(k).is_some() { 0.98 } else { 0.06 }).collect(),
        p_missed: vec![0.0; times.len()],
        truth: Some((0..120).map(|k| class(k).is_some()).collect()),
        stamps: stamps.collect(),
        detected: events.clone(),
        true_events: Some(events),
        classes: classes.into(),
        times,
        ..SessionView::default()
    }
}

/// A report with everything on it: plain sessions, hostile names, nearly empty sessions, runs with both ends, and classes.
pub(super) fn report() -> Report {
    let mut sessions: Vec<SessionView> = (0..12).map(breathing).collect();
    sessions[1].start = None;
    sessions[2].name = "<script>window.hacked = 1</script>".into();
    sessions[3].name = "\"><img src=x onerror=\"window.hacked = 2\">".into();
    sessions[4].name = "</script><!-- <script>".into();
    sessions[5].signal = None;
    sessions[5].truth = None;
    sessions[6] = SessionView { name: "empty".into(), ..SessionView::default() };
    sessions[7] = SessionView {
        name: "one instance".into(),
        times: vec![2.0],
        p_detector: vec![0.2],
        p_positive: vec![0.3],
        p_missed: vec![0.3],
        ..SessionView::default()
    };
    sessions[8].stamps.clear();
    sessions[9] = hourly();
    sessions[10] = walks();
    sessions[11] = coughs();
    Report {
        title: "12 sessions of simulated breathing".into(),
        command: "unjitter report sessions.csv --output report.html".into(),
        warnings: vec![
            "The delay of presses in day 7 <b>could not</b> be told from that of the others: it has no presses.".into(),
        ],
        facts: facts(),
        sessions,
        figures: vec![
            figure("Delays of presses", "How late presses come. Negative is early."),
            figure("Scores by sloppiness", "F1 of the detector as presses get sloppier; shading is 95 %."),
        ],
        tables: vec![learners()],
    }
}

fn facts() -> Vec<Fact> {
    let fact = |label: &str, value: &str, explanation: &str| Fact {
        label: label.into(),
        value: value.into(),
        explanation: explanation.into(),
    };
    vec![
        fact(
            "typical delay",
            "1.9 s late",
            "Presses come this long after the breath they belong to.",
        ),
        fact(
            "spread of delays",
            "0.9 s",
            "Two presses in three are within this of the typical delay.",
        ),
        fact("missed", "20 %", "Puffs for which nobody pressed."),
        fact("pressed for nothing", "0.6 %", "Share of other breaths that got a press."),
        fact("data", "12 sessions", "4 381 breaths and 214 presses of 4 subjects."),
    ]
}

fn figure(title: &str, caption: &str) -> Figure {
    let bars: String = (0..24)
        .map(|k| {
            let height = 120.0 * (-(f64::from(k) - 9.0).powi(2) / 30.0).exp();
            let (x, y) = (60 + 14 * k, 180.0 - height);
            format!(
                r#"<rect x="{x}" y="{y:.1}" width="11" height="{height:.1}" fill="{}" stroke="none"/>"#,
                palette::BLUE
            )
        })
        .collect();
    let svg = format!(
        r#"<svg width="420" height="230" viewBox="0 0 420 230" xmlns="http://www.w3.org/2000/svg">
<polyline fill="none" stroke="{grid}" points="50,120 404,120"/>{bars}
<polyline fill="none" stroke="{ink}" points="50,180 404,180"/>
<polyline fill="none" stroke="{vermilion}" stroke-width="2" points="60,170 150,90 230,60 404,150"/>
<text x="227" y="210" text-anchor="middle" font-family="sans-serif" font-size="12" fill="{muted}">seconds</text>
</svg>"#,
        grid = palette::GRID,
        ink = palette::INK,
        vermilion = palette::VERMILION,
        muted = palette::MUTED,
    );
    Figure { title: title.into(), caption: caption.into(), svg }
}

fn learners() -> TableView {
    let texts = |row: &[&str]| row.iter().map(|cell| (*cell).to_string()).collect::<Vec<String>>();
    TableView {
        title: "Learners compared".into(),
        caption: "Ten folds over sessions; larger is better.".into(),
        header: texts(&["learner", "F1", "precision", "recall", "area under the curve"]),
        rows: vec![
            texts(&["labels by hand", "0.838", "0.851", "0.826", "0.97"]),
            texts(&["all alignments", "0.849", "0.862", "0.836", "0.98"]),
            texts(&["naive <i>", "0.331", "0.402", "0.281", "0.71"]),
        ],
    }
}
