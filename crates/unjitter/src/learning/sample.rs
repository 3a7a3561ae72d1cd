//! The sessions that a search is made on, if there are many more.
//!
//! Everything that takes hundreds of evaluations is decided on a part of the sessions: units, starts, modes, counts.
//! All sessions then take a few more. Which ones are in the part depends on their names alone, not on their order
//! or on where they are kept.

/// Instances for each stamp that was asked for, after which a part is large enough in any case.
const MOST_INSTANCES: usize = 100;
/// Share of the stamps without which it is not.
const LEAST: f64 = 0.05;

/// A session, as far as the choice depends on it.
#[derive(Debug, Clone, Copy)]
pub struct Size<'a> {
    /// Its name.
    pub name: &'a str,
    /// Number of its stamps.
    pub stamps: usize,
    /// Number of its instances.
    pub instances: usize,
}

/// Which sessions to search on: as many as have about enough stamps, by the order of their hashed names.
pub fn sampled(sessions: &[Size<'_>], enough: usize) -> Vec<bool> {
    let mut order: Vec<usize> = (0..sessions.len()).collect();
    order.sort_by_key(|&k| (hash(sessions[k].name), k));
    let mut is_in = vec![false; sessions.len()];
    let (mut stamps, mut instances) = (0, 0);
    let at_least = LEAST * enough as f64;
    for k in order {
        let is_large = instances >= enough.saturating_mul(MOST_INSTANCES);
        if stamps >= enough || (is_large && stamps as f64 >= at_least) {
            break;
        }
        is_in[k] = true;
        stamps += sessions[k].stamps;
        instances += sessions[k].instances;
    }
    is_in
}

/// The part of a cross-validation that a session, or all sessions of a subject, are in: from 0 to below `parts`.
pub fn fold_of(name: &str, parts: u64) -> u64 {
    // Other bits than those that order a sample, which would else be of few parts.
    mixed(hash(name)) % parts.max(1)
}

/// FNV-1a, whose low bits are then mixed: the same on every machine and in every version.
fn hash(name: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    mixed(name.bytes().fold(0xcbf2_9ce4_8422_2325, step))
}

/// The last step of SplitMix64 (Steele, Lea & Flood 2014).
fn mixed(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(names: &[String], stamps: usize, instances: usize) -> Vec<Size<'_>> {
        names.iter().map(|name| Size { name, stamps, instances }).collect()
    }

    #[test]
    fn few_sessions_are_all_taken_and_many_are_not() {
        let names: Vec<String> = (0..100).map(|k| format!("s{k}")).collect();
        let count = |stamps, instances, enough| {
            let is_in = sampled(&sizes(&names, stamps, instances), enough);
            is_in.into_iter().filter(|&is_in| is_in).count()
        };
        assert_eq!(count(10, 50, 1000), 100);
        assert_eq!(count(10, 50, 300), 30);
        assert_eq!(count(10, 50, 301), 31);
        // A tenth is enough where instances are many, and a twentieth is needed.
        assert_eq!(count(1, 1000, 100), 10);
        assert_eq!(count(1, 100_000, 1000), 50);
        assert_eq!(count(0, 1000, 100), 100);
    }

    #[test]
    fn the_choice_depends_on_names_alone() {
        let names: Vec<String> = (0..100).map(|k| format!("s{k}")).collect();
        let forward = sampled(&sizes(&names, 10, 50), 300);
        let reversed: Vec<String> = names.iter().rev().cloned().collect();
        let mut backward = sampled(&sizes(&reversed, 10, 50), 300);
        backward.reverse();
        assert_eq!(forward, backward);
    }

    #[test]
    fn folds_are_of_about_one_size() {
        let mut counts = [0; 5];
        (0..5000).for_each(|k| counts[fold_of(&format!("s{k}"), 5) as usize] += 1);
        // Four standard deviations of a binomial.
        assert!(counts.iter().all(|&count: &i32| (count - 1000).abs() < 115), "{counts:?}");
    }

    /// FNV-1a of "foobar" as its authors publish it.
    #[test]
    fn names_are_hashed_as_published() {
        assert_eq!(hash("foobar"), mixed(0x8594_4171_f739_67e8));
    }
}
