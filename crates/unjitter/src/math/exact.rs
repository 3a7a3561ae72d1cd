//! Sums without rounding, which do not depend on the order of their terms.
//!
//! A number is an integer times 2⁻¹⁰⁷⁵, and so is every sum. It is kept in chunks of 32 bits with room above for
//! carries (Neal 2015, *Fast exact summation using small and large superaccumulators*). Whoever adds, in which
//! order and in how many pieces: the sum, rounded once at the end, has the same bits. Some 3 ns for each number.

use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

/// Chunks of all exponents of a double, and two for sums that are larger than any of them.
const CHUNKS: usize = 67;
/// Bits of a chunk.
const BITS: u32 = 32;
/// The exponent of the lowest bit.
const LOWEST: i32 = -1075;
/// Numbers that can be added before carries must be moved: a chunk has 11 bits of room.
const ROOM: u32 = 1 << 10;

/// A sum of doubles.
#[derive(Debug, Clone, PartialEq)]
pub struct Exact {
    chunks: [i64; CHUNKS],
    /// Numbers added since carries were moved.
    added: u32,
    /// The sum of what is infinite or not a number; 0 without any.
    special: f64,
}

impl Default for Exact {
    fn default() -> Self {
        Self { chunks: [0; CHUNKS], added: 0, special: 0.0 }
    }
}

impl AddAssign<f64> for Exact {
    fn add_assign(&mut self, x: f64) {
        if !x.is_finite() {
            self.special += x;
            return;
        }
        if self.added == ROOM {
            self.carry();
        }
        self.added += 1;
        let bits = x.to_bits();
        let (exponent, fraction) = ((bits >> 52) & 0x7ff, bits & ((1 << 52) - 1));
        // Numbers below the normal ones have the exponent of the smallest of these, without its leading bit.
        let (exponent, digits) =
            if exponent == 0 { (1, fraction) } else { (exponent, fraction | 1 << 52) };
        let (chunk, shift) = ((exponent >> 5) as usize, exponent & 31);
        let low = ((digits << shift) & 0xffff_ffff) as i64;
        let high = (digits >> (u64::from(BITS) - shift)) as i64;
        let sign = if x.is_sign_negative() { -1 } else { 1 };
        self.chunks[chunk] += sign * low;
        self.chunks[chunk + 1] += sign * high;
    }
}

impl AddAssign<&Exact> for Exact {
    fn add_assign(&mut self, other: &Exact) {
        if self.added + other.added >= ROOM {
            self.carry();
        }
        // A sum whose carries were moved has chunks like those of one number.
        self.added += other.added.max(1);
        self.chunks.iter_mut().zip(other.chunks).for_each(|(own, other)| *own += other);
        self.special += other.special;
    }
}

impl Exact {
    /// The sum, rounded to the nearest double.
    pub fn value(&self) -> f64 {
        if self.special != 0.0 {
            return self.special;
        }
        let (is_negative, chunks) = self.size();
        let Some(top) = chunks.iter().rposition(|&chunk| chunk != 0) else { return 0.0 };
        let chunk = |below: usize| top.checked_sub(below).map_or(0, |at| u128::from(chunks[at]));
        // Whether anything is left decides a tie, and nothing else.
        let rest = u128::from(chunks[..top.saturating_sub(2)].iter().any(|&chunk| chunk != 0));
        let digits = (chunk(0) << (2 * BITS)) | (chunk(1) << BITS) | chunk(2) | rest;
        let size = scaled(digits as f64, BITS as i32 * (top as i32 - 2) + LOWEST);
        if is_negative { -size } else { size }
    }

    /// Whether the sum is negative, and the chunks of its size.
    fn size(&self) -> (bool, [u32; CHUNKS]) {
        let mut whole = self.clone();
        whole.carry();
        let is_negative = whole.chunks[CHUNKS - 1] < 0;
        if is_negative {
            whole.chunks.iter_mut().for_each(|chunk| *chunk = -*chunk);
            whole.carry();
        }
        // The last chunk has room for 2⁴³ numbers of the largest size.
        (is_negative, whole.chunks.map(|chunk| chunk as u32))
    }

    /// Moves what exceeds 32 bits to the next chunk: all but the last are then from 0 to below 2³², and that has
    /// the sign.
    fn carry(&mut self) {
        for k in 0..CHUNKS - 1 {
            let excess = self.chunks[k] >> BITS;
            self.chunks[k] -= excess << BITS;
            self.chunks[k + 1] += excess;
        }
        self.added = 1;
    }
}

/// x·2ᵏ; exact unless the result is below the normal numbers.
fn scaled(x: f64, k: i32) -> f64 {
    let power = |k: i32| f64::from_bits(((1023 + k) as u64) << 52);
    // Three steps, so that no power leaves the range by itself.
    let third = k / 3;
    x * power(third) * power(third) * power(k - 2 * third)
}

/// The chunks that are not zero, as they travel.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Packed {
    is_negative: bool,
    first: usize,
    chunks: Vec<u32>,
    /// Bits, since text formats have no infinities.
    special: u64,
}

impl Serialize for Exact {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (is_negative, chunks) = self.size();
        let first = chunks.iter().position(|&chunk| chunk != 0).unwrap_or(CHUNKS);
        let end = chunks.iter().rposition(|&chunk| chunk != 0).map_or(first, |last| last + 1);
        let (chunks, special) = (chunks[first..end].to_vec(), self.special.to_bits());
        Packed { is_negative, first, chunks, special }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Exact {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Packed { is_negative, first, chunks, special } = Packed::deserialize(deserializer)?;
        if first.checked_add(chunks.len()).is_none_or(|end| end > CHUNKS) {
            return Err(serde::de::Error::custom("expected the chunks of a sum"));
        }
        let mut whole = Self { special: f64::from_bits(special), added: 1, ..Self::default() };
        let sign = if is_negative { -1 } else { 1 };
        let own = whole.chunks[first..].iter_mut().zip(chunks);
        own.for_each(|(own, chunk)| *own = sign * i64::from(chunk));
        Ok(whole)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Random;

    fn sum(values: &[f64]) -> f64 {
        let mut sum = Exact::default();
        values.iter().for_each(|&x| sum += x);
        sum.value()
    }

    /// Python 3.11's `math.fsum`, which is exact by another algorithm.
    #[test]
    fn sums_are_those_of_fsum() {
        assert_eq!(sum(&[0.1; 10]), 1.0);
        assert_eq!(sum(&[1e308, 1.0, -1e308]), 1.0);
        assert_eq!(sum(&[1e16, 1.0, 1e-16]), 10_000_000_000_000_002.0);
        assert_eq!(sum(&[1e16, 1.0, -1e-16]), 1e16);
        assert_eq!(sum(&[-1e-300, 1e-308, 5e-324]), -9.999_999_9e-301);
        assert_eq!(sum(&[2.0f64.powi(53), 1.0]), 9_007_199_254_740_992.0);
        assert_eq!(sum(&[2.0f64.powi(53), 1.0, 2.0f64.powi(-60)]), 9_007_199_254_740_994.0);
        assert_eq!(sum(&[-0.1, -0.2, 0.3]), -2.775_557_561_562_891_4e-17);
        assert_eq!(sum(&[5e-324, 5e-324]), 1e-323);
        assert_eq!(sum(&[]), 0.0);
        assert_eq!(sum(&[3.0, -3.0]), 0.0);
    }

    #[test]
    fn order_and_pieces_change_no_bit() {
        let mut random = Random::new(7);
        let mut values: Vec<f64> = (0..5000)
            .map(|_| random.normal() * 10f64.powf(40.0 * random.uniform() - 20.0))
            .collect();
        let want = sum(&values);
        for pieces in [1, 2, 7, 64] {
            for k in (1..values.len()).rev() {
                values.swap(k, random.below(k + 1));
            }
            let mut total = Exact::default();
            for piece in values.chunks(values.len() / pieces + 1) {
                let mut own = Exact::default();
                piece.iter().for_each(|&x| own += x);
                let text = serde_json::to_string(&own).unwrap();
                total += &serde_json::from_str::<Exact>(&text).unwrap();
            }
            assert_eq!(total.value().to_bits(), want.to_bits());
        }
        // Beside a sum of integers, which is exact in its own way.
        let whole: Vec<i64> = (0..3000).map(|_| (random.normal() * 1e15) as i64).collect();
        let exact: i128 = whole.iter().map(|&x| i128::from(x)).sum();
        let values: Vec<f64> = whole.iter().map(|&x| x as f64).collect();
        assert_eq!(sum(&values), exact as f64);
    }

    #[test]
    fn what_is_not_finite_stays_so() {
        assert_eq!(sum(&[1.0, f64::INFINITY]), f64::INFINITY);
        assert!(sum(&[f64::NEG_INFINITY, f64::INFINITY]).is_nan());
        assert!(sum(&[f64::NAN, 1.0]).is_nan());
        let text = r#"{"is_negative":false,"first":60,"chunks":[1,2,3,4,5,6,7,8],"special":0}"#;
        assert!(serde_json::from_str::<Exact>(text).is_err());
    }
}
