//! How many stamps: what those at hand tell, and what more of them, or labels, would.
//!
//! Near its optimum a fit is as sure as its information says, which grows with the number of sessions; the
//! prior stays. So the information of the sessions at hand, from their stamps and as if they were labelled,
//! tells how sure a fit on other numbers of such sessions would be. Section 21 of docs/model.md. It costs
//! two evaluations of the objective for each parameter, and refits only where they are asked for.

mod expected;
mod labelled;
mod refits;
mod told;

use serde::{Deserialize, Serialize};

use self::expected::Judge;
use self::refits::refit;
use self::told::Told;
use crate::error::require;
use crate::labels::Labels;
use crate::model::LearnedEstimates;
use crate::{Control, Error, Fitted, Result, Session};

pub use self::refits::{LearningCurve, Refit};

/// Most sessions that are planned for.
const MOST_SESSIONS: usize = 1_000_000;

/// What to plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PlanOptions {
    /// Numbers of further stamped sessions; by default half, once, twice and four times those at hand.
    pub more: Option<Vec<usize>>,
    /// Numbers of the sessions at hand to label by hand; by default one, a quarter, half and all.
    pub labelled: Option<Vec<usize>>,
    /// Probability of the intervals, between 0 and 1.
    pub level: f64,
    /// Draws of the detector that the expected F1 is averaged over, at least 2.
    pub draws: usize,
    /// Times that parts of the sessions are learned from again, as a check; 0 for none.
    pub refits: usize,
    /// Seed of draws and parts.
    pub seed: u64,
}

impl Default for PlanOptions {
    fn default() -> Self {
        Self { more: None, labelled: None, level: 0.95, draws: 64, refits: 0, seed: 0 }
    }
}

/// What can be expected of more sessions like those at hand.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Plan {
    /// Sessions at hand.
    pub sessions: usize,
    /// Their stamps.
    pub stamps: usize,
    /// How many exact labels a stamp is worth: the share of the sessions that, labelled by hand and not
    /// stamped, would leave the detector the same expected excess loss as the stamps of all do.
    pub worth: f64,
    /// As it is.
    pub now: Outlook,
    /// With more stamped sessions.
    pub more: Vec<Outlook>,
    /// With some of the sessions at hand labelled by hand.
    pub labelled: Vec<Outlook>,
    /// What learning from parts of the sessions came to, if that was asked for.
    pub refits: Option<LearningCurve>,
}

/// What can be expected of so many sessions.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Outlook {
    /// All sessions.
    pub sessions: usize,
    /// Those of them that are labelled by hand.
    pub labelled: usize,
    /// Expected F1 at the model's threshold.
    pub f1: f64,
    /// The same, continued from refits.
    pub f1_refits: Option<f64>,
    /// Expected widths of the intervals.
    pub widths: Widths,
    /// How many further stamped sessions would leave the detector the same expected excess loss; none if
    /// no number of them up to a million times those at hand does.
    pub as_good_as: Option<f64>,
}

/// Widths of intervals, in the unit of the data; none where a value was held.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Widths {
    /// Of the mean delay.
    pub delay: Option<f64>,
    /// Of the spread.
    pub spread: Option<f64>,
    /// Of the share of events without a stamp.
    pub miss_rate: Option<f64>,
}

impl Fitted {
    /// What more sessions like these, or labels for some of them, would be worth. The sessions are usually
    /// those that the model was learned from.
    pub fn plan(
        &self,
        sessions: &[Session],
        options: &PlanOptions,
        control: Control<'_>,
    ) -> Result<Plan> {
        if sessions.is_empty() {
            return Err(Error::NoSessions);
        }
        self.check_one_class("plan")?;
        if self.model.labels == Labels::Chain {
            return Err(Error::NotOfChain {
                what: "a plan",
                instead: "compare fits to some of the sessions with fits to all",
            });
        }
        let (more, labelled) = options.steps(sessions.len())?;
        let quiet = Control { watch: None, ..control };
        let told = Told::new(self, sessions, quiet)?;
        let judge = Judge::new(self, sessions, quiet)?;
        let refits = match options.refits {
            0 => None,
            _ => Some(refit(self, sessions, options, control)?),
        };
        let count = sessions.len();
        let outlook = |all: usize, labelled: usize| -> Result<Outlook> {
            control.stop_if_requested()?;
            let share = |sessions: usize| sessions as f64 / count as f64;
            let (stamped, by_hand) = (share(all - labelled), share(labelled));
            let sure = told.uncertainty(stamped, by_hand)?;
            let like = told.stamped_like(stamped, by_hand)?;
            let detector = told.moved(&self.params, like.unwrap_or(f64::INFINITY))?;
            let f1 = judge.expected_f1(&detector, &sure, options)?;
            let likely = Fitted { uncertainty: Some(sure), ..self.clone() };
            Ok(Outlook {
                sessions: all,
                labelled,
                f1,
                f1_refits: refits.as_ref().filter(|_| labelled == 0).map(|found| found.at(all)),
                widths: Widths::of(&likely.learned_estimates(options.level)?),
                as_good_as: like.map(|times| (times - 1.0) * count as f64),
            })
        };
        Ok(Plan {
            sessions: count,
            stamps: sessions.iter().map(|session| session.stamps().len()).sum(),
            worth: told.worth()?,
            now: outlook(count, 0)?,
            more: more.into_iter().map(|more| outlook(count + more, 0)).collect::<Result<_>>()?,
            labelled: labelled.into_iter().map(|k| outlook(count, k)).collect::<Result<_>>()?,
            refits,
        })
    }
}

impl PlanOptions {
    /// Numbers of further sessions and of labelled ones, checked, in order, each once.
    fn steps(&self, count: usize) -> Result<(Vec<usize>, Vec<usize>)> {
        crate::model::check_level(self.level)?;
        let enough = self.draws >= 2 && self.draws <= MOST_SESSIONS;
        require("draws", self.draws as f64, enough, "a number from 2 to 1000000")?;
        let of_all = |shares: [f64; 4]| shares.map(|s| (s * count as f64).ceil() as usize).to_vec();
        let mut more = self.more.clone().unwrap_or_else(|| of_all([0.5, 1.0, 2.0, 4.0]));
        let mut labelled = self.labelled.clone().unwrap_or_else(|| of_all([0.0, 0.25, 0.5, 1.0]));
        if self.labelled.is_none() {
            labelled[0] = 1;
        }
        for &n in &more {
            let inside = (1..=MOST_SESSIONS).contains(&n);
            require("number of further sessions", n as f64, inside, "a number from 1 to 1000000")?;
        }
        for &k in &labelled {
            let inside = (1..=count).contains(&k);
            let expected = "a number from 1 to that of the sessions";
            require("number of sessions to label", k as f64, inside, expected)?;
        }
        for steps in [&mut more, &mut labelled] {
            steps.sort_unstable();
            steps.dedup();
        }
        Ok((more, labelled))
    }
}

impl Widths {
    fn of(sure: &LearnedEstimates) -> Self {
        let width = |own: Option<crate::model::Estimate>| own.map(|own| own.high - own.low);
        Self {
            delay: width(sure.delay),
            spread: width(sure.spread),
            miss_rate: width(sure.miss_rate),
        }
    }
}
