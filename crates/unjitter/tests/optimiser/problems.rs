//! The problems of `reference/scipy_minima.py`, written down a second time.

use super::Formula;

/// The problem of that name.
pub(crate) fn problem(name: &str) -> Formula<'static> {
    match name {
        "rosenbrock_2" => rosenbrock(2),
        "rosenbrock_20" => rosenbrock(20),
        "ill_conditioned_quadratic" => quadratic(30),
        "ridge_logistic" => ridge_logistic(60, 6),
        "log_barrier" => log_barrier(4, 6),
        "powell_singular" => powell_singular(),
        other => panic!("no problem is called {other}"),
    }
}

/// Σ 100 (x_{j+1} − x_j²)² + (1 − x_j)²
pub(crate) fn rosenbrock(dim: usize) -> Formula<'static> {
    Formula::new(dim, |x, gradient| {
        gradient.fill(0.0);
        let mut value = 0.0;
        for j in 0..x.len() - 1 {
            let (valley, gap) = (x[j + 1] - x[j] * x[j], 1.0 - x[j]);
            value += 100.0 * valley * valley + gap * gap;
            gradient[j] += -400.0 * valley * x[j] - 2.0 * gap;
            gradient[j + 1] += 200.0 * valley;
        }
        value
    })
}

/// ½ Σ λ_k (H(x − m))_k², λ from 1 to 10⁶, H a reflection.
fn quadratic(dim: usize) -> Formula<'static> {
    let normal: Vec<f64> = (0..dim).map(|j| (j as f64 + 1.0).cos()).collect();
    let length2 = dot(&normal, &normal);
    let reflect = move |z: &mut [f64]| {
        let factor = 2.0 * dot(z, &normal) / length2;
        z.iter_mut().zip(&normal).for_each(|(z, n)| *z -= factor * n);
    };
    Formula::new(dim, move |x, gradient| {
        for (j, (g, x)) in gradient.iter_mut().zip(x).enumerate() {
            *g = x - (j as f64).sin();
        }
        reflect(gradient);
        let mut value = 0.0;
        for (k, g) in gradient.iter_mut().enumerate() {
            let eigenvalue = 10f64.powf(6.0 * k as f64 / (dim - 1) as f64);
            value += 0.5 * eigenvalue * *g * *g;
            *g *= eigenvalue;
        }
        reflect(gradient);
        value
    })
}

/// Σ log(1 + e^{s_i}) − y_i s_i + 0.05 ‖w‖², s = Xw; the last column of X is one.
fn ridge_logistic(count: usize, dim: usize) -> Formula<'static> {
    let feature = move |i: usize, j: usize| {
        let scale = j as f64 + 1.0;
        if j == dim - 1 { 1.0 } else { scale * (0.7 * i as f64 * scale + j as f64).sin() }
    };
    Formula::new(dim, move |w, gradient| {
        let mut value = 0.05 * dot(w, w);
        gradient.iter_mut().zip(w).for_each(|(g, w)| *g = 0.1 * w);
        for i in 0..count {
            let score: f64 = (0..dim).map(|j| feature(i, j) * w[j]).sum();
            let label = if 7 * i % 5 < 2 { 1.0 } else { 0.0 };
            value += score.max(0.0) + (-score.abs()).exp().ln_1p() - label * score;
            let d_score = 1.0 / (1.0 + (-score).exp()) - label;
            gradient.iter_mut().enumerate().for_each(|(j, g)| *g += d_score * feature(i, j));
        }
        value
    })
}

/// cᵀx − Σ_k log(b_k − a_kᵀx), +∞ unless every a_kᵀx < b_k: a box cut by slanted planes.
fn log_barrier(dim: usize, planes: usize) -> Formula<'static> {
    let mut walls: Vec<(Vec<f64>, f64)> = Vec::new();
    for sign in [1.0, -1.0] {
        walls.extend((0..dim).map(|k| {
            let mut normal = vec![0.0; dim];
            normal[k] = sign;
            (normal, 0.5)
        }));
    }
    walls.extend((0..planes).map(|k| {
        let slant = |j| (1.0 + 2.0 * k as f64 + 3.0 * j as f64).cos();
        ((0..dim).map(slant).collect(), 0.3 + 0.1 * k as f64)
    }));
    Formula::new(dim, move |x, gradient| {
        let mut value = 0.0;
        for (j, g) in gradient.iter_mut().enumerate() {
            *g = 20.0 * (1.0 + j as f64).sin();
            value += *g * x[j];
        }
        for (normal, bound) in &walls {
            let gap = bound - dot(normal, x);
            if gap <= 0.0 {
                return f64::INFINITY;
            }
            value -= gap.ln();
            gradient.iter_mut().zip(normal).for_each(|(g, a)| *g += a / gap);
        }
        value
    })
}

/// (a + 10b)² + 5 (c − d)² + (b − 2c)⁴ + 10 (a − d)⁴
fn powell_singular() -> Formula<'static> {
    Formula::new(4, |x, gradient| {
        let [a, b, c, d] = x else { unreachable!("four parameters") };
        let (p, q, r, s) = (a + 10.0 * b, c - d, b - 2.0 * c, a - d);
        gradient[0] = 2.0 * p + 40.0 * s.powi(3);
        gradient[1] = 20.0 * p + 4.0 * r.powi(3);
        gradient[2] = 10.0 * q - 8.0 * r.powi(3);
        gradient[3] = -10.0 * q - 40.0 * s.powi(3);
        p * p + 5.0 * q * q + r.powi(4) + 10.0 * s.powi(4)
    })
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}
