//! Exact inference over all alignments of stamps to instances.
//!
//! The sums, for instances i = 1..L with log-odds f_i and stamps z_1 ≤ … ≤ z_M:
//!
//! ```text
//! u_i(c) = Σ_y p(y | f_i) · c!·p(c | y)                                weight of c stamps at i
//! a(i,l) = Σ_c u_i(c) · a(i−1, l−c) · Π_{j=l−c+1..l} p(z_j | t_i)       a(0,0) = 1
//! b(i,l) = Σ_c u_i(c) · b(i+1, l+c) · Π_{j=l+1..l+c} p(z_j | t_i)       b(L+1,M) = 1
//! evidence = a(L,M) = b(1,0)
//! ```
//!
//! The cost is linear in the length of the session, for three reasons. A stamp can only come from the
//! instances in its window. Instances between the windows are silent, and whole quiet stretches are
//! computed in closed form. Windows that do not overlap are independent, so the recursion runs over small
//! *blocks* of stamps, one column per stamp:
//!
//! | counts | file | work per cell |
//! |---|---|---|
//! | at most one stamp | `one_stamp` | O(1) |
//! | c!·p(c) a geometric series (Poisson) | `first_order` | O(1) |
//! | any table | `any_counts` | O(C) |
//!
//! These run in the linear domain, scaled. A certificate of each column excludes relevant underflow; a
//! block without it is redone in log space (`log_space`). [`dense`] is the textbook recursion over all L
//! × M cells, as a check.
//!
//! This module uses count tables, log-odds and densities of delays. It has no parameters, no priors and
//! no learning. Equations: `docs/model.md`.

mod alignment;
mod any_counts;
mod arrivals;
mod buffers;
mod column;
mod compensator;
mod count_tables;
pub mod dense;
mod distribution;
mod expected;
mod first_order;
mod free;
mod label_column;
mod lattice;
mod log_first_order;
mod log_space;
mod marginals;
mod one_stamp;
mod outputs;
mod pass;
mod solver;
mod superposition;
mod unstamped;
mod vocabulary;
mod weights;
mod windows;

pub use alignment::Alignment;
pub use compensator::Compensator;
pub use count_tables::CountTables;
pub use distribution::DelayDistribution;
pub(crate) use distribution::{NODES, cubic};
pub use expected::Expected;
pub use free::Messages;
pub use lattice::Lattice;
pub use marginals::{CountMarginals, Marginals, Responsibilities};
pub use outputs::Shares;
pub use pass::{Buffers, Pass, SessionSums, SpanSolution};
pub use superposition::Superposed;
pub use vocabulary::{DelayDensity, Impossible, Order, Stamp, Stamped, Timeline};

#[cfg(test)]
mod tests;
