//! Held-out evidence compared with the best, in tables.

use serde_json::Value;
use unjitter::evaluation::{CandidateResult, HeldOut, Summary, is_equal};

use crate::commands::evaluate::{align_right, bare_table};
use crate::words::number;

/// What the columns mean.
const CAPTION: &str = " behind the best: log evidence of held-out stamps, per session, \u{b1} its standard error \
                       over sessions;\n    equal: within one of these";

/// How far something is behind the best: "1.2 \u{b1} 0.4", and whether that counts.
pub(crate) fn behind(own: Option<HeldOut>) -> String {
    let Some(own) = own else { return "impossible".to_owned() };
    if own.mean == 0.0 && own.standard_error == 0.0 {
        return "best".to_owned();
    }
    let equal = if is_equal(&own) { ", equal" } else { "" };
    format!("{} \u{b1} {}{equal}", number(own.mean), number(own.standard_error))
}

/// Below a table that has such a column.
pub(crate) fn caption() -> &'static str {
    CAPTION
}

/// The options that the evidence chose from; nothing if it chose none.
pub(crate) fn options_table(summaries: &[&Summary]) -> Option<String> {
    let mut table =
        bare_table(&["learner", "options", "parameters", "behind the best", "chosen in folds"]);
    for summary in summaries {
        for (own, options) in summary.candidates.iter().zip(differences(&summary.candidates)) {
            let (CandidateResult { simplicity, chosen, .. }, name) = (own, summary.name.clone());
            let parameters = simplicity.parameters.to_string();
            table.add_row([name, options, parameters, behind(own.behind), chosen.to_string()]);
        }
    }
    align_right(&mut table, 2);
    let rule = "\n Of equal options the simplest is taken: fewest parameters, then the largest \
                weight_precision.";
    let is_any = summaries.iter().any(|summary| !summary.candidates.is_empty());
    is_any.then(|| table.trim_fmt() + "\n" + CAPTION + "." + rule)
}

/// Of each candidate, the options in which they differ.
fn differences(candidates: &[CandidateResult]) -> Vec<String> {
    let all: Vec<Vec<(String, &Value)>> =
        candidates.iter().map(|own| leaves(String::new(), &own.options)).collect();
    let is_shared = |leaf: &(String, &Value)| all.iter().all(|other| other.contains(leaf));
    let differing = |own: &Vec<(String, &Value)>| {
        let own = own.iter().filter(|leaf| !is_shared(leaf));
        own.map(|(name, value)| format!("{name} {value}")).collect::<Vec<_>>().join(", ")
    };
    all.iter().map(differing).collect()
}

/// Names and values of everything in an object, however deep, by the last part of the name.
fn leaves(name: String, value: &Value) -> Vec<(String, &Value)> {
    match value {
        Value::Object(inside) => {
            inside.iter().flat_map(|(name, value)| leaves(name.clone(), value)).collect()
        }
        _ => vec![(name, value)],
    }
}

#[cfg(test)]
mod tests {
    use unjitter::evaluation::Simplicity;

    use super::*;

    fn candidate(options: Value, mean: f64) -> CandidateResult {
        CandidateResult {
            options,
            simplicity: Simplicity { parameters: 7, weight_precision: 1.0 },
            behind: Some(HeldOut { mean, standard_error: 0.5 * mean.min(1.0) }),
            chosen: 2,
        }
    }

    #[test]
    fn only_differences_are_named() {
        let options = |precision: f64, bag: usize| {
            let priors = serde_json::json!({ "weight_precision": precision, "delay_sd": 3.0 });
            serde_json::json!({ "kind": "x", "options": { "priors": priors, "bag_size": bag } })
        };
        let all = [candidate(options(1.0, 4), 0.0), candidate(options(10.0, 4), 3.0)];
        assert_eq!(differences(&all), ["weight_precision 1.0", "weight_precision 10.0"]);
        let all = [candidate(options(1.0, 4), 0.0), candidate(options(2.0, 8), 3.0)];
        assert_eq!(differences(&all)[1], "bag_size 8, weight_precision 2.0");
        assert_eq!([behind(all[0].behind), behind(all[1].behind)], ["best", "3 \u{b1} 0.5"]);
        let near = HeldOut { mean: 0.2, standard_error: 0.3 };
        assert_eq!(behind(Some(near)), "0.2 \u{b1} 0.3, equal");
        assert_eq!(behind(None), "impossible");
    }
}
