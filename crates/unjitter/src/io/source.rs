//! The text of a table: a file or standard input, unpacked, with limits on its size.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read, Write};
use std::path::Path;

use flate2::Compression;
use flate2::bufread::MultiGzDecoder;
use flate2::write::GzEncoder;

use crate::{Error, Result};

/// Bytes that any compressed table may unpack to.
const FREE: u64 = 1 << 30;
/// Beyond that, largest ratio to its own size: tables of numbers shrink ten to twenty times.
const MAX_RATIO: u64 = 200;
/// Longest line: a file without line ends is no table, and must not fill the memory.
const MAX_LINE: usize = 16 << 20;

/// The path that stands for standard input.
pub const STANDARD_INPUT: &str = "-";

/// The table's name in messages.
pub(super) fn display_name(path: &Path) -> String {
    if path == Path::new(STANDARD_INPUT) {
        "standard input".to_owned()
    } else {
        path.display().to_string()
    }
}

/// Opens a table. Its first bytes, not its name, show whether it is compressed.
pub(super) fn open(path: &Path) -> Result<Box<dyn BufRead>> {
    let (raw, size) = raw(path)?;
    unpacked(path, raw, size)
}

/// The bytes of a table as they are, and how many they are if that is known.
pub(super) fn raw(path: &Path) -> Result<(Box<dyn Read + Send>, Option<u64>)> {
    if path == Path::new(STANDARD_INPUT) {
        return Ok((Box::new(io::stdin()), None));
    }
    let failed = |source| Error::Io { path: path.to_owned(), source };
    let file = File::open(path).map_err(failed)?;
    let about = file.metadata().map_err(failed)?;
    if about.is_dir() {
        let problem = "it is a folder, expected a table".to_owned();
        return Err(Error::Table { file: display_name(path), problem });
    }
    Ok((Box::new(file), Some(about.len())))
}

/// The text of a table from its bytes.
pub(super) fn unpacked(
    path: &Path,
    raw: impl Read + 'static,
    size: Option<u64>,
) -> Result<Box<dyn BufRead>> {
    let mut raw = BufReader::with_capacity(1 << 16, raw);
    // A pipe may deliver one byte at first.
    let mut start = Vec::new();
    let failed = |source| Error::Io { path: path.to_owned(), source };
    raw.by_ref().take(2).read_to_end(&mut start).map_err(failed)?;
    let is_gzip = start == [0x1f, 0x8b];
    let raw = Cursor::new(start).chain(raw);
    Ok(if is_gzip {
        let limit = FREE.max(size.unwrap_or(0).saturating_mul(MAX_RATIO));
        Box::new(BufReader::with_capacity(
            1 << 16,
            Limited::new(Unpacked(MultiGzDecoder::new(raw)), limit),
        ))
    } else {
        Box::new(BufReader::with_capacity(1 << 16, Limited::new(raw, u64::MAX)))
    })
}

/// The bytes packed with gzip.
pub fn compress(bytes: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    packed.write_all(bytes).expect("memory can be written to");
    packed.finish().expect("memory can be written to")
}

/// The content of a gzip file, with our own error messages.
struct Unpacked<R>(MultiGzDecoder<R>);

impl<R: BufRead> Read for Unpacked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer).map_err(|error| {
            let problem = format!("the gzip file is cut short or damaged ({error})");
            io::Error::new(error.kind(), problem)
        })
    }
}

/// A reader that fails if there is too much data, or a line without end.
struct Limited<R> {
    inner: R,
    left: u64,
    since_line_end: usize,
}

impl<R: Read> Limited<R> {
    fn new(inner: R, limit: u64) -> Self {
        Self { inner, left: limit, since_line_end: 0 }
    }
}

impl<R: Read> Read for Limited<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        let refuse = |problem: &str| Err(io::Error::new(io::ErrorKind::InvalidData, problem));
        let Some(left) = self.left.checked_sub(count as u64) else {
            return refuse("unpacks to far more than a table would; refused");
        };
        self.left = left;
        let is_end = |byte: &u8| matches!(byte, b'\n' | b'\r');
        self.since_line_end = match buffer[..count].iter().rposition(is_end) {
            Some(last) => count - last - 1,
            None => self.since_line_end + count,
        };
        if self.since_line_end > MAX_LINE {
            return refuse("a line is longer than 16 MiB; expected a table");
        }
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_all(limited: &mut impl Read) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        limited.read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    #[test]
    fn no_more_than_the_limit_is_handed_out() {
        assert_eq!(read_all(&mut Limited::new(&b"12345"[..], 5)).unwrap(), b"12345");
        assert!(read_all(&mut Limited::new(&b"123456"[..], 5)).is_err());
    }

    #[test]
    fn a_line_without_end_is_refused() {
        let mut endless = Limited::new(io::repeat(b'7'), u64::MAX);
        assert!(read_all(&mut endless).unwrap_err().to_string().contains("16 MiB"));
    }

    #[test]
    fn gzip_is_seen_by_content() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("plain.csv");
        std::fs::write(&path, compress(b"a,b\n1,2\n")).unwrap();
        assert_eq!(read_all(&mut open(&path).unwrap()).unwrap(), b"a,b\n1,2\n");
    }
}
