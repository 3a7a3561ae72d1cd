//! What stands out in a diagnosis, in words.

use super::{Diagnosis, Distance, FamilyFit, Remedy, SessionFit};
use crate::inspection::{count, names, three_digits};

/// Sessions that are told one by one.
const TOLD: usize = 10;
/// Standard errors from which on stamps are too many or too few.
const SURPLUS: f64 = 2.0;

/// Whether a session is outside of a band.
type IsOutside = fn(&SessionFit) -> bool;

impl Diagnosis {
    /// What stands out, a sentence each; `unit` stands behind times, such as " s".
    pub fn remarks(&self, unit: &str) -> Vec<String> {
        let mut all: Vec<String> = self.numbers().into_iter().collect();
        all.extend(self.distances());
        all.extend(self.drift(unit));
        let odd: Vec<&SessionFit> = self.sessions.iter().filter(|own| own.is_odd()).collect();
        all.extend(odd.iter().take(TOLD).map(|own| session(own, unit)));
        if odd.len() > TOLD {
            let more = count(odd.len() - TOLD, "more session does", "more sessions do");
            all.push(format!("{more} not fit"));
        }
        all.extend(self.families.as_deref().map(|families| family(&self.noise, families)));
        all.extend(self.priors.iter().flatten().filter(|own| !own.moved.is_empty()).map(|own| {
            let moved = own.moved.iter().map(|one| {
                let (from, to) = (three_digits(one.from), three_digits(one.to));
                format!("{} goes from {from} to {to}", one.parameter)
            });
            let strength = if own.strength < 1.0 { "half" } else { "twice" };
            let moved = moved.collect::<Vec<_>>().join(", ");
            format!("the prior on {} matters: at {strength} its strength {moved}", own.prior)
        }));
        all
    }

    /// Whether there are more stamps than expected, or fewer.
    fn numbers(&self) -> Option<String> {
        let side = if self.surplus > 0.0 { "more" } else { "fewer" };
        let (stamps, expected) = (self.stamps, three_digits(self.expected));
        let errors = three_digits(self.surplus.abs());
        (self.surplus.abs() > SURPLUS).then(|| {
            format!(
                "there are {side} stamps than the model expects, {stamps} where {expected} were \
                 expected ({errors} standard errors, given those before)"
            )
        })
    }

    /// What the bands say of all stamps, and of sessions.
    fn distances(&self) -> Vec<String> {
        let questions: [(Distance, IsOutside, [&str; 3]); 2] = [
            (self.residuals, |own| own.residuals.is_outside(), RESIDUALS),
            (self.delays, |own| own.delays.is_outside(), DELAYS),
        ];
        let mut all = Vec::new();
        for (overall, is_outside, [good, bad, by_session]) in questions {
            let [distance, band] = [overall.distance, overall.band].map(three_digits);
            let word = if overall.is_outside() { bad } else { good };
            all.push(format!("{word} (distance {distance}; chance allows {band})"));
            let outside: Vec<&str> = self
                .sessions
                .iter()
                .filter(|own| is_outside(own))
                .map(|own| own.session.as_str())
                .collect();
            // Three standard errors above one in twenty.
            let sessions = self.sessions.len() as f64;
            let by_chance = 0.05 * sessions + 3.0 * (0.0475 * sessions).sqrt();
            if outside.len() as f64 > by_chance.max(1.0) {
                let of = count(self.sessions.len(), "session", "sessions");
                all.push(format!(
                    "{by_session} in {} of {of}, where chance would have it in one of twenty: {}",
                    outside.len(),
                    names(&outside)
                ));
            }
        }
        all
    }

    fn drift(&self, unit: &str) -> Vec<String> {
        let slopes = [
            (self.over_session, "from the beginning to the end of a session"),
            (self.over_day, "with every hour of the day"),
        ];
        let clear = slopes.into_iter().filter_map(|(slope, over)| Some((slope?, over)));
        clear
            .filter(|(slope, _)| slope.is_clear())
            .map(|(slope, over)| {
                let side = if slope.slope > 0.0 { "later" } else { "earlier" };
                let size = three_digits(slope.slope.abs());
                let error = three_digits(slope.standard_error);
                format!("presses get {side} by {size}{unit} {over} (standard error {error}{unit})")
            })
            .collect()
    }
}

/// That gaps between stamps are as expected, that they are not, and in which sessions they are not.
const RESIDUALS: [&str; 3] = [
    "stamps come when and as often as the model expects them",
    "stamps do not come when or as often as the model expects them",
    "stamps do not come when or as often as expected",
];
/// The same of delays.
const DELAYS: [&str; 3] = [
    "delays are distributed as was learned",
    "delays are not distributed as was learned: another noise model, or people who differ?",
    "delays are not distributed as was learned",
];

/// A session that does not fit, and what would mend it.
fn session(own: &SessionFit, unit: &str) -> String {
    let name = names(&[&own.session]);
    let how = match own.remedy {
        Some(Remedy::Shift { by, .. }) => {
            let side = if by < 0.0 { "later" } else { "earlier" };
            let size = three_digits(by.abs());
            format!(
                "its stamps are {size}{unit} {side} than those of the others: a clock, or another \
                 person; shift them by {}{unit}",
                three_digits(by)
            )
        }
        Some(Remedy::Spread { factor, .. }) => format!(
            "its presses scatter {} times as much as those of the others: another person?",
            three_digits(factor)
        ),
        Some(Remedy::Unit { factor, .. }) => {
            format!("its stamps are in another unit: multiply them by {}", three_digits(factor))
        }
        None => format!(
            "it has {} deviations less evidence per stamp than the others, {} where {} were \
             expected, and no shift, spread or unit would mend that",
            three_digits(-own.deviations.unwrap_or(0.0)),
            count(own.stamps, "stamp", "stamps"),
            three_digits(own.expected)
        ),
    };
    let gain = own.remedy.map(|remedy| three_digits(remedy.gain()));
    let gain = gain.map_or(String::new(), |gain| format!(" (log evidence + {gain})"));
    format!("session {name} does not fit: {how}{gain}")
}

/// Which noise fits best, if that can be told.
fn family(own: &str, others: &[FamilyFit]) -> String {
    let named = |is: fn(&&FamilyFit) -> bool| -> Vec<&str> {
        others.iter().filter(is).map(|one| one.noise.as_str()).collect()
    };
    if let Some(best) = others.iter().find(|one| one.is_better()) {
        let [mean, error] = [best.held_out.mean, best.held_out.standard_error].map(three_digits);
        return format!(
            "{} noise fits better than {own} noise: sessions left out have {mean} more log evidence \
             (standard error {error})",
            best.noise
        );
    }
    let equal = named(|one| !one.is_worse());
    match equal.is_empty() {
        true => format!("{own} noise fits best, by sessions left out"),
        false => format!("cannot tell {own} noise from {} by sessions left out", equal.join(", ")),
    }
}
