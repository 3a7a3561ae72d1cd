//! Times in tables: numbers or ISO-8601 dates, to seconds and back.
//!
//! Each session has a clock, set by its first instance. Small numbers stay the numbers that they
//! are. Large ones (seconds since 1970, say) and dates are counted from the session's first
//! instance in whole nanoseconds, so that no digit is lost; they are written back as they came.

use std::fmt;

use jiff::Timestamp;
use jiff::fmt::temporal::{Pieces, PiecesOffset};
use jiff::tz::Offset;
use serde::{Deserialize, Serialize};

/// From this many seconds on (eleven days), a number is taken for a date in disguise.
const LARGE: f64 = 1e6;
const NANOSECONDS: i128 = 1_000_000_000;

/// The unit of times that are written as numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TimeUnit {
    /// Seconds.
    #[default]
    S,
    /// Milliseconds.
    Ms,
    /// Microseconds.
    Us,
    /// Nanoseconds.
    Ns,
}

impl TimeUnit {
    /// Nanoseconds in one.
    fn nanoseconds(self) -> i128 {
        match self {
            Self::S => NANOSECONDS,
            Self::Ms => 1_000_000,
            Self::Us => 1_000,
            Self::Ns => 1,
        }
    }

    /// How many there are in a second.
    pub(crate) fn per_second(self) -> f64 {
        (NANOSECONDS / self.nanoseconds()) as f64
    }
}

impl fmt::Display for TimeUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::S => "s",
            Self::Ms => "ms",
            Self::Us => "us",
            Self::Ns => "ns",
        })
    }
}

/// How a time is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Style {
    /// A number, used as it is.
    Number(TimeUnit),
    /// A large number, kept to the nanosecond.
    Decimal(TimeUnit),
    /// A date and a time of day without a zone.
    Civil,
    /// The same with `Z`.
    Zulu,
    /// The same with an offset from UTC.
    Zoned(Offset),
}

/// A session's clock: how its times are written, and which moment is zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clock {
    style: Style,
    /// Nanoseconds since 1970, or since the table's zero, at zero.
    origin: i128,
    /// What stands between date and time of day.
    separator: char,
}

/// What a time should be, in words.
const A_TIME: &str = "a time: a number, or a date like 2024-05-31T14:03:27.5";

impl Default for Clock {
    /// Seconds, as numbers.
    fn default() -> Self {
        Self { style: Style::Number(TimeUnit::S), origin: 0, separator: ' ' }
    }
}

impl Clock {
    /// The clock of a session whose first instance is at `text`.
    pub fn starting_at(text: &str, unit: TimeUnit) -> Result<Self, String> {
        if let Some(value) = number(text) {
            let large = value.abs() / unit.per_second() >= LARGE;
            let exact = if large { decimal(text, unit) } else { None };
            return Ok(match exact {
                Some(origin) => Self { style: Style::Decimal(unit), origin, separator: ' ' },
                None => Self { style: Style::Number(unit), origin: 0, separator: ' ' },
            });
        }
        let (style, origin) = date(text).ok_or_else(|| A_TIME.to_owned())?;
        let separator = text.chars().find(|c| matches!(c, 'T' | 't' | ' ')).unwrap_or('T');
        Ok(Self { style, origin, separator })
    }

    /// Seconds from the clock's zero to the moment `text`, or what was expected instead.
    pub fn seconds(&self, text: &str) -> Result<f64, String> {
        let since_origin = |moment: i128| (moment - self.origin) as f64 / NANOSECONDS as f64;
        match self.style {
            Style::Number(unit) => number(text)
                .map(|value| value / unit.per_second())
                .ok_or_else(|| "a number, as the times of its session are".to_owned()),
            Style::Decimal(unit) => decimal(text, unit)
                .map(since_origin)
                .ok_or_else(|| "a number, as the times of its session are".to_owned()),
            Style::Civil => match date(text) {
                Some((Style::Civil, moment)) => Ok(since_origin(moment)),
                _ => Err("a date and time without a zone, as its session has them".to_owned()),
            },
            Style::Zulu | Style::Zoned(_) => match date(text) {
                Some((Style::Zulu | Style::Zoned(_), moment)) => Ok(since_origin(moment)),
                _ => Err("a date and time with Z or an offset such as +02:00, as its session has \
                          them"
                    .to_owned()),
            },
        }
    }

    /// The moment `seconds` after the clock's zero, written as the session's times are.
    pub fn write(&self, seconds: f64) -> String {
        let since_origin = (seconds * NANOSECONDS as f64).round() as i128;
        let moment = self.origin.saturating_add(since_origin);
        match self.style {
            Style::Number(unit) => write_number(seconds, unit),
            Style::Decimal(unit) => write_decimal(moment, unit.nanoseconds()),
            Style::Civil => self.write_date(moment, Offset::UTC, ""),
            Style::Zulu => self.write_date(moment, Offset::UTC, "Z"),
            Style::Zoned(offset) => self.write_date(moment, offset, &offset_text(offset)),
        }
    }

    /// The same, with the offset of the date `like`, as after a change to summer time.
    pub fn write_like(&self, seconds: f64, like: &str) -> String {
        match (self.style, date(like)) {
            (Style::Zoned(_) | Style::Zulu, Some((style @ (Style::Zoned(_) | Style::Zulu), _))) => {
                Self { style, ..*self }.write(seconds)
            }
            _ => self.write(seconds),
        }
    }

    /// The clock's zero as a date, if its times are dates.
    pub fn start(&self) -> Option<String> {
        let is_date = matches!(self.style, Style::Civil | Style::Zulu | Style::Zoned(_));
        is_date.then(|| self.write(0.0))
    }

    /// The unit of the session's times, if they are numbers.
    pub fn unit(&self) -> Option<TimeUnit> {
        match self.style {
            Style::Number(unit) | Style::Decimal(unit) => Some(unit),
            Style::Civil | Style::Zulu | Style::Zoned(_) => None,
        }
    }

    /// The number that stands for the moment `seconds` after the clock's zero, to the precision of
    /// a double; none if the session's times are dates.
    pub(crate) fn number(&self, seconds: f64) -> Option<f64> {
        let unit = self.unit()?;
        let origin = self.origin as f64 / unit.nanoseconds() as f64;
        Some(origin + seconds * unit.per_second())
    }

    /// The clock's zero as the session's times count, but in seconds whatever their unit; none if
    /// they are dates.
    pub fn zero_in_seconds(&self) -> Option<f64> {
        self.unit()?;
        // Whole seconds apart: all nanoseconds since 1970 have more digits than a double.
        let (whole, rest) = (self.origin / NANOSECONDS, self.origin % NANOSECONDS);
        Some(whole as f64 + rest as f64 / NANOSECONDS as f64)
    }

    /// The clock's zero in nanoseconds since 1970, in UTC or in a local time that has no zone, and
    /// the seconds that its zone is ahead of UTC, if it has one; none if its times are numbers.
    pub fn moment(&self) -> Option<(i128, Option<i32>)> {
        match self.style {
            Style::Number(_) | Style::Decimal(_) => None,
            Style::Civil => Some((self.origin, None)),
            Style::Zulu => Some((self.origin, Some(0))),
            Style::Zoned(offset) => Some((self.origin, Some(offset.seconds()))),
        }
    }

    /// Seconds from a whole hour of the clock to the moment `seconds` after its zero: of many hours,
    /// no digits would be left.
    pub(crate) fn past_the_hour(&self, seconds: f64) -> f64 {
        self.origin.rem_euclid(3600 * NANOSECONDS) as f64 / NANOSECONDS as f64 + seconds
    }

    /// Digits of a second that are left when times are written for people: nanoseconds are noise.
    pub fn write_rounded(&self, seconds: f64) -> String {
        self.write(to_microsecond(seconds))
    }

    fn write_date(&self, moment: i128, offset: Offset, suffix: &str) -> String {
        match Timestamp::from_nanosecond(moment) {
            Ok(timestamp) => {
                let text = offset.to_datetime(timestamp).to_string();
                format!("{}{suffix}", text.replacen('T', &self.separator.to_string(), 1))
            }
            // Beyond the calendar's years: some number is better than none.
            Err(_) => format!("{}", moment as f64 / NANOSECONDS as f64),
        }
    }
}

/// Seconds to the microsecond.
pub fn to_microsecond(seconds: f64) -> f64 {
    (seconds * 1e6).round() / 1e6
}

fn number(text: &str) -> Option<f64> {
    text.parse::<f64>().ok().filter(|value| value.is_finite())
}

/// A number in `unit` as nanoseconds, exact where it has no more than nanoseconds.
fn decimal(text: &str, unit: TimeUnit) -> Option<i128> {
    let value = number(text)?;
    let scale = unit.nanoseconds();
    let (sign, digits) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let plain = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if !plain(whole) || !plain(fraction) || whole.len() > 24 {
        // In powers of ten, or absurdly long: the nearest nanosecond.
        let nanoseconds = value * scale as f64;
        return (nanoseconds.abs() < 1e30).then_some(nanoseconds.round() as i128);
    }
    let mut moment = whole.parse::<i128>().ok().or(whole.is_empty().then_some(0))? * scale;
    let mut place = scale;
    for byte in fraction.bytes() {
        place /= 10;
        moment += i128::from(byte - b'0') * place;
    }
    Some(sign * moment)
}

/// The shortest number in `unit` that is read as these seconds: 1.001 s in milliseconds is 1001,
/// though the product is a hair less.
fn write_number(seconds: f64, unit: TimeUnit) -> String {
    let product = seconds * unit.per_second();
    let short = (product * 1e6).round() / 1e6;
    let same = short / unit.per_second() == seconds;
    format!("{}", if same { short } else { product })
}

fn write_decimal(moment: i128, scale: i128) -> String {
    let (size, scale) = (moment.unsigned_abs(), scale.unsigned_abs());
    let (whole, rest) = (size / scale, size % scale);
    let sign = if moment < 0 { "-" } else { "" };
    if rest == 0 {
        return format!("{sign}{whole}");
    }
    let places = scale.ilog10() as usize;
    let fraction = format!("{rest:0places$}");
    format!("{sign}{whole}.{}", fraction.trim_end_matches('0'))
}

fn date(text: &str) -> Option<(Style, i128)> {
    let pieces = Pieces::parse(text).ok()?;
    // A date alone is no moment.
    let civil = pieces.date().to_datetime(pieces.time()?);
    let (style, offset) = match pieces.offset() {
        // The name of a zone alone: its rules are not at hand.
        None if pieces.time_zone_annotation().is_some() => return None,
        None => (Style::Civil, Offset::UTC),
        Some(PiecesOffset::Zulu) => (Style::Zulu, Offset::UTC),
        Some(other) => {
            let offset = other.to_numeric_offset();
            (Style::Zoned(offset), offset)
        }
    };
    Some((style, offset.to_timestamp(civil).ok()?.as_nanosecond()))
}

fn offset_text(offset: Offset) -> String {
    let seconds = offset.seconds();
    let sign = if seconds < 0 { '-' } else { '+' };
    let text = format!("{sign}{:02}:{:02}", seconds.abs() / 3600, seconds.abs() / 60 % 60);
    match seconds.abs() % 60 {
        0 => text,
        rest => format!("{text}:{rest:02}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(text: &str) -> Clock {
        Clock::starting_at(text, TimeUnit::S).unwrap()
    }

    #[test]
    fn what_is_written_is_what_was_read() {
        for (first, later) in [
            ("0", "12.25"),
            ("-3.5", "1e-3"),
            ("1700000000.123456789", "1700000004.000000001"),
            ("2024-05-31T14:03:27.5", "2024-06-01T00:00:00"),
            ("2024-05-31 14:03:27.123456", "2024-05-31 14:03:28.000001"),
            ("2024-05-31T14:03:27Z", "2024-05-31T14:03:27.000000001Z"),
            ("2024-05-31T14:03:27+02:00", "2024-05-31T15:00:00.25+02:00"),
            ("1969-12-31T23:59:59-05:30", "1970-01-01T00:00:00-05:30"),
            ("1890-05-31T14:03:27+00:19:32", "1890-05-31T14:03:28.5+00:19:32"),
            ("-000003-05-31 14:03:27", "-000003-05-31 14:03:28"),
            ("999999999999999999999999", "999999999999999999999998"),
            ("-1700000000.5", "-1.7e9"),
        ] {
            let clock = clock(first);
            for text in [first, later] {
                let written = clock.write(clock.seconds(text).unwrap());
                let number = |text: &str| text.parse::<f64>().ok();
                let same =
                    written == text || number(text).is_some_and(|x| number(&written) == Some(x));
                assert!(same, "{text} became {written}");
            }
        }
    }

    #[test]
    fn large_numbers_lose_no_digit() {
        let clock = clock("1700000000.123456789");
        assert_eq!(clock.seconds("1700000000.123456790").unwrap(), 1e-9);
        // As a double, the two would be the same number.
        let as_double = |text: &str| text.parse::<f64>().unwrap();
        assert_eq!(as_double("1700000000.123456789"), as_double("1700000000.12345679"));
        let micro = Clock::starting_at("1500000000000001", TimeUnit::Us).unwrap();
        assert_eq!(micro.seconds("1500000000500001").unwrap(), 0.5);
        assert_eq!(micro.write(0.5), "1500000000500001");
    }

    #[test]
    fn offsets_are_taken_off() {
        let clock = clock("2024-05-31T14:00:00+02:00");
        assert_eq!(clock.seconds("2024-05-31T12:00:01Z").unwrap(), 1.0);
        assert_eq!(clock.start().unwrap(), "2024-05-31T14:00:00+02:00");
    }

    #[test]
    fn the_moment_at_zero_is_in_utc_if_it_has_a_zone() {
        let noon = 1_717_156_800_000_000_000;
        for (text, want) in [
            ("2024-05-31T12:00:00.000000001", Some((noon + 1, None))),
            ("2024-05-31 12:00:00Z", Some((noon, Some(0)))),
            ("2024-05-31T14:00:00+02:00", Some((noon, Some(7200)))),
            ("2024-05-31T06:30:00-05:30", Some((noon, Some(-19_800)))),
            ("5", None),
            ("1717156800", None),
        ] {
            assert_eq!(clock(text).moment(), want, "{text}");
        }
    }

    #[test]
    fn numbers_in_any_unit_come_back_as_they_were() {
        for unit in [TimeUnit::S, TimeUnit::Ms, TimeUnit::Us, TimeUnit::Ns] {
            let clock = Clock::starting_at("0", unit).unwrap();
            for text in (0..100_000).map(|k| k.to_string()).chain(["0.1".into(), "33.37".into()]) {
                assert_eq!(clock.write(clock.seconds(&text).unwrap()), text, "{unit:?}");
            }
        }
    }

    #[test]
    fn summer_time_is_kept_where_it_is_asked_for() {
        let clock = clock("2024-03-31T01:55:00+01:00");
        let stamp = "2024-03-31T03:05:09+02:00";
        assert_eq!(clock.write_like(clock.seconds(stamp).unwrap(), stamp), stamp);
        assert_eq!(clock.write_like(60.0, "5"), "2024-03-31T01:56:00+01:00");
    }

    #[test]
    fn units_of_numbers_are_taken_into_account() {
        let clock = Clock::starting_at("0", TimeUnit::Ms).unwrap();
        assert_eq!(clock.seconds("1500").unwrap(), 1.5);
        assert_eq!(clock.write(1.5), "1500");
    }

    #[test]
    fn the_zero_of_numbers_is_in_seconds() {
        for (text, unit) in [
            ("1717164207.5", TimeUnit::S),
            ("1717164207500", TimeUnit::Ms),
            ("1717164207500000", TimeUnit::Us),
            ("1717164207500000000", TimeUnit::Ns),
        ] {
            let clock = Clock::starting_at(text, unit).unwrap();
            assert_eq!(clock.zero_in_seconds(), Some(1_717_164_207.5), "{unit:?}");
        }
        let small = Clock::starting_at("1500", TimeUnit::Ms).unwrap();
        assert_eq!(small.zero_in_seconds(), Some(0.0));
        assert_eq!(clock("2024-05-31T14:03:27Z").zero_in_seconds(), None);
    }

    #[test]
    fn absurd_times_do_not_overflow() {
        for first in ["1700000000", "-999999999999999999999999.999999999999", "1e308", "5e29"] {
            for unit in [TimeUnit::S, TimeUnit::Ms, TimeUnit::Us, TimeUnit::Ns] {
                let clock = Clock::starting_at(first, unit).unwrap();
                for later in ["9999999999999999999999.999999999999", "1e308", "-1e25", "1e-300"] {
                    if let Ok(seconds) = clock.seconds(later) {
                        assert!(seconds.is_finite(), "{later} after {first}");
                    }
                }
                for seconds in [f64::MAX, f64::MIN, f64::INFINITY, f64::NAN, -1e29] {
                    assert!(!clock.write(seconds).is_empty());
                }
            }
        }
        for first in ["9999-12-30T00:00:00Z", "-009999-01-02T00:00:00-23:00"] {
            let clock = clock(first);
            assert!(clock.seconds("10000-01-01T00:00:00Z").is_err());
            for seconds in [f64::MAX, f64::MIN, f64::NAN, 1e9] {
                assert!(!clock.write(seconds).is_empty());
            }
        }
    }

    #[test]
    fn beside_large_numbers_too_only_numbers_are_times() {
        for text in ["", ".", "-", "+", "-.", "noon"] {
            assert!(clock("1700000000").seconds(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn what_is_no_time_is_refused() {
        assert!(Clock::starting_at("2024-05-31T14:03:27[Europe/Vienna]", TimeUnit::S).is_err());
        for text in ["", "noon", "2024-05-31", "14:03:27", "NaN", "inf", "2024-13-01T00:00:00"] {
            assert!(Clock::starting_at(text, TimeUnit::S).is_err(), "{text:?}");
        }
        assert!(clock("0").seconds("2024-05-31T14:03:27").is_err());
        assert!(clock("2024-05-31T14:03:27").seconds("5").is_err());
        assert!(clock("2024-05-31T14:03:27").seconds("2024-05-31T14:03:27Z").is_err());
        assert!(clock("2024-05-31T14:03:27Z").seconds("2024-05-31T14:03:27").is_err());
    }
}
