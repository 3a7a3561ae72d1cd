//! Stamp files of other programs: read, moved, written back, and nothing that a file holds does harm.

mod formats;
mod hostile;
mod told;

use std::path::{Path, PathBuf};

use unjitter::stamps::{Format, Found, ReadOptions, StampFile, WriteOptions, compose};

/// A folder for the files of a test.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, content).unwrap();
        path
    }
}

fn read(path: &Path) -> unjitter::Result<StampFile> {
    StampFile::read(path, None, &ReadOptions::default())
}

/// The file with its stamps at other times, without those that are not kept.
fn rendered(file: &StampFile, times: &[f64], kept: &[bool]) -> unjitter::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.render(times, kept, &mut |piece| {
        bytes.extend_from_slice(piece);
        Ok(())
    })?;
    Ok(bytes)
}

/// The file with its stamps moved, beginnings and ends, as text.
fn moved_with_ends(file: &StampFile, times: &[f64], ends: &[f64]) -> unjitter::Result<String> {
    let ends = file.with_ends(ends.iter().copied().map(Some).collect());
    Ok(String::from_utf8(rendered(&ends, times, &vec![true; times.len()])?).unwrap())
}

/// The file with its stamps moved, as text.
fn moved(file: &StampFile, times: &[f64]) -> String {
    let kept = vec![true; times.len()];
    String::from_utf8(rendered(file, times, &kept).unwrap()).unwrap()
}

/// Four stamps, with something of everything.
fn example() -> Found {
    Found {
        times: vec![0.5, 1.25, 30.0, 4000.0],
        durations: vec![0.5, 0.25, 1.0, 2.0],
        labels: ["N", "a_b", "ü", "V&\""].map(str::to_owned).to_vec(),
        ..Found::default()
    }
}

/// A project of BORIS, which cannot be made of stamps alone.
const BORIS: &str = r#"{"project_name": "birds", "observations": {
  "walk 2": {"events": []},
  "walk 1": {"type": "MEDIA", "events": [
    [1.500, "Ann", "peck", "hard", "sure", 7],
    [2.25, "", "fly", "", ""]
  ], "time offset": 0.0}},
 "behaviors_conf": {"0": {"code": "peck"}}}
"#;

/// Another with states: Ann sits twice, Bo once meanwhile, and flies at a point in time.
const STATES: &str = r#"{"observations": {"walk": {"events": [
    [1.0, "Ann", "sit", "", "tired", 7],
    [2.0, "Bo", "sit", "", ""],
    [2.5, "Ann", "fly", "", ""],
    [3.0, "Ann", "sit", "", "up"],
    [4.0, "Ann", "sit", "", ""],
    [4.5, "Bo", "sit", "", ""],
    [6.25, "Ann", "sit", "", ""]
  ]}},
 "behaviors_conf": {"0": {"code": "sit", "type": "State event", "key": "s"}, "1": {"code": "fly", "type": "Point event"}}}
"#;

/// A selection table as Raven writes it, of two files in a row: a second has 48000 samples.
const RAVEN: &str = "Selection\tView\tChannel\tBegin Time (s)\tEnd Time (s)\tLow Freq (Hz)\tHigh Freq (Hz)\t\
    Begin File\tEnd File\tBegin Path\tFile Offset (s)\tBeg File Samp (samples)\tEnd File Samp (samples)\tSpecies\n\
    1\tSpectrogram 1\t1\t12.500000000\t13.250000000\t500.0\t9000.0\ta.wav\ta.wav\tC:\\a.wav\t12.500000000\t600000\t636000\twren\n\
    2\tSpectrogram 1\t1\t70.000000000\t71.000000000\t500.0\t9000.0\tb.wav\tb.wav\tC:\\b.wav\t10.0000\t480000\t528000\tcrow\n";

/// Events of BORIS, aggregated.
const AGGREGATED: &str = "Observation id,Subject,Behavior,Behavior type,Start (s),Stop (s)\n\
    one,Ann,\"sit, down\",STATE,1.5,4\none,Ann,peck,POINT,2,2\n";

/// A file of every format, with a name that tells it or not.
fn examples() -> Vec<(&'static str, Vec<u8>)> {
    let names = [
        "a.csv",
        "a_events.tsv",
        "a.txt",
        "a.atr",
        "a.edf",
        "a.TextGrid",
        "a.selections.txt",
        "a.rttm",
        "a.eaf",
    ];
    let options = WriteOptions { fs: Some(100.0), ..WriteOptions::default() };
    let make = |name: &'static str| {
        let format = Format::told_by_name(Path::new(name)).unwrap();
        (name, compose(format, &example(), &options).unwrap())
    };
    let dcase = compose(Format::named("dcase").unwrap(), &example(), &options).unwrap();
    let text = |(name, text): (&'static str, &str)| (name, text.as_bytes().to_vec());
    // These cannot be made of stamps alone, or hold more than stamps do.
    let others = [
        ("a.boris", BORIS),
        ("b.boris", STATES),
        ("b.csv", AGGREGATED),
        ("b.selections.txt", RAVEN),
        ("tags.csv", "1544027337.11\n1544027400.00\r\n1544027475.53\n"),
    ];
    names.into_iter().map(make).chain([("a.tsv", dcase)]).chain(others.map(text)).collect()
}
