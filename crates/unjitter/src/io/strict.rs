//! Sections of a file that must hold every field there is, and no other.
//!
//! The types of a model take defaults for what is left out, which is kind to people who write
//! settings. In a file that the program wrote, a missing or unknown field is a sign of damage or of
//! another version. So what was read is written again, and both must have the same keys.

use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// A value read from its complete form only.
#[derive(Debug, Clone, Serialize)]
#[serde(transparent)]
pub(super) struct Strict<T>(pub(super) T);

impl<'de, T: DeserializeOwned + Serialize> Deserialize<'de> for Strict<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let found = Value::deserialize(deserializer)?;
        let read = T::deserialize(&found).map_err(D::Error::custom)?;
        let complete = serde_json::to_value(&read).map_err(D::Error::custom)?;
        compare_keys(&complete, &found, &mut Vec::new()).map_err(D::Error::custom)?;
        Ok(Self(read))
    }
}

/// The first key that one of the two lacks, with its path.
fn compare_keys<'a>(
    complete: &'a Value,
    found: &'a Value,
    path: &mut Vec<&'a str>,
) -> Result<(), String> {
    match (complete, found) {
        (Value::Object(complete), Value::Object(found)) => {
            if let Some(key) = found.keys().find(|&key| !complete.contains_key(key)) {
                return Err(format!("unknown field `{}`", join(path, key)));
            }
            for (key, complete) in complete {
                let Some(found) = found.get(key) else {
                    return Err(format!("missing field `{}`", join(path, key)));
                };
                path.push(key);
                compare_keys(complete, found, path)?;
                path.pop();
            }
            Ok(())
        }
        (Value::Array(complete), Value::Array(found)) => {
            complete.iter().zip(found).try_for_each(|(c, f)| compare_keys(c, f, path))
        }
        _ => Ok(()),
    }
}

fn join(path: &[&str], key: &str) -> String {
    path.iter().copied().chain([key]).collect::<Vec<_>>().join(".")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::Model;

    #[test]
    fn missing_and_unknown_fields_are_named_with_their_path() {
        let complete =
            serde_json::to_value(Model::default().freeze("noise.delay", &[0.0])).unwrap();
        let read = |value: Value| {
            serde_json::from_value::<Strict<Model>>(value).map_err(|error| error.to_string())
        };
        assert!(read(complete.clone()).is_ok());
        let mut missing = complete.clone();
        missing["priors"].as_object_mut().unwrap().remove("delay");
        assert_eq!(read(missing).unwrap_err(), "missing field `priors.delay`");
        let mut unknown = complete.clone();
        unknown["priors"]["hit_rate"]["c"] = json!(1.0);
        assert_eq!(read(unknown).unwrap_err(), "unknown field `priors.hit_rate.c`");
        let mut unknown = complete;
        unknown["classifier"]["hidden"] = json!([3]);
        assert_eq!(read(unknown).unwrap_err(), "unknown field `classifier.hidden`");
    }
}
