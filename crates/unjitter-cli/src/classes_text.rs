//! What annotators record events of each class as, as a table.

use serde::Serialize;
use unjitter::Fitted;
use unjitter::model::Estimate;

use crate::commands::evaluate::{align_right, bare_table};
use crate::words::{interval, percent};

/// A confusion matrix, row by row.
#[derive(Debug, Serialize)]
pub(crate) struct Confusion<'a> {
    classes: &'a [String],
    /// Probabilities of records, by class of the event.
    recorded: Vec<Vec<f64>>,
    /// How sure the fit is of them, at 95 %; none where it does not know.
    #[serde(skip)]
    estimates: Vec<Vec<Option<Estimate>>>,
}

impl<'a> Confusion<'a> {
    /// None if events have one class.
    pub(crate) fn of(fitted: &'a Fitted) -> Option<Self> {
        let (classes, recorded) = (fitted.classes(), fitted.confusion()?);
        let estimates = |class: &String| {
            let known = fitted.estimates(&format!("confusion.{class}"), 0.95);
            let mut known = known.expect("every class has a row, and 95 % is a level");
            known.resize(classes.len(), None);
            known
        };
        Some(Self { classes, recorded, estimates: classes.iter().map(estimates).collect() })
    }

    /// With the interval of each share on the diagonal.
    pub(crate) fn text(&self) -> String {
        let mut header = vec!["events"];
        header.extend(self.classes.iter().map(String::as_str));
        let mut table = bare_table(&header);
        for (k, (class, row)) in self.classes.iter().zip(&self.recorded).enumerate() {
            let cell = |(c, &share): (usize, &f64)| {
                let sure = self.estimates[k][c].filter(|_| c == k);
                format!("{}{}", percent(share), interval(sure, percent))
            };
            table.add_row([class.clone()].into_iter().chain(row.iter().enumerate().map(cell)));
        }
        align_right(&mut table, 1);
        format!("Events of each class are recorded as\n{}\n", table.trim_fmt())
    }
}
