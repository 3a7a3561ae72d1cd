//! Which instances a stamp can have come from.
//!
//! `placing` places the windows of stamps. It uses `reference`, how well instances suit stamps, and
//! `crowd`, room for stamps that push each other. A `band` has the densities within the windows, and
//! `memory` counts their memory. `edges` checks from the results whether the windows are wide enough;
//! `growing` widens them until they are.

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
pub(super) use placing::LogDrop;
