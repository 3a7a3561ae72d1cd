//! Stamp files of other programs, written whole or not at all.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::disk::{Content, WholeFile};
use super::source::compress;
use crate::Result;
use crate::stamps::{StampFile, is_packed};

/// A stamp file with its stamps elsewhere, as the content of a file of some name; packed if that ends in `.gz`.
#[derive(Debug)]
pub struct MovedStamps {
    /// What was read.
    pub file: Arc<StampFile>,
    /// Where its stamps are now, in the order of the file.
    pub times: Vec<f64>,
    /// Which of them are kept.
    pub kept: Vec<bool>,
    /// Where it will be written.
    pub path: PathBuf,
}

impl Content for MovedStamps {
    fn hand_out(&self, sink: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        if !is_packed(&self.path) {
            return self.file.render(&self.times, &self.kept, sink);
        }
        let mut content = Vec::new();
        self.file.render(&self.times, &self.kept, &mut |bytes| {
            content.extend_from_slice(bytes);
            Ok(())
        })?;
        sink(&compress(&content))
    }
}

/// Writes a file. The one that was there stays until all is written, so its bytes may still be read for it; if it
/// may not be replaced, nothing takes its place.
pub fn write_stamps(path: &Path, overwrite: bool, content: &impl Content) -> Result<()> {
    let mut file = WholeFile::new(path)?;
    content.hand_out(&mut |bytes| file.write(bytes))?;
    if overwrite { file.finish() } else { file.finish_new() }
}

/// Bytes as the content of a file of that name.
pub fn packed_for(path: &Path, bytes: Vec<u8>) -> Vec<u8> {
    if is_packed(path) { compress(&bytes) } else { bytes }
}
