//! Bytes from strangers: reading ends, with a dataset or an error.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use unjitter::inspection::inspect;
use unjitter::io::{Columns, EventsTable, InstancesTable, TimeUnit};

use super::{Folder, gzip, read};

/// Reads two tables and does with them all that can be done.
fn use_up(instances: &[u8], events: &[u8], columns: &Columns) {
    let folder = Folder::with(&[("instances.csv", instances), ("events.csv", events)]);
    let path = |name| folder.0.path().join(name);
    let events = EventsTable::read(&path("events.csv"), columns);
    if let Ok(events) = &events {
        events.with_columns(["time", "new"], |row| [String::new(), row.to_string()]);
    }
    if let Ok(instances) = InstancesTable::read(&path("instances.csv"), columns) {
        let inspection = inspect(&instances, events.as_ref().ok());
        inspection.findings.iter().for_each(|finding| drop(finding.to_string()));
    }
    if let Ok(dataset) = folder.read_with(columns, true) {
        for (recording, clock) in dataset.recordings.iter().zip(&dataset.clocks) {
            recording.session.times().iter().for_each(|&time| drop(clock.write(time)));
            recording.session.stamps().iter().for_each(|&time| drop(clock.write_rounded(time)));
        }
    }
}

/// Pieces that tables are made of, sane and not.
#[rustfmt::skip]
const PIECES: &[&str] = &[
    ",", ",", "\n", "\n", "\r\n", "\"", ";", "\t", " ", "a", "b", "session", "time", "x", "0",
    "1", "-1", "2.5", "1e308", "-1e308", "1e-320", "nan", "inf", "1700000000", ".", "-", "+",
    "999999999999999999999999", "9999999999999999999999.999999999999", "1e29",
    "2024-05-31T14:03:27", "2024-05-31T14:03:27Z", "9999-12-31T23:59:59.999999999+23:00",
    "-009999-01-01T00:00:00", "\u{feff}", "\0", "é", "14:03:27", "23:59:59", "-0:00:01", "12:30",
    "05/31/2024 2:03 PM", "31.05.2024", "45443.585764", "20240531140327", "2024-10-27T02:00:00",
];

fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        9 => prop::sample::select(PIECES).prop_map(str::to_owned),
        1 => any::<String>(),
    ]
}

/// Lines of pieces under a header that is right.
fn table(header: &'static str) -> impl Strategy<Value = Vec<u8>> {
    let cells = prop::collection::vec(piece(), 1..4);
    let lines = prop::collection::vec(cells, 0..8);
    lines.prop_map(move |lines| {
        let lines = lines.iter().map(|cells| cells.join(",") + "\n");
        (header.to_owned() + &lines.collect::<String>()).into_bytes()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_bytes(
        instances in prop::collection::vec(any::<u8>(), 0..200),
        events in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        use_up(&instances, &events, &Columns::default());
    }

    #[test]
    fn any_pieces(pieces in prop::collection::vec(piece(), 0..60)) {
        let text = pieces.concat();
        use_up(text.as_bytes(), text.as_bytes(), &Columns::default());
    }

    #[test]
    fn any_rows(
        instances in table("session,time,x\n"),
        events in table("time\n"),
        more in table("session,time\n"),
        unit in prop::sample::select(vec![TimeUnit::S, TimeUnit::Ms, TimeUnit::Us, TimeUnit::Ns]),
    ) {
        let columns = Columns { times_in: unit, ..Columns::default() };
        use_up(&instances, &events, &columns);
        use_up(&instances, &more, &columns);
    }

    #[test]
    fn gzip_cut_or_spoilt(cut in 0usize..60, place in 0usize..60, byte in any::<u8>()) {
        let mut packed = gzip(b"session,time,x\na,1,2\na,2,3\nb,1,2\n");
        let place = place % packed.len();
        packed[place] = byte;
        packed.truncate(packed.len() - cut % packed.len());
        use_up(&packed, &packed, &Columns::default());
    }
}

#[test]
fn a_cut_gzip_file_is_an_error() {
    let packed = gzip(b"session,time,x\na,1,2\na,2,3\nb,1,2\n");
    for length in 1..packed.len() {
        let folder = Folder::with(&[("instances.csv.gz", &packed[..length])]);
        assert!(folder.read().is_err(), "{length} of {} bytes", packed.len());
    }
}

/// Fails if `work` takes much longer than linear work would.
fn in_no_time(what: &str, work: impl FnOnce()) {
    let start = Instant::now();
    work();
    // Seconds on a busy machine; minutes to hours if anything were quadratic.
    assert!(start.elapsed() < Duration::from_secs(30), "{what}: {:?}", start.elapsed());
}

#[test]
fn many_sessions_and_events() {
    let (mut instances, mut events) = ("session,time,x\n".to_owned(), "session,time\n".to_owned());
    let (mut sessions, mut observed) =
        ("session,subject\n".to_owned(), "session,start,end\n".to_owned());
    for k in 0..100_000 {
        let _ = writeln!(instances, "s{k},{k},1");
        let _ = writeln!(events, "s{},{k}", 99_999 - k);
        let _ = writeln!(sessions, "s{k},p{}", k % 10);
        let _ = writeln!(observed, "s0,{k},{k}.5");
    }
    // All stamps of the observed session inside.
    let events = events.replace("s0,99999\n", "s0,5.25\n");
    let folder = Folder::with(&[
        ("instances.csv", instances.as_bytes()),
        ("events.csv", events.as_bytes()),
        ("sessions.csv", sessions.as_bytes()),
        ("observed.csv", observed.as_bytes()),
    ]);
    in_no_time("sessions", || {
        let dataset = folder.read().unwrap();
        assert_eq!(dataset.recordings.len(), 100_000);
        assert_eq!(dataset.position("s99999"), Some(99_999));
    });
}

#[test]
fn many_columns_and_long_cells() {
    let columns: Vec<String> = (0..200_000).map(|k| format!("x{k}")).collect();
    let text = format!("time,{}\n0{}\n", columns.join(","), ",1".repeat(columns.len()));
    in_no_time("columns", || {
        assert_eq!(read(&text, "time\n1\n").unwrap().features.len(), columns.len());
    });
    let long = "z".repeat(4 << 20);
    in_no_time("cells", || {
        let error = read(&format!("session,time,x\n{long},1,{long}\n"), "session,time\nb,1\n");
        assert!(error.unwrap_err().to_string().len() < 500);
        let error =
            read(&format!("session,time,x\n{long},1,1\n"), &format!("session,time\n{long}y,1\n"));
        assert!(error.unwrap_err().to_string().len() < 800);
        assert!(read(&format!("time,{long}\n1,2\n"), "tim\n1\n").is_err());
    });
}
