//! Alternating peaks and troughs by hysteresis.
//!
//! A high point is a peak once the signal has fallen from it by the threshold there; a trough likewise.
//! Wiggles below the threshold are ignored, whatever their number. One pass.

/// A turning point of a signal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Extremum {
    pub(super) index: usize,
    pub(super) is_peak: bool,
}

/// Alternating peaks and troughs. `thresholds` holds, for each value, how far the signal must turn back.
///
/// The first and the last value are ends, not turning points, and are left out, as is the last
/// candidate from which the signal has not yet turned back.
pub(super) fn alternating(values: &[f64], thresholds: &[f64]) -> Vec<Extremum> {
    let mut found = Vec::new();
    let (mut low, mut high) = (0, 0);
    // Unknown until the first turn; then whether a peak is sought.
    let mut seeks_peak: Option<bool> = None;
    for (i, &value) in values.iter().enumerate() {
        if value > values[high] {
            high = i;
        }
        if value < values[low] {
            low = i;
        }
        if seeks_peak != Some(false) && value < values[high] - thresholds[high] {
            found.push(Extremum { index: high, is_peak: true });
            (seeks_peak, low) = (Some(false), i);
        } else if seeks_peak != Some(true) && value > values[low] + thresholds[low] {
            found.push(Extremum { index: low, is_peak: false });
            (seeks_peak, high) = (Some(true), i);
        }
    }
    found.retain(|extremum| extremum.index != 0);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn indices(values: &[f64], threshold: f64) -> Vec<(usize, bool)> {
        let thresholds = vec![threshold; values.len()];
        alternating(values, &thresholds).iter().map(|e| (e.index, e.is_peak)).collect()
    }

    #[test]
    fn peaks_and_troughs_take_turns() {
        let values = [1.0, 0.0, 3.0, 1.0, 4.0, 0.0, 5.0];
        let all = [(1, false), (2, true), (3, false), (4, true), (5, false)];
        // The first fall, of 1, is no turn at 1.5: the low point is still the first trough.
        assert_eq!(indices(&values, 1.5), all);
        // A dip of 2 is ignored at 2.5, and the higher of its two shoulders is the peak.
        assert_eq!(indices(&values, 2.5), [(1, false), (4, true), (5, false)]);
    }

    #[test]
    fn ends_are_no_turning_points() {
        assert_eq!(indices(&[0.0, 1.0, 2.0, 3.0], 0.5), []);
        assert_eq!(indices(&[3.0, 2.0, 1.0, 2.0], 0.5), [(2, false)]);
        assert_eq!(indices(&[], 0.5), []);
    }

    #[test]
    fn a_flat_signal_never_turns() {
        assert_eq!(indices(&[2.0; 9], 0.0), []);
    }
}
