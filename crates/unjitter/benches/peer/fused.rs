//! The reference for an evaluation: the plain logistic loss, in one pass.

/// Cross-entropy and its gradient in one pass, as plainly as it can be written and still be fast.
/// `features` row by row; `w` is one weight per column and then the intercept.
pub(crate) fn fused_logistic(
    features: &[f64],
    labels: &[f64],
    w: &[f64],
    gradient: &mut [f64],
) -> f64 {
    let columns = w.len() - 1;
    gradient.fill(0.0);
    let mut value = 0.0;
    for (x, y) in features.chunks_exact(columns).zip(labels) {
        // Four sums at a time, or the additions wait for each other.
        let mut sums = [0.0; 4];
        let (xs, ws) = (x.chunks_exact(4), w[..columns].chunks_exact(4));
        let rest: f64 = xs.remainder().iter().zip(ws.remainder()).map(|(a, b)| a * b).sum();
        for (a, b) in xs.zip(ws) {
            for k in 0..4 {
                sums[k] += a[k] * b[k];
            }
        }
        let f = w[columns] + rest + sums.iter().sum::<f64>();
        let e = (-f.abs()).exp();
        value += f.max(0.0) - y * f + e.ln_1p();
        let p = if f >= 0.0 { 1.0 / (1.0 + e) } else { e / (1.0 + e) };
        let d = p - y;
        gradient.iter_mut().zip(x).for_each(|(g, x)| *g += d * x);
        gradient[columns] += d;
    }
    value
}
