//! The real program, run in a temporary folder as a user would.

mod align;
mod config;
mod demo;
mod diagnose;
mod evaluate;
mod explanations;
mod featurize;
mod fit;
mod folder;
mod inspect;
mod manual;
mod mistakes;
mod only;
mod options;
mod outputs;
mod plan;
mod predict;
mod readme;
mod report;
mod signals;
mod simulate;
