//! Options from a TOML file, turned into the same options on the command line.
//!
//! A key is the long name of an option of the verb (`weight-precision = 0.1`); a table gives an
//! option that takes NAME=VALUE its pairs. What stands on the command line wins. There is one
//! definition of every option, so the file knows all of them and no others.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command};
use serde::Serialize;
use toml::de::{DeTable, DeValue};
use unjitter::io::suggest;

use crate::failure::usage;

/// The option that names the file.
#[derive(Debug, Clone, Args, Serialize)]
pub(crate) struct ConfigFile {
    /// Take options from a TOML file: its keys are the long names of options
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

/// The arguments with those of the file that they name.
pub(crate) fn expand(command: &Command, arguments: Vec<OsString>) -> anyhow::Result<Vec<OsString>> {
    // A first look, in which nothing is required: it only has to find the file.
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
        let long = |argument: &&clap::Arg| argument.get_long() == Some(name.as_str());
        let Some(argument) = command.get_arguments().find(long) else {
            let names = command.get_arguments().filter_map(clap::Arg::get_long);
            let hint = suggest(&name, names).map(|likely| format!("; did you mean `{likely}`?"));
            let verb = command.get_name();
            let hint = hint.unwrap_or_default();
            return Err(usage(format!(
                "{shown}, line {line}: {verb} has no option `{name}`{hint}"
            )));
        };
        let wrong =
            |expected: &str| usage(format!("{shown}, line {line}: `{name}` should be {expected}"));
        if name == "config" {
            return Err(wrong("given on the command line only"));
        }
        if given.value_source(argument.get_id().as_str()) == Some(ValueSource::CommandLine) {
            continue;
        }
        let is_switch = matches!(value.get_ref(), DeValue::Boolean(_));
        match argument.get_action().takes_values() {
            true if is_switch => return Err(wrong("a value")),
            false if !is_switch => return Err(wrong("true or false")),
            _ => {}
        }
        match value.get_ref() {
            DeValue::Boolean(true) => arguments.push(format!("--{name}")),
            DeValue::Boolean(false) => {}
            DeValue::Array(values) => {
                for value in values.iter() {
                    let text = scalar(value.get_ref()).ok_or_else(|| wrong("a list of values"))?;
                    arguments.push(format!("--{name}={text}"));
                }
            }
            DeValue::Table(pairs) => {
                for (key, value) in pairs {
                    let text = values(value.get_ref())
                        .ok_or_else(|| wrong("a table of numbers or lists of numbers"))?;
                    arguments.push(format!("--{name}={}={text}", key.get_ref()));
                }
            }
            value => {
                let text = scalar(value).ok_or_else(|| wrong("a string or a number"))?;
                arguments.push(format!("--{name}={text}"));
            }
        }
    }
    Ok(arguments.into_iter().map(OsString::from).collect())
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
