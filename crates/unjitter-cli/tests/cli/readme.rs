//! The README's commands and outputs are those of the program.

use crate::folder::Folder;

fn readme() -> String {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    std::fs::read_to_string(path).unwrap()
}

/// The block of code that holds `mark`.
fn block(readme: &str, mark: &str) -> String {
    let found = readme.split("```").skip(1).step_by(2).find(|block| block.contains(mark));
    found.unwrap_or_else(|| panic!("no block has {mark}")).split_once('\n').unwrap().1.to_owned()
}

#[test]
fn the_demo_prints_what_is_shown_and_draws_the_figure() {
    let folder = Folder::new();
    assert_eq!(folder.ok(&["demo", "--quiet"]), block(&readme(), "Look at unjitter-demo"));
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
    for (page, words) in [("README.md", "Rust toolchain ("), ("CONTRIBUTING.md", "Rust ")] {
        let expected = format!("{words}{version} or newer");
        assert!(read(page).contains(&expected), "{page} does not say {expected}");
    }
}

#[test]
fn clocks_and_people_print_what_is_shown() {
    let folder = Folder::new();
    let readme = readme();
    let mut printed = Vec::new();
    for line in block(&readme, "unjitter sync phones").lines() {
        let command = line.split('#').next().unwrap().trim();
        let arguments: Vec<&str> = command.split_whitespace().skip(1).collect();
        printed.push(folder.ok(&arguments));
    }
    assert_eq!(printed.len(), 7);
    assert_eq!(printed[2], block(&readme, "Clocks by session"));
    let agreement = block(&readme, "How far annotators agree");
    assert!(printed[6].contains(&agreement), "{}", printed[6]);
    let merged = folder.read("merged.csv");
    assert!(merged.contains(",2,person 1; person 2\n"), "{merged}");
}

#[test]
fn the_walk_through_works() {
    let folder = Folder::new();
    let readme = readme();
    let mut verbs = 0;
    for line in block(&readme, "unjitter inspect my-data").lines() {
        let command = line.split('#').next().unwrap().trim();
        let arguments: Vec<&str> = command.split_whitespace().skip(1).collect();
        folder.ok(&arguments);
        verbs += 1;
    }
    assert_eq!(verbs, 9);
    for file in
        ["model.json", "aligned.csv", "missed.csv", "report.html", "found.csv", "probabilities.csv"]
    {
        assert!(folder.path(file).is_file(), "{file}");
    }
    let header = folder.read("aligned.csv").lines().next().unwrap().to_owned();
    assert_eq!(header, "session,time,stamp,low,high,instance_time,p_spurious");
}
