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

/// A file of every format that a name tells, with the name.
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
    let boris = ("a.boris", BORIS.as_bytes().to_vec());
    names.into_iter().map(make).chain([("a.tsv", dcase), boris]).collect()
}
