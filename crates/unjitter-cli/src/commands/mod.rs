//! One file per verb.

pub(crate) mod align;
pub(crate) mod demo;
pub(crate) mod diagnose;
pub(crate) mod evaluate;
pub(crate) mod event_tables;
pub(crate) mod featurize;
pub(crate) mod fit;
mod follow;
pub(crate) mod inspect;
pub(crate) mod manual;
pub(crate) mod plan;
pub(crate) mod predict;
mod predicted;
pub(crate) mod report;
pub(crate) mod review;
pub(crate) mod simulate;
pub(crate) mod sync;
