//! Tables row by row: CSV, TSV or semicolons, recognised by their first line.
//!
//! Every error has the file, the line and, if possible, the column and the value.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::{BufRead, Cursor, Read};
use std::path::Path;

use super::source::{display_name, open};
use super::suggest::hint;
use crate::{Error, Result};

/// Longest value that a message repeats.
const SHOWN: usize = 60;
/// Bytes of the header used to find the separator.
const START: u64 = 1 << 16;

/// An open table.
pub struct Table {
    file: String,
    header: Vec<String>,
    has_header: bool,
    /// Position of each column by name.
    positions: HashMap<String, usize>,
    delimiter: u8,
    reader: csv::Reader<Box<dyn BufRead>>,
    /// Earliest line of the next row.
    next_line: u64,
}

impl std::fmt::Debug for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Table").field("file", &self.file).field("header", &self.header).finish()
    }
}

/// One line of a table.
#[derive(Debug, Clone, Default)]
pub struct Row {
    record: csv::StringRecord,
    line: u64,
}

impl Row {
    /// The cell of a column, trimmed.
    pub fn cell(&self, column: usize) -> &str {
        self.record[column].trim()
    }

    /// The line, from 1.
    pub fn line(&self) -> u64 {
        self.line
    }

    /// The cells, not trimmed.
    pub fn cells(&self) -> impl Iterator<Item = &str> {
        let last = self.record.len().saturating_sub(1);
        // Windows ends its lines with \r\n.
        self.record.iter().enumerate().map(move |(k, cell)| match k == last {
            true => cell.strip_suffix('\r').unwrap_or(cell),
            false => cell,
        })
    }
}

impl Table {
    /// Opens a table, compressed or not; `-` is standard input. Without a header, columns are called
    /// 1, 2, 3 and so on.
    pub fn open(path: &Path, has_header: bool) -> Result<Self> {
        Self::from_reader(display_name(path), open(path)?, has_header)
    }

    /// The same from bytes that are called `file` in messages.
    pub(super) fn from_reader(
        file: String,
        mut text: Box<dyn BufRead>,
        has_header: bool,
    ) -> Result<Self> {
        let wrong = |problem: String| Error::Table { file: file.clone(), problem };
        let mut start = first_line(&mut text).map_err(|error| wrong(error.to_string()))?;
        if let Some(problem) = not_text(&start) {
            return Err(wrong(problem));
        }
        let delimiter = delimiter(&start);
        if start.starts_with(b"\xef\xbb\xbf") {
            start.drain(..3);
        }
        // Lines end in \n alone, and the last one always does: only then can they be counted.
        let text: Box<dyn BufRead> = Box::new(Cursor::new(start).chain(text).chain(&b"\n"[..]));
        let mut reader = csv::ReaderBuilder::new()
            .delimiter(delimiter)
            .terminator(csv::Terminator::Any(b'\n'))
            .flexible(true)
            .has_headers(has_header)
            .from_reader(text);
        let first = reader.headers().map_err(|error| broken(&file, &error))?;
        let header: Vec<String> = match has_header {
            true => first.iter().map(|name| name.trim().to_owned()).collect(),
            false => (1..=first.len()).map(|column| column.to_string()).collect(),
        };
        let positions = check_header(&file, &header)?;
        // Without a header, the line used for detection is still to come.
        let next_line = if has_header { reader.position().line() } else { 1 };
        Ok(Self { file, header, has_header, positions, delimiter, reader, next_line })
    }

    /// The table's name in messages.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// Names of the columns.
    pub fn header(&self) -> &[String] {
        &self.header
    }

    /// Whether it begins with column names.
    pub fn has_header(&self) -> bool {
        self.has_header
    }

    /// The separator of cells.
    pub fn delimiter(&self) -> u8 {
        self.delimiter
    }

    /// The position of the column with this name, if there is one.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.positions.get(name).copied()
    }

    /// The position of a required column.
    pub fn column(&self, name: &str) -> Result<usize> {
        self.column_of(None, name)
    }

    /// The same for a column named by a field of `Columns`.
    pub(super) fn column_of(&self, field: Option<&'static str>, name: &str) -> Result<usize> {
        self.find(name).ok_or_else(|| {
            let known: Vec<&str> = self.header.iter().map(String::as_str).collect();
            let (file, column) = (self.file.clone(), shown(name));
            let numbers = known.iter().filter(|name| name.parse::<f64>().is_ok()).count();
            match self.has_header {
                true if 2 * numbers >= known.len() => numbers_for_names(file, &self.header),
                true => Error::NoColumn { file, column, hint: hint(name, &known), field },
                false => Error::UnnamedColumn { file, column, columns: known.len(), field },
            }
        })
    }

    /// Reads the next line into `row`; false at the end.
    pub fn next(&mut self, row: &mut Row) -> Result<bool> {
        loop {
            let begun = self.next_line;
            let more = self.reader.read_record(&mut row.record);
            if !more.map_err(|error| broken(&self.file, &error))? {
                return Ok(false);
            }
            // Counted from the end, because the reader's position is before the blank lines that it
            // skips; but after an open quote there is no line end.
            let inside = row.record.as_slice().bytes().filter(|byte| *byte == b'\n').count();
            self.next_line = self.reader.position().line();
            row.line = (self.next_line - 1 - inside as u64).max(begun);
            // The remainder of a blank line from Windows.
            if row.record.len() == 1 && row.cell(0).is_empty() {
                continue;
            }
            let (found, expected) = (row.record.len(), self.header.len());
            if found == expected {
                return Ok(true);
            }
            let hint = match self.delimiter {
                _ if inside > 0 => "; is a quote opened and never closed?",
                b',' if found > expected => "; decimals need a point, texts with commas quotes",
                _ => "",
            };
            let like = if self.has_header { "in the header" } else { "in the first line" };
            let problem = format!("{found} cells, expected {expected} as {like}{hint}");
            return Err(self.wrong_line(row, problem));
        }
    }

    /// The number in a cell.
    pub fn number(&self, row: &Row, column: usize) -> Result<f64> {
        let text = row.cell(column);
        match text.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(value),
            _ => {
                let point =
                    with_point(text).map(|point| format!("; decimals need a point: write {point}"));
                let expected = format!("a finite number{}", point.unwrap_or_default());
                Err(self.wrong_cell(row, column, expected))
            }
        }
    }

    /// An error about a cell.
    pub fn wrong_cell(&self, row: &Row, column: usize, expected: impl Into<String>) -> Error {
        Error::Cell {
            file: self.file.clone(),
            line: row.line,
            column: shown(&self.header[column]),
            value: shown(row.cell(column)),
            expected: expected.into(),
        }
    }

    /// An error about a line.
    pub fn wrong_line(&self, row: &Row, problem: impl Into<String>) -> Error {
        Error::Line { file: self.file.clone(), line: row.line, problem: problem.into() }
    }

    /// An error about the table.
    pub fn wrong(&self, problem: impl Into<String>) -> Error {
        Error::Table { file: self.file.clone(), problem: problem.into() }
    }
}

/// The header with its line end, or enough of it to recognise it. A pipe may deliver less at a time.
fn first_line(text: &mut dyn BufRead) -> std::io::Result<Vec<u8>> {
    let (mut start, mut quoted) = (Vec::new(), false);
    let mut text = text.take(START);
    loop {
        let before = start.len();
        let count = text.read_until(b'\n', &mut start)?;
        let quotes = start[before..].iter().filter(|&&byte| byte == b'"').count();
        quoted ^= quotes % 2 == 1;
        if count == 0 || !quoted {
            return Ok(start);
        }
    }
}

/// A value for a message: shortened, and without line breaks.
pub(crate) fn shown(value: &str) -> String {
    let mut text = String::new();
    for letter in value.chars().take(SHOWN) {
        if letter.is_control() {
            let _ = write!(text, "{}", letter.escape_default());
        } else {
            text.push(letter);
        }
    }
    if value.chars().nth(SHOWN).is_some() {
        text.push('…');
    }
    text
}

/// A number with a decimal comma, written with a point.
pub(super) fn with_point(text: &str) -> Option<String> {
    let point = text.replacen(',', ".", 1);
    (point != text && point.parse::<f64>().is_ok()).then_some(point)
}

fn not_text(start: &[u8]) -> Option<String> {
    let is = if start.is_empty() {
        "it is empty"
    } else if start.starts_with(b"\xff\xfe") || start.starts_with(b"\xfe\xff") {
        "it is in UTF-16; save it as UTF-8"
    } else if start.starts_with(b"PAR1") {
        "it is a Parquet file; export it as CSV"
    } else if start.starts_with(b"PK\x03\x04") {
        "it is a zip archive or a spreadsheet; export it as CSV"
    } else if start.contains(&b'\r') && !start.contains(&b'\n') {
        "its lines end in carriage returns alone; save it with other line ends"
    } else if start.contains(&0) {
        "it has zero bytes, so it is no text"
    } else {
        return None;
    };
    Some(format!("{is}; expected a table with a header, separated by commas, tabs or semicolons"))
}

/// The commonest separator of the first line, outside quotes; a comma if there is none.
fn delimiter(start: &[u8]) -> u8 {
    let mut quoted = false;
    let mut counts = [(b',', 0), (b'\t', 0), (b';', 0)];
    for &byte in start {
        match byte {
            b'"' => quoted = !quoted,
            b'\n' | b'\r' if !quoted => break,
            _ if quoted => {}
            _ => {
                counts.iter_mut().filter(|entry| entry.0 == byte).for_each(|entry| entry.1 += 1);
            }
        }
    }
    let mut best = counts[0];
    for entry in counts {
        if entry.1 > best.1 {
            best = entry;
        }
    }
    best.0
}

fn numbers_for_names(file: String, header: &[String]) -> Error {
    Error::NumbersForNames { file, names: shown(&header.join(", ")) }
}

/// Position of each name, if the header is valid.
fn check_header(file: &str, header: &[String]) -> Result<HashMap<String, usize>> {
    let numbers = header.iter().filter(|name| name.parse::<f64>().is_ok()).count();
    let counted = header.iter().enumerate().all(|(k, name)| *name == (k + 1).to_string());
    if numbers == header.len() && !counted {
        return Err(numbers_for_names(file.to_owned(), header));
    }
    let mut positions = HashMap::new();
    for (k, name) in header.iter().enumerate() {
        let problem = if name.is_empty() {
            format!("column {} of the header has no name", k + 1)
        } else if positions.insert(name.clone(), k).is_some() {
            format!("the header has two columns `{}`", shown(name))
        } else {
            continue;
        };
        return Err(Error::Line { file: file.to_owned(), line: 1, problem });
    }
    Ok(positions)
}

/// Our message for an error of the CSV reader.
fn broken(file: &str, error: &csv::Error) -> Error {
    let line = error.position().map_or(0, csv::Position::line);
    let problem = match error.kind() {
        csv::ErrorKind::Utf8 { .. } => "bytes that are not UTF-8; save the table as UTF-8".into(),
        csv::ErrorKind::Io(source) => {
            return Error::Table { file: file.to_owned(), problem: source.to_string() };
        }
        _ => error.to_string(),
    };
    Error::Line { file: file.to_owned(), line, problem }
}

/// Builds a table as bytes.
#[derive(Debug)]
pub struct TableText {
    writer: csv::Writer<Vec<u8>>,
    delimiter: u8,
}

impl TableText {
    /// A table of these columns.
    pub fn new<T: AsRef<[u8]>>(delimiter: u8, header: impl IntoIterator<Item = T>) -> Self {
        let mut writer = empty_table(delimiter);
        writer.write_record(header).expect("memory can be written to");
        Self { writer, delimiter }
    }

    /// A table without a header.
    pub fn without_header(delimiter: u8) -> Self {
        let writer = csv::WriterBuilder::new().delimiter(delimiter).from_writer(Vec::new());
        Self { delimiter, writer }
    }

    /// Adds a line with as many cells as the header.
    pub fn push<T: AsRef<[u8]>>(&mut self, cells: impl IntoIterator<Item = T>) {
        self.writer.write_record(cells).expect("lines are as long as the header");
    }

    /// The bytes so far, for a table that is written while it is made.
    pub fn take(&mut self) -> Vec<u8> {
        let empty = empty_table(self.delimiter);
        std::mem::replace(&mut self.writer, empty).into_inner().expect("memory can be written to")
    }
}

fn empty_table(delimiter: u8) -> csv::Writer<Vec<u8>> {
    csv::WriterBuilder::new().delimiter(delimiter).from_writer(Vec::new())
}

impl From<TableText> for Vec<u8> {
    fn from(text: TableText) -> Self {
        text.writer.into_inner().expect("memory can be written to")
    }
}

/// Reads everything, for tests.
#[cfg(test)]
pub(super) fn table(text: &'static str) -> Result<Table> {
    Table::from_reader("t.csv".to_owned(), Box::new(std::io::BufReader::new(text.as_bytes())), true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first_problem(text: &'static str) -> String {
        let mut table = match table(text) {
            Ok(table) => table,
            Err(error) => return error.to_string(),
        };
        let mut row = Row::default();
        loop {
            match table.next(&mut row) {
                Ok(true) => {}
                Ok(false) => panic!("{text:?} was read without complaint"),
                Err(error) => return error.to_string(),
            }
        }
    }

    #[test]
    fn separators_are_told_by_content() {
        for (text, cells) in [
            ("a,b\n1,2\n", 2),
            ("a\tb\tc\n1\t2\t3\n", 3),
            ("a;b\r\n1;2\r\n", 2),
            ("\"a,b,c\"\td\n1\t2\n", 2),
            ("a\n1\n", 1),
            ("\u{feff}a,b\n1,2\n", 2),
        ] {
            let mut table = table(text).unwrap();
            let mut row = Row::default();
            assert!(table.next(&mut row).unwrap());
            assert_eq!(row.cells().count(), cells, "{text:?}");
            assert_eq!(row.cell(0), "1");
            assert_eq!(row.line(), 2);
        }
        assert_eq!(table("\u{feff}a,b\n").unwrap().header(), ["a", "b"]);
    }

    #[test]
    fn broken_tables_say_where_and_what() {
        for (text, expected) in [
            ("", "it is empty"),
            ("a,b\r1,2\r", "carriage returns"),
            ("a,b\n1,2\n\n\n\"x\ny\",2\n3", "t.csv, line 7: 1 cells"),
            ("a,b\r\n1,2\r\n\r\n3\r\n", "t.csv, line 4: 1 cells"),
            ("a,b\n1,2\n3\n", "t.csv, line 3: 1 cells, expected 2 as in the header"),
            ("1.5,2\n3,4\n", "line 1: the header has numbers for names (1.5, 2)"),
            ("a,b\n1,2\n\"3,4\n5,6\n", "is a quote opened and never closed?"),
            ("a,a\n", "line 1: the header has two columns `a`"),
            ("a,\n", "line 1: column 2 of the header has no name"),
            ("PAR1\0\0", "Parquet"),
            ("a\0b", "zero bytes"),
        ] {
            let problem = first_problem(text);
            assert!(problem.contains(expected), "{text:?}: {problem}");
        }
    }

    #[test]
    fn without_a_header_columns_are_counted() {
        let text = Box::new(std::io::BufReader::new(&b"7,8\n9,10\n"[..]));
        let mut table = Table::from_reader("t.csv".to_owned(), text, false).unwrap();
        assert_eq!(table.header(), ["1", "2"]);
        let mut row = Row::default();
        assert!(table.next(&mut row).unwrap());
        assert_eq!((row.cell(0), row.line()), ("7", 1));
    }

    #[test]
    fn a_table_that_comes_in_drops_is_read_all_the_same() {
        struct Drops(&'static [u8]);
        impl Read for Drops {
            fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
                let count = self.0.len().min(1).min(buffer.len());
                buffer[..count].copy_from_slice(&self.0[..count]);
                self.0 = &self.0[count..];
                Ok(count)
            }
        }
        let text = "\u{feff}\"a\nb\"\tc\r\n1\t2\r\n";
        let reader = Box::new(std::io::BufReader::new(Drops(text.as_bytes())));
        let mut table = Table::from_reader("t.csv".to_owned(), reader, true).unwrap();
        assert_eq!(table.header(), ["a\nb", "c"]);
        let mut row = Row::default();
        assert!(table.next(&mut row).unwrap());
        assert_eq!((row.cell(0), row.cell(1), row.line()), ("1", "2", 3));
    }

    #[test]
    fn blank_lines_are_no_rows() {
        for text in ["a\r\n1\r\n\r\n2\r\n", "a\n\n1\n  \n2"] {
            let mut table = table(text).unwrap();
            let (mut row, mut cells) = (Row::default(), Vec::new());
            while table.next(&mut row).unwrap() {
                cells.push(row.cell(0).to_owned());
            }
            assert_eq!(cells, ["1", "2"], "{text:?}");
        }
    }

    #[test]
    fn a_table_written_in_pieces_keeps_its_separator() {
        let mut text = TableText::new(b'\t', ["a", "b"]);
        let mut written = text.take();
        text.push(["1", "2"]);
        written.extend(text.take());
        assert_eq!(written, b"a\tb\n1\t2\n");
    }

    #[test]
    fn numbers_must_be_finite() {
        let mut table = table("x\n1e3\nNaN\ninf\n1,5\n").unwrap_or_else(|e| panic!("{e}"));
        let mut row = Row::default();
        assert!(table.next(&mut row).unwrap());
        assert_eq!(table.number(&row, 0).unwrap(), 1000.0);
        assert!(table.next(&mut row).unwrap());
        let problem = table.number(&row, 0).unwrap_err().to_string();
        assert_eq!(problem, "t.csv, line 3, column `x`: `NaN` is not a finite number");
        assert!(table.next(&mut row).unwrap() && table.number(&row, 0).is_err());
    }

    #[test]
    fn a_missing_column_gets_a_hint() {
        let problem = table("session,tme\n").unwrap().column("time").unwrap_err().to_string();
        assert_eq!(problem, "t.csv: it has no column `time`; did you mean `tme`?");
    }

    #[test]
    fn long_and_wild_values_are_tamed_in_messages() {
        assert_eq!(shown("a\u{1b}[31m"), "a\\u{1b}[31m");
        assert_eq!(shown(&"x".repeat(1000)).chars().count(), SHOWN + 1);
    }
}
