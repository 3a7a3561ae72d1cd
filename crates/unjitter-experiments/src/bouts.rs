//! Detectors judged by runs: those found, beside the true ones.

use unjitter::evaluation::{
    BoutOptions, Comparison, Confusion, Detection, EventOptions, detect_events, lasting,
    match_bouts,
};
use unjitter::labels::Labels;
use unjitter::learning::median_spacing;
use unjitter::{Recording, Result, Session};

/// Counts bouts instead of instances in every fold: a true one is hit by a found one with half in common of what both
/// cover, and neither counts twice.
pub(crate) fn count(recordings: &[Recording], comparison: &mut Comparison) -> Result<()> {
    let sessions: Vec<Session> = recordings.iter().map(|one| one.session.clone()).collect();
    let spacing = median_spacing(&sessions);
    for contender in &mut comparison.contenders {
        for (fold, held_out) in contender.folds.iter_mut().zip(&comparison.folds) {
            let mut counts = Confusion::default();
            for (&k, probabilities) in held_out.iter().zip(&fold.probabilities) {
                let own = counted(&recordings[k], probabilities, fold.threshold, spacing)?;
                counts = counts + own;
            }
            fold.confusion = Some(counts);
        }
    }
    Ok(())
}

fn counted(
    recording: &Recording,
    probabilities: &[f64],
    threshold: f64,
    spacing: f64,
) -> Result<Confusion> {
    let options = EventOptions { threshold, labels: Labels::Chain, ..EventOptions::default() };
    let runs = |own: &[f64]| -> Result<Vec<Detection>> {
        detect_events(recording.session.times(), own, &options)
    };
    let truth = recording.hand_labels()?.iter().map(|&label| f64::from(u8::from(label)));
    let truth: Vec<f64> = truth.collect();
    let (found, truth) = (runs(probabilities)?, runs(&truth)?);
    let (found, truth) = (lasting(&found, spacing), lasting(&truth, spacing));
    let hits = match_bouts(&found, &truth, BoutOptions::default().overlap)?.len();
    Ok(Confusion {
        true_positives: hits,
        false_positives: found.len() - hits,
        false_negatives: truth.len() - hits,
        true_negatives: 0,
    })
}

#[cfg(test)]
mod tests {
    use ndarray::Array2;

    use super::*;

    #[test]
    fn a_run_is_hit_once_by_what_has_half_in_common() {
        let times: Vec<f64> = (0..20).map(f64::from).collect();
        let session = Session::new("s", Array2::<f64>::zeros((20, 1)), times, vec![]).unwrap();
        let among = |runs: &[std::ops::Range<usize>]| -> Vec<bool> {
            (0..20).map(|i| runs.iter().any(|run| run.contains(&i))).collect()
        };
        let recording = Recording { session, truth: Some(among(&[2..6, 10..14, 16..18])) };
        // The first in two pieces of which one has half, the second found too long, the third not at all, one for nothing.
        let found = among(&[2..3, 4..6, 9..15, 19..20]);
        let p: Vec<f64> = found.iter().map(|&own| if own { 0.9 } else { 0.2 }).collect();
        let counts = counted(&recording, &p, 0.5, 1.0).unwrap();
        let Confusion { true_positives, false_positives, false_negatives, .. } = counts;
        assert_eq!((true_positives, false_positives, false_negatives), (2, 2, 1));
    }
}
