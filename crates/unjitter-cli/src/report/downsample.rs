//! A recording reduced to what a screen can show.
//!
//! Equal buckets of samples give their smallest and largest value each, at their own times: the line touches
//! everything that a line through all samples would touch. Averages would hide the peaks that people look for.

/// Indices of the samples to keep, and which of them have a gap before them.
#[derive(Debug, PartialEq)]
pub(super) struct Kept {
    /// Ascending, at most as many as asked for.
    pub(super) samples: Vec<usize>,
    /// Positions in `samples`; no line leads to these.
    pub(super) gaps: Vec<usize>,
}

/// A pause of this many typical sampling steps is a gap.
const GAP_STEPS: f64 = 5.0;

/// Keeps at most `limit` samples, at least two. Linear in the number of samples, except for one median.
pub(super) fn downsample(times: &[f64], values: &[f64], limit: usize) -> Kept {
    let length = times.len().min(values.len());
    let present: Vec<usize> =
        (0..length).filter(|&i| times[i].is_finite() && values[i].is_finite()).collect();
    let samples = extremes(&present, values, limit.max(2));
    let pieces = pieces(&present, times, length);
    let gaps =
        (1..samples.len()).filter(|&k| pieces[samples[k]] != pieces[samples[k - 1]]).collect();
    Kept { samples, gaps }
}

fn extremes(present: &[usize], values: &[f64], limit: usize) -> Vec<usize> {
    if present.len() <= limit {
        return present.to_vec();
    }
    let size = present.len().div_ceil(limit / 2);
    let mut kept = Vec::with_capacity(limit);
    for bucket in present.chunks(size) {
        let by_value = |a: &&usize, b: &&usize| values[**a].total_cmp(&values[**b]);
        let lowest = *bucket.iter().min_by(by_value).expect("chunks are never empty");
        let highest = *bucket.iter().max_by(by_value).expect("chunks are never empty");
        kept.push(lowest.min(highest));
        if lowest != highest {
            kept.push(lowest.max(highest));
        }
    }
    kept
}

/// For each sample, the number of its uninterrupted piece of recording.
fn pieces(present: &[usize], times: &[f64], length: usize) -> Vec<usize> {
    let steps = present.windows(2).map(|pair| times[pair[1]] - times[pair[0]]);
    let longest = GAP_STEPS * typical_step(steps);
    let mut pieces = vec![0; length];
    for pair in present.windows(2) {
        let (before, here) = (pair[0], pair[1]);
        let interrupted = here > before + 1 || times[here] - times[before] > longest;
        pieces[here] = pieces[before] + usize::from(interrupted);
    }
    pieces
}

/// The median of steps in time; infinite if there is none above 0.
pub(crate) fn typical_step(steps: impl Iterator<Item = f64>) -> f64 {
    let mut steps: Vec<f64> = steps.collect();
    if steps.is_empty() {
        return f64::INFINITY;
    }
    let middle = steps.len() / 2;
    let median = *steps.select_nth_unstable_by(middle, f64::total_cmp).1;
    if median > 0.0 { median } else { f64::INFINITY }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(length: usize) -> Vec<f64> {
        (0..length).map(|i| i as f64 * 0.05).collect()
    }

    #[test]
    fn short_recordings_stay_as_they_are() {
        let kept = downsample(&clock(4), &[1.0, 3.0, 2.0, 2.5], 6);
        assert_eq!(kept, Kept { samples: vec![0, 1, 2, 3], gaps: vec![] });
        assert_eq!(downsample(&[], &[], 6), Kept { samples: vec![], gaps: vec![] });
        assert_eq!(downsample(&[1.0], &[f64::NAN], 6).samples, Vec::<usize>::new());
    }

    #[test]
    fn extremes_of_every_stretch_survive() {
        let values: Vec<f64> = (0..10_007).map(|i| ((i * 7919) % 1009) as f64).collect();
        let kept = downsample(&clock(values.len()), &values, 100);
        assert!(kept.samples.len() <= 100);
        assert!(kept.samples.is_sorted());
        let size = values.len().div_ceil(50);
        for (b, bucket) in values.chunks(size).enumerate() {
            let range = b * size..b * size + bucket.len();
            let inside: Vec<f64> =
                kept.samples.iter().filter(|i| range.contains(i)).map(|&i| values[i]).collect();
            let lowest = bucket.iter().copied().fold(f64::INFINITY, f64::min);
            let highest = bucket.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            assert!(inside.contains(&lowest) && inside.contains(&highest), "stretch {b}");
        }
    }

    #[test]
    fn missing_values_and_pauses_are_gaps() {
        let mut times = clock(10);
        times[7..].iter_mut().for_each(|t| *t += 3.0);
        let values = [0.0, 1.0, f64::NAN, 3.0, 4.0, 5.0, 6.0, 7.0, f64::INFINITY, 9.0];
        let kept = downsample(&times, &values, 100);
        assert_eq!(kept.samples, [0, 1, 3, 4, 5, 6, 7, 9]);
        assert_eq!(kept.gaps, [2, 6, 7]);
    }

    #[test]
    fn a_gap_inside_a_bucket_is_still_a_gap() {
        let mut times = clock(1000);
        times[503..].iter_mut().for_each(|t| *t += 60.0);
        let values: Vec<f64> = (0..1000).map(|i| i as f64).collect();
        let kept = downsample(&times, &values, 100);
        assert_eq!(kept.gaps.len(), 1);
        let after = kept.samples[kept.gaps[0]];
        let before = kept.samples[kept.gaps[0] - 1];
        assert!(before < 503 && after >= 503, "{before} to {after}");
    }

    #[test]
    fn the_limit_holds_when_every_second_value_is_missing() {
        let values: Vec<f64> =
            (0..5000).map(|i| if i % 2 == 0 { f64::from(i % 97) } else { f64::NAN }).collect();
        assert!(downsample(&clock(5000), &values, 200).samples.len() <= 200);
    }
}
