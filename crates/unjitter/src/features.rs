//! Features of the instances, instances × columns, in double or single precision.
//!
//! Single precision is stored as it is, for half the memory and half the traffic; all arithmetic is in
//! double. Every `f32` is an `f64` too, so equal values in either precision give the same bits. Rows are
//! contiguous; other layouts are copied when they enter.

use std::ops::Range;

use ndarray::{ArcArray2, Array2, ArrayView2, CowArray, Ix2};

use crate::{Error, Result};

/// A matrix of features, owned or borrowed for `'a` from another owner, such as NumPy. Made from an
/// `Array2` or `ArrayView2` of `f64` or `f32`; only a view whose rows are not contiguous is copied.
#[derive(Debug, Clone)]
pub struct Features<'a>(Storage<'a>);

#[derive(Debug, Clone)]
enum Storage<'a> {
    /// Shared, so that cloning a session is cheap.
    Double(ArcArray2<f64>),
    Single(ArcArray2<f32>),
    Borrowed(FeatureView<'a>),
}

/// Some or all rows of a [`Features`].
#[derive(Debug, Clone, Copy)]
pub struct FeatureView<'a> {
    rows: usize,
    columns: usize,
    values: Values<'a>,
}

/// The numbers of a [`FeatureView`], row after row.
#[derive(Debug, Clone, Copy)]
pub enum Values<'a> {
    /// Double precision.
    Double(&'a [f64]),
    /// Single precision.
    Single(&'a [f32]),
}

impl Features<'_> {
    /// Contiguous rows of numbers: `rows` instances with `columns` features each.
    ///
    /// ```
    /// let features = unjitter::Features::new(vec![0.1, 2.0, 0.3, 4.0, 0.5, 6.0], 3, 2)?;
    /// assert_eq!(features.view().dim(), (3, 2));
    /// # Ok::<(), unjitter::Error>(())
    /// ```
    pub fn new(values: Vec<f64>, rows: usize, columns: usize) -> Result<Self> {
        let found = values.len();
        let shaped = Array2::from_shape_vec((rows, columns), values);
        Ok(shaped.map_err(|_| Error::BadShape { found, rows, columns })?.into())
    }

    /// All rows.
    pub fn view(&self) -> FeatureView<'_> {
        let laid_out = "rows lie one behind the other";
        match &self.0 {
            Storage::Double(own) => {
                FeatureView::new(own.dim(), Values::Double(own.as_slice().expect(laid_out)))
            }
            Storage::Single(own) => {
                FeatureView::new(own.dim(), Values::Single(own.as_slice().expect(laid_out)))
            }
            Storage::Borrowed(view) => *view,
        }
    }
}

/// Compares values, whatever their precision.
impl PartialEq for Features<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.view().to_f64() == other.view().to_f64()
    }
}

impl<'a> From<FeatureView<'a>> for Features<'a> {
    fn from(features: FeatureView<'a>) -> Self {
        Self(Storage::Borrowed(features))
    }
}

macro_rules! from_arrays {
    ($number:ty, $precision:ident) => {
        impl From<Array2<$number>> for Features<'_> {
            fn from(features: Array2<$number>) -> Self {
                let in_order = match features.is_standard_layout() {
                    true => features,
                    false => features.as_standard_layout().into_owned(),
                };
                Self(Storage::$precision(in_order.into_shared()))
            }
        }

        impl<'a> From<ArrayView2<'a, $number>> for Features<'a> {
            fn from(features: ArrayView2<'a, $number>) -> Self {
                match features.to_slice() {
                    Some(values) => {
                        FeatureView::new(features.dim(), Values::$precision(values)).into()
                    }
                    None => features.to_owned().into(),
                }
            }
        }
    };
}
from_arrays!(f64, Double);
from_arrays!(f32, Single);

impl<'a> FeatureView<'a> {
    fn new((rows, columns): (usize, usize), values: Values<'a>) -> Self {
        Self { rows, columns, values }
    }

    /// Contiguous rows of `columns` numbers each.
    pub(crate) fn of_rows(values: &'a [f64], columns: usize) -> Self {
        Self::new((values.len() / columns, columns), Values::Double(values))
    }

    /// Number of instances.
    pub fn nrows(&self) -> usize {
        self.rows
    }

    /// Number of features.
    pub fn ncols(&self) -> usize {
        self.columns
    }

    /// Rows and columns.
    pub fn dim(&self) -> (usize, usize) {
        (self.rows, self.columns)
    }

    /// The numbers, row after row.
    pub fn values(&self) -> Values<'a> {
        self.values
    }

    /// Some of the rows.
    pub fn slice(&self, rows: Range<usize>) -> Self {
        let numbers = rows.start * self.columns..rows.end * self.columns;
        let values = match self.values {
            Values::Double(values) => Values::Double(&values[numbers]),
            Values::Single(values) => Values::Single(&values[numbers]),
        };
        Self::new((rows.len(), self.columns), values)
    }

    /// Chunks of `rows` rows; the last may be shorter.
    pub fn chunks(self, rows: usize) -> impl Iterator<Item = FeatureView<'a>> {
        let chunk = move |first| self.slice(first..self.rows.min(first + rows));
        (0..self.rows).step_by(rows).map(chunk)
    }

    /// A copy of the chosen rows, in their own precision.
    pub fn select(&self, chosen: &[usize]) -> Features<'static> {
        fn rows<T: Copy>(values: &[T], columns: usize, chosen: &[usize]) -> Array2<T> {
            let row = |&i: &usize| values[i * columns..(i + 1) * columns].iter().copied();
            let selected = chosen.iter().flat_map(row).collect();
            Array2::from_shape_vec((chosen.len(), columns), selected).expect("whole rows")
        }
        match self.values {
            Values::Double(values) => rows(values, self.columns, chosen).into(),
            Values::Single(values) => rows(values, self.columns, chosen).into(),
        }
    }

    /// Calls `visit` with each row, in double precision.
    pub fn visit_rows(&self, mut visit: impl FnMut(&[f64])) {
        match self.values {
            Values::Double(values) => {
                (0..self.rows).for_each(|i| visit(&values[i * self.columns..][..self.columns]));
            }
            Values::Single(values) => {
                let mut row = vec![0.0; self.columns];
                for i in 0..self.rows {
                    let own = &values[i * self.columns..][..self.columns];
                    row.iter_mut().zip(own).for_each(|(x, &own)| *x = own.into());
                    visit(&row);
                }
            }
        }
    }

    /// One row in double precision.
    pub fn row(&self, row: usize) -> Vec<f64> {
        let numbers = row * self.columns..(row + 1) * self.columns;
        match self.values {
            Values::Double(values) => values[numbers].to_vec(),
            Values::Single(values) => values[numbers].iter().map(|&x| x.into()).collect(),
        }
    }

    /// All values in double precision: a copy if they are in single.
    pub fn to_f64(&self) -> CowArray<'a, f64, Ix2> {
        let whole = "as many numbers as the shape says";
        match self.values {
            Values::Double(values) => {
                ArrayView2::from_shape(self.dim(), values).expect(whole).into()
            }
            Values::Single(values) => {
                let values = values.iter().map(|&x| x.into()).collect();
                Array2::from_shape_vec(self.dim(), values).expect(whole).into()
            }
        }
    }

    /// Row, column and value of the first number that is NaN or infinite.
    pub(crate) fn first_non_finite(&self) -> Option<(usize, usize, f64)> {
        let found = match self.values {
            Values::Double(values) => {
                values.iter().position(|x| !x.is_finite()).map(|k| (k, values[k]))
            }
            Values::Single(values) => {
                values.iter().position(|x| !x.is_finite()).map(|k| (k, values[k].into()))
            }
        };
        found.map(|(k, value)| (k / self.columns, k % self.columns, value))
    }
}

/// An array with contiguous rows, for tests.
#[cfg(test)]
pub(crate) fn view(features: &Array2<f64>) -> FeatureView<'_> {
    FeatureView::new(features.dim(), Values::Double(features.as_slice().expect("in row order")))
}

#[cfg(test)]
mod tests {
    use ndarray::{array, s};

    use super::*;

    #[test]
    fn both_precisions_show_the_same_values() {
        let double = array![[1.0, 2.0], [0.5, -4.0], [8.0, 3.0]];
        let single = double.mapv(|x| x as f32);
        let wide = array![[1.0_f32, 0.0, 2.0], [0.5, 0.0, -4.0], [8.0, 0.0, 3.0]];
        let want = Features::from(double.view());
        for features in [
            Features::from(double.clone()),
            Features::from(single.view()),
            Features::from(single.clone()),
            Features::from(wide.slice(s![.., ..;2])),
            Features::from(single.t().to_owned().reversed_axes()),
        ] {
            assert_eq!(features, want);
            let view = features.view();
            assert_eq!(view.dim(), (3, 2));
            assert_eq!(view.row(1), [0.5, -4.0]);
            let mut rows = Vec::new();
            view.visit_rows(|row| rows.push(row.to_vec()));
            assert_eq!(rows, [[1.0, 2.0], [0.5, -4.0], [8.0, 3.0]]);
            assert_eq!(view.slice(1..3).to_f64(), double.slice(s![1.., ..]));
            assert_eq!(view.select(&[2, 0]).view().to_f64(), array![[8.0, 3.0], [1.0, 2.0]]);
            let chunks: Vec<usize> = view.chunks(2).map(|chunk| chunk.nrows()).collect();
            assert_eq!(chunks, [2, 1]);
        }
        assert_ne!(Features::from(&double + 1.0), want);
    }

    #[test]
    fn rows_without_columns_are_rows() {
        let features = Features::from(Array2::<f32>::zeros((3, 0)));
        assert_eq!(features.view().slice(1..3).dim(), (2, 0));
        assert_eq!(features.view().select(&[1]).view().dim(), (1, 0));
        assert_eq!(features.view().first_non_finite(), None);
    }

    #[test]
    fn the_first_number_that_is_none_is_found() {
        let features = array![[1.0_f32, 2.0], [3.0, f32::INFINITY], [f32::NAN, 1.0]];
        let found = Features::from(features).view().first_non_finite();
        assert_eq!(found, Some((1, 1, f64::INFINITY)));
    }
}
