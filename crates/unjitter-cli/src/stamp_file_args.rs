//! Stamp files of other programs on the command line: which, and what they do not tell themselves.

use std::path::PathBuf;

use clap::Args;
use unjitter::io::{EventFiles, StampOptions, stamp_files_in};
use unjitter::stamps::{Origin, ReadOptions, TierName};

use crate::failure::usage;

/// What stamp files may need to be told.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct StampFileArgs {
    /// The session that a stamp file is of, once for each --events; by default the session whose name its name
    /// begins with
    #[arg(long, value_name = "NAME", help_heading = "Data")]
    pub session: Vec<String>,
    /// Samples per second of WFDB annotations, if neither they nor a header beside them tell
    #[arg(long, value_name = "HZ", help_heading = "Data")]
    pub fs: Option<f64>,
    /// The tier that holds the stamps, by its name or its number from 1, in TextGrids and ELAN
    #[arg(long, value_name = "TIER", help_heading = "Data")]
    pub tier: Option<String>,
    /// When second 0 of stamp files was, such as 2024-05-31T14:03:27+02:00, if the instances have dates
    #[arg(long, value_name = "DATE", help_heading = "Data")]
    pub origin: Option<String>,
    /// How text in stamp files is written in bytes, such as latin-1, if not in UTF-8
    #[arg(long, value_name = "NAME", help_heading = "Data")]
    pub encoding: Option<String>,
}

impl StampFileArgs {
    /// The files of events; a folder stands for the stamp files in it.
    pub(crate) fn files(&self, given: &[PathBuf]) -> anyhow::Result<EventFiles> {
        let mut paths = Vec::new();
        for path in given {
            if !path.is_dir() {
                paths.push(path.clone());
                continue;
            }
            let inside = stamp_files_in(path)?;
            if inside.is_empty() {
                let folder = path.display();
                return Err(usage(format!(
                    "--events {folder}: there is no stamp file in this folder"
                )));
            }
            paths.extend(inside);
        }
        let tier = self.tier.as_ref().map(|tier| match tier.parse() {
            Ok(number) => TierName::Numbered(number),
            Err(_) => TierName::Named(tier.clone()),
        });
        let origin = self.origin.as_deref().map(Origin::parse).transpose()?;
        let (fs, encoding) = (self.fs, self.encoding.clone());
        let read = ReadOptions { origin, encoding, fs, tier, ..ReadOptions::default() };
        Ok(EventFiles { paths, options: StampOptions { sessions: self.session.clone(), read } })
    }
}
