//! What pages show of the program and cannot run themselves; `site/run.py` runs their commands.

use crate::folder::Folder;

#[test]
fn the_demo_draws_the_figure_that_is_shown() {
    let folder = Folder::new();
    folder.ok(&["demo", "--quiet"]);
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/figures");
    let shown = std::fs::read_to_string(path.join("alignment.svg")).unwrap();
    assert!(folder.read("unjitter-demo/figures/alignment.svg") == shown, "docs/figures is stale");
}

#[test]
fn every_page_asks_for_the_same_rust() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = |name: &str| std::fs::read_to_string(root.join(name)).unwrap();
    let manifest = read("Cargo.toml");
    let version = manifest.split("rust-version = \"").nth(1).unwrap().split('"').next().unwrap();
    for (page, words) in [
        ("README.md", "Rust toolchain ("),
        ("CONTRIBUTING.md", "Rust "),
        ("docs/start/shell.md", "needs Rust "),
        ("docs/start/rust.md", "needs Rust "),
    ] {
        let expected = format!("{words}{version} or newer");
        assert!(read(page).contains(&expected), "{page} does not say {expected}");
    }
}

#[test]
fn what_registries_show_leads_nowhere_that_they_have_not() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for manifest in
        ["crates/unjitter/Cargo.toml", "crates/unjitter-cli/Cargo.toml", "python/pyproject.toml"]
    {
        let text = std::fs::read_to_string(root.join(manifest)).unwrap();
        let readme = text.split("readme = \"").nth(1).unwrap().split('"').next().unwrap();
        let page = root.join(manifest).parent().unwrap().join(readme);
        let page = std::fs::read_to_string(page).unwrap();
        assert!(page.starts_with("# unjitter\n") && !page.contains("]("), "{manifest}: {readme}");
    }
}
