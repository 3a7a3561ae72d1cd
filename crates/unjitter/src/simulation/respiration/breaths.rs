//! People, and the breaths of one session.

use super::Respiration;
use crate::math::Random;

/// Extra breaths before the first and after the last: cycle detection loses those at the ends.
const MARGIN: usize = 2;

/// The characteristics of one person.
#[derive(Debug)]
pub(super) struct Subject {
    /// Usual duration of a breath at rest, in seconds.
    period: f64,
    /// Share of it that is inhalation.
    inhalation: f64,
    /// Depth of an ordinary breath, in units of the sensor.
    pub(super) gain: f64,
    /// The sensor's value between breaths.
    pub(super) level: f64,
    /// This person's puff, at full strength.
    puff: Gesture,
}

impl Subject {
    pub(super) fn new(random: &mut Random) -> Self {
        let mut spread = |middle: f64, sd: f64| middle * (sd * random.normal()).exp();
        Self {
            period: spread(3.6, 0.12),
            inhalation: spread(0.36, 0.06),
            gain: spread(600.0, 0.2),
            level: spread(1500.0, 0.05),
            puff: Gesture {
                depth: spread(2.0, 0.08),
                inhalation: spread(1.6, 0.08),
                hold: spread(0.8, 0.2),
                exhalation: spread(1.5, 0.08),
            },
        }
    }
}

/// The difference of a special breath from the ordinary one it replaces.
#[derive(Debug, Clone, Copy)]
struct Gesture {
    /// Factor of the depth.
    depth: f64,
    /// Factor of the duration of inhalation.
    inhalation: f64,
    /// Duration of holding the breath, in seconds.
    hold: f64,
    /// Factor of the duration of exhalation.
    exhalation: f64,
}

impl Gesture {
    const SIGH: Self = Self { depth: 2.4, inhalation: 1.3, hold: 0.05, exhalation: 1.2 };
    const TALK: Self = Self { depth: 0.8, inhalation: 0.5, hold: 0.05, exhalation: 1.5 };

    /// Changes `breath` by a gesture of the given strength: 0 changes nothing, 1 is the full gesture.
    fn apply(self, breath: &mut Breath, strength: f64) {
        breath.depth *= self.depth.powf(strength);
        breath.inhalation *= self.inhalation.powf(strength);
        breath.exhalation *= self.exhalation.powf(strength);
        breath.hold += strength * self.hold;
    }
}

/// One breath; durations in seconds, depth 1 is ordinary.
#[derive(Debug, Clone)]
pub(super) struct Breath {
    /// When inhalation begins.
    pub(super) start: f64,
    pub(super) inhalation: f64,
    pub(super) hold: f64,
    pub(super) exhalation: f64,
    pub(super) pause: f64,
    pub(super) depth: f64,
    /// Fullness of the chest at its end.
    pub(super) rest: f64,
    /// Unsteadiness of exhalation, as a share of the depth.
    pub(super) unsteadiness: f64,
    pub(super) is_puff: bool,
}

impl Breath {
    pub(super) fn duration(&self) -> f64 {
        self.inhalation + self.hold + self.exhalation + self.pause
    }

    pub(super) fn end(&self) -> f64 {
        self.start + self.duration()
    }
}

/// A value that wanders about zero: x ← r·x + noise, with the given long-term standard deviation.
#[derive(Debug)]
struct Wander {
    value: f64,
    memory: f64,
    sd: f64,
}

impl Wander {
    fn new(memory: f64, sd: f64, random: &mut Random) -> Self {
        Self { value: sd * random.normal(), memory, sd }
    }

    fn step(&mut self, random: &mut Random) -> f64 {
        let fresh = (1.0 - self.memory * self.memory).sqrt() * self.sd;
        self.value = self.memory * self.value + fresh * random.normal();
        self.value
    }
}

/// The breaths of one session: `others` ordinary, talking or sighing ones, with `puffs` in one
/// stretch among them, and a few at both ends.
pub(super) fn sequence(
    subject: &Subject,
    puffs: usize,
    others: usize,
    options: &Respiration,
    random: &mut Random,
) -> Vec<Breath> {
    let plan = plan(puffs, others, random);
    let mut pace = Wander::new(0.95, 0.12, random);
    let mut depth = Wander::new(0.9, 0.15, random);
    let mut rest = Wander::new(0.7, 0.06, random);
    let mut talks = false;
    let mut start = 0.0;
    let mut breaths = Vec::with_capacity(plan.len());
    for is_puff in plan {
        // Talk comes in bouts of ten breaths or so.
        let turns = if talks { 0.1 } else { 0.1 * options.talking / (1.0 - options.talking) };
        talks ^= random.uniform() < turns;
        let duration = subject.period * (pace.step(random) + 0.15 * random.normal()).exp();
        let inhalation = duration * subject.inhalation * (0.12 * random.normal()).exp();
        let pause = duration * 0.4 * random.uniform();
        let mut breath = Breath {
            start,
            inhalation,
            hold: 0.0,
            exhalation: (duration - inhalation - pause).max(0.3 * duration),
            pause,
            depth: (depth.step(random) + 0.2 * random.normal()).exp(),
            rest: rest.step(random),
            unsteadiness: 0.0,
            is_puff,
        };
        if is_puff {
            subject.puff.apply(&mut breath, puff_strength(options.overlap, random));
        } else {
            disguise(&mut breath, subject, talks, options, random);
        }
        start = breath.end();
        breaths.push(breath);
    }
    breaths
}

/// From slightly more than a full puff down to one that hardly shows.
fn puff_strength(overlap: f64, random: &mut Random) -> f64 {
    (1.2 - overlap * random.gamma(2.0)).max(0.3)
}

/// Variations of a breath that is no puff.
fn disguise(
    breath: &mut Breath,
    subject: &Subject,
    talks: bool,
    options: &Respiration,
    random: &mut Random,
) {
    if random.uniform() < options.sighs {
        let strength = 0.3 + 0.8 * random.uniform();
        Gesture::SIGH.apply(breath, strength);
        // Some people hold a sigh, which the signal cannot distinguish from a puff.
        if random.uniform() < options.overlap {
            breath.hold += subject.puff.hold * random.uniform();
            breath.exhalation *= subject.puff.exhalation.powf(random.uniform());
        }
    } else if talks {
        Gesture::TALK.apply(breath, 0.5 + random.uniform());
        breath.exhalation *= (0.3 * random.normal()).exp();
        breath.pause *= 0.3;
        breath.unsteadiness = 0.1 * random.uniform();
    }
}

/// Positions of the puffs: one stretch, with at least one other breath between two of them if there are enough.
fn plan(puffs: usize, others: usize, random: &mut Random) -> Vec<bool> {
    let most = others.checked_div(puffs).unwrap_or(0);
    let mut gaps: Vec<usize> =
        (0..puffs).map(|_| (1 + random.gamma(2.0).floor() as usize * 2).min(most)).collect();
    let outside = others - gaps.iter().sum::<usize>();
    let before = (outside as f64 * (0.2 + 0.6 * random.uniform())) as usize;
    if let Some(first) = gaps.first_mut() {
        *first += before;
    }
    let mut plan = vec![false; MARGIN];
    for gap in gaps {
        plan.extend(std::iter::repeat_n(false, gap));
        plan.push(true);
    }
    plan.resize(MARGIN + puffs + others + MARGIN, false);
    plan
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_has_every_puff_and_every_other_breath() {
        let mut random = Random::new(0);
        for (puffs, others) in [(14, 245), (3, 4), (5, 3), (0, 30)] {
            let plan = plan(puffs, others, &mut random);
            assert_eq!(plan.iter().filter(|&&is_puff| is_puff).count(), puffs);
            assert_eq!(plan.len(), puffs + others + 2 * MARGIN);
        }
    }

    #[test]
    fn two_puffs_have_a_breath_between_them() {
        let plan = plan(14, 245, &mut Random::new(1));
        assert!(!plan.windows(2).any(|pair| pair[0] && pair[1]));
    }

    #[test]
    fn a_wandering_value_keeps_its_spread() {
        let mut random = Random::new(2);
        let mut wander = Wander::new(0.5, 2.0, &mut random);
        let squares: f64 = (0..20_000).map(|_| wander.step(&mut random).powi(2)).sum();
        // Standard error of the variance: 4·√(2/20000 · (1 + r²)/(1 − r²)) = 0.05; five of them.
        assert!((squares / 20_000.0 - 4.0).abs() < 0.25, "{squares}");
    }
}
