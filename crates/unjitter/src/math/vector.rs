//! Functions of whole slices, compiled for the vector units of the machine they run on.
//!
//! The loops are plain Rust without branches, so that the compiler can use whatever vectors there
//! are; `multiversion` compiles each for AVX2 too and picks at run time. Every version does the
//! same operations on the same numbers: results have the same bits everywhere.

use multiversion::multiversion;

/// Replaces each x by eˣ, with a relative error of at most 2e-16 (about one unit in the last
/// place) for normal results and an absolute one of 5e-324 below them. e^−∞ = 0, overflow is ∞ and
/// NaN stays NaN.
#[multiversion(targets("x86_64+avx2"))]
pub fn exp_in_place(values: &mut [f64]) {
    for value in values {
        *value = exp(*value);
    }
}

/// eˣ = 2ᵏ·eʳ with k = round(x / log 2) and |r| ≤ log(2)/2, eʳ by its Taylor series: the first term
/// left out is r¹⁴/14! < 5e-18.
#[inline(always)]
pub(crate) fn exp(x: f64) -> f64 {
    /// Adding it leaves the nearest integer in the low bits.
    const ROUND: f64 = 6_755_399_441_055_744.0; // 1.5 · 2⁵²
    const LN2_HIGH: f64 = 6.931_471_803_691_238e-1;
    const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;
    // Beyond these the result is 0 or ∞ whatever x is. Comparisons pass NaN on.
    let x = if x < -760.0 { -760.0 } else { x };
    let x = if x > 720.0 { 720.0 } else { x };
    let k = (x * std::f64::consts::LOG2_E + ROUND) - ROUND;
    // k has at most 11 bits and LN2_HIGH ends in 20 zero bits: the first product is exact.
    let r = (x - k * LN2_HIGH) - k * LN2_LOW;
    let mut series = 1.0 / 6_227_020_800.0;
    for factorial in [
        479_001_600.0,
        39_916_800.0,
        3_628_800.0,
        362_880.0,
        40_320.0,
        5_040.0,
        720.0,
        120.0,
        24.0,
        6.0,
        2.0,
    ] {
        series = series * r + 1.0 / factorial;
    }
    // 1 + (r + r²·series): the large terms are added last.
    let value = 1.0 + (r + r * r * series);
    // 2ᵏ in two factors, since 2ᵏ itself may be below or above what f64 holds.
    let half = (0.5 * k + ROUND) - ROUND;
    value * power_of_two(half) * power_of_two(k - half)
}

/// 2ᵏ for an integer |k| ≤ 1000.
#[inline(always)]
fn power_of_two(k: f64) -> f64 {
    /// k + 1023 sits in the low bits of this sum; shifted up, they are the exponent.
    const BIAS: f64 = 6_755_399_441_055_744.0 + 1023.0;
    f64::from_bits((k + BIAS).to_bits() << 52)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Random;

    fn assert_exp(x: f64) {
        let (got, want) = (exp(x), x.exp());
        // The bound of the docs, plus half a unit in the last place for the library's own error.
        let tolerance = 3.2e-16 * want + 5e-324;
        assert!((got - want).abs() <= tolerance, "exp({x:e}) = {got:e}, not {want:e}");
    }

    #[test]
    fn exp_keeps_its_bound_over_the_whole_range() {
        let mut random = Random::new(3);
        for _ in 0..400_000 {
            assert_exp(-746.0 + 1455.7 * random.uniform());
            assert_exp(2.0 * random.normal());
            assert_exp(1e-3 * random.normal());
            assert_exp(10f64.powf(-20.0 * random.uniform()) * random.normal());
        }
        // The borders between two k, where r is largest.
        for k in -1074..1024 {
            let border = (f64::from(k) + 0.5) * std::f64::consts::LN_2;
            for x in [border.next_down(), border, border.next_up()] {
                assert_exp(x);
            }
        }
    }

    #[test]
    fn exp_has_the_right_ends() {
        assert_eq!(exp(0.0), 1.0);
        assert_eq!(exp(-0.0), 1.0);
        assert_eq!(exp(f64::NEG_INFINITY), 0.0);
        assert_eq!(exp(-746.0), 0.0);
        assert_eq!(exp(f64::MIN), 0.0);
        assert_eq!(exp(-745.0), 5e-324);
        assert_eq!(exp(709.9), f64::INFINITY);
        assert_eq!(exp(f64::INFINITY), f64::INFINITY);
        assert!(exp(709.7).is_finite());
        assert!(exp(f64::NAN).is_nan());
    }

    #[test]
    fn slices_have_the_bits_of_single_values() {
        let mut random = Random::new(4);
        let values: Vec<f64> = (0..1003).map(|_| 300.0 * random.normal()).collect();
        let mut slice = values.clone();
        exp_in_place(&mut slice);
        for (got, x) in slice.iter().zip(&values) {
            assert_eq!(got.to_bits(), exp(*x).to_bits());
        }
    }
}
