//! A table as text for a terminal.

use crate::commands::evaluate::{align_right, bare_table};
use crate::report::TableView;

/// Longest name that is shown.
const SHOWN: usize = 40;

/// The table under its title, with its caption below. Columns after the first `left` are aligned right.
pub(crate) fn as_text(view: &TableView, left: usize) -> String {
    let header: Vec<&str> = view.header.iter().map(String::as_str).collect();
    let mut table = bare_table(&header);
    table.add_rows(view.rows.iter().map(|row| row.iter().map(|cell| plain(cell))));
    align_right(&mut table, left);
    let caption = match view.caption.is_empty() {
        true => String::new(),
        false => format!(" {}\n", view.caption.replace(". ", ".\n ")),
    };
    format!("{}\n{}\n{caption}", view.title, table.trim_fmt())
}

/// A name from the data for a terminal: without control characters, and not long.
pub(crate) fn plain(name: &str) -> String {
    let mut text: String =
        name.chars().take(SHOWN).map(|c| if c.is_control() { '?' } else { c }).collect();
    if name.chars().nth(SHOWN).is_some() {
        text.push('…');
    }
    text
}
