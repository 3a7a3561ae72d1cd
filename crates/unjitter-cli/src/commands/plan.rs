//! `unjitter plan`: how many stamps are enough, and what labels would be worth.

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;
use unjitter::Fitted;
use unjitter::evaluation::fingerprint;
use unjitter::planning::{self, Outlook, PlanOptions};

use super::evaluate::{align_right, bare_table};
use crate::adapted::adapted;
use crate::checked::Checked;
use crate::config::ConfigFile;
use crate::console::{Console, show};
use crate::failure::Mistake;
use crate::gallery::plan_drawing;
use crate::input::Input;
use crate::interrupt::{self, Listening};
use crate::model_file::{ModelFile, adopt_columns};
use crate::output::Output;
use crate::words::{counted, number, percent, seconds};

/// Say what more sessions, or labels, would be worth
///
/// From the sessions that a model was fitted to: how many exact labels one of their stamps is worth;
/// how wide the intervals of delay, spread and missed share will be with more sessions like these, and
/// which F1 to expect; and the same if some of these sessions were labelled by hand. Nothing is fitted
/// again, unless --refits asks for a check.
#[derive(Debug, Clone, Args, Serialize)]
pub(crate) struct Plan {
    #[command(flatten)]
    input: Input,
    #[command(flatten)]
    #[serde(flatten)]
    checked: Checked,
    #[command(flatten)]
    model: ModelFile,
    /// Numbers of further sessions; by default half, once, twice and four times those there are
    #[arg(long, value_name = "N,…", value_delimiter = ',')]
    more: Vec<usize>,
    /// Numbers of the sessions to label by hand; by default one, a quarter, half and all
    #[arg(long, value_name = "N,…", value_delimiter = ',')]
    labelled: Vec<usize>,
    /// Probability of the intervals
    #[arg(long, value_name = "P", default_value_t = 0.95)]
    level: f64,
    /// Learn again from a quarter, half and three quarters of the sessions, so many times, and see
    /// whether F1 grows as expected; needs four sessions
    #[arg(long, value_name = "N", default_value_t = 0)]
    refits: usize,
    /// Write the figure as an SVG file into this folder
    #[arg(long, value_name = "FOLDER")]
    figures: Option<PathBuf>,
    /// Replace the figure if it is there
    #[arg(long)]
    force: bool,
    /// Seed of everything random
    #[arg(long, default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    config: ConfigFile,
}

impl Plan {
    pub(crate) fn run(mut self, console: &Console) -> anyhow::Result<()> {
        let figure = self.figures.as_ref().map(|folder| folder.join("plan.svg"));
        let mut output = Output::promise(figure.as_deref(), self.force)?;
        let fitted = self.model.load()?;
        adopt_columns(&mut self.input, &fitted, console)?;
        // As the model was fitted: labels that took part tell something already.
        let recorded = |name: &str| fitted.metadata().get("options")?.get(name)?.as_bool();
        let data = self.input.read_stamped(recorded("use_labels").unwrap_or(false))?;
        self.checked.refuse(&data, &fitted.model().varies, console)?;
        let known = fitted.metadata().get("fingerprint").and_then(|own| own.as_str());
        if known.is_some_and(|known| known != fingerprint(&data.recordings)) {
            console.warn(
                "the model was fitted to other data: what follows is what a fit to as many sessions \
                 as are here would know",
            );
        }
        let fitted = adapted(fitted, &data, console)?.0;
        let plan = self.plan(&fitted, &data.sessions(), console)?;
        if let Some(path) = &figure {
            output.add(path, plan_drawing(&plan).file().1);
        }
        output.write()?;
        console.result(&plan, || text(&plan, self.level))?;
        if self.refits == 0 {
            console.note("a check of the expected F1 by learning again: --refits 3");
        }
        Ok(())
    }

    /// Plans with a progress bar, and stops on Ctrl-C.
    fn plan(
        &self,
        fitted: &Fitted,
        sessions: &[unjitter::Session<'_>],
        console: &Console,
    ) -> anyhow::Result<planning::Plan> {
        let given = |numbers: &[usize]| (!numbers.is_empty()).then(|| numbers.to_vec());
        let options = PlanOptions {
            more: given(&self.more),
            labelled: given(&self.labelled),
            level: self.level,
            refits: self.refits,
            seed: self.seed,
            ..PlanOptions::default()
        };
        let _listening = Listening::start();
        let bar = console.progress("planning");
        let show = |progress| show(&bar, progress);
        let plan = fitted.plan(sessions, &options, interrupt::control(&show));
        bar.finish_and_clear();
        plan.map_err(|error| match error {
            unjitter::Error::Cancelled => {
                Mistake::Interrupted("nothing was planned".to_owned()).into()
            }
            error => error.into(),
        })
    }
}

fn text(plan: &planning::Plan, level: f64) -> String {
    let planning::Plan { sessions, stamps, worth, now, more, labelled, .. } = plan;
    let (at_hand, level) = (counted(*sessions, "session"), percent(level));
    let stamped =
        table(["sessions"], std::iter::once(now).chain(more), |own| [own.sessions.to_string()]);
    let by_hand = table(["labelled", "as good as"], labelled.iter(), |own| {
        let more = own.as_good_as.map_or("any number".to_owned(), number);
        [own.labelled.to_string(), format!("{more} more sessions")]
    });
    format!(
        "Planned from {at_hand} with {}\n\n\
         A stamp of this annotator is worth {} exact labels: {} of the sessions labelled by hand, and\n\
         none stamped, would teach the detector as much as the stamps of all.\n\n\
         With more sessions like these, stamped\n{stamped}\n\n\
         With some of these {at_hand} labelled by hand\n{by_hand}\n \
         Delay, spread, missed: widths of their {level} intervals. F1: expected at the model's threshold;\n \
         where the prior is strong its level comes out too low, and its growth is what to go by.",
        counted(*stamps, "stamp"),
        number(*worth),
        percent(*worth),
    )
}

/// What can be expected, with columns of its own in front.
fn table<'a, const N: usize>(
    own: [&str; N],
    rows: impl Iterator<Item = &'a Outlook>,
    front: impl Fn(&Outlook) -> [String; N],
) -> String {
    let rows: Vec<&Outlook> = rows.collect();
    let is_checked = rows.iter().any(|row| row.f1_refits.is_some());
    let checked = is_checked.then_some("F1 by refits");
    let header = own.into_iter().chain(["F1"]).chain(checked).chain(["delay", "spread", "missed"]);
    let mut table = bare_table(&header.collect::<Vec<_>>());
    for row in rows {
        let width = |own: Option<f64>, show: fn(f64) -> String| own.map_or("held".to_owned(), show);
        let mut cells = front(row).to_vec();
        cells.push(score(row.f1));
        cells.extend(row.f1_refits.map(score));
        cells.extend([
            width(row.widths.delay, seconds),
            width(row.widths.spread, seconds),
            width(row.widths.miss_rate, percent),
        ]);
        table.add_row(cells);
    }
    align_right(&mut table, 0);
    table.trim_fmt()
}

fn score(f1: f64) -> String {
    format!("{f1:.3}")
}
