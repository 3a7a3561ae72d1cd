//! Lines of a table that is still written, each once its end is there.
//!
//! A table may end in the middle of a line: its writer was stopped, or the reading was. What is there may look whole, as
//! 0.7 does of 0.7381, so it is kept apart, to be told.

use std::cell::RefCell;
use std::io::{self, BufRead, Read};
use std::rc::Rc;

use super::table::shown;

/// The line without an end, once it is known.
#[derive(Debug, Clone, Default)]
pub(super) struct Unfinished(Rc<RefCell<Vec<u8>>>);

impl Unfinished {
    /// What there is of it, for a message.
    pub(super) fn line(&self) -> Option<String> {
        let line = self.0.borrow();
        (!line.is_empty()).then(|| shown(&String::from_utf8_lossy(&line)))
    }
}

/// A text without a last line that has no end.
pub(super) struct WholeLines<R> {
    inner: R,
    line: Vec<u8>,
    /// Bytes of it that have been handed out.
    given: usize,
    unfinished: Unfinished,
}

impl<R: BufRead> WholeLines<R> {
    /// What is left out goes to `unfinished`.
    pub(super) fn new(inner: R, unfinished: Unfinished) -> Self {
        Self { inner, line: Vec::new(), given: 0, unfinished }
    }
}

impl<R: BufRead> BufRead for WholeLines<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.given == self.line.len() {
            (self.line, self.given) = (Vec::new(), 0);
            let mut line = Vec::new();
            self.inner.read_until(b'\n', &mut line)?;
            if line.ends_with(b"\n") {
                self.line = line;
            } else if !line.is_empty() {
                self.unfinished.0.replace(line);
            }
        }
        Ok(&self.line[self.given..])
    }

    fn consume(&mut self, count: usize) {
        self.given += count;
    }
}

impl<R: BufRead> Read for WholeLines<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(buffer)?;
        self.consume(count);
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_line_is_kept_apart() {
        for (text, whole, half) in [
            ("a,b\n1,2\n", "a,b\n1,2\n", None),
            ("a,b\n1,0.7", "a,b\n", Some("1,0.7")),
            ("a,b\r\n\n1\r", "a,b\r\n\n", Some("1\\r")),
            ("", "", None),
        ] {
            let unfinished = Unfinished::default();
            let mut lines = WholeLines::new(text.as_bytes(), unfinished.clone());
            let (mut found, mut again) = (String::new(), String::new());
            lines.read_to_string(&mut found).unwrap();
            // The end stays the end.
            lines.read_to_string(&mut again).unwrap();
            assert_eq!((found.as_str(), again.as_str()), (whole, ""));
            assert_eq!(unfinished.line().as_deref(), half);
        }
    }
}
