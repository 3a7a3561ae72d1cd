//! A count model at given natural values.

use std::sync::Arc;

use super::{CountModel, Counts};
use crate::Result;
use crate::math::Random;
use crate::params::from_natural;

/// A count model at given natural values, such as a hit rate of 0.9.
#[derive(Debug, Clone)]
pub struct BoundCounts {
    pub(crate) model: Arc<dyn CountModel>,
    pub(crate) params: Vec<f64>,
}

impl BoundCounts {
    /// Largest number of stamps that one instance can give, if there is one.
    pub fn max_count(&self) -> Option<usize> {
        self.model.max_count()
    }

    /// A count drawn for an instance with this label.
    pub fn sample(&self, label: usize, random: &mut Random) -> usize {
        let mut left = random.uniform();
        let mut table = vec![0.0; self.model.max_count().unwrap_or(15) + 1];
        loop {
            self.model.log_probabilities(&self.params, label, &mut table);
            for (count, log_probability) in table.iter().enumerate() {
                left -= log_probability.exp();
                if left < 0.0 {
                    return count;
                }
            }
            // Rounding may leave a small remainder past a bounded table; an unbounded one is continued.
            if self.model.max_count().is_some() || table.len() > 1 << 20 {
                return table.len() - 1;
            }
            left += table.iter().map(|v| v.exp()).sum::<f64>();
            table.resize(4 * table.len(), 0.0);
        }
    }
}

impl Counts {
    /// The model at natural values by name, one entry per parameter, for names that are known at run
    /// time only; [`Bernoulli::at`](super::Bernoulli::at) and the like take numbers.
    pub fn with(&self, values: &[(&str, &[f64])]) -> Result<BoundCounts> {
        let model: Arc<dyn CountModel> = Arc::from(self.build()?);
        Ok(BoundCounts { params: from_natural("counts", model.parameters(), values)?, model })
    }
}
