//! Sessions with events of three classes, stamped by somebody who confuses them.

use ndarray::Array2;
use unjitter::math::Random;
use unjitter::session::Label;
use unjitter::simulation::Annotator;
use unjitter::{Control, FitOptions, Fitted, Model, Session};

pub(crate) const NAMES: [&str; 3] = ["cough", "sneeze", "yawn"];

pub(crate) fn confusion() -> Vec<Vec<f64>> {
    vec![vec![0.85, 0.15, 0.0], vec![0.05, 0.95, 0.0], vec![0.0, 0.2, 0.8]]
}

/// A session with its true classes.
pub(crate) struct Drawn {
    pub(crate) session: Session<'static>,
    pub(crate) truth: Vec<Option<usize>>,
}

/// What is to be drawn.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub(crate) sessions: usize,
    pub(crate) instances: usize,
    /// Classes that there are.
    pub(crate) classes: usize,
    /// Instances of an event.
    pub(crate) run: usize,
    pub(crate) annotator: Annotator,
    pub(crate) confusion: Vec<Vec<f64>>,
    pub(crate) people: Vec<&'static str>,
}

impl Plan {
    pub(crate) fn usual(sessions: usize) -> Self {
        Self {
            sessions,
            instances: 300,
            classes: 3,
            run: 1,
            annotator: Annotator { miss: 0.1, ..Annotator::gaussian(0.5, 1.0) },
            confusion: confusion(),
            people: Vec::new(),
        }
    }

    /// An event every 17 instances, of each class in turn by chance; a feature tells each class well.
    pub(crate) fn draw(&self, seed: u64) -> Vec<Drawn> {
        let mut random = Random::new(seed);
        (0..self.sessions).map(|k| self.draw_one(k, &mut random)).collect()
    }

    fn draw_one(&self, k: usize, random: &mut Random) -> Drawn {
        let mut truth = vec![None; self.instances];
        let mut i = random.below(20);
        while i + self.run < self.instances {
            let class = random.below(self.classes);
            truth[i..i + self.run].fill(Some(class));
            i += self.run + 7 + random.below(20);
        }
        let mut features =
            Array2::from_shape_simple_fn((self.instances, self.classes + 1), || random.normal());
        for (mut row, class) in features.rows_mut().into_iter().zip(&truth) {
            if let Some(class) = *class {
                row[class] += 3.5;
            }
        }
        let times: Vec<f64> = (0..self.instances).map(|i| i as f64).collect();
        let session = Session::new(format!("s{k:03}"), features, times, Vec::new()).unwrap();
        let session = self.stamped(&session, &truth, random.below(1 << 30) as u64);
        Drawn { session, truth }
    }

    /// Stamps of everybody about the beginnings of events.
    fn stamped(
        &self,
        session: &Session<'static>,
        truth: &[Option<usize>],
        seed: u64,
    ) -> Session<'static> {
        let onset = |i: usize| truth[i].filter(|_| i == 0 || truth[i - 1] != truth[i]);
        let onsets: Vec<Option<usize>> = (0..truth.len()).map(onset).collect();
        let mut all: Vec<(f64, String, String)> = Vec::new();
        let people = if self.people.is_empty() { vec!["somebody"] } else { self.people.clone() };
        for (k, person) in people.iter().enumerate() {
            let seed = seed + k as u64;
            let found = self
                .annotator
                .press_classes(session.times(), &onsets, &self.confusion, seed)
                .unwrap();
            let classes = found.classes.iter().map(|&class| NAMES[class].to_owned());
            let own = found.presses.stamps.into_iter().zip(classes);
            all.extend(own.map(|(time, class)| (time, class, (*person).to_owned())));
        }
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        let stamps = all.iter().map(|own| own.0).collect();
        let classes: Vec<String> = all.iter().map(|own| own.1.clone()).collect();
        let session = session.clone().with_stamps(stamps).unwrap().with_classes(&classes).unwrap();
        if self.people.is_empty() {
            return session;
        }
        let people: Vec<String> = all.into_iter().map(|own| own.2).collect();
        session.with_annotators(&people, &[]).unwrap()
    }
}

pub(crate) fn sessions(drawn: &[Drawn]) -> Vec<Session<'static>> {
    drawn.iter().map(|own| own.session.clone()).collect()
}

/// The true label of every instance.
pub(crate) fn labels(truth: &[Option<usize>]) -> Vec<Option<Label<'static>>> {
    let label = |own: &Option<usize>| Some(own.map_or(Label::Nothing, |k| Label::Event(NAMES[k])));
    truth.iter().map(label).collect()
}

pub(crate) fn fit(model: &Model, sessions: &[Session<'_>]) -> Fitted {
    model.fit(sessions, &FitOptions::default(), Control::default()).unwrap()
}
