//! The library's side of measurements against other libraries; the other side is in `benches/peers` at
//! the top of the repository, and `make bench-peers` runs both.
//!
//! With `--serve`, one process serves one case: the first line on standard input names it, every other
//! line is a request, and each is answered by a line with the times it took. Without it, a small case is
//! served and checked, so that this code cannot rot.

mod cases;
mod data;
mod dialogue;
mod fused;
mod kept;

use std::error::Error;
use std::io::{BufRead, BufReader, Write};

use cases::Case;
use data::{numbers, write_numbers};

fn main() -> Result<(), Box<dyn Error>> {
    if std::env::args().any(|argument| argument == "--serve") {
        return serve(BufReader::new(std::io::stdin()), std::io::stdout().lock());
    }
    check()
}

fn serve(input: impl BufRead, output: impl Write) -> Result<(), Box<dyn Error>> {
    let mut lines = input.lines();
    match lines.next() {
        Some(line) => serde_json::from_str::<Case>(&line?)?.serve(lines, output),
        None => Ok(()),
    }
}

/// Serves an objective of two sessions, and the evidence of one, and checks the answers.
fn check() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let write = |name: &str, values: &[f64]| write_numbers(&folder.path().join(name), values);
    write("features", &[0.1, 2.0, -0.3, 0.4, 1.9, -1.0])?;
    write("times", &[0.0, 1.0, 2.0, 0.0, 1.0, 2.0])?;
    write("stamps", &[1.2, 0.9])?;
    write("labels", &[0.0, 1.0, 0.0, 0.0, 1.0, 0.0])?;
    write("instances", &[3.0, 3.0])?;
    write("stamps_of", &[1.0, 1.0])?;
    write("params", &[1.0, -2.0, -4.0, 2.0, 0.1, 0.0, -6.9])?;
    let case = serde_json::json!({ "kind": "objective", "folder": folder.path(), "columns": 1 });
    answers(&case, ["evaluate", "logistic"])?;
    // The logistic loss has a weight and an intercept.
    assert_eq!(numbers(&folder.path().join("answer"))?.len(), 2);

    write("times", &[0.0, 1.0, 2.0, 3.0])?;
    write("stamps", &[0.9, 1.2])?;
    write("log_odds", &[-3.0, 2.0, 1.0, -3.0])?;
    write("params", &[-4.0, 2.0, 0.1, 0.01])?;
    write("next", &[-4.0, 2.0, 0.1, 0.01])?;
    for order in ["ordered", "free"] {
        let model = serde_json::json!({ "alignment": order });
        let case =
            serde_json::json!({ "kind": "evidence", "folder": folder.path(), "model": model });
        let [cold, kept] = answers(&case, ["evaluate", "kept"])?;
        // Messages settle to 1e-7, and its square counts.
        assert!((cold - kept).abs() < 1e-10, "{cold} {kept}");
        // All but the background's.
        assert_eq!(numbers(&folder.path().join("answer"))?.len(), 4 + 4);
    }
    Ok(())
}

/// Asks for two runs of each, and returns the values.
fn answers(case: &serde_json::Value, whats: [&str; 2]) -> Result<[f64; 2], Box<dyn Error>> {
    let ask = |what: &str| serde_json::json!({ "what": what, "repeat": 2, "threads": 1 });
    let questions = format!("{case}\n{}\n{}\n", ask(whats[0]), ask(whats[1]));
    let mut answers = Vec::new();
    serve(questions.as_bytes(), &mut answers)?;
    let answers: Vec<serde_json::Value> =
        String::from_utf8(answers)?.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    let counts: Vec<usize> =
        answers.iter().map(|a| a["nanoseconds"].as_array().map_or(0, Vec::len)).collect();
    assert_eq!(counts, [0, 2, 2], "{answers:?}");
    let value = |answer: &serde_json::Value| answer["value"].as_f64().expect("a finite value");
    Ok([value(&answers[1]), value(&answers[2])])
}
