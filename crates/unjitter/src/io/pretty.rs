//! Readable JSON: objects with one entry per line, arrays with a few values side by side.
//!
//! serde_json's own pretty printer gives every number a line, which buries a model under its
//! weights.

use std::io::{Result, Write};

use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::Formatter;

/// Values of an array that share a line.
const SIDE_BY_SIDE: usize = 4;

/// `value` as text, with a line feed at its end.
pub(super) fn to_string(value: &impl Serialize) -> String {
    let mut text = Vec::new();
    let mut serializer = Serializer::with_formatter(&mut text, Pretty::default());
    value.serialize(&mut serializer).expect("keys are strings and memory takes all bytes");
    text.push(b'\n');
    String::from_utf8(text).expect("JSON is written from strings and ASCII")
}

#[derive(Debug, Default)]
struct Pretty {
    /// Number of open objects.
    depth: usize,
    /// Whether the innermost object has an entry.
    has_entry: bool,
    /// Number of values so far in every open array.
    values: Vec<usize>,
}

fn break_line<W: ?Sized + Write>(writer: &mut W, depth: usize) -> Result<()> {
    write!(writer, "\n{:1$}", "", 2 * depth)
}

impl Formatter for Pretty {
    fn begin_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> Result<()> {
        self.values.push(0);
        writer.write_all(b"[")
    }

    fn end_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> Result<()> {
        self.values.pop();
        writer.write_all(b"]")
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, writer: &mut W, _: bool) -> Result<()> {
        let Some(values) = self.values.last_mut() else { return Ok(()) };
        let place = *values;
        *values += 1;
        match (place, place % SIDE_BY_SIDE) {
            (0, _) => Ok(()),
            (_, 0) => writer.write_all(b",").and_then(|()| break_line(writer, self.depth + 1)),
            _ => writer.write_all(b", "),
        }
    }

    fn begin_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> Result<()> {
        self.depth += 1;
        self.has_entry = false;
        writer.write_all(b"{")
    }

    fn end_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> Result<()> {
        self.depth -= 1;
        if self.has_entry {
            break_line(writer, self.depth)?;
        }
        writer.write_all(b"}")
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> Result<()> {
        writer.write_all(if first { b"" } else { b"," })?;
        break_line(writer, self.depth)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> Result<()> {
        writer.write_all(b": ")
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, _: &mut W) -> Result<()> {
        self.has_entry = true;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn numbers_share_lines_and_entries_do_not() {
        let value = json!({
            "a": [1.0, 2.5, -3e-9, 0.1, 5, 6], "b": {}, "c": [], "d": {"e": true, "f": {}},
            "g": [{"h \" \n": 1}, {"i": []}], "j": [[1, 2], [3]], "k": ["inf", 0.0, "é\t"],
        });
        let want = r#"{
  "a": [1.0, 2.5, -3e-9, 0.1,
    5, 6],
  "b": {},
  "c": [],
  "d": {
    "e": true,
    "f": {}
  },
  "g": [{
    "h \" \n": 1
  }, {
    "i": []
  }],
  "j": [[1, 2], [3]],
  "k": ["inf", 0.0, "é\t"]
}
"#;
        assert_eq!(to_string(&value), want);
        assert_eq!(serde_json::from_str::<Value>(want).unwrap(), value);
    }
}
