//! How well each class of events is found.
//!
//! An instance counts for a class if its label names it, and is found as the likeliest class of a detector if an
//! event of any class is as likely there as the threshold. Each class has its own precision, recall and F1. Of
//! all there are two averages: the mean over classes (macro), in which a rare class weighs as much as a usual one,
//! and the scores of all events together (micro).

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::class_events::told_class;
use super::cross_validation::{Comparison, ContenderResult};
use super::scores::Scores;
use crate::baselines::TrainedModel;
use crate::{Error, Recording, Result};

/// Scores of each class, and their averages.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClassScores {
    /// One per class.
    pub classes: Vec<ClassScore>,
    /// The mean of each score over classes, beside the number of all events.
    pub macro_average: AveragedScore,
    /// All events together.
    pub micro_average: AveragedScore,
}

/// Scores of a class.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClassScore {
    /// Its name.
    pub class: String,
    /// Instances whose labels name it.
    pub events: usize,
    /// Precision, recall and F1.
    #[serde(flatten)]
    pub scores: Scores,
}

/// Scores of all classes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct AveragedScore {
    /// Instances whose labels name a class.
    pub events: usize,
    /// Precision, recall and F1.
    #[serde(flatten)]
    pub scores: Scores,
}

/// The classes that a detector finds in the held-out recordings of a fold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FoundClasses {
    /// Names of the classes that it knows.
    pub names: Vec<String>,
    /// The number of the class of each instance that is an event, by recording.
    pub told: Vec<Vec<Option<usize>>>,
}

impl FoundClasses {
    /// What a detector finds in recordings; none if it knows no classes.
    pub(super) fn of(
        trained: &TrainedModel,
        held_out: &[&Recording],
        threshold: f64,
    ) -> Result<Option<Self>> {
        let TrainedModel::Fitted(fitted) = trained else { return Ok(None) };
        let names = fitted.classes().to_vec();
        if names.is_empty() {
            return Ok(None);
        }
        let told = held_out.iter().map(|recording| {
            let all = fitted.predict_classes(&recording.session)?;
            Ok(all.chunks_exact(names.len()).map(|own| told_class(own, threshold)).collect())
        });
        let told = told.collect::<Result<_>>()?;
        Ok(Some(Self { names, told }))
    }
}

/// Hits, instances found as a class, and instances that are of it.
#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    hits: usize,
    found: usize,
    events: usize,
}

impl Counts {
    fn scores(self) -> Scores {
        Scores::from_counts(self.hits, self.found - self.hits, self.events - self.hits)
    }

    fn plus(self, other: Self) -> Self {
        Self {
            hits: self.hits + other.hits,
            found: self.found + other.found,
            events: self.events + other.events,
        }
    }
}

/// Scores of the classes `names`: one class per instance in `truth` and in `found`, empty for no event. At least one
/// class.
pub fn class_scores(names: &[String], truth: &[&str], found: &[&str]) -> Result<ClassScores> {
    if found.len() != truth.len() {
        return Err(Error::Unpaired {
            what: "found classes",
            found: found.len(),
            against: "labels",
            expected: truth.len(),
        });
    }
    if names.is_empty() {
        return Err(Error::TooFew { what: "classes", found: 0, least: 1 });
    }
    let count = |name: &String| {
        let pairs = truth.iter().zip(found);
        pairs.fold(Counts::default(), |sum, (label, told)| {
            let [is_true, is_found] = [label, told].map(|own| *own == name);
            sum.plus(Counts {
                hits: usize::from(is_true && is_found),
                found: usize::from(is_found),
                events: usize::from(is_true),
            })
        })
    };
    let counts: Vec<Counts> = names.iter().map(count).collect();
    let rows: Vec<Scores> = counts.iter().map(|own| own.scores()).collect();
    let mean = |of: fn(&Scores) -> f64| rows.iter().map(of).sum::<f64>() / rows.len() as f64;
    let all = counts.iter().copied().fold(Counts::default(), Counts::plus);
    let macro_scores = Scores {
        precision: mean(|own| own.precision),
        recall: mean(|own| own.recall),
        f1: mean(|own| own.f1),
    };
    let row = |((class, own), &scores): ((&String, &Counts), &Scores)| ClassScore {
        class: class.clone(),
        events: own.events,
        scores,
    };
    Ok(ClassScores {
        classes: names.iter().zip(&counts).zip(&rows).map(row).collect(),
        macro_average: AveragedScore { events: all.events, scores: macro_scores },
        micro_average: AveragedScore { events: all.events, scores: all.scores() },
    })
}

impl Comparison {
    /// Scores by class of a contender's held-out instances; `truth` has the class of each instance by recording, empty
    /// for no event. None if a recording's labels name no classes, if the contender knows none, or if there is only one.
    pub fn class_scores(
        &self,
        judged: &ContenderResult,
        truth: &[Option<Vec<String>>],
    ) -> Result<Option<ClassScores>> {
        let (mut labels, mut told) = (Vec::new(), Vec::new());
        let mut names: BTreeSet<&String> = BTreeSet::new();
        for (fold, result) in self.folds.iter().zip(&judged.folds) {
            let Some(found) = &result.classes else { return Ok(None) };
            names.extend(&found.names);
            for (r, &k) in fold.iter().enumerate() {
                let Some(own) = truth.get(k).and_then(Option::as_ref) else { return Ok(None) };
                let class = |one: &Option<usize>| one.map_or("", |k| found.names[k].as_str());
                names.extend(own.iter().filter(|class| !class.is_empty()));
                labels.extend(own.iter().map(String::as_str));
                told.extend(found.told[r].iter().map(class));
            }
        }
        if names.len() < 2 {
            return Ok(None);
        }
        let names: Vec<String> = names.into_iter().cloned().collect();
        class_scores(&names, &labels, &told).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Vec<String> {
        ["cough", "rare", "sneeze"].map(str::to_owned).to_vec()
    }

    #[test]
    fn classes_are_counted_by_themselves_and_together() {
        let truth = ["cough", "cough", "", "sneeze", "sneeze", "", "cough"];
        let found = ["cough", "sneeze", "cough", "sneeze", "", "", "cough"];
        let got = class_scores(&names(), &truth, &found).unwrap();
        let of = |k: usize| (got.classes[k].events, got.classes[k].scores);
        let third = 2.0 / 3.0;
        assert_eq!(of(0), (3, Scores { precision: third, recall: third, f1: third }));
        assert_eq!(of(1), (0, Scores { precision: 0.0, recall: 0.0, f1: 0.0 }));
        assert_eq!(of(2), (2, Scores { precision: 0.5, recall: 0.5, f1: 0.5 }));
        let AveragedScore { events, scores } = got.macro_average;
        // The third class is never there and never found. A sum and a division.
        assert!(events == 5 && (scores.f1 - (third + 0.5) / 3.0).abs() < 1e-15);
        let together = Scores { precision: 0.6, recall: 0.6, f1: 0.6 };
        assert_eq!(got.micro_average, AveragedScore { events: 5, scores: together });
    }

    #[test]
    fn bad_input_is_named() {
        let message =
            |truth: &[&str]| class_scores(&names(), truth, &["cough"]).unwrap_err().to_string();
        assert_eq!(message(&[]), "1 found classes for 0 labels");
        let none = class_scores(&[], &[], &[]).unwrap_err().to_string();
        assert_eq!(none, "0 classes, expected at least 1");
    }
}
