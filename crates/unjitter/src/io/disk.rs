//! Whole files: read up to a limit, replaced completely or not at all.
//!
//! A device or a named pipe cannot be replaced, and must not be: bytes are written to it directly.

use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use tempfile::{NamedTempFile, PersistError};

use crate::{Error, Result};

/// The bytes of a file, or `None` if there are more than `limit`, whatever its declared size and even if
/// it grows or never ends.
pub(super) fn read(path: &Path, limit: u64) -> Result<Option<Vec<u8>>> {
    let failed = |source| Error::Io { path: path.to_owned(), source };
    let file = File::open(path).map_err(failed)?;
    if file.metadata().map_err(failed)?.len() > limit {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    file.take(limit + 1).read_to_end(&mut bytes).map_err(failed)?;
    Ok((bytes.len() as u64 <= limit).then_some(bytes))
}

/// Writes `bytes` to `path`. They go to a temporary file beside it, which replaces it once they are
/// safely on disk: after any error or crash, the old file is unchanged.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    replace_all(&[(path, bytes)])
}

/// Replaces every file. None is touched before all of them are safely on disk beside their places, so a
/// full disk changes nothing.
pub fn replace_all<P: AsRef<Path>, C: Content>(files: &[(P, C)]) -> Result<()> {
    let mut staged = Vec::new();
    for (path, content) in files {
        let mut file = WholeFile::new(path.as_ref())?;
        content.hand_out(&mut |bytes| file.write(bytes))?;
        file.sync()?;
        staged.push(file);
    }
    staged.into_iter().try_for_each(WholeFile::finish)
}

/// What a file will hold.
pub trait Content {
    /// Hands out all bytes, piece by piece.
    fn hand_out(&self, sink: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()>;
}

impl<B: AsRef<[u8]>> Content for B {
    fn hand_out(&self, sink: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        sink(self.as_ref())
    }
}

/// Unfinished temporary files.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Removes all unfinished files: for a program that is about to exit early.
pub fn discard_unfinished() {
    // A panic while the list was locked left it intact.
    let mut unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
    for path in unfinished.drain(..) {
        // There is no one left to report an error to.
        let _ = std::fs::remove_file(path);
    }
}

/// Whether `path` takes bytes directly: a character device such as `/dev/null`, or a named pipe.
pub fn takes_bytes_directly(path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        let kind = std::fs::metadata(path).map(|about| about.file_type());
        kind.is_ok_and(|kind| kind.is_char_device() || kind.is_fifo())
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        false
    }
}

/// A file that is written piece by piece and appears whole, or not at all.
#[derive(Debug)]
pub struct WholeFile {
    open: Open,
    path: PathBuf,
}

/// Destination of the bytes.
#[derive(Debug)]
enum Open {
    /// A temporary file beside the place.
    Beside(NamedTempFile),
    /// A device or a named pipe, directly.
    Directly(File),
    /// None: the file is in its place.
    Finished,
}

impl WholeFile {
    /// Begins a file that will be at `path`, or at the target of that link.
    pub fn new(path: &Path) -> Result<Self> {
        let failed = |source| Error::Io { path: path.to_owned(), source };
        if takes_bytes_directly(path) {
            let file = File::options().write(true).open(path).map_err(failed)?;
            return Ok(Self { open: Open::Directly(file), path: path.to_owned() });
        }
        let place = match path.is_symlink() {
            true => std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned()),
            false => path.to_owned(),
        };
        let file = create_beside(&place).map_err(failed)?;
        let mut unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
        unfinished.push(file.path().to_owned());
        Ok(Self { open: Open::Beside(file), path: place })
    }

    /// Adds a piece.
    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let written = match &mut self.open {
            Open::Beside(file) => file.write_all(bytes),
            Open::Directly(file) => file.write_all(bytes),
            Open::Finished => Ok(()),
        };
        written.map_err(|source| self.failed(source))
    }

    /// Moves the file to its place.
    pub fn finish(self) -> Result<()> {
        self.persist(|file, path| file.persist(path))
    }

    /// The same, but fails if there is something in its place.
    pub fn finish_new(self) -> Result<()> {
        self.persist(|file, path| file.persist_noclobber(path))
    }

    fn persist(
        mut self,
        persist: impl FnOnce(NamedTempFile, &Path) -> std::result::Result<File, PersistError>,
    ) -> Result<()> {
        self.sync()?;
        self.forget();
        match std::mem::replace(&mut self.open, Open::Finished) {
            Open::Beside(file) => {
                if let Ok(before) = std::fs::metadata(&self.path) {
                    let kept = file.as_file().set_permissions(before.permissions());
                    kept.map_err(|source| self.failed(source))?;
                }
                let persisted = persist(file, &self.path);
                persisted.map(|_| ()).map_err(|error| self.failed(error.error))
            }
            Open::Directly(_) | Open::Finished => Ok(()),
        }
    }

    /// Devices and pipes have no disk to wait for.
    fn sync(&mut self) -> Result<()> {
        let Open::Beside(file) = &self.open else { return Ok(()) };
        file.as_file().sync_all().map_err(|source| self.failed(source))
    }

    fn failed(&self, source: std::io::Error) -> Error {
        Error::Io { path: self.path.clone(), source }
    }

    fn forget(&self) {
        let Open::Beside(file) = &self.open else { return };
        let mut unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
        unfinished.retain(|path| path != file.path());
    }
}

impl Drop for WholeFile {
    fn drop(&mut self) {
        self.forget();
    }
}

fn create_beside(path: &Path) -> std::io::Result<NamedTempFile> {
    // The parent of a bare name is the empty path.
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    create_in(folder.unwrap_or(Path::new(".")))
}

fn create_in(folder: &Path) -> std::io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // As for any new file, the umask decides; temporary files would be private.
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    builder.prefix(".unjitter-").tempfile_in(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_link_stays_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let (target, link) = (folder.path().join("target"), folder.path().join("link"));
        std::fs::write(&target, "old").unwrap();
        std::os::unix::fs::symlink(&target, &link).unwrap();
        replace(&link, b"new").unwrap();
        assert!(link.is_symlink());
        assert_eq!(std::fs::read_to_string(&target).unwrap(), "new");
    }

    #[cfg(unix)]
    #[test]
    fn devices_and_pipes_are_written_to_and_stay() {
        use std::os::unix::fs::FileTypeExt;
        replace(Path::new("/dev/null"), b"gone").unwrap();
        let kind = std::fs::metadata("/dev/null").unwrap().file_type();
        assert!(kind.is_char_device(), "{kind:?}");
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let reader = std::thread::spawn({
            let pipe = pipe.clone();
            move || std::fs::read(pipe).unwrap()
        });
        replace(&pipe, b"told").unwrap();
        assert_eq!(reader.join().unwrap(), b"told");
        assert!(std::fs::metadata(&pipe).unwrap().file_type().is_fifo());
    }

    #[test]
    fn what_is_not_finished_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let mut file = WholeFile::new(&folder.path().join("a")).unwrap();
        file.write(b"half").unwrap();
        let Open::Beside(beside) = &file.open else { panic!("{file:?}") };
        let beside = beside.path().to_owned();
        assert!(UNFINISHED.lock().unwrap().contains(&beside));
        drop(file);
        assert!(!UNFINISHED.lock().unwrap().contains(&beside) && !beside.exists());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn files_up_to_the_limit_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("five");
        replace(&path, b"12345").unwrap();
        assert_eq!(read(&path, 5).unwrap().unwrap(), b"12345");
        assert!(read(&path, 4).unwrap().is_none());
    }

    #[cfg(unix)]
    #[test]
    fn a_file_without_end_is_refused() {
        // Its declared size is 0.
        assert!(read(Path::new("/dev/zero"), 1000).unwrap().is_none());
    }

    #[test]
    fn what_appears_meanwhile_is_not_replaced_by_a_new_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let mut file = WholeFile::new(&path).unwrap();
        file.write(b"ours").unwrap();
        std::fs::write(&path, "theirs").unwrap();
        assert!(matches!(file.finish_new(), Err(Error::Io { .. })));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "theirs");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn permissions_are_those_of_the_file_that_was_there() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        std::fs::write(&path, b"old").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
        replace(&path, b"new").unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
    }

    #[cfg(unix)]
    #[test]
    fn permissions_are_those_of_any_new_file() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let (plain, ours) = (folder.path().join("plain"), folder.path().join("ours"));
        std::fs::write(&plain, b"").unwrap();
        replace(&ours, b"").unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode(&ours), mode(&plain));
    }
}
