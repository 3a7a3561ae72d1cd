//! Files are replaced as a whole or not at all, and read up to a limit.

use std::path::Path;

use unjitter::{Control, Error, FitOptions, Fitted, Model, Session};

use crate::{fit, session};

fn file_names(folder: &Path) -> Vec<String> {
    let names = std::fs::read_dir(folder).unwrap();
    names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// A model whose file could not be loaded: a spread so close to the largest number that, made from
/// its rounded logarithm, it is infinite.
fn unreadable() -> Fitted {
    let features = session("one", 1).features().to_f64().into_owned();
    let times = (0..features.nrows()).map(|i| i as f64).collect();
    let one_stamp = Session::new("one", features, times, vec![5.0]).unwrap();
    let model = Model { time_unit: Some(3.0), ..Model::default() };
    let model = model.freeze("noise.spread", &[f64::MAX]);
    model.fit(&[one_stamp], &FitOptions::default(), Control::default()).unwrap()
}

#[test]
fn a_failed_save_leaves_the_old_file_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.json");
    let fitted = fit(&Model::default());
    fitted.save(&path).unwrap();
    let old = std::fs::read(&path).unwrap();

    let error = unreadable().save(&path).unwrap_err();
    // JSON has no infinite spread.
    assert!(error.to_string().starts_with("model file: line "), "{error}");
    assert_eq!(std::fs::read(&path).unwrap(), old);
    assert_eq!(file_names(folder.path()), ["model.json"]);

    // A folder in its place.
    let taken = folder.path().join("taken");
    std::fs::create_dir(&taken).unwrap();
    let error = fitted.save(&taken).unwrap_err();
    assert!(matches!(&error, Error::Io { path, .. } if *path == taken), "{error}");
    assert!(error.to_string().starts_with(taken.to_str().unwrap()), "{error}");
    std::fs::remove_dir(&taken).unwrap();
    assert_eq!(file_names(folder.path()), ["model.json"]);

    // No folder at all.
    let nowhere = folder.path().join("none").join("model.json");
    assert!(matches!(fitted.save(nowhere).unwrap_err(), Error::Io { .. }));
}

#[cfg(unix)]
#[test]
fn a_folder_that_cannot_be_written_keeps_the_old_file() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.json");
    std::fs::write(&path, b"old").unwrap();
    let allow = |mode| {
        std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(mode)).unwrap();
    };
    allow(0o555);
    // The superuser may write everywhere; then there is nothing to see.
    let enforced = std::fs::write(folder.path().join("probe"), b"").is_err();
    let saved = fit(&Model::default()).save(&path);
    allow(0o755);
    if enforced {
        assert!(matches!(saved, Err(Error::Io { .. })));
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
    }
}

#[test]
fn files_that_cannot_be_read_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.json");
    let error = Fitted::load(&path).unwrap_err();
    assert!(matches!(&error, Error::Io { path: p, .. } if *p == path), "{error}");
    assert!(matches!(Fitted::load(folder.path()).unwrap_err(), Error::Io { .. }));
    std::fs::write(&path, b"{").unwrap();
    let error = Fitted::load(&path).unwrap_err();
    let want = "model.json: line 1, column 1: EOF while parsing an object";
    assert!(error.to_string().ends_with(want), "{error}");
    // Large on paper only: refused before it is read.
    std::fs::File::create(&path).unwrap().set_len((1 << 30) + 1).unwrap();
    let error = Fitted::load(&path).unwrap_err().to_string();
    assert!(error.ends_with("model.json: the whole file: more than 1073741824 bytes"), "{error}");
}
