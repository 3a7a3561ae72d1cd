//! Seconds as text: strict when read, exact when written.

/// Longer ones are no times, and exact parsing takes long.
const LONGEST: usize = 100;

/// The finite number that a text spells in plain decimals, with or without an exponent.
///
/// Stricter than Rust's own parsing, which also takes `nan` and `infinity`.
pub(super) fn parse_number(text: &str) -> Option<f64> {
    if text.len() > LONGEST || !is_number(text.as_bytes()) {
        return None;
    }
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

/// `[+-]? (digits [. digits?]? | . digits) ([eE] [+-]? digits)?`
fn is_number(text: &[u8]) -> bool {
    let text = text.strip_prefix(b"+").or(text.strip_prefix(b"-")).unwrap_or(text);
    let (whole, text) = digits(text);
    let (fraction, text) = match text.strip_prefix(b".") {
        Some(after) => digits(after),
        None => (0, text),
    };
    let exponent = match text.strip_prefix(b"e").or(text.strip_prefix(b"E")) {
        Some(after) => after.strip_prefix(b"+").or(after.strip_prefix(b"-")).unwrap_or(after),
        None => return whole + fraction > 0 && text.is_empty(),
    };
    let (places, rest) = digits(exponent);
    whole + fraction > 0 && places > 0 && rest.is_empty()
}

/// How many digits a text begins with, and what follows them.
fn digits(text: &[u8]) -> (usize, &[u8]) {
    let count = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    (count, &text[count..])
}

/// The shortest text that reads back as exactly this number, without an exponent.
pub(super) fn number_text(number: f64) -> String {
    // There is no minus zero in files.
    format!("{}", number + 0.0)
}

/// With so many decimals.
pub(super) fn fixed(number: f64, decimals: usize) -> String {
    format!("{number:.decimals$}")
}

/// How many decimals a number was written with.
pub(super) fn decimals_of(text: &str) -> usize {
    text.trim().split_once('.').map_or(0, |(_, decimals)| decimals.len().min(LONGEST))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_plain_and_finite() {
        for (text, want) in [
            ("1.5", Some(1.5)),
            ("+1.", Some(1.0)),
            ("-.5", Some(-0.5)),
            ("1e-3", Some(1e-3)),
            ("1E+3", Some(1e3)),
            ("", None),
            (".", None),
            ("-", None),
            ("e5", None),
            ("1e", None),
            ("1e999", None),
            ("nan", None),
            ("inf", None),
            ("1_000", None),
            ("1,5", None),
            (" 1", None),
            ("0x10", None),
            ("１", None),
        ] {
            assert_eq!(parse_number(text), want, "{text:?}");
        }
        assert_eq!(parse_number(&"1".repeat(100)), Some("1".repeat(100).parse().unwrap()));
        assert_eq!(parse_number(&"1".repeat(101)), None);
    }

    #[test]
    fn texts_read_back_as_the_number() {
        for (number, want) in [
            (0.1, "0.1"),
            (12.0, "12"),
            (1e-7, "0.0000001"),
            (-0.0, "0"),
            (1e20, "100000000000000000000"),
        ] {
            assert_eq!(number_text(number), want);
        }
    }
}
