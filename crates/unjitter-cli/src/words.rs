//! Numbers as people write them.

/// A number with three digits that count.
pub(crate) fn number(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let size = value.abs().log10().floor();
    if !(-4.0..6.0).contains(&size) {
        return format!("{value:.2e}");
    }
    let digits = (2.0 - size).max(0.0) as usize;
    let text = format!("{value:.digits$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// A length of time, in seconds.
pub(crate) fn seconds(value: f64) -> String {
    format!("{} s", number(value))
}

/// A share as a percentage.
pub(crate) fn percent(share: f64) -> String {
    if share > 0.0 && share < 1e-4 {
        return "less than 0.01 %".to_owned();
    }
    format!("{} %", number(100.0 * share))
}

/// A whole number in groups of three.
pub(crate) fn count(value: usize) -> String {
    let digits = value.to_string();
    let mut text = String::new();
    for (k, digit) in digits.chars().enumerate() {
        if k > 0 && (digits.len() - k).is_multiple_of(3) && digits.len() > 4 {
            text.push('\u{202f}');
        }
        text.push(digit);
    }
    text
}

/// "1 session", "2 sessions".
pub(crate) fn counted(value: usize, thing: &str) -> String {
    format!("{} {thing}{}", count(value), if value == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_three_digits() {
        for (value, text) in [
            (0.0, "0"),
            (1.0, "1"),
            (-0.012345, "-0.0123"),
            (12.0, "12"),
            (1234.5, "1234"),
            (0.5, "0.5"),
            (1e-9, "1.00e-9"),
            (2.5e8, "2.50e8"),
        ] {
            assert_eq!(number(value), text);
        }
        assert_eq!(percent(0.0312), "3.12 %");
        assert_eq!(percent(4e-10), "less than 0.01 %");
        assert_eq!(counted(1, "stamp"), "1 stamp");
        assert_eq!(counted(12345, "stamp"), "12\u{202f}345 stamps");
    }
}
