//! Which format a file is in.

use std::path::Path;

use unjitter::stamps::Format;

use super::{BORIS, Folder, examples, read};

#[test]
fn every_example_is_of_the_format_that_it_looks_like() {
    let folder = Folder::new();
    let names = [
        "csv", "bids", "audacity", "wfdb", "edf", "textgrid", "raven", "rttm", "elan", "dcase",
        "boris", "boris", "boris", "raven", "empatica",
    ];
    for ((name, content), want) in examples().into_iter().zip(names) {
        let path = folder.write(name, content);
        assert_eq!(read(&path).unwrap().format().name, want, "{name}");
    }
}

#[test]
fn content_tells_where_names_do_not() {
    let folder = Folder::new();
    let raven = "Selection\tView\tBegin Time (s)\tEnd Time (s)\n1\tw\t1\t2\n";
    for (name, content, want) in [
        ("a.txt", raven, "raven"),
        ("b.txt", "1\t2\tBegin Time (s)\n", "raven"),
        ("c.txt", "1\t2\tlabel\n", "audacity"),
        ("a.tsv", "filename\tonset\toffset\tevent_label\n", "dcase"),
        ("b.tsv", "onset\tduration\n", "csv"),
        ("a.csv", "Observation id,Behavior,Start (s),Stop (s)\n", "boris"),
        ("b.csv", "\"Time\";\"Behavior\"\n", "boris"),
        ("plain", "<?xml version=\"1.0\"?><ANNOTATION_DOCUMENT>", "elan"),
        ("project", BORIS, ""),
    ] {
        let told = Format::told_by_file(&folder.write(name, content));
        assert_eq!(told.map_or("", |format| format.name), want, "{name}");
    }
}

#[test]
fn no_file_is_no_format() {
    for format in unjitter::stamps::FORMATS {
        assert_eq!(Format::named(format.name).unwrap().name, format.name);
    }
    let error = Format::told_by_file(Path::new("/nowhere/a.docx")).unwrap_err();
    assert!(matches!(error, unjitter::Error::Io { .. }), "{error}");
    let error = Format::named("word").unwrap_err().to_string();
    assert!(error.starts_with("format: found 'word', expected one of"), "{error}");
}
