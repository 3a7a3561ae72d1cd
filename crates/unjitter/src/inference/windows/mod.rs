//! Which instances a stamp can have come from.
//!
//! `placing` says where the windows of stamps begin and end, with `reference`, how well instances suit stamps,
//! and `crowd`, room for stamps that push each other. A `band` has the densities within them, and `memory`
//! counts what they take. `edges` judges by what was found whether they are wide enough; `growing` widens them
//! until they are.

mod band;
mod crowd;
mod edges;
mod growing;
mod memory;
mod placing;
mod reference;
mod seek;

pub(super) use band::Band;
pub(super) use edges::{check_edges, check_support};
pub(super) use growing::widen;
