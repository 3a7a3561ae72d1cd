//! Options from a TOML file, turned into the same options on the command line.
//!
//! A key is the long name of an option of the verb (`weight-precision = 0.1`); a table gives the pairs of
//! an option that takes NAME=VALUE. The command line wins over the file. There is one definition of every
//! option, so the file knows all of them and no others.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command};
use serde::Serialize;
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};
use unjitter::io::suggest;

use crate::failure::usage;

/// The option that names the file.
#[derive(Debug, Clone, Args, Serialize)]
pub(crate) struct ConfigFile {
    /// Take options from a TOML file: its keys are the long names of options
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

/// The arguments, with those from the file that they name.
pub(crate) fn expand(command: &Command, arguments: Vec<OsString>) -> anyhow::Result<Vec<OsString>> {
    // A first pass, in which nothing is required: it only has to find the file.
    let looked = command.clone().ignore_errors(true).try_get_matches_from(&arguments);
    let Ok(matches) = looked else { return Ok(arguments) };
    let Some((verb, given)) = matches.subcommand() else { return Ok(arguments) };
    let Some(verb_command) = command.find_subcommand(verb) else { return Ok(arguments) };
    if !verb_command.get_arguments().any(|argument| argument.get_id() == "config") {
        return Ok(arguments);
    }
    let Some(path) = given.get_one::<PathBuf>("config") else { return Ok(arguments) };
    let added = read(path, verb_command, given)?;
    let place = arguments.iter().position(|argument| *argument == *verb);
    let place = place.map_or(arguments.len(), |place| place + 1);
    let mut all = arguments;
    all.splice(place..place, added);
    Ok(all)
}

fn read(path: &Path, command: &Command, given: &ArgMatches) -> anyhow::Result<Vec<OsString>> {
    let shown = path.display();
    let text = std::fs::read_to_string(path);
    let text = text.map_err(|error| usage(format!("{shown}: {error}")))?;
    let table = DeTable::parse(&text).map_err(|error| usage(format!("{shown}: {error}")))?;
    let mut arguments = Vec::new();
    for (key, value) in table.get_ref() {
        let name = key.get_ref().replace('_', "-");
        let line = 1 + text[..key.span().start].matches('\n').count();
        let at = |problem: String| usage(format!("{shown}, line {line}: {problem}"));
        let argument = find(command, &name).map_err(at)?;
        if given.value_source(argument.get_id().as_str()) == Some(ValueSource::CommandLine) {
            continue;
        }
        let spelt = spell(argument, &name, value.get_ref());
        arguments.extend(spelt.map_err(|expected| at(format!("`{name}` should be {expected}")))?);
    }
    Ok(arguments.into_iter().map(OsString::from).collect())
}

/// The option of that name, or the error.
fn find<'a>(command: &'a Command, name: &str) -> Result<&'a clap::Arg, String> {
    if name == "config" {
        return Err("`config` is for the command line only".to_owned());
    }
    let is_meant = |argument: &&clap::Arg| argument.get_long() == Some(name);
    command.get_arguments().find(is_meant).ok_or_else(|| {
        let names = command.get_arguments().filter_map(clap::Arg::get_long);
        let hint = suggest(name, names).map(|likely| format!("; did you mean `{likely}`?"));
        format!("{} has no option `{name}`{}", command.get_name(), hint.unwrap_or_default())
    })
}

/// The option as on the command line, or the expected form.
fn spell(
    argument: &clap::Arg,
    name: &str,
    value: &DeValue<'_>,
) -> Result<Vec<String>, &'static str> {
    let is_switch = matches!(value, DeValue::Boolean(_));
    match argument.get_action().takes_values() {
        true if is_switch => return Err("a value"),
        false if !is_switch => return Err("true or false"),
        _ => {}
    }
    match value {
        DeValue::Boolean(true) => Ok(vec![format!("--{name}")]),
        DeValue::Boolean(false) => Ok(vec![]),
        DeValue::Array(values) => {
            let texts =
                values.iter().map(|value| scalar(value.get_ref()).ok_or("a list of values"));
            texts.map(|text| Ok(format!("--{name}={}", text?))).collect()
        }
        DeValue::Table(pairs) => {
            let pair = |(key, value): (&Spanned<DeString<'_>>, &Spanned<DeValue<'_>>)| {
                let text = values(value.get_ref()).ok_or("a table of numbers or lists of them")?;
                Ok(format!("--{name}={}={text}", key.get_ref()))
            };
            pairs.iter().map(pair).collect()
        }
        value => Ok(vec![format!("--{name}={}", scalar(value).ok_or("a string or a number")?)]),
    }
}

fn scalar(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Integer(number) => Some(number.to_string()),
        DeValue::Float(number) => Some(number.to_string()),
        _ => None,
    }
}

/// A value, or a list of them separated by commas.
fn values(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::Array(values) => {
            let texts: Option<Vec<String>> = values.iter().map(|v| scalar(v.get_ref())).collect();
            Some(texts?.join(","))
        }
        value => scalar(value),
    }
}
