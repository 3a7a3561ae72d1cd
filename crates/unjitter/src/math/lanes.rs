//! Eight numbers that are processed together.
//!
//! Each operation applies to all eight: the compiler vectorises this form in functions that `multiversion`
//! compiles. The order of additions is fixed, so results have the same bits on every machine.

use std::ops::{Add, AddAssign, Div, Mul, Sub};

/// Number of lanes.
pub(crate) const LANES: usize = 8;

/// Eight numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(transparent)]
pub(crate) struct Lanes(pub(crate) [f64; LANES]);

impl Lanes {
    /// The same number eight times.
    #[inline(always)]
    pub(crate) fn all(value: f64) -> Self {
        Self([value; LANES])
    }

    /// The larger of each pair; if one is NaN, the other.
    #[inline(always)]
    pub(crate) fn max(self, other: Self) -> Self {
        self.zip(other, |a, b| if b > a { b } else { a })
    }

    /// The smaller of each pair; if one is NaN, the other.
    #[inline(always)]
    pub(crate) fn min(self, other: Self) -> Self {
        self.zip(other, |a, b| if b < a { b } else { a })
    }

    /// The sum, as a tree.
    #[inline(always)]
    pub(crate) fn sum(self) -> f64 {
        let [a, b, c, d, e, f, g, h] = self.0;
        ((a + e) + (c + g)) + ((b + f) + (d + h))
    }

    /// total + the sums up to each lane, as a tree: only one addition depends on the total, which then
    /// continues to the next eight.
    #[inline(always)]
    pub(crate) fn running_sums(self, total: &mut f64) -> Self {
        let [a, b, c, d, e, f, g, h] = self.0;
        let (ab, cd, ef, gh) = (a + b, c + d, e + f, g + h);
        let (abcd, efgh) = (ab + cd, ef + gh);
        let abcdef = abcd + ef;
        let sums = Self([a, ab, ab + c, abcd, abcd + e, abcdef, abcdef + g, abcd + efgh]);
        let sums = Self::all(*total) + sums;
        *total = sums.0[LANES - 1];
        sums
    }

    /// The same from the last lane on.
    #[inline(always)]
    pub(crate) fn running_sums_back(mut self, total: &mut f64) -> Self {
        self.0.reverse();
        let mut sums = self.running_sums(total);
        sums.0.reverse();
        sums
    }

    #[inline(always)]
    fn zip(self, other: Self, operation: impl Fn(f64, f64) -> f64) -> Self {
        Self(std::array::from_fn(|k| operation(self.0[k], other.0[k])))
    }
}

impl Add for Lanes {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.zip(other, |a, b| a + b)
    }
}

impl AddAssign for Lanes {
    #[inline(always)]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Lanes {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.zip(other, |a, b| a - b)
    }
}

impl Mul for Lanes {
    type Output = Self;
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        self.zip(other, |a, b| a * b)
    }
}

impl Div for Lanes {
    type Output = Self;
    #[inline(always)]
    fn div(self, other: Self) -> Self {
        self.zip(other, |a, b| a / b)
    }
}

impl Mul<f64> for Lanes {
    type Output = Self;
    #[inline(always)]
    fn mul(self, factor: f64) -> Self {
        self * Self::all(factor)
    }
}

/// The sum of a slice, in eight partial sums.
#[inline(always)]
pub(crate) fn sum_in_lanes(values: &[f64]) -> f64 {
    let (groups, rest) = values.as_chunks();
    let mut sums = Lanes::all(0.0);
    groups.iter().for_each(|group| sums += Lanes(*group));
    sums.sum() + rest.iter().sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn running_sums_go_on_from_eight_to_eight() {
        // Whole numbers: nothing rounds.
        let group = Lanes([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
        let mut total = 100.0;
        let sums = Lanes([101.0, 103.0, 106.0, 110.0, 115.0, 121.0, 128.0, 136.0]);
        assert_eq!(group.running_sums(&mut total), sums);
        assert_eq!(total, 136.0);
        let back = [136.0, 135.0, 133.0, 130.0, 126.0, 121.0, 115.0, 108.0].map(|sum| sum + 36.0);
        assert_eq!(group.running_sums_back(&mut total), Lanes(back));
        assert_eq!(total, 172.0);
        assert_eq!(group.sum(), 36.0);
    }

    #[test]
    fn a_slice_of_any_length_is_summed() {
        for len in 0..20_u8 {
            let values: Vec<f64> = (0..len).map(f64::from).collect();
            assert_eq!(
                sum_in_lanes(&values),
                f64::from(u16::from(len) * (u16::from(len).max(1) - 1) / 2)
            );
        }
    }
}
