//! Some of many that were accepted at once, to look at.
//!
//! Drawn evenly, so that the share of wrong ones among them is an honest estimate of that among all.

use unjitter::math::Random;

use super::item::Item;

/// How many to look at.
const LOOKED_AT: usize = 10;

/// Some of these items, in their order. The same items give the same ones.
pub(super) fn spot_check(items: &[Item]) -> Vec<Item> {
    let mut random = Random::new(items.len() as u64);
    let mut left = LOOKED_AT.min(items.len());
    let mut chosen = Vec::with_capacity(left);
    for (seen, item) in items.iter().enumerate() {
        let rest = (items.len() - seen) as f64;
        if random.uniform() * rest < left as f64 {
            chosen.push(*item);
            left -= 1;
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_different_ones_are_drawn_from_all_over() {
        let items: Vec<Item> = (0..1000).map(|l| Item::Stamp(0, l)).collect();
        let chosen = spot_check(&items);
        assert_eq!(chosen.len(), 10);
        assert!(
            chosen.is_sorted()
                && chosen[0] < Item::Stamp(0, 500)
                && chosen[9] > Item::Stamp(0, 500)
        );
        assert_eq!(spot_check(&items[..3]), items[..3]);
        assert!(spot_check(&[]).is_empty());
    }
}
