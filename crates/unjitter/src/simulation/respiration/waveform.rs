//! The curve of a chest that breathes, before any sensor.
//!
//! Inhalation is half a cosine; a held breath sinks a little; exhalation falls fast at first and
//! then slowly; a pause is flat.

use std::f64::consts::{PI, TAU};

use super::breaths::Breath;

/// Frequency at which talk makes exhalation unsteady, in Hz.
const SYLLABLES: f64 = 1.6;

/// Share of its depth that a held breath loses per second.
const LEAK: f64 = 0.05;

/// Fullness of the chest `rate` times a second, from the first breath to the end of the last; zero
/// is rest, one an ordinary breath.
pub(super) fn draw(breaths: &[Breath], rate: f64) -> Vec<f64> {
    let mut curve = Vec::new();
    let mut rest = 0.0;
    for breath in breaths {
        while (curve.len() as f64) / rate < breath.end() {
            let at = curve.len() as f64 / rate - breath.start;
            curve.push(fullness(breath, rest, at));
        }
        rest = breath.rest;
    }
    curve
}

/// Fullness `at` seconds into `breath`, which began at `rest`.
fn fullness(breath: &Breath, rest: f64, at: f64) -> f64 {
    let top = rest + breath.depth;
    if at < breath.inhalation {
        return rest + breath.depth * 0.5 * (1.0 - (PI * at / breath.inhalation).cos());
    }
    let held = (at - breath.inhalation).min(breath.hold);
    let top = top - breath.depth * LEAK * held;
    let out = at - breath.inhalation - held;
    if out >= breath.exhalation {
        return breath.rest;
    }
    let share = out / breath.exhalation;
    let fall = 0.5 * (1.0 + (PI * share.powf(0.75)).cos());
    let wobble = breath.unsteadiness * breath.depth * (TAU * SYLLABLES * out).sin();
    breath.rest + (top - breath.rest) * fall + wobble * (PI * share).sin()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_curve_is_continuous_and_as_deep_as_the_breath() {
        let breath = Breath {
            start: 0.0,
            inhalation: 1.0,
            hold: 0.5,
            exhalation: 2.0,
            pause: 0.5,
            depth: 1.5,
            rest: 0.1,
            unsteadiness: 0.1,
            is_puff: false,
        };
        let curve = draw(&[breath], 1000.0);
        assert_eq!(curve.len(), 4000);
        // Steepest: depth·(π/2)·0.001 a step in inhalation.
        assert!(curve.windows(2).all(|pair| (pair[1] - pair[0]).abs() < 0.005));
        assert!((curve[1000] - 1.5).abs() < 1e-12); // one cosine
        // Half a second at a loss of 5 % a second.
        assert!((curve[1500] - 1.5 * 0.975).abs() < 1e-12);
        assert_eq!((curve[0], curve[3999]), (0.0, 0.1));
    }
}
