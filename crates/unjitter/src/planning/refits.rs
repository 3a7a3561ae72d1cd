//! A learning curve from parts of the sessions, to check what the information promises.
//!
//! Sessions are shuffled; the model is learned from a quarter, half and three quarters of them and judged
//! on the last quarter, against the probabilities that the whole fit gives instances there, knowing their
//! stamps. Errors of a detector fall as one over the number of sessions, and so does what its F1 lacks:
//! F1(n) = limit − slope/n, by least squares, continues the curve.

use serde::Serialize;

use super::PlanOptions;
use crate::evaluation::expected_f1;
use crate::learning::FitOptions;
use crate::math::Random;
use crate::{AlignOptions, Control, Error, Fitted, Result, Session};

/// Sessions for a part of at least one and one that is left out.
const LEAST: usize = 4;

/// What learning from parts of the sessions came to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LearningCurve {
    /// By rising number of sessions.
    pub points: Vec<Refit>,
    /// F1 of any number of sessions, where the curve leads.
    pub limit: f64,
    /// What F1 lacks with one session.
    pub slope: f64,
}

/// Fits on parts of one size.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Refit {
    /// Sessions of each part.
    pub sessions: usize,
    /// Mean F1 on sessions that were left out.
    pub f1: f64,
    /// How many parts were learned from; those without a stamp are left out.
    pub fits: usize,
}

impl LearningCurve {
    /// The curve at a number of sessions.
    pub fn at(&self, sessions: usize) -> f64 {
        self.limit - self.slope / sessions as f64
    }

    /// The curve nearest to the points; level if there is one.
    fn through(points: Vec<Refit>) -> Self {
        let (count, one) =
            (points.len().max(1) as f64, |point: &Refit| 1.0 / point.sessions as f64);
        let mean = |of: &dyn Fn(&Refit) -> f64| points.iter().map(of).sum::<f64>() / count;
        let (x, y) = (mean(&one), mean(&|point| point.f1));
        let square = mean(&|point| (one(point) - x).powi(2));
        let both = mean(&|point| (one(point) - x) * (point.f1 - y));
        let slope = if square > 0.0 { -both / square } else { 0.0 };
        Self { points, limit: y + slope * x, slope }
    }
}

/// Learns from parts of the sessions, as often as the options say.
pub(super) fn refit(
    fitted: &Fitted,
    sessions: &[Session],
    options: &PlanOptions,
    control: Control<'_>,
) -> Result<LearningCurve> {
    let count = sessions.len();
    if count < LEAST {
        let what = "sessions to learn from parts of";
        return Err(Error::TooFew { what, found: count, least: LEAST });
    }
    let quiet = Control { watch: None, ..control };
    let known = sessions.iter().map(|session| probable(fitted, session));
    let known: Vec<Vec<f64>> = known.collect::<Result<_>>()?;
    let mut sizes = [count / 4, count / 2, 3 * count / 4].to_vec();
    sizes.dedup();
    let mut scores: Vec<Vec<f64>> = vec![Vec::new(); sizes.len()];
    let mut random = Random::new(options.seed);
    for round in 0..options.refits {
        let mut order: Vec<usize> = (0..count).collect();
        (1..count).rev().for_each(|k| order.swap(k, random.below(k + 1)));
        let (rest, held_out) = order.split_at(3 * count / 4);
        for (size, scores) in sizes.iter().zip(&mut scores) {
            control.stop_if_requested()?;
            let part: Vec<Session> = rest[..*size].iter().map(|&k| sessions[k].clone()).collect();
            scores.extend(score(fitted, &part, held_out, sessions, &known, quiet)?);
        }
        control.tell(round + 1, options.refits, None);
    }
    let mean = |scores: &[f64]| scores.iter().sum::<f64>() / scores.len() as f64;
    let points = sizes.iter().zip(&scores).filter(|(_, scores)| !scores.is_empty());
    let points: Vec<Refit> = points
        .map(|(&sessions, scores)| Refit { sessions, f1: mean(scores), fits: scores.len() })
        .collect();
    Ok(LearningCurve::through(points))
}

/// F1 of a part on the sessions left out; none if the part has no stamp.
fn score(
    fitted: &Fitted,
    part: &[Session],
    held_out: &[usize],
    sessions: &[Session],
    known: &[Vec<f64>],
    control: Control<'_>,
) -> Result<Option<f64>> {
    let options = FitOptions { standard_errors: false, ..FitOptions::default() };
    let learned = match fitted.model().fit(part, &options, control) {
        Err(Error::NoStamps { .. }) => return Ok(None),
        other => other?,
    };
    control.stop_if_requested()?;
    let mut scored = Vec::new();
    for &k in held_out {
        let found = learned.predict_session(&sessions[k])?;
        scored.extend(found.into_iter().zip(known[k].iter().copied()));
    }
    Ok(Some(expected_f1(scored.into_iter(), fitted.threshold())))
}

/// Probability that each instance is positive, given the stamps.
fn probable(fitted: &Fitted, session: &Session) -> Result<Vec<f64>> {
    let options = AlignOptions { draws: 0, ..AlignOptions::default() };
    let aligned = fitted.align_with(session, &options)?;
    Ok(aligned.instances.iter().map(|instance| instance.p_positive).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_curve_continues_one_over_n() {
        let point = |sessions: usize| {
            let f1 = 0.9 - 0.8 / sessions as f64;
            Refit { sessions, f1, fits: 1 }
        };
        let found = LearningCurve::through([2, 4, 8].map(point).to_vec());
        // A few roundings.
        assert!((found.at(16) - 0.85).abs() < 1e-12 && (found.limit - 0.9).abs() < 1e-12);
        let level = LearningCurve::through(vec![point(4)]);
        assert_eq!((level.at(100), level.slope), (point(4).f1, 0.0));
    }
}
