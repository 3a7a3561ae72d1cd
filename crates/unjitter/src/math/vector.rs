//! Exponential, logarithm and logistic function of whole slices, vectorised.
//!
//! The loops are plain Rust without branches, so that the compiler can vectorise them; `multiversion`
//! compiles each for AVX2 and AVX-512 too and picks at run time. Every version does the same operations
//! on the same numbers, fused multiply-adds included (in software if the machine has none): results have
//! the same bits everywhere.
//!
//! | function | relative error, at most | ends |
//! |---|---|---|
//! | eˣ | 2e-16; 5e-324 in all below the normal numbers | 0 and ∞ |
//! | log x | 2e-16, of subnormal x too | −∞ at ±0, NaN below it, ∞ |
//! | log(1 + x), x ≥ 0 | 4e-16 | 0 and ∞ |
//! | 1/(1 + e⁻ˣ) | 5e-16; 5e-324 in all below the normal numbers | 0 and 1 |
//!
//! NaN stays NaN. One unit in the last place is between 1.1e-16 and 2.2e-16.

use multiversion::multiversion;

/// Replaces each x by eˣ.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2+fma"))]
pub fn exp_in_place(values: &mut [f64]) {
    for value in values {
        *value = exp(*value);
    }
}

/// Replaces each x by its natural logarithm.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2+fma"))]
pub fn ln_in_place(values: &mut [f64]) {
    for value in values {
        *value = ln(*value);
    }
}

/// Replaces each x by 1/(1 + e⁻ˣ).
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2+fma"))]
pub fn sigmoid_in_place(values: &mut [f64]) {
    for value in values {
        let x = *value;
        // Never the exponential of a large number: the left tail keeps its digits.
        let e = exp(-x.abs());
        *value = if x >= 0.0 { 1.0 } else { e } / (1.0 + e);
    }
}

/// eˣ = 2ᵏ·eʳ, in two factors, since 2ᵏ itself may be below or above what f64 holds.
#[inline(always)]
pub(crate) fn exp(x: f64) -> f64 {
    // Beyond these the result is 0 or ∞ in any case. Comparisons pass NaN on.
    let x = if x < -760.0 { -760.0 } else { x };
    let x = if x > 720.0 { 720.0 } else { x };
    let (k, tail) = reduce(x);
    let half = k >> 1;
    (1.0 + tail) * power_of_two(half) * power_of_two(k.wrapping_sub(half))
}

/// k = round(x / log 2), in the lowest twelve bits, and eʳ − 1 = r + r²·S(r) for r = x − k·log 2, so that
/// |r| ≤ log(2)/2.
///
/// S interpolates (eʳ − 1 − r)/r² in the ten Chebyshev points of the interval; with the coefficients as
/// they stand the error is 1.6e-17 of eʳ.
#[inline(always)]
pub(super) fn reduce(x: f64) -> (u64, f64) {
    /// Adding it leaves the nearest integer in the low bits, the lowest twelve being zero before.
    const ROUND: f64 = 6_755_399_441_055_744.0; // 1.5 · 2⁵²
    /// In S, from the highest power on.
    const S: [f64; 10] = [
        2.510_038_549_551_032e-8,
        2.762_008_844_540_974_6e-7,
        2.755_726_845_999_706_4e-6,
        2.480_152_129_595_437_6e-5,
        1.984_126_986_305_361_8e-4,
        1.388_888_891_721_371_7e-3,
        8.333_333_333_330_062e-3,
        4.166_666_666_662_413e-2,
        1.666_666_666_666_666_9e-1,
        5.000_000_000_000_001e-1,
    ];
    let shifted = x.mul_add(std::f64::consts::LOG2_E, ROUND);
    let k = shifted - ROUND;
    let r = (-k).mul_add(LN2_LOW, (-k).mul_add(LN2_HIGH, x));
    let mut series = S[0];
    for coefficient in &S[1..] {
        series = series.mul_add(r, *coefficient);
    }
    (shifted.to_bits(), (r * r).mul_add(series, r))
}

/// Together, log 2; the first ends in 20 zero bits, so that times an exponent it is exact.
const LN2_HIGH: f64 = 6.931_471_803_691_238e-1;
const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;

/// 2ᵏ for the signed integer |k| ≤ 1000 in the lowest twelve bits.
#[inline(always)]
pub(super) fn power_of_two(bits: u64) -> f64 {
    f64::from_bits(bits.wrapping_add(1023) << 52)
}

/// log x = k·log 2 + log m with x = 2ᵏ·m and m between √½ and √2, and
///
/// ```text
/// log m = 2·atanh(s) = f − ½f² + s·(½f² + s²·R(s²))      f = m − 1,  s = f/(2 + f)
/// ```
///
/// with the minimax polynomial R of FreeBSD's `e_log.c`, whose error is below 2⁻⁵⁸.
#[inline(always)]
pub(crate) fn ln(x: f64) -> f64 {
    const TWO_54: f64 = 18_014_398_509_481_984.0;
    /// The bits of the double nearest to √½: taking them off splits [2ᵏ·√½, 2ᵏ·√2) from its 2ᵏ.
    const ROOT_HALF: u64 = 0x3fe6_a09e_667f_3bcd;
    /// In R, from the lowest power on.
    const R: [f64; 7] = [
        6.666_666_666_666_735e-1,
        3.999_999_999_940_942e-1,
        2.857_142_874_366_239e-1,
        2.222_219_843_214_978_4e-1,
        1.818_357_216_161_805e-1,
        1.531_383_769_920_937_3e-1,
        1.479_819_860_511_658_6e-1,
    ];
    // A subnormal number is brought into the normal range first.
    let tiny = x < f64::MIN_POSITIVE;
    let bits = (if tiny { x * TWO_54 } else { x }).to_bits();
    let above = bits.wrapping_sub(ROOT_HALF);
    let m = f64::from_bits((above & 0x000f_ffff_ffff_ffff).wrapping_add(ROOT_HALF));
    let k = exponent(above) - if tiny { 54.0 } else { 0.0 };
    let f = m - 1.0;
    let s = f / (2.0 + f);
    let z = s * s;
    let mut r = R[6];
    for coefficient in [R[5], R[4], R[3], R[2], R[1], R[0]] {
        r = r.mul_add(z, coefficient);
    }
    let half = 0.5 * f * f;
    let small = s.mul_add(r.mul_add(z, half), k * LN2_LOW);
    let value = k * LN2_HIGH - ((half - small) - f);
    let value = if x == f64::INFINITY { x } else { value };
    let value = if x == 0.0 { f64::NEG_INFINITY } else { value };
    // Also where x is NaN.
    if x >= 0.0 { value } else { f64::NAN }
}

/// log(1 + x) for x ≥ 0: of 1 + x as it is rounded, and what the rounding took away.
#[inline(always)]
pub(crate) fn ln_1p(x: f64) -> f64 {
    let above = 1.0 + x;
    let lost = (x - (above - 1.0)) / above;
    // Not ∞ − ∞.
    ln(above) + if above == f64::INFINITY { 0.0 } else { lost }
}

/// The signed exponent in the upper twelve bits, without a conversion of integers, which AVX2 lacks.
#[inline(always)]
fn exponent(bits: u64) -> f64 {
    /// 1.5 · 2⁵²: its low bits take an integer of either sign.
    const MIDDLE: u64 = 0x4338_0000_0000_0000;
    // Shifted unsigned and moved by half its range, then back.
    let shifted = (bits ^ (1 << 63)) >> 52;
    f64::from_bits(MIDDLE + shifted) - (6_755_399_441_055_744.0 + 2048.0)
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

    fn assert_ln(x: f64) {
        let (got, want) = (ln(x), x.ln());
        // As above.
        let tolerance = 3.2e-16 * want.abs();
        assert!((got - want).abs() <= tolerance, "ln({x:e}) = {got:e}, not {want:e}");
    }

    #[test]
    fn ln_keeps_its_bound_over_the_whole_range() {
        let mut random = Random::new(5);
        for _ in 0..400_000 {
            // Every finite positive bit pattern, subnormals included, is as likely as any other.
            let bits = (random.uniform() * f64::INFINITY.to_bits() as f64) as u64;
            assert_ln(f64::from_bits(bits.max(1)));
            assert_ln(f64::from_bits(1 + (random.uniform() * 4.5e15) as u64));
            assert_ln(random.uniform().max(1e-300));
            // Next to one, where the result is small.
            assert_ln(1.0 + 10f64.powf(-15.0 * random.uniform()) * (random.uniform() - 0.5));
        }
        // The borders between two k, and the ends of the range.
        for k in -1074..1024 {
            let power = 2f64.powi(k);
            let border = power * std::f64::consts::FRAC_1_SQRT_2;
            for x in [power, border.next_down(), border, border.next_up()] {
                if x > 0.0 {
                    assert_ln(x);
                }
            }
        }
        [5e-324, f64::MIN_POSITIVE, f64::MAX].into_iter().for_each(assert_ln);
    }

    #[test]
    fn ln_has_the_right_ends() {
        assert_eq!(ln(1.0), 0.0);
        assert_eq!(ln(0.0), f64::NEG_INFINITY);
        assert_eq!(ln(-0.0), f64::NEG_INFINITY);
        assert_eq!(ln(f64::INFINITY), f64::INFINITY);
        for x in [-5e-324, -1.0, f64::NEG_INFINITY, f64::NAN] {
            assert!(ln(x).is_nan(), "{x}");
        }
    }

    #[test]
    fn ln_1p_keeps_its_bound() {
        let mut random = Random::new(7);
        let assert_ln_1p = |x: f64| {
            let (got, want) = (ln_1p(x), x.ln_1p());
            // The bound of the docs, plus half a unit in the last place for the library's own error.
            assert!((got - want).abs() <= 5.2e-16 * want, "ln_1p({x:e}) = {got:e}, not {want:e}");
        };
        for _ in 0..400_000 {
            assert_ln_1p(10f64.powf(600.0 * random.uniform() - 300.0));
            assert_ln_1p(10f64.powf(18.0 * random.uniform() - 17.0));
            assert_ln_1p(2.0 * random.uniform());
        }
        assert_eq!((ln_1p(0.0), ln_1p(f64::INFINITY)), (0.0, f64::INFINITY));
        assert_eq!(ln_1p(5e-324), 5e-324);
        assert!(ln_1p(f64::NAN).is_nan());
    }

    #[test]
    fn sigmoid_keeps_its_bound_over_the_whole_range() {
        let mut random = Random::new(6);
        let mut values: Vec<f64> = (0..400_000)
            .flat_map(|_| {
                [-746.0 + 1455.7 * random.uniform(), 3.0 * random.normal(), 1e-9 * random.normal()]
            })
            .collect();
        values.extend([0.0, -0.0, 5e-324, -5e-324, 1e300, -1e300]);
        let mut got = values.clone();
        sigmoid_in_place(&mut got);
        for (got, x) in got.iter().zip(values) {
            let want = crate::math::sigmoid(x);
            // The bound of the docs, plus two units for the other formula's own roundings.
            assert!((got - want).abs() <= 9e-16 * want + 5e-324, "sigmoid({x:e}) = {got:e}");
        }
        let mut ends = [f64::NEG_INFINITY, f64::INFINITY, f64::NAN];
        sigmoid_in_place(&mut ends);
        assert!(ends[0] == 0.0 && ends[1] == 1.0 && ends[2].is_nan(), "{ends:?}");
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
        let mut slice: Vec<f64> = values.iter().map(|x| x.abs()).collect();
        ln_in_place(&mut slice);
        for (got, x) in slice.iter().zip(&values) {
            assert_eq!(got.to_bits(), ln(x.abs()).to_bits());
        }
    }
}
