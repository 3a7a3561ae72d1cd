//! Numbers formatted for people.

use std::fmt::Write as _;

use unjitter::model::Estimate;

/// A number with three significant digits.
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

/// Lateness of presses: the mean, and the standard deviation of a single press, which must not be read as
/// the error of the mean.
pub(crate) fn lateness(delay: f64, spread: f64) -> String {
    let (delay, spread) = (side(delay), seconds(spread));
    format!("{delay} on average, single presses scatter by {spread} (standard deviation)")
}

/// "1.9 s late".
pub(crate) fn side(delay: f64) -> String {
    format!("{} {}", seconds(delay.abs()), if delay >= 0.0 { "late" } else { "early" })
}

/// An interval behind a number, if there is one: " (95 %: 1.6 s to 2.2 s)".
pub(crate) fn interval(estimate: Option<Estimate>, show: impl Fn(f64) -> String) -> String {
    estimate
        .map_or(String::new(), |own| format!(" (95 %: {} to {})", show(own.low), show(own.high)))
}

/// A share as a percentage.
pub(crate) fn percent(share: f64) -> String {
    if share > 0.0 && share < 1e-4 {
        return "less than 0.01 %".to_owned();
    }
    format!("{} %", number(100.0 * share))
}

/// A rate per second, by the hour.
pub(crate) fn per_hour(rate: f64) -> String {
    let rate = 3600.0 * rate;
    match rate > 0.0 && rate < 0.01 {
        true => "less than 0.01 times per hour".to_owned(),
        false => format!("{} times per hour", number(rate)),
    }
}

/// Appends a probability with six places, exactly as `{:.6}`. That formats numbers of any size at some
/// cost; for 0 to 1, as in every line of a prediction, whole numbers give the same digits faster.
pub(crate) fn write_probability(text: &mut String, p: f64) {
    let Some(mut rest) = millionths(p) else {
        let _ = write!(text, "{p:.6}");
        return;
    };
    let mut digits = ['0'; 8];
    for place in [7, 6, 5, 4, 3, 2, 0] {
        digits[place] = char::from(b'0' + (rest % 10) as u8);
        rest /= 10;
    }
    digits[1] = '.';
    text.extend(digits);
}

/// 10⁶·p rounded to the nearest whole number, ties to even, for p from 0 to 1.
fn millionths(p: f64) -> Option<u32> {
    if p.is_sign_negative() || !(0.0..=1.0).contains(&p) {
        return None;
    }
    // p = fraction / 2^shift, to the bit.
    let exponent = (p.to_bits() >> 52) as u32;
    let fraction = p.to_bits() & ((1 << 52) - 1);
    let (fraction, shift) =
        if exponent == 0 { (fraction, 1074) } else { (fraction | 1 << 52, 1075 - exponent) };
    if shift >= 127 {
        return Some(0);
    }
    let product = u128::from(fraction) * 1_000_000;
    let (whole, rest, half) =
        (product >> shift, product & ((1 << shift) - 1), 1u128 << (shift - 1));
    let up = rest > half || (rest == half && whole % 2 == 1);
    Some(whole as u32 + u32::from(up))
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
pub fn counted(value: usize, thing: &str) -> String {
    format!("{} {thing}{}", count(value), if value == 1 { "" } else { "s" })
}

/// The names of a list that may be long.
pub(crate) fn few(names: &[String]) -> String {
    /// Most names that are said.
    const SAID: usize = 12;
    let said = names[..names.len().min(SAID)].join(", ").replace(char::is_control, "?");
    match names.len().saturating_sub(SAID) {
        0 => said,
        more => format!("{said} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_are_rounded_like_any_number() {
        let mut random = unjitter::math::Random::new(3);
        let exact = (0..=1 << 13).map(|k| f64::from(k) / f64::from(1 << 13));
        let near = (0..200_000).map(|k| (f64::from(k) + 0.5) / 200_000.0);
        let any: Vec<f64> = (0..20_000).map(|_| random.uniform()).collect();
        let small = (0..1080).map(|k| 0.7f64.powi(k));
        let odd = [-0.0, 1.5, -0.25, f64::NAN, f64::INFINITY, f64::MIN_POSITIVE, 5e-324, 5e-7];
        for p in exact.chain(near).chain(any).chain(small).chain(odd) {
            for p in [p, p.next_down(), p.next_up()] {
                let mut text = String::new();
                write_probability(&mut text, p);
                assert_eq!(text, format!("{p:.6}"));
            }
        }
    }

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
