//! Notes that travel with a fitted model.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::{Error, Fitted, Result};

/// Most bytes of all notes of a model as JSON: they include names of features, of which the header of a
/// table may have some 16 MiB.
pub(super) const MAX_BYTES: usize = 32 << 20;
/// Deepest nesting of a note, far below the limit of the JSON reader.
const MAX_DEPTH: usize = 32;

impl Fitted {
    /// Notes about the model: its origin, how it was made. The library ignores them.
    pub fn metadata(&self) -> &BTreeMap<String, Value> {
        &self.metadata
    }

    /// Adds a note, or replaces the one of that key. All notes together take at most 32 MiB as JSON and
    /// nest at most 32 deep; after an error they are unchanged.
    pub fn set_metadata(&mut self, key: impl Into<String>, value: impl Into<Value>) -> Result<()> {
        let (key, value) = (key.into(), value.into());
        let mut noted = self.metadata.clone();
        noted.insert(key, value);
        check_metadata(&noted)?;
        self.metadata = noted;
        Ok(())
    }

    /// The same model with a note; see [`set_metadata`](Self::set_metadata).
    pub fn with_metadata(
        mut self,
        key: impl Into<String>,
        value: impl Into<Value>,
    ) -> Result<Self> {
        self.set_metadata(key, value)?;
        Ok(self)
    }
}

/// Checks notes against the limits of [`Fitted::set_metadata`], before there is a model.
pub fn check_metadata(metadata: &BTreeMap<String, Value>) -> Result<()> {
    let out_of_range = |name: String, value: usize, expected| {
        Err(Error::OutOfRange { name, value: value as f64, expected })
    };
    // Depth first: serialising a value takes stack for every level.
    if let Some((key, _)) = metadata.iter().find(|(_, value)| is_deeper(value, MAX_DEPTH)) {
        return out_of_range(format!("depth of metadata {key}"), MAX_DEPTH + 1, "at most 32");
    }
    let bytes = serde_json::to_vec(metadata).expect("keys are strings").len();
    if bytes > MAX_BYTES {
        return out_of_range(
            "size of metadata".to_owned(),
            bytes,
            "at most 33554432 bytes as JSON",
        );
    }
    Ok(())
}

fn is_deeper(value: &Value, depth: usize) -> bool {
    match value {
        Value::Array(_) | Value::Object(_) if depth == 0 => true,
        Value::Array(values) => values.iter().any(|value| is_deeper(value, depth - 1)),
        Value::Object(entries) => entries.values().any(|value| is_deeper(value, depth - 1)),
        _ => false,
    }
}
