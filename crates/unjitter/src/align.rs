//! The place of every stamp, and which stamps are missing or wrong.

mod bouts;
mod runs;

use std::collections::BTreeMap;
use std::ops::Range;

use crate::Session;
use crate::inference::Responsibilities;
use crate::labels::Variable;
use crate::session::Label;

pub use runs::AlignedRun;

/// A session's stamps and instances after alignment.
#[derive(Debug, Clone, PartialEq)]
pub struct Aligned {
    /// One per stamp.
    pub stamps: Vec<AlignedStamp>,
    /// The ends of what was stamped, if the model learned from ends: one per stamp, none where the stamp tells none.
    /// Its quantiles are never earlier than those of the stamp itself. An end that has no possible place from there on
    /// is told as spurious, where the stamp itself is.
    pub ends: Vec<Option<AlignedStamp>>,
    /// One per instance.
    pub instances: Vec<AlignedInstance>,
    /// What is told of classes, if there are several.
    pub classes: Option<AlignedClasses>,
    /// The events, stamped or not, where labels form runs.
    pub runs: Option<Vec<AlignedRun>>,
    /// log p(stamps, known labels | features, times).
    pub log_evidence: f64,
    /// log p(best alignment, stamps, known labels | features, times), for the alignment in
    /// [`AlignedStamp::best_instance`].
    pub best_log_weight: f64,
}

/// Probabilities of the classes of events.
#[derive(Debug, Clone, PartialEq)]
pub struct AlignedClasses {
    /// Their names, in order.
    pub names: Vec<String>,
    /// Probability that an event of each class gave a stamp; one less their sum is that of a stamp from nowhere.
    pub stamps: Vec<Vec<f64>>,
    /// Probability that an event of each class is at an instance, given its features alone.
    pub detector: Vec<Vec<f64>>,
    /// The same given everything.
    pub instances: Vec<Vec<f64>>,
}

impl AlignedClasses {
    /// The most probable class of an event at these instances, of equals the first.
    pub fn of_event(&self, instances: Range<usize>) -> &str {
        let mut sums = vec![0.0; self.names.len()];
        self.instances[instances].iter().for_each(|own| add_all(&mut sums, own));
        &self.names[likeliest(&sums)]
    }

    /// The most probable class of a stamp, and its probability.
    pub fn of_stamp(&self, stamp: usize) -> (&str, f64) {
        let probabilities = &self.stamps[stamp];
        let best = likeliest(probabilities);
        (&self.names[best], probabilities[best])
    }
}

/// The position of the largest number, of equals the first.
fn likeliest(probabilities: &[f64]) -> usize {
    let more = |k: usize, j: usize| if probabilities[j] > probabilities[k] { j } else { k };
    (1..probabilities.len()).fold(0, more)
}

/// Where a stamp belongs. Its time, interval and instance suppose that an instance gave it, also if it
/// probably came from nowhere.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AlignedStamp {
    /// The stamp as it was pressed.
    pub stamp: f64,
    /// Posterior median of the time of its instance: the time of an instance, and never outside `low..=high`.
    pub time: f64,
    /// Earlier end of the interval of that time: its 2.5 % quantile at a level of 95 %.
    pub low: f64,
    /// Later end: its 97.5 % quantile.
    pub high: f64,
    /// Its most probable instance.
    pub instance: usize,
    /// Time of that instance.
    pub instance_time: f64,
    /// Probability that it belongs to that instance, and did not come from nowhere either.
    pub p_instance: f64,
    /// Its instance in the single best alignment of all stamps together; none if it comes from nowhere
    /// there.
    pub best_instance: Option<usize>,
    /// Probability that a negative instance gave it, or none.
    pub p_spurious: f64,
}

/// The posterior of an instance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AlignedInstance {
    /// Its time.
    pub time: f64,
    /// Probability that it is positive, given its features alone.
    pub p_detector: f64,
    /// Probability that it is positive, given everything.
    pub p_positive: f64,
    /// Probability that it is positive and has no stamp. Zero where the session was not annotated. Where labels form runs,
    /// that of a whole event, at its first instance (at its last, if stamps are about ends), and zero elsewhere.
    pub p_missed: f64,
    /// Whether the session was annotated here.
    pub observed: bool,
}

/// An instance that may have given a stamp.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Candidate {
    /// Its position in the session.
    pub instance: usize,
    /// Probability that it gave the stamp.
    pub p: f64,
}

/// An event that somebody stamped, with the stamps of all annotators.
#[derive(Debug, Clone, PartialEq)]
pub struct SeenEvent {
    /// The instance, or the first one.
    pub instance: usize,
    /// Its time.
    pub time: f64,
    /// The time of its last instance, which is the only one if labels are independent.
    pub end: f64,
    /// Probability that it is an event.
    pub p_positive: f64,
    /// Its most probable class, if there are several.
    pub class: Option<String>,
    /// Its stamps, by position among those of the session.
    pub stamps: Vec<usize>,
    /// Who gave them, by position among the annotators of the session, in order.
    pub seen_by: Vec<usize>,
}

impl Aligned {
    /// Runs of which it is more probable than this that they are there and that nobody stamped them.
    pub fn missed_runs(&self, above: f64) -> impl Iterator<Item = &AlignedRun> {
        self.runs.iter().flatten().filter(move |run| run.p_missed > above)
    }

    /// The events that stamps belong to by the best alignment, in order of time: one for all stamps of an instance, or of a
    /// run of them.
    pub fn events(&self, session: &Session<'_>) -> Vec<SeenEvent> {
        let mut events: BTreeMap<usize, SeenEvent> = BTreeMap::new();
        for (l, stamp) in self.stamps.iter().enumerate() {
            let Some(instance) = stamp.best_instance else { continue };
            let (first, own) = self.event_of(instance);
            let event = events.entry(first).or_insert(own);
            event.stamps.push(l);
            event.seen_by.extend(session.annotator_of(l));
        }
        let mut events: Vec<SeenEvent> = events.into_values().collect();
        for event in &mut events {
            event.seen_by.sort_unstable();
            event.seen_by.dedup();
        }
        events
    }

    /// First instance of the event that an instance is of, and the event without stamps.
    fn event_of(&self, instance: usize) -> (usize, SeenEvent) {
        let runs = self.runs.as_deref().unwrap_or_default();
        // They are in order, and no two of them reach to the same instance.
        let next = runs.partition_point(|run| run.reach.end <= instance);
        let run = runs.get(next).filter(|run| run.reach.contains(&instance));
        let AlignedInstance { time, p_positive, .. } = self.instances[instance];
        let (first, last) = run.map_or((instance, instance), |run| (run.first, run.last));
        let (time, end, p_positive) =
            run.map_or((time, time, p_positive), |run| (run.begin, run.end, run.p_positive));
        let class = self.classes.as_ref().map(|own| own.of_event(first..last + 1).to_owned());
        let (stamps, seen_by) = (Vec::new(), Vec::new());
        (first, SeenEvent { instance: first, time, end, p_positive, class, stamps, seen_by })
    }
}

/// How to align.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AlignOptions {
    /// Probability of the interval of a stamp's time.
    pub level: f64,
    /// Draws of the parameters that results are averaged over, if the fit knows how sure it is; with 0
    /// parameters count as known. Draws come in pairs.
    pub draws: usize,
    /// Seed of the draws. The same draws serve all sessions.
    pub seed: u64,
}

impl Default for AlignOptions {
    fn default() -> Self {
        Self { level: 0.95, draws: 32, seed: 0 }
    }
}

/// Posteriors of one session, averaged over parameters.
#[derive(Debug, Default)]
pub(crate) struct Averaged {
    stamps: Vec<Place>,
    /// Where their ends belong; without shares where there is none.
    ends: Vec<Place>,
    /// p(y = 1 | z) and p(y = 1, no stamp | z) by instance.
    instances: Vec<[f64; 2]>,
    /// p(y = k | z) by instance and class; empty if there is one class.
    present: Vec<Vec<f64>>,
    count: f64,
}

/// Where a stamp belongs.
#[derive(Debug, Clone, Default)]
struct Place {
    /// The first instance that it can have come from.
    first: usize,
    /// p(w(i,l) | z) from there on.
    shares: Vec<f64>,
    /// Probability that a positive instance gave it.
    positive: f64,
    /// The same by class; empty if there is one.
    classes: Vec<f64>,
    /// Whose stamp it is, counted from 0. All are of one where there are several classes, since these divide the stamps
    /// of each.
    annotator: usize,
}

/// Adds numbers to sums, of which there may be none yet.
fn add_all(sums: &mut Vec<f64>, own: &[f64]) {
    sums.resize(sums.len().max(own.len()), 0.0);
    sums.iter_mut().zip(own).for_each(|(sum, own)| *sum += own);
}

impl Place {
    fn add(&mut self, first: usize, shares: &[f64], positive: f64, classes: &[f64]) {
        add_all(&mut self.classes, classes);
        if self.shares.is_empty() {
            self.first = first;
        }
        if first < self.first {
            let more = std::iter::repeat_n(0.0, self.first - first);
            self.shares.splice(0..0, more);
            self.first = first;
        }
        let at = first - self.first;
        self.shares.resize(self.shares.len().max(at + shares.len()), 0.0);
        self.shares[at..].iter_mut().zip(shares).for_each(|(sum, own)| *sum += own);
        self.positive += positive;
    }
}

impl Averaged {
    /// Adds posteriors under some parameters: of each stream, whose stamps have these positions among all, and these
    /// probabilities of classes if there are several, and for each instance the probabilities that it is positive, that
    /// it is and nobody stamped it, and that it is of a class.
    pub(crate) fn add<'a>(
        &mut self,
        streams: impl Iterator<Item = (&'a Responsibilities, &'a [usize], &'a [Vec<f64>])>,
        instances: impl Iterator<Item = ([f64; 2], &'a [f64])>,
    ) {
        add_places(&mut self.stamps, streams);
        for (i, ([positive, missed], present)) in instances.enumerate() {
            if !present.is_empty() {
                self.present.resize(self.present.len().max(i + 1), Vec::new());
                add_all(&mut self.present[i], present);
            }
            if self.instances.len() == i {
                self.instances.push([0.0; 2]);
            }
            self.instances[i][0] += positive;
            self.instances[i][1] += missed;
        }
        self.count += 1.0;
    }

    /// Adds where the ends of these stamps belong, under the same parameters.
    pub(crate) fn add_ends<'a>(
        &mut self,
        streams: impl Iterator<Item = (&'a Responsibilities, &'a [usize], &'a [Vec<f64>])>,
    ) {
        add_places(&mut self.ends, streams);
    }

    /// The average of several averages, by how many posteriors they have; none if there is none at all.
    pub(crate) fn of(averages: Vec<Self>) -> Option<Self> {
        averages.into_iter().filter(|own| own.count > 0.0).reduce(|mut all, own| {
            let ends = all.ends.iter_mut().zip(&own.ends);
            for (place, own) in all.stamps.iter_mut().zip(&own.stamps).chain(ends) {
                place.add(own.first, &own.shares, own.positive, &own.classes);
            }
            for (sums, own) in all.present.iter_mut().zip(&own.present) {
                add_all(sums, own);
            }
            for (sums, own) in all.instances.iter_mut().zip(own.instances) {
                sums.iter_mut().zip(own).for_each(|(sum, own)| *sum += own);
            }
            all.count += own.count;
            all
        })
    }

    /// The events among the instances of the session, where labels form runs; each that was missed is then told once.
    pub(crate) fn aligned_runs(
        &self,
        observed: &[usize],
        instances: &mut [AlignedInstance],
        about: Variable,
    ) -> Vec<AlignedRun> {
        let annotators = self.stamps.iter().map(|place| place.annotator + 1).max().unwrap_or(0);
        let mut stamps = vec![vec![0.0; instances.len()]; annotators];
        for Place { first, shares, annotator, .. } in &self.stamps {
            for (&i, share) in observed[*first..].iter().zip(shares) {
                stamps[*annotator][i] += share / self.count;
            }
        }
        let mut classes = vec![None; instances.len()];
        for (&i, present) in observed.iter().zip(&self.present) {
            classes[i] = Some(likeliest(present));
        }
        let found = runs::runs(instances, &classes, &stamps);
        runs::tell_once(instances, &found, about);
        found
    }

    /// Where every stamp belongs, with an interval at this level. `observed` maps instances to those of the
    /// session, also those of the best alignment.
    pub(crate) fn aligned_stamps(
        &self,
        session: &Session,
        observed: &[usize],
        best: &[Option<usize>],
        level: f64,
    ) -> Vec<AlignedStamp> {
        let place = |(l, place): (usize, &Place)| {
            let stamp = (session.stamps()[l], best[l].map(|instance| observed[instance]));
            match self.end(l) {
                None => aligned_stamp(session, observed, place, self.count, level, stamp),
                Some(end) => {
                    let place = bouts::before(place, end);
                    aligned_stamp(session, observed, &place, self.count, level, stamp)
                }
            }
        };
        self.stamps.iter().enumerate().map(place).collect()
    }

    /// The same for the ends of stamps; empty if there is none.
    pub(crate) fn aligned_ends(
        &self,
        session: &Session,
        observed: &[usize],
        best: &[Option<usize>],
        level: f64,
    ) -> Vec<Option<AlignedStamp>> {
        let place = |(l, place): (usize, &Place)| {
            let stamp = (session.end_of(l)?, best[l].map(|instance| observed[instance]));
            let told = |place: &Place, stamp| {
                aligned_stamp(session, observed, place, self.count, level, stamp)
            };
            Some(match bouts::after(self.end(l)?, place) {
                Some(place) => told(&place, stamp),
                // It ends nothing that begins there.
                None => AlignedStamp {
                    p_instance: 0.0,
                    p_spurious: 1.0,
                    ..told(place, (stamp.0, None))
                },
            })
        };
        match self.ends.is_empty() {
            true => Vec::new(),
            false => self.stamps.iter().enumerate().map(place).collect(),
        }
    }

    /// Where the end of a stamp belongs, if it has one.
    fn end(&self, stamp: usize) -> Option<&Place> {
        self.ends.get(stamp).filter(|place| !place.shares.is_empty())
    }

    /// Where each stamp may have come from, in order of time: instances with at least this probability. One minus
    /// the sum of all is the probability that it came from nowhere.
    pub(crate) fn candidates(&self, observed: &[usize], at_least: f64) -> Vec<Vec<Candidate>> {
        let of = |place: &Place| {
            let all = place.shares.iter().enumerate();
            let all = all.map(|(k, share)| Candidate {
                instance: observed[place.first + k],
                p: share / self.count,
            });
            all.filter(|candidate| candidate.p >= at_least).collect()
        };
        self.stamps.iter().map(of).collect()
    }

    /// What is told of classes of these names, given the detector's probabilities by instance and class.
    pub(crate) fn aligned_classes(
        &self,
        session: &Session,
        observed: &[usize],
        names: &[String],
        p_detector: &[f64],
    ) -> AlignedClasses {
        let average = |sums: &[f64]| sums.iter().map(|sum| sum / self.count).collect();
        let detector: Vec<Vec<f64>> =
            p_detector.chunks_exact(names.len()).map(<[f64]>::to_vec).collect();
        let mut instances: Vec<Vec<f64>> = detector
            .iter()
            .enumerate()
            .map(|(i, own)| unseen_classes(session, names, own, i))
            .collect();
        for (&i, present) in observed.iter().zip(&self.present) {
            instances[i] = average(present);
        }
        let stamps = self.stamps.iter().map(|place| average(&place.classes)).collect();
        AlignedClasses { names: names.to_vec(), stamps, detector, instances }
    }

    /// The posterior of every instance of the session, each with its probability without stamps.
    pub(crate) fn aligned_instances(
        &self,
        session: &Session,
        observed: &[usize],
        p_detector: &[f64],
    ) -> Vec<AlignedInstance> {
        let mut instances: Vec<AlignedInstance> =
            (0..session.len()).map(|i| unseen(session, p_detector[i], i)).collect();
        for (&i, [positive, missed]) in observed.iter().zip(&self.instances) {
            instances[i].p_positive = positive / self.count;
            instances[i].p_missed = missed / self.count;
            instances[i].observed = true;
        }
        instances
    }
}

/// Probabilities of classes without the information of the stamps.
fn unseen_classes(
    session: &Session,
    names: &[String],
    p_detector: &[f64],
    instance: usize,
) -> Vec<f64> {
    let Some(label) = session.class_label(instance) else { return p_detector.to_vec() };
    let is_own = |name: &String| label == Label::Event(name);
    names.iter().map(|name| f64::from(u8::from(is_own(name)))).collect()
}

/// An instance without the information of the stamps.
fn unseen(session: &Session, p_detector: f64, instance: usize) -> AlignedInstance {
    let known = session.label(instance).map(|label| f64::from(u8::from(label)));
    AlignedInstance {
        time: session.times()[instance],
        p_detector,
        p_positive: known.unwrap_or(p_detector),
        p_missed: 0.0,
        observed: false,
    }
}

/// Adds where the stamps of streams belong, each stamp at its position.
fn add_places<'a>(
    places: &mut Vec<Place>,
    streams: impl Iterator<Item = (&'a Responsibilities, &'a [usize], &'a [Vec<f64>])>,
) {
    for (number, (own, positions, classes)) in streams.enumerate() {
        let most = positions.iter().map(|last| last + 1).max().unwrap_or(0);
        places.resize(places.len().max(most), Place::default());
        for (l, &position) in positions.iter().enumerate() {
            let positive = own.of_stamp_positive(l).iter().sum();
            let classes = classes.get(l).map_or(&[][..], Vec::as_slice);
            places[position].annotator = if classes.is_empty() { number } else { 0 };
            places[position].add(own.instances(l).start, own.of_stamp(l), positive, classes);
        }
    }
}

/// A stamp in its place; `stamp` is its time as it was pressed and its instance in the best alignment.
fn aligned_stamp(
    session: &Session,
    observed: &[usize],
    place: &Place,
    count: f64,
    level: f64,
    (stamp, best_instance): (f64, Option<usize>),
) -> AlignedStamp {
    let Place { first, shares, positive, .. } = place;
    let candidates = &observed[*first..*first + shares.len()];
    let time_of = |i: usize| session.times()[i];
    let owned: f64 = shares.iter().sum();
    // The earliest instance up to which the stamp belongs with this probability, if it has an owner at
    // all. Every level is compared with the same sum, so rounding cannot put quantiles out of order.
    let quantile = |level: f64| {
        let mut below = 0.0;
        let reached = |p: &f64| {
            below += p;
            below >= level * owned
        };
        let k = shares.iter().position(reached).unwrap_or(shares.len() - 1);
        time_of(candidates[k])
    };
    let mut likeliest = 0;
    for (k, p) in shares.iter().enumerate() {
        if *p > shares[likeliest] {
            likeliest = k;
        }
    }
    AlignedStamp {
        stamp,
        time: quantile(0.5),
        low: quantile((1.0 - level) / 2.0),
        high: quantile((1.0 + level) / 2.0),
        instance: candidates[likeliest],
        instance_time: time_of(candidates[likeliest]),
        p_instance: shares[likeliest] / count,
        best_instance,
        // Negative only by rounding.
        p_spurious: (1.0 - positive / count).max(0.0),
    }
}

#[cfg(test)]
mod tests {
    use ndarray::Array2;

    use super::*;
    use crate::inference::{Lattice, Stamp, Stamped, Timeline};
    use crate::model::counts::Bernoulli;
    use crate::model::noise::Gaussian;

    /// Four likely events at 0, 1, 2, 3, with presses that are half a unit off.
    fn aligned(stamps: &[f64], log_background: f64) -> Vec<AlignedStamp> {
        let times = vec![0.0, 1.0, 2.0, 3.0];
        let features = Array2::<f64>::zeros((4, 1));
        let session = Session::new("night", features, times, stamps.to_vec()).unwrap();
        let (counts, noise) = (Bernoulli::at(0.05, 0.9).unwrap(), Gaussian::at(0.0, 0.5).unwrap());
        let (tables, density) = (counts.tables(stamps.len()), noise.density());
        let placed = Stamp::at(stamps);
        let stamped = Timeline::new(session.times(), &placed, 1.0).with(&density);
        let stamped = Stamped { log_background, ..stamped };
        let lattice = Lattice { stamped, log_odds: &[1.0; 4], counts: &tables };
        let found = lattice.marginals().unwrap();
        let best = lattice.best_alignment(&found);
        let mut posterior = Averaged::default();
        let positions: Vec<usize> = (0..stamps.len()).collect();
        let streams = [(&found.responsibilities, positions.as_slice(), &[][..])];
        posterior.add(streams.into_iter(), std::iter::empty());
        posterior.aligned_stamps(&session, &[0, 1, 2, 3], &best.instances, 0.95)
    }

    #[test]
    fn a_place_supposes_an_owner() {
        // So strong a background that the press came from nowhere, if not from 1 or, less likely, 2.
        let strong = aligned(&[1.2], 4.0)[0];
        assert!(strong.p_instance < 0.1, "{strong:?}");
        assert!(strong.p_spurious > 0.9, "{strong:?}");
        assert_eq!((strong.instance, strong.best_instance), (1, None));
        let none = aligned(&[1.2], f64::NEG_INFINITY)[0];
        assert_eq!(none.best_instance, Some(1));
        // The odds of the instances are the same with and without a background.
        let place = |stamp: AlignedStamp| (stamp.time, stamp.low, stamp.high, stamp.instance_time);
        assert_eq!(place(strong), place(none));
        assert!(none.high > none.low, "{none:?}");
    }

    #[test]
    fn the_event_of_an_instance_is_the_run_that_reaches_to_it() {
        let run = |first: usize, last: usize, reach| AlignedRun {
            first,
            last,
            begin: first as f64,
            end: last as f64,
            reach,
            p_positive: 0.75,
            p_detector: 0.5,
            p_missed: 0.25,
        };
        let instance = |i: usize| AlignedInstance {
            time: i as f64,
            p_detector: 0.5,
            p_positive: 0.125,
            p_missed: 0.0,
            observed: true,
        };
        let aligned = Aligned {
            stamps: Vec::new(),
            ends: Vec::new(),
            instances: (0..12).map(instance).collect(),
            classes: None,
            runs: Some(vec![run(2, 3, 1..5), run(5, 5, 5..6), run(9, 10, 8..11)]),
            log_evidence: 0.0,
            best_log_weight: 0.0,
        };
        for i in 0..12 {
            let want = match i {
                1..5 => (2, 2.0, 3.0, 0.75),
                5 => (5, 5.0, 5.0, 0.75),
                8..11 => (9, 9.0, 10.0, 0.75),
                _ => (i, i as f64, i as f64, 0.125),
            };
            let (first, event) = aligned.event_of(i);
            assert_eq!((first, event.time, event.end, event.p_positive), want, "{i}");
        }
    }

    /// Where the stamps at 1.2 of four instances and their ends belong, with these shares of instances.
    fn bout(start: &[f64], end: &[f64]) -> (AlignedStamp, AlignedStamp) {
        let times = vec![0.0, 1.0, 2.0, 3.0];
        let features = Array2::<f64>::zeros((4, 1));
        let session = Session::new("night", features, times, vec![1.2]).unwrap();
        let session = session.with_ends(vec![Some(2.2)]).unwrap();
        let place = |shares: &[f64]| Place {
            shares: shares.to_vec(),
            positive: shares.iter().sum(),
            ..Place::default()
        };
        let (stamps, ends) = (vec![place(start)], vec![place(end)]);
        let averaged = Averaged { stamps, ends, count: 1.0, ..Averaged::default() };
        let (observed, best) = ([0, 1, 2, 3], [Some(1)]);
        let own = averaged.aligned_stamps(&session, &observed, &best, 0.95)[0];
        (own, averaged.aligned_ends(&session, &observed, &best, 0.95)[0].unwrap())
    }

    #[test]
    fn no_bout_ends_before_it_begins() {
        let (start, end) = bout(&[0.0, 0.0, 0.2, 0.6], &[0.5, 0.3, 0.0, 0.0]);
        assert_eq!((start.time, start.low, start.high, start.p_instance), (3.0, 2.0, 3.0, 0.6));
        assert_eq!((end.stamp, end.time, end.low, end.high), (2.2, 3.0, 2.0, 3.0));
        assert_eq!((end.p_instance, end.p_spurious, end.best_instance), (0.0, 1.0, None));
        // One that may follow is only moved there.
        let (start, end) = bout(&[0.0, 0.4, 0.0, 0.6], &[0.5, 0.3, 0.2, 0.0]);
        assert_eq!((start.time, end.time), (1.0, 1.0));
        assert!(end.p_spurious < 1e-15 && end.best_instance == Some(1), "{end:?}");
    }

    #[test]
    fn a_stamp_that_no_instance_gave_is_placed_at_the_nearest() {
        let far = aligned(&[0.1, 1000.0], -2.0)[1];
        assert_eq!((far.time, far.low, far.high, far.instance), (3.0, 3.0, 3.0, 3));
        assert_eq!((far.p_instance, far.p_spurious, far.best_instance), (0.0, 1.0, None));
    }
}
