//! What no document of ELAN has, refused before its XML is parsed.
//!
//! The parser compares each attribute of an element with all before it, and gives each element that declares a
//! namespace those of all around it. Both are quadratic, and so is our own search in a deep tree. So one pass over
//! the text counts all three. It takes the same pieces for tags as the parser does, up to the first mistake, at
//! which the parser stops: comments, CDATA, instructions and quoted values hold none. Time O(length of the text).

use super::text::Text;
use crate::Result;

/// Deepest nesting that is taken for a document of annotations.
const DEEPEST: usize = 64;
/// Most attributes of an element.
const MOST_ATTRIBUTES: usize = 100;
/// Most declarations of namespaces in a document.
const MOST_NAMESPACES: usize = 100;

/// Refuses a document with too deep elements, or too many attributes or namespaces.
pub(super) fn refuse_excess(text: &Text) -> Result<()> {
    let body = text.body.as_str();
    let (mut at, mut depth, mut namespaces) = (0, 0_usize, 0);
    let bad = |at: usize, expected: String| {
        let line = body[..at].matches('\n').count() + 1;
        Err(text.bad(line, &body[at..], &expected))
    };
    while let Some(found) = body[at..].find('<') {
        let start = at + found;
        let Some(piece) = Piece::at(&body[start..]) else { return Ok(()) };
        at = start + piece.length;
        match piece.kind {
            Kind::Start { attributes, declarations, is_empty } => {
                namespaces += declarations;
                if depth == DEEPEST {
                    return bad(start, format!("elements at most {DEEPEST} deep"));
                }
                if attributes > MOST_ATTRIBUTES {
                    let expected = format!("at most {MOST_ATTRIBUTES} attributes of an element");
                    return bad(start, expected);
                }
                if namespaces > MOST_NAMESPACES {
                    return bad(start, format!("at most {MOST_NAMESPACES} namespaces"));
                }
                depth += usize::from(!is_empty);
            }
            Kind::End => depth = depth.saturating_sub(1),
            Kind::Other => {}
        }
    }
    Ok(())
}

/// Something between angle brackets.
struct Piece {
    kind: Kind,
    length: usize,
}

enum Kind {
    Start { attributes: usize, declarations: usize, is_empty: bool },
    End,
    Other,
}

impl Piece {
    /// The piece that a text begins with; none if it does not end, or is a document type, which the parser refuses.
    fn at(text: &str) -> Option<Self> {
        let up_to = |end: &str| Some(text.find(end)? + end.len());
        let other = |length: Option<usize>| Some(Self { kind: Kind::Other, length: length? });
        match text.as_bytes().get(1)? {
            b'?' => other(up_to("?>")),
            b'/' => Some(Self { kind: Kind::End, length: up_to(">")? }),
            // What closes a comment may not share its opening hyphens.
            b'!' if text.starts_with("<!--") => other(text[4..].find("-->").map(|end| 4 + end + 3)),
            b'!' if text.starts_with("<![CDATA[") => other(up_to("]]>")),
            b'!' => None,
            _ => Some(Self::start(text)),
        }
    }

    /// The start of an element, whose values are in quotes. One that does not end counts as far as it goes, since
    /// the parser too goes that far.
    fn start(text: &str) -> Self {
        let (mut at, mut attributes, mut declarations) = (0, 0, 0);
        while let Some(found) = text[at..].find(['"', '\'', '=', '>']) {
            let next = at + found;
            let name = text[at..next].trim_ascii_end();
            at = next + 1;
            match text.as_bytes()[next] {
                b'>' => {
                    let is_empty = text[..next].ends_with('/');
                    let kind = Kind::Start { attributes, declarations, is_empty };
                    return Self { kind, length: at };
                }
                b'=' => {
                    attributes += 1;
                    let name = name.rsplit(|c: char| c.is_ascii_whitespace()).next().unwrap_or("");
                    declarations += usize::from(name == "xmlns" || name.starts_with("xmlns:"));
                }
                quote => match text[at..].find(char::from(quote)) {
                    Some(end) => at += end + 1,
                    None => break,
                },
            }
        }
        let kind = Kind::Start { attributes, declarations, is_empty: false };
        Self { kind, length: text.len() }
    }
}
