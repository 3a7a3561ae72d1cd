//! Dates and times of day as text, to the nanosecond, and how they were spelled.
//!
//! Instants are whole nanoseconds since 1970, in which sums are exact. A time without a zone is counted as if
//! it were UTC. Years are 1 to 9999, as in the dates of Python and of most programs.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::Offset;

use super::problem::{quoted, wrong};
use crate::Result;

pub(super) const SECOND: i128 = 1_000_000_000;
/// Finer ones are written only if the text had them.
const MICROSECOND_DECIMALS: usize = 6;
/// Seconds from 1970 to the beginning of the year 1, and to 9999-12-30T22:00:00, where timestamps of `jiff` end.
const FIRST_SECOND: i128 = -62_135_596_800;
const LAST_SECOND: i128 = 253_402_207_200;

/// An instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Origin {
    /// Nanoseconds since 1970: of UTC, or of an unknown zone.
    pub nanoseconds: i128,
    /// Seconds that its zone is ahead of UTC; none if its zone is unknown.
    pub offset: Option<i32>,
}

impl Origin {
    /// The instant that an ISO-8601 text spells.
    pub fn parse(text: &str) -> Result<Self> {
        let expected = "expected a date like 2024-05-31T14:03:27";
        let (nanoseconds, spelling) = parse(text)
            .ok_or_else(|| wrong("origin", format!("found {}, {expected}", quoted(text))))?;
        Ok(spelling.origin(nanoseconds))
    }

    /// An instant of UTC.
    pub fn utc(nanoseconds: i128) -> Self {
        Self { nanoseconds, offset: Some(0) }
    }

    /// The same to the microsecond, which is what calendars of other programs keep.
    pub(super) fn cut(self) -> Self {
        Self { nanoseconds: self.nanoseconds.div_euclid(1000) * 1000, ..self }
    }

    /// The instant in ISO-8601.
    pub fn text(self) -> Option<String> {
        self.spelling().text(self.nanoseconds).ok()
    }

    /// Dates in its zone.
    pub(super) fn spelling(self) -> Spelling {
        let offset = self.offset.unwrap_or(0);
        let sign = if offset < 0 { '-' } else { '+' };
        let (hours, minutes) = (offset.abs() / 3600, offset.abs() / 60 % 60);
        let zone = self.offset.map(|_| format!("{sign}{hours:02}:{minutes:02}"));
        Spelling {
            gap: 'T',
            seconds: true,
            point: '.',
            decimals: 0,
            zone: zone.unwrap_or_default(),
            offset,
        }
    }
}

/// How an instant was written, so that another can be written alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Spelling {
    gap: char,
    seconds: bool,
    point: char,
    decimals: usize,
    pub(super) zone: String,
    offset: i32,
}

impl Spelling {
    /// An instant in this spelling, with up to microseconds where it had fewer decimals.
    pub(super) fn text(&self, nanoseconds: i128) -> Result<String> {
        let decimals = self.decimals.max(MICROSECOND_DECIMALS);
        let unit = 10_i128.pow(9 - decimals as u32);
        let rounded = nanoseconds.saturating_add(unit / 2).div_euclid(unit) * unit;
        let (whole, fraction) = (rounded.div_euclid(SECOND), rounded.rem_euclid(SECOND));
        let local = civil(whole + i128::from(self.offset))?;
        let digits = format!("{fraction:09}");
        let digits = &digits[..decimals];
        let least = self.decimals.max(digits.trim_end_matches('0').len());
        let digits = &digits[..least];
        let (date, time) = (local.date(), local.time());
        let mut text = format!("{date}{}{:02}:{:02}", self.gap, time.hour(), time.minute());
        if self.seconds || !digits.is_empty() || time.second() != 0 {
            text += &format!(":{:02}", time.second());
        }
        if !digits.is_empty() {
            text.push(self.point);
            text += digits;
        }
        Ok(text + &self.zone)
    }

    /// An instant in the zone of this spelling.
    pub(super) fn origin(&self, nanoseconds: i128) -> Origin {
        Origin { nanoseconds, offset: (!self.zone.is_empty()).then_some(self.offset) }
    }
}

/// A date and time so many seconds after 1970.
fn civil(seconds: i128) -> Result<DateTime> {
    let second = i64::try_from(seconds).ok().filter(|_| is_in_years(seconds));
    let timestamp = second.and_then(|second| Timestamp::from_second(second).ok());
    timestamp.map(|timestamp| Offset::UTC.to_datetime(timestamp)).ok_or_else(|| {
        wrong("dates", format!("{seconds} s from 1970 is outside of the years 1 to 9999"))
    })
}

fn is_in_years(seconds: i128) -> bool {
    (FIRST_SECOND..=LAST_SECOND).contains(&seconds)
}

/// Nanoseconds since 1970 of a date and time; none if there is no such time.
pub(super) fn instant(
    [year, month, day]: [i16; 3],
    [hour, minute, second]: [i8; 3],
) -> Option<i128> {
    let (month, day) = (i8::try_from(month).ok()?, i8::try_from(day).ok()?);
    let local = DateTime::new(year, month, day, hour, minute, second, 0).ok()?;
    let seconds = i128::from(Offset::UTC.to_timestamp(local).ok()?.as_second());
    is_in_years(seconds).then_some(seconds * SECOND)
}

/// Nanoseconds since 1970 and the spelling, if a text is an ISO-8601 date with a time.
pub(super) fn parse(text: &str) -> Option<(i128, Spelling)> {
    let mut left = Left(text.as_bytes());
    let year = left.digits(4)?;
    left.sign(b"-")?;
    let month = left.digits(2)?;
    left.sign(b"-")?;
    let day = left.digits(2)?;
    let gap = left.sign(b"Tt ")?;
    let hour = left.digits(2)?;
    left.sign(b":")?;
    let minute = left.digits(2)?;
    let second = if left.sign(b":").is_some() { Some(left.digits(2)?) } else { None };
    let point = second.and_then(|_| left.sign(b".,"));
    let fraction = match point {
        Some(_) => left.run().filter(|digits| (1..=9).contains(&digits.len()))?,
        None => &[],
    };
    let (zone, offset) = left.zone()?;
    let date = [year, month, day].map(|number| number as i16);
    let time = [hour, minute, second.unwrap_or(0)].map(|number| number as i8);
    let local = instant(date, time)?;
    let decimals = fraction.len();
    let fraction = fraction.iter().chain(&[b'0'; 9]).take(9);
    let fraction = fraction.fold(0, |sum, digit| 10 * sum + i128::from(digit - b'0'));
    let whole = local / SECOND - i128::from(offset);
    let spelling = Spelling {
        gap,
        seconds: second.is_some(),
        point: point.unwrap_or('.'),
        decimals,
        zone: zone.to_owned(),
        offset,
    };
    is_in_years(whole).then_some((whole * SECOND + fraction, spelling))
}

/// What is left of a text; it is ASCII as far as it was taken.
struct Left<'a>(&'a [u8]);

impl<'a> Left<'a> {
    /// So many digits, as a number.
    fn digits(&mut self, count: usize) -> Option<u16> {
        let (digits, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        let is_number = digits.iter().all(u8::is_ascii_digit);
        is_number.then(|| digits.iter().fold(0, |sum, digit| 10 * sum + u16::from(digit - b'0')))
    }

    /// All digits that follow.
    fn run(&mut self) -> Option<&'a [u8]> {
        let count = self.0.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (digits, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(digits)
    }

    /// One of these signs.
    fn sign(&mut self, signs: &[u8]) -> Option<char> {
        let (first, rest) = self.0.split_first()?;
        if !signs.contains(first) {
            return None;
        }
        self.0 = rest;
        Some(char::from(*first))
    }

    /// What is left as a zone: nothing, `Z`, `+02`, `+0200` or `+02:00`, maybe after a space; and the seconds
    /// that it is ahead of UTC.
    fn zone(mut self) -> Option<(&'a str, i32)> {
        let text = std::str::from_utf8(self.0).ok()?;
        if text.is_empty() {
            return Some((text, 0));
        }
        self.sign(b" ");
        if self.sign(b"Zz").is_some() {
            return self.0.is_empty().then_some((text, 0));
        }
        let sign = if self.sign(b"+-")? == '-' { -1 } else { 1 };
        let hours = self.digits(2).filter(|&hours| hours < 24)?;
        let minutes = match self.0 {
            [] => 0,
            _ => {
                self.sign(b":");
                self.digits(2).filter(|&minutes| minutes < 60)?
            }
        };
        let ahead = sign * (i32::from(hours) * 3600 + i32::from(minutes) * 60);
        self.0.is_empty().then_some((text, ahead))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Random;

    #[test]
    fn dates_keep_their_spelling() {
        for (text, nanoseconds, want) in [
            ("2024-02-28T23:59:59.999999999", SECOND, "2024-02-29T00:00:00.999999999"),
            ("2024-02-28T23:59", 30 * SECOND, "2024-02-28T23:59:30"),
            ("2024-02-28T23:59", 60 * SECOND, "2024-02-29T00:00"),
            ("0001-01-01 00:00:00.50", SECOND / 4, "0001-01-01 00:00:00.75"),
            ("2024-02-28t23:59:59,5z", 1000, "2024-02-28t23:59:59,500001z"),
            ("2024-02-28T23:59:59", 600, "2024-02-28T23:59:59.000001"),
            ("2024-02-28T23:59:59 +0130", 100, "2024-02-28T23:59:59 +0130"),
            ("1969-12-31T23:59:59.9-05", SECOND / 10, "1970-01-01T00:00:00.0-05"),
        ] {
            let (instant, spelling) = parse(text).unwrap();
            assert_eq!(spelling.text(instant).unwrap(), text);
            assert_eq!(spelling.text(instant + nanoseconds).unwrap(), want);
        }
    }

    #[test]
    fn dates_agree_with_jiff() {
        let mut random = Random::new(5);
        for _ in 0..300 {
            let micros = (random.uniform() * 1.8e17 - 3.6e16) as i64;
            let minutes = (random.uniform() * 2878.0) as i32 - 1439;
            let offset = Offset::from_seconds(minutes * 60).unwrap();
            let timestamp = Timestamp::from_microsecond(micros).unwrap();
            let local = offset.to_datetime(timestamp);
            let sign = if minutes < 0 { '-' } else { '+' };
            let (hours, rest) = (minutes.abs() / 60, minutes.abs() % 60);
            let text = format!("{local:.6}{sign}{hours:02}:{rest:02}");
            let (instant, spelling) = parse(&text).unwrap();
            assert_eq!(instant, i128::from(micros) * 1000);
            assert_eq!(spelling.text(instant).unwrap(), text);
            let origin = spelling.origin(instant);
            assert_eq!(origin.offset, Some(minutes * 60));
            assert_eq!(Origin::parse(&origin.text().unwrap()).unwrap(), origin);
        }
    }

    #[test]
    fn what_is_no_date_is_none() {
        for text in [
            "2024-02-30T00:00",
            "2024-01-01",
            "2024-01-01T24:00",
            "2024-01-01T00:00:60",
            "2024-01-01T00:00:00.",
            "2024-01-01T00:00:00.1234567890",
            "now",
            "",
            "2024-01-01T00:00+24:00",
            "2024-01-01T00:00+01:60",
            "2024-01-01T00:00+1",
            "2024-01-01T00:00Zulu",
            "0001-01-01T00:00+12",
            "0000-01-01T00:00",
            "9999-12-31T23:00-12",
            "２024-01-01T00:00",
        ] {
            assert!(parse(text).is_none(), "{text}");
        }
        let (instant, spelling) = parse("9999-12-30T22:00:00").unwrap();
        let error = spelling.text(instant + SECOND).unwrap_err().to_string();
        assert!(error.contains("outside of the years 1 to 9999"), "{error}");
    }
}
