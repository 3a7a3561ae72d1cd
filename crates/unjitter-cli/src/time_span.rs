//! Lengths of time on the command line, such as 180s, 2.5min or 250ms.

use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Units of time by their names, in seconds; one that another ends with comes after it.
const UNITS: [(&str, f64); 4] = [("ms", 1e-3), ("min", 60.0), ("h", 3600.0), ("s", 1.0)];

/// Seconds, and the unit that they were given in: `usual` if there is none.
pub(crate) fn number_and_unit(text: &str, usual: f64) -> Option<(f64, f64)> {
    let text = text.trim();
    let named = UNITS.iter().find_map(|(name, unit)| Some((text.strip_suffix(name)?, *unit)));
    let (number, unit) = named.unwrap_or((text, usual));
    let seconds = number.trim().parse::<f64>().ok()? * unit;
    seconds.is_finite().then_some((seconds, unit))
}

/// A length of time above 0.
#[derive(Debug, Clone)]
pub(crate) struct TimeSpan {
    /// As it was given.
    text: String,
    pub(crate) seconds: f64,
}

impl FromStr for TimeSpan {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let given = number_and_unit(text, 1.0).filter(|(seconds, _)| *seconds > 0.0);
        let expected = "expected a time above 0, like 180s or 3min; units are s, ms, min and h";
        let (seconds, _) = given.ok_or(expected)?;
        Ok(Self { text: text.to_owned(), seconds })
    }
}

impl Serialize for TimeSpan {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.text.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for TimeSpan {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units_or_are_seconds() {
        for (text, seconds) in [("180s", 180.0), ("3 min", 180.0), ("250ms", 0.25), ("1e2", 100.0)]
        {
            let found = text.parse::<TimeSpan>().unwrap().seconds;
            // One multiplication: rounding only.
            assert!((found - seconds).abs() < 1e-12, "{text}: {found}");
        }
        for text in ["", "s", "0", "-3s", "nan", "inf", "3 days", "1..2s", "1e308h"] {
            let error = text.parse::<TimeSpan>().unwrap_err();
            assert!(error.contains("like 180s"), "{text}: {error}");
        }
    }
}
