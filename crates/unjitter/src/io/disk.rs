//! Whole files: read up to a limit, replaced at once or not at all.

use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::{Error, Result};

/// The bytes of a file, or `None` if there are more than `limit`, whatever its size is said to be
/// and even if it grows or never ends.
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

/// Puts `bytes` at `path`. They go to a file beside it, which takes its place once they are safely
/// on disk: after any error, and after a crash, the old file is as it was.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    replace_all(&[(path, bytes)])
}

/// Puts every file in its place. None is touched before all of them are safely on disk beside their
/// places, so a full disk leaves everything as it was. Folders are made as needed.
pub fn replace_all<P: AsRef<Path>, B: AsRef<[u8]>>(files: &[(P, B)]) -> Result<()> {
    let mut staged = Vec::new();
    for (path, bytes) in files {
        let path = path.as_ref();
        let failed = |source| Error::Io { path: path.to_owned(), source };
        staged.push((path, stage(path, bytes.as_ref()).map_err(failed)?));
    }
    for (path, file) in staged {
        file.persist(path)
            .map_err(|error| Error::Io { path: path.to_owned(), source: error.error })?;
    }
    Ok(())
}

fn stage(path: &Path, bytes: &[u8]) -> std::io::Result<NamedTempFile> {
    let mut file = create_beside(path)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    Ok(file)
}

/// A file that is written piece by piece and appears whole, or not at all.
#[derive(Debug)]
pub struct WholeFile {
    file: NamedTempFile,
    path: PathBuf,
}

impl WholeFile {
    /// Begins a file that will be at `path`.
    pub fn new(path: &Path) -> Result<Self> {
        let file = create_beside(path);
        let file = file.map_err(|source| Error::Io { path: path.to_owned(), source })?;
        Ok(Self { file, path: path.to_owned() })
    }

    /// Adds a piece.
    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let written = self.file.write_all(bytes);
        written.map_err(|source| Error::Io { path: self.path.clone(), source })
    }

    /// Puts the file in its place.
    pub fn finish(self) -> Result<()> {
        let failed = |source| Error::Io { path: self.path.clone(), source };
        self.file.as_file().sync_all().map_err(failed)?;
        self.file.persist(&self.path).map_err(|error| failed(error.error))?;
        Ok(())
    }
}

fn create_beside(path: &Path) -> std::io::Result<NamedTempFile> {
    // The parent of a bare name is the empty path.
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    create_in(folder)
}

fn create_in(folder: &Path) -> std::io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // As for any new file, the umask decides; temporary files are otherwise private.
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    builder.prefix(".unjitter-").tempfile_in(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

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
        // Its size is said to be 0.
        assert!(read(Path::new("/dev/zero"), 1000).unwrap().is_none());
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
