//! Matrix products in which every entry is one chain of fused multiply-adds.
//!
//! ```text
//! c_ij ← fma(a_ik, b_kj, c_ij)   for k = 0, 1, 2, …
//! ```
//!
//! Order and rounding of the chain depend neither on the shape of a block, nor on the other rows, nor on
//! the machine: results have the same bits however the work is divided and wherever it runs. (A processor
//! without fused multiply-adds computes them in software: the same bits, slowly.)
//!
//! Both factors are packed into strips, so that a tile of c stays in registers while k runs over a block
//! that stays in cache. Squared distances are such a chain too, with (a − b)² for a·b. The tile is small
//! because the compiler does not keep larger ones, which would load less, in registers.

use multiversion::{multiversion, target::match_target};
use ndarray::{ArrayView2, Axis};

/// Rows of a tile.
const ROWS: usize = 4;
/// Columns of a tile: two of the widest vectors.
const COLUMNS: usize = 16;
/// Length of the chains between two visits to c.
const DEPTH: usize = 128;
/// Rows of a processed together: they and a strip of b fit the first-level cache.
const HEIGHT: usize = 4 * ROWS;
/// Columns of b processed together: they fit the second-level cache.
const WIDTH: usize = 30 * COLUMNS;
/// Alignment of packed strips, in numbers: a cache line.
const LINE: usize = 8;

/// One link of a chain.
trait Link: Copy {
    fn add(self, sum: f64, a: f64, b: f64) -> f64;
}

#[derive(Clone, Copy)]
struct Product;
#[derive(Clone, Copy)]
struct MinusProduct;
#[derive(Clone, Copy)]
struct SquaredDifference;

impl Link for Product {
    #[inline(always)]
    fn add(self, sum: f64, a: f64, b: f64) -> f64 {
        a.mul_add(b, sum)
    }
}

impl Link for MinusProduct {
    #[inline(always)]
    fn add(self, sum: f64, a: f64, b: f64) -> f64 {
        (-a).mul_add(b, sum)
    }
}

impl Link for SquaredDifference {
    #[inline(always)]
    fn add(self, sum: f64, a: f64, b: f64) -> f64 {
        (a - b).mul_add(a - b, sum)
    }
}

/// c += a · b. Row i of c begins at `c[i · stride]`.
pub(super) fn add_product(
    a: ArrayView2<'_, f64>,
    b: ArrayView2<'_, f64>,
    c: &mut [f64],
    stride: usize,
) {
    add_chains(Product, a, b, c, stride);
}

/// c −= a · b. Row i of c begins at `c[i · stride]`.
pub(super) fn subtract_product(
    a: ArrayView2<'_, f64>,
    b: ArrayView2<'_, f64>,
    c: &mut [f64],
    stride: usize,
) {
    add_chains(MinusProduct, a, b, c, stride);
}

/// Adds to c_ij the squared distance of row i of `a` from row j of `b`. Row i of c begins at `c[i · stride]`.
pub(super) fn add_squared_distances(
    a: ArrayView2<'_, f64>,
    b: ArrayView2<'_, f64>,
    c: &mut [f64],
    stride: usize,
) {
    add_chains(SquaredDifference, a, b.reversed_axes(), c, stride);
}

fn add_chains(
    link: impl Link,
    a: ArrayView2<'_, f64>,
    b: ArrayView2<'_, f64>,
    c: &mut [f64],
    stride: usize,
) {
    let depth = DEPTH.min(b.nrows());
    let width = WIDTH.min(b.ncols().next_multiple_of(COLUMNS));
    let (mut a_room, mut b_room) = (Room::new(depth * HEIGHT), Room::new(depth * width));
    for (j, b) in b.axis_chunks_iter(Axis(1), WIDTH).enumerate() {
        for (b, a) in b.axis_chunks_iter(Axis(0), DEPTH).zip(a.axis_chunks_iter(Axis(1), DEPTH)) {
            let packed = pack(b, b_room.values());
            for (i, a) in a.axis_chunks_iter(Axis(0), HEIGHT).enumerate() {
                let shape = (a.nrows(), b.ncols());
                let a = pack(a.reversed_axes(), a_room.values());
                let c = &mut c[i * HEIGHT * stride + j * WIDTH..];
                add_to_block(link, a, packed, b.nrows(), c, stride, shape);
            }
        }
    }
}

/// Numbers aligned to a cache line: a vector across two lines is loaded twice.
struct Room {
    values: Vec<f64>,
    first: usize,
}

impl Room {
    fn new(len: usize) -> Self {
        let values = vec![0.0; len + LINE];
        let first = values.as_ptr().align_offset(LINE * size_of::<f64>()).min(LINE);
        Self { values, first }
    }

    fn values(&mut self) -> &mut [f64] {
        &mut self.values[self.first..]
    }
}

/// Strips of `STRIP` columns, one after the other, each row by row. Missing columns of the last strip
/// hold arbitrary numbers.
fn pack<'a, const STRIP: usize>(
    matrix: ArrayView2<'_, f64>,
    room: &'a mut [f64],
) -> &'a [[f64; STRIP]] {
    let (packed, _) = room.as_chunks_mut::<STRIP>();
    let packed = &mut packed[..matrix.nrows() * matrix.ncols().div_ceil(STRIP)];
    let strips = matrix.axis_chunks_iter(Axis(1), STRIP);
    for (strip, packed) in strips.zip(packed.chunks_exact_mut(matrix.nrows())) {
        if strip.strides()[1] == 1 {
            for (row, packed) in strip.rows().into_iter().zip(packed) {
                let row = row.to_slice().expect("columns are one apart");
                match row.first_chunk() {
                    Some(row) => *packed = *row,
                    None => packed[..row.len()].copy_from_slice(row),
                }
            }
        } else {
            pack_columns(strip, packed);
        }
    }
    packed
}

/// The same for one strip whose rows are not contiguous.
fn pack_columns<const STRIP: usize>(strip: ArrayView2<'_, f64>, packed: &mut [[f64; STRIP]]) {
    let whole: Option<[&[f64]; STRIP]> =
        (strip.strides()[0] == 1 && strip.ncols() == STRIP).then(|| {
            std::array::from_fn(|lane| {
                strip.index_axis_move(Axis(1), lane).to_slice().expect("rows are one apart")
            })
        });
    let Some(columns) = whole else {
        for (lane, column) in strip.columns().into_iter().enumerate() {
            packed.iter_mut().zip(column).for_each(|(packed, x)| packed[lane] = *x);
        }
        return;
    };
    // Equal lengths, stated so that the loop needs no bounds checks.
    let columns = columns.map(|column| &column[..packed.len()]);
    for k in 0..packed.len() {
        packed[k] = columns.map(|column| column[k]);
    }
}

/// Every tile of a block of c of size `shape`; chains have `depth` links.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2+fma"))]
fn add_to_block(
    link: impl Link,
    a: &[[f64; ROWS]],
    b: &[[f64; COLUMNS]],
    depth: usize,
    c: &mut [f64],
    stride: usize,
    (rows, columns): (usize, usize),
) {
    for (j, b) in b.chunks_exact(depth).enumerate() {
        for (i, a) in a.chunks_exact(depth).enumerate() {
            let (rows, columns) = (ROWS.min(rows - i * ROWS), COLUMNS.min(columns - j * COLUMNS));
            let c = &mut c[i * ROWS * stride + j * COLUMNS..];
            let mut tile = [[0.0; COLUMNS]; ROWS];
            for (i, tile) in tile[..rows].iter_mut().enumerate() {
                match c[i * stride..].first_chunk() {
                    Some(c) if columns == COLUMNS => *tile = *c,
                    _ => tile[..columns].copy_from_slice(&c[i * stride..][..columns]),
                }
            }
            match_target! {
                "x86_64+avx512f+avx512dq+avx512vl" => add_to_tile::<COLUMNS>(link, a, b, &mut tile),
                _ => add_to_tile::<{ COLUMNS / 2 }>(link, a, b, &mut tile),
            }
            for (i, tile) in tile[..rows].iter().enumerate() {
                match c[i * stride..].first_chunk_mut() {
                    Some(c) if columns == COLUMNS => *c = *tile,
                    _ => c[i * stride..][..columns].copy_from_slice(&tile[..columns]),
                }
            }
        }
    }
}

/// A tile in parts of `WIDE` columns, as many as the registers hold.
#[inline(always)]
fn add_to_tile<const WIDE: usize>(
    link: impl Link,
    a: &[[f64; ROWS]],
    b: &[[f64; COLUMNS]],
    tile: &mut [[f64; COLUMNS]; ROWS],
) {
    for first in (0..COLUMNS).step_by(WIDE) {
        let mut sums: [[f64; WIDE]; ROWS] =
            std::array::from_fn(|i| std::array::from_fn(|j| tile[i][first + j]));
        for (a, b) in a.iter().zip(b) {
            for i in 0..ROWS {
                for j in 0..WIDE {
                    sums[i][j] = link.add(sums[i][j], a[i], b[first + j]);
                }
            }
        }
        for i in 0..ROWS {
            for j in 0..WIDE {
                tile[i][first + j] = sums[i][j];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use ndarray::{Array2, ShapeBuilder};

    use super::*;
    use crate::math::Random;

    fn normal(shape: (usize, usize), random: &mut Random) -> Array2<f64> {
        Array2::from_shape_simple_fn(shape, || random.normal())
    }

    /// The chain by its definition, entry by entry.
    fn plain(
        link: impl Link,
        a: ArrayView2<'_, f64>,
        b: ArrayView2<'_, f64>,
        c: &Array2<f64>,
    ) -> Array2<f64> {
        Array2::from_shape_fn(c.dim(), |(i, j)| match j < b.ncols() {
            true => (0..b.nrows()).fold(c[[i, j]], |sum, k| link.add(sum, a[[i, k]], b[[k, j]])),
            false => c[[i, j]],
        })
    }

    #[test]
    fn every_entry_is_its_chain_to_the_bit() {
        let mut random = Random::new(1);
        for (rows, depth, columns) in [
            (1, 1, 1),
            (ROWS, 3, COLUMNS),
            (ROWS + 1, DEPTH, COLUMNS - 1),
            (HEIGHT + 3, DEPTH + 1, COLUMNS + 1),
            (2 * HEIGHT + 2, 2 * DEPTH + 5, 5),
            (3, 7, WIDTH + COLUMNS + 3),
            (0, 3, 4),
            (3, 0, 4),
            (3, 4, 0),
        ] {
            let (a, b) =
                (normal((rows, depth), &mut random), normal((depth, columns), &mut random));
            // Entries beside the columns in use must not change.
            let c = normal((rows, columns + 2), &mut random);
            let mut by_column = Array2::zeros((rows, depth).f());
            by_column.assign(&a);
            let mut transposed = Array2::zeros((depth, columns).f());
            transposed.assign(&b);
            for a in [a.view(), by_column.view()] {
                for b in [b.view(), transposed.view()] {
                    let shape = format!("{rows} × {depth} × {columns}");
                    let run = |add: &dyn Fn(&mut [f64])| {
                        let mut c = c.clone();
                        add(c.as_slice_mut().unwrap());
                        c
                    };
                    let got = run(&|c| add_product(a, b, c, columns + 2));
                    assert_eq!(got, plain(Product, a, b, &c), "{shape}");
                    let got = run(&|c| subtract_product(a, b, c, columns + 2));
                    assert_eq!(got, plain(MinusProduct, a, b, &c), "{shape}");
                    let got = run(&|c| add_squared_distances(a, b.t(), c, columns + 2));
                    assert_eq!(got, plain(SquaredDifference, a, b, &c), "{shape}");
                }
            }
        }
    }
}
