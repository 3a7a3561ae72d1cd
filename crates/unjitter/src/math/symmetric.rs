//! Small symmetric matrices, row by row.

/// Replaces the lower triangle of a matrix by L with A = L·Lᵀ (Cholesky); false if it is not positive
/// definite and finite. What lies above the diagonal is neither read nor written.
pub(crate) fn factorise(matrix: &mut [f64], size: usize) -> bool {
    for i in 0..size {
        let (above, rest) = matrix.split_at_mut(i * size);
        let row = &mut rest[..size];
        for j in 0..i {
            let other = &above[j * size..][..=j];
            let sum: f64 = row[..j].iter().zip(other).map(|(a, b)| a * b).sum();
            row[j] = (row[j] - sum) / other[j];
        }
        let sum: f64 = row[..i].iter().map(|a| a * a).sum();
        let pivot = row[i] - sum;
        if !(pivot > 0.0 && pivot.is_finite()) {
            return false;
        }
        row[i] = pivot.sqrt();
    }
    true
}

/// Replaces x by A⁻¹·x, given L.
pub(crate) fn solve(factor: &[f64], x: &mut [f64]) {
    solve_lower(factor, x);
    solve_upper(factor, x);
}

/// Replaces x by L⁻¹·x.
pub(crate) fn solve_lower(factor: &[f64], x: &mut [f64]) {
    let size = x.len();
    for i in 0..size {
        let row = &factor[i * size..][..=i];
        let sum: f64 = row[..i].iter().zip(&*x).map(|(l, x)| l * x).sum();
        x[i] = (x[i] - sum) / row[i];
    }
}

/// Replaces x by L⁻ᵀ·x.
pub(crate) fn solve_upper(factor: &[f64], x: &mut [f64]) {
    let size = x.len();
    for i in (0..size).rev() {
        let row = &factor[i * size..][..=i];
        x[i] /= row[i];
        let own = x[i];
        x[..i].iter_mut().zip(row).for_each(|(x, l)| *x -= l * own);
    }
}

/// A⁻¹, given L.
pub(crate) fn inverse(factor: &[f64], size: usize) -> Vec<f64> {
    let mut inverse = vec![0.0; size * size];
    for (k, column) in inverse.chunks_exact_mut(size).enumerate() {
        column[k] = 1.0;
        solve(factor, column);
    }
    inverse
}

/// Sweeps of Jacobi's method: six are usual.
const SWEEPS: usize = 30;

/// Eigenvalues and, as rows, eigenvectors, by Jacobi's rotations: exact to rounding, and meant for a few
/// rows.
pub(crate) fn eigen(mut matrix: Vec<f64>, size: usize) -> (Vec<f64>, Vec<Vec<f64>>) {
    let one = |k: usize| (0..size).map(|j| f64::from(u8::from(j == k))).collect();
    let mut vectors: Vec<Vec<f64>> = (0..size).map(one).collect();
    for _ in 0..SWEEPS {
        let off: f64 = (0..size)
            .flat_map(|i| (0..i).map(move |j| i * size + j))
            .map(|at| matrix[at].powi(2))
            .sum();
        let on: f64 = (0..size).map(|i| matrix[i * (size + 1)].powi(2)).sum();
        if off <= 1e-30 * on {
            break;
        }
        for i in 0..size {
            for j in 0..i {
                rotate(&mut matrix, &mut vectors, size, [j, i]);
            }
        }
    }
    ((0..size).map(|i| matrix[i * (size + 1)]).collect(), vectors)
}

/// Makes the entry (p, q) zero.
fn rotate(matrix: &mut [f64], vectors: &mut [Vec<f64>], size: usize, [p, q]: [usize; 2]) {
    let entry = matrix[p * size + q];
    if entry == 0.0 {
        return;
    }
    let theta = (matrix[q * (size + 1)] - matrix[p * (size + 1)]) / (2.0 * entry);
    let tangent = theta.signum() / (theta.abs() + theta.hypot(1.0));
    let cosine = 1.0 / tangent.hypot(1.0);
    let sine = tangent * cosine;
    let turn = |a: f64, b: f64| (cosine * a - sine * b, sine * a + cosine * b);
    for k in 0..size {
        let (a, b) = turn(matrix[k * size + p], matrix[k * size + q]);
        (matrix[k * size + p], matrix[k * size + q]) = (a, b);
    }
    for k in 0..size {
        let (a, b) = turn(matrix[p * size + k], matrix[q * size + k]);
        (matrix[p * size + k], matrix[q * size + k]) = (a, b);
        let (a, b) = turn(vectors[p][k], vectors[q][k]);
        (vectors[p][k], vectors[q][k]) = (a, b);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Random;

    /// A random positive definite matrix.
    fn matrix(size: usize) -> Vec<f64> {
        let mut random = Random::new(3);
        let half: Vec<f64> = (0..size * size).map(|_| random.normal()).collect();
        let dot = |i: usize, j: usize| -> f64 {
            (0..size).map(|k| half[i * size + k] * half[j * size + k]).sum()
        };
        (0..size * size).map(|at| dot(at / size, at % size)).collect()
    }

    #[test]
    fn the_inverse_times_the_matrix_is_one() {
        let (size, matrix) = (5, matrix(5));
        let mut factor = matrix.clone();
        assert!(factorise(&mut factor, size));
        let inverse = inverse(&factor, size);
        for i in 0..size {
            for j in 0..size {
                let sum: f64 =
                    (0..size).map(|k| inverse[i * size + k] * matrix[k * size + j]).sum();
                let one = f64::from(u8::from(i == j));
                assert!((sum - one).abs() < 1e-10, "{i} {j}: {sum}"); // a condition of some thousands
            }
        }
    }

    #[test]
    fn eigenvectors_are_only_scaled() {
        let (size, matrix) = (5, matrix(5));
        let (values, vectors) = eigen(matrix.clone(), size);
        for (value, vector) in values.iter().zip(&vectors) {
            for row in 0..size {
                let product: f64 = (0..size).map(|k| matrix[row * size + k] * vector[k]).sum();
                assert!((product - value * vector[row]).abs() < 1e-13 * values.iter().sum::<f64>());
            }
            let length: f64 = vector.iter().map(|x| x * x).sum();
            assert!((length - 1.0).abs() < 1e-14, "{length}"); // roundings of some rotations
        }
    }

    #[test]
    fn what_is_not_positive_definite_is_refused() {
        assert!(!factorise(&mut [1.0, 2.0, 2.0, 1.0], 2));
        assert!(!factorise(&mut [f64::NAN], 1));
    }
}
