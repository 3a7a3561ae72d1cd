//! Mistakes in a specification, with their lines.

use std::path::Path;

use toml::Spanned;
use toml::de::{DeTable, DeValue};
use unjitter_cli::failure::usage;

/// An unusable value: its place (`sweep.values.2`), and the problem.
#[derive(Debug)]
pub(crate) struct Mistake {
    pub(crate) at: String,
    pub(crate) problem: String,
}

impl Mistake {
    pub(crate) fn new(at: impl Into<String>, problem: impl Into<String>) -> Self {
        Self { at: at.into(), problem: problem.into() }
    }

    /// The mistake as an error that names file and line.
    pub(crate) fn in_file(&self, path: &Path, text: &str) -> anyhow::Error {
        let line = line_of(text, &self.at).map_or(String::new(), |line| format!(", line {line}"));
        usage(format!("{}{line}: {} {}", path.display(), self.at, self.problem))
    }
}

/// The parser's message, with file, line and column.
pub(crate) fn unreadable(path: &Path, text: &str, error: &toml::de::Error) -> anyhow::Error {
    let place = error.span().map_or(String::new(), |span| {
        let before = &text[..span.start];
        let line = 1 + before.matches('\n').count();
        let column = 1 + before.chars().rev().take_while(|&c| c != '\n').count();
        format!(", line {line}, column {column}")
    });
    let message = error.message().lines().collect::<Vec<_>>().join("; ");
    usage(format!("{}{place}: {message}", path.display()))
}

/// The line of a value, or of the nearest enclosing table that exists.
fn line_of(text: &str, at: &str) -> Option<usize> {
    let document = DeTable::parse(text).ok()?;
    let mut steps = at.split('.');
    let mut here = in_table(document.get_ref(), steps.next()?)?;
    for step in steps {
        let next = match here.get_ref() {
            DeValue::Table(table) => in_table(table, step),
            DeValue::Array(array) => step.parse().ok().and_then(|k: usize| array.get(k)),
            _ => None,
        };
        match next {
            Some(next) => here = next,
            None => break,
        }
    }
    Some(1 + text[..here.span().start].matches('\n').count())
}

fn in_table<'t, 'i>(table: &'t DeTable<'i>, key: &str) -> Option<&'t Spanned<DeValue<'i>>> {
    table.iter().find(|(name, _)| name.get_ref() == key).map(|(_, value)| value)
}
