//! Text files: bytes of any encoding in, the same bytes out where nothing changed.
//!
//! UTF-8, or UTF-16 with a byte order mark, unless the user names another encoding. Programs on old systems
//! write in that of their country, so all those of the web are known (the crate `encoding_rs`).

use std::fs::File;
use std::io::Read;
use std::path::Path;

use encoding_rs::Encoding as Charset;
use flate2::read::MultiGzDecoder;

use super::problem::{bad, bad_bytes, with_option, wrong};
use crate::{Error, Result};

/// Most bytes of a text: far more than any list of stamps. A file that is larger, or grows beyond it when it
/// is unpacked, is none.
const LARGEST: u64 = 1 << 28;

/// How a text is written in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    Utf8,
    Utf16Le,
    Utf16Be,
    /// Bytes are the first characters of Unicode; the web knows it as a larger set.
    Latin1,
    Other(&'static Charset),
}

impl Encoding {
    pub(super) fn named(what: &str, name: &str) -> Result<Self> {
        let plain = name.trim().to_ascii_lowercase().replace(['_', ' '], "-");
        Ok(match plain.as_str() {
            "utf-8" | "utf8" | "utf-8-sig" => Self::Utf8,
            "utf-16-le" | "utf-16le" => Self::Utf16Le,
            "utf-16-be" | "utf-16be" => Self::Utf16Be,
            "latin-1" | "latin1" | "iso-8859-1" | "iso8859-1" | "l1" => Self::Latin1,
            _ => {
                let known = Charset::for_label(plain.as_bytes());
                let known = known.or_else(|| Charset::for_label(name.as_bytes()));
                let error = || wrong(what, format!("unknown encoding: {name}"));
                Self::Other(known.ok_or_else(error)?)
            }
        })
    }

    fn by_mark(content: &[u8]) -> Self {
        match content {
            [0xff, 0xfe, ..] => Self::Utf16Le,
            [0xfe, 0xff, ..] => Self::Utf16Be,
            _ => Self::Utf8,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Utf8 => "utf-8",
            Self::Utf16Le => "utf-16-le",
            Self::Utf16Be => "utf-16-be",
            Self::Latin1 => "latin-1",
            Self::Other(charset) => charset.name(),
        }
    }

    /// The text, or where it has none.
    pub(super) fn decode(self, content: &[u8]) -> std::result::Result<String, usize> {
        let units = |read: fn([u8; 2]) -> u16| {
            let (pairs, rest) = content.as_chunks::<2>();
            let text: std::result::Result<String, _> =
                char::decode_utf16(pairs.iter().map(|&pair| read(pair))).collect();
            // Where in the file a pair is alone is not worth counting.
            text.ok().filter(|_| rest.is_empty()).ok_or(0)
        };
        match self {
            Self::Utf8 => {
                std::str::from_utf8(content).map(str::to_owned).map_err(|error| error.valid_up_to())
            }
            Self::Utf16Le => units(u16::from_le_bytes),
            Self::Utf16Be => units(u16::from_be_bytes),
            Self::Latin1 => Ok(super::problem::latin(content)),
            Self::Other(charset) => charset
                .decode_without_bom_handling_and_without_replacement(content)
                .map(|text| text.into_owned())
                .ok_or(0),
        }
    }

    /// The bytes of a text, or the first character that they cannot hold.
    fn encode(self, text: &str) -> std::result::Result<Vec<u8>, Option<char>> {
        match self {
            Self::Utf8 => Ok(text.as_bytes().to_vec()),
            Self::Utf16Le => Ok(text.encode_utf16().flat_map(u16::to_le_bytes).collect()),
            Self::Utf16Be => Ok(text.encode_utf16().flat_map(u16::to_be_bytes).collect()),
            Self::Latin1 => text
                .chars()
                .map(|letter| u8::try_from(u32::from(letter)).map_err(|_| Some(letter)))
                .collect(),
            Self::Other(charset) => match charset.encode(text) {
                (bytes, _, false) => Ok(bytes.into_owned()),
                _ => Err(None),
            },
        }
    }
}

/// A text file; its byte order mark, if it has one, is no part of `body`.
#[derive(Debug)]
pub(super) struct Text {
    pub(super) file: String,
    mark: bool,
    pub(super) body: String,
    encoding: Encoding,
}

const MARK: char = '\u{feff}';

impl Text {
    /// Reads a file, unpacked if its name ends in `.gz`.
    pub(super) fn load(path: &Path, encoding: Option<&str>) -> Result<Self> {
        Self::decode(&path.display().to_string(), &load(path)?, encoding)
    }

    /// The text in bytes.
    pub(super) fn decode(file: &str, content: &[u8], encoding: Option<&str>) -> Result<Self> {
        let encoding = match encoding.map(|name| (name, name.to_ascii_lowercase())) {
            None => Encoding::by_mark(content),
            Some((_, name)) if name == "utf-16" || name == "utf16" => Encoding::by_mark(content),
            Some((name, _)) => Encoding::named(file, name)?,
        };
        let line = |text: &[u8]| {
            format!("line {}", text.iter().filter(|&&byte| byte == b'\n').count() + 1)
        };
        let mut body = encoding.decode(content).map_err(|at| {
            let expected = format!("text in {}", encoding.name());
            let found = &content[at..content.len().min(at + 8)];
            with_option(bad_bytes(file, line(&content[..at]), found, &expected), "encoding")
        })?;
        if let Some(at) = body.find('\0') {
            let expected = "text without NUL characters";
            return Err(bad(file, line(&body.as_bytes()[..at]), "\0", expected));
        }
        let mark = body.starts_with(MARK);
        if mark {
            body.drain(..MARK.len_utf8());
        }
        Ok(Self { file: file.to_owned(), mark, body, encoding })
    }

    /// Another body as bytes of the same file.
    pub(super) fn encode(&self, mut body: String) -> Result<Vec<u8>> {
        if self.mark {
            body.insert(0, MARK);
        }
        self.encoding.encode(&body).map_err(|letter| {
            let letter = letter.map(|letter| format!(" {letter:?}")).unwrap_or_default();
            wrong(&self.file, format!("a character{letter} is not in {}", self.encoding.name()))
        })
    }

    /// An error about a line.
    pub(super) fn bad(&self, line: usize, found: &str, expected: &str) -> Error {
        bad(&self.file, format!("line {line}"), found, expected)
    }
}

/// Whether a name says gzip.
pub(crate) fn is_packed(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("gz"))
}

/// The content of a file, unpacked if its name says so.
pub(super) fn load(path: &Path) -> Result<Vec<u8>> {
    load_up_to(path, LARGEST)
}

fn load_up_to(path: &Path, most: u64) -> Result<Vec<u8>> {
    let failed = |source| Error::Io { path: path.to_owned(), source };
    let file = File::open(path).map_err(failed)?;
    let name = path.display().to_string();
    let mut content = Vec::new();
    if is_packed(path) {
        let read = MultiGzDecoder::new(file).take(most + 1).read_to_end(&mut content);
        read.map_err(|error| wrong(&name, format!("expected a whole gzip file: {error}")))?;
    } else {
        file.take(most + 1).read_to_end(&mut content).map_err(failed)?;
    }
    if content.len() as u64 > most {
        let unpacked = if is_packed(path) { " once unpacked" } else { "" };
        return Err(wrong(&name, format!("expected at most {most} bytes{unpacked}")));
    }
    Ok(content)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    #[test]
    fn every_encoding_gives_the_same_bytes_back() {
        for (encoding, content) in [
            (None, &b"caf\xc3\xa9"[..]),
            (None, b"\xef\xbb\xbfcaf\xc3\xa9"),
            (None, b"\xff\xfec\0\xe9\0"),
            (None, b"\xfe\xff\0c\0\xe9"),
            (Some("latin-1"), b"caf\xe9 \x85\x95"),
            (Some("cp1252"), b"caf\xe9 \x95"),
            (Some("shift_jis"), b"\x83R\x83s\x81["),
            (Some("utf-8-sig"), b"\xef\xbb\xbfa"),
        ] {
            let text = Text::decode("f", content, encoding).unwrap();
            assert!(!text.body.contains(MARK));
            assert_eq!(text.encode(text.body.clone()).unwrap(), content, "{encoding:?}");
        }
        let text = Text::decode("f", b"a", Some("latin-1")).unwrap();
        let error = text.encode("→".to_owned()).unwrap_err().to_string();
        assert_eq!(error, "f: a character '→' is not in latin-1");
        let error = Text::decode("f", b"a", Some("nonsense")).unwrap_err().to_string();
        assert_eq!(error, "f: unknown encoding: nonsense");
    }

    #[test]
    fn a_file_that_would_fill_the_memory_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv.gz");
        let mut packed = GzEncoder::new(File::create(&path).unwrap(), Compression::default());
        packed.write_all(&[b'1'; 2000]).unwrap();
        packed.finish().unwrap();
        assert_eq!(load_up_to(&path, 2000).unwrap().len(), 2000);
        let error = load_up_to(&path, 1999).unwrap_err().to_string();
        assert!(error.ends_with("expected at most 1999 bytes once unpacked"), "{error}");
        #[cfg(unix)]
        assert!(load_up_to(Path::new("/dev/zero"), 1000).is_err());
    }
}
