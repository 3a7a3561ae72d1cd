//! Selection tables of Raven: a stamp is a selection, from its begin time to its end time.
//!
//! A selection may stand in several rows, one for each view; they move together. Its offset in a file moves along,
//! and so do its samples; what Raven measured in the signal, and times of day, stay, for Raven to tell again.

use std::path::Path;

use super::delimited::table_text;
use super::format::{ReadOptions, WriteOptions};
use super::found::{Found, Read};
use super::numerals::number_text;
use super::samples::SampleColumns;
use super::table::{Column, Layout, read_table};
use super::text::Text;
use crate::Result;

pub(super) const TIME: &str = "Begin Time (s)";
const END: &str = "End Time (s)";

pub(super) fn read(path: &Path, options: &ReadOptions) -> Result<Read> {
    let text = Text::load(path, options.encoding.as_deref())?;
    let layout = Layout {
        delimiters: &['\t'],
        time: &[TIME],
        label: Column {
            given: options.label.as_deref(),
            usual: &[
                "Annotation",
                "Species",
                "Common Name",
                "Species Code",
                "Label",
                "Type",
                "Class",
            ],
        },
        end: &[END],
        along: &["File Offset (s)"],
        samples: &[
            SampleColumns {
                first: "Beg File Samp (samples)",
                last: "End File Samp (samples)",
                at: "File Offset (s)",
                times: [TIME, END],
                files: Some(["Begin File", "End File"]),
            },
            SampleColumns {
                first: "Begin Sample (samples)",
                last: "End Sample (samples)",
                at: TIME,
                times: [TIME, END],
                files: None,
            },
        ],
        identity: Some("Selection"),
        ..Layout::default()
    };
    read_table(text, layout, options.origin)
}

/// A selection table of these stamps.
pub(super) fn compose(stamps: &Found, _: &WriteOptions) -> Result<Vec<u8>> {
    let header = ["Selection", "View", "Channel", TIME, END, "Annotation"].map(str::to_owned);
    let row = |k: usize| {
        let (start, end) = (stamps.times[k], stamps.times[k] + stamps.durations[k]);
        let number = (k + 1).to_string();
        let [view, channel] = ["Waveform 1", "1"].map(str::to_owned);
        vec![number, view, channel, number_text(start), number_text(end), stamps.labels[k].clone()]
    };
    let table = std::iter::once(header.to_vec()).chain((0..stamps.len()).map(row));
    Ok(table_text(table, '\t').into_bytes())
}
