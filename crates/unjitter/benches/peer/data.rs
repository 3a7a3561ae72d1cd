//! Sessions as raw numbers: one folder, one file of little-endian doubles per quantity.
//!
//! `features` (row by row), `times` and `labels` have one entry or row per instance, `stamps` one
//! per stamp; `instances` and `stamps_of` say how many of each belong to which session.

use std::error::Error;
use std::fs::File;
use std::io::{BufReader, Read};
use std::ops::Range;
use std::path::Path;

use ndarray::ArrayView2;
use unjitter::{Features, Recording, Session};

/// The numbers of one case.
pub(crate) struct Data {
    columns: usize,
    pub(crate) features: Vec<f64>,
    /// The features instead, where single precision is asked for.
    singles: Vec<f32>,
    pub(crate) times: Vec<f64>,
    pub(crate) stamps: Vec<f64>,
    pub(crate) labels: Vec<f64>,
    instances: Vec<f64>,
    stamps_of: Vec<f64>,
}

impl Data {
    /// Reads the existing files; a missing file means no numbers.
    pub(crate) fn read(
        folder: &Path,
        columns: usize,
        is_single: bool,
    ) -> Result<Self, Box<dyn Error>> {
        let of = |name: &str| numbers(&folder.join(name));
        let (mut features, mut singles) = (of("features")?, Vec::new());
        if is_single {
            singles = features.iter().map(|&value| value as f32).collect();
            features = Vec::new();
        }
        Ok(Self {
            columns,
            features,
            singles,
            times: of("times")?,
            stamps: of("stamps")?,
            labels: of("labels")?,
            instances: of("instances")?,
            stamps_of: of("stamps_of")?,
        })
    }

    /// The sessions, their features borrowed.
    pub(crate) fn sessions(&self) -> Result<Vec<Session<'_>>, Box<dyn Error>> {
        let (mut row, mut stamp) = (0, 0);
        let mut sessions = Vec::with_capacity(self.instances.len());
        for (k, (&instances, &stamps)) in self.instances.iter().zip(&self.stamps_of).enumerate() {
            let (rows, stamps) = (row..row + instances as usize, stamp..stamp + stamps as usize);
            let features = self.features_of(rows.clone())?;
            (row, stamp) = (rows.end, stamps.end);
            let (times, stamps) = (self.times[rows].to_vec(), self.stamps[stamps].to_vec());
            sessions.push(Session::new(format!("{k}"), features, times, stamps)?);
        }
        Ok(sessions)
    }

    fn features_of(&self, rows: Range<usize>) -> Result<Features<'_>, Box<dyn Error>> {
        let shape = (rows.len(), self.columns);
        let numbers = rows.start * self.columns..rows.end * self.columns;
        Ok(match self.singles.is_empty() {
            true => ArrayView2::from_shape(shape, &self.features[numbers])?.into(),
            false => ArrayView2::from_shape(shape, &self.singles[numbers])?.into(),
        })
    }

    /// The sessions with their hand-aligned labels.
    pub(crate) fn recordings(&self) -> Result<Vec<Recording<'_>>, Box<dyn Error>> {
        let mut labels = self.labels.iter();
        let mut recordings = Vec::new();
        for session in self.sessions()? {
            let truth = labels.by_ref().take(session.len()).map(|&label| label > 0.5).collect();
            recordings.push(Recording { session, truth: Some(truth) });
        }
        Ok(recordings)
    }
}

/// All doubles of a file.
pub(crate) fn numbers(path: &Path) -> Result<Vec<f64>, Box<dyn Error>> {
    if !path.exists() {
        return Ok(Vec::new());
    }
    let file = File::open(path)?;
    let count = file.metadata()?.len() as usize / 8;
    let mut file = BufReader::with_capacity(1 << 16, file);
    let mut numbers = Vec::with_capacity(count);
    let mut bytes = [0; 8];
    for _ in 0..count {
        file.read_exact(&mut bytes)?;
        numbers.push(f64::from_le_bytes(bytes));
    }
    Ok(numbers)
}

/// Writes doubles as [`numbers`] reads them.
pub(crate) fn write_numbers(path: &Path, numbers: &[f64]) -> std::io::Result<()> {
    let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    std::fs::write(path, bytes)
}
