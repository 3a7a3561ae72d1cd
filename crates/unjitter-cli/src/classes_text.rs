//! What annotators record events of each class as, and how well each is found, as tables.

use std::collections::BTreeSet;

use serde::Serialize;
use unjitter::Fitted;
use unjitter::evaluation::{ClassScores, Scores, class_scores, told_class};
use unjitter::io::Dataset;
use unjitter::model::Estimate;

use crate::report::TableView;
use crate::tables::as_text;
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

    /// For a terminal.
    pub(crate) fn text(&self) -> String {
        as_text(&self.view(), 1)
    }

    /// With the interval of each share on the diagonal.
    fn view(&self) -> TableView {
        let row = |(k, (class, row)): (usize, (&String, &Vec<f64>))| {
            let cell = |(c, &share): (usize, &f64)| {
                let sure = self.estimates[k][c].filter(|_| c == k);
                format!("{}{}", percent(share), interval(sure, percent))
            };
            [class.clone()].into_iter().chain(row.iter().enumerate().map(cell)).collect()
        };
        TableView {
            title: "Events of each class are recorded as".to_owned(),
            caption: String::new(),
            header: ["events".to_owned()].into_iter().chain(self.classes.iter().cloned()).collect(),
            rows: self.classes.iter().zip(&self.recorded).enumerate().map(row).collect(),
        }
    }
}

/// What annotators confuse, and how well each class is found; nothing if events have one class.
pub(crate) fn tables(fitted: &Fitted, data: &Dataset) -> Vec<TableView> {
    let Some(confusion) = Confusion::of(fitted) else { return Vec::new() };
    [Some(confusion.view()), scores(fitted, data)].into_iter().flatten().collect()
}

/// Scores of each class over the sessions whose labels name classes; none if there are none.
fn scores(fitted: &Fitted, data: &Dataset) -> Option<TableView> {
    let (mut truth, mut found) = (Vec::new(), Vec::new());
    for (recording, labels) in data.recordings.iter().zip(&data.classes) {
        let Some(labels) = labels else { continue };
        // Sessions that were aligned have the right features.
        let own = fitted.predict_classes(&recording.session).ok()?;
        truth.extend(labels.iter().map(String::as_str));
        let names = fitted.classes();
        let told = own.chunks_exact(names.len()).map(|own| told_class(own, fitted.threshold()));
        found.extend(told.map(|class| class.map_or("", |k| names[k].as_str())));
    }
    let names: BTreeSet<&str> = fitted.classes().iter().map(String::as_str).collect();
    let names: BTreeSet<&str> = names.into_iter().chain(truth.iter().copied()).collect();
    let names: Vec<String> =
        names.into_iter().filter(|name| !name.is_empty()).map(str::to_owned).collect();
    let scores = class_scores(&names, &truth, &found).ok().filter(|_| !truth.is_empty())?;
    Some(TableView {
        title: "Scores by class".to_owned(),
        caption: "Of the instances shown here, by features alone; a model that was learned from them \
                  does less well elsewhere. Macro is the mean of all classes, micro counts all events \
                  together."
            .to_owned(),
        header: ["class", "events", "F1", "precision", "recall"].map(str::to_owned).to_vec(),
        rows: score_rows(&scores),
    })
}

/// Class, events, F1, precision and recall, of each class and of both averages.
pub(crate) fn score_rows(scores: &ClassScores) -> Vec<Vec<String>> {
    let row = |class: &str, events: usize, own: &Scores| {
        let scores = [own.f1, own.precision, own.recall].map(|own| format!("{own:.3}"));
        [class.to_owned(), events.to_string()].into_iter().chain(scores).collect()
    };
    let classes = scores.classes.iter().map(|own| row(&own.class, own.events, &own.scores));
    let averages = [("macro", &scores.macro_average), ("micro", &scores.micro_average)];
    let averages = averages.into_iter().map(|(name, own)| row(name, own.events, &own.scores));
    classes.chain(averages).collect()
}
