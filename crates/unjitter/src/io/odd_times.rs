//! Times as people and spreadsheets write them: recognised by name, but not read.
//!
//! A time that can mean two moments is worse than an error. So none of these is guessed: the message
//! names the form and what to write instead.

use super::clock::{Clock, TimeUnit};

/// The expected form of a time, in words.
const A_TIME: &str = "a time: a number, or a date like 2024-05-31T14:03:27.5";

/// Days since 1900 of the years 1954 to 2119, as spreadsheets store dates.
pub(super) fn may_be_days(days: f64) -> bool {
    (20_000.0..80_000.0).contains(&days)
}

/// Refuses times that look like days rather than seconds: their mean step is below `shortest`.
pub(super) fn refuse_days(clock: &Clock, times: &[f64], shortest: f64) -> Result<(), String> {
    let (Some(&first), Some(&last)) = (times.first(), times.last()) else { return Ok(()) };
    let step = (last - first) / (times.len() - 1).max(1) as f64;
    let in_seconds = clock.unit() == Some(TimeUnit::S) && step > 0.0 && step < shortest;
    if !in_seconds || !may_be_days(first) {
        return Ok(());
    }
    Err(format!(
        "times such as {} look like days, as spreadsheets count them, {:.3} s apart; write dates \
         like 2024-05-31T14:03:27, or seconds, which are days times 86400",
        clock.write(last),
        86_400.0 * step
    ))
}

/// The expected form instead of `text`, which is not a time.
pub(super) fn expected(text: &str) -> String {
    named(text).unwrap_or_else(|| A_TIME.to_owned())
}

/// The same, if `text` has a known form.
pub(super) fn named(text: &str) -> Option<String> {
    let shape = Shape::of(text)?;
    let told = match shape.text.as_str() {
        "n,n" => format!("it has a decimal comma: write {}", text.replacen(',', ".", 1)),
        "n:n:n,n" => format!("it has a decimal comma: write {}", text.replacen(',', ".", 1)),
        "n:n" => format!(
            "it may be hours and minutes, or minutes and seconds: write {text}:00 or 0:{text}"
        ),
        "n:n.n" => format!(
            "it looks like minutes and seconds without the hour, as spreadsheets save them: write \
             0:{text} if the hour is 0"
        ),
        _ => shape.clock_of_twelve(&shape.text).or_else(|| shape.date())?,
    };
    Some(format!("a time that can be read; {told}"))
}

/// The expected form instead of a number in `unit` that is a date in disguise.
pub(super) fn as_number(text: &str, unit: TimeUnit) -> Option<String> {
    let digits = text.split('.').next()?;
    // In smaller units such a number may count from the start of a device.
    let is_long = matches!(unit, TimeUnit::S | TimeUnit::Ms) && digits.len() == 14;
    if !is_long || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let part = |from: usize, to: usize| digits[from..to].parse::<u32>().unwrap_or(u32::MAX);
    let fits = (1900..2200).contains(&part(0, 4))
        && (1..=12).contains(&part(4, 6))
        && (1..=31).contains(&part(6, 8))
        && part(8, 10) < 24
        && part(10, 12) < 60
        && part(12, 14) < 60;
    fits.then(|| {
        let [year, month, day, hour, minute, second] =
            [(0, 4), (4, 6), (6, 8), (8, 10), (10, 12), (12, 14)].map(|(a, b)| &digits[a..b]);
        let rest = &text[digits.len()..];
        format!(
            "a time that can be read; it looks like a date without separators: write \
             {year}-{month}-{day}T{hour}:{minute}:{second}{rest}"
        )
    })
}

/// A text with every run of digits as `n` and every run of letters as `w`.
struct Shape<'a> {
    text: String,
    numbers: Vec<&'a str>,
    words: Vec<&'a str>,
}

/// Longest text that may be a time.
const LONGEST: usize = 60;

impl<'a> Shape<'a> {
    fn of(text: &'a str) -> Option<Self> {
        let is_short = text.len() <= LONGEST && text.bytes().any(|byte| byte.is_ascii_digit());
        if !is_short {
            return None;
        }
        let mut shape = Self { text: String::new(), numbers: Vec::new(), words: Vec::new() };
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let is_digit = |c: char| c.is_ascii_digit();
            let end = match first {
                _ if is_digit(first) => rest.find(|c| !is_digit(c)),
                _ if first.is_alphabetic() => rest.find(|c: char| !c.is_alphabetic()),
                _ => Some(first.len_utf8()),
            };
            let (run, behind) = rest.split_at(end.unwrap_or(rest.len()));
            if is_digit(first) {
                shape.numbers.push(run);
                shape.text.push('n');
            } else if first.is_alphabetic() {
                shape.words.push(run);
                shape.text.push('w');
            } else {
                shape.text.push(first);
            }
            rest = behind;
        }
        Some(shape)
    }

    /// A time of day with AM or PM: `shape` is that of the end of the text.
    fn clock_of_twelve(&self, shape: &str) -> Option<String> {
        let time = self.time(shape)?;
        self.afternoon()?;
        let example = time.unwrap_or_else(|| "14:03:27".to_owned());
        Some(format!("it is on the clock of twelve hours: write {example}"))
    }

    /// Whether AM or PM is given, and which.
    fn afternoon(&self) -> Option<bool> {
        let last = self.words.last()?.to_ascii_lowercase();
        match last.as_str() {
            "am" => Some(false),
            "pm" => Some(true),
            _ => None,
        }
    }

    /// The time of day at the end of a text, in 24 hours with seconds. The outer value is present if it
    /// has the shape of a time, the inner one if that time exists.
    fn time(&self, shape: &str) -> Option<Option<String>> {
        let bare = shape.trim_end_matches('w').trim_end();
        let count = match bare {
            "n:n" => 2,
            "n:n:n" => 3,
            "n:n:n.n" | "n:n:n,n" => 4,
            _ => return None,
        };
        let parts = &self.numbers[self.numbers.len() - count..];
        let value = |k: usize| parts.get(k).map_or(Some(0), |part| part.parse::<u32>().ok());
        let [Some(hour), Some(minute), Some(second)] = [value(0), value(1), value(2)] else {
            return Some(None);
        };
        let hour = match self.afternoon() {
            Some(_) if !(1..=12).contains(&hour) => return Some(None),
            Some(afternoon) => hour % 12 + if afternoon { 12 } else { 0 },
            None => hour,
        };
        let rest = parts.get(3).map_or(String::new(), |rest| format!(".{rest}"));
        let is_time = hour < 24 && minute < 60 && second < 60;
        Some(is_time.then(|| format!("{hour:02}:{minute:02}:{second:02}{rest}")))
    }

    /// A date in another order than year, month, day, with another separator or without a time.
    fn date(&self) -> Option<String> {
        let by_word = self.words.iter().any(|word| is_month(word));
        if by_word && self.numbers.len() >= 2 {
            return Some("its month is a word: write it like 2024-05-31T14:03:27".to_owned());
        }
        let separator = ['/', '.', '-']
            .into_iter()
            .find(|separator| self.text.starts_with(&format!("n{separator}n{separator}n")))?;
        let behind = self.text[5..].trim_start_matches([' ', ',', 'w']);
        let time = match behind {
            "" => None,
            _ => self.time(behind).flatten(),
        };
        let [first, second, third] = self.numbers[..3] else { return None };
        let write = |year: &str, month: u32, day: u32| {
            let time = time.clone().unwrap_or_else(|| "14:03:27".to_owned());
            format!("{year}-{month:02}-{day:02}T{time}")
        };
        let [a, b, c] = [first, second, third].map(|part| part.parse::<u32>().unwrap_or(u32::MAX));
        let may_be = |month: u32, day: u32| (1..=12).contains(&month) && (1..=31).contains(&day);
        if first.len() == 4 {
            return self.year_first(separator, may_be(b, c).then(|| write(first, b, c)));
        }
        if !matches!(third.len(), 2 | 4) {
            return None;
        }
        let year = if third.len() == 4 { third.to_owned() } else { format!("20{third}") };
        // With points, the day always comes first.
        let month_first = may_be(a, b) && separator != '.';
        Some(match (may_be(b, a), month_first) {
            (true, true) if a != b => format!(
                "whether the day or the month is first cannot be told: write {} or {}",
                write(&year, b, a),
                write(&year, a, b)
            ),
            (true, _) => {
                format!("it looks like a date with the day first: write {}", write(&year, b, a))
            }
            (false, true) => {
                format!("it looks like a date with the month first: write {}", write(&year, a, b))
            }
            (false, false) => return None,
        })
    }

    /// A date that begins with the year but still cannot be read.
    fn year_first(&self, separator: char, written: Option<String>) -> Option<String> {
        let written = written?;
        if self.text == format!("n{separator}n{separator}n") {
            return Some(format!("it is a date without a time of day: write it like {written}"));
        }
        let zone = self.words.last().filter(|word| !matches!(**word, "T" | "t" | "Z" | "z"));
        if zone.is_some() && self.afternoon().is_none() {
            return Some("its zone is a name: write an offset such as +02:00, or Z".to_owned());
        }
        Some(format!("write it like {written}"))
    }
}

/// Whether a word begins like the English name of a month.
fn is_month(word: &str) -> bool {
    let months =
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let start: String = word.chars().take(3).flat_map(char::to_lowercase).collect();
    months.contains(&start.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_times_are_known_by_name() {
        for (text, told) in [
            ("12,5", "it has a decimal comma: write 12.5"),
            ("14:03:27,5", "it has a decimal comma: write 14:03:27.5"),
            ("12:30", "hours and minutes, or minutes and seconds: write 12:30:00 or 0:12:30"),
            ("03:27.5", "minutes and seconds without the hour, as spreadsheets save them"),
            ("2:03:27 PM", "on the clock of twelve hours: write 14:03:27"),
            ("12:03am", "on the clock of twelve hours: write 00:03:00"),
            ("05/31/2024 2:03 PM", "with the month first: write 2024-05-31T14:03:00"),
            ("31/05/2024 14:03:27.25", "with the day first: write 2024-05-31T14:03:27.25"),
            ("31/05/24 14:03", "with the day first: write 2024-05-31T14:03:00"),
            ("05/05/2024, 14:03", "with the day first: write 2024-05-05T14:03:00"),
            (
                "05/06/2024 14:03",
                "whether the day or the month is first cannot be told: write \
                 2024-06-05T14:03:00 or 2024-05-06T14:03:00",
            ),
            ("05.06.2024 14:03:27", "with the day first: write 2024-06-05T14:03:27"),
            ("31-05-2024T14:03:27", "with the day first: write 2024-05-31T14:03:27"),
            ("2024/05/31 14:03:27", "write it like 2024-05-31T14:03:27"),
            ("2024-05-31", "a date without a time of day: write it like 2024-05-31T14:03:27"),
            ("2024-05-31T14:03:27[Europe/Vienna]", "its zone is a name: write an offset"),
            ("2024-05-31 14:03:27 CEST", "its zone is a name: write an offset"),
            ("2024-05-31 2:03:27 PM", "write it like 2024-05-31T14:03:27"),
            ("31 May 2024 14:03", "its month is a word"),
            ("May 31, 2024 2:03 PM", "its month is a word"),
        ] {
            let found = named(text).unwrap_or_else(|| panic!("{text} has no name"));
            assert!(found.starts_with("a time that can be read; "), "{found}");
            assert!(found.contains(told), "{text}: {found}");
        }
    }

    #[test]
    fn what_has_no_name_gets_none() {
        for text in
            ["", "noon", "1.2.3", "1/2", "99/99/2024", "32.13.2024", "a1", "n:n", "é:1", "12:30:"]
        {
            assert_eq!(named(text), None, "{text}");
        }
        assert!(named(&"1/".repeat(1000)).is_none());
    }

    #[test]
    fn days_are_not_taken_for_seconds() {
        let clock = Clock::default();
        let days: Vec<f64> = (0..50).map(|k| 45_443.585_764 + 3.5e-5 * f64::from(k)).collect();
        let told = refuse_days(&clock, &days, 0.01).unwrap_err();
        assert!(told.contains("45443.587479 look like days") && told.contains("3.024 s"), "{told}");
        // Seconds since midnight, and windows some milliseconds apart that begin at zero.
        for (start, step) in [(45_443.5, 0.5), (0.0, 3.5e-5), (45_443.5, 0.0), (90_000.0, 1e-5)] {
            let times: Vec<f64> = (0..50).map(|k| start + step * f64::from(k)).collect();
            assert_eq!(refuse_days(&clock, &times, 0.01), Ok(()), "{start} {step}");
        }
        assert_eq!(refuse_days(&clock, &[45_443.5], 0.01), Ok(()));
    }

    #[test]
    fn dates_without_separators_are_no_numbers() {
        for unit in [TimeUnit::S, TimeUnit::Ms] {
            let found = as_number("20240531140327.5", unit).unwrap();
            assert!(found.ends_with("write 2024-05-31T14:03:27.5"), "{found}");
            for text in ["20241331140327", "1717164207500", "20240531", "-20240531140327", "1e14"] {
                assert_eq!(as_number(text, unit), None, "{text}");
            }
        }
        assert_eq!(as_number("20240531140327", TimeUnit::Us), None);
    }
}
