//! Lists the files of the review page, so that the program has them inside.

use std::fmt::Write as _;
use std::path::Path;

fn main() {
    let root = std::env::var("CARGO_MANIFEST_DIR").expect("cargo says where the crate is");
    let mut list = String::from("[\n");
    for folder in ["src/review/page", "src/report/script"] {
        println!("cargo:rerun-if-changed={folder}");
        let folder = Path::new(&root).join(folder);
        let entries = std::fs::read_dir(&folder).expect("the folder is part of the crate");
        let mut files: Vec<_> =
            entries.map(|entry| entry.expect("it can be read").path()).collect();
        files.sort();
        for file in files {
            let name = file.file_name().expect("a file has a name").to_string_lossy().into_owned();
            if [".html", ".css", ".js", ".svg"].iter().any(|ending| name.ends_with(ending)) {
                let _ = writeln!(list, "({name:?}, include_str!({file:?})),");
            }
        }
    }
    list.push(']');
    let out = std::env::var("OUT_DIR").expect("cargo says where to write");
    std::fs::write(Path::new(&out).join("page_files.rs"), list).expect("it can be written");
}
