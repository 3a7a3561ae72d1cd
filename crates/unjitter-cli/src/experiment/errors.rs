//! Timing errors that people made: a column of a CSV file.

use std::path::Path;

use anyhow::{Context, bail};

/// The numbers of a column, by default the only one; empty cells (missed events) are left out.
pub(crate) fn read_errors(path: &Path, column: Option<&str>) -> anyhow::Result<Vec<f64>> {
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("cannot read errors from {}", path.display()))?;
    parse(&text, column).with_context(|| path.display().to_string())
}

fn parse(text: &str, column: Option<&str>) -> anyhow::Result<Vec<f64>> {
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().unwrap_or_default().split(',').map(str::trim).collect();
    let listed = names.join(", ");
    let place = match column {
        Some(wanted) => names.iter().position(|name| *name == wanted),
        None if names.len() == 1 => Some(0),
        None => bail!("line 1: {} columns, expected the name of one of: {listed}", names.len()),
    };
    let Some(place) = place else {
        bail!("line 1: no column {}, expected one of: {listed}", column.unwrap_or_default());
    };
    let mut errors = Vec::new();
    for (k, line) in lines.enumerate() {
        let cell = line.split(',').nth(place).map_or("", str::trim);
        if cell.is_empty() {
            continue;
        }
        match cell.parse::<f64>() {
            Ok(error) if error.is_finite() => errors.push(error),
            _ => bail!("line {}, column {}: {cell:?}, expected a number", k + 2, names[place]),
        }
    }
    if errors.is_empty() {
        bail!("column {} holds no number", names[place]);
    }
    Ok(errors)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_is_found_by_name_and_gaps_are_left_out() {
        let text = "who,error\na,0.1\nb,\nc,-0.25\n";
        assert_eq!(parse(text, Some("error")).unwrap(), [0.1, -0.25]);
        assert_eq!(parse("error\n1\n2\n", None).unwrap(), [1.0, 2.0]);
    }

    #[test]
    fn mistakes_have_their_place() {
        let message = |text, column| parse(text, column).unwrap_err().to_string();
        let several = message("who,error\n", None);
        assert_eq!(several, "line 1: 2 columns, expected the name of one of: who, error");
        let absent = message("who,error\n", Some("delay"));
        assert_eq!(absent, "line 1: no column delay, expected one of: who, error");
        let word = message("e\n1\nlate\n", None);
        assert_eq!(word, "line 3, column e: \"late\", expected a number");
        assert_eq!(message("e\n", None), "column e holds no number");
    }
}
