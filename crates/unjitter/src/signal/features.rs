//! Features of a respiration cycle: durations, amplitudes, shape, and deviation from its surroundings.
//!
//! Breaths differ between people, sensors and positions more than between events, so the six basic
//! measures also appear relative to their surroundings: divided by their running median, and as
//! differences to the cycles before and after. Time is linear in the cycles for given neighbours.

use ndarray::Array2;

use super::Cycle;
use super::sliding::moving_median;

/// Names of the columns of [`cycle_features`], in order. Durations are in seconds, amplitudes in
/// units of the signal, rates in units per second; ratios and fullness have no unit.
pub const CYCLE_FEATURES: &[&str] = &[
    "inhalation_duration",
    "exhalation_duration",
    "duration",
    "inhalation_amplitude",
    "exhalation_amplitude",
    "stretch",
    "duration_ratio",
    "amplitude_ratio",
    "inhalation_rate",
    "exhalation_rate",
    "inhalation_fullness",
    "exhalation_fullness",
    "inhalation_duration_relative",
    "exhalation_duration_relative",
    "duration_relative",
    "inhalation_amplitude_relative",
    "exhalation_amplitude_relative",
    "stretch_relative",
    "inhalation_duration_from_previous",
    "exhalation_duration_from_previous",
    "duration_from_previous",
    "inhalation_amplitude_from_previous",
    "exhalation_amplitude_from_previous",
    "stretch_from_previous",
    "inhalation_duration_from_next",
    "exhalation_duration_from_next",
    "duration_from_next",
    "inhalation_amplitude_from_next",
    "exhalation_amplitude_from_next",
    "stretch_from_next",
];

/// The measures that also appear relative to their surroundings.
const BASIC: usize = 6;
const SHAPE: usize = 6;

/// One row per cycle, one column per entry of [`CYCLE_FEATURES`]; finite for cycles that were found
/// by [`find_cycles`](super::find_cycles).
///
/// * `duration_ratio`, `amplitude_ratio`: inhalation divided by exhalation.
/// * `…_rate`: amplitude divided by duration.
/// * `…_fullness`: area divided by duration × stretch; one half for straight lines, more for a held
///   breath, less for a long pause.
/// * `…_relative`: divided by the median over `neighbours` cycles on each side and the cycle
///   itself, fewer at the ends of the recording.
/// * `…_from_previous`, `…_from_next`: the cycle less that neighbour, which must be of the same run
///   without gaps; zero where there is none.
pub fn cycle_features(cycles: &[Cycle], neighbours: usize) -> Array2<f64> {
    let basics: Vec<[f64; BASIC]> = cycles.iter().map(basic).collect();
    let mut features = Array2::zeros((cycles.len(), CYCLE_FEATURES.len()));
    for (i, cycle) in cycles.iter().enumerate() {
        let previous = neighbour(cycles, &basics, i, i.checked_sub(1));
        let next = neighbour(cycles, &basics, i, Some(i + 1));
        for k in 0..BASIC {
            features[[i, k]] = basics[i][k];
            features[[i, 2 * BASIC + SHAPE + k]] = basics[i][k] - previous[k];
            features[[i, 3 * BASIC + SHAPE + k]] = basics[i][k] - next[k];
        }
        for (k, value) in shape(cycle, &basics[i]).into_iter().enumerate() {
            features[[i, BASIC + k]] = value;
        }
    }
    for k in 0..BASIC {
        let column: Vec<f64> = basics.iter().map(|basic| basic[k]).collect();
        for (i, usual) in moving_median(&column, neighbours).into_iter().enumerate() {
            features[[i, BASIC + SHAPE + k]] = column[i] / usual;
        }
    }
    features
}

fn basic(cycle: &Cycle) -> [f64; BASIC] {
    [
        cycle.peak - cycle.start,
        cycle.end - cycle.peak,
        cycle.end - cycle.start,
        cycle.peak_value - cycle.start_value,
        cycle.peak_value - cycle.end_value,
        cycle.stretch,
    ]
}

fn shape(cycle: &Cycle, basic: &[f64; BASIC]) -> [f64; SHAPE] {
    let &[inhalation, exhalation, _, rise, fall, stretch] = basic;
    [
        inhalation / exhalation,
        rise / fall,
        rise / inhalation,
        fall / exhalation,
        cycle.inhalation_area / (inhalation * stretch),
        cycle.exhalation_area / (exhalation * stretch),
    ]
}

/// Measures of cycle `other`, or of cycle `i` itself if `other` does not exist or is in another run.
fn neighbour(
    cycles: &[Cycle],
    basics: &[[f64; BASIC]],
    i: usize,
    other: Option<usize>,
) -> [f64; BASIC] {
    let same_run = |&j: &usize| cycles.get(j).is_some_and(|cycle| cycle.run == cycles[i].run);
    basics[other.filter(same_run).unwrap_or(i)]
}
