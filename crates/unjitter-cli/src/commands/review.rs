//! `unjitter review`: a page on which a person puts stamps right.

use std::ffi::OsStr;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Args, FromArgMatches};
use serde::Serialize;
use unjitter::io::{Channels, Dataset, EventsTable, RawSignal, read_signals};
use unjitter::labels::Labels;
use unjitter::{FitOptions, Fitted, Model};

use super::align::refuse_aligned;
use super::evaluate::classes;
use super::fit::{fit, notes, with_notes};
use crate::adapted::adapted;
use crate::checked::Checked;
use crate::config::ConfigFile;
use crate::console::Console;
use crate::failure::usage;
use crate::input::Input;
use crate::inputs;
use crate::interrupt::Listening;
use crate::model_file::{ModelFile, adopt_columns};
use crate::modes_text::{mode_number, warning};
use crate::output::Output;
use crate::review::desk::{Beginning, Desk};
use crate::review::guard::Door;
use crate::review::link;
use crate::review::log::ReadLog;
use crate::review::recordings::Recordings;
use crate::review::{export, label_studio, learner, server};
use crate::words::counted;

/// Put stamps right by hand, on a page that asks what tells most
///
/// Prints the address of a page and serves it until Ctrl-C. The page shows the signal around a stamp and where it
/// may belong; you accept, move or reject it, and add events that were missed. Stamps that tell most about the
/// annotator come first, and the model learns from your answers as you go. Every answer is in the log before the page
/// says so; start the same command again to go on. Your tables are never written.
#[derive(Debug, Clone, Args, Serialize)]
pub(crate) struct Review {
    #[command(flatten)]
    input: Input,
    #[command(flatten)]
    #[serde(flatten)]
    checked: Checked,
    /// The model that `fit` wrote; without one, a usual model is fitted first
    #[arg(short, long, value_name = "FILE")]
    model: Option<PathBuf>,
    /// Begin with another explanation of the stamps than `fit` chose, by its number in its table
    #[arg(long, value_name = "N", value_parser = mode_number)]
    mode: Option<usize>,
    /// Where your decisions are kept; if it is there, the review goes on where it ended
    #[arg(long, value_name = "FILE", default_value = "review.jsonl")]
    log: PathBuf,
    /// The log of another reviewer of the same data, which is only read; may be given several times. Where you
    /// differ, the page shows it
    #[arg(long, value_name = "FILE")]
    with: Vec<PathBuf>,
    /// Who decides; by default the name that you are logged in with
    #[arg(long, value_name = "NAME")]
    reviewer: Option<String>,
    /// Decisions after which the model is learned again
    #[arg(long, value_name = "N", default_value = "10", value_parser = clap::value_parser!(u32).range(1..))]
    every: u32,
    /// Port to listen at; any free one by default
    #[arg(long, value_name = "N", default_value_t = 0)]
    port: u16,
    /// Address to listen at, instead of 127.0.0.1. With any other, such as 0.0.0.0, everybody in the network who
    /// learns the printed address reads your data and decides, and all of it travels without encryption
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<IpAddr>,
    /// Do not open a browser
    #[arg(long)]
    pub(crate) no_open: bool,
    /// Where else to look at a time, as a link on the page: https://host/{session}.mp4#t={seconds}
    #[arg(long, value_name = "ADDRESS")]
    link: Option<String>,
    /// Write what came of the review into this folder, instead of serving the page: aligned.csv, confirmed.csv and
    /// rejected.csv (your events with corrected times), added.csv, and label-studio.json with label-studio.xml, tasks
    /// with predictions for Label Studio and the interface that shows them
    #[arg(long, value_name = "FOLDER")]
    export: Option<PathBuf>,
    /// Take over the decisions of a JSON export of Label Studio, instead of serving the page
    #[arg(long, value_name = "FILE")]
    import: Option<PathBuf>,
    /// Replace files of an earlier export
    #[arg(long, requires = "export")]
    force: bool,
    #[command(flatten)]
    config: ConfigFile,
}

/// Files of an export.
const EXPORTED: [&str; 6] = [
    "aligned.csv",
    "confirmed.csv",
    "rejected.csv",
    "added.csv",
    "label-studio.json",
    "label-studio.xml",
];

/// What was imported and exported, for machines.
#[derive(Debug, Serialize)]
struct Carried {
    imported: Option<usize>,
    exported: Option<PathBuf>,
    decisions: usize,
}

impl Review {
    /// The review of a folder, with all else as usual.
    pub(crate) fn of(data: &Path, model: &Path, log: &Path) -> Self {
        let mut words: Vec<&OsStr> = ["unjitter", "review"].map(OsStr::new).to_vec();
        words.push(data.as_os_str());
        for (option, path) in [("--model", model), ("--log", log)] {
            words.extend([OsStr::new(option), path.as_os_str()]);
        }
        let matches = crate::args::command().get_matches_from(words);
        let (_, review) = matches.subcommand().expect("a verb was given");
        inputs::remember(review);
        Self::from_arg_matches(review).expect("the arguments are right")
    }

    pub(crate) fn run(mut self, console: &Console) -> anyhow::Result<()> {
        let files: Vec<PathBuf> =
            self.export.iter().flat_map(|folder| EXPORTED.map(|name| folder.join(name))).collect();
        let output = Output::promise(files.iter().map(PathBuf::as_path), self.force)?;
        let link = self.link.take().map(link::checked).transpose()?;
        let others = self.others()?;
        let fitted = self.loaded(console)?;
        let data = self.input.read_stamped(false)?;
        if let Some(fitted) = &fitted {
            self.refuse(fitted.model(), &data)?;
        }
        let varies = fitted.as_ref().map_or(&[][..], |fitted| &fitted.model().varies);
        let findings = self.checked.refuse(&data, varies, console)?;
        refuse_aligned(&data)?;
        let (channels, signals) = self.signals(&data)?;
        let fitted = match fitted {
            Some(fitted) => adapted(fitted, &data, console)?.0,
            None => {
                let model = usual(&data)?;
                self.refuse(&model, &data)?;
                learned(&data, &model, console)?
            }
        };
        let reviewer = self.reviewer.clone().unwrap_or_else(somebody);
        if reviewer.trim().is_empty() {
            return Err(usage("--reviewer: expected a name"));
        }
        let (desk, notes) = Desk::open(Beginning {
            recordings: Recordings::new(data, channels, signals),
            fitted: &fitted,
            findings,
            reviewer,
            log: &self.log,
            others,
            every: self.every as usize,
            link,
        })?;
        notes.iter().for_each(|note| console.note(note));
        if self.import.is_some() || self.export.is_some() {
            return self.carry(&desk, output, console);
        }
        let address = self.listen.unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST));
        if !address.is_loopback() {
            console.warn(
                "everybody in the network who learns this address can read the data and decide, and it travels \
                 without encryption",
            );
        }
        let _listening = Listening::start();
        let learning = learner::start(desk.clone());
        let served = server::serve(desk.clone(), SocketAddr::new(address, self.port), |door| {
            self.say(door, console)
        });
        learner::stop(&desk);
        let _ = learning.join();
        served?;
        let log = self.log.display();
        console.note(&format!("your decisions are in {log}; the same command goes on with them"));
        Ok(())
    }

    /// Takes decisions over from another program, and writes what came of all.
    fn carry(&self, desk: &Desk, mut output: Output, console: &Console) -> anyhow::Result<()> {
        let mut imported = None;
        if let Some(path) = &self.import {
            let name = path.display().to_string();
            let text = std::fs::read_to_string(path).with_context(|| name.clone())?;
            imported = Some(desk.import(label_studio::decisions(desk, &name, &text)?)?);
        }
        if let Some(folder) = &self.export {
            learner::learn_now(desk);
            for (name, table) in export::tables(desk, &self.input.columns.time_column) {
                output.add(folder.join(name), table);
            }
            let (tasks, interface) = label_studio::tasks(desk);
            output.add(folder.join("label-studio.json"), tasks);
            output.add(folder.join("label-studio.xml"), interface);
            output.write()?;
        }
        let decisions = desk.lock().decisions.len();
        let carried = Carried { imported, exported: self.export.clone(), decisions };
        console.result(&carried, || {
            let mut words = Vec::new();
            words.extend(imported.map(|count| format!("took over {}", counted(count, "decision"))));
            let folder = self.export.as_ref();
            words.extend(folder.map(|folder| {
                format!(
                    "wrote {} of {} to {}",
                    EXPORTED.join(", "),
                    counted(decisions, "decision"),
                    folder.display()
                )
            }));
            words.join("\n")
        })
    }

    fn say(&self, door: &Door, console: &Console) -> anyhow::Result<()> {
        let url = door.url();
        console.result(&serde_json::json!({ "url": url }), || url.clone())?;
        console.note("Ctrl-C ends the review");
        if !self.no_open {
            open(&url);
        }
        Ok(())
    }

    fn loaded(&mut self, console: &Console) -> anyhow::Result<Option<Fitted>> {
        let Some(model) = self.model.clone() else {
            if self.mode.is_some() {
                return Err(usage("--mode has no effect here: it belongs to --model"));
            }
            return Ok(None);
        };
        let fitted = ModelFile { model, mode: self.mode }.load()?;
        adopt_columns(&mut self.input, &fitted, console)?;
        Ok(Some(fitted))
    }

    /// Refuses models whose events a page of instances cannot show; what it says helps with the model that was given, or
    /// with the data that one would be learned from.
    fn refuse(&self, model: &Model, data: &Dataset) -> anyhow::Result<()> {
        let is_given = self.model.is_some();
        if model.labels == Labels::Chain {
            let own = match (model.ends, is_given) {
                (false, _) => {
                    "those of this model form a chain; fit one without --labels chain".to_owned()
                }
                (true, true) => format!(
                    "events with ends form runs; fit a model of beginnings alone, with {}, and \
                     review with that",
                    self.beginnings(data)
                ),
                (true, false) => format!(
                    "events with ends form runs; to review beginnings alone, say {}",
                    self.beginnings(data)
                ),
            };
            return Err(usage(format!("a review supposes independent labels, and {own}")));
        }
        let [first, _, ..] = &model.classes[..] else { return Ok(()) };
        let classes = model.classes.join(", ");
        let column = self.input.event_columns.classes.as_deref().unwrap_or("class");
        let own = if is_given { "fit a model of one, as with" } else { "choose one, as with" };
        Err(usage(format!(
            "a review is of one class of events, and there are {classes}; {own} --only \
             {column}={first}"
        )))
    }

    /// The options for beginnings alone. A time is only looked for under another name than usual where there are ends.
    fn beginnings(&self, data: &Dataset) -> String {
        let time = data.events.as_ref().map(EventsTable::time_column);
        let named = time.filter(|time| *time != self.input.columns.time_column);
        let named = named.map_or(String::new(), |time| format!(" --event-time-column {time}"));
        format!("--event-end-column ''{named}")
    }

    fn others(&self) -> anyhow::Result<Vec<(String, ReadLog)>> {
        let read = |path: &PathBuf| Ok((path.display().to_string(), ReadLog::read(path)?));
        self.with.iter().map(read).collect()
    }

    fn signals(&self, data: &Dataset) -> anyhow::Result<(Vec<String>, Vec<RawSignal>)> {
        let Some(path) = self.input.files()?.signal else { return Ok((Vec::new(), Vec::new())) };
        let columns = self.input.columns()?;
        Ok(read_signals(&path, &columns, Channels::All, &data.known_clocks())?)
    }
}

/// The model that is learned of data without one.
fn usual(data: &Dataset) -> anyhow::Result<Model> {
    let sessions = data.sessions();
    let classes = classes(sessions.iter());
    Ok(Model { classes, ..Model::default().for_ends_of(&sessions)? })
}

/// The same, learned.
fn learned(data: &Dataset, model: &Model, console: &Console) -> anyhow::Result<Fitted> {
    let notes = notes(data, serde_json::json!({ "review": {} }))?;
    let fitted = fit(data, model, &FitOptions::default(), console)?;
    fitted.warnings().iter().for_each(|own| console.warn(&warning(own)));
    with_notes(fitted, notes)
}

/// The name that somebody is logged in with.
fn somebody() -> String {
    let named = ["USER", "USERNAME", "LOGNAME"].iter().find_map(|name| std::env::var(name).ok());
    named.filter(|name| !name.trim().is_empty()).unwrap_or_else(|| "somebody".to_owned())
}

/// Opens the page in a browser, if there is one.
fn open(url: &str) {
    let (program, before): (&str, &[&str]) = if cfg!(target_os = "macos") {
        ("open", &[])
    } else if cfg!(windows) {
        ("rundll32", &["url.dll,FileProtocolHandler"])
    } else {
        ("xdg-open", &[])
    };
    let mut command = std::process::Command::new(program);
    let quiet = std::process::Stdio::null;
    let _ = command.args(before).arg(url).stdin(quiet()).stdout(quiet()).stderr(quiet()).spawn();
}
