//! Sane tables, damaged: reading ends soon, with a dataset or an error.

use std::time::Instant;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestRunner};
use unjitter::inspection::inspect_files;
use unjitter::io::{
    Channels, Chunk, Columns, DatasetFiles, InstanceChunks, TimeUnit, read_signals,
};

use super::Folder;

/// The tables of a dataset, with `T0`, `T1` and so on for times.
const TABLES: [(&str, &str); 5] = [
    ("instances.csv", "session,time,x,y,label,subject\na,T0,1,2,0,p\na,T1,3,4,1,p\nb,T0,5,6,,q\n"),
    ("events.csv", "session,time,class,annotator\na,T2,cough,ada\nb,T1,sneeze,ben\n"),
    ("sessions.csv", "session,subject,device,clock,annotators\na,p,d,c,ada;ben\nb,q,,c,ben\n"),
    ("observed.csv", "session,start,end\na,T0,T3\n"),
    ("signal.csv", "session,time,value\na,T0,1\na,T1,\na,T3,2\n"),
];

/// Times of every kind, and some that are none.
const TIMES: [[&str; 4]; 10] = [
    ["0", "1.5", "2", "3e0"],
    ["1700000000.000000001", "1700000001.5", "1700000002", "1700000003"],
    ["2024-05-31T14:03:27", "2024-05-31 14:03:28.5", "2024-05-31T14:03:29", "2024-06-01T00:00:00"],
    [
        "2024-05-31T14:03:27Z",
        "2024-05-31T16:03:28+02:00",
        "2024-05-31T14:03:29Z",
        "9999-12-31T23:59:59Z",
    ],
    ["2024-10-27T02:59:58", "2024-10-27T02:00:01", "2024-10-27T02:00:02", "2024-10-27T02:00:03"],
    ["14:03:27", "14:03:28.5", "14:03:29", "27:00:00"],
    ["23:59:58", "00:00:01", "00:00:02", "00:00:03"],
    ["12:30", "12:31", "12:31.5", "12:33"],
    ["05/31/2024 2:03 PM", "31.05.2024 14:03", "20240531140327", "31 May 2024"],
    ["45443.585764", "45443.585799", "45443.585834", "45443.5859"],
];

/// The inserted bytes.
#[rustfmt::skip]
const PIECES: [&[u8]; 31] = [
    b"\"", b"\"\"", b",", b";", b"\t", b"\n", b"\r", b"\r\n", b"\0", b" ", b"-", b"+", b".", b":", b"/",
    b"\xef\xbb\xbf", b"\xff", b"\xe2\x80\xae", b"\xf0\x9f\xab\x81", b"1e308", b"-1e308", b"1e-320",
    b"999999999999999999999999", b"NaN", b"inf", b"12,5", b"24:00:00", b"-0:00:01", b"nan", b"\x1f\x8b",
    b"2024-05-31",
];

/// One act of damage; places are fractions of the length.
#[derive(Debug, Clone)]
enum Damage {
    Truncate(f64),
    Overwrite(f64, u8),
    Remove(f64, usize),
    Duplicate { from: f64, len: usize, to: f64 },
    Insert(f64, &'static [u8]),
    Long(f64, u8),
    Cell { which: f64, with: &'static [u8] },
}

impl Damage {
    fn strategy() -> impl Strategy<Value = Self> {
        let at = || 0.0..1.0;
        prop_oneof![
            1 => at().prop_map(Damage::Truncate),
            2 => (at(), any::<u8>()).prop_map(|(at, byte)| Damage::Overwrite(at, byte)),
            2 => (at(), 1..40_usize).prop_map(|(at, len)| Damage::Remove(at, len)),
            2 => (at(), 1..80_usize, at())
                .prop_map(|(from, len, to)| Damage::Duplicate { from, len, to }),
            6 => (at(), prop::sample::select(PIECES.to_vec()))
                .prop_map(|(at, piece)| Damage::Insert(at, piece)),
            1 => (at(), any::<u8>()).prop_map(|(at, byte)| Damage::Long(at, byte)),
            6 => (at(), prop::sample::select(PIECES.to_vec()))
                .prop_map(|(which, with)| Damage::Cell { which, with }),
        ]
    }

    fn apply(&self, bytes: &mut Vec<u8>) {
        let len = bytes.len();
        let place = |fraction: f64| (fraction * len as f64) as usize;
        match *self {
            Damage::Truncate(at) => bytes.truncate(place(at)),
            Damage::Overwrite(at, byte) => {
                bytes.get_mut(place(at)).into_iter().for_each(|old| *old = byte);
            }
            Damage::Remove(at, count) => drop(bytes.drain(place(at)..len.min(place(at) + count))),
            Damage::Duplicate { from, len: count, to } => {
                let copy = bytes[place(from)..len.min(place(from) + count)].to_vec();
                bytes.splice(place(to)..place(to), copy);
            }
            Damage::Insert(at, piece) => {
                bytes.splice(place(at)..place(at), piece.iter().copied());
            }
            Damage::Cell { which, with } => {
                let is_end = |byte: &u8| matches!(byte, b',' | b'\n');
                let ends: Vec<usize> = (0..len).filter(|&k| is_end(&bytes[k])).collect();
                let Some(&start) = ends.get((which * ends.len() as f64) as usize) else { return };
                let start = start + 1;
                let end = bytes[start..].iter().position(is_end).map_or(len, |k| start + k);
                bytes.splice(start..end, with.iter().copied());
            }
            Damage::Long(at, byte) => {
                bytes.splice(place(at)..place(at), std::iter::repeat_n(byte, 100_000));
            }
        }
    }
}

/// How tables are read.
fn columns() -> impl Strategy<Value = Columns> {
    let name = || {
        let names = ["session", "time", "label", "x", "class", "1", "2", "", "\u{1b}[2J", "gone"];
        prop::sample::select(names.to_vec()).prop_map(str::to_owned)
    };
    let own = |usual: &'static str| prop_oneof![4 => Just(usual.to_owned()), 1 => name()];
    let units = vec![TimeUnit::S, TimeUnit::Ms, TimeUnit::Us, TimeUnit::Ns];
    let only = prop::collection::btree_map(name(), prop::collection::vec(name(), 0..3), 0..2);
    let rest = (any::<bool>(), prop::option::of(name()), prop::option::of(name()), only);
    (own("session"), own("time"), own("label"), prop::sample::select(units), rest).prop_map(
        |(session, time, label, times_in, (has_header, event_session, event_time, only))| {
            let usual = Columns { session, time, label, times_in, ..Columns::default() };
            Columns { has_header, event_session, event_time, only, ..usual }
        },
    )
}

/// Reads a folder in every way there is.
fn use_up(folder: &Folder, columns: &Columns) {
    let Ok(files) = DatasetFiles::in_folder(folder.0.path()) else { return };
    let _ = folder.read_with(columns, true);
    if let Ok(inspection) = inspect_files(&files, columns) {
        inspection.findings.iter().for_each(|finding| drop(finding.to_string()));
    }
    let _ = read_signals(folder.0.path().join("signal.csv").as_path(), columns, Channels::All, &[]);
    if let Ok(mut chunks) = InstanceChunks::open(&files.instances, columns) {
        let mut chunk = Chunk::default();
        while let Ok(true) = chunks.next(&mut chunk, 2) {}
    }
}

#[test]
fn damaged_tables_are_read_or_refused() {
    let sane = prop_oneof![1 => columns(), 2 => Just(Columns::default())];
    let damages = prop::collection::vec((0..TABLES.len(), Damage::strategy()), 0..4);
    let strategy = (0..TIMES.len(), damages, sane);
    // The same cases every time.
    let rng_seed = RngSeed::Fixed(20_170_420);
    let config = Config { cases: 1500, rng_seed, failure_persistence: None, ..Config::default() };
    let run = TestRunner::new(config).run(&strategy, |(kind, damages, columns)| {
        let folder = Folder::new();
        for (k, (name, text)) in TABLES.iter().enumerate() {
            let mut text = (*text).to_owned();
            for (place, time) in ["T0", "T1", "T2", "T3"].iter().zip(TIMES[kind]) {
                text = text.replace(place, time);
            }
            let mut bytes = text.into_bytes();
            damages.iter().filter(|(at, _)| *at == k).for_each(|(_, one)| one.apply(&mut bytes));
            folder.write(name, &bytes);
        }
        let start = Instant::now();
        use_up(&folder, &columns);
        // A hundred times the usual time.
        prop_assert!(start.elapsed().as_secs_f64() < 2.0, "{:?}", start.elapsed());
        Ok(())
    });
    run.unwrap_or_else(|error| panic!("{error}"));
}
