//! JSON for people: objects one entry per line, but numbers of an array side by side.
//!
//! serde_json's own pretty printer gives every number a line, which buries a model under its
//! weights. Here the scalars of an array share lines of [`WIDTH`] columns; objects and arrays
//! within an array start a line of their own.

use std::io::{Result, Write};

use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::{CharEscape, CompactFormatter, Formatter};

/// A line is broken before the number that would cross this column. Strings may.
const WIDTH: usize = 100;
/// Columns per level of nesting.
const INDENT: usize = 2;

/// `value` as text, with a line feed at its end.
pub(super) fn to_string(value: &impl Serialize) -> String {
    let mut text = Vec::new();
    let mut serializer = Serializer::with_formatter(&mut text, Pretty::default());
    value.serialize(&mut serializer).expect("keys are strings and memory takes all bytes");
    text.push(b'\n');
    String::from_utf8(text).expect("JSON is written from strings and ASCII")
}

/// What follows the last comma of an array that is being written.
#[derive(Debug, Clone, Copy)]
enum Next {
    FirstOfArray,
    Another,
}

#[derive(Debug, Default)]
struct Pretty {
    depth: usize,
    column: usize,
    /// For every array or object that is open: whether its end takes a line of its own.
    spread: Vec<bool>,
    /// An element of an array whose kind, and with it its place, is not known yet.
    next: Option<Next>,
}

impl Pretty {
    fn put<W: ?Sized + Write>(&mut self, writer: &mut W, bytes: &[u8]) -> Result<()> {
        self.column += bytes.len();
        writer.write_all(bytes)
    }

    fn break_line<W: ?Sized + Write>(&mut self, writer: &mut W) -> Result<()> {
        self.column = INDENT * self.depth;
        writer.write_all(b"\n")?;
        writer.write_all(" ".repeat(self.column).as_bytes())
    }

    /// Goes to where a scalar of `width` bytes belongs.
    fn place_scalar<W: ?Sized + Write>(&mut self, writer: &mut W, width: usize) -> Result<()> {
        let Some(Next::Another) = self.next.take() else { return Ok(()) };
        self.put(writer, b",")?;
        // One column for the space before it, one for the comma or bracket after it.
        if self.column + width + 2 > WIDTH {
            self.break_line(writer)
        } else {
            self.put(writer, b" ")
        }
    }

    fn put_scalar<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        format: impl FnOnce(&mut Vec<u8>) -> Result<()>,
    ) -> Result<()> {
        let mut bytes = Vec::with_capacity(24);
        format(&mut bytes)?;
        self.place_scalar(writer, bytes.len())?;
        self.put(writer, &bytes)
    }

    fn open<W: ?Sized + Write>(&mut self, writer: &mut W, bracket: &[u8]) -> Result<()> {
        if let Some(next) = self.next.take() {
            if let Next::Another = next {
                self.put(writer, b",")?;
            }
            self.spread_out();
            self.break_line(writer)?;
        }
        self.depth += 1;
        self.spread.push(false);
        self.put(writer, bracket)
    }

    fn spread_out(&mut self) {
        if let Some(spread) = self.spread.last_mut() {
            *spread = true;
        }
    }

    fn close<W: ?Sized + Write>(&mut self, writer: &mut W, bracket: &[u8]) -> Result<()> {
        self.depth -= 1;
        if self.spread.pop() == Some(true) {
            self.break_line(writer)?;
        }
        self.put(writer, bracket)
    }
}

/// Formatter methods that write one scalar, after its place has been found.
macro_rules! scalars {
    ($($method:ident: $kind:ty),*) => {$(
        fn $method<W: ?Sized + Write>(&mut self, writer: &mut W, value: $kind) -> Result<()> {
            self.put_scalar(writer, |bytes| CompactFormatter.$method(bytes, value))
        }
    )*};
}

impl Formatter for Pretty {
    scalars! {
        write_bool: bool, write_f32: f32, write_f64: f64,
        write_i8: i8, write_i16: i16, write_i32: i32, write_i64: i64, write_i128: i128,
        write_u8: u8, write_u16: u16, write_u32: u32, write_u64: u64, write_u128: u128,
        write_number_str: &str, write_char_escape: CharEscape
    }

    fn write_null<W: ?Sized + Write>(&mut self, writer: &mut W) -> Result<()> {
        self.put_scalar(writer, |bytes| CompactFormatter.write_null(bytes))
    }

    fn begin_string<W: ?Sized + Write>(&mut self, writer: &mut W) -> Result<()> {
        self.place_scalar(writer, 2)?;
        self.put(writer, b"\"")
    }

    fn end_string<W: ?Sized + Write>(&mut self, writer: &mut W) -> Result<()> {
        self.put(writer, b"\"")
    }

    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> Result<()> {
        self.put(writer, fragment.as_bytes())
    }

    fn begin_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> Result<()> {
        self.open(writer, b"[")
    }

    fn end_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> Result<()> {
        self.close(writer, b"]")
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, _: &mut W, first: bool) -> Result<()> {
        self.next = Some(if first { Next::FirstOfArray } else { Next::Another });
        Ok(())
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, _: &mut W) -> Result<()> {
        Ok(())
    }

    fn begin_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> Result<()> {
        self.open(writer, b"{")
    }

    fn end_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> Result<()> {
        self.close(writer, b"}")
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> Result<()> {
        if !first {
            self.put(writer, b",")?;
        }
        self.spread_out();
        self.break_line(writer)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> Result<()> {
        self.put(writer, b": ")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn numbers_share_lines_and_objects_do_not() {
        let value = json!({
            "a": [1.0, 2.5, -3e-9], "b": {}, "c": [], "d": {"e": true, "f": null},
            "g": [{"h": 1}, {"i": []}], "j": [[1, 2], [3]], "k": ["inf", 0.0, "x"],
            "l": [1, {"m": 2}, 3],
        });
        let want = r#"{
  "a": [1.0, 2.5, -3e-9],
  "b": {},
  "c": [],
  "d": {
    "e": true,
    "f": null
  },
  "g": [
    {
      "h": 1
    },
    {
      "i": []
    }
  ],
  "j": [
    [1, 2],
    [3]
  ],
  "k": ["inf", 0.0, "x"],
  "l": [1,
    {
      "m": 2
    }, 3
  ]
}
"#;
        assert_eq!(to_string(&value), want);
        assert_eq!(serde_json::from_str::<Value>(want).unwrap(), value);
    }

    #[test]
    fn long_arrays_fill_lines_and_lose_nothing() {
        let numbers: Vec<f64> = (0..500).map(|k| f64::from(k).sqrt() - 10.0).collect();
        let text = to_string(&json!({ "numbers": numbers }));
        assert!(text.lines().all(|line| line.len() <= WIDTH), "{text}");
        // 19 characters and two separators each: four to a line, or nearly.
        assert!(text.lines().count() < 150, "{text}");
        let back: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(back["numbers"], json!(numbers));
    }

    #[test]
    fn every_width_of_number_finds_its_place() {
        let tuple = (([1_u8, 2], [1_i8, 2]), ([1_u16, 2], [1_i16, 2]), ([1_u32, 2], [1_i32, 2]));
        let text = to_string(&(tuple, [0.5_f32, 0.25], ([1_u64, 2], [1_i64, 2], [true, false])));
        let want = "[[[[1,2],[1,2]],[[1,2],[1,2]],[[1,2],[1,2]]],[0.5,0.25],\
                    [[1,2],[1,2],[true,false]]]";
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap().to_string(), want);
    }

    #[test]
    fn strings_are_escaped_within_arrays_too() {
        let value = json!({"quote \" and\n": ["\u{1}\\", "é\t", "a\nb"], "n": [1]});
        assert_eq!(serde_json::from_str::<Value>(&to_string(&value)).unwrap(), value);
    }
}
