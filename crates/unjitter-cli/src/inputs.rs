//! The program's inputs, so that no output overwrites them, whatever the flags.
//!
//! A path on the command line is an input unless its option is listed as an output. So a new option is
//! safe from the start, and verbs need no check of their own: everything that writes a file asks here.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use clap::ArgMatches;
use unjitter::io::{stamp_files_in, tables_in};

use crate::failure::usage;
use crate::output::is_stream;

/// Options that name outputs; `work` belongs to the experiments.
const OUTPUTS: [&str; 11] = [
    "output", "missed", "merged", "detected", "groups", "clocks", "figures", "journal", "log",
    "export", "work",
];

/// Files and folders that are read.
static INPUTS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Remembers the inputs among the arguments of a verb.
pub fn remember(arguments: &ArgMatches) {
    for id in arguments.ids().filter(|id| !OUTPUTS.contains(&id.as_str())) {
        // Values that are not paths have another type.
        let paths = arguments.try_get_many::<PathBuf>(id.as_str()).ok().flatten();
        for path in paths.into_iter().flatten() {
            add(path);
            // A folder of events stands for the stamp files in it; what cannot be read is told later.
            let inside =
                (id.as_str() == "events").then(|| stamp_files_in(path).unwrap_or_default());
            inside.into_iter().flatten().for_each(|path| add(&path));
        }
    }
}

/// Adds an input that another file names.
pub fn add(path: &Path) {
    INPUTS.lock().unwrap_or_else(PoisonError::into_inner).push(path.to_owned());
}

/// Refuses to overwrite an input: even with force, that is a slip.
pub fn refuse(output: &Path) -> anyhow::Result<()> {
    let inputs = INPUTS.lock().unwrap_or_else(PoisonError::into_inner);
    match inputs.iter().any(|input| is_read_from(input, output)) {
        true => Err(usage(format!("{} is an input, not an output", output.display()))),
        false => Ok(()),
    }
}

/// Whether reading `input`, a file or the folder of a dataset, reads the file `output`.
fn is_read_from(input: &Path, output: &Path) -> bool {
    match input.is_dir() {
        true => tables_in(input).iter().any(|table| is_same(table, output)),
        false if is_stream(input) => is_same(Path::new("/dev/stdin"), output),
        false => is_same(input, output),
    }
}

/// Whether two paths lead to one file, by links or another spelling too.
fn is_same(one: &Path, other: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let (Ok(one), Ok(other)) = (one.metadata(), other.metadata()) else { return false };
        one.is_file() && (one.dev(), one.ino()) == (other.dev(), other.ino())
    }
    #[cfg(not(unix))]
    {
        let place = |path: &Path| path.canonicalize().ok();
        place(one).is_some() && place(one) == place(other)
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    /// Options with paths that verbs read. A new option with a path goes here or into `OUTPUTS`.
    const READ: [&str; 13] = [
        "config",
        "data",
        "errors",
        "evaluation",
        "events",
        "from",
        "import",
        "instances",
        "model",
        "observed",
        "sessions",
        "signal",
        "with",
    ];

    #[test]
    fn every_path_on_the_command_line_is_known_as_input_or_output() {
        let is_path = |argument: &&clap::Arg| {
            argument.get_value_parser().type_id() == std::any::TypeId::of::<PathBuf>()
        };
        let mut found = Vec::new();
        for verb in crate::args::Cli::command().get_subcommands() {
            found.extend(verb.get_arguments().filter(is_path).map(|a| a.get_id().to_string()));
        }
        assert!(found.len() > 20, "{found:?}");
        found.retain(|id| !READ.contains(&id.as_str()) && !OUTPUTS.contains(&id.as_str()));
        assert!(found.is_empty(), "neither inputs nor outputs: {found:?}");
    }
}
