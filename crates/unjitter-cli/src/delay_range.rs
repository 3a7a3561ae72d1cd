//! `--delay`: the range of delays that is likely, such as 0.2..3s.

use std::str::FromStr;

use serde::{Serialize, Serializer};

use crate::time_span::number_and_unit;

/// A range of delays.
#[derive(Debug, Clone)]
pub(crate) struct DelayRange {
    /// As it was given.
    text: String,
    /// Earliest and latest, in seconds.
    pub(crate) seconds: (f64, f64),
}

impl FromStr for DelayRange {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            "expected the earliest and the latest delay, like 0.2..3s or -500ms..2s; units are s, \
             ms, min and h"
        };
        let (earliest, latest) = text.split_once("..").ok_or_else(wrong)?;
        let (latest, unit) = number_and_unit(latest, 1.0).ok_or_else(wrong)?;
        let (earliest, _) = number_and_unit(earliest, unit).ok_or_else(wrong)?;
        if earliest >= latest {
            return Err("expected the earliest delay first, and the latest above it".to_owned());
        }
        Ok(Self { text: text.to_owned(), seconds: (earliest, latest) })
    }
}

impl Serialize for DelayRange {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.text.serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_may_have_units_and_share_one() {
        for (text, earliest, latest) in [
            ("0.2..3s", 0.2, 3.0),
            ("200ms..3s", 0.2, 3.0),
            ("-500..250ms", -0.5, 0.25),
            ("-2 .. -1", -2.0, -1.0),
            ("1..2min", 60.0, 120.0),
            ("30min..1h", 1800.0, 3600.0),
        ] {
            let (from, to) = text.parse::<DelayRange>().unwrap().seconds;
            // One multiplication: rounding only.
            assert!((from - earliest).abs() < 1e-12 && (to - latest).abs() < 1e-12, "{text}");
        }
    }

    #[test]
    fn other_ranges_are_refused() {
        for text in ["", "..", "3s", "0.2-3s", "1..x", "1..2d", "nan..2", "0..inf", "0..1e308h"] {
            let error = text.parse::<DelayRange>().unwrap_err();
            assert!(error.contains("like 0.2..3s"), "{text}: {error}");
        }
        for text in ["3..0.2s", "1..1"] {
            let error = text.parse::<DelayRange>().unwrap_err();
            assert!(error.contains("earliest delay first"), "{text}: {error}");
        }
    }
}
