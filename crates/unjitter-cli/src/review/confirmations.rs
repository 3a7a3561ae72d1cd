//! How many answers it takes until the right explanation is chosen, by the order of the questions.
//!
//! Recordings whose features look at their neighbourhood leave open how late presses are. Somebody who knows the
//! truth answers; the order is that of [`ranking`](super::ranking), or one drawn at random. `UNJITTER_TABLE=1`
//! prints a table of more recordings.

use std::fmt::Write as _;

use unjitter::io::{Columns, Dataset, DatasetFiles};
use unjitter::math::Random;
use unjitter::{Control, FitOptions, Fitted, Model};

use super::desk::{Beginning, Desk};
use super::item::{Action, Item};
use super::learner::look;
use super::recordings::Recordings;

const SESSIONS: usize = 6;
const LENGTH: usize = 400;
/// Neighbours on each side whose feature an instance has too.
const CONTEXT: usize = 8;
/// Share from which an explanation is taken for the right one.
const SURE: f64 = 0.95;
/// Answers after which to give up.
const MOST: usize = 60;

/// Recordings with the truth.
struct Simulated {
    folder: tempfile::TempDir,
    /// By session, the instance of every stamp, in order of stamps.
    owners: Vec<Vec<Option<usize>>>,
    labels: Vec<Vec<bool>>,
}

impl Simulated {
    /// Presses this late, which scatter this far, and so many for nothing in each session.
    fn new(seed: u64, delay: f64, (spread, strays): (f64, usize)) -> Self {
        let mut random = Random::new(seed);
        let names: Vec<String> = (0..=2 * CONTEXT).map(|k| format!("x{k}")).collect();
        let mut instances = format!("session,time,{}\n", names.join(","));
        let mut events = String::from("session,time\n");
        let (mut owners, mut all_labels) = (Vec::new(), Vec::new());
        for session in 0..SESSIONS {
            let labels: Vec<bool> = (0..LENGTH).map(|_| random.uniform() < 0.05).collect();
            let x: Vec<f64> = labels
                .iter()
                .map(|&label| random.normal() + if label { 4.0 } else { 0.0 })
                .collect();
            let mut stamps: Vec<(f64, Option<usize>)> = Vec::new();
            for (i, &label) in labels.iter().enumerate() {
                let _ = write!(instances, "s{session},{i}");
                for k in 0..=2 * CONTEXT {
                    let _ = write!(instances, ",{:.4}", x[(i + LENGTH + k - CONTEXT) % LENGTH]);
                }
                instances.push('\n');
                if label && random.uniform() < 0.95 {
                    stamps.push((i as f64 + delay + spread * random.normal(), Some(i)));
                }
            }
            stamps.extend((0..strays).map(|_| (random.uniform() * LENGTH as f64, None)));
            stamps.sort_by(|a, b| a.0.total_cmp(&b.0));
            stamps.iter().for_each(|(time, _)| {
                let _ = writeln!(events, "s{session},{time}");
            });
            owners.push(stamps.iter().map(|(_, owner)| *owner).collect());
            all_labels.push(labels);
        }
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("instances.csv"), instances).unwrap();
        std::fs::write(folder.path().join("events.csv"), events).unwrap();
        Self { folder, owners, labels: all_labels }
    }

    fn data(&self) -> Dataset {
        let files = DatasetFiles::in_folder(self.folder.path()).unwrap();
        Dataset::read(&files, &Columns::default(), false).unwrap()
    }

    fn fitted(&self) -> Fitted {
        let sessions = self.data().sessions();
        Model::default().fit(&sessions, &FitOptions::default(), Control::default()).unwrap()
    }

    fn answer(&self, item: Item) -> (Action, Option<usize>) {
        match item {
            Item::Stamp(k, l) => match self.owners[k][l] {
                Some(owner) => (Action::Move, Some(owner)),
                None => (Action::Reject, None),
            },
            Item::Missed(k, i) if self.labels[k][i] => (Action::Missed, Some(i)),
            Item::Missed(..) => (Action::Reject, None),
        }
    }

    /// Answers until the explanation with about this delay has most of the share; none if that never happens.
    fn answers(
        &self,
        fitted: &Fitted,
        delay: f64,
        mut pick: impl FnMut(&Desk) -> Item,
    ) -> Option<usize> {
        let log = self.folder.path().join("review.jsonl");
        let _ = std::fs::remove_file(&log);
        let (desk, _) = Desk::open(Beginning {
            recordings: Recordings::new(self.data(), Vec::new(), Vec::new()),
            fitted,
            findings: Vec::new(),
            reviewer: "Ada".to_owned(),
            log: &log,
            others: Vec::new(),
            every: usize::MAX,
            link: None,
        })
        .unwrap();
        for answered in 0..MOST {
            let lead = desk.lock().current.lead().clone();
            if lead.share > SURE && (lead.fitted.learned().delay - delay).abs() < 0.5 {
                return Some(answered);
            }
            let item = pick(&desk);
            let (action, instance) = self.answer(item);
            desk.decide(item, action, instance).unwrap();
            assert!(look(&desk));
        }
        None
    }
}

fn informative(desk: &Desk) -> Item {
    desk.lock().next().expect("there is something to ask")
}

/// Stamps in an order drawn at random.
fn at_random(seed: u64) -> impl FnMut(&Desk) -> Item {
    let mut random = Random::new(seed);
    move |desk| {
        let state = desk.lock();
        let open: Vec<Item> = state
            .current
            .ranked
            .iter()
            .map(|one| one.item)
            .filter(|item| state.decision(*item).is_none())
            .collect();
        open[(random.uniform() * open.len() as f64) as usize]
    }
}

/// Mean numbers of answers, in the order of the page and at random.
fn compared(delays: &[f64], seeds: std::ops::Range<u64>, annotator: (f64, usize)) -> (f64, f64) {
    let mut counts: [Vec<usize>; 2] = Default::default();
    for (&delay, seed) in
        delays.iter().flat_map(|delay| seeds.clone().map(move |seed| (delay, seed)))
    {
        let simulated = Simulated::new(seed, delay, annotator);
        let fitted = simulated.fitted();
        let asked = simulated.answers(&fitted, delay, informative);
        let drawn = (0..3).map(|again| simulated.answers(&fitted, delay, at_random(100 + again)));
        let drawn: Vec<Option<usize>> = drawn.collect();
        let modes: Vec<String> =
            fitted.modes().iter().map(|mode| format!("{:.1}", mode.learned.delay)).collect();
        println!(
            "{annotator:?}, {delay} late, seed {seed}: {asked:?}, {drawn:?}; {}",
            modes.join(" ")
        );
        counts[0].push(asked.unwrap_or(MOST));
        counts[1].extend(drawn.iter().map(|found| found.unwrap_or(MOST)));
    }
    let mean = |counts: &[usize]| counts.iter().sum::<usize>() as f64 / counts.len() as f64;
    (mean(&counts[0]), mean(&counts[1]))
}

#[test]
fn the_right_explanation_is_chosen_after_fewer_answers_than_at_random() {
    if std::env::var_os("UNJITTER_TABLE").is_some() {
        for annotator in [(0.6, 1), (0.6, 10), (1.5, 1), (1.5, 10)] {
            let (asked, drawn) = compared(&[3.0, 6.0, -4.0], 0..8, annotator);
            println!("| {} | {} | {asked:.1} | {drawn:.1} |", annotator.0, annotator.1);
        }
        return;
    }
    // A third of the presses is for nothing.
    let (asked, drawn) = compared(&[6.0], 5..7, (0.6, 10));
    assert!(asked < drawn, "{asked} answers, {drawn} at random");
    assert!(asked < 5.0, "{asked} answers");
}
