//! Which noise model fits better?
//!
//! Each is fitted from where the fit ended, then in folds over sessions, and compared by the evidence of the
//! sessions left out, session by session.

use serde::Serialize;

use crate::learning::held_out_evidence;
use crate::model::Fitted;
use crate::model::noise::Kind;
use crate::outcome::HeldOut;
use crate::{Control, Noise, Result, Session};

/// Standard errors from which on a difference is believed.
const BELIEVED: f64 = 2.0;

/// A noise model beside the one of the fit.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FamilyFit {
    /// Its name, as in model files.
    pub noise: String,
    /// By how much the sessions left out have more log evidence than with the noise of the fit.
    pub held_out: HeldOut,
}

impl FamilyFit {
    /// Whether it fits better than the noise of the fit.
    pub fn is_better(&self) -> bool {
        self.held_out.mean > BELIEVED * self.held_out.standard_error
    }

    /// Whether it fits worse.
    pub fn is_worse(&self) -> bool {
        self.held_out.mean < -BELIEVED * self.held_out.standard_error
    }
}

/// All other noise models whose settings have defaults, best first; none for one session. Those under
/// which the stamps are impossible are left out.
pub(super) fn families(
    fitted: &Fitted,
    sessions: &[Session<'_>],
    control: Control<'_>,
) -> Result<Option<Vec<FamilyFit>>> {
    let own = &fitted.model.noise;
    let defaults = |kind: &&'static Kind| -> Option<Noise> {
        let settings: Option<Vec<f64>> = kind.settings.iter().map(|one| one.default).collect();
        kind.noise(&settings?).ok()
    };
    let others: Vec<Noise> = Noise::kinds()
        .iter()
        .filter(|kind| kind.name != own.name())
        .filter_map(|kind| defaults(&kind))
        .collect();
    let quiet = Control { watch: None, ..control };
    let Some(here) = held_out_evidence(fitted, own, sessions, quiet)? else { return Ok(None) };
    control.tell(1, others.len() + 1, None);
    let mut found = Vec::new();
    for (k, noise) in others.iter().enumerate() {
        if let Some(there) = held_out_evidence(fitted, noise, sessions, quiet)? {
            let held_out = HeldOut::difference(&there, &here);
            found.push(FamilyFit { noise: noise.name().to_owned(), held_out });
        }
        control.tell(k + 2, others.len() + 1, None);
    }
    found.sort_by(|a, b| b.held_out.mean.total_cmp(&a.held_out.mean));
    Ok(Some(found))
}
