//! Sound events as in the DCASE challenges: a table of onset, offset and event_label, maybe of several
//! recordings, which `filename` tells apart.

use std::path::Path;

use super::delimited::table_text;
use super::format::{ReadOptions, WriteOptions};
use super::found::{Found, Read};
use super::numerals::number_text;
use super::table::{Column, Layout, read_table};
use super::text::Text;
use crate::Result;

pub(super) const HEADER: [&str; 3] = ["onset", "offset", "event_label"];

pub(super) fn read(path: &Path, options: &ReadOptions) -> Result<Read> {
    let text = Text::load(path, options.encoding.as_deref())?;
    let layout = Layout {
        delimiters: &['\t', ',', ';'],
        time: &HEADER[..1],
        end: &HEADER[1..2],
        label: Column { given: options.label.as_deref(), usual: &HEADER[2..] },
        recording: &["filename", "file"],
        ..Layout::default()
    };
    read_table(text, layout, options.origin)
}

/// A table of these stamps.
pub(super) fn compose(stamps: &Found, _: &WriteOptions) -> Result<Vec<u8>> {
    let row = |k: usize| {
        let (start, end) = (stamps.times[k], stamps.times[k] + stamps.durations[k]);
        vec![number_text(start), number_text(end), stamps.labels[k].clone()]
    };
    let header = HEADER.map(str::to_owned).to_vec();
    let table = std::iter::once(header).chain((0..stamps.len()).map(row));
    Ok(table_text(table, '\t').into_bytes())
}
