//! Do presses get later, or earlier, in the course of a session or of the day?
//!
//! Posterior mean delays are regressed on where in its session a stamp is, within sessions, and on the hour
//! of the day, between them. Standard errors do not suppose that all delays scatter alike (White's, and by
//! session for the hour, since whole sessions share theirs).

use serde::Serialize;

use super::delays::Delays;

/// Sessions from which on their differences tell about the day.
const SESSIONS: usize = 10;
/// Standard errors from which on a slope is believed.
const BELIEVED: f64 = 2.0;

/// A change of the delay, in the unit of the data.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Slope {
    /// From the beginning to the end of a session, or per hour of the day.
    pub slope: f64,
    /// Its standard error.
    pub standard_error: f64,
}

impl Slope {
    /// Whether it is more than two standard errors from nothing.
    pub fn is_clear(&self) -> bool {
        self.slope.abs() > BELIEVED * self.standard_error
    }
}

/// A place, a delay and its weight.
type Point = (f64, f64, f64);

/// The change from the beginning to the end of a session; none if there are too few stamps.
pub(super) fn over_session(sessions: &[&Delays]) -> Option<Slope> {
    let of = |session: &&Delays| -> Vec<Point> {
        session.stamps.iter().map(|stamp| (stamp.position, stamp.delay, stamp.weight)).collect()
    };
    let centred: Vec<Vec<Point>> = sessions.iter().map(|own| centre(&of(own))).collect();
    let used = centred.iter().filter(|points| points.len() > 1).count();
    let count = centred.iter().filter(|points| points.len() > 1).flatten().count();
    // A mean for each session, and the slope.
    let rest = count.checked_sub(used + 1).filter(|rest| *rest > 1)?;
    let single: Vec<Vec<Point>> = centred.into_iter().flatten().map(|point| vec![point]).collect();
    slope(&single, count as f64 / rest as f64)
}

/// The change per hour of the day; none if hours are not known or sessions are few.
pub(super) fn over_day(sessions: &[&Delays]) -> Option<Slope> {
    let of = |session: &&Delays| -> Vec<Point> {
        let with_hour = |hour: f64, delay: f64, weight: f64| (hour, delay, weight);
        let points = session.stamps.iter();
        points.filter_map(|own| Some(with_hour(own.hour?, own.delay, own.weight))).collect()
    };
    let all: Vec<Vec<Point>> = sessions.iter().map(of).collect();
    let mut centred = centre(&all.concat()).into_iter();
    let all: Vec<Vec<Point>> =
        all.iter().map(|own| centred.by_ref().take(own.len()).collect()).collect();
    let clusters = all.iter().filter(|own| !own.is_empty()).count();
    let correction = clusters as f64 / (clusters.max(3) as f64 - 2.0);
    (clusters >= SESSIONS).then(|| slope(&all, correction))?
}

/// Points without their means.
fn centre(points: &[Point]) -> Vec<Point> {
    let total: f64 = points.iter().map(|point| point.2).sum();
    let mean =
        |of: fn(&Point) -> f64| points.iter().map(|point| point.2 * of(point)).sum::<f64>() / total;
    let (x, y) = (mean(|point| point.0), mean(|point| point.1));
    points.iter().map(|point| (point.0 - x, point.1 - y, point.2)).collect()
}

/// Weighted least squares through centred points, which scatter independently between clusters.
fn slope(clusters: &[Vec<Point>], correction: f64) -> Option<Slope> {
    let all = || clusters.iter().flatten();
    let squares: f64 = all().map(|(x, _, weight)| weight * x * x).sum();
    if squares <= 0.0 {
        return None;
    }
    let slope = all().map(|(x, y, weight)| weight * x * y).sum::<f64>() / squares;
    let score = |cluster: &Vec<Point>| -> f64 {
        cluster.iter().map(|(x, y, weight)| weight * x * (y - slope * x)).sum()
    };
    let variance: f64 = clusters.iter().map(|cluster| score(cluster).powi(2)).sum();
    Some(Slope { slope, standard_error: (correction * variance).sqrt() / squares })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnosis::StampDelay;

    /// statsmodels 0.15.0, with x, y and w as below and s = repeat([0, 1], 4):
    /// `WLS(y, c_[x, s == 0, s == 1], weights=w).fit().get_robustcov_results("HC1")`.
    #[test]
    fn slopes_are_those_of_statsmodels() {
        let x = [0.0, 0.3, 0.5, 0.9, 0.1, 0.4, 0.8, 1.0];
        let y = [1.0, 1.6, 1.2, 2.1, 5.3, 5.1, 6.4, 6.1];
        let w = [1.0, 0.5, 1.0, 0.8, 0.9, 1.0, 0.3, 1.0];
        let stamp = |k: usize| StampDelay { position: x[k], hour: None, delay: y[k], weight: w[k] };
        let session = |from: usize| Delays {
            stamps: (from..from + 4).map(stamp).collect(),
            ..Delays::default()
        };
        let found = over_session(&[&session(0), &session(4)]).unwrap();
        assert!((found.slope - 1.1129410873397054).abs() < 1e-12, "{found:?}"); // roundings
        assert!((found.standard_error - 0.1905477288849833).abs() < 1e-12, "{found:?}");
        assert!(found.is_clear());
        assert_eq!(over_day(&[&session(0)]), None);
        assert_eq!(over_session(&[&Delays::default()]), None);
    }
}
