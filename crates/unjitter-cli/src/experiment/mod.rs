//! The paper's experiments, and any of their kind: a TOML file says which annotators, learners,
//! datasets and seeds; running it gives tables and figures.
//!
//! `spec` says what to do, `plan` lays the grid out, `run` goes through it with a journal per cell,
//! `outcome` holds the numbers, `results` writes them, `stopwatch` tells how long it all took. Nothing is computed here that the library
//! does not compute.

mod datasets;
mod figure;
mod learner;
mod markdown;
mod outcome;
mod place;
mod plan;
mod quick;
mod results;
mod run;
mod sentence;
mod spec;
mod stopwatch;
#[cfg(test)]
mod tests;

pub(crate) use datasets::Dataset;
pub(crate) use outcome::Outcome;
pub(crate) use results::write;
pub(crate) use run::{RunOptions, Step, run};
pub(crate) use spec::Spec;
pub(crate) use stopwatch::{Stopwatch, Took, in_words};
