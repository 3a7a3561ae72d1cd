//! Centre and scale of each feature, so that one prior suits weights on any unit.
//!
//! Each column is measured in half-ranges from its middle before summation: the numbers then lie in [−1,
//! 1], so an offset of 1e9 costs no digits and no square can over- or underflow. Three passes over the
//! features, two vectors of memory.

use ndarray::Array2;
use serde::{Deserialize, Serialize};

use crate::{Error, FeatureView, Result};

/// Maps features to (x − mean) / scale, column by column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Standardiser {
    pub(super) means: Vec<f64>,
    pub(super) scales: Vec<f64>,
}

impl Standardiser {
    /// Means and population standard deviations over the rows of all parts together. A constant column
    /// gets its own value as mean and 1 as scale, which maps it to zero.
    pub fn fit<'a>(parts: impl Iterator<Item = FeatureView<'a>> + Clone) -> Self {
        let ranges = Ranges::of(parts.clone());
        let count = parts.clone().map(|part| part.nrows()).sum::<usize>() as f64;

        let mut unit_means = vec![0.0; ranges.middles.len()];
        ranges.visit(parts.clone(), |column, unit| unit_means[column] += unit);
        unit_means.iter_mut().for_each(|sum| *sum /= count);

        let mut unit_variances = vec![0.0; unit_means.len()];
        ranges.visit(parts, |column, unit| {
            unit_variances[column] += (unit - unit_means[column]).powi(2);
        });
        unit_variances.iter_mut().for_each(|sum| *sum /= count);

        let mut fitted = Self { means: ranges.middles, scales: ranges.halves };
        for column in 0..unit_means.len() {
            if is_varying(fitted.scales[column]) {
                fitted.means[column] += fitted.scales[column] * unit_means[column];
                fitted.scales[column] *= unit_variances[column].sqrt();
            } else {
                fitted.scales[column] = 1.0;
            }
        }
        fitted
    }

    /// Number of feature columns.
    pub fn features(&self) -> usize {
        self.means.len()
    }

    /// The standardised `features`.
    pub fn standardised(&self, features: FeatureView<'_>) -> Array2<f64> {
        let mut out = Vec::with_capacity(features.nrows() * features.ncols());
        features.visit_rows(|row| {
            let columns = row.iter().zip(&self.means).zip(&self.scales);
            out.extend(columns.map(|((x, mean), scale)| (x - mean) / scale));
        });
        Array2::from_shape_vec(features.dim(), out).expect("as many as there were")
    }

    /// Whether values read from a file are usable.
    pub fn check(&self) -> Result<()> {
        let broken = |entry: String, problem: String| {
            Err(Error::ModelFile { place: format!("classifier.standardiser.{entry}"), problem })
        };
        if self.means.len() != self.scales.len() {
            let (means, scales) = (self.means.len(), self.scales.len());
            return broken("scales".into(), format!("{scales} scales for {means} means"));
        }
        if let Some(k) = self.means.iter().position(|mean| !mean.is_finite()) {
            let problem = format!("the mean is {}, expected a finite number", self.means[k]);
            return broken(format!("means[{k}]"), problem);
        }
        if let Some(k) = self.scales.iter().position(|s| !(s.is_finite() && *s > 0.0)) {
            let problem = format!("the scale is {}, expected a number above 0", self.scales[k]);
            return broken(format!("scales[{k}]"), problem);
        }
        Ok(())
    }
}

/// How many columns vary over the rows of all parts together.
pub(super) fn varying_columns<'a>(parts: impl Iterator<Item = FeatureView<'a>> + Clone) -> usize {
    Ranges::of(parts).halves.iter().filter(|&&half| is_varying(half)).count()
}

/// A half-range too small to divide by (subnormal) does not count as variation.
fn is_varying(half_range: f64) -> bool {
    half_range.is_normal()
}

/// Middle and half-range of each column.
struct Ranges {
    middles: Vec<f64>,
    halves: Vec<f64>,
}

impl Ranges {
    fn of<'a>(parts: impl Iterator<Item = FeatureView<'a>> + Clone) -> Self {
        let columns = parts.clone().next().map_or(0, |part| part.ncols());
        let mut lows = vec![f64::INFINITY; columns];
        let mut highs = vec![f64::NEG_INFINITY; columns];
        for part in parts {
            part.visit_rows(|row| {
                for ((low, high), &x) in lows.iter_mut().zip(&mut highs).zip(row) {
                    *low = low.min(x);
                    *high = high.max(x);
                }
            });
        }
        // Halved before they are subtracted: the range itself may overflow. A constant column has
        // itself as its middle, to the bit.
        let halves = lows.iter().zip(&highs).map(|(low, high)| high / 2.0 - low / 2.0).collect();
        let middle =
            |(&low, &high): (&f64, &f64)| if low == high { low } else { low / 2.0 + high / 2.0 };
        Self { middles: lows.iter().zip(&highs).map(middle).collect(), halves }
    }

    /// Calls `visit(column, unit)` for every feature, in half-ranges from the middle.
    fn visit<'a>(
        &self,
        parts: impl Iterator<Item = FeatureView<'a>>,
        mut visit: impl FnMut(usize, f64),
    ) {
        for part in parts {
            part.visit_rows(|row| {
                let ranges = self.middles.iter().zip(&self.halves);
                for (column, (&x, (middle, half))) in row.iter().zip(ranges).enumerate() {
                    visit(column, (x - middle) / half);
                }
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;
    use crate::features::view;
    use crate::math::Random;

    #[test]
    fn means_and_scales_of_two_parts_are_those_of_all_rows() {
        let (first, second) = (array![[1.0, 10.0], [2.0, 30.0]], array![[6.0, 20.0]]);
        let fitted = Standardiser::fit([view(&first), view(&second)].into_iter());
        // Means 3 and 20; variances (4 + 1 + 9) / 3 and 200 / 3: a few roundings.
        for (got, want) in fitted.means.iter().zip([3.0, 20.0]) {
            assert!((got - want).abs() <= 1e-15 * want, "{got}");
        }
        for (got, want) in fitted.scales.iter().zip([14.0 / 3.0_f64, 200.0 / 3.0]) {
            assert!((got - want.sqrt()).abs() <= 1e-15 * want, "{got}");
        }
    }

    #[test]
    fn a_constant_column_becomes_zero() {
        let features = array![[0.1, 1.0], [0.1, 2.0], [0.1, 4.0]];
        let fitted = Standardiser::fit([view(&features)].into_iter());
        assert_eq!((fitted.means[0], fitted.scales[0]), (0.1, 1.0));
        assert!(fitted.standardised(view(&features)).column(0).iter().all(|&x| x == 0.0));
        assert_eq!(varying_columns([view(&features)].into_iter()), 1);
    }

    #[test]
    fn a_large_offset_costs_no_digits() {
        let mut random = Random::new(3);
        let plain = Array2::from_shape_simple_fn((10_000, 1), || random.normal());
        // Multiples of 2⁻²⁰ stay exact beside 1e9, so both must agree up to the final rounding.
        let plain = plain.mapv(|x| (x * 1_048_576.0).round() / 1_048_576.0);
        let shifted = plain.mapv(|x| x + 1e9);
        let plain = Standardiser::fit([view(&plain)].into_iter());
        let shifted = Standardiser::fit([view(&shifted)].into_iter());
        assert!((plain.scales[0] - shifted.scales[0]).abs() < 1e-12); // 10⁴ additions of O(1)
        assert!((plain.means[0] + 1e9 - shifted.means[0]).abs() < 3e-7); // spacing at 1e9: 1.2e-7
    }

    #[test]
    fn extreme_ranges_neither_overflow_nor_vanish() {
        let features = array![[-1e308, 1e-200, 5e-324], [1e308, 3e-200, 0.0]];
        let fitted = Standardiser::fit([view(&features)].into_iter());
        assert_eq!(fitted.scales, [1e308, 1e-200, 1.0]);
        fitted.check().unwrap();
        assert!(fitted.standardised(view(&features)).iter().all(|x| x.is_finite()));
    }

    #[test]
    fn unusable_values_are_refused() {
        let broken = |means: &[f64], scales: &[f64]| {
            Standardiser { means: means.to_vec(), scales: scales.to_vec() }.check().is_err()
        };
        assert!(!broken(&[1.0], &[2.0]));
        assert!(broken(&[1.0, 2.0], &[2.0]));
        assert!(broken(&[f64::NAN], &[2.0]));
        for scale in [0.0, -1.0, f64::INFINITY, f64::NAN] {
            assert!(broken(&[1.0], &[scale]), "{scale}");
        }
    }
}
