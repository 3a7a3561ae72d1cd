//! Files that a verb writes: all or none, and never over existing work by accident.

use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use unjitter::io::{
    Content, MovedStamps, STANDARD_INPUT, WholeFile, replace_all, takes_bytes_directly,
};

use crate::console::Console;
use crate::failure::{Mistake, usage};
use crate::inputs;
use crate::interrupt::{note_written, stop_if_requested};

/// What an output holds.
#[derive(Debug)]
enum Bytes {
    /// In memory.
    Here(Vec<u8>),
    /// In a stamp file, which may be larger than memory.
    Moved(MovedStamps),
}

impl Content for Bytes {
    fn hand_out(
        &self,
        sink: &mut dyn FnMut(&[u8]) -> unjitter::Result<()>,
    ) -> unjitter::Result<()> {
        match self {
            Self::Here(bytes) => sink(bytes),
            Self::Moved(file) => file.hand_out(sink),
        }
    }
}

/// The outputs of a verb.
#[derive(Debug)]
pub(crate) struct Output {
    force: bool,
    files: Vec<(PathBuf, Bytes)>,
    /// Their paths, each once.
    places: Vec<PathBuf>,
}

impl Output {
    /// Announces files: refuses at once, before any work, if one exists.
    pub(crate) fn promise<'a>(
        paths: impl IntoIterator<Item = &'a Path>,
        force: bool,
    ) -> anyhow::Result<Self> {
        let mut promised = Self { force, files: Vec::new(), places: Vec::new() };
        for path in paths {
            refuse(path, force)?;
            promised.take_place(path)?;
        }
        Ok(promised)
    }

    /// Announces a file that the verb writes itself, and continues if it exists.
    pub(crate) fn keep(&mut self, path: &Path) -> anyhow::Result<()> {
        inputs::refuse(path)?;
        self.take_place(path)
    }

    fn take_place(&mut self, path: &Path) -> anyhow::Result<()> {
        let place = place(path);
        if self.places.contains(&place) {
            return Err(usage(format!("two outputs go to {}", path.display())));
        }
        if !takes_bytes_directly(path) {
            self.places.push(place);
        }
        Ok(())
    }

    /// Adds a file. `-` is standard output.
    pub(crate) fn add(&mut self, path: impl Into<PathBuf>, bytes: impl Into<Vec<u8>>) {
        self.files.push((path.into(), Bytes::Here(bytes.into())));
    }

    /// Adds a stamp file, which need not fit into memory.
    pub(crate) fn add_moved(&mut self, file: MovedStamps) {
        self.files.push((file.path.clone(), Bytes::Moved(file)));
    }

    /// Writes all files, or none.
    pub(crate) fn write(self) -> anyhow::Result<()> {
        stop_if_requested("nothing was written")?;
        let (printed, written): (Vec<_>, Vec<_>) =
            self.files.into_iter().partition(|(path, _)| is_stream(path));
        for (path, _) in &written {
            refuse(path, self.force)?;
        }
        for (path, _) in &written {
            make_folder(path)?;
        }
        replace_all(&written)?;
        note_written();
        for (_, bytes) in printed {
            let mut out = std::io::stdout().lock();
            let failed = |source| unjitter::Error::Io { path: STANDARD_INPUT.into(), source };
            bytes.hand_out(&mut |bytes| out.write_all(bytes).map_err(failed))?;
            out.flush()?;
        }
        Ok(())
    }
}

/// Refuses a table and a result for machines on the same standard output.
pub(crate) fn refuse_mixed(console: &Console, paths: &[&Path]) -> anyhow::Result<()> {
    if console.json && paths.iter().any(|path| is_stream(path)) {
        return Err(usage("--json and the output both go to standard output; name an --output"));
    }
    Ok(())
}

/// Whether a path means standard input or output.
pub(crate) fn is_stream(path: &Path) -> bool {
    path == Path::new(STANDARD_INPUT)
}

/// Makes the folder that a file will be in.
fn make_folder(path: &Path) -> anyhow::Result<()> {
    let Some(folder) = path.parent() else { return Ok(()) };
    let failed = |source| unjitter::Error::Io { path: folder.to_owned(), source };
    Ok(std::fs::create_dir_all(folder).map_err(failed)?)
}

/// Replaces a file of the program's own, which may exist.
pub fn replace(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    inputs::refuse(path)?;
    Ok(unjitter::io::replace(path, bytes)?)
}

/// A path in its canonical spelling, as far as it exists.
fn place(path: &Path) -> PathBuf {
    if let Ok(place) = path.canonicalize() {
        return place;
    }
    let folder = path.parent().map(|folder| match folder.as_os_str().is_empty() {
        true => place(Path::new(".")),
        false => place(folder),
    });
    match (folder, path.file_name()) {
        (Some(folder), Some(name)) => folder.join(name),
        _ => path.to_owned(),
    }
}

fn refuse(path: &Path, force: bool) -> anyhow::Result<()> {
    if is_stream(path) || takes_bytes_directly(path) {
        return Ok(());
    }
    inputs::refuse(path)?;
    if path.exists() && !path.is_file() {
        return Err(usage(format!("{} is no file that could be replaced", path.display())));
    }
    if !force && path.exists() {
        return Err(Mistake::Exists(path.to_owned()).into());
    }
    Ok(())
}

/// A file or standard output, written piece by piece.
#[derive(Debug)]
pub(crate) enum Stream {
    /// Standard output.
    Printed,
    /// Standard output after its reader has closed it.
    Closed,
    /// A file.
    File(WholeFile),
}

impl Stream {
    /// Announces a file, or standard output.
    pub(crate) fn open(path: &Path, force: bool) -> anyhow::Result<Self> {
        refuse(path, force)?;
        if is_stream(path) {
            return Ok(Self::Printed);
        }
        make_folder(path)?;
        if takes_bytes_directly(path) {
            note_written();
        }
        Ok(Self::File(WholeFile::new(path)?))
    }

    /// Adds a piece.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> anyhow::Result<()> {
        match self {
            Self::Printed => {
                note_written();
                match std::io::stdout().lock().write_all(bytes) {
                    Err(error) if error.kind() == ErrorKind::BrokenPipe => *self = Self::Closed,
                    other => other?,
                }
            }
            Self::Closed => {}
            Self::File(file) => file.write(bytes)?,
        }
        Ok(())
    }

    /// Whether the reader has closed the output.
    pub(crate) fn is_closed(&self) -> bool {
        matches!(self, Self::Closed)
    }

    /// Moves the file to its place.
    pub(crate) fn finish(self) -> anyhow::Result<()> {
        match self {
            Self::Printed => std::io::stdout().flush()?,
            Self::Closed => {}
            Self::File(file) => {
                file.finish()?;
                note_written();
            }
        }
        Ok(())
    }
}
