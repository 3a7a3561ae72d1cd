//! Annotations of EDF+ and BDF+ recordings.
//!
//! Writing back keeps the signals and the header byte for byte, record by record, so a recording need not fit
//! into memory; only the annotation signals change, and grow if they must. That also holds for EDF+D, whose
//! records have gaps between them: packages that write EDF take them as continuous, and would lose the gaps.
//! Layout: <https://www.edfplus.info/specs/edfplus.html>

use std::collections::BTreeSet;
use std::collections::btree_map::{BTreeMap, Entry};
use std::fs::File;
use std::io::{Read as _, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::dates::SECOND;
use super::edf_header::{Header, annotations_header, local, read_header};
use super::edf_lists::{Decimal, Tal, join_tals, split_tals};
use super::format::{ReadOptions, WriteOptions};
use super::found::{Found, Moved, Read, Sink, Source};
use super::numerals::number_text;
use super::problem::{bad_bytes, quoted, with_option, wrong};
use super::text::Encoding;
use crate::{Error, Result};

const CHUNK: usize = 1 << 20;

/// Where the text of an annotation stands: record, annotation signal, list and text in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    record: usize,
    signal: usize,
    tal: usize,
    text: usize,
}

/// An EDF+ file, of which only the places of annotations are in memory.
#[derive(Debug)]
struct Recording {
    path: PathBuf,
    version: Version,
    header: Header,
    places: Vec<Place>,
    /// Of the records.
    onsets: Vec<Decimal>,
}

/// What changes when a file does: its size, its time, and what replaces it.
type Version = (u64, Option<SystemTime>, u64);

/// The annotation lists of a record and signal.
type Lists = BTreeMap<(usize, usize), Vec<Tal>>;

impl Source for Recording {
    fn holds_ends(&self) -> bool {
        true
    }

    fn render(&self, moved: Moved<'_>, sink: Sink<'_>) -> Result<()> {
        let mut file = open(&self.path)?;
        if version(&self.path, &file)? != self.version {
            let problem = "it has changed since it was read; read it again";
            return Err(wrong(&self.path.display().to_string(), problem));
        }
        if !moved.is_nothing() {
            self.rewrite(&mut file, moved, sink)?;
        }
        let mut chunk = Vec::new();
        while read_up_to(&self.path, &mut file, CHUNK, &mut chunk)? > 0 {
            sink(&chunk)?;
        }
        Ok(())
    }
}

impl Recording {
    /// Writes header and records with some annotations elsewhere; the file is read up to their end.
    fn rewrite(&self, file: &mut File, moved: Moved<'_>, sink: Sink<'_>) -> Result<()> {
        let edits = self.edits(file, moved)?;
        let header = &self.header;
        let signals = &header.annotation_signals;
        let mut sizes: Vec<usize> = signals.iter().map(|signal| signal.size).collect();
        for ((_, signal), lists) in &edits {
            sizes[*signal] = sizes[*signal].max(lists.len());
        }
        sink(&header.resized(&sizes)?)?;
        seek(&self.path, file, header.size())?;
        let mut content = Vec::new();
        for record in 0..header.records {
            if read_up_to(&self.path, file, header.record_size, &mut content)? < header.record_size
            {
                let problem = "it has changed while it was written";
                return Err(wrong(&self.path.display().to_string(), problem));
            }
            let mut end = 0;
            for (k, signal) in signals.iter().enumerate() {
                sink(&content[end..signal.start])?;
                end = signal.start + signal.size;
                let own = &content[signal.start..end];
                let lists = edits.get(&(record, k)).map_or(own, Vec::as_slice);
                sink(lists)?;
                sink(&vec![0; header.whole_samples(sizes[k]) - lists.len()])?;
            }
            sink(&content[end..])?;
        }
        Ok(())
    }

    /// The new annotation lists of those records and signals in which anything changes.
    fn edits(
        &self,
        file: &mut File,
        moved: Moved<'_>,
    ) -> Result<BTreeMap<(usize, usize), Vec<u8>>> {
        let mut lists = Lists::new();
        let mut gone: BTreeSet<Place> = BTreeSet::new();
        let mut come: BTreeMap<(usize, usize), Vec<(f64, Tal)>> = BTreeMap::new();
        let first = self.onsets.first().copied().unwrap_or_default();
        let starts: Vec<f64> = self.onsets.iter().map(|&onset| (onset - first).to_f64()).collect();
        for stamp in (0..self.places.len()).filter(|&stamp| moved.changes(stamp)) {
            let place = self.places[stamp];
            gone.insert(place);
            let tal = &self.tals(file, place.record, place.signal, &mut lists)?[place.tal];
            if !moved.keeps(stamp) {
                continue;
            }
            let time = moved.now(stamp);
            let onset = Decimal::parse(&number_text(time)).map(|onset| onset + first);
            let too_far = || wrong(&format!("time {time} s"), "it is too far away for EDF");
            let text = tal.texts[place.text].clone();
            let lasting = match moved.end(stamp) {
                Some(_) => Some(number_text(moved.lasts(stamp))),
                None => tal.duration.clone(),
            };
            let tal = Tal::new(onset.ok_or_else(too_far)?, lasting, text);
            let record = starts.partition_point(|&start| start <= time).saturating_sub(1);
            come.entry((record, place.signal)).or_default().push((time, tal));
        }
        let mut edits = BTreeMap::new();
        let keys =
            gone.iter().map(|place| (place.record, place.signal)).chain(come.keys().copied());
        for key in keys.collect::<BTreeSet<_>>() {
            let (record, signal) = key;
            let tals = self.tals(file, record, signal, &mut lists)?.clone();
            let is_gone = |tal, text| gone.contains(&Place { record, signal, tal, text });
            let left = tals.into_iter().enumerate();
            let left = left.map(|(tal, list)| list.without(|text| is_gone(tal, text)));
            let left: Vec<Tal> = left.filter(|tal| !tal.texts.is_empty()).collect();
            let mut arrivals = come.remove(&key).unwrap_or_default();
            arrivals.sort_by(|a, b| a.0.total_cmp(&b.0));
            edits.insert(key, join_tals(left.iter().chain(arrivals.iter().map(|(_, tal)| tal))));
        }
        Ok(edits)
    }

    /// The annotation lists of a record in the file.
    fn tals<'a>(
        &self,
        file: &mut File,
        record: usize,
        signal: usize,
        known: &'a mut Lists,
    ) -> Result<&'a Vec<Tal>> {
        match known.entry((record, signal)) {
            Entry::Occupied(tals) => Ok(tals.into_mut()),
            Entry::Vacant(place) => {
                Ok(place.insert(read_tals(&self.path, file, &self.header, record, signal)?))
            }
        }
    }
}

fn open(path: &Path) -> Result<File> {
    File::open(path).map_err(|source| Error::Io { path: path.to_owned(), source })
}

fn version(path: &Path, file: &File) -> Result<Version> {
    let failed = |source| Error::Io { path: path.to_owned(), source };
    let about = file.metadata().map_err(failed)?;
    // Clocks of file systems are coarse: a file may be replaced within a tick.
    #[cfg(unix)]
    let number = std::os::unix::fs::MetadataExt::ino(&about);
    #[cfg(not(unix))]
    let number = 0;
    Ok((about.len(), about.modified().ok(), number))
}

fn seek(path: &Path, file: &mut File, at: u64) -> Result<()> {
    let failed = |source| Error::Io { path: path.to_owned(), source };
    file.seek(SeekFrom::Start(at)).map(|_| ()).map_err(failed)
}

/// Reads so many bytes, or up to the end of the file; returns how many.
fn read_up_to(path: &Path, file: &mut File, size: usize, content: &mut Vec<u8>) -> Result<usize> {
    content.clear();
    let failed = |source| Error::Io { path: path.to_owned(), source };
    file.take(size as u64).read_to_end(content).map_err(failed)
}

fn read_tals(
    path: &Path,
    file: &mut File,
    header: &Header,
    record: usize,
    signal: usize,
) -> Result<Vec<Tal>> {
    let signal = header.annotation_signals[signal];
    seek(path, file, header.record_at(record) + signal.start as u64)?;
    let mut content = Vec::new();
    read_up_to(path, file, signal.size, &mut content)?;
    split_tals(&path.display().to_string(), record, &content)
}

pub(super) fn read(path: &Path, options: &ReadOptions) -> Result<Read> {
    let name = path.display().to_string();
    let mut file = open(path)?;
    let header = read_header(path, &mut file)?;
    let version = version(path, &file)?;
    let (mut onsets, mut places, mut found) = (Vec::new(), Vec::new(), Found::default());
    for record in 0..header.records {
        for signal in 0..header.annotation_signals.len() {
            let tals = read_tals(path, &mut file, &header, record, signal)?;
            if signal == 0 {
                onsets.push(record_onset(&name, record, &tals)?);
            }
            for (tal, list) in tals.iter().enumerate() {
                // The onset of the record is no stamp.
                let first = usize::from(tal == 0 && signal == 0);
                for (text, bytes) in list.texts.iter().enumerate().skip(first) {
                    let label = decode_label(&name, record, bytes, options.encoding.as_deref())?;
                    let time = (list.onset - onsets[0]).to_f64();
                    found.push(&name, time, list.lasts(), label, [])?;
                    places.push(Place { record, signal, tal, text });
                }
            }
        }
    }
    found.origin = header.origin(onsets.first().copied().unwrap_or_default());
    Ok((found, Box::new(Recording { path: path.to_owned(), version, header, places, onsets })))
}

/// When a record starts: the first annotation in it says so, and has an empty text.
fn record_onset(file: &str, record: usize, tals: &[Tal]) -> Result<Decimal> {
    let text = tals.first().map_or(&b""[..], |tal| &tal.texts[0]);
    match tals.first().filter(|_| text.is_empty()) {
        Some(tal) => Ok(tal.onset),
        None => {
            let expected = "first the onset of the record";
            Err(bad_bytes(file, format!("record {record}"), text, expected))
        }
    }
}

/// The text of an annotation. EDF+ demands UTF-8, but not every device heeds that.
fn decode_label(file: &str, record: usize, text: &[u8], encoding: Option<&str>) -> Result<String> {
    let name = encoding.unwrap_or("utf-8");
    let known = Encoding::named(file, name).ok();
    known.and_then(|encoding| encoding.decode(text).ok()).ok_or_else(|| {
        let expected = format!("text in {name}");
        with_option(bad_bytes(file, format!("record {record}"), text, &expected), "encoding")
    })
}

/// An EDF+ file of annotations alone.
pub(super) fn compose(stamps: &Found, _: &WriteOptions) -> Result<Vec<u8>> {
    let micros = stamps.origin.map_or(0, |origin| local(origin).rem_euclid(SECOND) / 1000);
    let offset = Decimal::from_micros(micros);
    let mut tals = vec![Tal::new(offset, None, Vec::new())];
    for ((&time, &lasting), label) in stamps.times.iter().zip(&stamps.durations).zip(&stamps.labels)
    {
        let is_control = |c: char| c.is_ascii_control() && !matches!(c, '\t' | '\n' | '\r');
        if label.contains(is_control) {
            let problem = format!("{}: EDF+ annotations have no control characters", quoted(label));
            return Err(wrong("label", problem));
        }
        let onset = Decimal::parse(&number_text(time)).map(|onset| onset + offset);
        let too_far = || wrong(&format!("time {time} s"), "it is too far away for EDF");
        let lasting = (lasting != 0.0).then(|| number_text(lasting));
        tals.push(Tal::new(onset.ok_or_else(too_far)?, lasting, label.clone().into_bytes()));
    }
    let mut content = join_tals(&tals);
    content.resize(content.len().next_multiple_of(2), 0);
    Ok([annotations_header(stamps.origin, content.len() / 2)?, content].concat())
}
