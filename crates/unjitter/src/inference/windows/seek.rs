//! Search for a time among those of the instances.

/// Instances per unit of time; zero if that cannot serve as a guess.
pub(in crate::inference) fn mean_rate(times: &[f64]) -> f64 {
    match (times.first(), times.last()) {
        (Some(first), Some(last)) if last > first => (times.len() - 1) as f64 / (last - first),
        _ => 0.0,
    }
}

/// First position from `start` on where `before`, which holds up to `bound`, no longer holds. Starts from
/// a guess, since instances are mostly evenly spaced.
pub(in crate::inference) fn seek(
    times: &[f64],
    start: usize,
    rate: f64,
    bound: f64,
    before: impl Fn(f64) -> bool,
) -> usize {
    let Some(first) = times.get(start) else { return start };
    // Saturates; NaN becomes 0.
    let steps = ((bound - first) * rate) as usize;
    let fits = |guess: usize| {
        guess <= times.len()
            && (guess == start || before(times[guess - 1]))
            && times.get(guess).is_none_or(|&t| !before(t))
    };
    let guess = start.saturating_add(steps);
    // A bound on an instance, or past it.
    match [guess.saturating_add(1), guess].into_iter().find(|&guess| fits(guess)) {
        Some(found) => found,
        None => gallop(times, start, before),
    }
}

/// The same by doubling steps and then bisection: O(log distance).
fn gallop(times: &[f64], start: usize, before: impl Fn(f64) -> bool) -> usize {
    let mut step = 1;
    let mut low = start;
    while low + step <= times.len() && before(times[low + step - 1]) {
        low += step;
        step *= 2;
    }
    let high = (low + step).min(times.len());
    low + times[low..high].partition_point(|&t| before(t))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seek_and_gallop_are_partition_point() {
        let times: Vec<f64> = (0..37).map(f64::from).collect();
        for start in 0..37 {
            for cut in 0..40 {
                let cut = f64::from(cut) - 0.5;
                let want = start + times[start..].partition_point(|&t| t < cut);
                assert_eq!(gallop(&times, start, |t| t < cut), want);
                for rate in [0.0, 0.3, 1.0, 7.0, f64::INFINITY, f64::NAN] {
                    assert_eq!(seek(&times, start, rate, cut, |t| t < cut), want);
                    assert_eq!(seek(&times, start, rate, cut, |t| t <= cut), want);
                }
            }
        }
    }
}
