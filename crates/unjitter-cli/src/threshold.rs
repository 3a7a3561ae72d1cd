//! `--threshold`: a number, or a rule by which it is found.

use unjitter::evaluation::Threshold;

use crate::failure::usage;

/// The rule that needs no labels.
pub(crate) const EXPECTED_F1: (&str, Threshold) = ("expected-f1", Threshold::ExpectedF1);
/// The rule that needs labels.
pub(crate) const BEST_F1: (&str, Threshold) = ("best-f1", Threshold::BestF1);

/// A threshold from its text, which may be one of `rules`.
pub(crate) fn threshold(text: &str, rules: &[(&str, Threshold)]) -> anyhow::Result<Threshold> {
    if let Some((_, rule)) = rules.iter().find(|(name, _)| *name == text) {
        return Ok(*rule);
    }
    match text.parse() {
        Ok(p) if (0.0..=1.0).contains(&p) => Ok(Threshold::Fixed(p)),
        Ok(_) => Err(usage(format!("--threshold {text}: expected a number from 0 to 1"))),
        Err(_) => {
            let names: Vec<&str> = rules.iter().map(|(name, _)| *name).collect();
            let or = names.join(" or ");
            let comma = if rules.len() > 1 { "," } else { " or" };
            Err(usage(format!("--threshold {text}: expected a number{comma} {or}")))
        }
    }
}
