//! Sessions as small JSON: whole numbers, differences, and no more digits than a screen can show.
//!
//! A time is a count of ticks since the earliest time of its session, where a tick is about a millionth
//! of the session. Ascending times are stored as differences. A probability is in ten-thousandths. Whole
//! numbers cannot be NaN: an entry with a time that is not finite is dropped, a probability that is not
//! finite is [`UNKNOWN`]. `decode.js` is the inverse.

use serde::Serialize;

use super::data::{ClassView, EndView, EventView, SessionView, SignalView, StampClass, StampView};
use super::downsample::downsample;

/// Stands for a probability that is not a number.
const UNKNOWN: i64 = -1;
/// Signal points of one session: several for each pixel of a wide screen, so there is something to zoom into.
const POINTS_PER_SESSION: usize = 6_000;
/// Signal points of all sessions, at about 6 bytes each.
const POINTS_IN_ALL: usize = 240_000;
/// Number of heights in the drawing.
const LEVELS: f64 = 10_000.0;

#[derive(Serialize)]
struct Session<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    subject: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    start: Option<&'a str>,
    origin: f64,
    ticks_per_second: f64,
    times: Vec<i64>,
    p_detector: Vec<i64>,
    p_positive: Vec<i64>,
    p_missed: Vec<i64>,
    /// Positions of the positive instances.
    #[serde(skip_serializing_if = "Option::is_none")]
    truth: Option<Vec<usize>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    classes: Vec<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    by_class: Vec<Class>,
    /// Fields in the order of [`StampView`].
    stamps: Vec<[i64; 7]>,
    /// Fields in the order of [`EndView`], by stamp; empty where no end was pressed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    ends: Vec<Vec<i64>>,
    /// Class as recorded, likeliest class and its probability, by stamp; empty where there is none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    records: Vec<Vec<i64>>,
    detected: Events,
    missed: Events,
    #[serde(skip_serializing_if = "Option::is_none")]
    true_events: Option<Events>,
    #[serde(skip_serializing_if = "Option::is_none")]
    signal: Option<Signal>,
}

/// Probabilities of a class.
#[derive(Serialize)]
struct Class {
    p_detector: Vec<i64>,
    p_positive: Vec<i64>,
}

/// Events in order of time. Lengths are left out if all are of one instance, classes if there is one.
#[derive(Serialize)]
struct Events {
    begins: Vec<i64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    lengths: Vec<i64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    classes: Vec<usize>,
}

#[derive(Serialize)]
struct Signal {
    times: Vec<i64>,
    values: Vec<i64>,
    gaps: Vec<usize>,
}

/// The sessions as JSON, not yet safe inside markup.
pub(super) fn sessions(sessions: &[SessionView]) -> String {
    let points = POINTS_PER_SESSION.min(POINTS_IN_ALL / sessions.len().max(1));
    let encoded: Vec<Session<'_>> =
        sessions.iter().map(|session| encode(session, points)).collect();
    serde_json::to_string(&encoded).expect("texts and whole numbers always have a JSON form")
}

fn encode(session: &SessionView, points: usize) -> Session<'_> {
    let clock = Clock::of(session);
    let dated: Vec<usize> =
        (0..session.times.len()).filter(|&i| session.times[i].is_finite()).collect();
    let of_dated = |p: &[f64]| {
        dated.iter().map(|&i| p.get(i).map_or(UNKNOWN, |p| probability(*p))).collect::<Vec<i64>>()
    };
    let positive = |truth: &Vec<bool>| {
        let is_positive = |&k: &usize| truth.get(dated[k]).copied().unwrap_or(false);
        (0..dated.len()).filter(is_positive).collect()
    };
    let stamps: Vec<(&StampView, [i64; 7])> = session
        .stamps
        .iter()
        .filter_map(|stamp| Some((stamp, encode_stamp(stamp, &clock)?)))
        .collect();
    let of_class = |class: &ClassView| Class {
        p_detector: of_dated(&class.p_detector),
        p_positive: of_dated(&class.p_positive),
    };
    let ends = stamps.iter().map(|(stamp, _)| encode_end(stamp.end.as_ref(), &clock));
    let ends: Vec<Vec<i64>> = ends.collect();
    let record = |class: StampClass| {
        vec![class.recorded as i64, class.likeliest as i64, probability(class.p)]
    };
    let records = stamps.iter().map(|(stamp, _)| stamp.class.map_or_else(Vec::new, record));
    let records: Vec<Vec<i64>> = records.collect();
    Session {
        name: &session.name,
        subject: session.subject.as_deref(),
        start: session.start.as_deref(),
        origin: clock.origin,
        ticks_per_second: clock.ticks_per_second,
        times: steps(dated.iter().map(|&i| clock.ticks(session.times[i]))),
        p_detector: of_dated(&session.p_detector),
        p_positive: of_dated(&session.p_positive),
        p_missed: of_dated(&session.p_missed),
        truth: session.truth.as_ref().map(positive),
        classes: session.classes.iter().map(|class| class.name.as_str()).collect(),
        by_class: session.classes.iter().map(of_class).collect(),
        ends: unless_all_empty(ends),
        records: unless_all_empty(records),
        stamps: stamps.into_iter().map(|(_, fields)| fields).collect(),
        detected: clock.events(&session.detected),
        missed: clock.events(&session.missed),
        true_events: session.true_events.as_ref().map(|events| clock.events(events)),
        signal: session.signal.as_ref().and_then(|signal| encode_signal(signal, &clock, points)),
    }
}

fn encode_stamp(stamp: &StampView, clock: &Clock) -> Option<[i64; 7]> {
    let times = [stamp.stamp, stamp.time, stamp.low, stamp.high, stamp.instance_time];
    times.iter().all(|time| time.is_finite()).then(|| {
        let [pressed, time, low, high, instance_time] = times.map(|time| clock.ticks(time));
        let p_instance = probability(stamp.p_instance);
        [pressed, time, low, high, instance_time, p_instance, probability(stamp.p_spurious)]
    })
}

fn unless_all_empty(lists: Vec<Vec<i64>>) -> Vec<Vec<i64>> {
    if lists.iter().all(Vec::is_empty) { Vec::new() } else { lists }
}

/// Nothing if there is no end.
fn encode_end(end: Option<&EndView>, clock: &Clock) -> Vec<i64> {
    let fields = end.and_then(|end| {
        let times = [end.stamp, end.time, end.low, end.high, end.instance_time];
        let is_known = times.iter().all(|time| time.is_finite());
        let times = times.into_iter().map(|time| clock.ticks(time));
        is_known.then(|| times.chain([probability(end.p_spurious)]).collect())
    });
    fields.unwrap_or_default()
}

fn encode_signal(signal: &SignalView, clock: &Clock, points: usize) -> Option<Signal> {
    let kept = downsample(&signal.times, &signal.values, points);
    let values = || kept.samples.iter().map(|&i| signal.values[i]);
    let low = values().fold(f64::INFINITY, f64::min);
    let high = values().fold(f64::NEG_INFINITY, f64::max);
    // Halves, because the difference of two finite numbers need not be finite.
    let half_range = high / 2.0 - low / 2.0;
    let level = |value: f64| {
        let share = if half_range > 0.0 { (value / 2.0 - low / 2.0) / half_range } else { 0.5 };
        (share * LEVELS).round() as i64
    };
    (!kept.samples.is_empty()).then(|| Signal {
        times: steps(kept.samples.iter().map(|&i| clock.ticks(signal.times[i]))),
        values: steps(values().map(level)),
        gaps: kept.gaps,
    })
}

/// Turns times into ticks.
struct Clock {
    origin: f64,
    ticks_per_second: f64,
}

impl Clock {
    fn of(session: &SessionView) -> Self {
        let stamps =
            session.stamps.iter().flat_map(|s| [s.stamp, s.time, s.low, s.high, s.instance_time]);
        let ends = session.stamps.iter().filter_map(|stamp| stamp.end);
        let ends = ends.flat_map(|s| [s.stamp, s.time, s.low, s.high, s.instance_time]);
        let events = session.detected.iter().chain(&session.missed);
        let events = events.chain(session.true_events.iter().flatten());
        let events = events.flat_map(|event| [event.begin, event.end]);
        let (mut first, mut last) = (f64::INFINITY, f64::NEG_INFINITY);
        let recorded = session.signal.iter().flat_map(|signal| &signal.times);
        let times = recorded.chain(&session.times).copied().chain(stamps).chain(ends).chain(events);
        for time in times.filter(|time| time.is_finite()) {
            first = first.min(time);
            last = last.max(time);
        }
        let span = if last > first { last - first } else { 1.0 };
        let digits = (6.0 - span.log10()).ceil().clamp(0.0, 12.0);
        Self {
            origin: if first.is_finite() { first } else { 0.0 },
            ticks_per_second: 10_f64.powf(digits).round(),
        }
    }

    fn ticks(&self, time: f64) -> i64 {
        ((time - self.origin) * self.ticks_per_second).round() as i64
    }

    fn events(&self, events: &[EventView]) -> Events {
        let known = || events.iter().filter(|own| own.begin.is_finite() && own.end.is_finite());
        let lengths: Vec<i64> =
            known().map(|own| self.ticks(own.end) - self.ticks(own.begin)).collect();
        Events {
            begins: steps(known().map(|own| self.ticks(own.begin))),
            lengths: if lengths.iter().all(|&own| own == 0) { Vec::new() } else { lengths },
            classes: known().filter_map(|own| own.class).collect(),
        }
    }
}

fn probability(p: f64) -> i64 {
    if p.is_nan() { UNKNOWN } else { (p.clamp(0.0, 1.0) * 1e4).round() as i64 }
}

/// Differences of successive numbers, starting from zero.
fn steps(numbers: impl Iterator<Item = i64>) -> Vec<i64> {
    let mut before = 0;
    numbers.map(|number| number - std::mem::replace(&mut before, number)).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::super::fixture;
    use super::*;

    fn decoded(session: SessionView) -> Value {
        let json = sessions(&[session]);
        assert!(!json.contains("null") && !json.contains("NaN"), "{json}");
        serde_json::from_str::<Vec<Value>>(&json).unwrap().remove(0)
    }

    fn integers(value: &Value) -> Vec<i64> {
        value.as_array().unwrap().iter().map(|n| n.as_i64().unwrap()).collect()
    }

    #[test]
    fn twelve_sessions_of_twenty_minutes_stay_small() {
        let twelve: Vec<SessionView> = (0..12).map(fixture::breathing).collect();
        assert_eq!(twelve[0].signal.as_ref().unwrap().values.len(), 25_200);
        assert!(sessions(&twelve).len() < 1_200_000, "{}", sessions(&twelve).len());
    }

    #[test]
    fn many_sessions_share_the_points() {
        let session = fixture::breathing(0);
        let json = sessions(&vec![session; 300]);
        assert!(json.len() < 6_000_000, "{}", json.len());
    }

    #[test]
    fn nothing_that_is_not_a_number_comes_through() {
        let bad = f64::NAN;
        let stamp = fixture::breathing(0).stamps[0];
        let session = decoded(SessionView {
            times: vec![1.0, bad, 3.0],
            p_detector: vec![bad, 0.1, 0.25],
            p_positive: vec![0.5, 0.5, f64::INFINITY],
            p_missed: vec![0.0],
            truth: Some(vec![true, true, false]),
            stamps: vec![StampView { low: bad, ..stamp }, StampView { p_spurious: bad, ..stamp }],
            detected: [bad, 3.0, f64::NEG_INFINITY].map(EventView::at).to_vec(),
            signal: Some(SignalView { times: vec![bad, 1.0, 2.0], values: vec![1.0, bad, 2.0] }),
            ..SessionView::default()
        });
        assert_eq!(integers(&session["p_detector"]), [UNKNOWN, 2500]);
        assert_eq!(integers(&session["p_positive"]), [5000, 10_000]);
        assert_eq!(integers(&session["p_missed"]), [0, UNKNOWN]);
        assert_eq!(integers(&session["truth"]), [0]);
        assert_eq!(session["stamps"].as_array().unwrap().len(), 1);
        assert_eq!(session["stamps"][0][6], UNKNOWN);
        assert_eq!(integers(&session["detected"]["begins"]).len(), 1);
        assert_eq!(integers(&session["signal"]["values"]).len(), 1);
    }

    #[test]
    fn ends_and_classes_stay_with_their_stamps() {
        let class = |recorded| Some(StampClass { recorded, likeliest: 1, p: 0.75 });
        let end = |stamp| EndView {
            stamp,
            time: 4.0,
            low: 3.0,
            high: 5.0,
            instance_time: 4.0,
            p_spurious: 0.5,
        };
        let stamp = |stamp, end, recorded| StampView {
            stamp,
            end,
            class: class(recorded),
            ..StampView::default()
        };
        let session = decoded(SessionView {
            stamps: vec![
                stamp(1.0, Some(end(6.0)), 0),
                stamp(f64::NAN, Some(end(7.0)), 1),
                stamp(2.0, None, 1),
                stamp(3.0, Some(end(f64::NAN)), 0),
            ],
            detected: vec![
                EventView { begin: 1.0, end: 3.0, class: Some(1) },
                EventView { begin: 2.0, end: 2.0, class: Some(0) },
            ],
            ..SessionView::default()
        });
        let of = |key: &str, k: usize| integers(&session[key][k]);
        let ticks = session["ticks_per_second"].as_f64().unwrap() as i64;
        assert_eq!(of("ends", 0), [6 * ticks, 4 * ticks, 3 * ticks, 5 * ticks, 4 * ticks, 5000]);
        assert!(of("ends", 1).is_empty() && of("ends", 2).is_empty());
        assert_eq!(
            [of("records", 0), of("records", 1), of("records", 2)],
            [[0, 1, 7500], [1, 1, 7500], [0, 1, 7500]]
        );
        let detected = &session["detected"];
        assert_eq!(integers(&detected["lengths"]), [2 * ticks, 0]);
        assert_eq!(integers(&detected["classes"]), [1, 0]);
    }

    #[test]
    fn empty_sessions_and_single_instances_have_a_form() {
        let empty = decoded(SessionView { name: "empty".into(), ..SessionView::default() });
        assert_eq!(empty["origin"], 0.0);
        assert!(empty.get("signal").is_none() && empty.get("truth").is_none());
        let single = decoded(SessionView {
            times: vec![1.7e9],
            p_detector: vec![0.5],
            p_positive: vec![0.123_456],
            p_missed: vec![0.0],
            ..SessionView::default()
        });
        assert_eq!(single["origin"], 1.7e9);
        assert_eq!(integers(&single["times"]), [0]);
        assert_eq!(integers(&single["p_positive"]), [1235]);
    }

    #[test]
    fn times_come_back_to_a_millionth_of_the_session() {
        for scale in [1e-6, 1.0, 1e5] {
            let times: Vec<f64> =
                (0..50).map(|i| scale * (7.0 + 0.310_276 * f64::from(i * i))).collect();
            let session = decoded(SessionView { times: times.clone(), ..SessionView::default() });
            let ticks_per_second = session["ticks_per_second"].as_f64().unwrap();
            let mut ticks = 0;
            for (step, time) in integers(&session["times"]).iter().zip(&times) {
                ticks += step;
                let back = session["origin"].as_f64().unwrap() + ticks as f64 / ticks_per_second;
                // Half a tick, and a tick is at most a millionth of the span.
                let tolerance = 0.500_001e-6 * (times[49] - times[0]);
                assert!((back - time).abs() <= tolerance, "{back} for {time}");
            }
        }
    }

    #[test]
    fn the_signal_fills_its_levels_and_a_flat_one_lies_in_the_middle() {
        let of = |values: Vec<f64>| {
            let times = (0..values.len()).map(|i| i as f64).collect();
            let signal = Some(SignalView { times, values });
            let session = decoded(SessionView { signal, ..SessionView::default() });
            integers(&session["signal"]["values"])
        };
        assert_eq!(of(vec![2.0, 4.0, 3.0]), [0, 10_000, -5000]);
        assert_eq!(of(vec![7.0, 7.0]), [5000, 0]);
        assert_eq!(of(vec![-f64::MAX, f64::MAX]), [0, 10_000]);
    }
}
