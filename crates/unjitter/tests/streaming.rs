//! Tables larger than memory: pieces equal the whole, and take no more memory.

#[path = "common/peak.rs"]
mod peak;

use std::fmt::Write as _;
use std::path::PathBuf;

use peak::peak_without_copies_of as peak_of;
use tempfile::TempDir;
use unjitter::io::{Chunk, Columns, InstanceChunks, InstancesTable};

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
