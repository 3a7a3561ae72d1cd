//! The first page for Rust shows the example and its output unchanged, and the crates hold their licences.

use std::path::Path;
use std::process::Command;

fn read(path: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

#[test]
fn the_quickstart_is_the_example() {
    let example = read("examples/quickstart.rs");
    let page = read("../../docs/start/rust.md");
    assert!(page.contains(&example), "docs/start/rust.md differs from the example");
    assert!(example.lines().count() <= 40, "{} lines", example.lines().count());
}

#[test]
fn the_quickstart_prints_what_the_page_shows() {
    let page = read("../../docs/start/rust.md");
    let shown = page.split("```text\n").nth(1).unwrap().split("```").next().unwrap();
    let tests = std::env::current_exe().unwrap();
    let example = tests.parent().unwrap().with_file_name("examples").join("quickstart");
    let ran = Command::new(&example).output().unwrap_or_else(|error| {
        panic!("{}: {error}; `cargo build --example quickstart` makes it", example.display())
    });
    let printed = String::from_utf8(ran.stdout).unwrap();
    assert!(
        ran.status.success() && are_alike(shown, &printed),
        "shown:\n{shown}printed:\n{printed}"
    );
}

/// Whether texts have the same words, and numbers that differ by what processors round differently.
fn are_alike(shown: &str, printed: &str) -> bool {
    let words = |text: &str| -> Vec<String> {
        text.split([' ', '\n', ',', '(', ')']).map(String::from).collect()
    };
    let (shown, printed) = (words(shown), words(printed));
    let is_same = |(a, b): (&String, &String)| match (a.parse::<f64>(), b.parse::<f64>()) {
        // The optimiser stops where steps no longer help, which is far closer than this.
        (Ok(a), Ok(b)) => (a - b).abs() <= 1e-6 * a.abs(),
        _ => a == b,
    };
    shown.len() == printed.len() && shown.iter().zip(&printed).all(is_same)
}

#[test]
fn a_published_crate_holds_its_licences() {
    for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
        let whole = read(&format!("../../{licence}"));
        for package in ["unjitter", "unjitter-cli"] {
            assert_eq!(read(&format!("../{package}/{licence}")), whole);
        }
    }
}
