//! A first look at a model file: what it says it is, and how large its small sections are.
//!
//! The look keeps nothing, so it is safe on any bytes. It comes before everything else, because a
//! file of another version may have other fields, and because serde copies some sections into trees
//! that take many times their room on disk.

use std::fmt;

use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::metadata;
use super::model_file::{FORMAT, VERSION, broken, syntax};
use crate::{Error, Result};

/// Most values in a section beside parameters and classifier: a tree of so many takes some 200 MB.
const MAX_VALUES: usize = 4_000_000;
/// Most bytes of text in it: twice what notes may take, which are looked at more closely.
const MAX_TEXT: usize = 2 * metadata::MAX_BYTES;
/// Longest string that is kept for a message.
const MAX_KEPT: usize = 80;

#[derive(Debug, Default, Deserialize)]
#[serde(default, expecting = "an object with the fields of a model file")]
struct Header {
    format: Glance,
    version: Glance,
    metadata: Glance,
    model: Glance,
    outcome: Glance,
    warnings: Glance,
}

/// Checks that `text` is a model file of this version without oversized sections.
pub(super) fn check(text: &str) -> Result<()> {
    let header: Header = serde_json::from_str(text).map_err(|error| syntax(&error))?;
    match header.format.seen {
        Seen::Nothing => return Err(broken("format", format!("missing, expected \"{FORMAT}\""))),
        Seen::Text(format) if format == FORMAT => {}
        Seen::Text(other) => {
            return Err(broken("format", format!("it is \"{other}\", expected \"{FORMAT}\"")));
        }
        _ => return Err(broken("format", format!("expected \"{FORMAT}\""))),
    }
    match header.version.seen {
        Seen::Whole(VERSION) => {}
        Seen::Whole(found) => return Err(Error::ModelVersion { found, expected: VERSION }),
        Seen::Nothing => return Err(broken("version", format!("missing, expected {VERSION}"))),
        _ => return Err(broken("version", "expected a whole number".to_owned())),
    }
    let sections = [
        ("metadata", header.metadata),
        ("model", header.model),
        ("outcome", header.outcome),
        ("warnings", header.warnings),
    ];
    for (name, Glance { values, text, .. }) in sections {
        if values > MAX_VALUES {
            return Err(broken(name, format!("{values} values, expected at most {MAX_VALUES}")));
        }
        if text > MAX_TEXT {
            let problem = format!("{text} bytes of text, expected at most {MAX_TEXT}");
            return Err(broken(name, problem));
        }
    }
    Ok(())
}

/// What one look at a value tells.
#[derive(Debug, Default)]
struct Glance {
    seen: Seen,
    /// Values in it, itself included.
    values: usize,
    /// Bytes of its strings.
    text: usize,
}

impl Glance {
    /// One value with some bytes of text.
    fn of(seen: Seen, text: usize) -> Self {
        Self { seen, values: 1, text }
    }

    fn add(&mut self, inner: &Self) {
        self.values += inner.values;
        self.text += inner.text;
    }
}

#[derive(Debug, Default)]
enum Seen {
    #[default]
    Nothing,
    Text(String),
    Whole(u64),
    Other,
}

impl<'de> Deserialize<'de> for Glance {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_any(Look)
    }
}

struct Look;

impl<'de> Visitor<'de> for Look {
    type Value = Glance;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_unit<E>(self) -> std::result::Result<Glance, E> {
        Ok(Glance::of(Seen::Other, 0))
    }

    fn visit_bool<E>(self, _: bool) -> std::result::Result<Glance, E> {
        Ok(Glance::of(Seen::Other, 0))
    }

    fn visit_i64<E>(self, _: i64) -> std::result::Result<Glance, E> {
        Ok(Glance::of(Seen::Other, 0))
    }

    fn visit_f64<E>(self, _: f64) -> std::result::Result<Glance, E> {
        Ok(Glance::of(Seen::Other, 0))
    }

    fn visit_u64<E>(self, value: u64) -> std::result::Result<Glance, E> {
        Ok(Glance::of(Seen::Whole(value), 0))
    }

    fn visit_str<E>(self, value: &str) -> std::result::Result<Glance, E> {
        let kept = value.chars().take(MAX_KEPT).collect();
        Ok(Glance::of(Seen::Text(kept), value.len()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> std::result::Result<Glance, A::Error> {
        let mut all = Glance::of(Seen::Other, 0);
        while let Some(item) = items.next_element::<Glance>()? {
            all.add(&item);
        }
        Ok(all)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut items: A) -> std::result::Result<Glance, A::Error> {
        let mut all = Glance::of(Seen::Other, 0);
        while let Some((key, item)) = items.next_entry::<Glance, Glance>()? {
            all.add(&key);
            all.add(&item);
        }
        Ok(all)
    }
}
