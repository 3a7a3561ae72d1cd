//! Bare inference, for people who bring their own log-odds.

use super::parts::{BoundCounts, BoundNoise};
use crate::inference::{
    Alignment, CountMarginals, CountTables, Impossible, Lattice, Marginals, Responsibilities,
};
use crate::memory::memory_limit;
use crate::session::check_order;
use crate::{Error, Result};

/// What errors call the session.
const NAME: &str = "posterior";

/// The posterior over the alignments of one session.
#[derive(Debug)]
pub struct Posterior<'a> {
    times: &'a [f64],
    stamps: &'a [f64],
    log_odds: &'a [f64],
    tables: CountTables,
    noise: &'a BoundNoise,
    marginals: Marginals,
}

/// Exact posterior over which instance gave which stamp, and which instances are positive.
///
/// `times` (one per instance) and `stamps` do not decrease; `log_odds` (one per instance) are those
/// of the positive label, ±∞ where it is known.
///
/// ```
/// use unjitter::{Counts, Noise, posterior};
///
/// let counts = Counts::Bernoulli.with(&[("false_rate", &[0.01]), ("hit_rate", &[0.9])])?;
/// let noise = Noise::Gaussian.with(&[("delay", &[0.5]), ("spread", &[1.0])])?;
/// let found = posterior(&[0.0, 1.0, 2.0, 3.0], &[2.4], &[-3.0, 2.0, -3.0, -3.0], &counts, &noise)?;
/// assert_eq!(found.best_alignment().instances, [1]);
/// assert!(found.positive()[1] > 0.95);
/// # Ok::<(), unjitter::Error>(())
/// ```
pub fn posterior<'a>(
    times: &'a [f64],
    stamps: &'a [f64],
    log_odds: &'a [f64],
    counts: &BoundCounts,
    noise: &'a BoundNoise,
) -> Result<Posterior<'a>> {
    check(NAME, times, stamps, log_odds, counts.max_count())?;
    let tables = counts.tables(stamps.len());
    let lattice = Lattice { times, stamps, log_odds, counts: &tables, density: noise };
    let marginals =
        lattice.marginals().map_err(|impossible| infeasible(NAME, times, stamps, impossible))?;
    Ok(Posterior { times, stamps, log_odds, tables, noise, marginals })
}

impl Posterior<'_> {
    /// log p(stamps | log-odds, times).
    pub fn log_evidence(&self) -> f64 {
        self.marginals.log_evidence
    }

    /// All marginals, for whoever wants to keep them without the inputs.
    pub fn into_marginals(self) -> Marginals {
        self.marginals
    }

    /// p(y_i = 1 | stamps), one per instance.
    pub fn positive(&self) -> Vec<f64> {
        (0..self.times.len()).map(|i| self.marginals.counts.positive(i)).collect()
    }

    /// p(o_i = c, y_i = y | stamps).
    pub fn counts(&self) -> &CountMarginals {
        &self.marginals.counts
    }

    /// p(w(i,l) | stamps).
    pub fn responsibilities(&self) -> &Responsibilities {
        &self.marginals.responsibilities
    }

    /// The single likeliest alignment.
    pub fn best_alignment(&self) -> Alignment {
        self.lattice().best_alignment().expect("the marginals exist, so a path does")
    }

    /// `draws` alignments from the posterior, each one instance per stamp.
    pub fn sample(&self, draws: usize, seed: u64) -> Vec<Vec<usize>> {
        self.lattice().sample(draws, seed).expect("the marginals exist, so a path does")
    }

    fn lattice(&self) -> Lattice<'_> {
        let Self { times, stamps, log_odds, tables, noise, .. } = self;
        Lattice { times, stamps, log_odds, counts: tables, density: *noise }
    }
}

/// Fails if bare inference cannot take these inputs.
pub(super) fn check(
    session: &str,
    times: &[f64],
    stamps: &[f64],
    log_odds: &[f64],
    max_count: Option<usize>,
) -> Result<()> {
    check_order("time", times)?;
    check_order("stamp", stamps)?;
    check_log_odds(session, log_odds, times.len())?;
    check_capacity(session, stamps.len(), times.len(), max_count)
}

fn check_log_odds(session: &str, log_odds: &[f64], instances: usize) -> Result<()> {
    let what = "log-odds";
    if log_odds.len() != instances {
        let session = session.to_owned();
        let found = log_odds.len();
        return Err(Error::LengthMismatch { session, what, found, expected: instances });
    }
    // Without a way out early, so that it runs on vectors.
    if !log_odds.iter().fold(false, |bad, f| bad | f.is_nan()) {
        return Ok(());
    }
    match log_odds.iter().position(|f| f.is_nan()) {
        None => Ok(()),
        Some(index) => {
            Err(Error::BadInput {
                what, index, value: f64::NAN, expected: "a number or ±infinity"
            })
        }
    }
}

/// Fails if there are more stamps than the instances can give.
pub(crate) fn check_capacity(
    session: &str,
    stamps: usize,
    instances: usize,
    max_count: Option<usize>,
) -> Result<()> {
    if instances == 0 && stamps > 0 {
        let reason = "no instance lies in an observed interval".to_owned();
        return Err(Error::Infeasible { session: session.to_owned(), stamps, instances, reason });
    }
    // Without a limit per instance, one instance explains everything.
    let max_count = max_count.unwrap_or(usize::MAX);
    let capacity = instances.saturating_mul(max_count);
    if stamps <= capacity {
        return Ok(());
    }
    Err(Error::TooManyStamps {
        session: session.to_owned(),
        stamps,
        instances,
        max_count,
        capacity,
    })
}

/// The error for a session whose stamps no alignment explains.
pub(crate) fn infeasible(
    session: &str,
    times: &[f64],
    stamps: &[f64],
    impossible: Impossible,
) -> Error {
    let session = session.to_owned();
    let reason = match impossible {
        Impossible::TooLarge(bytes) => {
            let limit = memory_limit();
            let (stamps, instances) = (stamps.len(), times.len());
            return Error::TooLarge { session, stamps, instances, bytes, limit };
        }
        Impossible::Stamp(l) => format!(
            "no instance can have given stamp {l} at {}: every delay lies outside the support of \
             the noise model",
            stamps[l]
        ),
        Impossible::Together => {
            "the stamps are packed too closely for the counts and delays that are possible, \
                 or an instance must give a stamp that is not there"
                .to_owned()
        }
    };
    Error::Infeasible { session, stamps: stamps.len(), instances: times.len(), reason }
}
