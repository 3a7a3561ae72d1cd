//! What all tabs share: the decisions, the log that keeps them, and what the model makes of them.
//!
//! One lock guards it. Nothing slow is done under it except for writing a line of the log, which has to be on the
//! disk before anybody sees its effect; learning happens on a thread of its own (see [`learner`](super::learner)).

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::watch;
use unjitter::Fitted;
use unjitter::evaluation::digest;
use unjitter::inspection::Finding;

use super::delays;
use super::explanations::{Explanation, RULED_OUT, explanations, shares};
use super::fingerprint::Fingerprint;
use super::item::{Action, Decision, Item};
use super::ledger::Ledger;
use super::log::{Line, Log, ReadLog, Said, What};
use super::moment::now;
use super::posteriors::{Places, known, mixed};
use super::ranking::{Asked, Ranked};
use super::recordings::Recordings;
use crate::failure::Mistake;
use crate::inspection_text::in_words;
use crate::words::{counted, percent, seconds};

/// What counts of each item.
pub(crate) type Decisions = BTreeMap<Item, Decision>;

/// Draws of the parameters that probabilities are averaged over.
pub(crate) const DRAWS: usize = 32;
/// A longer time between two decisions was a pause.
const PAUSE: Duration = Duration::from_secs(90);

/// The review of a dataset.
#[derive(Debug)]
pub(crate) struct Desk {
    pub(crate) recordings: Recordings,
    pub(crate) reviewer: String,
    pub(crate) findings: Vec<(String, String)>,
    print: Fingerprint,
    /// Decisions after which the model is learned again.
    pub(crate) every: usize,
    /// A text for where else to look, with places for session and seconds.
    pub(crate) link: Option<String>,
    state: Mutex<State>,
    /// Tells the learner that there is something to learn, or that it is over.
    pub(crate) news: Condvar,
    pub(crate) stop: AtomicBool,
    revision: watch::Sender<u64>,
}

/// What changes.
#[derive(Debug)]
pub(crate) struct State {
    log: Log,
    pub(crate) ledger: Ledger,
    /// What counts, of all reviewers.
    pub(crate) decisions: Arc<BTreeMap<Item, Decision>>,
    /// As they were before any decision.
    pub(crate) explanations: Vec<Arc<Explanation>>,
    pub(crate) current: Arc<Current>,
    /// Confirmed stamps when an explanation was last looked for.
    pub(crate) looked_at: usize,
    /// Decisions that the model has not learned from.
    pub(crate) fresh: usize,
    pub(crate) running: bool,
    pub(crate) changed: Option<String>,
    pace: Pace,
    model: String,
}

/// What the model says now.
#[derive(Debug)]
pub(crate) struct Current {
    /// Those that are not ruled out, by number among all; the likeliest first.
    pub(crate) fits: Vec<Fit>,
    /// The average over them.
    pub(crate) mixed: Vec<Places>,
    pub(crate) ranked: Vec<Ranked>,
    pub(crate) place_of: BTreeMap<Item, usize>,
}

/// An explanation as it is learned now.
#[derive(Debug, Clone)]
pub(crate) struct Fit {
    /// Which of the explanations at first.
    pub(crate) number: usize,
    pub(crate) share: f64,
    pub(crate) fitted: Arc<Fitted>,
    pub(crate) places: Arc<Vec<Places>>,
}

/// How fast somebody decides.
#[derive(Debug, Default)]
struct Pace {
    last: Option<Instant>,
    seconds: Vec<f64>,
}

/// What begins a review.
pub(crate) struct Beginning<'a> {
    pub(crate) recordings: Recordings,
    pub(crate) fitted: &'a Fitted,
    pub(crate) findings: Vec<Finding>,
    pub(crate) reviewer: String,
    pub(crate) log: &'a Path,
    pub(crate) others: Vec<(String, ReadLog)>,
    pub(crate) every: usize,
    pub(crate) link: Option<String>,
}

/// A reply to a decision.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) revision: u64,
    pub(crate) seq: u64,
    pub(crate) next: Option<Item>,
}

impl Desk {
    /// Opens the log and looks at the data as the model sees them. Returns also what is to be said of the log.
    pub(crate) fn open(begin: Beginning<'_>) -> anyhow::Result<(Arc<Self>, Vec<String>)> {
        let Beginning { recordings, fitted, findings, reviewer, log: path, others, every, link } =
            begin;
        let print = Fingerprint::of(&recordings.data);
        let mut ledger = Ledger::new(&reviewer);
        for (name, other) in &others {
            refuse_other(name, other, &print)?;
            refuse_odd(name, &other.lines, &recordings)?;
            ledger.add_others(&other.lines);
        }
        let (log, read) = Log::open(path)?;
        let mut notes = Vec::new();
        if read.torn > 0 {
            let (name, bytes) = (path.display(), read.torn);
            notes.push(format!(
                "{name}: the last line was not finished when the program ended, and the page was not told that it \
                 was; it is cut off ({bytes} bytes)"
            ));
        }
        refuse_other(&path.display().to_string(), &read, &print)?;
        refuse_odd(&path.display().to_string(), &read.lines, &recordings)?;
        read.lines.iter().for_each(|line| ledger.add(line));
        let untouched = known(sessions(&recordings), &BTreeMap::new());
        let explanations = explanations(fitted, &untouched, DRAWS)?;
        let decisions = Arc::new(ledger.decisions());
        if !decisions.is_empty() {
            let decided = counted(decisions.len(), "decision");
            notes.push(format!("going on after {decided}"));
        }
        let fits = first_fits(&explanations, &decisions);
        let findings =
            findings.iter().map(|finding| (severity(finding), in_words(finding))).collect();
        let model = digest(&[&fitted.to_json()]);
        let current = Arc::new(Current::new(&recordings, fits, &decisions));
        let is_new = read.fingerprint().is_none();
        let fresh = decisions.values().filter(|decision| decision.settles()).count();
        let state = Mutex::new(State {
            log,
            ledger,
            explanations,
            current,
            looked_at: 0,
            fresh,
            decisions,
            running: false,
            changed: None,
            pace: Pace::default(),
            model,
        });
        let revision = watch::Sender::new(1);
        let desk = Self {
            recordings,
            reviewer,
            findings,
            print,
            every: every.max(1),
            link,
            state,
            news: Condvar::new(),
            stop: AtomicBool::new(false),
            revision,
        };
        if is_new {
            let begin = What::Begin(desk.print.clone());
            desk.append(&mut desk.lock(), begin)?;
        }
        Ok((Arc::new(desk), notes))
    }

    /// The state. A thread that failed while it had it left no half-made change: each is one assignment.
    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number that changes with everything that the page shows.
    pub(crate) fn revision(&self) -> u64 {
        *self.revision.borrow()
    }

    /// Hears of new revisions.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.revision.subscribe()
    }

    pub(crate) fn changed(&self) -> u64 {
        self.revision.send_modify(|revision| *revision += 1);
        self.revision()
    }

    fn append(&self, state: &mut State, what: What) -> anyhow::Result<Line> {
        let (seq, when, who) = (0, now(), self.reviewer.clone());
        let (model, data) = (state.model.clone(), self.print.all.clone());
        state.log.append(Line { seq, when, who, model, data, what })
    }

    /// Decides about an item.
    pub(crate) fn decide(
        &self,
        item: Item,
        action: Action,
        instance: Option<usize>,
    ) -> anyhow::Result<Done> {
        let mut state = self.lock();
        let said = self.said(&state, item, action, instance)?;
        let seq = self.take(&mut state, What::Decide(vec![said]))?;
        state.pace.tick();
        let revision = self.changed();
        Ok(Done { revision, seq, next: state.next() })
    }

    /// What is said of an item, checked.
    fn said(
        &self,
        state: &State,
        item: Item,
        action: Action,
        instance: Option<usize>,
    ) -> anyhow::Result<Said> {
        let wrong = |why: String| anyhow::Error::from(Mistake::Usage(why));
        let k = item.session();
        let Some(session) = self.recordings.data.recordings.get(k).map(|own| &own.session) else {
            return Err(wrong(format!("there is no session {k}")));
        };
        let (item, instance) = match (item, action) {
            (Item::Stamp(_, l), _) if l >= session.stamps().len() => {
                return Err(wrong(format!("there is no stamp {l} in session {k}")));
            }
            (Item::Missed(_, i), _) if i >= session.len() => {
                return Err(wrong(format!("there is no instance {i} in session {k}")));
            }
            (_, Action::Reject | Action::Skip) => (item, None),
            (_, Action::Add) => {
                let at =
                    instance.ok_or_else(|| wrong("an event is added at an instance".to_owned()))?;
                (Item::Missed(k, at), Some(at))
            }
            (Item::Stamp(_, l), Action::Accept) => {
                let best = state.current.mixed[k].stamps[l].best().map(|best| best.instance);
                (item, instance.or(best))
            }
            (Item::Stamp(..), Action::Move | Action::Missed) => (item, instance),
            (Item::Missed(_, i), _) => (item, Some(instance.unwrap_or(i))),
        };
        if matches!((item, action), (Item::Stamp(..), Action::Missed)) {
            return Err(wrong(
                "a stamp was not missed; it is accepted, moved or rejected".to_owned(),
            ));
        }
        if instance.is_none() && !matches!(action, Action::Reject | Action::Skip) {
            return Err(wrong("to which instance?".to_owned()));
        }
        if let Some(i) = instance.filter(|&i| i >= session.len()) {
            return Err(wrong(format!("there is no instance {i} in session {k}")));
        }
        Ok(self.timed(item, Decision { action, instance }))
    }

    /// A decision with its times.
    pub(crate) fn timed(&self, item: Item, decision: Decision) -> Said {
        let session = self.recordings.session(item.session());
        let stamp = match item {
            Item::Stamp(_, l) => Some(session.stamps()[l]),
            Item::Missed(..) => None,
        };
        let time = decision.instance.map(|i| session.times()[i]);
        Said { item, decision, stamp, time }
    }

    /// Writes a line and lets it count. Returns its number.
    fn take(&self, state: &mut State, what: What) -> anyhow::Result<u64> {
        let line = self.append(state, what)?;
        state.ledger.add(&line);
        let decisions = Arc::new(state.ledger.decisions());
        state.fresh += match &line.what {
            What::Decide(said) => said.iter().filter(|said| said.decision.settles()).count(),
            What::Undo(seq) | What::Redo(seq) => state.ledger.items_of(*seq).len(),
            What::Begin(_) => 0,
        };
        let items = match &line.what {
            What::Decide(said) => said.iter().map(|said| said.item).collect(),
            What::Undo(seq) | What::Redo(seq) => state.ledger.items_of(*seq),
            What::Begin(_) => Vec::new(),
        };
        state.decisions = decisions;
        // The order changes with explanations and with the model; a decision of one stamp changes neither, if one
        // explanation is left. An event that was added is a new item, and gone if that is taken back.
        let is_same = |item: &Item| matches!(item, Item::Stamp(..));
        if state.explanations.len() > 1 || !items.iter().all(is_same) {
            let fits = state.current.fits.clone();
            self.weigh(state, fits);
        }
        if state.is_news(self.every) {
            self.news.notify_all();
        }
        Ok(line.seq)
    }

    /// Gives explanations the shares that the decisions leave them, and ranks again.
    fn weigh(&self, state: &mut State, mut fits: Vec<Fit>) {
        let shares = shares(&state.explanations, &state.decisions);
        fits.iter_mut().for_each(|fit| fit.share = shares[fit.number]);
        let next = Arc::new(Current::new(&self.recordings, fits, &state.decisions));
        if let Some(words) = explained(&state.current, &next) {
            state.changed = Some(words);
        }
        state.current = next;
    }

    /// Takes the last step back, or makes it again.
    pub(crate) fn turn(&self, again: bool) -> anyhow::Result<Done> {
        let mut state = self.lock();
        let (seq, what): (_, fn(u64) -> What) = match again {
            false => (state.ledger.to_undo(), What::Undo),
            true => (state.ledger.to_redo(), What::Redo),
        };
        let Some(step) = seq else {
            let word = if again { "made again" } else { "taken back" };
            return Err(Mistake::Usage(format!("there is nothing to be {word}")).into());
        };
        let items = state.ledger.items_of(step);
        let seq = self.take(&mut state, what(step))?;
        let revision = self.changed();
        // Back to what was taken back.
        let next = if again { state.next() } else { items.first().copied() };
        Ok(Done { revision, seq, next })
    }

    /// Stamps that could be accepted together: undecided, and as proposed with at least this probability.
    pub(crate) fn acceptable(state: &State, above: f64) -> Vec<Ranked> {
        let is_open = |item: Item| state.decision(item).is_none_or(|own| !own.settles());
        let own = state.current.ranked.iter().filter(|one| matches!(one.item, Item::Stamp(..)));
        own.filter(|one| one.probability >= above && is_open(one.item)).copied().collect()
    }

    /// Accepts them, as one step. Returns what was accepted.
    pub(crate) fn accept(&self, above: f64) -> anyhow::Result<Vec<Ranked>> {
        let mut state = self.lock();
        let accepted = Self::acceptable(&state, above);
        if accepted.is_empty() {
            return Ok(accepted);
        }
        let said = accepted.iter().map(|one| self.said(&state, one.item, Action::Accept, None));
        let said = said.collect::<anyhow::Result<Vec<Said>>>()?;
        self.take(&mut state, What::Decide(said))?;
        self.changed();
        Ok(accepted)
    }

    /// Decisions of another program, as one step; those of other items are left alone. Returns how many are new.
    pub(crate) fn import(
        &self,
        decisions: Vec<(Item, Action, Option<usize>)>,
    ) -> anyhow::Result<usize> {
        let mut state = self.lock();
        let mut said = Vec::new();
        for (item, action, instance) in decisions {
            let own = self.said(&state, item, action, instance)?;
            if state.ledger.decision(own.item) != Some(own.decision) {
                said.push(own);
            }
        }
        let count = said.len();
        if count > 0 {
            self.take(&mut state, What::Decide(said))?;
            self.changed();
        }
        Ok(count)
    }

    /// Adds an explanation that nobody had found.
    pub(crate) fn found(&self, explanation: Explanation) {
        let mut state = self.lock();
        let mut fits = state.current.fits.clone();
        fits.push(Fit {
            number: state.explanations.len(),
            share: 0.0,
            fitted: Arc::new(explanation.fitted.clone()),
            places: Arc::new(explanation.places.clone()),
        });
        state.explanations.push(Arc::new(explanation));
        self.weigh(&mut state, fits);
        drop(state);
        self.changed();
    }

    /// Puts what was learned from these decisions in place.
    pub(crate) fn learned(
        &self,
        mut fits: Vec<Fit>,
        learned_from: usize,
        words: impl FnOnce(&Current, &Current) -> String,
    ) {
        let mut state = self.lock();
        let shares = shares(&state.explanations, &state.decisions);
        fits.iter_mut().for_each(|fit| fit.share = shares[fit.number]);
        let next = Arc::new(Current::new(&self.recordings, fits, &state.decisions));
        state.changed = Some(words(&state.current, &next));
        state.model = digest(&[&next.lead().fitted.to_json()]);
        state.current = next;
        state.fresh = state.fresh.saturating_sub(learned_from);
        state.running = false;
        drop(state);
        self.changed();
    }
}

impl State {
    /// Whether there is something to learn.
    pub(crate) fn is_news(&self, every: usize) -> bool {
        self.fresh >= every || self.is_surprised()
    }

    /// Whether what was confirmed is unlike all explanations, and nobody has looked for another since.
    pub(crate) fn is_surprised(&self) -> bool {
        let confirmed = delays::confirmed(&self.decisions);
        let lead = &self.explanations[self.current.lead().number];
        confirmed >= 2 * self.looked_at.max(1) && delays::is_surprising(lead, &self.decisions)
    }

    /// What counts of an item.
    pub(crate) fn decision(&self, item: Item) -> Option<Decision> {
        self.decisions.get(&item).copied()
    }

    /// The item to ask about next: those that were put off come last.
    pub(crate) fn next(&self) -> Option<Item> {
        let items = || self.current.ranked.iter().map(|one| one.item);
        let open = items().find(|item| self.decision(*item).is_none());
        open.or_else(|| items().find(|item| self.decision(*item).is_some_and(|own| !own.settles())))
    }

    /// How many items are left and done, and how long the rest will take.
    pub(crate) fn progress(&self) -> (usize, usize, Option<f64>) {
        let settled = |item| self.decision(item).is_some_and(Decision::settles);
        let done = self.current.ranked.iter().filter(|one| settled(one.item)).count();
        let left = self.current.ranked.len() - done;
        (left, done, self.pace.typical().map(|seconds| seconds * left as f64))
    }

    /// How many of the undecided stamps and missed events would be wrong if all were left as they are proposed.
    pub(crate) fn expected_errors(&self) -> f64 {
        self.current.expected_errors(&self.decisions)
    }
}

impl Pace {
    fn tick(&mut self) {
        let now = Instant::now();
        if let Some(last) = self.last.replace(now) {
            let gap = now - last;
            if gap < PAUSE {
                self.seconds.push(gap.as_secs_f64());
            }
        }
    }

    /// The median of the last decisions; none before there are a few.
    fn typical(&self) -> Option<f64> {
        let last = &self.seconds[self.seconds.len().saturating_sub(30)..];
        if last.len() < 3 {
            return None;
        }
        unjitter::math::median(last.to_vec())
    }
}

impl Current {
    /// What these explanations say together. Those that are ruled out stay in the list, with their shares.
    pub(crate) fn new(
        recordings: &Recordings,
        mut fits: Vec<Fit>,
        decisions: &BTreeMap<Item, Decision>,
    ) -> Self {
        fits.sort_by(|a, b| b.share.total_cmp(&a.share));
        // What is left of the sum counts for little; with it each item would be averaged over all.
        let alive: Vec<&Fit> = fits.iter().filter(|fit| fit.share >= 1e-3).collect();
        let sum: f64 = alive.iter().map(|fit| fit.share).sum();
        let shares: Vec<f64> = alive.iter().map(|fit| fit.share / sum).collect();
        let each: Vec<&[Places]> = alive.iter().map(|fit| fit.places.as_slice()).collect();
        let mixed = mixed(&each, &shares);
        let asked = Asked {
            sessions: sessions(recordings).collect(),
            mixed: &mixed,
            explanations: each,
            shares: &shares,
            spread: fits[0].fitted.learned().spread,
            decisions,
        };
        let ranked = asked.ranked();
        let place_of = ranked.iter().enumerate().map(|(at, one)| (one.item, at)).collect();
        Self { fits, mixed, ranked, place_of }
    }

    /// The likeliest explanation.
    pub(crate) fn lead(&self) -> &Fit {
        &self.fits[0]
    }

    /// An item as it is ranked.
    pub(crate) fn ranked(&self, item: Item) -> Option<&Ranked> {
        self.place_of.get(&item).map(|&at| &self.ranked[at])
    }

    pub(crate) fn expected_errors(&self, decisions: &BTreeMap<Item, Decision>) -> f64 {
        let settled = |item| decisions.get(&item).is_some_and(|own| own.settles());
        self.ranked.iter().filter(|one| !settled(one.item)).map(|one| one.doubt).sum()
    }
}

/// The sessions of a dataset.
pub(crate) fn sessions(
    recordings: &Recordings,
) -> impl Iterator<Item = &unjitter::Session<'static>> {
    recordings.data.recordings.iter().map(|recording| &recording.session)
}

/// Which explanations decisions ruled out, and which they made the likeliest, in words.
fn explained(before: &Current, after: &Current) -> Option<String> {
    let mut words = Vec::new();
    let delay = |fit: &Fit| seconds(fit.fitted.learned().delay);
    let (old, new) = (before.lead(), after.lead());
    if old.number != new.number {
        words.push(format!("a delay of {} is likelier now than {}", delay(new), delay(old)));
    }
    let was_alive = |fit: &&Fit| {
        before.fits.iter().any(|own| own.number == fit.number && own.share >= RULED_OUT)
    };
    for fit in after.fits.iter().filter(|fit| fit.share < RULED_OUT).filter(was_alive) {
        words.push(format!("a delay of {} is ruled out ({})", delay(fit), percent(fit.share)));
    }
    (!words.is_empty()).then(|| words.join("; "))
}

fn first_fits(explanations: &[Arc<Explanation>], decisions: &BTreeMap<Item, Decision>) -> Vec<Fit> {
    let shares = shares(explanations, decisions);
    let fit = |(number, own): (usize, &Arc<Explanation>)| Fit {
        number,
        share: shares[number],
        fitted: Arc::new(own.fitted.clone()),
        places: Arc::new(own.places.clone()),
    };
    explanations.iter().enumerate().map(fit).collect()
}

fn severity(finding: &Finding) -> String {
    format!("{:?}", finding.severity()).to_lowercase()
}

/// Refuses a log of other data.
fn refuse_other(name: &str, read: &ReadLog, now: &Fingerprint) -> anyhow::Result<()> {
    let Some(before) = read.fingerprint() else { return Ok(()) };
    match before.changes(now) {
        None => Ok(()),
        Some(changes) => Err(Mistake::Data(format!(
            "{name} is the review of other data: {changes}; --log begins another review"
        ))
        .into()),
    }
}

/// Refuses decisions about what is not in the data: an edited log.
fn refuse_odd(name: &str, lines: &[Line], recordings: &Recordings) -> anyhow::Result<()> {
    for line in lines {
        let What::Decide(said) = &line.what else { continue };
        for one in said {
            let session =
                recordings.data.recordings.get(one.item.session()).map(|own| &own.session);
            let is_there = session.is_some_and(|session| {
                let (place, most) = match one.item {
                    Item::Stamp(_, l) => (l, session.stamps().len()),
                    Item::Missed(_, i) => (i, session.len()),
                };
                place < most && one.decision.instance.is_none_or(|i| i < session.len())
            });
            if !is_there {
                let message = format!("{name}, line {}: {} is not in the data", line.seq, one.item);
                return Err(Mistake::Data(message).into());
            }
        }
    }
    Ok(())
}
