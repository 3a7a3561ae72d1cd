//! What differs between groups of stamps: `--varies delay=annotator`, `--clock session`.

use std::str::FromStr;

use clap::Args;
use serde::{Serialize, Serializer};
use unjitter::Model;
use unjitter::io::suggest;
use unjitter::model::{Factor, Variation, Varying};

use crate::failure::usage;
use crate::time_span::TimeSpan;

/// Groups on the command line.
#[derive(Debug, Clone, Args, Serialize)]
pub(crate) struct GroupArgs {
    /// Let a number of the annotator differ between groups of stamps, WHAT=BY, such as delay=annotator
    /// or spread=subject. WHAT is delay, offset, drift, spread, miss-rate, false-rate or
    /// background-rate; BY is annotator, session, subject, device or clock. How far groups differ is
    /// learned too, so a group with few stamps is drawn to the others. May be given several times
    #[arg(long, value_name = "WHAT=BY", help_heading = "Model")]
    varies: Vec<Varies>,
    /// What shares a clock that may be off and run fast or slow: session, clock, device, subject or
    /// annotator. The same as --varies offset=BY --varies drift=BY
    #[arg(long, value_name = "BY", value_parser = factor, help_heading = "Model")]
    clock: Option<Factor>,
    /// The furthest that delays or clocks of groups are looked for, such as 180s or 3min; by default
    /// twice the mean time between stamps
    #[arg(long, value_name = "TIME", help_heading = "Model")]
    clock_range: Option<TimeSpan>,
}

impl GroupArgs {
    /// The model with what differs.
    pub(crate) fn applied(&self, mut model: Model) -> anyhow::Result<Model> {
        model.varies = self.varies.iter().map(|own| own.0).collect();
        if let Some(by) = self.clock {
            model = model.with_clocks(by);
        }
        let repeated = |k: &usize| model.varies[..*k].contains(&model.varies[*k]);
        if let Some(k) = (0..model.varies.len()).find(repeated) {
            let Variation { what, by } = model.varies[k];
            let clock = if self.clock == Some(by) { "; --clock says so already" } else { "" };
            let (what, by) = (what.name(), by.name());
            return Err(usage(format!("--varies {what}={by}: it is given twice{clock}")));
        }
        let is_shift = |own: &Variation| matches!(own.what, Varying::Delay | Varying::Offset);
        if self.clock_range.is_some() && !model.varies.iter().any(is_shift) {
            let message = "--clock-range has no effect here: it belongs to --clock, or to --varies of \
                           delay or offset";
            return Err(usage(message));
        }
        model.clock_range = self.clock_range.as_ref().map(|range| range.seconds);
        Ok(model)
    }
}

/// A number that differs, and between what.
#[derive(Debug, Clone, Copy)]
struct Varies(Variation);

impl FromStr for Varies {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let Some((what, by)) = text.split_once('=') else {
            return Err("expected WHAT=BY, such as delay=annotator".to_owned());
        };
        let what = named(what, "number that varies", &Varying::ALL, Varying::name)?;
        Ok(Self(Variation { what, by: factor(by)? }))
    }
}

impl Serialize for Varies {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        format!("{}={}", self.0.what.name(), self.0.by.name()).serialize(serializer)
    }
}

/// What groups of stamps have in common, by its name.
pub(crate) fn factor(text: &str) -> Result<Factor, String> {
    named(text, "kind of group", &Factor::ALL, Factor::name)
}

/// One of several things by its name, with dashes or underscores.
fn named<T: Copy>(
    text: &str,
    thing: &str,
    all: &[T],
    name: fn(T) -> &'static str,
) -> Result<T, String> {
    let wanted = text.trim().replace('-', "_");
    let found = all.iter().find(|one| name(**one) == wanted);
    found.copied().ok_or_else(|| {
        let names: Vec<String> = all.iter().map(|one| name(*one).replace('_', "-")).collect();
        let hint = match suggest(&text.replace('_', "-"), names.iter().map(String::as_str)) {
            Some(likely) => format!("did you mean `{likely}`?"),
            None => format!("there are {}", names.join(", ")),
        };
        format!("there is no {thing} `{}`; {hint}", text.trim())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variations_are_named_with_dashes_or_underscores() {
        for (text, told) in [
            ("delay=annotator", "delay by annotator"),
            ("miss-rate=subject", "miss_rate by subject"),
            ("miss_rate = device", "miss_rate by device"),
            ("drift=clock", "drift by clock"),
        ] {
            assert_eq!(text.parse::<Varies>().unwrap().0.to_string(), told);
        }
    }

    #[test]
    fn other_variations_are_refused_with_a_hint() {
        for (text, expected) in [
            ("delay", "expected WHAT=BY, such as delay=annotator"),
            ("delays=annotator", "no number that varies `delays`; did you mean `delay`?"),
            ("miss=annotator", "no number that varies `miss`; did you mean `miss-rate`?"),
            ("delay=sesion", "no kind of group `sesion`; did you mean `session`?"),
            ("delay=", "there are annotator, session, subject, device, clock, class"),
        ] {
            let error = text.parse::<Varies>().unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
