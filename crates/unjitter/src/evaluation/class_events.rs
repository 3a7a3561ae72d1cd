//! From a probability of each class for each instance to a list of events with their classes.
//!
//! There is an event where one of any class is as probable as the threshold, and it is of the likeliest class there. A
//! threshold for each class by itself would miss an event that is surely there and may be of either of two classes, and at
//! a low threshold would tell one event twice. Everything else is as in [`detect_events`](super::detect_events), which is
//! the same for one class: candidates of all classes exclude each other, since one thing happens at a time. Where labels
//! form runs, events of a class are found among neighbours that are likeliest of it, and those of different classes follow
//! each other, so that no event has an instance of another class.

use serde::{Deserialize, Serialize};

use super::events::{Detection, EventOptions, check_times, is_kept, whole};
use super::instances::check_probabilities;
use super::rounding::slack;
use super::runs::ArrivingRuns;
use crate::error::require;
use crate::labels::Labels;
use crate::{Error, Result};

/// A detected event of one of several classes. Its score is the probability of an event of any class.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ClassDetection {
    /// When it is, and how sure that there is one.
    #[serde(flatten)]
    pub event: Detection,
    /// The number of its class.
    pub class: usize,
}

/// The number of the likeliest class of an instance, of equals the first, if an event of any class is as probable as the
/// threshold.
pub fn told_class(probabilities: &[f64], threshold: f64) -> Option<usize> {
    (any(probabilities) >= threshold).then(|| likeliest(probabilities))
}

/// The events of one session, in order of time, from probabilities by instance and class. Instances may come in any order.
///
/// Runs closer than `min_separation` are one if they are neighbours of the same class.
pub fn detect_class_events(
    times: &[f64],
    probabilities: &[f64],
    classes: usize,
    options: &EventOptions,
) -> Result<Vec<ClassDetection>> {
    options.check()?;
    require("classes", classes as f64, classes > 0, "a number above 0")?;
    if times.len() * classes != probabilities.len() {
        return Err(Error::Unpaired {
            what: "times",
            found: times.len(),
            against: "probabilities",
            expected: probabilities.len() / classes,
        });
    }
    check_probabilities(probabilities)?;
    check_times("time", times)?;
    let instance = |(&time, own): (&f64, &[f64])| ClassDetection {
        event: Detection::at(time, any(own)),
        class: likeliest(own),
    };
    let mut instances: Vec<ClassDetection> =
        times.iter().zip(probabilities.chunks_exact(classes)).map(instance).collect();
    instances.sort_by(|a, b| a.event.time.total_cmp(&b.event.time));
    let limit =
        options.min_separation - slack(times.iter().copied().chain([options.min_separation]));
    let is_candidate = |one: &ClassDetection| one.event.score >= options.threshold;
    Ok(match options.labels {
        Labels::Independent => {
            instances.retain(is_candidate);
            let events: Vec<Detection> = instances.iter().map(|one| one.event).collect();
            let kept = is_kept(&events, limit);
            instances.into_iter().zip(kept).filter(|one| one.1).map(|one| one.0).collect()
        }
        Labels::Chain => {
            let of_one_class =
                instances.chunk_by(|a, b| a.class == b.class).flat_map(|own| runs_of(own, options));
            let runs: Vec<ClassDetection> = of_one_class.collect();
            let is_near = |a: &ClassDetection, b: &ClassDetection| {
                a.class == b.class && b.event.time - a.event.end < limit
            };
            runs.chunk_by(is_near).map(joined).collect()
        }
    })
}

/// Events of instances of one class, before any are joined.
fn runs_of(instances: &[ClassDetection], options: &EventOptions) -> Vec<ClassDetection> {
    let mut runs = ArrivingRuns::new(EventOptions { min_separation: 0.0, ..*options });
    let mut found = Vec::new();
    instances.iter().for_each(|own| runs.push(own.event.time, own.event.score, &mut found));
    runs.finish(&mut found);
    found.into_iter().map(|event| ClassDetection { event, class: instances[0].class }).collect()
}

/// The probability of an event of any class. As it is built, so it is compared, everywhere.
fn any(probabilities: &[f64]) -> f64 {
    probabilities.iter().sum()
}

fn likeliest(probabilities: &[f64]) -> usize {
    let more = |k: usize, j: usize| if probabilities[j] > probabilities[k] { j } else { k };
    (1..probabilities.len()).fold(0, more)
}

/// One event of its parts, which are of one class.
fn joined(parts: &[ClassDetection]) -> ClassDetection {
    let events: Vec<Detection> = parts.iter().map(|part| part.event).collect();
    ClassDetection { event: whole(&events), class: parts[0].class }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Begin, end and class of events of two classes.
    fn found(p: &[[f64; 2]], min_separation: f64, labels: Labels) -> Vec<(f64, f64, usize)> {
        let times: Vec<f64> = (0..p.len()).map(|i| i as f64).collect();
        let options = EventOptions { min_separation, labels, ..EventOptions::default() };
        let events = detect_class_events(&times, p.as_flattened(), 2, &options).unwrap();
        events.iter().map(|one| (one.event.time, one.event.end, one.class)).collect()
    }

    #[test]
    fn classes_together_reach_the_threshold_that_none_does() {
        let p = [[0.3, 0.4], [0.2, 0.2], [0.4, 0.3], [0.3, 0.3]];
        assert_eq!(
            found(&p, 0.0, Labels::Independent),
            [(0.0, 0.0, 1), (2.0, 2.0, 0), (3.0, 3.0, 0)]
        );
        assert_eq!(told_class(&p[0], 0.5), Some(1));
        assert_eq!(told_class(&p[1], 0.5), None);
        // Of equals the first.
        assert_eq!(told_class(&p[3], 0.5), Some(0));
    }

    #[test]
    fn candidates_of_all_classes_exclude_each_other() {
        let p = [[0.6, 0.1], [0.1, 0.8], [0.0, 0.0], [0.7, 0.0]];
        assert_eq!(found(&p, 1.5, Labels::Independent), [(1.0, 1.0, 1), (3.0, 3.0, 0)]);
    }

    #[test]
    fn runs_of_two_classes_follow_each_other() {
        let p = [[0.8, 0.1], [0.7, 0.2], [0.1, 0.8], [0.1, 0.1], [0.2, 0.6], [0.9, 0.0]];
        let want = [(0.0, 1.0, 0), (2.0, 2.0, 1), (4.0, 4.0, 1), (5.0, 5.0, 0)];
        assert_eq!(found(&p, 0.0, Labels::Chain), want);
        let want = [(0.0, 1.0, 0), (2.0, 4.0, 1), (5.0, 5.0, 0)];
        assert_eq!(found(&p, 2.5, Labels::Chain), want);
    }

    #[test]
    fn bad_input_is_named() {
        let options = EventOptions::default();
        let message = |classes| {
            detect_class_events(&[0.0], &[0.5; 4], classes, &options).unwrap_err().to_string()
        };
        assert_eq!(message(2), "1 times for 2 probabilities");
        assert!(message(0).starts_with("classes is 0"), "{}", message(0));
    }
}
