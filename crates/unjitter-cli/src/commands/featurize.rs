//! `unjitter featurize`: raw signals to a table of instances.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use ndarray::Array2;
use serde::Serialize;
use unjitter::io::{Channels, RawSignal, TableText, read_signals};
use unjitter::signal::{
    Anchor, CYCLE_FEATURES, CycleOptions, WindowOptions, cycle_features, find_cycles, windows,
};

use crate::config::ConfigFile;
use crate::console::Console;
use crate::failure::{Mistake, usage};
use crate::input::ColumnArgs;
use crate::output::{Output, is_stream, refuse_mixed};
use crate::words::counted;

/// Cut raw signals into instances with features
///
/// The table has a time and one or more channels, and maybe a session. `cycles` finds the breaths of
/// a chest band (one channel); `windows` cuts any channels into sliding windows.
#[derive(Debug, Clone, Args, Serialize)]
pub(crate) struct Featurize {
    /// Table of the signal: session, time, channels…; `-` is standard input
    #[arg(value_name = "SIGNAL")]
    signal: PathBuf,
    /// How instances are cut
    #[arg(long, default_value = "windows")]
    method: Method,
    /// Columns that are channels, separated by commas; by default all but session and time
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    channels: Vec<String>,
    #[command(flatten)]
    columns: ColumnArgs,
    /// Length of a window, in seconds
    #[arg(long, value_name = "T", default_value_t = 2.0, help_heading = "Windows")]
    length: f64,
    /// From one window to the next, in seconds
    #[arg(long, value_name = "T", default_value_t = 1.0, help_heading = "Windows")]
    step: f64,
    /// Which moment of a window is its time
    #[arg(long, default_value = "centre", help_heading = "Windows")]
    anchor: AnchorName,
    /// Least share of its samples that a window needs
    #[arg(long, value_name = "P", default_value_t = 0.67, help_heading = "Windows")]
    min_share: f64,
    /// Frequency bands whose share of the power is a feature, such as 0.1-0.5,0.5-2, in Hz
    #[arg(long, value_name = "FROM-TO,…", value_delimiter = ',', help_heading = "Windows")]
    bands: Vec<String>,
    /// Shortest breath, in seconds
    #[arg(long, value_name = "T", default_value_t = 1.0, help_heading = "Cycles")]
    min_duration: f64,
    /// Longest breath, in seconds
    #[arg(long, value_name = "T", default_value_t = 15.0, help_heading = "Cycles")]
    max_duration: f64,
    /// Smallest rise and fall of a breath, as a share of the usual one around it
    #[arg(long, value_name = "P", default_value_t = 0.35, help_heading = "Cycles")]
    prominence: f64,
    /// Longest gap between samples that is bridged, in seconds
    #[arg(long, value_name = "T", default_value_t = 1.0, help_heading = "Cycles")]
    max_gap: f64,
    /// Where the instances go; `-` is standard output
    #[arg(short, long, value_name = "FILE", default_value = "instances.csv")]
    output: PathBuf,
    /// Replace the output if it is there
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    config: ConfigFile,
}

/// How instances are cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Method {
    /// Breaths of a chest band
    Cycles,
    /// Sliding windows
    Windows,
}

/// A moment of a window by name.
#[derive(Debug, Clone, Copy, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum AnchorName {
    Start,
    Centre,
    End,
}

/// The result, for machines.
#[derive(Debug, Serialize)]
struct FeaturizeResult<'a> {
    sessions: usize,
    instances: usize,
    features: usize,
    left_out: usize,
    output: &'a PathBuf,
}

/// The instances of one session.
struct Cut {
    times: Vec<f64>,
    features: Array2<f64>,
    left_out: usize,
}

impl Featurize {
    pub(crate) fn run(self, console: &Console) -> anyhow::Result<()> {
        refuse_mixed(console, &[self.output.as_path()])?;
        let mut output = Output::promise([self.output.as_path()], self.force)?;
        let chosen = match self.channels.is_empty() {
            true => Channels::All,
            false => Channels::Named(&self.channels),
        };
        let columns = self.columns.columns();
        let (names, signals) = read_signals(&self.signal, &columns, chosen, &[])?;
        let features = self.names(&names)?;
        if let Some(k) = (1..features.len()).find(|&k| features[..k].contains(&features[k])) {
            return Err(usage(format!("two features are called {}", features[k])));
        }
        let header = ["session", "time"].map(str::to_owned).into_iter().chain(features.clone());
        let mut table = TableText::new(b',', header);
        let (mut instances, mut left_out) = (0, 0);
        for signal in &signals {
            let cut = self.cut(signal)?;
            left_out += cut.left_out;
            for (time, row) in cut.times.iter().zip(cut.features.rows()) {
                instances += 1;
                let named = [signal.session.clone(), signal.clock.write_rounded(*time)];
                table.push(named.into_iter().chain(row.iter().map(f64::to_string)));
            }
        }
        if instances == 0 {
            let (signal, cause) = (self.signal.display(), self.cause());
            let message = format!("{signal}: no instances, {left_out} left out; {cause}");
            return Err(Mistake::Data(message).into());
        }
        output.add(&self.output, table);
        output.write()?;
        if is_stream(&self.output) {
            return Ok(());
        }
        let (sessions, features) = (signals.len(), features.len());
        let output = &self.output;
        let result = FeaturizeResult { sessions, instances, features, left_out, output };
        console.result(&result, || {
            format!(
                "{}: {} with {}, {left_out} left out; wrote {}",
                counted(sessions, "session"),
                counted(instances, "instance"),
                counted(features, "feature"),
                output.display(),
            )
        })
    }

    fn names(&self, channels: &[String]) -> anyhow::Result<Vec<String>> {
        let channels: Vec<&str> = channels.iter().map(String::as_str).collect();
        match self.method {
            Method::Windows => Ok(self.window_options()?.names(&channels)),
            Method::Cycles if channels.len() == 1 => {
                Ok(CYCLE_FEATURES.iter().map(|name| (*name).to_owned()).collect())
            }
            Method::Cycles => {
                let found = channels.join(", ");
                let message = format!("cycles need one channel, there are {found}: say --channels");
                Err(usage(message))
            }
        }
    }

    fn cut(&self, signal: &RawSignal) -> anyhow::Result<Cut> {
        let in_session = |error: unjitter::Error| {
            anyhow::Error::new(error).context(format!("session {}", signal.session))
        };
        match self.method {
            Method::Windows => {
                let cut = windows(&signal.channels, &self.window_options()?).map_err(in_session)?;
                Ok(Cut { times: cut.times, features: cut.features, left_out: cut.skipped })
            }
            Method::Cycles => {
                let options = self.cycle_options();
                let found = find_cycles(&signal.channels[0], &options).map_err(in_session)?;
                Ok(Cut {
                    times: found.cycles.iter().map(|cycle| cycle.start).collect(),
                    features: cycle_features(&found.cycles, options.neighbours),
                    left_out: found.rejected.short + found.rejected.long + found.rejected.small,
                })
            }
        }
    }

    /// Why there may be no instances.
    fn cause(&self) -> String {
        match self.method {
            Method::Windows => format!(
                "a window takes {} s with {} % of its samples; see --length and --min-share",
                self.length,
                100.0 * self.min_share
            ),
            Method::Cycles => format!(
                "a breath takes from {} s to {} s; see --min-duration, --max-duration and \
                 --prominence",
                self.min_duration, self.max_duration
            ),
        }
    }

    fn window_options(&self) -> anyhow::Result<WindowOptions> {
        let mut bands = Vec::new();
        for band in &self.bands {
            let parts = band.split_once('-').map(|(low, high)| (low.parse(), high.parse()));
            let Some((Ok(low), Ok(high))) = parts else {
                return Err(usage(format!(
                    "--bands {band}: expected FROM-TO in Hz, such as 0.5-2"
                )));
            };
            bands.push((low, high));
        }
        Ok(WindowOptions {
            length: self.length,
            step: self.step,
            anchor: match self.anchor {
                AnchorName::Start => Anchor::Start,
                AnchorName::Centre => Anchor::Centre,
                AnchorName::End => Anchor::End,
            },
            min_share: self.min_share,
            bands,
        })
    }

    fn cycle_options(&self) -> CycleOptions {
        CycleOptions {
            min_duration: self.min_duration,
            max_duration: self.max_duration,
            prominence: self.prominence,
            max_gap: self.max_gap,
            ..CycleOptions::default()
        }
    }
}
