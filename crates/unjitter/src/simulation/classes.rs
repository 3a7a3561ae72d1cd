//! An annotator of events of several classes, who sometimes records one as another.
//!
//! Whether and when an event is stamped does not depend on its class. A press for nothing is recorded as any class, as often
//! as there are events of it.

use super::annotator::{Annotator, Presses};
use crate::error::require;
use crate::math::Random;
use crate::{Error, Result};

/// How far the shares of a class may be from summing to one: they are typed by hand.
const ROUNDED: f64 = 1e-6;

/// Presses, and what they are recorded as.
#[derive(Debug, Clone, PartialEq)]
pub struct ClassPresses {
    /// The presses.
    pub presses: Presses,
    /// The class that each is recorded as, counted from 0.
    pub classes: Vec<usize>,
}

impl Annotator {
    /// Presses for the events of instances at `times`, each of a class counted from 0, or none. Row k of `confusion` has
    /// the probabilities of what events of class k are recorded as.
    pub fn press_classes(
        &self,
        times: &[f64],
        truth: &[Option<usize>],
        confusion: &[Vec<f64>],
        seed: u64,
    ) -> Result<ClassPresses> {
        check_confusion(confusion)?;
        if let Some(index) = truth.iter().position(|own| own.is_some_and(|k| k >= confusion.len()))
        {
            let value = truth[index].unwrap_or_default() as f64;
            let (what, expected) = ("class of instance", "the number of a row of the confusion");
            return Err(Error::BadInput { what, index, value, expected });
        }
        let events: Vec<bool> = truth.iter().map(Option::is_some).collect();
        let presses = self.press(times, &events, seed)?;
        let mut random = Random::new(seed ^ OF_CLASSES);
        let all: Vec<usize> = truth.iter().flatten().copied().collect();
        let mut class = |source: &Option<usize>| {
            let event = source.and_then(|i| truth[i]);
            let nothing = |random: &mut Random| match all.len() {
                0 => random.below(confusion.len()),
                count => all[random.below(count)],
            };
            let event = event.unwrap_or_else(|| nothing(&mut random));
            recorded(&confusion[event], random.uniform())
        };
        let classes = presses.sources.iter().map(&mut class).collect();
        Ok(ClassPresses { presses, classes })
    }
}

/// Lets records be drawn apart from presses.
const OF_CLASSES: u64 = 0x5bd1_e995_7b7d_159d;

/// The class at a place from 0 to 1 along the shares.
fn recorded(shares: &[f64], place: f64) -> usize {
    let mut below = 0.0;
    let reached = |share: &f64| {
        below += share;
        place < below
    };
    // Rounding may leave the last sum short of one.
    shares.iter().position(reached).unwrap_or(shares.len() - 1)
}

fn check_confusion(confusion: &[Vec<f64>]) -> Result<()> {
    let count = confusion.len();
    require("number of classes", count as f64, count > 0, "at least 1")?;
    for (k, row) in confusion.iter().enumerate() {
        let name = format!("number of shares of class {k}");
        require(&name, row.len() as f64, row.len() == count, "one for each class")?;
        for (c, &share) in row.iter().enumerate() {
            let name = format!("confusion of class {k} with class {c}");
            require(&name, share, (0.0..=1.0).contains(&share), "a probability from 0 to 1")?;
        }
        let total: f64 = row.iter().sum();
        let name = format!("sum of the shares of class {k}");
        require(&name, total, (total - 1.0).abs() < ROUNDED, "1")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulation::Spurious;

    #[test]
    fn events_are_recorded_as_often_as_the_confusion_says() {
        let times: Vec<f64> = (0..40_000).map(f64::from).collect();
        let truth: Vec<Option<usize>> =
            (0..40_000).map(|i| (i % 4 < 2).then_some(usize::from(i % 4 == 1))).collect();
        let confusion = [vec![0.9, 0.1], vec![0.3, 0.7]];
        let annotator = Annotator { miss: 0.2, ..Annotator::gaussian(0.0, 1.0) };
        let found = annotator.press_classes(&times, &truth, &confusion, 1).unwrap();
        assert_eq!(found.classes.len(), found.presses.stamps.len());
        for (k, row) in confusion.iter().enumerate() {
            let own = found.presses.sources.iter().zip(&found.classes);
            let own: Vec<usize> = own
                .filter(|(source, _)| source.and_then(|i| truth[i]) == Some(k))
                .map(|(_, &class)| class)
                .collect();
            let share = own.iter().filter(|&&class| class == 1).count() as f64 / own.len() as f64;
            // 8000 presses of a class: a standard error of half a per cent.
            assert!((share - row[1]).abs() < 0.02, "{k}: {share}");
        }
    }

    #[test]
    fn presses_for_nothing_have_a_class_too() {
        let spurious = Spurious::PerHour { rate: 3600.0, seconds_per_unit: 1.0 };
        let annotator = Annotator { spurious, ..Annotator::gaussian(0.0, 1.0) };
        let times: Vec<f64> = (0..100).map(f64::from).collect();
        let none = vec![None; 100];
        let confusion = [vec![1.0, 0.0], vec![0.0, 1.0]];
        let found = annotator.press_classes(&times, &none, &confusion, 1).unwrap();
        assert!(found.classes.contains(&0) && found.classes.contains(&1));
    }

    #[test]
    fn shares_that_are_none_are_refused() {
        let refused = |truth: usize, confusion: &[Vec<f64>]| {
            let annotator = Annotator::gaussian(0.0, 1.0);
            let found = annotator.press_classes(&[0.0], &[Some(truth)], confusion, 1);
            found.unwrap_err().to_string()
        };
        let good = [vec![0.9, 0.1], vec![0.3, 0.7]];
        assert!(refused(2, &good).contains("class of instance 0"));
        assert!(refused(0, &[]).contains("number of classes"));
        assert!(refused(0, &[vec![1.0], vec![0.0, 1.0]]).contains("shares of class 0"));
        assert!(
            refused(0, &[vec![0.9, 0.2], vec![0.0, 1.0]]).contains("sum of the shares of class 0")
        );
        assert!(
            refused(0, &[vec![1.1, -0.1], vec![0.0, 1.0]]).contains("class 0 with class 0 is 1.1")
        );
    }
}
