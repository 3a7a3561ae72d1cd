//! Blocks whose stamps may have come from any instance in their windows: belief propagation.
//!
//! The exact sum runs over all maps of stamps to instances or the background, a permanent. Belief
//! propagation approximates it by messages between stamps and instances. Stamp l *claims* instance i with
//! μ_l(i), and the instance *offers* itself with ν_i(l), given what the other stamps claim:
//!
//! ```text
//! μ_l(i) = p_l(i) / (ρ + Σ_{j≠i} p_l(j)·ν_j(l))
//! ν_i(l) = Σ_c u_i(c+1)·e_c(claims but l's) / Σ_c u_i(c)·e_c(claims but l's)
//! w_l(i) = p_l(i)·ν_i(l) / D_l             D_l = ρ + Σ_j p_l(j)·ν_j(l)
//! log Z  ≈ Σ_l log D_l + Σ_i log Σ_c u_i(c)·e_c(claims) − Σ_{i,l} log(1 + μ_l(i)·ν_i(l))
//! ```
//!
//! with e_c the elementary symmetric polynomials. It is exact if no two stamps share an instance, and the
//! derivatives of log Z are expectations under the messages, as in the exact sum.
//!
//! Stamps are visited in order of time, to the end and back (`sweep`), until the responsibilities no longer
//! move (`settle`). Only the offers of instances depend on how many stamps these may give (`tally`):
//! `one_stamp`, `first_order` and `any_table` are the kinds of counts.

mod any_table;
mod assignment;
mod claim;
mod claimants;
mod first_order;
mod market;
mod messages;
mod neighbours;
mod one_stamp;
mod rescale;
mod row;
mod settle;
mod sweep;
mod tally;

pub(super) use any_table::AnyTable;
pub(super) use assignment::best_owners;
pub(super) use claimants::Claimants;
pub(super) use first_order::FirstOrder;
pub use messages::Messages;
pub(super) use one_stamp::OneStamp;
pub(super) use sweep::Free;
#[cfg(test)]
pub(super) use sweep::VISITS;
