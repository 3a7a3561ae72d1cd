//! The text of a TextGrid, by position: which tiers there are, and where their entries stand.
//!
//! Praat takes free-standing numbers, texts in quotes and flags in angle brackets from a TextGrid, and skips
//! all other words as comments. So do these tokens, which therefore know the long and the short form alike.

use std::ops::Range;

use super::found::{MOST, check_room};
use super::numerals::{number_text, parse_number};
use super::text::Text;
use crate::{Error, Result};

/// A point or an interval, and how its parts are written.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) time: f64,
    pub(super) end: f64,
    pub(super) label: String,
    pub(super) time_text: String,
    pub(super) end_text: String,
    pub(super) label_text: String,
}

impl Entry {
    /// An entry that was in no file.
    pub(super) fn new(time: f64, end: f64, label: &str) -> Self {
        let (time_text, end_text) = (number_text(time), number_text(end));
        Self { time, end, label: label.to_owned(), time_text, end_text, label_text: quoted(label) }
    }

    /// The same at another time.
    pub(super) fn at(&self, time: f64, end: f64) -> Self {
        let (time_text, end_text) = (number_text(time), number_text(end));
        Self { time, end, time_text, end_text, ..self.clone() }
    }
}

/// A tier.
#[derive(Debug)]
pub(super) struct Tier {
    pub(super) name: String,
    pub(super) intervals: bool,
    pub(super) begin: f64,
    pub(super) finish: f64,
    /// Where the text holds the number of its entries and the entries.
    pub(super) at: Range<usize>,
    pub(super) entries: Vec<Entry>,
    /// The form with words between the values.
    pub(super) long: bool,
}

/// Something that Praat does not skip.
#[derive(Debug, Clone)]
struct Token<'a> {
    kind: Kind,
    text: &'a str,
    at: usize,
}

impl Token<'_> {
    fn end(&self) -> usize {
        self.at + self.text.len()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Number,
    Text,
    Flag,
}

/// The tokens of a text, one after the other.
struct Tokens<'a> {
    text: &'a Text,
    at: usize,
}

impl<'a> Tokens<'a> {
    fn bad(&self, at: usize, found: &str, expected: &str) -> Error {
        let line = self.text.body[..at].matches('\n').count() + 1;
        self.text.bad(line, found, expected)
    }

    fn bad_token(&self, token: &Token<'_>, expected: &str) -> Error {
        self.bad(token.at, token.text, expected)
    }

    /// The next token, whatever it is.
    fn next(&mut self) -> Result<Option<Token<'a>>> {
        let body = self.text.body.as_str();
        loop {
            let rest = &body[self.at..];
            let at = self.at + rest.len() - rest.trim_start().len();
            let rest = &body[at..];
            let Some(first) = rest.chars().next() else {
                self.at = body.len();
                return Ok(None);
            };
            let (kind, length) = match first {
                '"' => (Some(Kind::Text), self.end_of_text(at)? - at),
                '!' => (None, rest.find('\n').unwrap_or(rest.len())),
                '<' if flag(rest).is_some() => (Some(Kind::Flag), flag(rest).unwrap_or_default()),
                _ => {
                    let is_end = |c: char| c.is_whitespace() || matches!(c, '"' | '!');
                    let length = rest.find(is_end).unwrap_or(rest.len());
                    (parse_number(&rest[..length]).map(|_| Kind::Number), length)
                }
            };
            self.at = at + length;
            if let Some(kind) = kind {
                return Ok(Some(Token { kind, text: &rest[..length], at }));
            }
        }
    }

    /// Just after the quote that closes the one at `start`; doubled ones stand for themselves.
    fn end_of_text(&self, start: usize) -> Result<usize> {
        let body = &self.text.body;
        let mut at = start + 1;
        loop {
            let Some(quote) = body[at..].find('"') else {
                return Err(self.bad(start, &body[start..], "a closing quote"));
            };
            at += quote + 1;
            if !body[at..].starts_with('"') {
                return Ok(at);
            }
            at += 1;
        }
    }

    /// The next token, which must be of that kind.
    fn take(&mut self, kind: Kind, expected: &str) -> Result<Token<'a>> {
        match self.next()? {
            Some(token) if token.kind == kind => Ok(token),
            Some(token) => Err(self.bad_token(&token, expected)),
            None => {
                Err(super::problem::bad(&self.text.file, "end", "the end of the file", expected))
            }
        }
    }

    fn number(&mut self, expected: &str) -> Result<(f64, Token<'a>)> {
        let token = self.take(Kind::Number, expected)?;
        Ok((parse_number(token.text).unwrap_or_default(), token))
    }

    /// The next number, which must count something.
    fn count(&mut self, expected: &str) -> Result<(f64, Token<'a>)> {
        let (number, token) = self.number(expected)?;
        match number >= 0.0 && number.fract() == 0.0 {
            true => Ok((number, token)),
            false => Err(self.bad_token(&token, expected)),
        }
    }

    /// The next text, without its quotes.
    fn string(&mut self, expected: &str) -> Result<(String, Token<'a>)> {
        let token = self.take(Kind::Text, expected)?;
        Ok((token.text[1..token.text.len() - 1].replace("\"\"", "\""), token))
    }
}

/// How long the flag is that a text begins with, such as `<exists>`.
fn flag(text: &str) -> Option<usize> {
    let inside = text.strip_prefix('<')?;
    let end = inside.find(|c: char| c.is_whitespace() || matches!(c, '<' | '>'))?;
    inside[end..].starts_with('>').then_some(end + 2)
}

/// Most tiers of a TextGrid.
const MOST_TIERS: usize = 10_000;

/// The tiers of a TextGrid.
pub(super) fn read_tiers(text: &Text) -> Result<Vec<Tier>> {
    read_tiers_up_to(text, MOST_TIERS, MOST)
}

/// The same, with so many tiers and entries of all tiers at most.
fn read_tiers_up_to(text: &Text, most_tiers: usize, most: usize) -> Result<Vec<Tier>> {
    let mut tokens = Tokens { text, at: 0 };
    let (kind, _) = tokens.string("File type = \"ooTextFile\"")?;
    let (what, _) = tokens.string("Object class = \"TextGrid\"")?;
    if !(kind.starts_with("ooTextFile") && what.starts_with("TextGrid")) {
        return Err(text.bad(1, &format!("{kind} {what}"), "ooTextFile and TextGrid"));
    }
    tokens.number("the beginning of the TextGrid")?;
    tokens.number("the end of the TextGrid")?;
    if tokens.take(Kind::Flag, "whether there are tiers: <exists>")?.text != "<exists>" {
        return Ok(Vec::new());
    }
    let (count, token) = tokens.count("the number of tiers")?;
    if count > most_tiers as f64 {
        return Err(tokens.bad_token(&token, &format!("at most {most_tiers} tiers")));
    }
    let (mut tiers, mut entries) = (Vec::new(), 0);
    // No room is made for so many: an untrue number of tiers ends with the text.
    while (tiers.len() as f64) < count {
        let tier = read_tier(&mut tokens, most - entries)?;
        entries += tier.entries.len();
        tiers.push(tier);
    }
    Ok(tiers)
}

/// The next tier, with so many entries at most.
fn read_tier(tokens: &mut Tokens<'_>, most: usize) -> Result<Tier> {
    let (kind, token) = tokens.string("the class of a tier")?;
    let intervals = match kind.as_str() {
        "IntervalTier" => true,
        "TextTier" => false,
        _ => {
            return Err(tokens.bad(token.at, &kind, "IntervalTier or TextTier"));
        }
    };
    let (name, before) = tokens.string("the name of a tier")?;
    let (begin, after) = tokens.number("the beginning of a tier")?;
    let long = tokens.text.body[before.end()..after.at].contains('=');
    let (finish, _) = tokens.number("the end of a tier")?;
    let (count, first) = tokens.count("the number of entries of a tier")?;
    let (mut entries, mut end) = (Vec::new(), first.end());
    while (entries.len() as f64) < count {
        check_room(&tokens.text.file, entries.len(), most)?;
        let entry;
        (entry, end) = read_entry(tokens, intervals)?;
        entries.push(entry);
    }
    Ok(Tier { name, intervals, begin, finish, at: first.at..end, entries, long })
}

/// The next entry of a tier, and where it ends.
fn read_entry(tokens: &mut Tokens<'_>, intervals: bool) -> Result<(Entry, usize)> {
    let (time, start) = tokens.number("the time of an entry")?;
    let (end, stop) = match intervals {
        true => tokens.number("the end of an interval")?,
        false => (time, start.clone()),
    };
    let (label, text) = tokens.string("the text of an entry")?;
    if end < time {
        return Err(tokens.bad_token(&stop, &format!("an end not before {}", start.text)));
    }
    let entry = Entry {
        time,
        end,
        label,
        time_text: start.text.to_owned(),
        end_text: stop.text.to_owned(),
        label_text: text.text.to_owned(),
    };
    Ok((entry, text.end()))
}

/// A text in quotes.
pub(super) fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_many_are_refused_before_the_rest_is_read() {
        let tier = "\"TextTier\" \"a\" 0 9 2 1 \"\" 2 \"\" ";
        let grid = format!("\"ooTextFile\" \"TextGrid\" 0 9 <exists> 2 {tier}{tier}");
        let text = |body: &str| Text::decode("f", body.as_bytes(), None).unwrap();
        assert_eq!(read_tiers_up_to(&text(&grid), 2, 4).unwrap().len(), 2);
        let broken = text(grid.trim_end_matches("\"\" "));
        let error = |tiers, most| read_tiers_up_to(&broken, tiers, most).unwrap_err().to_string();
        assert_eq!(error(1, 4), "f, line 1: found '2', expected at most 1 tiers");
        assert!(error(2, 3).starts_with("f: expected at most"), "{}", error(2, 3));
    }
}
