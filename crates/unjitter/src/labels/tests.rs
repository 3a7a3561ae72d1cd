//! Sums over labels and stamps against enumeration.

mod band;
mod errors;
mod exactly;
mod extremes;
mod independent;
mod settling;

use super::scene::{Habit, Scene, Source, Stream};
use super::sums::Effort;
use super::*;
use crate::inference::{DelayDensity, Order, Stamp, Stamped, Timeline};
use crate::math::{Random, log_add};

/// Riders agree wherever there are stamps.
const AGREEING: Effort = Effort { most_states: 0, ..Effort::USUAL };

/// Normal delays.
struct Normal {
    delay: f64,
    spread: f64,
}

impl DelayDensity for Normal {
    fn log_density(&self, delays: &[f64], out: &mut [f64]) {
        for (out, delay) in out.iter_mut().zip(delays) {
            let q = (delay - self.delay) / self.spread;
            *out = self.log_peak() - 0.5 * q * q;
        }
    }

    fn log_peak(&self) -> f64 {
        -0.5 * std::f64::consts::TAU.ln() - self.spread.ln()
    }

    fn reach(&self, log_drop: f64) -> (f64, f64) {
        let reach = self.spread * (2.0 * log_drop).sqrt();
        (self.delay - reach, self.delay + reach)
    }

    fn log_mean_density(&self, _: &[f64], _: f64, _: &mut [f64]) {
        unreachable!("all times are known");
    }
}

/// One stream of a case: its stamps by what they are recorded as.
#[derive(Clone)]
struct Heard {
    variable: Variable,
    habits: Vec<Habit>,
    order: Order,
    recorded: Vec<Vec<f64>>,
    stamps: Vec<Vec<Stamp>>,
}

#[derive(Clone)]
struct Case {
    times: Vec<f64>,
    classes: usize,
    rates: Option<Rates>,
    scores: Vec<f64>,
    known: Vec<Option<usize>>,
    spread: f64,
    log_background: f64,
    heard: Vec<Heard>,
}

/// What enumeration finds.
struct Enumerated {
    log_evidence: f64,
    presence: Vec<f64>,
    missed: Vec<f64>,
    /// By stream, source, stamp.
    stamps: Vec<Vec<Vec<Places>>>,
}

/// Probabilities that a stamp came from instances, and from classes.
type Places = (Vec<f64>, Vec<f64>);

impl Case {
    /// Runs of about two instances, and this many stamps about each of these variables.
    fn draw(classes: usize, about: &[(Variable, Order)], stamps: usize, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let mut time = 0.0;
        let mut next = || {
            time += 0.4 + random.uniform();
            time
        };
        let instances = if classes == 1 { 7 } else { 5 };
        let times: Vec<f64> = (0..instances).map(|_| next()).collect();
        let rates = Rates { onset: 0.4, offset: 0.6 };
        let scores = (0..instances * classes).map(|_| 1.5 * random.normal() - 0.5).collect();
        let heard = about.iter().map(|&(variable, order)| {
            let habit = |_| {
                let given = 0.5 + 0.4 * random.uniform();
                Habit { silent: 1.0 - given, given, further: 0.0 }
            };
            let habits = (0..classes).map(habit).collect();
            let recorded: Vec<Vec<f64>> = (0..classes)
                .map(|m| {
                    (0..classes)
                        .map(|k| if k == m { 0.8 } else { 0.2 / (classes - 1) as f64 })
                        .collect()
                })
                .collect();
            let recorded = if classes == 1 { vec![vec![1.0]] } else { recorded };
            let mut sources = vec![Vec::new(); classes];
            for _ in 0..stamps {
                let at = random.uniform() * (times[instances - 1] + 1.0);
                sources[(random.uniform() * classes as f64) as usize].push(at);
            }
            let sorted = |mut own: Vec<f64>| {
                own.sort_by(f64::total_cmp);
                Stamp::at(&own)
            };
            let stamps = sources.into_iter().map(sorted).collect();
            Heard { variable, habits, order, recorded, stamps }
        });
        let heard = heard.collect();
        Self {
            times,
            classes,
            rates: Some(rates),
            scores,
            known: Vec::new(),
            spread: 0.7,
            log_background: -2.5,
            heard,
        }
    }

    /// Any number of stamps of an event.
    fn sharing(mut self) -> Self {
        for habit in self.heard.iter_mut().flat_map(|own| &mut own.habits) {
            let rate = -habit.silent.ln();
            *habit = Habit { silent: habit.silent, given: habit.silent * rate, further: rate };
        }
        self
    }

    fn densities(&self) -> Vec<Normal> {
        (0..self.heard.len())
            .map(|s| Normal { delay: 0.2 * s as f64, spread: self.spread })
            .collect()
    }

    fn stamped<'a>(
        &'a self,
        density: &'a Normal,
        stamps: &'a [Stamp],
        order: Order,
    ) -> Stamped<'a> {
        let timeline = Timeline::new(&self.times, stamps, 1.0);
        Stamped { log_background: self.log_background, order, ..timeline.with(density) }
    }

    fn chain(&self) -> Chain<'_> {
        Chain::new(&self.times, self.classes, self.rates, &self.scores)
    }

    /// Shows the case as the library sees it.
    fn show<T>(&self, look: impl FnOnce(&Scene<'_>) -> T) -> T {
        let (chain, densities) = (self.chain(), self.densities());
        let mut streams = Vec::new();
        for (own, density) in self.heard.iter().zip(&densities) {
            let mut sources = Vec::new();
            for (stamps, recorded) in own.stamps.iter().zip(&own.recorded) {
                let stamped = self.stamped(density, stamps, own.order);
                sources.push(Source { stamped, recorded: recorded.clone() });
            }
            let (variable, habits, order) = (own.variable, own.habits.clone(), own.order);
            streams.push(Stream { variable, habits, order, sources });
        }
        look(&Scene { chain: &chain, known: &self.known, streams })
    }

    fn summed(&self) -> Summed {
        self.summed_with(Effort::USUAL)
    }

    fn summed_with(&self, effort: Effort) -> Summed {
        let sum = |scene: &Scene<'_>| {
            scene.sum_with(Wanted::Posterior, effort, None, &mut Spare::default())
        };
        self.show(sum).unwrap()
    }

    /// All sequences of labels.
    fn sequences(&self) -> Vec<Vec<usize>> {
        let (n, labels) = (self.times.len(), self.classes + 1);
        let of = |mut code: usize| {
            let next = |_| {
                let label = code % labels;
                code /= labels;
                label
            };
            (0..n).map(next).collect()
        };
        (0..labels.pow(n as u32)).map(of).collect()
    }

    /// The weight of labels without stamps.
    fn log_weight(&self, labels: &[usize]) -> f64 {
        let mut log_weight = 0.0;
        for (i, &y) in labels.iter().enumerate() {
            if y > 0 {
                log_weight += self.scores[i * self.classes + y - 1];
            }
            if let (Some(rates), true) = (self.rates, i > 0) {
                let gap = self.times[i] - self.times[i - 1];
                let transition = rates.transition(gap, self.classes);
                log_weight += transition.kind(labels[i - 1], y).ln();
            }
        }
        log_weight
    }

    /// The class of the event of a kind at an instance.
    fn event(labels: &[usize], variable: Variable, i: usize) -> Option<usize> {
        let here = labels[i];
        let before = if i > 0 { labels[i - 1] } else { 0 };
        let after = labels.get(i + 1).copied().unwrap_or(0);
        let happens = match variable {
            Variable::Onset => here != before,
            Variable::End => here != after,
            Variable::Presence => true,
        };
        (here > 0 && happens).then(|| here - 1)
    }

    fn enumerated(&self) -> Enumerated {
        let (n, k) = (self.times.len(), self.classes);
        let mut found = Enumerated {
            log_evidence: 0.0,
            presence: vec![0.0; n * k],
            missed: vec![0.0; self.heard.len()],
            stamps: self
                .heard
                .iter()
                .map(|own| {
                    own.stamps.iter().map(|s| vec![(vec![0.0; n], vec![0.0; k]); s.len()]).collect()
                })
                .collect(),
        };
        let densities = self.densities();
        let (mut total, mut before): (f64, f64) = (0.0, f64::NEG_INFINITY);
        for labels in self.sequences() {
            let log_weight = self.log_weight(&labels);
            before = log_add(before, log_weight);
            let known = self.known.iter().zip(&labels);
            if known.into_iter().any(|(known, label)| known.is_some_and(|known| known != *label)) {
                continue;
            }
            let streams: Vec<Given> = self
                .heard
                .iter()
                .zip(&densities)
                .map(|(own, density)| self.given(own, density, &labels))
                .collect();
            let weight = log_weight.exp() * streams.iter().map(|own| own.weight).product::<f64>();
            total += weight;
            for (i, &y) in labels.iter().enumerate().filter(|(_, y)| **y > 0) {
                found.presence[i * k + y - 1] += weight;
            }
            for (s, own) in streams.iter().enumerate().filter(|(_, own)| own.weight > 0.0) {
                found.missed[s] += weight * own.missed / own.weight;
                for (l, (source, stamp)) in own.places.iter().enumerate() {
                    let (instances, classes) = &mut found.stamps[s][*source][*stamp];
                    for (i, instance) in instances.iter_mut().enumerate() {
                        let share = weight * own.owners[l][i] / own.weight;
                        *instance += share;
                        if let Some(class) = Self::event(&labels, self.heard[s].variable, i) {
                            classes[class] += share;
                        }
                    }
                }
            }
        }
        found.log_evidence = total.ln() - before;
        found.presence.iter_mut().chain(&mut found.missed).for_each(|p| *p /= total);
        for (instances, classes) in found.stamps.iter_mut().flatten().flatten() {
            instances.iter_mut().chain(classes).for_each(|p| *p /= total);
        }
        found
    }

    /// All ways in which a stream's stamps were given under some labels.
    fn given(&self, own: &Heard, density: &Normal, labels: &[usize]) -> Given {
        let n = labels.len();
        let mut stamps: Vec<(f64, usize, usize)> = Vec::new();
        for (source, all) in own.stamps.iter().enumerate() {
            stamps.extend(all.iter().enumerate().map(|(l, stamp)| (stamp.time, source, l)));
        }
        stamps.sort_by(|a, b| a.0.total_cmp(&b.0));
        let events: Vec<Option<usize>> =
            (0..n).map(|i| Self::event(labels, own.variable, i)).collect();
        let mut given = Given {
            weight: 0.0,
            missed: 0.0,
            places: stamps.iter().map(|&(_, source, stamp)| (source, stamp)).collect(),
            owners: vec![vec![0.0; n]; stamps.len()],
        };
        for code in 0..(n + 1).pow(stamps.len() as u32) {
            let owners: Vec<usize> =
                (0..stamps.len() as u32).map(|l| code / (n + 1).pow(l) % (n + 1)).collect();
            let placed: Vec<usize> = owners.iter().copied().filter(|&i| i < n).collect();
            if own.order == Order::Ordered && !placed.is_sorted() {
                continue;
            }
            let mut weight = 1.0;
            for (&i, &(time, source, _)) in owners.iter().zip(&stamps) {
                if i == n {
                    weight *= self.log_background.exp();
                    continue;
                }
                let mut log_density = [0.0];
                density.log_density(&[time - self.times[i]], &mut log_density);
                weight *= events[i]
                    .map_or(0.0, |class| own.recorded[source][class] * log_density[0].exp());
            }
            let mut missed = 0.0;
            for (i, class) in events.iter().enumerate() {
                let Some(class) = class else { continue };
                let count = owners.iter().filter(|&&owner| owner == i).count() as i32;
                let Habit { silent, given, further } = own.habits[*class];
                weight *= if count == 0 { silent } else { given * further.powi(count - 1) };
                missed += f64::from(u8::from(count == 0));
            }
            given.weight += weight;
            given.missed += weight * missed;
            for (l, &i) in owners.iter().enumerate().filter(|(_, i)| **i < n) {
                given.owners[l][i] += weight;
            }
        }
        given
    }
}

struct Given {
    weight: f64,
    missed: f64,
    places: Vec<(usize, usize)>,
    owners: Vec<Vec<f64>>,
}

/// Largest errors: of log Z, of p(y), of shares and classes of stamps, of the number of missed events.
fn errors(case: &Case, effort: Effort) -> [f64; 4] {
    let (found, want) = (case.summed_with(effort), case.enumerated());
    let far = |a: &[f64], b: &[f64]| {
        assert_eq!(a.len(), b.len());
        a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
    };
    let mut shares: f64 = 0.0;
    let mut missed: f64 = 0.0;
    for (s, own) in found.streams.iter().enumerate() {
        missed =
            missed.max((own.counts.iter().map(|own| own[1]).sum::<f64>() - want.missed[s]).abs());
        for (own, want) in own.stamps.iter().flatten().zip(want.stamps[s].iter().flatten()) {
            let mut all = vec![0.0; case.times.len()];
            let cells = found.shares(own);
            all[own.first..own.first + cells.len()].copy_from_slice(cells);
            shares = shares.max(far(&all, &want.0)).max(far(found.classes(own), &want.1));
        }
    }
    let evidence = (found.log_evidence - want.log_evidence).abs();
    [evidence, far(&found.presence, &want.presence), shares, missed]
}

fn assert_exact(case: &Case, what: &str) {
    for effort in [Effort::USUAL, AGREEING] {
        let errors = errors(case, effort).into_iter().zip(["log Z", "p(y)", "shares", "missed"]);
        for (error, of) in errors {
            // Windows leave out 1e-10 of the background for each stamp; all else is rounding.
            assert!(error < 1e-8, "{what}, {effort:?}: {of} off by {error}");
        }
    }
}

#[test]
fn labels_without_stamps_are_the_enumerated_ones() {
    for seed in 0..10 {
        for classes in [1, 2] {
            let case = Case::draw(classes, &[], 0, seed);
            let chain = case.chain();
            let (got, prior) = (chain.log_normaliser(), chain.presence());
            let mut log_normaliser = f64::NEG_INFINITY;
            let mut presence = vec![0.0; case.times.len() * classes];
            for labels in case.sequences() {
                let log_weight = case.log_weight(&labels);
                log_normaliser = log_add(log_normaliser, log_weight);
                for (i, &y) in labels.iter().enumerate().filter(|(_, y)| **y > 0) {
                    presence[i * classes + y - 1] += log_weight.exp();
                }
            }
            // Thousands of terms of order one: rounding only, here and below.
            assert!((got - log_normaliser).abs() < 1e-11, "seed {seed}");
            for (got, want) in prior.iter().zip(presence) {
                assert!((got - want * (-log_normaliser).exp()).abs() < 1e-12, "seed {seed}");
            }
        }
    }
}

#[test]
fn stamps_in_order_are_summed_exactly() {
    for seed in 0..8 {
        for variable in [Variable::Onset, Variable::End, Variable::Presence] {
            for classes in [1, 2] {
                let case = Case::draw(classes, &[(variable, Order::Ordered)], 3, seed);
                assert_exact(&case, &format!("{variable:?}, {classes} classes, seed {seed}"));
                assert_exact(&case.sharing(), &format!("{variable:?}, {classes}, shared, {seed}"));
            }
        }
    }
}

#[test]
fn one_stamp_is_summed_exactly() {
    for seed in 0..8 {
        for variable in [Variable::Onset, Variable::End, Variable::Presence] {
            for classes in [1, 3] {
                let mut case = Case::draw(classes, &[(variable, Order::Free)], 1, seed);
                assert_exact(&case, &format!("{variable:?}, {classes} classes, seed {seed}"));
                case.rates = None;
                assert_exact(&case, &format!("{variable:?}, independent, seed {seed}"));
                case.known = vec![None; case.times.len()];
                (case.known[1], case.known[3]) = (Some(0), Some(classes));
                assert_exact(&case.sharing(), &format!("{variable:?}, known, seed {seed}"));
            }
        }
    }
}
