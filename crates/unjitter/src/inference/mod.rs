//! Exact inference over all alignments of stamps to instances.
//!
//! What is summed, for instances i = 1..L with log-odds f_i and stamps z_1 ≤ … ≤ z_M:
//!
//! ```text
//! u_i(c) = Σ_y p(y | f_i) · c!·p(c | y)                                weight of c stamps at i
//! a(i,l) = Σ_c u_i(c) · a(i−1, l−c) · Π_{j=l−c+1..l} p(z_j | t_i)       a(0,0) = 1
//! b(i,l) = Σ_c u_i(c) · b(i+1, l+c) · Π_{j=l+1..l+c} p(z_j | t_i)       b(L+1,M) = 1
//! evidence = a(L,M) = b(1,0)
//! ```
//!
//! The cost is linear in the length of the session, for three reasons. A stamp can only come from
//! the instances in its [window](Band). Between the windows there is nothing to sum: an instance
//! there is silent, and whole quiet stretches are handled in closed form. And windows that do not
//! overlap are independent, so the recursion runs over small *blocks* of stamps, one column per
//! stamp:
//!
//! | counts | file | work per cell |
//! |---|---|---|
//! | at most one stamp | `one_stamp` | O(1) |
//! | c!·p(c) a geometric series (Poisson) | `first_order` | O(1) |
//! | any table | `table` | O(C) |
//!
//! These run in the linear domain, scaled. Each column carries a certificate that nothing that
//! matters has underflowed; a block without it is redone in log space (`log_space`). [`dense`] is
//! the textbook recursion over all L × M cells, kept for checking.
//!
//! This module knows count tables, log-odds and densities of delays. It knows no parameters, no
//! priors and no learning. Equations: `docs/model.md`.

mod alignment;
mod band;
mod by_label;
mod column;
mod crowd;
pub mod dense;
mod edges;
mod first_order;
mod lattice;
mod log_first_order;
mod log_space;
mod needs;
mod one_stamp;
mod reference;
mod seek;
mod silence;
mod span;
mod table;
mod tables;
mod widen;
mod windows;

pub use alignment::Alignment;
pub use band::{Band, Span, Window};
pub use lattice::{CountMarginals, Lattice, Marginals, Responsibilities};
pub use span::{Expected, Shares, SpanOutputs, SpanSolver, Trouble};
pub use tables::CountTables;
pub use widen::{Impossible, widen};

/// The density of the delay z − t, with its parameters bound.
pub trait DelayDensity: Sync {
    /// Overwrites `out` with log p(delay); −∞ outside the support.
    fn log_density(&self, delays: &[f64], out: &mut [f64]);

    /// The level that `reach` measures from, close to the supremum of the log density.
    fn log_peak(&self) -> f64;

    /// An interval of delays outside which the log density is below `log_peak − log_drop`.
    fn reach(&self, log_drop: f64) -> (f64, f64);
}

/// Instances and stamps of a session in time, and how delays are distributed.
#[derive(Clone, Copy)]
pub struct Stamped<'a> {
    /// Time of each instance; they do not decrease.
    pub times: &'a [f64],
    /// The stamps; they do not decrease.
    pub stamps: &'a [f64],
    /// What delays are measured in, in the unit of times and stamps.
    pub unit: f64,
    /// p((z − t) / unit).
    pub density: &'a dyn DelayDensity,
}

impl std::fmt::Debug for Stamped<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { times, stamps, unit, .. } = self;
        let mut shown = f.debug_struct("Stamped");
        shown.field("times", times).field("stamps", stamps).field("unit", unit);
        shown.finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
