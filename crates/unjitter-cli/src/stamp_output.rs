//! Aligned stamps back in the files that they came from.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use unjitter::Aligned;
use unjitter::io::{Dataset, FromFiles, MovedStamps};
use unjitter::stamps::Format;

use crate::commands::align::events;
use crate::failure::usage;
use crate::output::is_stream;

/// The files that a folder named as the output will hold; none if it is the path of a file.
pub(crate) fn in_folder(output: &Path, events: &[PathBuf]) -> anyhow::Result<Option<Vec<PathBuf>>> {
    let ends = output.as_os_str().to_string_lossy().ends_with(std::path::is_separator);
    let inside = events.iter().filter_map(|path| Some(output.join(path.file_name()?)));
    match output.is_dir() || ends {
        false => Ok(None),
        true if events.is_empty() => Err(not_a_table(output)),
        true => Ok(Some(inside.collect())),
    }
}

fn not_a_table(output: &Path) -> anyhow::Error {
    usage(format!("{} is a folder; name a table", output.display()))
}

/// Where the stamp of every line of the events belongs: its session, what is told of that, and which stamp it is.
pub(crate) fn places<'a>(
    data: &Dataset,
    aligned: &'a [Aligned],
) -> Vec<Option<(usize, &'a Aligned, usize)>> {
    let mut places = vec![None; events(data).rows.len()];
    for (session, (rows, aligned)) in data.stamp_rows.iter().zip(aligned).enumerate() {
        for (l, &row) in rows.iter().enumerate() {
            places[row] = Some((session, aligned, l));
        }
    }
    places
}

/// Where each stamp file is written back to, if that is what the output asks for; none if it is a table. Asked
/// before anything is aligned, so that a mistake costs no work.
pub(crate) fn written_back(
    data: &Dataset,
    output: &Path,
    folder: Option<&[PathBuf]>,
) -> anyhow::Result<Option<Vec<PathBuf>>> {
    let Some(from) = &events(data).files else {
        return match folder {
            None => Ok(None),
            Some(_) => Err(not_a_table(output)),
        };
    };
    let paths = match folder {
        Some(paths) => paths.to_vec(),
        None if is_table(output, from) => return Ok(None),
        None => vec![output.to_owned()],
    };
    if paths.len() < from.files.len() {
        let (files, output) = (from.files.len(), output.display());
        return Err(usage(format!(
            "{output}: the stamps are from {files} files; name a folder, such as aligned/, or a table"
        )));
    }
    for (file, path) in from.files.iter().zip(&paths) {
        let own = file.format().name;
        let (path, source) = (path.as_path(), file.path().display());
        if file.format_for(path)?.name != own {
            let path = path.display();
            let message = format!(
                "{path}: {source} is written back as what it is, {own}, or as a table (.csv)"
            );
            return Err(usage(message));
        }
        let lasts = file.found().durations.iter().any(|&lasting| lasting > 0.0);
        if events(data).end_column().is_some() && lasts && !file.holds_ends() {
            return Err(usage(format!(
                "{source} cannot hold ends that moved on their own: write a table (.csv), or align beginnings \
                 alone (--event-end-column '')"
            )));
        }
    }
    Ok(Some(paths))
}

/// The stamp files with their chosen stamps moved, beginnings and ends.
pub(crate) fn moved_files(
    data: &Dataset,
    aligned: &[Aligned],
    paths: &[PathBuf],
) -> Vec<MovedStamps> {
    let Some(from) = &events(data).files else { return Vec::new() };
    let places = places(data, aligned);
    let end = |line: usize| {
        let (_, one, l) = places[line]?;
        Some((*one.ends.get(l)?)?.time)
    };
    let moved = |(k, path): (usize, &PathBuf)| {
        let times = from.times(k, |line| places[line].map(|(_, one, l)| one.stamps[l].time));
        let kept = vec![true; times.len()];
        let file = Arc::new(from.files[k].with_ends(from.ends(k, end)));
        MovedStamps { file, times, kept, path: path.clone() }
    };
    paths.iter().enumerate().take(from.files.len()).map(moved).collect()
}

/// Whether a table is to be written: its name says so, or nothing else.
fn is_table(output: &Path, from: &FromFiles) -> bool {
    let is_like = |file: &Path| file.extension().is_some_and(|own| Some(own) == output.extension());
    is_stream(output)
        || match Format::told_by_name(output) {
            Some(format) => format.name == "csv",
            None => !from.files.iter().any(|file| is_like(file.path())),
        }
}
