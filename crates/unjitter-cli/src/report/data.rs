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
    /// The classes of events, if there are several.
    pub classes: Vec<ClassView>,
    /// The presses.
    pub stamps: Vec<StampView>,
    /// Events that the detector finds, in order of time; of several classes, those of each by themselves.
    pub detected: Vec<EventView>,
    /// Events that the annotator probably missed.
    pub missed: Vec<EventView>,
    /// True events, where they are runs or of classes; otherwise they are the instances with such labels.
    pub true_events: Option<Vec<EventView>>,
}

/// A class of events. The vectors have one element per instance, or none where nothing is known of the class.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct ClassView {
    /// Its name.
    pub name: String,
    /// Probability that an event of it is at each instance, from features alone.
    pub p_detector: Vec<f64>,
    /// The same, given everything.
    pub p_positive: Vec<f64>,
}

/// An event: an instance, or a run of them.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub(crate) struct EventView {
    /// Time of its first instance.
    pub begin: f64,
    /// Time of its last one.
    pub end: f64,
    /// Its class, by number, if there are several.
    pub class: Option<usize>,
}

impl EventView {
    /// An event of one instance.
    pub(crate) fn at(time: f64) -> Self {
        Self { begin: time, end: time, class: None }
    }
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
#[derive(Debug, Clone, Copy, Default, Serialize)]
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
    /// When what was pressed for ended, if that was pressed too.
    pub end: Option<EndView>,
    /// Of which class it is, if there are several.
    pub class: Option<StampClass>,
}

/// The press of an end and where it belongs; as in [`StampView`].
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub(crate) struct EndView {
    pub stamp: f64,
    pub time: f64,
    pub low: f64,
    pub high: f64,
    pub instance_time: f64,
    pub p_spurious: f64,
}

/// The class of a press, by number.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub(crate) struct StampClass {
    /// What it is recorded as.
    pub recorded: usize,
    /// What the event most probably is.
    pub likeliest: usize,
    /// The probability of that.
    pub p: f64,
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
