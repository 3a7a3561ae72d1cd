//! Features as bin memberships, so that a linear classifier can bend.
//!
//! The paper's histogram transform: each feature becomes a row of zeros with a one at the bin that
//! holds it. Bins are cut at quantiles of the training data, which suits any unit and any skew.
//! Cuts are values that occur, and equal ones are merged, so no bin is empty in training.

use ndarray::{Array2, ArrayView2};
use serde::{Deserialize, Serialize};

use crate::session::{check_columns, check_features};
use crate::{Error, Features, Result};

/// Quantile bins of each feature, learned from training data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Histogram {
    /// For each feature the cuts between its bins, increasing. A value at a cut lies below it.
    cuts: Vec<Vec<f64>>,
}

impl Histogram {
    /// At most `bins` bins (at least two) of equal count for each feature, over the rows of all
    /// `training` matrices together. A feature that does not vary gets one bin.
    pub fn fit(training: &[ArrayView2<'_, f64>], bins: usize) -> Result<Self> {
        if bins < 2 {
            let (name, expected) = ("bins".to_owned(), "at least 2");
            return Err(Error::OutOfRange { name, value: bins as f64, expected });
        }
        let columns = training.first().ok_or(Error::NoSessions)?.ncols();
        for (index, part) in training.iter().enumerate() {
            let name = format!("#{index}");
            check_columns(&name, part.ncols(), columns)?;
            check_features(&name, Features::from(*part).view())?;
        }
        let cuts = (0..columns)
            .map(|column| {
                let parts = training.iter().map(|part| part.column(column));
                cuts(parts.flat_map(|values| values.to_vec()).collect(), bins)
            })
            .collect();
        Ok(Self { cuts })
    }

    /// Number of columns that [`transform`](Self::transform) makes: all bins of all features.
    pub fn columns(&self) -> usize {
        self.cuts.iter().map(|cuts| cuts.len() + 1).sum()
    }

    /// The cuts between the bins of feature `column`, increasing.
    pub fn cuts(&self, column: usize) -> &[f64] {
        &self.cuts[column]
    }

    /// A one in the bin of each feature, zeros elsewhere: rows × [`columns`](Self::columns). Values
    /// beyond those of the training data lie in the first or last bin.
    pub fn transform(&self, features: ArrayView2<'_, f64>) -> Result<Array2<f64>> {
        check_columns("to transform", features.ncols(), self.cuts.len())?;
        check_features("to transform", Features::from(features).view())?;
        let mut members = Array2::zeros((features.nrows(), self.columns()));
        for (row, mut out) in features.rows().into_iter().zip(members.rows_mut()) {
            let mut first = 0;
            for (cuts, value) in self.cuts.iter().zip(row) {
                out[first + cuts.partition_point(|cut| cut < value)] = 1.0;
                first += cuts.len() + 1;
            }
        }
        Ok(members)
    }

    /// Names of the transformed columns, by the `names` of the features: `duration[0]`,
    /// `duration[1]`, …
    pub fn names(&self, names: &[&str]) -> Vec<String> {
        let bins = |(name, cuts): (&&str, &Vec<f64>)| -> Vec<String> {
            (0..=cuts.len()).map(|bin| format!("{name}[{bin}]")).collect()
        };
        names.iter().zip(&self.cuts).flat_map(bins).collect()
    }
}

/// Distinct values below the largest at which a share k/bins of all values is reached.
fn cuts(mut values: Vec<f64>, bins: usize) -> Vec<f64> {
    values.sort_by(f64::total_cmp);
    let Some(&largest) = values.last() else { return vec![] };
    let at = |k: usize| values[(k * values.len()).div_ceil(bins).max(1) - 1];
    let mut cuts: Vec<f64> = (1..bins).map(at).filter(|&cut| cut < largest).collect();
    cuts.dedup();
    cuts
}
