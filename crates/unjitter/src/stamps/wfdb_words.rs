//! The bytes of WFDB annotations: words of 16 bits, each a code of 6 bits and a number of 10.

use super::found::{MOST, check_room};
use super::problem::{bad, wrong};
use crate::Result;

pub(super) const NOTE: u8 = 22;
const SKIP: u16 = 59;
const NUM: u16 = 60;
const SUB: u16 = 61;
const CHN: u16 = 62;
const AUX: u16 = 63;
/// Of samples, in one word.
const LONGEST_DELTA: i64 = 1023;
const LONGEST_SKIP: i64 = i32::MAX as i64;
pub(super) const LONGEST_NOTE: usize = 255;

/// One annotation; its note is text in bytes, since nothing says in which encoding.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Annotation {
    pub(super) sample: i64,
    pub(super) code: u8,
    pub(super) subtype: i8,
    pub(super) channel: u8,
    pub(super) number: i8,
    pub(super) note: Vec<u8>,
}

/// All annotations of a file.
pub(super) fn decode(file: &str, content: &[u8]) -> Result<Vec<Annotation>> {
    decode_up_to(file, content, MOST)
}

fn decode_up_to(file: &str, content: &[u8], most: usize) -> Result<Vec<Annotation>> {
    let mut words = Words { file, content, at: 0 };
    let mut annotations: Vec<Annotation> = Vec::new();
    let mut sample: i64 = 0;
    loop {
        let mut skipped = false;
        let (mut code, mut delta) = words.take()?;
        while code == SKIP {
            sample = sample.saturating_add(words.take_skip()?);
            skipped = true;
            (code, delta) = words.take()?;
        }
        if code == 0 && delta == 0 && !skipped {
            return Ok(annotations);
        }
        if code > SKIP {
            return Err(words.bad(&format!("code {code}"), "an annotation before its fields"));
        }
        check_room(file, annotations.len(), most)?;
        sample = sample.saturating_add(i64::from(delta));
        // Channel and number hold until they change.
        let (channel, number) =
            annotations.last().map_or((0, 0), |last| (last.channel, last.number));
        let code = code as u8;
        let mut fresh = Annotation { sample, code, channel, number, ..Annotation::default() };
        words.take_fields(&mut fresh)?;
        annotations.push(fresh);
    }
}

/// The words of a file, one after the other.
struct Words<'a> {
    file: &'a str,
    content: &'a [u8],
    at: usize,
}

impl<'a> Words<'a> {
    fn bad(&self, found: &str, expected: &str) -> crate::Error {
        bad(self.file, format!("byte {}", self.at), found, expected)
    }

    fn take_bytes(&mut self, count: usize) -> Result<&'a [u8]> {
        match self.content[self.at..].get(..count) {
            Some(taken) => {
                self.at += count;
                Ok(taken)
            }
            None => Err(self.bad("the end of the file", "annotations up to a word of zeros")),
        }
    }

    fn take_word(&mut self) -> Result<u16> {
        let bytes = self.take_bytes(2)?;
        Ok(u16::from_le_bytes([bytes[0], bytes[1]]))
    }

    /// The code and the number of the next word.
    fn take(&mut self) -> Result<(u16, u16)> {
        let word = self.take_word()?;
        Ok((word >> 10, word & 1023))
    }

    /// A signed number of 32 bits, its upper half first.
    fn take_skip(&mut self) -> Result<i64> {
        let (upper, lower) = (self.take_word()?, self.take_word()?);
        Ok(i64::from(upper.cast_signed()) * 65_536 + i64::from(lower))
    }

    /// The fields that follow an annotation.
    fn take_fields(&mut self, annotation: &mut Annotation) -> Result<()> {
        loop {
            let start = self.at;
            let (code, number) = self.take()?;
            let value = (number & 255) as u8;
            match code {
                NUM => annotation.number = value.cast_signed(),
                SUB => annotation.subtype = value.cast_signed(),
                CHN => annotation.channel = value,
                AUX => {
                    let size = usize::from(value);
                    annotation.note = self.take_bytes(size + size % 2)?[..size].to_vec();
                }
                _ => {
                    self.at = start;
                    return Ok(());
                }
            }
        }
    }
}

/// The bytes of a file.
pub(super) fn encode<'a>(annotations: impl IntoIterator<Item = &'a Annotation>) -> Result<Vec<u8>> {
    let mut content = Vec::new();
    let mut before = Annotation::default();
    for annotation in annotations {
        let mut delta = annotation.sample.saturating_sub(before.sample);
        // Code 0 with no delta would end the file: such an annotation is one sample after a skip.
        let least = i64::from(annotation.code == 0);
        if !(least..=LONGEST_DELTA).contains(&delta) {
            skip(&mut content, delta - least)?;
            delta = least;
        }
        let mut push = |code: u16, number: u16| content.extend((code << 10 | number).to_le_bytes());
        push(u16::from(annotation.code), delta as u16);
        if annotation.subtype != 0 {
            push(SUB, u16::from(annotation.subtype.cast_unsigned()));
        }
        if annotation.channel != before.channel {
            push(CHN, u16::from(annotation.channel));
        }
        if annotation.number != before.number {
            push(NUM, u16::from(annotation.number.cast_unsigned()));
        }
        if !annotation.note.is_empty() {
            let size = annotation.note.len();
            push(AUX, size as u16);
            content.extend(&annotation.note);
            content.extend(std::iter::repeat_n(0, size % 2));
        }
        before = Annotation { note: Vec::new(), ..annotation.clone() };
    }
    content.extend([0, 0]);
    Ok(content)
}

/// Most words of a gap: as many as span all samples that are written.
const MOST_SKIPS: i64 = 1 << 23;

/// Steps that add up to `delta`, each of 32 bits with its sign.
fn skip(content: &mut Vec<u8>, delta: i64) -> Result<()> {
    if delta.abs() / LONGEST_SKIP > MOST_SKIPS {
        return Err(wrong("WFDB annotations", format!("a gap of {delta} samples is too long")));
    }
    let mut left = delta;
    loop {
        let step = left.clamp(-LONGEST_SKIP, LONGEST_SKIP) as i32;
        content.extend((SKIP << 10).to_le_bytes());
        content.extend(((step >> 16) as u16).to_le_bytes());
        content.extend((step as u16).to_le_bytes());
        left -= i64::from(step);
        if left == 0 {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(sample: i64, code: u8) -> Annotation {
        Annotation { sample, code, ..Annotation::default() }
    }

    #[test]
    fn what_is_encoded_is_decoded() {
        let noted = Annotation { number: -5, note: b"two\nlines".to_vec(), ..at(7, 45) };
        let held = Annotation { channel: 200, number: 3, subtype: -1, ..at(9, 1) };
        for annotations in [
            vec![],
            vec![at(0, 22), at(0, 1), at(7, 0), noted, held.clone(), at(3, 1)],
            vec![
                at(0, 0),
                Annotation { subtype: 0, ..held },
                at(1032, 5),
                at(1033, 5),
                at(2057, 5),
            ],
            vec![at((1 << 31) + 5, 1), at(1 << 40, 1), at((1 << 40) + 1023, 1), at(5, 1)],
        ] {
            let content = encode(&annotations).unwrap();
            assert_eq!(decode("", &content).unwrap(), annotations);
        }
    }

    #[test]
    fn code_0_after_a_skip_does_not_end_the_file() {
        let content = b"\x00\xec\x00\x00\x05\x00\x00\x00\x01\x04\x00\x00";
        assert_eq!(decode("", content).unwrap(), [at(5, 0), at(6, 1)]);
    }

    #[test]
    fn too_many_are_refused_before_the_rest_is_read() {
        let mut content = encode(&[at(5, 1), at(6, 1), at(7, 1)]).unwrap();
        assert_eq!(decode_up_to("f", &content, 3).unwrap().len(), 3);
        content.truncate(content.len() - 2);
        let error = decode_up_to("f", &content, 2).unwrap_err().to_string();
        assert_eq!(error, "f: expected at most 2 stamps");
    }

    #[test]
    fn every_truncation_is_an_error() {
        let annotations = [at(5, 1), Annotation { note: b"odd".to_vec(), ..at(5_000_000, 22) }];
        let content = encode(&annotations).unwrap();
        for size in 0..content.len() {
            assert!(decode("", &content[..size]).is_err(), "{size}");
        }
    }
}
