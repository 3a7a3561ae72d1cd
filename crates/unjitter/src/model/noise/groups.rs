//! Delays with their responsibilities, eight at a time.

use crate::math::{LANES, Lanes};

/// Passes all delays and their responsibilities to `add`. A delay with responsibility zero may be so far
/// away that its square overflows: it is passed as `middle`, which also fills up the last eight.
#[inline(always)]
pub(super) fn for_groups(
    middle: f64,
    delays: &[f64],
    responsibilities: &[f64],
    mut add: impl FnMut(Lanes, Lanes),
) {
    for (delays, responsibilities) in delays.chunks(LANES).zip(responsibilities.chunks(LANES)) {
        let (delays, responsibilities) = (filled(delays), filled(responsibilities));
        let near =
            std::array::from_fn(|k| if responsibilities[k] == 0.0 { middle } else { delays[k] });
        add(Lanes(near), Lanes(responsibilities));
    }
}

/// These numbers, filled up with zeros to eight.
#[inline(always)]
fn filled(values: &[f64]) -> [f64; LANES] {
    match values.first_chunk() {
        Some(whole) => *whole,
        None => std::array::from_fn(|lane| values.get(lane).copied().unwrap_or(0.0)),
    }
}
