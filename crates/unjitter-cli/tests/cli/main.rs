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
mod groups;
mod inspect;
mod manual;
mod mistakes;
mod moments;
mod only;
mod options;
mod outputs;
mod plan;
mod predict;
mod readme;
mod report;
mod review;
mod signals;
mod simulate;
mod stamped;
mod sync;
