//! Times in tables: numbers, ISO-8601 dates or times of day, read as seconds and written back.
//!
//! Each session has a clock, set by its first instance. Small numbers are used unchanged. Large ones (seconds
//! since 1970, say) and dates are counted from the session's first instance in whole nanoseconds, so that no
//! digit is lost; they are written back in their own form. Times of day are counted from midnight. They have
//! no day, so a time half a day away from its session is refused: it may belong to the next day.

use std::fmt;

use jiff::Timestamp;
use jiff::fmt::temporal::{Pieces, PiecesOffset};
use jiff::tz::Offset;
use serde::{Deserialize, Serialize};

use super::decimal::{decimal, number, write_decimal, write_number};
use super::{odd_times, time_of_day};

/// From this many seconds on (eleven days), a number is taken for a date in disguise.
const LARGE: f64 = 1e6;
const NANOSECONDS: i128 = 1_000_000_000;
/// From this many seconds on, a time of day may belong to another day.
const HALF_A_DAY: f64 = 43_200.0;

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
    /// Nanoseconds in one unit.
    pub(super) fn nanoseconds(self) -> i128 {
        match self {
            Self::S => NANOSECONDS,
            Self::Ms => 1_000_000,
            Self::Us => 1_000,
            Self::Ns => 1,
        }
    }

    /// Units in a second.
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

/// The notation of a time.
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
    /// Hours, minutes and seconds; whether hours before 10 have two digits.
    TimeOfDay { padded: bool },
}

/// A session's clock: the notation of its times, and its zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clock {
    style: Style,
    /// Nanoseconds since 1970, or since the table's zero, at zero.
    origin: i128,
    /// The separator of date and time of day.
    separator: char,
}

impl Default for Clock {
    /// Seconds, as numbers.
    fn default() -> Self {
        Self { style: Style::Number(TimeUnit::S), origin: 0, separator: ' ' }
    }
}

impl Clock {
    /// The clock of a session whose first instance is at `text`, or what was expected instead.
    pub fn starting_at(text: &str, unit: TimeUnit) -> Result<Self, String> {
        let (style, origin) = if let Some(value) = number(text) {
            if let Some(expected) = odd_times::as_number(text, unit) {
                return Err(expected);
            }
            let large = value.abs() / unit.per_second() >= LARGE;
            match if large { decimal(text, unit) } else { None } {
                Some(origin) => (Style::Decimal(unit), origin),
                None => (Style::Number(unit), 0),
            }
        } else if time_of_day::read(text).is_some() {
            (Style::TimeOfDay { padded: time_of_day::is_padded(text) }, 0)
        } else {
            date(text).ok_or_else(|| odd_times::expected(text))?
        };
        let separator = text.chars().find(|c| matches!(c, 'T' | 't' | ' ')).unwrap_or('T');
        Ok(Self { style, origin, separator })
    }

    /// Seconds from the clock's zero to the moment `text`, or the expected form.
    pub fn seconds(&self, text: &str) -> Result<f64, String> {
        let moment = match self.style {
            Style::Number(unit) => {
                let value = number(text).map(|value| value / unit.per_second());
                return value.ok_or_else(|| self.expected(text));
            }
            Style::Decimal(unit) => decimal(text, unit),
            Style::TimeOfDay { .. } => time_of_day::read(text),
            Style::Civil => match date(text) {
                Some((Style::Civil, moment)) => Some(moment),
                _ => None,
            },
            Style::Zulu | Style::Zoned(_) => match date(text) {
                Some((Style::Zulu | Style::Zoned(_), moment)) => Some(moment),
                _ => None,
            },
        };
        let moment = moment.ok_or_else(|| self.expected(text))?;
        Ok((moment - self.origin) as f64 / NANOSECONDS as f64)
    }

    /// The same for an entry of a session that lasts from `first` to `last`.
    pub fn seconds_beside(&self, text: &str, first: f64, last: f64) -> Result<f64, String> {
        let seconds = self.seconds(text)?;
        let away = (first - seconds).max(seconds - last);
        if self.is_time_of_day() && away > HALF_A_DAY {
            let (from, to) = (self.write(first), self.write(last));
            return Err(format!(
                "near its session, which lasts from {from} to {to}; past midnight, write dates like \
                 2024-05-31T14:03:27, or hours that go on past 24"
            ));
        }
        Ok(seconds)
    }

    /// The expected form instead of `text`: the cure of a known form, or the session's form.
    fn expected(&self, text: &str) -> String {
        let own = match self.style {
            Style::Number(_) | Style::Decimal(_) => "a number, as the times of its session are",
            Style::TimeOfDay { .. } => "a time of day like 14:03:27, as its session has them",
            Style::Civil => "a date and time without a zone, as its session has them",
            Style::Zulu | Style::Zoned(_) => {
                "a date and time with Z or an offset such as +02:00, as its session has them"
            }
        };
        // A readable date is not odd, only out of place.
        let odd = if date(text).is_none() { odd_times::named(text) } else { None };
        odd.unwrap_or_else(|| match number(text) {
            Some(days) if odd_times::may_be_days(days) && self.unit().is_none() => {
                format!("{own}; it looks like days, as spreadsheets count them")
            }
            _ => own.to_owned(),
        })
    }

    /// Whether times are hours, minutes and seconds without a day.
    pub fn is_time_of_day(&self) -> bool {
        matches!(self.style, Style::TimeOfDay { .. })
    }

    /// Whether a change from summer time may affect its times: they are local, or may be.
    pub(super) fn may_be_local(&self) -> bool {
        matches!(self.style, Style::Civil | Style::TimeOfDay { .. } | Style::Decimal(_))
    }

    /// The moment `seconds` after the clock's zero, in the notation of the session's times.
    pub fn write(&self, seconds: f64) -> String {
        let since_origin = (seconds * NANOSECONDS as f64).round() as i128;
        let moment = self.origin.saturating_add(since_origin);
        match self.style {
            Style::Number(unit) => write_number(seconds, unit),
            Style::Decimal(unit) => write_decimal(moment, unit.nanoseconds()),
            Style::Civil => self.write_date(moment, Offset::UTC, ""),
            Style::Zulu => self.write_date(moment, Offset::UTC, "Z"),
            Style::Zoned(offset) => self.write_date(moment, offset, &offset_text(offset)),
            Style::TimeOfDay { padded } => time_of_day::write(moment, padded),
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
            _ => None,
        }
    }

    /// The number for the moment `seconds` after the clock's zero, to the precision of a double; none if
    /// the session's times are dates.
    pub(crate) fn number(&self, seconds: f64) -> Option<f64> {
        let unit = self.unit()?;
        let origin = self.origin as f64 / unit.nanoseconds() as f64;
        Some(origin + seconds * unit.per_second())
    }

    /// The clock's zero as a number of seconds, whatever the unit of the times; none if they are dates.
    pub fn zero_in_seconds(&self) -> Option<f64> {
        self.unit()?;
        // Whole seconds separately: nanoseconds since 1970 have more digits than a double.
        let (whole, rest) = (self.origin / NANOSECONDS, self.origin % NANOSECONDS);
        Some(whole as f64 + rest as f64 / NANOSECONDS as f64)
    }

    /// The clock's zero in nanoseconds since 1970, in UTC or in local time without a zone, and the
    /// seconds that its zone is ahead of UTC, if it has one; none if its times are no dates.
    pub fn moment(&self) -> Option<(i128, Option<i32>)> {
        match self.style {
            Style::Number(_) | Style::Decimal(_) | Style::TimeOfDay { .. } => None,
            Style::Civil => Some((self.origin, None)),
            Style::Zulu => Some((self.origin, Some(0))),
            Style::Zoned(offset) => Some((self.origin, Some(offset.seconds()))),
        }
    }

    /// Hours since midnight at the clock's zero, in its own zone; none if its times are numbers.
    pub fn hour(&self) -> Option<f64> {
        let ahead = match self.style {
            Style::Number(_) | Style::Decimal(_) => return None,
            Style::Civil | Style::Zulu | Style::TimeOfDay { .. } => 0,
            Style::Zoned(offset) => offset.seconds(),
        };
        let local = self.origin + i128::from(ahead) * NANOSECONDS;
        Some(local.rem_euclid(24 * 3600 * NANOSECONDS) as f64 / 3600e9)
    }

    /// Seconds from a whole hour of the clock to the moment `seconds` after its zero. Whole hours are
    /// removed first, because they would leave no digits.
    pub(crate) fn past_the_hour(&self, seconds: f64) -> f64 {
        self.origin.rem_euclid(3600 * NANOSECONDS) as f64 / NANOSECONDS as f64 + seconds
    }

    /// The moment in rounded seconds, for people: nanoseconds are noise.
    pub fn write_rounded(&self, seconds: f64) -> String {
        self.write(to_microsecond(seconds))
    }

    fn write_date(&self, moment: i128, offset: Offset, suffix: &str) -> String {
        match Timestamp::from_nanosecond(moment) {
            Ok(timestamp) => {
                let text = offset.to_datetime(timestamp).to_string();
                format!("{}{suffix}", text.replacen('T', &self.separator.to_string(), 1))
            }
            // Beyond the calendar's years: a plain number is better than nothing.
            Err(_) => format!("{}", moment as f64 / NANOSECONDS as f64),
        }
    }
}

/// Seconds to the microsecond.
fn to_microsecond(seconds: f64) -> f64 {
    (seconds * 1e6).round() / 1e6
}

fn date(text: &str) -> Option<(Style, i128)> {
    let pieces = Pieces::parse(text).ok()?;
    // A date alone is not a moment.
    let civil = pieces.date().to_datetime(pieces.time()?);
    let (style, offset) = match pieces.offset() {
        // Only the name of a zone, whose rules are not available.
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
    fn hours_are_those_of_its_own_zone() {
        for (start, hour) in [
            ("2024-05-31T14:30:00", Some(14.5)),
            ("2024-05-31T22:30:00Z", Some(22.5)),
            ("2024-05-31T01:15:00+02:00", Some(1.25)),
            ("1969-12-31T23:00:00-05:30", Some(23.0)),
            // Times of day are counted from midnight.
            ("14:03:27", Some(0.0)),
            ("1700000000", None),
            ("12.5", None),
        ] {
            assert_eq!(clock(start).hour(), hour, "{start}");
        }
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
            ("14:03:27.5", "25:00:00"),
            ("9:03:27", "10:00:00.000001"),
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
    fn the_day_after_is_not_taken_for_the_day_before() {
        let clock = clock("23:50:00");
        let [first, last] = ["23:50:00", "23:59:58"].map(|text| clock.seconds(text).unwrap());
        let expected = clock.seconds_beside("0:00:03", first, last).unwrap_err();
        assert!(expected.contains("from 23:50:00 to 23:59:58; past midnight"), "{expected}");
        assert_eq!(clock.seconds_beside("24:00:03", first, last), Ok(86_403.0));
        assert_eq!(clock.seconds_beside("12:00:00", first, last), Ok(43_200.0));
        let number = Clock::default();
        assert_eq!(number.seconds_beside("3", 85_800.0, 86_398.0), Ok(3.0));
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
        for text in ["", "noon", "2024-05-31", "14:03", "NaN", "inf", "2024-13-01T00:00:00"] {
            assert!(Clock::starting_at(text, TimeUnit::S).is_err(), "{text:?}");
        }
        assert!(clock("0").seconds("2024-05-31T14:03:27").is_err());
        assert!(clock("0").seconds("14:03:27").is_err());
        assert!(clock("14:03:27").seconds("5").is_err());
        assert!(clock("14:03:27").seconds("2024-05-31T14:03:27").is_err());
        assert!(clock("2024-05-31T14:03:27").seconds("5").is_err());
        assert!(clock("2024-05-31T14:03:27").seconds("2024-05-31T14:03:27Z").is_err());
        assert!(clock("2024-05-31T14:03:27Z").seconds("2024-05-31T14:03:27").is_err());
    }
}
