//! Numeric times, read and written without losing a digit.

use super::clock::TimeUnit;

/// A finite number.
pub(super) fn number(text: &str) -> Option<f64> {
    text.parse::<f64>().ok().filter(|value| value.is_finite())
}

/// A number in `unit` as nanoseconds, exact if it has no finer digits.
pub(super) fn decimal(text: &str, unit: TimeUnit) -> Option<i128> {
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
    let whole = whole.parse::<i128>().ok().or(whole.is_empty().then_some(0))?;
    Some(sign * (whole * scale + places(fraction, scale)))
}

/// The digits behind the point as a share of `scale`, which is a power of ten.
pub(super) fn places(fraction: &str, scale: i128) -> i128 {
    let (mut moment, mut place) = (0, scale);
    for byte in fraction.bytes() {
        place /= 10;
        moment += i128::from(byte - b'0') * place;
    }
    moment
}

/// The shortest number in `unit` that reads as these seconds: 1.001 s in milliseconds is 1001, though the
/// product is slightly less.
pub(super) fn write_number(seconds: f64, unit: TimeUnit) -> String {
    let product = seconds * unit.per_second();
    let short = (product * 1e6).round() / 1e6;
    let same = short / unit.per_second() == seconds;
    format!("{}", if same { short } else { product })
}

/// Nanoseconds as a number in a unit of `scale` nanoseconds.
pub(super) fn write_decimal(moment: i128, scale: i128) -> String {
    let (size, scale) = (moment.unsigned_abs(), scale.unsigned_abs());
    let (whole, rest) = (size / scale, size % scale);
    let sign = if moment < 0 { "-" } else { "" };
    format!("{sign}{whole}{}", write_places(rest, scale))
}

/// A share of `scale` as the point and the digits behind it; empty if zero.
pub(super) fn write_places(rest: u128, scale: u128) -> String {
    if rest == 0 {
        return String::new();
    }
    let places = scale.ilog10() as usize;
    let fraction = format!("{rest:0places$}");
    format!(".{}", fraction.trim_end_matches('0'))
}
