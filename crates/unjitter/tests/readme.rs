//! The first page for Rust shows the example and its output unchanged.

use std::path::Path;

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
