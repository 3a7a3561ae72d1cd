//! Tables of every usual kind are read, mistakes are named with their place, and no bytes make
//! reading panic or hang.

mod bouts;
mod damage;
mod good;
mod hostile;
mod mistakes;
mod moments;
mod only;
mod people;
mod write_back;

use std::io::Write as _;
use std::path::PathBuf;

use tempfile::TempDir;
use unjitter::Result;
use unjitter::io::{Columns, Dataset, DatasetFiles};

/// A dataset in a folder of its own.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// Files of these names and contents.
    fn with(files: &[(&str, &[u8])]) -> Self {
        let folder = Self::new();
        files.iter().for_each(|(name, bytes)| drop(folder.write(name, bytes)));
        folder
    }

    fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }

    fn read_with(&self, columns: &Columns, use_labels: bool) -> Result<Dataset> {
        Dataset::read(&DatasetFiles::in_folder(self.0.path())?, columns, use_labels)
    }

    fn read(&self) -> Result<Dataset> {
        self.read_with(&Columns::default(), false)
    }
}

/// The dataset of two tables.
fn read(instances: &str, events: &str) -> Result<Dataset> {
    let (instances, events) = (instances.as_bytes(), events.as_bytes());
    Folder::with(&[("instances.csv", instances), ("events.csv", events)]).read()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}
