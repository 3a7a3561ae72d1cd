//! Tables larger than memory, and recordings that go on: pieces equal the whole, and take no more memory.

#[path = "common/peak.rs"]
mod peak;

use std::fmt::Write as _;
use std::path::PathBuf;

use ndarray::Array2;
use peak::peak_without_copies_of as peak_of;
use tempfile::TempDir;
use unjitter::evaluation::{Departed, EventOptions, StreamOptions, detect_events};
use unjitter::io::{Chunk, Columns, InstanceChunks, InstancesTable};
use unjitter::labels::Labels;
use unjitter::math::Random;
use unjitter::{Control, Detector, FitOptions, Model, Session};

/// A table of `lines` instances with ten features, in sessions of `length`; every third line belongs
/// to the session after its neighbours'.
fn write_table(lines: usize, length: usize) -> (TempDir, PathBuf) {
    let mut text = "session,time,x0,x1,x2,x3,x4,x5,x6,x7,x8,x9\n".to_owned();
    for k in 0..lines {
        let session = k / length + usize::from(k % 3 == 0);
        let _ = write!(text, "\"session {session}\",{}", k as f64 / 8.0);
        for column in 0..10 {
            let _ = write!(text, ",{}", ((k * 10 + column) as f64).sin());
        }
        text.push('\n');
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("instances.csv");
    std::fs::write(&path, text).unwrap();
    (folder, path)
}

#[test]
fn pieces_of_any_size_make_the_whole() {
    let (_folder, path) = write_table(1000, 64);
    let columns = Columns::default();
    let whole = InstancesTable::read(&path, &columns).unwrap();
    for most in [1, 2, 63, 64, 65, 999, 1000, 1001] {
        let mut chunks = InstanceChunks::open(&path, &columns).unwrap();
        let (mut chunk, mut lines) = (Chunk::default(), 0);
        let mut seen = vec![0; whole.sessions.len()];
        while chunks.next(&mut chunk, most).unwrap() {
            assert!(chunk.times.len() == most || lines + chunk.times.len() == 1000);
            lines += chunk.times.len();
            for (k, row) in chunk.features().rows().into_iter().enumerate() {
                let at = chunk.positions[k];
                let (session, instance) = (&whole.sessions[at], seen[at]);
                seen[at] += 1;
                assert_eq!(chunk.session(k), session.name);
                assert_eq!(chunks.clock(at), session.clock);
                assert_eq!(chunk.times[k], session.times[instance]);
                assert_eq!(chunk.time_text(k), session.clock.write(chunk.times[k]));
                assert_eq!(row.to_vec(), session.values[instance * 10..][..10]);
            }
        }
        assert!(lines == 1000 && chunk.times.is_empty(), "{most}");
    }
}

#[test]
fn pieces_hold_no_more_of_a_longer_table() {
    let peak = |lines: usize| {
        let (_folder, path) = write_table(lines, lines / 10);
        let (read, peak) = peak_of(|| {
            let mut chunks = InstanceChunks::open(&path, &Columns::default()).unwrap();
            let (mut chunk, mut read) = (Chunk::default(), 0);
            while chunks.next(&mut chunk, 256).unwrap() {
                read += chunk.times.len();
            }
            read
        });
        assert_eq!(read, lines);
        peak
    };
    let (short, long) = (peak(5_000), peak(50_000));
    // Ten times the lines, and some digits more in a chunk of them.
    assert!(long < short + 4096, "{short} and {long} bytes");
}

#[test]
fn a_table_is_read_without_a_second_copy() {
    for length in [100, 1000, 40_000] {
        let (_folder, path) = write_table(40_000, length);
        let (table, peak) = peak_of(|| InstancesTable::read(&path, &Columns::default()).unwrap());
        let features: usize = table.sessions.iter().map(|session| session.values.len()).sum();
        assert_eq!(features, 400_000);
        // A tenth more are the times; a quarter is the room to grow; buffers are 0.3 MB.
        let most = 8.0 * features as f64 * 1.1 * 1.25 + 5e5;
        assert!((peak as f64) < most, "{peak} bytes for sessions of {length}");
        let kept: usize = table.sessions.iter().map(|session| session.values.capacity()).sum();
        assert_eq!(kept, features);
    }
}

/// Instances on a grid of half seconds, some at one time, with runs of six that features tell weakly; and of each run a
/// stamp.
fn recording(seed: u64) -> Session<'static> {
    let mut random = Random::new(seed);
    let (mut time, mut times, mut stamps) = (0.0, Vec::new(), Vec::new());
    let features = Array2::from_shape_fn((300, 2), |(i, column)| {
        if column == 0 {
            time += 0.5 * random.below(3) as f64;
            times.push(time);
            if i % 40 == 20 {
                stamps.push(time + 1.0 + 0.4 * random.normal());
            }
        }
        let positive = (20..26).contains(&(i % 40));
        random.normal() + if positive && column == 0 { 2.0 } else { 0.0 }
    });
    stamps.sort_by(f64::total_cmp);
    Session::new(format!("walk {seed}"), features, times, stamps).unwrap()
}

fn detector(labels: Labels) -> Detector {
    let sessions: Vec<Session<'_>> = (1..5).map(recording).collect();
    let options = FitOptions { restarts: 0, ..FitOptions::default() };
    let model = Model { labels, ..Model::default() };
    model.fit(&sessions, &options, Control::default()).unwrap().detector()
}

/// All that leaves when so many instances arrive at a time.
fn streamed(
    detector: &Detector,
    session: &Session<'_>,
    options: StreamOptions,
    step: usize,
) -> Departed {
    let mut stream = detector.stream(options).unwrap();
    let mut all = Departed::default();
    for (times, rows) in session.times().chunks(step).zip(session.features().chunks(step)) {
        let left = stream.push(times, rows).unwrap();
        all.instances.extend(left.instances);
        all.events.extend(left.events);
    }
    let left = stream.finish();
    all.instances.extend(left.instances);
    all.events.extend(left.events);
    all
}

#[test]
fn a_recording_that_goes_on_is_told_as_a_whole_one() {
    let session = recording(9);
    for labels in [Labels::Independent, Labels::Chain] {
        let detector = detector(labels);
        let whole = detector.predict_session(&session).unwrap();
        for (step, threshold, min_separation) in
            [(1, 0.5, 0.0), (7, 0.2, 2.0), (1, 0.01, 5.0), (300, 0.0, 1.5), (1, 0.0, 0.5)]
        {
            let options = StreamOptions { threshold, min_separation, ..StreamOptions::default() };
            let left = streamed(&detector, &session, options, step);
            let times: Vec<f64> = left.instances.iter().map(|own| own.time).collect();
            let p: Vec<f64> = left.instances.iter().map(|own| own.probability).collect();
            assert_eq!(times, session.times());
            match labels {
                Labels::Independent => assert_eq!(p, whole),
                Labels::Chain => {
                    // The tolerance of a stream, and rounding.
                    let worst = p.iter().zip(&whole).map(|(a, b)| (a - b).abs());
                    assert!(worst.fold(0.0, f64::max) < 1.1e-9);
                    assert!(left.instances.iter().all(|own| own.unsettled <= 1e-9));
                }
            }
            // The events of the probabilities that were told, and those of the whole recording.
            let options = EventOptions { threshold, min_separation, labels };
            assert_eq!(left.events, detect_events(&times, &p, &options).unwrap());
            let want = detect_events(session.times(), &whole, &options).unwrap();
            let spans = |events: &[unjitter::evaluation::Detection]| {
                events.iter().map(|event| [event.time, event.end]).collect::<Vec<_>>()
            };
            assert_eq!(spans(&left.events), spans(&want));
            assert!(!want.is_empty(), "{labels:?} {options:?}");
        }
    }
}

#[test]
fn classes_are_not_streamed() {
    let sessions = (1..5).map(|seed| {
        let session = recording(seed);
        let class = |k: usize| ["cough", "sneeze"][k % 2].to_owned();
        let classes: Vec<String> = (0..session.stamps().len()).map(class).collect();
        session.with_classes(&classes).unwrap()
    });
    let sessions: Vec<Session<'_>> = sessions.collect();
    let options = FitOptions { restarts: 0, ..FitOptions::default() };
    let fitted = Model::default().fit(&sessions, &options, Control::default()).unwrap();
    let refused = fitted.detector().stream(StreamOptions::default()).unwrap_err().to_string();
    let expected = "a stream does not work with several classes of events, and the model has ";
    assert!(refused.starts_with(expected), "{refused}");
}
