//! Riders that agree: from nothing and from messages that were kept, damped or not, in windows of any width.

use super::*;

/// Stamps of two people about both ends of runs, and of one about presence, in sessions that hold few events.
fn crowded(seed: u64) -> Case {
    use Order::{Free, Ordered};
    use Variable::{End, Onset, Presence};
    let about = [(Onset, Free), (Onset, Free), (End, Ordered), (Presence, Free), (End, Free)];
    let case = Case::draw(1, &about, 6, seed);
    Case { log_background: -6.0, spread: 1.5, ..case }
}

#[test]
fn crowded_stamps_settle() {
    for seed in 0..200 {
        for case in [crowded(seed), crowded(seed).sharing()] {
            let found =
                case.show(|scene| scene.sum(Wanted::Posterior, None, &mut Spare::default()));
            assert!(found.is_ok_and(|found| found.log_evidence.is_finite()), "seed {seed}");
        }
    }
}

#[test]
fn kept_messages_lead_to_the_same_place() {
    for seed in 0..20 {
        for case in [crowded(seed), crowded(seed).sharing()] {
            let kept = Kept::default();
            let first = case
                .show(|scene| scene.sum(Wanted::Posterior, Some(&kept), &mut Spare::default()))
                .unwrap();
            let other = Case { spread: 1.6, ..case.clone() };
            other
                .show(|scene| scene.sum(Wanted::Posterior, Some(&kept), &mut Spare::default()))
                .unwrap();
            let again = case
                .show(|scene| scene.sum(Wanted::Posterior, Some(&kept), &mut Spare::default()))
                .unwrap();
            // The square of how far shares settle, for thirty riders.
            let off = first.log_evidence - again.log_evidence;
            assert!(off.abs() < 1e-9, "seed {seed}: {off}");
            for (one, other) in first.presence.iter().zip(&again.presence) {
                assert!((one - other).abs() < 1e-5, "seed {seed}: {one} {other}"); // as far as shares settle
            }
        }
    }
}

#[test]
fn damped_messages_lead_to_the_same_place() {
    use Order::{Free, Ordered};
    use Variable::{End, Onset};
    for seed in 0..20 {
        let case = Case::draw(1, &[(Onset, Free), (End, Ordered), (Onset, Free)], 4, seed);
        for case in [case.clone(), case.sharing()] {
            let plain = case.summed_with(AGREEING).log_evidence;
            let damped = case.summed_with(Effort { damped_after: 1, ..AGREEING }).log_evidence;
            // The square of how far shares settle, for a dozen riders.
            assert!((plain - damped).abs() < 1e-9, "seed {seed}: {plain} {damped}");
        }
    }
}

/// Nine stamps that scatter so far that their windows are a thousand instances wide, about labels of which features tell
/// little.
fn wide(seed: u64) -> Case {
    let mut random = Random::new(seed);
    let times: Vec<f64> = (0..1200).map(|i| f64::from(i) / 4.0).collect();
    let log_odds = -1.0 - random.uniform();
    let scores = times.iter().map(|_| log_odds + 0.8 * random.normal()).collect();
    let mut stamps: Vec<f64> = (0..9).map(|_| 300.0 * random.uniform()).collect();
    stamps.sort_by(f64::total_cmp);
    let rates = Some(Rates { onset: 0.027, offset: 0.15 + 0.3 * random.uniform() });
    let heard = vec![Heard {
        variable: Variable::Onset,
        habits: vec![Habit { silent: 0.15, given: 0.85, further: 0.0 }],
        order: Order::Free,
        recorded: vec![vec![1.0]],
        stamps: vec![Stamp::at(&stamps)],
    }];
    let spread = 12.0 + 8.0 * random.uniform();
    let (classes, known, log_background) = (1, Vec::new(), -6.0);
    Case { times, classes, rates, scores, known, spread, log_background, heard }
}

#[test]
fn sums_over_wide_windows_stay_finite() {
    for seed in 0..12 {
        let mut case = wide(seed);
        let free = case.summed().log_evidence;
        case.heard[0].order = Order::Ordered;
        let ordered = case.summed().log_evidence;
        // The ways in order, which are summed exactly, are a part of all; stamps that scatter by half the time between
        // them exchange some owners.
        assert!(free > ordered - 0.05 && free < ordered + 4.0, "seed {seed}: {free} {ordered}");
    }
}
