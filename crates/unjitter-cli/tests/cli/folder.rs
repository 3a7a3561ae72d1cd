//! A temporary folder to run the program in.

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// A folder of its own for each test.
pub(crate) struct Folder {
    folder: TempDir,
}

/// The result of a run.
pub(crate) struct Run {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Folder {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    /// A folder with a small simulated dataset in `data`.
    pub(crate) fn with_data() -> Self {
        let folder = Self::new();
        folder.ok(&[
            "simulate",
            "--sessions",
            "4",
            "--pressed",
            "0.9",
            "--extra",
            "0.1",
            "-o",
            "data",
        ]);
        folder
    }

    /// The same with a model in `model.json`.
    pub(crate) fn with_model() -> Self {
        let folder = Self::with_data();
        folder.ok(&["fit", "data", "--restarts", "0"]);
        folder
    }

    /// Four instances a session of a feature `x` that is 1 at the event, and one stamp each; with
    /// names, notes and times as a user may have them.
    pub(crate) fn with_small_data() -> Self {
        let folder = Self::new();
        let mut instances = String::from("who,when,x,noise,label\n");
        let mut events = String::from("note,who,when,button\n");
        for session in 0..6 {
            for i in 0..40 {
                let event = i % 10 == 4;
                let noise = f64::from((7 * i + session) % 5);
                let x = f64::from(u8::from(event)) + 0.1 * noise;
                let label = u8::from(event);
                instances += &format!("p{session},{}.5,{x},{noise},{label}\n", 2 * i);
                if event {
                    events += &format!("\"late, {i}\",p{session},{}.25,A\n", 2 * i + 1);
                }
            }
        }
        folder.write("instances.csv", &instances);
        folder.write("events.csv", &events);
        folder
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    pub(crate) fn bytes(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    pub(crate) fn json(&self, name: &str) -> serde_json::Value {
        serde_json::from_str(&self.read(name)).unwrap()
    }

    /// Names of everything in the folder, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.folder.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// The program, ready to run here.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_unjitter"));
        command.args(arguments).current_dir(self.folder.path()).stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Run {
        Run::of(self.command(arguments).output().unwrap())
    }

    /// Runs a command that must succeed; returns its standard output.
    pub(crate) fn ok(&self, arguments: &[&str]) -> String {
        let run = self.run(arguments);
        assert_eq!(run.code, 0, "{arguments:?} failed: {}", run.err);
        run.out
    }

    /// Runs a command that must fail with this code; returns its standard error. Nothing may be left behind.
    pub(crate) fn fails(&self, code: i32, arguments: &[&str]) -> String {
        let before = self.names();
        let run = self.run(arguments);
        assert_eq!(run.code, code, "{arguments:?}: {}{}", run.out, run.err);
        assert_eq!(self.names(), before, "{arguments:?} left something behind");
        assert!(!run.err.contains("panicked"), "{}", run.err);
        run.err
    }

    /// The result of a verb as JSON.
    pub(crate) fn ok_json(&self, arguments: &[&str]) -> serde_json::Value {
        let out = self.ok(arguments);
        serde_json::from_str(&out).unwrap_or_else(|e| panic!("{arguments:?}: {e}: {out}"))
    }
}

impl Run {
    pub(crate) fn of(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// The names of the columns that the small data have.
pub(crate) const SMALL: [&str; 9] = [
    "--instances",
    "instances.csv",
    "--events",
    "events.csv",
    "--session-column",
    "who",
    "--time-column",
    "when",
    "--quiet",
];

/// A verb on the small data with further arguments.
pub(crate) fn small<'a>(verb: &'a str, further: &[&'a str]) -> Vec<&'a str> {
    [&[verb], &SMALL[..], further].concat()
}
