//! A model that meets sessions of groups that it has not seen, such as another clock or person.

use unjitter::io::Dataset;
use unjitter::{Error, Fitted, sync};

use crate::console::{Console, show};
use crate::failure::Mistake;
use crate::interrupt::{self, Listening};
use crate::modes_text::warning;
use crate::words::counted;

/// The model with what differs for the groups of the data, learned from their stamps; and a warning if clocks
/// were not found, which is printed already.
pub(crate) fn adapted(
    fitted: Fitted,
    data: &Dataset,
    console: &Console,
) -> anyhow::Result<(Fitted, Option<String>)> {
    if fitted.groups().is_empty() {
        return Ok((fitted, None));
    }
    let _listening = Listening::start();
    let bar = console.progress("adapting");
    let show = |progress| show(&bar, progress);
    let found = fitted.adapted(&data.sessions(), interrupt::control(&show));
    bar.finish_and_clear();
    let found = found.map_err(|error| match error {
        Error::Cancelled => Mistake::Interrupted("nothing was written".to_owned()).into(),
        error => anyhow::Error::from(error),
    })?;
    let (own, clocks) = (found.fitted, found.clocks);
    let groups = |fitted: &Fitted| -> usize {
        fitted.groups().effects().iter().map(|effect| effect.names.len()).sum()
    };
    let new = groups(&own) - groups(&fitted);
    if new > 0 {
        let numbers = counted(new, "number");
        console.note(&format!("learned {numbers} of groups that the model had not seen"));
    }
    let unknown = sync::warning(&clocks).map(|unknown| warning(&unknown));
    unknown.iter().for_each(|unknown| console.warn(unknown));
    Ok((own, unknown))
}
