//! Riders that agree: the certificate, messages that are kept, and damping.

use super::sums::Kept;
use super::*;

/// Stamps of two people about both ends of runs, and of one more about presence, in sessions that hold few events.
fn crowded(seed: u64) -> Case {
    use Order::{Free, Ordered};
    use Variable::{End, Onset, Presence};
    let about = [(Onset, Free), (Onset, Free), (End, Ordered), (Presence, Free), (End, Free)];
    let mut case = Case::draw(1, &about, 6, seed);
    case.log_background = -6.0;
    case.spread = 1.5;
    case
}

#[test]
fn crowded_stamps_settle() {
    for seed in 0..200 {
        for case in [crowded(seed), crowded(seed).sharing()] {
            let found = case.show(|scene| scene.sum(None));
            assert!(found.is_ok_and(|found| found.log_evidence.is_finite()), "seed {seed}");
        }
    }
}

#[test]
fn kept_messages_lead_to_the_same_place() {
    for seed in 0..20 {
        let (case, kept) = (crowded(seed), Kept::default());
        let first = case.show(|scene| scene.sum(Some(&kept))).unwrap();
        let mut other = case.clone();
        other.spread *= 1.1;
        other.show(|scene| scene.sum(Some(&kept))).unwrap();
        let again = case.show(|scene| scene.sum(Some(&kept))).unwrap();
        // The square of how far shares settle, for thirty riders.
        assert!((first.log_evidence - again.log_evidence).abs() < 1e-9, "seed {seed}");
        for (one, other) in first.presence.iter().zip(&again.presence) {
            assert!((one - other).abs() < 1e-5, "seed {seed}: {one} {other}"); // as far as shares settle
        }
    }
}
