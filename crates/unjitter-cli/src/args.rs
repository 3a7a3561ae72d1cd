//! The command line: every verb and option is defined once, and the manual is made from it.

use clap::{CommandFactory, Parser, Subcommand};

use crate::commands;
use crate::console::Console;
use crate::failure::EXIT_CODES;

/// Learn precise event detectors from sloppy timestamps
///
/// Somebody pressed a button at each event; the presses are late, early, missing or wrong, the
/// recording beside them is exact. unjitter learns the detector and the annotator's sloppiness
/// together and gives every press back where it belongs.
///
/// Start with `unjitter demo`. With your own tables: `unjitter inspect DATA`, `unjitter fit DATA`,
/// `unjitter align DATA`, `unjitter report DATA`.
#[derive(Debug, Parser)]
#[command(name = "unjitter", version, after_help = EXIT_CODES, subcommand_required = true)]
#[command(arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub console: Console,
    #[command(subcommand)]
    pub verb: Verb,
}

/// The parsed command line.
pub(crate) fn command() -> clap::Command {
    // So that -1 gives an error with the range, and is not taken for an option.
    let verbs = |verb: clap::Command| verb.allow_negative_numbers(true);
    let mut command = Cli::command().mut_subcommands(verbs);
    command.build();
    command
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    Demo(commands::demo::Demo),
    Inspect(commands::inspect::Inspect),
    Featurize(commands::featurize::Featurize),
    Simulate(commands::simulate::Simulate),
    Fit(commands::fit::Fit),
    Diagnose(commands::diagnose::Diagnose),
    Sync(commands::sync::Sync),
    Align(commands::align::Align),
    Review(commands::review::Review),
    Plan(commands::plan::Plan),
    Predict(commands::predict::Predict),
    Evaluate(commands::evaluate::Evaluate),
    Report(commands::report::Report),
    Completions(commands::manual::Completions),
    Man(commands::manual::Man),
}

impl Verb {
    /// Runs the verb.
    pub(crate) fn run(self, console: &Console) -> anyhow::Result<()> {
        match self {
            Self::Demo(verb) => verb.run(console),
            Self::Inspect(verb) => verb.run(console),
            Self::Featurize(verb) => verb.run(console),
            Self::Simulate(verb) => verb.run(console),
            Self::Fit(verb) => verb.run(console),
            Self::Diagnose(verb) => verb.run(console),
            Self::Sync(verb) => verb.run(console),
            Self::Align(verb) => verb.run(console),
            Self::Review(verb) => verb.run(console),
            Self::Plan(verb) => verb.run(console),
            Self::Predict(verb) => verb.run(console),
            Self::Evaluate(verb) => verb.run(console),
            Self::Report(verb) => verb.run(console),
            Self::Completions(verb) => verb.run(console),
            Self::Man(verb) => verb.run(console),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use clap::FromArgMatches;
    use unjitter::math::Random;

    use super::*;
    use crate::config::expand;

    /// Values outside the range of some option.
    const VALUES: [&str; 24] = [
        "",
        " ",
        "-",
        "--",
        "=",
        ",",
        "a=b",
        "=b",
        "a=",
        "a=b,c",
        "0",
        "-1",
        "1e999",
        "nan",
        "18446744073709551616",
        "0.1-0.5,2",
        "é\u{202e}",
        "\u{1b}[2J",
        "data",
        "s",
        "-o",
        "--json",
        "options.toml",
        "%s",
    ];

    /// A word of a command line: an option of the verb, alone or with a value, or anything.
    fn word(options: &[String], random: &mut Random) -> String {
        let mut pick = |most: usize| (random.uniform() * most as f64) as usize;
        let (option, value) = (&options[pick(options.len())], VALUES[pick(VALUES.len())]);
        match pick(4) {
            0 => option.clone(),
            1 => format!("{option}={value}"),
            2 => format!("{option}{value}"),
            _ => value.to_owned(),
        }
    }

    #[test]
    fn any_words_are_parsed_or_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("options.toml");
        let command = command();
        let verbs: Vec<&clap::Command> = command.get_subcommands().collect();
        let mut random = Random::new(7);
        let mut parsed = 0;
        for case in 0..1500 {
            let verb = verbs[case % verbs.len()];
            let long = verb.get_arguments().filter_map(clap::Arg::get_long);
            let long = long.chain(["nothing"]);
            let options: Vec<String> = long.map(|name| format!("--{name}")).collect();
            let count = (random.uniform() * 6.0) as usize;
            let words: Vec<String> = (0..count).map(|_| word(&options, &mut random)).collect();
            let key = options[case % options.len()].trim_start_matches("--");
            std::fs::write(&file, format!("{key} = \"{}\"\n", VALUES[case % 20].escape_default()))
                .unwrap();
            let mut all: Vec<OsString> = vec!["unjitter".into(), verb.get_name().into()];
            if case % 3 == 0 {
                all.extend(["--config".into(), file.clone().into()]);
            }
            all.extend(words.iter().map(OsString::from));
            let Ok(all) = expand(&command, all) else { continue };
            let matches = command.clone().try_get_matches_from(all);
            parsed += usize::from(matches.is_ok_and(|found| Cli::from_arg_matches(&found).is_ok()));
        }
        assert!((30..1400).contains(&parsed), "{parsed} of 1500: too few or too many go through");
    }
}
