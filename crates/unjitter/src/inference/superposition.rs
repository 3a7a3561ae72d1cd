//! Stamps as a superposition of what the instances give: a Poisson process in time.
//!
//! With m_i = E[stamps of instance i], stamps at the rate ρ + Σ_i m_i·p(z − t_i) have the log likelihood
//!
//! ```text
//! Σ_l log(ρ + Σ_i m_i·p_l(i)) − Σ_i m_i − ρT        m_i = Σ_y p(y | f_i)·E[c | y]
//! ```
//!
//! It knows nothing of how many stamps an instance gives, so it is less sharp than a sum over alignments. But
//! it is smooth, has no recursion, and holds whatever ties stamps together: a place to begin from.

use multiversion::multiversion;

use super::buffers::make_room;
use super::column::{groups, groups_mut, scale};
use super::outputs::Shares;
use super::pass::{Buffers, Pass, SpanSolution};
use super::vocabulary::{Impossible, Stamped};
use super::windows::LogDrop;
use crate::math::{LANES, Lanes, sigmoid};
use crate::scratch::Scratch;

/// Rates below this share of the background are left out: a factor of 1e-10.
const DROP: f64 = 23.0;
/// The same below the peak of the density, without a background.
const ALONE: f64 = 200.0;

/// The result of a pass over a session.
#[derive(Debug)]
pub struct Superposed<S> {
    /// The log likelihood, without the background's −ρT.
    pub log_likelihood: f64,
    /// Its derivative in E[c | y].
    pub d_means: [f64; 2],
    /// The sums of the pass.
    pub sums: S,
}

impl Stamped<'_> {
    /// Runs `pass` over the session, with E[c | y] stamps of an instance of label y.
    pub fn superpose<P: Pass>(
        &self,
        pass: &P,
        means: [f64; 2],
        scratch: &Scratch<Buffers>,
    ) -> Result<Superposed<P::Sums>, Impossible> {
        scratch.with(|buffers| self.superpose_in(pass, means, buffers))
    }

    fn superpose_in<P: Pass>(
        &self,
        pass: &P,
        means: [f64; 2],
        buffers: &mut Buffers,
    ) -> Result<Superposed<P::Sums>, Impossible> {
        let Buffers { band, spans: buffers } = buffers;
        let highest = means[0].max(means[1]).ln();
        let floor = (self.log_background - highest - DROP).max(self.density.log_peak() - ALONE);
        band.rebuild(self, LogDrop { floor: Some(floor), ..LogDrop::default() })
            .map_err(Impossible::Stamp)?;
        let mut total = Superposed { log_likelihood: 0.0, d_means: [0.0; 2], sums: pass.zero() };
        let (mut rates, mut given, mut shares) = (Vec::new(), Vec::new(), Vec::new());
        for span in band.spans(pass.rows_at_a_time()) {
            if pass.is_stopped() {
                total.log_likelihood = f64::NAN;
                break;
            }
            let instances = span.instances.clone();
            make_room(&mut buffers.room, instances.len());
            make_room(&mut buffers.d_log_odds, instances.len());
            let log_odds = pass.log_odds(instances.clone(), &mut buffers.room[..instances.len()]);
            let mix = |f: &f64| sigmoid(-f) * means[0] + sigmoid(*f) * means[1];
            rates.clear();
            rates.extend(log_odds.iter().map(mix));
            total.log_likelihood -= rates.iter().sum::<f64>();
            rates.resize(instances.len() + LANES, 0.0);
            given.clear();
            given.resize(instances.len() + LANES, 0.0);
            let mut stamp = span.stamps.start;
            while stamp < span.stamps.end {
                let panel = band.panel(stamp..span.stamps.end);
                stamp = panel.end;
                if band.load(panel.clone(), self).is_err() {
                    return Err(Impossible::Stamp(panel.start));
                }
                make_room(&mut shares, band.cells());
                for l in panel {
                    let cells = band.padded_cells_of(l);
                    let first = band.windows()[l].first - instances.start;
                    let (density, share) =
                        (&band.densities()[cells.clone()], &mut shares[cells.clone()]);
                    let (rates, given) = (&rates[first..], &mut given[first..]);
                    let rate = attribute(density, band.background(l), rates, share, given);
                    if rate == 0.0 {
                        return Err(Impossible::Stamp(l));
                    }
                    total.log_likelihood += rate.ln() + band.log_scale(l);
                }
                let responsibilities = &shares[..band.cells()];
                let delays = band.delays();
                let found = Shares { band, delays, responsibilities, positive: &[] };
                pass.take_stamps(found, &mut total.sums);
            }
            let d_log_odds = &mut buffers.d_log_odds[..instances.len()];
            for (k, d) in d_log_odds.iter_mut().enumerate() {
                let p = [sigmoid(-log_odds[k]), sigmoid(log_odds[k])];
                let d_rate = if rates[k] > 0.0 { given[k] / rates[k] - 1.0 } else { -1.0 };
                total.d_means[0] += p[0] * d_rate;
                total.d_means[1] += p[1] * d_rate;
                *d = p[0] * p[1] * (means[1] - means[0]) * d_rate;
            }
            let record = &mut buffers.record;
            let solved = SpanSolution { instances, log_odds, d_log_odds, record };
            pass.take_span(solved, &mut total.sums);
        }
        Ok(total)
    }
}

/// Shares of the instances in a stamp, which are added to what they gave; returns its rate.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2+fma"))]
fn attribute(
    density: &[f64],
    background: f64,
    rates: &[f64],
    shares: &mut [f64],
    given: &mut [f64],
) -> f64 {
    let mut total = Lanes::all(0.0);
    let inputs = groups(density).iter().zip(groups(rates));
    for (share, (density, rate)) in groups_mut(shares).iter_mut().zip(inputs) {
        let own = Lanes(*density) * Lanes(*rate);
        *share = own.0;
        total += own;
    }
    let total = background + total.sum();
    if total > 0.0 {
        scale(shares, 1.0 / total);
    }
    given.iter_mut().zip(shares).for_each(|(given, share)| *given += *share);
    total
}
