//! One form for everything that can be wrong in a stamp file: where, what was found, what was expected.

use std::fmt::Write as _;

use crate::Error;

/// Longest piece of a file that a message repeats: it is untrusted, and may be long.
const SHOWN: usize = 60;

/// An error about the content of a file.
pub(super) fn bad(file: &str, place: impl Into<String>, found: &str, expected: &str) -> Error {
    Error::StampContent {
        file: file.to_owned(),
        place: place.into(),
        found: quoted(found),
        expected: expected.to_owned(),
        option: None,
    }
}

/// The same for bytes, each of which is shown as a character.
pub(super) fn bad_bytes(
    file: &str,
    place: impl Into<String>,
    found: &[u8],
    expected: &str,
) -> Error {
    bad(file, place, &latin(found), expected)
}

/// An error about a file as a whole, or about an option.
pub(super) fn wrong(what: &str, problem: impl Into<String>) -> Error {
    Error::StampFile { what: what.to_owned(), problem: problem.into(), option: None }
}

/// The same error, with the option that would help.
pub(super) fn with_option(error: Error, option: &'static str) -> Error {
    match error {
        Error::StampContent { file, place, found, expected, .. } => {
            Error::StampContent { file, place, found, expected, option: Some(option) }
        }
        Error::StampFile { what, problem, .. } => {
            Error::StampFile { what, problem, option: Some(option) }
        }
        other => other,
    }
}

/// Bytes as characters of the same numbers, so that nothing in them is lost or refused.
pub(super) fn latin(bytes: &[u8]) -> String {
    bytes.iter().map(|&byte| char::from(byte)).collect()
}

/// A text in quotes, shortened, with escapes for what a terminal would not show.
pub(crate) fn quoted(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    let mut shown = String::from(quote);
    for letter in text.chars().take(SHOWN) {
        match letter {
            '\t' => shown.push_str("\\t"),
            '\n' => shown.push_str("\\n"),
            '\r' => shown.push_str("\\r"),
            '\\' => shown.push_str("\\\\"),
            _ if letter == quote => {
                shown.push('\\');
                shown.push(letter);
            }
            _ if letter.is_control() => {
                let _ = write!(shown, "\\x{:02x}", u32::from(letter));
            }
            _ => shown.push(letter),
        }
    }
    if text.chars().nth(SHOWN).is_some() {
        shown.push('…');
    }
    shown.push(quote);
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_found_is_short_and_can_be_shown() {
        assert_eq!(quoted("a\tb\0\u{1b}\\"), r"'a\tb\x00\x1b\\'");
        assert_eq!(quoted("it's"), "\"it's\"");
        assert_eq!(quoted("it's \"so\""), "'it\\'s \"so\"'");
        assert_eq!(quoted(&"é".repeat(61)), format!("'{}…'", "é".repeat(60)));
    }
}
