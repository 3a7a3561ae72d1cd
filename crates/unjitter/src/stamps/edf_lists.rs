//! Time-stamped annotation lists (TALs), the content of the annotation signals of EDF+.
//!
//! A list is an onset, perhaps a duration, and texts, with separators between: `+1.5␕2␔cough␔␀`. Numbers are
//! kept as decimals, so that no digit is lost or made up.

use std::fmt;
use std::ops::{Add, Sub};

use super::problem::bad_bytes;
use crate::Result;

const END: u8 = 0x14;
const LASTING: u8 = 0x15;
/// Decimals that are kept; whole seconds have up to `WHOLE` digits.
const DECIMALS: usize = 20;
const WHOLE: usize = 17;
const UNIT: i128 = 10_i128.pow(DECIMALS as u32);

/// A number of seconds in units of 10⁻²⁰ s: finer than a double from a microsecond on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct Decimal(i128);

impl Decimal {
    /// The number that digits spell, with or without a sign and decimals; more decimals than are kept are
    /// cut.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (negative, digits) = match text.strip_prefix('-') {
            Some(digits) => (true, digits),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() || whole.len() > WHOLE || !is_number(whole) || !is_number(fraction) {
            return None;
        }
        let decimals = fraction.bytes().chain([b'0'; DECIMALS]).take(DECIMALS);
        let units = whole.bytes().chain(decimals);
        let units = units.fold(0, |sum, digit| 10 * sum + i128::from(digit - b'0'));
        Some(Self(if negative { -units } else { units }))
    }

    /// A number of microseconds.
    pub(super) fn from_micros(micros: i128) -> Self {
        Self(micros * (UNIT / 1_000_000))
    }

    /// Whole microseconds, cut towards zero.
    pub(super) fn micros(self) -> i128 {
        self.0 / (UNIT / 1_000_000)
    }

    /// The nearest double. By way of text, because two roundings are not one.
    pub(super) fn to_f64(self) -> f64 {
        self.to_string().parse().expect("digits are a number")
    }
}

impl Add for Decimal {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl Sub for Decimal {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (sign, units) = (if self.0 < 0 { "-" } else { "" }, self.0.unsigned_abs());
        let (whole, fraction) = (units / UNIT.unsigned_abs(), units % UNIT.unsigned_abs());
        let fraction = format!("{fraction:020}");
        match fraction.trim_end_matches('0') {
            "" => write!(f, "{sign}{whole}"),
            digits => write!(f, "{sign}{whole}.{digits}"),
        }
    }
}

/// An annotation list; `raw` is how it stood in the file.
#[derive(Debug, Clone)]
pub(super) struct Tal {
    pub(super) onset: Decimal,
    /// As it is written.
    pub(super) duration: Option<String>,
    pub(super) texts: Vec<Vec<u8>>,
    raw: Option<Vec<u8>>,
}

impl Tal {
    /// A list that was in no file.
    pub(super) fn new(onset: Decimal, duration: Option<String>, text: Vec<u8>) -> Self {
        Self { onset, duration, texts: vec![text], raw: None }
    }

    /// How long its annotations last, in seconds.
    pub(super) fn lasts(&self) -> f64 {
        self.duration.as_ref().map_or(0.0, |text| text.parse().unwrap_or(0.0))
    }

    /// Without those of its texts that are gone.
    pub(super) fn without(mut self, is_gone: impl Fn(usize) -> bool) -> Self {
        let before = self.texts.len();
        let mut place = 0;
        self.texts.retain(|_| {
            place += 1;
            !is_gone(place - 1)
        });
        if self.texts.len() < before {
            self.raw = None;
        }
        self
    }

    fn encode(&self, content: &mut Vec<u8>) {
        if let Some(raw) = &self.raw {
            content.extend(raw);
            return;
        }
        let sign = if self.onset < Decimal::default() { "" } else { "+" };
        content.extend(format!("{sign}{}", self.onset).bytes());
        if let Some(duration) = &self.duration {
            content.push(LASTING);
            content.extend(duration.bytes());
        }
        for text in &self.texts {
            content.push(END);
            content.extend(text);
        }
        content.push(END);
    }
}

/// The lists of an annotation signal in a record.
pub(super) fn split_tals(file: &str, record: usize, content: &[u8]) -> Result<Vec<Tal>> {
    let pieces = content.split(|&byte| byte == 0).filter(|piece| !piece.is_empty());
    pieces
        .map(|piece| {
            parse(piece).ok_or_else(|| {
                let expected = "an annotation: onset, maybe duration, and texts";
                bad_bytes(file, format!("record {record}"), piece, expected)
            })
        })
        .collect()
}

fn parse(piece: &[u8]) -> Option<Tal> {
    let at = piece.iter().position(|&byte| byte == END)?;
    let (head, texts) = piece.split_at(at);
    let texts = texts[1..].strip_suffix(&[END])?;
    let head = std::str::from_utf8(head).ok().filter(|head| head.starts_with(['+', '-']))?;
    let (onset, duration) = match head.split_once(char::from(LASTING)) {
        Some((onset, duration)) => (onset, Some(duration)),
        None => (head, None),
    };
    let is_unsigned = |text: &&str| text.starts_with(|c: char| c.is_ascii_digit());
    if !duration.iter().all(|text| is_unsigned(text) && Decimal::parse(text).is_some()) {
        return None;
    }
    Some(Tal {
        onset: Decimal::parse(onset)?,
        duration: duration.map(str::to_owned),
        texts: texts.split(|&byte| byte == END).map(<[u8]>::to_vec).collect(),
        raw: Some(piece.to_vec()),
    })
}

/// The content of an annotation signal in a record.
pub(super) fn join_tals<'a>(tals: impl IntoIterator<Item = &'a Tal>) -> Vec<u8> {
    let mut content = Vec::new();
    for tal in tals {
        tal.encode(&mut content);
        content.push(0);
    }
    content
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_exact() {
        for (text, want) in [
            ("+1.50", "1.5"),
            ("-0.1", "-0.1"),
            ("00012", "12"),
            ("7.", "7"),
            ("5.333333333333333", "5.333333333333333"),
        ] {
            let decimal = Decimal::parse(text).unwrap();
            assert_eq!(decimal.to_string(), want);
            assert_eq!(decimal.to_f64(), want.parse::<f64>().unwrap());
        }
        let sum = Decimal::parse("0.1").unwrap() + Decimal::parse("0.2").unwrap();
        assert_eq!(sum.to_f64(), 0.3);
        for text in ["", "+", ".5", "1e5", "1.5.5", "--1", "123456789012345678", "nan"] {
            assert!(Decimal::parse(text).is_none(), "{text:?}");
        }
    }

    #[test]
    fn lists_are_kept_as_they_stood() {
        let content = b"+1.50\x152.0\x14c\x14\0\0-3\x14a\x14b\x14\0";
        let tals = split_tals("f", 0, content).unwrap();
        assert_eq!(join_tals(&tals), b"+1.50\x152.0\x14c\x14\0-3\x14a\x14b\x14\0");
        let less: Vec<Tal> = tals.into_iter().map(|tal| tal.without(|place| place == 1)).collect();
        assert_eq!(join_tals(&less), b"+1.50\x152.0\x14c\x14\0-3\x14a\x14\0");
        for piece in
            [&b"x\x14\x14"[..], b"1\x14a\x14", b"+1\x15-2\x14a\x14", b"+1\x14", b"+1\x15\x14\x14"]
        {
            assert!(parse(piece).is_none(), "{piece:?}");
        }
    }
}
