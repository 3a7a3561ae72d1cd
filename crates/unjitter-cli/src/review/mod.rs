//! The review: a page on which a person confirms, moves, rejects and adds stamps, and the server behind it.
//!
//! **Nothing is lost.** A decision is on the disk before the page hears of it, and all state is what the log says:
//! a second tab, a reload and a crash see the same. The user's tables are never written.
//!
//! **Decisions teach.** Each tells which explanation of the stamps is right, at once, and the model is learned again
//! now and then, from where it was. So the order of the questions matters; [`ranking`] has the formula.
//!
//! **Local.** One program, with the page inside; it listens at this machine only, and answers only who knows the
//! address that it printed ([`guard`]).
//!
//! | file | one line |
//! |---|---|
//! | `item` | what is asked about, and answers |
//! | `log`, `fingerprint` | the file that keeps decisions, and of which data |
//! | `ledger` | the decisions in force |
//! | `posteriors`, `explanations`, `delays` | where stamps belong, and what decisions say of it |
//! | `ranking` | the order of the questions |
//! | `desk`, `learner` | what all tabs share, and learning beside it |
//! | `export`, `label_studio` | what came of it, for other programs |
//! | `recordings`, `pyramid` | the part of the data that a view shows |
//! | `server`, `guard`, `answers`, `assets` | addresses, who may ask, what is told, the page's files |
//!
//! The page talks JSON under `api/`:
//!
//! ```text
//! GET  state                                   sessions, progress, what was learned, findings, conflicts
//! GET  queue?order=&search=&from=&count=       items: informative, time, probability or session
//! GET  item/ID                                 candidates, neighbours, a window to look at
//! GET  signal?session=&from=&to=&pixels=       extremes of the signal, instances and stamps in view
//! GET  acceptable?above=                       how many stamps are that sure, and how many of them wrong
//! GET  changes?since=                          waits up to 25 s for another revision
//! POST decide {item, action, instance}         accept, move, reject, missed, add, skip; `add` takes any item of
//!                                              the session
//! POST accept {above}, undo {}, redo {}
//! ```

mod answers;
mod assets;
#[cfg(test)]
mod confirmations;
mod delays;
pub(crate) mod desk;
mod explanations;
pub(crate) mod export;
mod fingerprint;
pub(crate) mod guard;
pub(crate) mod item;
pub(crate) mod label_studio;
pub(crate) mod learner;
mod ledger;
pub(crate) mod link;
pub(crate) mod log;
mod moment;
mod posteriors;
mod pyramid;
mod ranking;
pub(crate) mod recordings;
pub(crate) mod server;
mod spot_check;
