//! `unjitter completions` and `unjitter man`: made from the same definitions as the help.

use std::path::PathBuf;

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::args::Cli;
use crate::console::Console;
use crate::output::Output;

/// Print a shell's completions
///
/// For example: unjitter completions bash > ~/.local/share/bash-completion/completions/unjitter
#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// Which shell
    shell: Shell,
}

impl Completions {
    pub(crate) fn run(self, console: &Console) -> anyhow::Result<()> {
        let mut text = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "unjitter", &mut text);
        console.print(&String::from_utf8(text)?)
    }
}

/// Write the manual pages
///
/// Without a folder, the page of the program itself is printed: unjitter man | man -l -
#[derive(Debug, Args)]
pub(crate) struct Man {
    /// Folder for one page per verb
    #[arg(short, long, value_name = "FOLDER")]
    output: Option<PathBuf>,
    /// Replace pages that are there
    #[arg(long)]
    force: bool,
}

impl Man {
    pub(crate) fn run(self, console: &Console) -> anyhow::Result<()> {
        let mut command = Cli::command();
        command.build();
        let Some(folder) = self.output else {
            return console.print(&page(command)?);
        };
        let verbs: Vec<clap::Command> = command.get_subcommands().cloned().collect();
        let mut pages = vec![(folder.join("unjitter.1"), page(command)?)];
        for verb in verbs {
            let name = format!("unjitter-{}", verb.get_name());
            pages.push((folder.join(format!("{name}.1")), page(verb)?));
        }
        let mut output = Output::promise(pages.iter().map(|(path, _)| path.as_path()), self.force)?;
        let written = pages.len();
        pages.into_iter().for_each(|(path, text)| output.add(path, text));
        output.write()?;
        console.note(&format!("wrote {written} pages to {}", folder.display()));
        Ok(())
    }
}

fn page(command: clap::Command) -> anyhow::Result<String> {
    let mut text = Vec::new();
    clap_mangen::Man::new(command).render(&mut text)?;
    Ok(String::from_utf8(text)?)
}
