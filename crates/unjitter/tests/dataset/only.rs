//! Some events of a larger table, and columns with other names.

use unjitter::Result;
use unjitter::inspection::inspect_files;
use unjitter::io::{Columns, Dataset, DatasetFiles};

use super::Folder;

const INSTANCES: &[u8] = b"session,time,x\na,0,1\na,10,2\nb,0,3\n";
const EVENTS: &[u8] = b"rec,when,class,hand,at\n\
    a,1,cough,left,\na,2,sneeze,left,old\nnobody,noon,snore,left,old\nb,3, cough ,right,\n";

fn columns(only: &[(&str, &[&str])]) -> Columns {
    let values = |values: &[&str]| values.iter().map(|value| (*value).to_owned()).collect();
    Columns {
        event_session: Some("rec".to_owned()),
        event_time: Some("when".to_owned()),
        only: only.iter().map(|(name, own)| ((*name).to_owned(), values(own))).collect(),
        ..Columns::default()
    }
}

fn read(columns: &Columns) -> Result<Dataset> {
    Folder::with(&[("instances.csv", INSTANCES), ("events.csv", EVENTS)]).read_with(columns, false)
}

fn stamps(dataset: &Dataset) -> Vec<&[f64]> {
    dataset.recordings.iter().map(|recording| recording.session.stamps()).collect()
}

#[test]
fn events_are_chosen_by_value() {
    let coughs = read(&columns(&[("class", &["cough"])])).unwrap();
    assert_eq!(stamps(&coughs), [&[1.0][..], &[3.0]]);
    assert_eq!(coughs.stamp_rows, [vec![0], vec![3]]);
    let both = read(&columns(&[("class", &["cough", "sneeze"])])).unwrap();
    assert_eq!(stamps(&both), [&[1.0, 2.0][..], &[3.0]]);
    let left = read(&columns(&[("class", &["cough"]), ("hand", &["left"])])).unwrap();
    assert_eq!(stamps(&left), [&[1.0][..], &[]]);
    // Only events that are not chosen may have unknown sessions and times.
    let all = read(&columns(&[])).unwrap_err().to_string();
    assert!(all.contains("line 4, column `rec`: `nobody` is not a session"), "{all}");
}

#[test]
fn an_inspection_looks_at_the_chosen_alone() {
    let folder = Folder::with(&[("instances.csv", INSTANCES), ("events.csv", EVENTS)]);
    let files = DatasetFiles::in_folder(folder.0.path()).unwrap();
    let stamps = |only| inspect_files(&files, &columns(only)).unwrap().summary.stamps;
    assert_eq!(stamps(&[("class", &["cough"])]), 2);
    assert_eq!(stamps(&[]), 3);
}

#[test]
fn the_others_are_written_back_as_they_were() {
    let coughs = read(&columns(&[("class", &["cough"])])).unwrap();
    let written = coughs
        .events
        .unwrap()
        .with_columns(["at", "new"], |row| [format!("r{row}"), row.to_string()]);
    let expected = "rec,when,class,hand,at,new\na,1,cough,left,r0,0\na,2,sneeze,left,old,1\n\
                    nobody,noon,snore,left,old,2\nb,3, cough ,right,r3,3\n";
    assert_eq!(String::from_utf8(written).unwrap(), expected);
}

#[test]
fn what_is_not_there_cannot_be_chosen() {
    for (only, expected) in [
        (
            &[("class", &["cough", "caugh"][..])][..],
            "no event has `caugh` in column `class`; it has `cough`, `sneeze`, `snore`",
        ),
        (&[("clas", &["cough"])], "it has no column `clas`; did you mean `class`?"),
        (&[("class", &[""])], "no event has `` in column `class`"),
    ] {
        let error = read(&columns(only)).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}
