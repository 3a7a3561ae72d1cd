//! Vectors of a sum that outlive it, for the next one.
//!
//! A system takes large vectors back when they are dropped, and hands out new ones page by page, which took a third of the
//! time of a sum.

use crate::memory::is_little;

/// Spare vectors, of which only the room is of use.
#[derive(Debug, Default)]
pub(crate) struct Spare(Vec<Vec<f64>>);

/// More are not kept.
const MOST: usize = 8;

impl Spare {
    /// So many zeros, in the smallest vector with room for them, or in the largest.
    pub(crate) fn zeros(&mut self, count: usize) -> Vec<f64> {
        let fit = |own: &Vec<f64>| (own.capacity() < count, own.capacity().abs_diff(count));
        let best = (0..self.0.len()).min_by_key(|k| fit(&self.0[*k]));
        let mut zeros = best.map_or_else(Vec::new, |k| self.0.swap_remove(k));
        zeros.clear();
        zeros.reserve_exact(count);
        zeros.resize(count, 0.0);
        zeros
    }

    /// Keeps the room of a vector that is no longer needed, unless so many of its size would be much.
    pub(crate) fn keep(&mut self, vector: Vec<f64>) {
        let bytes = 8 * MOST as u64 * vector.capacity() as u64;
        if self.0.len() < MOST && is_little(bytes) {
            self.0.push(vector);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_used_again_and_holds_zeros() {
        let mut spare = Spare::default();
        let kept = vec![1.0; 1000];
        let place = kept.as_ptr();
        spare.keep(vec![1.0; 10]);
        spare.keep(kept);
        let zeros = spare.zeros(900);
        assert_eq!((zeros.as_ptr(), zeros), (place, vec![0.0; 900]));
        assert_eq!(spare.zeros(20), vec![0.0; 20]);
        assert!(spare.0.is_empty());
    }
}
