//! Numbers of the annotator that differ between groups of stamps.
//!
//! A group is all stamps of one annotator, session, subject, device or clock. It deviates from all others by
//! a number on the unconstrained scale: units of time for a delay, a logarithm for a spread, log-odds for a
//! share. Deviations are normal about zero, and how wide they scatter is learned with them, so a group with
//! few stamps is drawn to the others.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::stamp_model::StampModel;
use crate::params::{ParameterSpec, Role, Transform};
use crate::{Error, Result, Session};

/// What may differ between groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Varying {
    /// The mean delay.
    Delay,
    /// How far a clock is ahead, which moves the delay too.
    Offset,
    /// How much faster a clock runs: what it gains per unit of time, from the middle of the session on.
    Drift,
    /// The spread of the delay.
    Spread,
    /// The share of events without a stamp.
    MissRate,
    /// The share of negatives with one.
    FalseRate,
    /// Stamps from nowhere.
    BackgroundRate,
}

impl Varying {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Delay,
        Self::Offset,
        Self::Drift,
        Self::Spread,
        Self::MissRate,
        Self::FalseRate,
        Self::BackgroundRate,
    ];

    /// What users call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Delay => "delay",
            Self::Offset => "offset",
            Self::Drift => "drift",
            Self::Spread => "spread",
            Self::MissRate => "miss_rate",
            Self::FalseRate => "false_rate",
            Self::BackgroundRate => "background_rate",
        }
    }

    /// The parameters of an annotator that it moves, and their sign.
    fn role(self) -> Option<(Role, f64)> {
        match self {
            Self::Delay | Self::Offset => Some((Role::Delay, 1.0)),
            Self::Drift => None,
            Self::Spread => Some((Role::Spread, 1.0)),
            Self::MissRate => Some((Role::HitRate, -1.0)),
            Self::FalseRate => Some((Role::FalseRate, 1.0)),
            Self::BackgroundRate => Some((Role::Background, 1.0)),
        }
    }

    /// How wide deviations scatter, as a first guess on the unconstrained scale; `gap` is usual between stamps.
    pub fn usual_scale(self, gap: f64) -> f64 {
        match self {
            Self::Delay | Self::Offset => gap / 2.0,
            Self::Drift => 0.01,
            Self::Spread => 0.4,
            Self::MissRate | Self::FalseRate | Self::BackgroundRate => 0.7,
        }
    }

    /// Whether it moves stamps in time.
    pub(crate) fn moves_stamps(self) -> bool {
        self.is_shift() || self == Self::Drift
    }

    /// Whether it moves stamps as a whole, by any distance.
    pub(crate) fn is_shift(self) -> bool {
        matches!(self, Self::Delay | Self::Offset)
    }
}

/// What stamps of a group have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Factor {
    /// Who gave them.
    Annotator,
    /// Their session.
    Session,
    /// The person or animal recorded.
    Subject,
    /// The device.
    Device,
    /// The clock; that of a session without a named one is its own.
    Clock,
    /// The class: of the event in how often it is stamped, else of the record.
    Class,
}

impl Factor {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Annotator, Self::Session, Self::Subject, Self::Device, Self::Clock, Self::Class];

    /// What users call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Annotator => "annotator",
            Self::Session => "session",
            Self::Subject => "subject",
            Self::Device => "device",
            Self::Clock => "clock",
            Self::Class => "class",
        }
    }

    /// The group of an annotator's stamps of a class in a session, if it is known.
    pub(crate) fn group<'a>(
        self,
        session: &'a Session<'_>,
        annotator: Option<&'a str>,
        class: Option<&'a str>,
    ) -> Option<&'a str> {
        match self {
            Self::Annotator => annotator,
            Self::Session => Some(session.name()),
            Self::Subject => session.subject(),
            Self::Device => session.device(),
            Self::Clock => Some(session.clock().unwrap_or(session.name())),
            Self::Class => class,
        }
    }
}

/// A number that differs, and between what.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variation {
    /// The number.
    pub what: Varying,
    /// The groups.
    pub by: Factor,
}

impl fmt::Display for Variation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} by {}", self.what.name(), self.by.name())
    }
}

/// A variation with its groups.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Effect {
    /// What differs, and between what.
    pub variation: Variation,
    /// The groups, in order of their names.
    pub names: Vec<String>,
    /// How wide the deviations scatter: their standard deviation on the unconstrained scale.
    pub scale: f64,
}

/// All effects of groups, with the layout of their deviations.
#[derive(Debug, Clone, Default)]
pub struct Groups {
    effects: Vec<Effect>,
    /// Parameters of the annotator that each effect moves, and their signs; none for a drift.
    targets: Vec<Vec<(usize, f64)>>,
    /// First deviation of each effect, and one past the last.
    starts: Vec<usize>,
}

/// The group of some stamps in each effect: the number of its deviation among all, if it is known.
pub type Members = Vec<Option<usize>>;

/// The name of the part of all deviations.
pub(crate) const GROUPS: &str = "groups";

impl Groups {
    /// Fails if there are no groups of something that is to vary.
    pub(crate) fn check(variations: &[Variation], sessions: &[Session<'_>]) -> Result<()> {
        let missing = variations.iter().find(|own| group_names(own.by, sessions).is_empty());
        missing.map_or(Ok(()), |own| Err(Error::NoGroups { variation: own.to_string() }))
    }

    /// The groups of these sessions. Each variation moves a parameter that the stamp model must have.
    pub(crate) fn of(
        variations: &[Variation],
        sessions: &[Session<'_>],
        scale: impl Fn(Variation) -> f64,
        stamp_model: &dyn StampModel,
    ) -> Result<Self> {
        Self::check(variations, sessions)?;
        let effect = |&variation: &Variation| {
            let names = group_names(variation.by, sessions);
            Effect { variation, names, scale: scale(variation) }
        };
        Self::new(variations.iter().map(effect).collect(), stamp_model)
    }

    /// Effects of known groups.
    pub(crate) fn new(effects: Vec<Effect>, stamp_model: &dyn StampModel) -> Result<Self> {
        let roles = roles(stamp_model);
        let targets = |effect: &Effect| {
            let Some((role, sign)) = effect.variation.what.role() else { return Ok(Vec::new()) };
            let own = (0..roles.len()).filter(|&at| roles[at] == role);
            let own: Vec<(usize, f64)> = own.map(|at| (at, sign)).collect();
            let variation = effect.variation.to_string();
            if own.is_empty() { Err(Error::NothingVaries { variation }) } else { Ok(own) }
        };
        let targets = effects.iter().map(targets).collect::<Result<_>>()?;
        let mut starts = vec![0];
        for effect in &effects {
            starts.push(starts[starts.len() - 1] + effect.names.len());
        }
        Ok(Self { effects, targets, starts })
    }

    /// The effects, in order.
    pub fn effects(&self) -> &[Effect] {
        &self.effects
    }

    /// Whether nothing differs.
    pub fn is_empty(&self) -> bool {
        self.effects.is_empty()
    }

    /// Number of deviations.
    pub(crate) fn dim(&self) -> usize {
        self.starts.last().copied().unwrap_or(0)
    }

    /// The deviations of an effect, among all.
    pub(crate) fn range(&self, effect: usize) -> std::ops::Range<usize> {
        self.starts[effect]..self.starts[effect + 1]
    }

    /// The parameters that hold the deviations.
    pub(super) fn parameters(&self) -> Vec<ParameterSpec> {
        let spec = |effect: &Effect| {
            let Variation { what, by } = effect.variation;
            let name = format!("{}_by_{}", what.name(), by.name());
            let len = effect.names.len();
            let spec = ParameterSpec::new(&name, len, Transform::Free, Role::Deviation);
            if what.is_shift() { spec.in_time() } else { spec }
        };
        self.effects.iter().map(spec).collect()
    }

    /// Groups of each effect that these sessions have, and that are not among those known.
    pub(crate) fn unseen(&self, sessions: &[Session<'_>]) -> Vec<Vec<String>> {
        let unseen = |effect: &Effect| {
            let is_unseen = |name: &String| effect.names.binary_search(name).is_err();
            group_names(effect.variation.by, sessions).into_iter().filter(is_unseen).collect()
        };
        self.effects.iter().map(unseen).collect()
    }

    /// Fails if a session is of a group that is not known.
    pub(crate) fn check_seen(&self, session: &Session<'_>) -> Result<()> {
        let unseen = self.unseen(std::slice::from_ref(session));
        let found = self.effects.iter().zip(unseen).find(|(_, names)| !names.is_empty());
        found.map_or(Ok(()), |(effect, mut names)| {
            Err(Error::UnseenGroup {
                session: session.name().to_owned(),
                variation: effect.variation.to_string(),
                group: names.swap_remove(0),
            })
        })
    }

    /// How wide offsets and drifts of these groups scatter, with times in the unit of the data.
    pub(crate) fn shift_scales(&self, by: Factor, time_unit: f64) -> (f64, f64) {
        let scale = |is_own: fn(Varying) -> bool| {
            let own = |effect: &&Effect| effect.variation.by == by && is_own(effect.variation.what);
            self.effects.iter().filter(own).map(|effect| effect.scale.powi(2)).sum::<f64>().sqrt()
        };
        let drift = scale(|what| what == Varying::Drift);
        // A clock that cannot drift does not.
        let drift = if drift > 0.0 { drift } else { f64::MIN_POSITIVE };
        (scale(Varying::is_shift) * time_unit, drift)
    }

    /// The groups of an annotator's stamps of a class in a session.
    pub(crate) fn members(
        &self,
        session: &Session<'_>,
        annotator: Option<&str>,
        class: Option<&str>,
    ) -> Members {
        self.members_of(|by| by.group(session, annotator, class))
    }

    /// The same of stamps of which the groups are told.
    pub(crate) fn members_of<'a>(&self, group: impl Fn(Factor) -> Option<&'a str>) -> Members {
        let member = |(effect, start): (&Effect, &usize)| {
            let name = group(effect.variation.by)?;
            let at = effect.names.binary_search_by(|own| own.as_str().cmp(name)).ok()?;
            Some(start + at)
        };
        self.effects.iter().zip(&self.starts).map(member).collect()
    }

    /// Fails unless there is one for each effect, of its groups.
    pub(super) fn check_members(&self, members: &[Option<usize>]) -> Result<()> {
        let (found, expected) = (members.len(), self.effects.len());
        if found != expected {
            let (what, against) = ("groups of an annotator", "numbers that vary");
            return Err(Error::Unpaired { found, what, expected, against });
        }
        for (index, member) in members.iter().enumerate() {
            if let Some(at) = member.filter(|at| !self.range(index).contains(at)) {
                let (what, value) = ("group of effect", at as f64);
                let expected = "the number of one of its groups";
                return Err(Error::BadInput { what, index, value, expected });
            }
        }
        Ok(())
    }

    /// The parameters of an annotator in its groups, and the drift of its clock if that may differ.
    pub(crate) fn applied(
        &self,
        annotator: &[f64],
        deviations: &[f64],
        members: &[Option<usize>],
    ) -> (Vec<f64>, Option<f64>) {
        let (mut own, mut drift) = (annotator.to_vec(), None);
        for (k, effect) in self.effects.iter().enumerate() {
            let deviation = members[k].map_or(0.0, |at| deviations[at]);
            self.targets[k].iter().for_each(|&(at, sign)| own[at] += sign * deviation);
            if effect.variation.what == Varying::Drift {
                drift = Some(drift.unwrap_or(0.0) + deviation);
            }
        }
        (own, drift)
    }

    /// Adds the derivatives in the parameters of an annotator, and in its drift, to those of its groups.
    pub(crate) fn pull_back(
        &self,
        members: &[Option<usize>],
        d_annotator: &[f64],
        d_drift: f64,
        d_deviations: &mut [f64],
    ) {
        for (k, effect) in self.effects.iter().enumerate() {
            let Some(at) = members[k] else { continue };
            let own: f64 = self.targets[k].iter().map(|&(at, sign)| sign * d_annotator[at]).sum();
            let is_drift = effect.variation.what == Varying::Drift;
            d_deviations[at] += if is_drift { d_drift } else { own };
        }
    }

    /// The log density of the deviations that are free, if those of each effect scatter so wide, adding its
    /// gradient.
    pub(crate) fn log_density(
        &self,
        scales: &[f64],
        deviations: &[f64],
        is_free: &[bool],
        gradient: &mut [f64],
    ) -> f64 {
        let constant = 0.5 * (2.0 * std::f64::consts::PI).ln();
        let mut value = 0.0;
        for (k, scale) in scales.iter().enumerate() {
            for at in self.range(k).filter(|&at| is_free[at]) {
                let spreads = deviations[at] / scale;
                value -= constant + scale.ln() + 0.5 * spreads * spreads;
                gradient[at] -= spreads / scale;
            }
        }
        value
    }

    /// How wide the deviations of each effect scatter.
    pub(crate) fn scales(&self) -> Vec<f64> {
        self.effects.iter().map(|effect| effect.scale).collect()
    }

    /// The same groups, whose deviations scatter so wide.
    pub(crate) fn with_scales(mut self, scales: &[f64]) -> Self {
        let effects = self.effects.iter_mut().zip(scales);
        effects.for_each(|(effect, &scale)| effect.scale = scale);
        self
    }
}

/// All groups of some sessions, in order.
fn group_names(by: Factor, sessions: &[Session<'_>]) -> Vec<String> {
    let mut names = BTreeSet::new();
    for session in sessions {
        if by == Factor::Class {
            names.extend(session.classes().iter().cloned());
            continue;
        }
        let known = session.annotators().iter().map(|name| Some(name.as_str()));
        let unknown = session.annotators().is_empty().then_some(None);
        let groups = known.chain(unknown).filter_map(|name| by.group(session, name, None));
        names.extend(groups.map(str::to_owned));
    }
    names.into_iter().collect()
}

/// The role of each of the stamp model's unconstrained numbers.
fn roles(stamp_model: &dyn StampModel) -> Vec<Role> {
    let specs = stamp_model.parts().into_iter().flat_map(|(_, specs)| specs);
    specs.flat_map(|spec| std::iter::repeat_n(spec.role, spec.transform.dim(spec.len))).collect()
}
