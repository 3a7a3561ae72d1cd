//! The hyperbolic tangent of whole slices, on the vector units of the machine.
//!
//! ```text
//! tanh x = ±(−e) / (2 + e),   e = exp(−2|x|) − 1
//! ```
//!
//! e is computed without subtracting from 1, so small x keep their digits. The relative error is at most 6e-16,
//! also for subnormal numbers; ±0, ±1 far out and NaN are correct. Same bits everywhere, as in `vector`.

use multiversion::multiversion;

use super::vector::{power_of_two, reduce};

/// Replaces each x by tanh x.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2+fma"))]
pub fn tanh_in_place(values: &mut [f64]) {
    for value in values {
        *value = tanh(*value);
    }
}

#[inline(always)]
fn tanh(x: f64) -> f64 {
    // From here on the result is 1 to the last digit. The comparison passes NaN on.
    let size = if x.abs() > 20.0 { 20.0 } else { x.abs() };
    let e = exp_minus_one(-2.0 * size);
    (-e / (2.0 + e)).copysign(x)
}

/// eˣ − 1 for x from −40 to 0: 2ᵏ·(eʳ − 1) + (2ᵏ − 1). Where 2ᵏ − 1 is not 0 the sum is not small:
/// nothing cancels.
#[inline(always)]
fn exp_minus_one(x: f64) -> f64 {
    let (k, tail) = reduce(x);
    let power = power_of_two(k);
    power * tail + (power - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Random;

    fn assert_tanh(x: f64) {
        let (got, want) = (tanh(x), x.tanh());
        // The bound of the docs, plus one unit in the last place for the library's own error.
        let tolerance = 8.2e-16 * want.abs();
        assert!((got - want).abs() <= tolerance, "tanh({x:e}) = {got:e}, not {want:e}");
    }

    #[test]
    fn tanh_keeps_its_bound_over_the_whole_range() {
        let mut random = Random::new(3);
        for _ in 0..400_000 {
            assert_tanh(25.0 * (2.0 * random.uniform() - 1.0));
            assert_tanh(random.normal());
            assert_tanh(10f64.powf(-20.0 * random.uniform()) * random.normal());
        }
        // The borders between two k, where r is largest.
        for k in 0..60 {
            let border = 0.5 * (f64::from(k) + 0.5) * std::f64::consts::LN_2;
            for x in [border.next_down(), border, border.next_up()] {
                assert_tanh(x);
                assert_tanh(-x);
            }
        }
    }

    #[test]
    fn tanh_has_the_right_ends() {
        for (x, want) in [(0.0, 0.0), (20.0, 1.0), (f64::MAX, 1.0), (f64::INFINITY, 1.0)] {
            assert_eq!(tanh(x).to_bits(), f64::to_bits(want), "{x}");
            assert_eq!(tanh(-x).to_bits(), f64::to_bits(-want), "{x}");
        }
        for x in [5e-324, 1e-310, f64::MIN_POSITIVE, 1e-20] {
            assert_eq!(tanh(x), x);
        }
        assert!(tanh(f64::NAN).is_nan());
    }

    #[test]
    fn slices_have_the_bits_of_single_values() {
        let mut random = Random::new(4);
        let values: Vec<f64> = (0..1003).map(|_| 3.0 * random.normal()).collect();
        let mut slice = values.clone();
        tanh_in_place(&mut slice);
        for (got, x) in slice.iter().zip(&values) {
            assert_eq!(got.to_bits(), tanh(*x).to_bits());
        }
    }
}
