//! Stamps that are to be expected around a time, tabulated.

use crate::Session;
use crate::model::Fitted;

/// Steps of the table for a spread, at least, and for the spacing of instances.
const FINE: f64 = 4.0;
/// Most steps of a table: beyond, it is coarser.
const MOST: usize = 1 << 22;
/// Spreads to either side beyond which a density is left out; a background is above it there.
const REACH: f64 = 6.0;

/// log(ρ + Σ_i m_i p(x − t_i)) by x, in units since the first instance.
pub(super) struct Intensity {
    first: f64,
    step: f64,
    log_rates: Vec<f64>,
    /// Where nothing is expected but stamps from nowhere.
    log_background: f64,
}

impl Intensity {
    /// The stamps that the one annotator of a session is expected to give.
    pub(super) fn new(fitted: &Fitted, session: &Session<'_>) -> crate::Result<Self> {
        let unit = fitted.time_unit;
        let learned = fitted.learned().in_units_of(unit);
        let widest = (0..session.stamps().len()).map(|l| session.width_of(l)).fold(0.0, f64::max);
        let blur = 0.5 * widest / unit;
        let stamped = fitted.predict_stamped_session(session)?;
        let origin = session.times()[0];
        let times: Vec<f64> = session.times().iter().map(|t| (t - origin) / unit).collect();
        let last = times[times.len() - 1];
        let reach = REACH * learned.spread + blur;
        let (low, high) = (learned.delay - reach, learned.delay + reach);
        let spacing = last / times.len().max(2) as f64;
        let width = last + high - low;
        let step = (learned.spread.min(spacing.max(1e-9)) / FINE).max(width / MOST as f64);
        // Where instances are, as masses on the table; a table of densities then spreads them out.
        let cells = (last / step).ceil() as usize + 2;
        let mut masses = vec![0.0; cells];
        let observed = session.observed_instances();
        for (t, mass) in observed.iter().map(|&i| (times[i], stamped[i])) {
            let at = t / step;
            let (below, share) = (at.floor() as usize, at.fract());
            masses[below] += mass * (1.0 - share);
            masses[below + 1] += mass * share;
        }
        let delays: Vec<f64> =
            (0..=((high - low) / step).ceil() as usize).map(|k| low + step * k as f64).collect();
        let in_data: Vec<f64> = delays.iter().map(|delay| delay * unit).collect();
        let densities: Vec<f64> =
            fitted.delay_density(&in_data).into_iter().map(|density| density * unit).collect();
        let mut rates = vec![0.0; cells + densities.len()];
        for (k, mass) in masses.iter().enumerate().filter(|(_, mass)| **mass > 1e-9) {
            let around = rates[k..].iter_mut().zip(&densities);
            around.for_each(|(rate, density)| *rate += mass * density);
        }
        let rates = averaged(&rates, (blur / step).round() as usize);
        let rate = session.stamps().len() as f64 / last.max(1.0);
        let usual = fitted.stamp_rate.map_or(rate, |usual| usual * unit);
        // At least a thousandth: a table of a few stamps cannot rule anything out for certain.
        let background = (learned.background_rate * rate / usual).max(1e-3 * rate).max(1e-12);
        let log_rates = rates.iter().map(|rate| (background + rate).ln()).collect();
        Ok(Self { first: low, step, log_rates, log_background: background.ln() })
    }

    /// The logarithm at a time; between steps it is linear.
    pub(super) fn at(&self, x: f64) -> f64 {
        let at = (x - self.first) / self.step;
        if at < 0.0 || at >= (self.log_rates.len() - 1) as f64 {
            return self.log_background;
        }
        let (below, share) = (at as usize, at.fract());
        self.log_rates[below] * (1.0 - share) + self.log_rates[below + 1] * share
    }
}

/// Means over so many neighbours on either side: what is expected of a stamp that is known to an interval.
fn averaged(rates: &[f64], around: usize) -> Vec<f64> {
    if around == 0 {
        return rates.to_vec();
    }
    let mut sums = vec![0.0];
    rates.iter().for_each(|rate| sums.push(sums[sums.len() - 1] + rate));
    let mean = |k: usize| {
        let (first, end) = (k.saturating_sub(around), (k + around + 1).min(rates.len()));
        (sums[end] - sums[first]) / (2 * around + 1) as f64
    };
    (0..rates.len()).map(mean).collect()
}
