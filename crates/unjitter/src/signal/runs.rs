//! Stretches without gaps, resampled to a uniform grid.
//!
//! Filters need equal spacing, which sensors do not deliver. Samples are interpolated linearly at equal
//! steps; a gap too long for interpolation ends the run. Times are relative to the first sample of a run,
//! so that epoch seconds lose no digits.

use super::Signal;

/// A stretch without gaps on a uniform grid.
#[derive(Debug, PartialEq)]
pub(super) struct Run {
    /// Time of the first value.
    pub(super) start: f64,
    pub(super) values: Vec<f64>,
}

/// The runs of `signal`, sampled `rate` times a second; a step longer than `max_gap` seconds separates two runs.
pub(super) fn runs(signal: &Signal, rate: f64, max_gap: f64) -> Vec<Run> {
    let (times, values) = (signal.times(), signal.values());
    let mut runs = Vec::new();
    let mut first = 0;
    for next in 1..=times.len() {
        if next == times.len() || times[next] - times[next - 1] > max_gap {
            let start = times[first];
            let duration = times[next - 1] - start;
            // A last step that rounding has made slightly too short still counts.
            let count = (duration * rate + 1e-6).floor() as usize + 1;
            let values =
                resample(&times[first..next], &values[first..next], start, 1.0 / rate, count);
            runs.push(Run { start, values });
            first = next;
        }
    }
    runs
}

/// `count` values at start, start + step, … by linear interpolation of at least one sample, constant
/// beyond them. Of samples at the same time, the last counts.
pub(super) fn resample(
    times: &[f64],
    values: &[f64],
    start: f64,
    step: f64,
    count: usize,
) -> Vec<f64> {
    let mut next = 0;
    (0..count)
        .map(|k| {
            let at = k as f64 * step;
            while next < times.len() && times[next] - start <= at {
                next += 1;
            }
            if next == 0 {
                return values[0];
            }
            if next == times.len() {
                return values[next - 1];
            }
            let before = times[next - 1] - start;
            let share = (at - before) / (times[next] - times[next - 1]);
            values[next - 1] + share * (values[next] - values[next - 1])
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_gap_parts_two_runs_and_a_short_one_is_bridged() {
        let signal = Signal::new(vec![0.0, 0.5, 1.5, 4.0, 4.5], vec![0.0, 1.0, 3.0, 7.0, 8.0]);
        let runs = runs(&signal.unwrap(), 2.0, 1.0);
        assert_eq!(runs.len(), 2);
        assert_eq!(runs[0], Run { start: 0.0, values: vec![0.0, 1.0, 2.0, 3.0] });
        assert_eq!(runs[1], Run { start: 4.0, values: vec![7.0, 8.0] });
    }

    #[test]
    fn of_samples_at_one_time_the_last_counts() {
        let values = resample(&[0.0, 1.0, 1.0, 2.0], &[0.0, 5.0, 9.0, 3.0], 0.0, 0.5, 5);
        assert_eq!(values, [0.0, 2.5, 9.0, 6.0, 3.0]);
    }

    #[test]
    fn beyond_the_samples_the_line_is_flat() {
        assert_eq!(resample(&[1.0, 2.0], &[4.0, 6.0], 0.0, 1.0, 4), [4.0, 4.0, 6.0, 6.0]);
    }
}
