//! The content of the report: plain data, already computed and worded.
//!
//! Times are in seconds from the origin of their session. Texts are plain text, never markup; the one
//! exception is the drawing of a [`Figure`].

use serde::Serialize;

/// Everything on the page, from top to bottom.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct Report {
    /// "12 sessions of simulated breathing".
    pub title: String,
    /// The command that made the page.
    pub command: String,
    /// Warnings, in plain words.
    pub warnings: Vec<String>,
    /// Facts about the learned annotator and the data.
    pub facts: Vec<Fact>,
    /// One timeline each.
    pub sessions: Vec<SessionView>,
    /// Finished drawings.
    pub figures: Vec<Figure>,
    /// Such as learners compared.
    pub tables: Vec<TableView>,
}

/// One number worth a card of its own.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct Fact {
    /// "typical delay".
    pub label: String,
    /// "1.5 s".
    pub value: String,
    /// What the number means.
    pub explanation: String,
}

/// One session. The vectors of instances have equal lengths.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct SessionView {
    /// Its name.
    pub name: String,
    /// The person or animal recorded.
    pub subject: Option<String>,
    /// ISO-8601 time of time zero, if the data had calendar times.
    pub start: Option<String>,
    /// The sensor's recording.
    pub signal: Option<SignalView>,
    /// Times of the instances.
    pub times: Vec<f64>,
    /// Probability that each is positive, from its features alone.
    pub p_detector: Vec<f64>,
    /// The same, given everything.
    pub p_positive: Vec<f64>,
    /// Probability that each is positive although it was not pressed.
    pub p_missed: Vec<f64>,
    /// Hand labels, if there are any.
    pub truth: Option<Vec<bool>>,
    /// The presses.
    pub stamps: Vec<StampView>,
    /// Times of events that the detector finds.
    pub detected: Vec<f64>,
    /// Times of events that the annotator probably missed.
    pub missed: Vec<f64>,
}

/// A recording. NaN is a missing value; a jump in time is a gap in the drawing.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct SignalView {
    /// Ascending.
    pub times: Vec<f64>,
    /// One per time.
    pub values: Vec<f64>,
}

/// A press and where it belongs.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct StampView {
    /// When the button was pressed.
    pub stamp: f64,
    /// Posterior median of the time that it belongs to.
    pub time: f64,
    /// 2.5 % quantile of that time.
    pub low: f64,
    /// 97.5 % quantile of that time.
    pub high: f64,
    /// Time of its most probable instance.
    pub instance_time: f64,
    /// Probability of that instance.
    pub p_instance: f64,
    /// Probability that there was no event.
    pub p_spurious: f64,
}

/// A finished drawing.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct Figure {
    /// Its heading.
    pub title: String,
    /// What it shows.
    pub caption: String,
    /// An `<svg>` element made by this program, in the colours of [`crate::palette`]. It goes into the page as it is.
    pub svg: String,
}

/// A table of finished texts.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct TableView {
    /// Its heading.
    pub title: String,
    /// What it shows.
    pub caption: String,
    /// One per column.
    pub header: Vec<String>,
    /// Each as long as the header.
    pub rows: Vec<Vec<String>>,
}
