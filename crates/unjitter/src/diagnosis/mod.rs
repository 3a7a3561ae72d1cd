//! Goodness of fit: does the model describe these sessions, and if not, where?
//!
//! One question per file, each with its own statistic and band; [`Diagnosis::remarks`] says in words what
//! stands out. Everything but [`families`](DiagnosisOptions::families) takes about as long as aligning, and
//! a session that stands out as long as some 120 evaluations of its evidence. `docs/model.md`, section 22.

mod agreement;
mod delays;
mod distance;
mod drift;
mod families;
mod intervals;
mod priors;
mod remarks;
mod remedies;
mod residuals;
mod sessions;

use std::collections::BTreeMap;

use rayon::prelude::*;
use serde::Serialize;

pub use agreement::{Agreement, AnnotatorShare, PairAgreement, agreement};
pub use delays::{DelayQuantile, StampDelay};
pub use distance::Distance;
pub use drift::Slope;
pub use families::FamilyFit;
pub use intervals::Intervals;
pub use priors::{MovedParameter, PriorSensitivity};
pub use remedies::Remedy;
pub use sessions::SessionFit;

use crate::error::require;
use crate::inference::{Compensator, DelayDistribution};
use crate::labels::Labels;
use crate::model::{Clock, Fitted, Mode};
use crate::session::check_together;
use crate::{Control, Error, Result, Session};
use delays::Delays;

/// What to ask.
#[derive(Debug, Clone, PartialEq)]
pub struct DiagnosisOptions {
    /// Whether to ask how much the annotator's priors matter.
    pub priors: bool,
    /// Whether to compare noise models, which learns anew in folds.
    pub families: bool,
    /// Whether to follow the profiles of what was learned, at some thirty evaluations for each number.
    pub profiles: bool,
    /// Draws of the sessions to learn from, as the slow check of intervals; 0 for none, at least 40 to tell.
    pub bootstrap: usize,
    /// The hour of the day at time zero of each session, if times are seconds and it is known; empty if of
    /// none.
    pub hours: Vec<Option<f64>>,
}

impl Default for DiagnosisOptions {
    fn default() -> Self {
        Self { priors: true, families: false, profiles: true, bootstrap: 0, hours: Vec::new() }
    }
}

/// How a fitted model describes sessions.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Diagnosis {
    /// All stamps.
    pub stamps: usize,
    /// As many as the model expects.
    pub expected: f64,
    /// How many standard errors there are more than expected, given those before.
    pub surplus: f64,
    /// Gaps between stamps, in time that counts expected stamps.
    pub residuals: Distance,
    /// The probability of a gap no longer than each of them: uniform if the model is right.
    pub gaps: Vec<f64>,
    /// Delays of the stamps, beside the learned ones.
    pub delays: Distance,
    /// Their quantiles.
    pub quantiles: Vec<DelayQuantile>,
    /// Every stamp that an instance can have given.
    pub points: Vec<StampDelay>,
    /// How the delay changes in the course of a session.
    pub over_session: Option<Slope>,
    /// How it changes per hour of the day.
    pub over_day: Option<Slope>,
    /// Every session, worst first.
    pub sessions: Vec<SessionFit>,
    /// Every subject, where they are known.
    pub subjects: Vec<GroupFit>,
    /// Every annotator, where they are known.
    pub annotators: Vec<GroupFit>,
    /// Other noise models, best first, if they were asked for and there are several sessions.
    pub families: Option<Vec<FamilyFit>>,
    /// Intervals of what was learned of the annotator, by several ways, if they were asked for and the fit
    /// knows how sure it is.
    pub intervals: Option<Vec<Intervals>>,
    /// The annotator's priors, weaker and stronger, if they were asked for and the fit knows how sure it is.
    pub priors: Option<Vec<PriorSensitivity>>,
    /// The noise of the fit.
    pub noise: String,
    /// The distinct optima of the fit, the one in use first.
    pub modes: Vec<Mode>,
}

/// How the stamps of one subject or annotator fit.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GroupFit {
    /// Whose they are.
    pub name: String,
    /// Sessions of the subject, or that the annotator stamped.
    pub sessions: usize,
    /// All stamps.
    pub stamps: usize,
    /// As many as the model expects.
    pub expected: f64,
    /// Gaps between stamps, in time that counts expected stamps.
    pub residuals: Distance,
    /// Delays of the stamps, beside the learned ones.
    pub delays: Distance,
}

/// What is computed of a session by itself.
struct Piece {
    /// Of each annotator.
    compensators: Vec<Compensator>,
    /// Of each annotator's stamps.
    delays: Vec<Delays>,
    log_evidence: f64,
}

impl Piece {
    /// Stamps that were to be expected.
    fn expected(&self) -> f64 {
        self.compensators.iter().map(|own| own.expected).sum()
    }

    /// What belongs together of each annotator's stamps.
    fn streams(&self) -> impl Iterator<Item = StreamPiece<'_>> {
        self.compensators.iter().zip(&self.delays)
    }
}

/// Gaps and delays of one annotator's stamps in a session.
type StreamPiece<'a> = (&'a Compensator, &'a Delays);

/// Asks how well a fitted model describes sessions, usually those that it was learned from.
pub fn diagnose(
    fitted: &Fitted,
    sessions: &[Session<'_>],
    options: &DiagnosisOptions,
    control: Control<'_>,
) -> Result<Diagnosis> {
    fitted.check_one_class("diagnose")?;
    check_together(sessions)?;
    if fitted.model.labels == Labels::Chain {
        return Err(Error::NotOfChain {
            what: "a diagnosis",
            instead: "intervals are told by the fit, and evidence by sessions left out",
        });
    }
    let hours = options.hours.len();
    let fits = hours == 0 || hours == sessions.len();
    require("hours", hours as f64, fits, "one for each session, or none")?;
    let annotator = &fitted.params[fitted.parts.annotator()];
    let learned = fitted.parts.stamps.model.bind(annotator, Clock::default(), 1).delays();
    let piece = |(k, session): (usize, &Session<'_>)| {
        control.stop_if_requested()?;
        let hour = options.hours.get(k).copied().flatten();
        let (delays, log_evidence) = delays::delays(fitted, session, hour, &learned)?;
        let compensators = residuals::compensators(fitted, session)?;
        Ok(Piece { compensators, delays, log_evidence })
    };
    let pieces: Vec<Piece> = sessions.par_iter().enumerate().map(piece).collect::<Result<_>>()?;
    let is_stamped = sessions.iter().any(|session| !session.stamps().is_empty());
    let all: Vec<&Delays> = pieces.iter().flat_map(|piece| &piece.delays).collect();
    let gaps = residuals::uniform_gaps(pieces.iter().flat_map(|piece| &piece.compensators));
    let delays = delays::distance(all.iter().copied(), &learned);
    Ok(Diagnosis {
        stamps: sessions.iter().map(|session| session.stamps().len()).sum(),
        expected: pieces.iter().map(Piece::expected).sum(),
        surplus: residuals::surplus(pieces.iter().flat_map(|piece| &piece.compensators)),
        residuals: residuals::distance(&gaps),
        gaps,
        quantiles: delays::quantiles(&all, &learned, delays.band, fitted.time_unit),
        delays,
        points: all.iter().flat_map(|own| own.stamps.iter().copied()).collect(),
        over_session: drift::over_session(&all),
        over_day: drift::over_day(&all),
        sessions: session_fits(fitted, sessions, &pieces, &learned, control)?,
        subjects: subject_fits(sessions, &pieces, &learned),
        annotators: annotator_fits(sessions, &pieces, &learned),
        families: match options.families {
            true => families::families(fitted, sessions, control)?,
            false => None,
        },
        intervals: match is_stamped && (options.profiles || options.bootstrap > 0) {
            true => intervals::intervals(fitted, sessions, options.bootstrap, control)?,
            false => None,
        },
        priors: match options.priors {
            true => priors::priors(fitted, sessions, control)?,
            false => None,
        },
        noise: fitted.model.noise.name().to_owned(),
        modes: fitted.modes.clone(),
    })
}

fn session_fits(
    fitted: &Fitted,
    sessions: &[Session<'_>],
    pieces: &[Piece],
    learned: &DelayDistribution,
    control: Control<'_>,
) -> Result<Vec<SessionFit>> {
    let per_stamp = |(session, piece): (&Session<'_>, &Piece)| {
        let stamps = session.stamps().len();
        (stamps > 0).then(|| (piece.log_evidence / stamps as f64, stamps))
    };
    let evidence: Vec<_> = sessions.iter().zip(pieces).map(per_stamp).collect();
    let deviations = sessions::deviations(&evidence);
    let lowest = sessions::lowest(evidence.iter().flatten().count());
    let fit = |k: usize| {
        control.stop_if_requested()?;
        let (session, piece) = (&sessions[k], &pieces[k]);
        let gaps = residuals::uniform_gaps(piece.compensators.iter());
        let mut own = SessionFit {
            session: session.name().to_owned(),
            subject: session.subject().map(str::to_owned),
            stamps: session.stamps().len(),
            expected: piece.expected(),
            surplus: residuals::surplus(piece.compensators.iter()),
            log_evidence_per_stamp: evidence[k].map(|(own, _)| own),
            deviations: deviations[k],
            is_far_below: deviations[k].is_some_and(|own| own < lowest),
            residuals: residuals::distance(&gaps),
            delays: delays::distance(piece.delays.iter(), learned),
            remedy: None,
        };
        if own.stamps > 0 {
            let suspect = own.is_suspect();
            own.remedy = remedies::remedy(fitted, session, sessions.len(), suspect)?;
        }
        Ok(own)
    };
    let mut fits: Vec<SessionFit> =
        (0..sessions.len()).into_par_iter().map(fit).collect::<Result<_>>()?;
    sessions::rank(&mut fits);
    Ok(fits)
}

fn subject_fits(
    sessions: &[Session<'_>],
    pieces: &[Piece],
    learned: &DelayDistribution,
) -> Vec<GroupFit> {
    let mut groups: BTreeMap<&str, Vec<Vec<StreamPiece<'_>>>> = BTreeMap::new();
    for (session, piece) in sessions.iter().zip(pieces) {
        if let Some(subject) = session.subject() {
            groups.entry(subject).or_default().push(piece.streams().collect());
        }
    }
    groups.into_iter().map(|(name, own)| group_fit(name, &own, learned)).collect()
}

fn annotator_fits(
    sessions: &[Session<'_>],
    pieces: &[Piece],
    learned: &DelayDistribution,
) -> Vec<GroupFit> {
    let mut groups: BTreeMap<&str, Vec<Vec<StreamPiece<'_>>>> = BTreeMap::new();
    for (session, piece) in sessions.iter().zip(pieces) {
        for (annotator, own) in session.annotators().iter().zip(piece.streams()) {
            groups.entry(annotator).or_default().push(vec![own]);
        }
    }
    groups.into_iter().map(|(name, own)| group_fit(name, &own, learned)).collect()
}

/// How the stamps of a group fit, by session.
fn group_fit(
    name: &str,
    sessions: &[Vec<StreamPiece<'_>>],
    learned: &DelayDistribution,
) -> GroupFit {
    let compensators = || sessions.iter().flatten().map(|(own, _)| *own);
    GroupFit {
        name: name.to_owned(),
        sessions: sessions.len(),
        stamps: compensators().map(|own| own.gaps.len()).sum(),
        expected: compensators().map(|own| own.expected).sum(),
        residuals: residuals::distance(&residuals::uniform_gaps(compensators())),
        delays: delays::distance(sessions.iter().flatten().map(|(_, own)| *own), learned),
    }
}
