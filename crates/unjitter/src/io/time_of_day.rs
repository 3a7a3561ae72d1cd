//! Times of day, or times since some start, as hours, minutes and seconds: 14:03:27.5.
//!
//! Hours may exceed 24, as after midnight in a session that began before it.

use super::decimal::{places, write_places};

const NANOSECONDS: i128 = 1_000_000_000;

/// Nanoseconds from 0:00:00 to `text`, which has seconds: without them, 12:30 may be minutes.
pub(super) fn read(text: &str) -> Option<i128> {
    let (sign, text) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text),
    };
    let (whole, fraction) = match text.split_once('.') {
        Some((_, "")) => return None,
        Some(parts) => parts,
        None => (text, ""),
    };
    let is_plain = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let parts: Vec<&str> = whole.split(':').collect();
    let [hours, minutes, seconds] = parts[..] else { return None };
    let plain =
        parts.iter().all(|part| is_plain(part)) && (fraction.is_empty() || is_plain(fraction));
    if !plain || hours.len() > 6 || minutes.len() != 2 || seconds.len() != 2 {
        return None;
    }
    let [hours, minutes, seconds] =
        [hours, minutes, seconds].map(|part| part.parse::<i128>().unwrap_or(0));
    if minutes > 59 || seconds > 59 {
        return None;
    }
    let whole = (3600 * hours + 60 * minutes + seconds) * NANOSECONDS;
    Some(sign * (whole + places(fraction, NANOSECONDS)))
}

/// Whether hours before 10 have two digits.
pub(super) fn is_padded(text: &str) -> bool {
    text.trim_start_matches('-').find(':') != Some(1)
}

/// Nanoseconds since 0:00:00 as hours, minutes and seconds.
pub(super) fn write(moment: i128, padded: bool) -> String {
    let sign = if moment < 0 { "-" } else { "" };
    let scale = NANOSECONDS.unsigned_abs();
    let (size, rest) = (moment.unsigned_abs() / scale, moment.unsigned_abs() % scale);
    let (hours, minutes, seconds) = (size / 3600, size / 60 % 60, size % 60);
    let width = if padded { 2 } else { 1 };
    format!("{sign}{hours:0width$}:{minutes:02}:{seconds:02}{}", write_places(rest, scale))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_what_was_read() {
        for text in
            ["00:00:00", "9:03:27", "14:03:27.5", "23:59:59.999999999", "27:00:01", "-0:00:00.25"]
        {
            assert_eq!(write(read(text).unwrap(), is_padded(text)), text);
        }
        assert_eq!(read("01:02:03.5"), Some(3_723_500_000_000));
        assert!(!write(i128::MAX, true).is_empty() && !write(i128::MIN, false).is_empty());
    }

    #[test]
    fn nothing_else_is_a_time_of_day() {
        for text in [
            "",
            ":",
            "::",
            "12:30",
            "12:30.5",
            "1:2:3",
            "12:60:00",
            "12:00:60",
            "12:00:00.",
            "12:00:00.5.",
            "+1:00:00",
            "1:00:00:00",
            "1:00:0a",
            "1:-1:00",
            "--1:00:00",
            "99999999999999999999:00:00",
            "12:00:00,5",
            "１２:00:00",
        ] {
            assert_eq!(read(text), None, "{text:?}");
        }
    }
}
