//! Where the strength has a top that chance does not explain.

use super::{Peak, Row};

/// Least strength of a peak. The highest of all windows of 240 simulated recordings without a relation
/// was between 2.7 and 4.2.
pub const LEAST_STRENGTH: f64 = 4.5;
/// Most peaks.
const MOST: usize = 4;
/// Within so many widths, of the wider of two, the weaker peak belongs to the stronger one: windows
/// overlap there, or one has its surroundings in the other.
const APART: f64 = 3.0;

pub(super) fn of(rows: &[Row]) -> Vec<Peak> {
    let tops = rows.iter().flat_map(tops);
    let mut tops: Vec<Peak> = tops.filter(|peak| peak.strength >= LEAST_STRENGTH).collect();
    tops.sort_by(|a, b| b.strength.total_cmp(&a.strength));
    let mut peaks: Vec<Peak> = Vec::new();
    for top in tops {
        let belongs = |peak: &Peak| (peak.lag - top.lag).abs() < APART * peak.width.max(top.width);
        if peaks.len() < MOST && !peaks.iter().any(belongs) {
            peaks.push(top);
        }
    }
    peaks
}

/// Maxima over the lags of one width.
fn tops(row: &Row) -> Vec<Peak> {
    let strength = |k: usize| row.strength.get(k).copied().unwrap_or(f64::NEG_INFINITY);
    let before = |k: usize| k.checked_sub(1).map_or(f64::NEG_INFINITY, strength);
    let is_top = |&k: &usize| before(k) < strength(k) && strength(k) >= strength(k + 1);
    (0..row.lags.len())
        .filter(is_top)
        .map(|k| Peak { lag: between(row, k), width: row.width, strength: strength(k) })
        .collect()
}

/// The lag of the top of the parabola through a maximum and its neighbours.
fn between(row: &Row, k: usize) -> f64 {
    if k == 0 || k + 1 == row.lags.len() {
        return row.lags[k];
    }
    let [before, top, after] = [k - 1, k, k + 1].map(|k| row.strength[k]);
    let aside = 0.5 * (before - after) / (before - 2.0 * top + after);
    row.lags[k] + if aside.is_finite() { aside * (row.lags[k + 1] - row.lags[k]) } else { 0.0 }
}
