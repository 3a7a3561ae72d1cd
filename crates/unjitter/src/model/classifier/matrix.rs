//! The serialised form of a matrix.

use ndarray::Array2;
use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// Rows × columns numbers, row after row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Matrix {
    rows: usize,
    columns: usize,
    values: Vec<f64>,
}

impl Matrix {
    /// The saved form of `array`.
    pub fn from_array(array: &Array2<f64>) -> Self {
        let (rows, columns) = array.dim();
        Self { rows, columns, values: array.iter().copied().collect() }
    }

    /// The matrix, if the declared sizes match the values and all values are finite; `place` names it in
    /// the error.
    pub fn check(self, place: &str) -> Result<Array2<f64>> {
        let Self { rows, columns, values } = self;
        let broken = |problem| Error::ModelFile { place: place.to_owned(), problem };
        let found = values.len();
        if rows.checked_mul(columns) != Some(found) {
            return Err(broken(format!("{found} values for {rows} × {columns} entries")));
        }
        if let Some(k) = values.iter().position(|value| !value.is_finite()) {
            return Err(broken(format!("value {k} is {}, expected a finite number", values[k])));
        }
        Array2::from_shape_vec((rows, columns), values).map_err(|e| broken(e.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_that_lie_are_refused() {
        let matrix = |rows, columns, count| Matrix { rows, columns, values: vec![0.0; count] };
        assert_eq!(matrix(2, 3, 6).check("here").unwrap().dim(), (2, 3));
        for (rows, columns, count) in [(2, 3, 5), (usize::MAX, 2, 6), (1 << 32, 1 << 32, 0)] {
            assert!(matrix(rows, columns, count).check("here").is_err(), "{rows} × {columns}");
        }
        // No values at all, but more rows than an array can have.
        let empty = matrix(usize::MAX, 0, 0).check("here");
        assert!(matches!(empty, Err(Error::ModelFile { .. })), "{empty:?}");
        let infinite = Matrix { rows: 1, columns: 1, values: vec![f64::INFINITY] };
        assert!(infinite.check("here").is_err());
    }
}
