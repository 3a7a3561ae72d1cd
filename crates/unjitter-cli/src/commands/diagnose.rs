//! `unjitter diagnose`: does the model describe the data?

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;
use unjitter::diagnosis::{Agreement, Diagnosis, DiagnosisOptions, agreement, diagnose};
use unjitter::evaluation::fingerprint;
use unjitter::io::Dataset;
use unjitter::{Error, Fitted};

use super::align::refuse_aligned;
use crate::adapted::adapted;
use crate::checked::Checked;
use crate::config::ConfigFile;
use crate::console::{Console, show};
use crate::diagnosis_gallery::{STEMS, diagnosis_drawings};
use crate::diagnosis_text::render;
use crate::failure::Mistake;
use crate::gallery::Drawing;
use crate::input::Input;
use crate::interrupt::{self, Listening};
use crate::model_file::{ModelFile, adopt_columns};
use crate::output::Output;

/// Say how well the model describes the data, and where it does not
///
/// Whether stamps come when the model expects them and delays are distributed as was learned, both
/// with what chance allows; whether presses get later in the course of a session or of the day;
/// which sessions do not fit, and which shift, spread or unit would mend them; how sure what was
/// learned is, by several ways; and how much the annotator's priors matter. Where several people
/// annotated the same sessions, what each of them saw and how far they agree. Give it the data that the
/// model was fitted to; groups of others, such as further people or clocks, are learned first.
#[derive(Debug, Clone, Args, Serialize)]
pub(crate) struct Diagnose {
    #[command(flatten)]
    input: Input,
    #[command(flatten)]
    #[serde(flatten)]
    checked: Checked,
    #[command(flatten)]
    model: ModelFile,
    /// Also compare noise models by the evidence of sessions left out of learning; this learns each of
    /// them anew, from where the fit ended
    #[arg(long)]
    families: bool,
    /// Also learn from this many other draws of the sessions (of subjects, where they are known): the slow
    /// check of intervals; 200 are usual, 40 the least that tell anything
    #[arg(long, value_name = "DRAWS", default_value_t = 0)]
    bootstrap: usize,
    /// Write the figures as SVG files into this folder
    #[arg(long, value_name = "FOLDER")]
    figures: Option<PathBuf>,
    /// Replace the figures if they are there
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    config: ConfigFile,
}

/// The diagnosis and what stands out, for machines.
#[derive(Debug, Serialize)]
struct DiagnoseResult<'a> {
    remarks: Vec<String>,
    #[serde(flatten)]
    found: &'a Diagnosis,
    /// Of annotators of the same sessions.
    agreement: &'a Agreement,
}

impl Diagnose {
    pub(crate) fn run(mut self, console: &Console) -> anyhow::Result<()> {
        let path = |stem: &str| Some(self.figures.as_ref()?.join(format!("{stem}.svg")));
        let promised: Vec<PathBuf> = STEMS.into_iter().filter_map(path).collect();
        let mut output = Output::promise(promised.iter().map(PathBuf::as_path), self.force)?;
        let fitted = self.model.load()?;
        adopt_columns(&mut self.input, &fitted, console)?;
        let data = self.input.read_stamped(false)?;
        self.checked.refuse(&data, &fitted.model().varies, console)?;
        refuse_aligned(&data)?;
        if is_other(&fitted, &data) {
            console.warn(OTHER_DATA);
        }
        let fitted = adapted(fitted, &data, console)?.0;
        let Self { families, bootstrap, .. } = self;
        let options = DiagnosisOptions { families, bootstrap, ..options(&data) };
        let found = diagnosed(&fitted, &data, &options, console)?;
        let agreement = agreement(&fitted, &data.sessions())?;
        if let Some(folder) = &self.figures {
            for (name, svg) in diagnosis_drawings(&found).iter().map(Drawing::file) {
                output.add(folder.join(name), svg);
            }
        }
        output.write()?;
        let result =
            DiagnoseResult { remarks: found.remarks(" s"), found: &found, agreement: &agreement };
        console.result(&result, || render(&found, &agreement))
    }
}

/// What to say if the model was fitted to other data.
pub(crate) const OTHER_DATA: &str = "the model was fitted to other data than those shown here";

/// Whether a model was fitted to other data than these.
pub(crate) fn is_other(fitted: &Fitted, data: &Dataset) -> bool {
    let known = fitted.metadata().get("fingerprint").and_then(|value| value.as_str());
    known.is_some_and(|known| known != fingerprint(&data.recordings))
}

/// The usual questions, with the hours of the day that the data know.
pub(crate) fn options(data: &Dataset) -> DiagnosisOptions {
    let hours = data.clocks.iter().map(|clock| clock.hour()).collect();
    DiagnosisOptions { hours, ..DiagnosisOptions::default() }
}

/// The diagnosis, with a progress bar if it learns anew; it stops on Ctrl-C.
pub(crate) fn diagnosed(
    fitted: &Fitted,
    data: &Dataset,
    options: &DiagnosisOptions,
    console: &Console,
) -> anyhow::Result<Diagnosis> {
    let _listening = Listening::start();
    let bar = console.progress("diagnosing");
    let show = |progress| show(&bar, progress);
    let found = diagnose(fitted, &data.sessions(), options, interrupt::control(&show));
    bar.finish_and_clear();
    match found {
        Err(Error::Cancelled) => Err(Mistake::Interrupted("nothing was written".to_owned()).into()),
        found => Ok(found?),
    }
}
