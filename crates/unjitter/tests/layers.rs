//! The layers of `docs/architecture.md` hold: a module uses only the modules in its row of the table.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src");
const ARCHITECTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/architecture.md");

/// The modules that each module may use.
type Table = BTreeMap<String, BTreeSet<String>>;

fn table() -> Table {
    let page = std::fs::read_to_string(ARCHITECTURE).unwrap();
    let (_, section) = page.split_once("\n## Layers\n").expect("a section on layers");
    let (section, _) = section.split_once("\n## ").expect("a section after it");
    let quoted = |cell: &str| cell.split('`').skip(1).step_by(2).map(str::to_owned).collect();
    let rows = section.lines().filter(|line| line.starts_with("| `"));
    rows.flat_map(|row| {
        let cells: Vec<&str> = row.trim_matches('|').split('|').collect();
        let [modules, _, uses] = cells[..] else { panic!("three cells: {row}") };
        let modules: Vec<String> = quoted(modules);
        let uses: Vec<String> = quoted(uses);
        modules.into_iter().map(move |module| (module, uses.iter().cloned().collect()))
    })
    .collect()
}

/// A file of the library: its path as a module, and its code without comments and tests.
struct Source {
    file: PathBuf,
    path: Vec<String>,
    code: String,
}

fn sources(folder: &Path) -> Vec<Source> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let read = |file: PathBuf| -> Vec<Source> {
        if file.is_dir() {
            return sources(&file);
        }
        let inside = file.strip_prefix(SOURCES).unwrap().with_extension("");
        let mut path: Vec<String> =
            inside.iter().map(|part| part.to_str().unwrap().to_owned()).collect();
        path.retain(|part| part != "mod");
        if path.last().is_some_and(|name| name == "tests") {
            return Vec::new();
        }
        let text = std::fs::read_to_string(&file).unwrap();
        let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        let code = |line: &str| line.split("//").next().unwrap_or_default().to_owned() + "\n";
        vec![Source { file, path, code: text.lines().map(code).collect() }]
    };
    entries.flat_map(read).collect()
}

/// All paths of a use tree, such as `a::{b, c::d}`.
fn paths(tree: &str) -> Vec<Vec<String>> {
    let tree = tree.trim_start();
    if let Some(inside) = tree.strip_prefix('{') {
        let (mut depth, mut start, mut found) = (0, 0, Vec::new());
        for (k, sign) in inside.char_indices() {
            if depth == 0 && (sign == ',' || sign == '}') {
                found.extend(paths(&inside[start..k]));
                start = k + 1;
            }
            match sign {
                '{' => depth += 1,
                '}' if depth == 0 => break,
                '}' => depth -= 1,
                _ => {}
            }
        }
        return found;
    }
    let end = tree.find(|sign: char| sign != '_' && !sign.is_alphanumeric());
    let (name, rest) = tree.split_at(end.unwrap_or(tree.len()));
    match rest.strip_prefix("::") {
        _ if name.is_empty() => Vec::new(),
        None => vec![vec![name.to_owned()]],
        Some(rest) => {
            let mut deeper = paths(rest);
            deeper.iter_mut().for_each(|path| path.insert(0, name.to_owned()));
            deeper
        }
    }
}

/// All paths in `source` from the root or from a module above, as paths from the root.
fn uses(source: &Source, exports: &BTreeMap<String, Vec<String>>) -> Vec<Vec<String>> {
    let Source { path, code, .. } = source;
    let mut found = Vec::new();
    for (k, _) in code.match_indices("crate::") {
        found.extend(paths(&code[k + "crate::".len()..]));
    }
    for (k, _) in code.match_indices("super::") {
        if code[..k].ends_with("super::") {
            continue;
        }
        let mut rest = &code[k..];
        let mut above = path.clone();
        while let Some(after) = rest.strip_prefix("super::") {
            (rest, _) = (after, above.pop());
        }
        found.extend(paths(rest).into_iter().map(|path| [above.clone(), path].concat()));
    }
    let resolve = |path: Vec<String>| exports.get(&path[0]).cloned().unwrap_or(path);
    found.into_iter().map(resolve).collect()
}

/// The row of a path: that of the smallest module that has one.
fn row<'a>(table: &'a Table, path: &[String]) -> Option<&'a String> {
    let names = (1..=path.len()).rev().map(|length| path[..length].join("/"));
    names.filter_map(|name| table.get_key_value(&name)).map(|(name, _)| name).next()
}

#[test]
fn no_module_uses_what_its_row_does_not_list() {
    let (table, sources) = (table(), sources(Path::new(SOURCES)));
    let root = sources.iter().find(|source| source.path == ["lib"]).expect("lib.rs");
    let exported = root.code.split("pub use ").skip(1).flat_map(paths);
    let exports = exported.map(|path| (path[path.len() - 1].clone(), path)).collect();
    let (mut broken, mut seen) = (BTreeSet::new(), 0);
    for source in sources.iter().filter(|source| source.path != ["lib"]) {
        let Some(own) = row(&table, &source.path) else {
            broken.insert(format!("{} has no row", source.path[0]));
            continue;
        };
        for used in uses(source, &exports) {
            let Some(other) = row(&table, &used) else {
                broken.insert(format!("{} uses {used:?}, which has no row", source.file.display()));
                continue;
            };
            seen += 1;
            if own != other && !table[own].contains(other) {
                broken.insert(format!("{own} may not use {other}: {}", source.file.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
    // Some 1000 when this was written; far fewer would mean that they are no longer found.
    assert!(seen > 400, "{seen} uses");
}

/// Takes away what uses nothing that is left, again and again.
fn assert_no_circle(mut uses: Table) {
    while !uses.is_empty() {
        let lowest: Vec<String> = uses
            .iter()
            .filter(|(_, used)| used.iter().all(|name| !uses.contains_key(name)))
            .map(|(name, _)| name.clone())
            .collect();
        assert!(!lowest.is_empty(), "a circle among {:?}", uses.keys());
        lowest.iter().for_each(|name| drop(uses.remove(name)));
    }
}

#[test]
fn no_two_modules_use_each_other_by_any_way() {
    let table = table();
    let unknown = |name: &&String| !table.contains_key(*name);
    assert_eq!(table.values().flatten().find(unknown), None, "a module without a row");
    assert_no_circle(table);
}

#[test]
fn no_two_files_of_inference_use_each_other_by_any_way() {
    let sources = sources(&Path::new(SOURCES).join("inference"));
    let (folders, files): (Vec<_>, Vec<_>) =
        sources.iter().partition(|source| source.file.ends_with("mod.rs"));
    // What a folder exports stands for the file that has it.
    let mut exports = BTreeMap::new();
    for folder in folders {
        for path in folder.code.split(" use ").skip(1).flat_map(paths) {
            let own = |path: &[String]| [&folder.path, path].concat().join("/");
            exports.insert(own(&path[path.len() - 1..]), own(&path[..path.len() - 1]));
        }
    }
    let mut graph: Table = files.iter().map(|f| (f.path.join("/"), BTreeSet::new())).collect();
    let nodes: BTreeSet<String> = graph.keys().cloned().collect();
    for file in files {
        for used in uses(file, &BTreeMap::new()) {
            let names = (1..=used.len()).rev().map(|length| used[..length].join("/"));
            let found = names.map(|name| exports.get(&name).cloned().unwrap_or(name));
            if let Some(node) = found.into_iter().find(|name| nodes.contains(name)) {
                graph.get_mut(&file.path.join("/")).expect("a file").insert(node);
            }
        }
    }
    // Some 90 when this was written; far fewer would mean that they are no longer found.
    assert!(graph.values().map(BTreeSet::len).sum::<usize>() > 60, "{graph:?}");
    assert_no_circle(graph);
}

#[test]
fn the_library_names_no_option_of_the_command_line() {
    for Source { file, code, .. } in sources(Path::new(SOURCES)) {
        let mut options = code
            .match_indices("--")
            .filter(|(k, _)| code[k + 2..].starts_with(|sign: char| sign.is_ascii_lowercase()));
        let line = options.next().map(|(k, _)| code[..k].lines().count());
        assert_eq!(line, None, "{}: the program names its own options", file.display());
    }
}
