//! A first look at a model file: what it says it is, and how large its small sections are.
//!
//! The look keeps nothing, so it is safe on any bytes. It comes before everything else, because a
//! file of another version may have other fields, and because serde copies some sections into trees
//! that take many times their room on disk.

use std::fmt;

use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::model_file::{FORMAT, VERSION, broken, syntax};
use crate::{Error, Result};

/// Largest section beside parameters and classifier: values and bytes of text, added up. A tree of
/// so many values takes some 200 MB.
const MAX_SECTION: usize = 4_000_000;
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
    match sections.into_iter().find(|(_, section)| section.size > MAX_SECTION) {
        None => Ok(()),
        Some((name, Glance { size, .. })) => {
            let problem =
                format!("{size} values and bytes of text, expected at most {MAX_SECTION}");
            Err(broken(name, problem))
        }
    }
}

/// What one look at a value tells.
#[derive(Debug, Default)]
struct Glance {
    seen: Seen,
    /// Values in it, itself included, and bytes of its strings.
    size: usize,
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
        Ok(Glance { seen: Seen::Other, size: 1 })
    }

    fn visit_bool<E>(self, _: bool) -> std::result::Result<Glance, E> {
        Ok(Glance { seen: Seen::Other, size: 1 })
    }

    fn visit_i64<E>(self, _: i64) -> std::result::Result<Glance, E> {
        Ok(Glance { seen: Seen::Other, size: 1 })
    }

    fn visit_f64<E>(self, _: f64) -> std::result::Result<Glance, E> {
        Ok(Glance { seen: Seen::Other, size: 1 })
    }

    fn visit_u64<E>(self, value: u64) -> std::result::Result<Glance, E> {
        Ok(Glance { seen: Seen::Whole(value), size: 1 })
    }

    fn visit_str<E>(self, value: &str) -> std::result::Result<Glance, E> {
        let kept = value.chars().take(MAX_KEPT).collect();
        Ok(Glance { seen: Seen::Text(kept), size: 1 + value.len() })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> std::result::Result<Glance, A::Error> {
        let mut size = 1;
        while let Some(item) = items.next_element::<Glance>()? {
            size += item.size;
        }
        Ok(Glance { seen: Seen::Other, size })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut items: A) -> std::result::Result<Glance, A::Error> {
        let mut size = 1;
        while let Some((key, item)) = items.next_entry::<Glance, Glance>()? {
            size += key.size + item.size;
        }
        Ok(Glance { seen: Seen::Other, size })
    }
}
