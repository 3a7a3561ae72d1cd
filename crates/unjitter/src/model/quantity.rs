//! The numbers that describe an annotator, whatever the parts are.

use super::stamp_model::Learned;
use super::uncertainty::Scale;

/// One of the numbers in [`Learned`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// Mean delay.
    Delay,
    /// Standard deviation of the delay.
    Spread,
    /// Share of events without a stamp.
    MissRate,
    /// Share of negatives with one.
    FalseRate,
    /// Stamps per unit of time from nowhere.
    BackgroundRate,
}

impl Quantity {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Delay, Self::Spread, Self::MissRate, Self::FalseRate, Self::BackgroundRate];

    /// What users call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Delay => "delay",
            Self::Spread => "spread",
            Self::MissRate => "miss_rate",
            Self::FalseRate => "false_rate",
            Self::BackgroundRate => "background_rate",
        }
    }

    /// Its value for an annotator.
    pub fn of(self, learned: &Learned) -> f64 {
        match self {
            Self::Delay => learned.delay,
            Self::Spread => learned.spread,
            Self::MissRate => learned.miss_rate,
            Self::FalseRate => learned.false_rate,
            Self::BackgroundRate => learned.background_rate,
        }
    }

    /// The scale on which its estimate is about normal.
    pub(crate) fn scale(self) -> Scale {
        match self {
            Self::Delay => Scale::Plain,
            Self::Spread | Self::BackgroundRate => Scale::Log,
            Self::MissRate | Self::FalseRate => Scale::Logit,
        }
    }
}
