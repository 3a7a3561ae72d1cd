//! Numbers and names in messages.

use crate::io::shown;

/// Most names that a message lists.
const LISTED: usize = 5;

/// A length of time in a suitable unit, with three digits.
pub fn duration(seconds: f64) -> String {
    let size = seconds.abs();
    let (value, unit) = if size >= 2.0 * 86400.0 {
        (seconds / 86400.0, "days")
    } else if size >= 2.0 * 3600.0 {
        (seconds / 3600.0, "h")
    } else if size >= 180.0 {
        (seconds / 60.0, "min")
    } else if size >= 0.1 || size == 0.0 {
        (seconds, "s")
    } else {
        (seconds * 1e3, "ms")
    };
    format!("{} {unit}", three_digits(value))
}

/// A number with three digits, or all digits before the point.
pub(crate) fn three_digits(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    let size = value.abs();
    if !(1e-4..1e7).contains(&size) {
        return format!("{value:.2e}");
    }
    let decimals = (2 - size.log10().floor() as i32).max(0) as usize;
    let text = format!("{value:.decimals$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// A share as a percentage.
pub(super) fn percent(share: f64) -> String {
    format!("{} %", three_digits(100.0 * share))
}

/// A number and its noun.
pub(crate) fn count(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// The first few names of a list that may be long.
pub(crate) fn names<S: AsRef<str>>(names: &[S]) -> String {
    list(names.iter().map(|name| shown(name.as_ref())).collect())
}

/// The first few entries of a list that may be long.
pub(super) fn list(entries: Vec<String>) -> String {
    let more = entries.len().saturating_sub(LISTED);
    let listed = entries[..entries.len().min(LISTED)].join(", ");
    if more > 0 { format!("{listed} and {more} more") } else { listed }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_time_have_a_unit_that_suits_them() {
        for (seconds, text) in [
            (0.0, "0 s"),
            (0.0123, "12.3 ms"),
            (0.8, "0.8 s"),
            (-3.25719, "-3.26 s"),
            (150.0, "150 s"),
            (600.0, "10 min"),
            (7200.0, "2 h"),
            (864000.0, "10 days"),
            (1e15, "1.16e10 days"),
        ] {
            assert_eq!(duration(seconds), text);
        }
    }

    #[test]
    fn long_lists_are_cut() {
        assert_eq!(names(&["a", "b"]), "a, b");
        assert_eq!(names(&["a", "b", "c", "d", "e", "f\n"]), "a, b, c, d, e and 1 more");
        assert_eq!(names(&["\u{1b}[2J"]), "\\u{1b}[2J");
    }
}
