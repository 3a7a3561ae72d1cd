//! A first check of a model file: its declared format, and the size of its small sections.
//!
//! The check stores nothing, so it is safe on any bytes. It comes first, because a file of another version may
//! have other fields, and because serde copies some sections into trees that take many times their size on disk.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::metadata;
use super::model_file::{FORMAT, VERSION, broken, syntax};
use crate::{Error, Result};

/// Most values in a section beside parameters and classifier: a tree of so many takes some 200 MB.
const MAX_VALUES: usize = 4_000_000;
/// Most bytes of text in it: twice the limit of notes, which have a check of their own.
const MAX_TEXT: usize = 2 * metadata::MAX_BYTES;
/// Most characters of another format that a message shows.
const MAX_KEPT: usize = 80;

#[derive(Debug, Default, Deserialize)]
#[serde(default, expecting = "an object with the fields of a model file")]
pub(super) struct Header<'a> {
    #[serde(borrow)]
    format: Option<&'a RawValue>,
    version: Option<&'a RawValue>,
    metadata: Option<&'a RawValue>,
    model: Option<&'a RawValue>,
    outcome: Option<&'a RawValue>,
    warnings: Option<&'a RawValue>,
    modes: Option<&'a RawValue>,
}

impl<'a> Header<'a> {
    /// Checks that `text` is a model file of this version without oversized sections.
    pub(super) fn of(text: &'a str) -> Result<Self> {
        let header: Self = serde_json::from_str(text).map_err(|error| syntax(&error))?;
        match header.format.map(RawValue::get) {
            None => return Err(broken("format", format!("missing, expected \"{FORMAT}\""))),
            Some(format) if format == format!("\"{FORMAT}\"") => {}
            Some(other) => {
                let other: String = other.chars().take(MAX_KEPT).collect();
                return Err(broken("format", format!("it is {other}, expected \"{FORMAT}\"")));
            }
        }
        match header.version.map(|version| serde_json::from_str(version.get())) {
            None => return Err(broken("version", format!("missing, expected {VERSION}"))),
            Some(Ok(1..=VERSION)) => {}
            Some(Ok(found)) => {
                let place = "version".to_owned();
                return Err(Error::ModelVersion { place, found, expected: VERSION });
            }
            Some(Err(_)) => return Err(broken("version", "expected a whole number".to_owned())),
        }
        let Self { metadata, model, outcome, warnings, modes, .. } = header;
        check_size("metadata", metadata)?;
        check_size("model", model)?;
        check_size("outcome", outcome)?;
        check_size("warnings", warnings)?;
        check_size("modes", modes)?;
        Ok(header)
    }

    /// Checks that `model`, which was read from here, used no defaults. Defaults help people who write
    /// settings; in a file that a program wrote, a missing field is a sign of damage.
    pub(super) fn check_complete(&self, model: &impl Serialize) -> Result<()> {
        let is_first = self.version.is_some_and(|version| version.get() == "1");
        let Some(found) = self.model.filter(|_| !is_first) else { return Ok(()) };
        let found = serde_json::from_str(found.get()).map_err(|error| syntax(&error))?;
        let complete = serde_json::to_value(model).map_err(|error| syntax(&error))?;
        match missing(&complete, &found) {
            None => Ok(()),
            Some(path) => Err(broken("model", format!("missing field `{path}`"))),
        }
    }
}

fn check_size(name: &str, section: Option<&RawValue>) -> Result<()> {
    let (values, text) = section.map_or((0, 0), |section| size(section.get()));
    if values > MAX_VALUES {
        return Err(broken(name, format!("{values} values, expected at most {MAX_VALUES}")));
    }
    if text > MAX_TEXT {
        return Err(broken(name, format!("{text} bytes of text, expected at most {MAX_TEXT}")));
    }
    Ok(())
}

/// Number of values in JSON, including keys, and bytes of its strings: every value but the first follows
/// one of four characters.
fn size(json: &str) -> (usize, usize) {
    let (mut values, mut text, mut in_string, mut escaped) = (1, 0, false, false);
    for byte in json.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => in_string = !in_string,
            b'[' | b'{' | b',' | b':' if !in_string => values += 1,
            _ => {}
        }
        text += usize::from(in_string);
    }
    (values, text)
}

/// The path of the first key of `complete` that `found` lacks.
fn missing(complete: &Value, found: &Value) -> Option<String> {
    match (complete, found) {
        (Value::Object(complete), Value::Object(found)) => {
            complete.iter().find_map(|(key, value)| {
                let Some(found) = found.get(key) else { return Some(key.clone()) };
                missing(value, found).map(|path| format!("{key}.{path}"))
            })
        }
        (Value::Array(complete), Value::Array(found)) => {
            complete.iter().zip(found).find_map(|(complete, found)| missing(complete, found))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_and_text_are_counted_outside_and_inside_of_strings() {
        assert_eq!(size("3"), (1, 0));
        assert_eq!(size("[1, 2, 3]"), (4, 0));
        // Every opening quote counts as a byte of text.
        assert_eq!(size(r#"{"a": "b,[{:", "c": [4]}"#), (6, 2 + 6 + 2));
        assert_eq!(size(r#"["\"],[", 1]"#), (3, 6));
    }
}
