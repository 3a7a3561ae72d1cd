//! Numbers that may be infinite, which JSON does not allow: written as "inf" and "-inf".
//!
//! A rate frozen at 0 or 1 has the logit ∓∞; every other number stays a plain JSON number.

use std::fmt;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A number of the line extended by ±∞.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Extended(pub(super) f64);

impl Serialize for Extended {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            f64::INFINITY => serializer.serialize_str("inf"),
            f64::NEG_INFINITY => serializer.serialize_str("-inf"),
            finite => serializer.serialize_f64(finite),
        }
    }
}

impl<'de> Deserialize<'de> for Extended {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ExtendedVisitor)
    }
}

struct ExtendedVisitor;

impl Visitor<'_> for ExtendedVisitor {
    type Value = Extended;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, \"inf\" or \"-inf\"")
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Extended, E> {
        Ok(Extended(value))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Extended, E> {
        Ok(Extended(value as f64))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Extended, E> {
        Ok(Extended(value as f64))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Extended, E> {
        match value {
            "inf" => Ok(Extended(f64::INFINITY)),
            "-inf" => Ok(Extended(f64::NEG_INFINITY)),
            _ => Err(E::invalid_value(serde::de::Unexpected::Str(value), &self)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_but_nan_comes_back_to_the_bit() {
        let numbers = [
            (f64::NEG_INFINITY, "\"-inf\""),
            (f64::INFINITY, "\"inf\""),
            (-0.0, "-0.0"),
            (0.1 + 0.2, "0.30000000000000004"),
            (f64::from_bits(1), "5e-324"),
            (f64::MAX, "1.7976931348623157e+308"),
        ];
        for (number, text) in numbers {
            assert_eq!(serde_json::to_string(&Extended(number)).unwrap(), text);
            let back: Extended = serde_json::from_str(text).unwrap();
            assert_eq!(back.0.to_bits(), number.to_bits(), "{text}");
        }
        assert_eq!(serde_json::from_str::<Extended>("-3").unwrap(), Extended(-3.0));
    }

    #[test]
    fn other_words_are_refused() {
        for text in ["\"nan\"", "\"infinity\"", "\"1.0\"", "null", "NaN", "1e999", "[]"] {
            assert!(serde_json::from_str::<Extended>(text).is_err(), "{text}");
        }
        let error = serde_json::from_str::<Extended>("\"nan\"").unwrap_err().to_string();
        assert!(error.contains("expected a number, \"inf\" or \"-inf\""), "{error}");
    }
}
