//! Detection while instances arrive.
//!
//! Independent labels are told at once, with the bits of a prediction of the whole recording. Labels that form runs wait
//! until nothing that may come can move their probability by more than a tolerance, so that they too are those of the whole
//! recording, to the tolerance; how long that takes depends on how fast the chain forgets and how sure features are. A
//! bound on the waiting time tells an instance earlier, with how far it might still have moved, and an event that is one
//! instance.

use crate::error::require;
use crate::labels::{Arriving, Labels};
use crate::math::sigmoid;
use crate::model::Detector;
use crate::{Error, Features, Result};

use super::arriving::ArrivingEvents;
use super::events::{Detection, EventOptions};

/// When instances and events leave.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StreamOptions {
    /// Probability from which an instance counts as an event.
    pub threshold: f64,
    /// Smallest distance between two events, at least 0, in the unit of time.
    pub min_separation: f64,
    /// An instance leaves when nothing that may come moves its probability further than this, from 0 to 1.
    pub tolerance: f64,
    /// It leaves at the latest when another arrives this much later, in the unit of time, and an event that is an instance
    /// at that too; by default they wait as long as they have to. What leaves early is told by what came until then, and
    /// events still are the smallest distance apart.
    pub within: Option<f64>,
}

impl Default for StreamOptions {
    fn default() -> Self {
        let EventOptions { threshold, min_separation, .. } = EventOptions::default();
        Self { threshold, min_separation, tolerance: 1e-9, within: None }
    }
}

/// An instance that has left.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Told {
    /// Its time.
    pub time: f64,
    /// The probability that it is positive, given all until the newest instance.
    pub probability: f64,
    /// What comes later could not have moved this probability further.
    pub unsettled: f64,
}

/// What leaves when instances arrive, each in order of time.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Departed {
    /// Instances.
    pub instances: Vec<Told>,
    /// Events, as [`detect_events`](super::detect_events) finds them in the probabilities of the instances.
    pub events: Vec<Detection>,
}

/// A recording that goes on.
///
/// ```
/// # use ndarray::Array2;
/// # use unjitter::evaluation::StreamOptions;
/// # use unjitter::simulation::{Sloppiness, Wearable};
/// # use unjitter::{Control, FitOptions, Model, Session};
/// # let few = Wearable { people: 3, seconds: 100.0, windows_per_second: 1.0, ..Wearable::default() };
/// # let recordings = Sloppiness::default().annotate(&few.simulate(1, Control::default())?, 1.0, 1)?;
/// # let sessions: Vec<Session> = recordings.into_iter().map(|one| one.session).collect();
/// let fitted = Model::default().fit(&sessions[1..], &FitOptions::default(), Control::default())?;
/// let mut stream = fitted.detector().stream(StreamOptions::default())?;
/// let coming = &sessions[0];
/// for (i, &time) in coming.times().iter().enumerate() {
///     let row = Array2::from_shape_fn((1, 6), |(_, column)| coming.features().row(i)[column]);
///     for event in stream.push(&[time], row)?.events {
///         println!("at {}", event.time);
///     }
/// }
/// let last = stream.finish();
/// # assert!(last.instances.is_empty());
/// # Ok::<(), unjitter::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Stream {
    detector: Detector,
    options: StreamOptions,
    newest: f64,
    /// Labels that form runs.
    chain: Option<Arriving>,
    events: ArrivingEvents,
}

impl Detector {
    /// A recording whose instances arrive one by one.
    pub fn stream(&self, options: StreamOptions) -> Result<Stream> {
        let StreamOptions { threshold, min_separation, tolerance, within } = options;
        let labels = if self.runs().is_some() { Labels::Chain } else { Labels::Independent };
        let events = EventOptions { threshold, min_separation, labels };
        events.check()?;
        let is_share = (0.0..=1.0).contains(&tolerance);
        require("tolerance", tolerance, is_share, "a number from 0 to 1")?;
        if let Some(within) = within {
            require("within", within, within >= 0.0, "a time of at least 0")?;
        }
        let classes = self.classifier().outputs();
        if classes > 1 {
            let (what, classes) = ("a stream", format!("{classes} of them"));
            return Err(Error::SeveralClasses { what, classes });
        }
        let chain = self.runs().map(|runs| Arriving::new(runs.rates(), 1));
        let (detector, newest) = (self.clone(), f64::NEG_INFINITY);
        Ok(Stream { detector, options, newest, chain, events: ArrivingEvents::new(events, within) })
    }
}

impl Stream {
    /// Instances arrive: their times, none before the one before it, and their features. If they are refused, nothing has
    /// arrived.
    pub fn push<'a>(
        &mut self,
        times: &[f64],
        features: impl Into<Features<'a>>,
    ) -> Result<Departed> {
        let log_odds = self.detector.log_odds(features)?;
        if times.len() != log_odds.len() {
            let (found, expected) = (times.len(), log_odds.len());
            return Err(Error::Unpaired {
                what: "times",
                found,
                against: "rows of features",
                expected,
            });
        }
        let mut before = self.newest;
        for (index, &value) in times.iter().enumerate() {
            if !(value.is_finite() && value >= before) {
                let (what, expected) =
                    ("time", "a finite number, not before the instance before it");
                return Err(Error::BadInput { what, index, value, expected });
            }
            before = value;
        }
        let mut left = Departed::default();
        for (&time, f) in times.iter().zip(log_odds) {
            self.newest = time;
            match &mut self.chain {
                None => {
                    self.tell(Told { time, probability: sigmoid(f), unsettled: 0.0 }, &mut left)
                }
                Some(chain) => {
                    chain.push(time, &[f]);
                    self.let_go(&mut left);
                }
            }
        }
        Ok(left)
    }

    /// The recording ends here: all that waited leaves. Another may begin.
    pub fn finish(&mut self) -> Departed {
        let mut left = Departed::default();
        while let Some(oldest) = self.chain.as_ref().and_then(Arriving::oldest) {
            self.chain.iter_mut().for_each(Arriving::pop);
            let (time, probability) = (oldest.time, oldest.presence[0]);
            self.tell(Told { time, probability, unsettled: 0.0 }, &mut left);
        }
        self.events.finish(&mut left.events);
        self.newest = f64::NEG_INFINITY;
        self.chain = self.detector.runs().map(|runs| Arriving::new(runs.rates(), 1));
        left
    }

    /// Tells instances that need not wait.
    fn let_go(&mut self, left: &mut Departed) {
        let StreamOptions { tolerance, within, .. } = self.options;
        while let Some(oldest) = self.chain.as_ref().and_then(Arriving::oldest) {
            let is_late = within.is_some_and(|within| self.newest - oldest.time >= within);
            if oldest.unsettled > tolerance && !is_late {
                return;
            }
            self.chain.iter_mut().for_each(Arriving::pop);
            let (time, probability) = (oldest.time, oldest.presence[0]);
            self.tell(Told { time, probability, unsettled: oldest.unsettled }, left);
        }
    }

    fn tell(&mut self, told: Told, left: &mut Departed) {
        self.events.push(told.time, told.probability, &mut left.events);
        left.instances.push(told);
    }
}
