//! One pass over a session: the only loop over its windows and spans.
//!
//! Windows are placed, and grow until none is too narrow. The session is cut into spans that no block
//! crosses and whose rows stay in cache. Each span goes through log-odds, recursion and the pass's use of
//! the result before the next begins. The spans of a long session are gathered into runs, which threads
//! work on in parallel and whose results are added in order.

use std::ops::Range;

use super::buffers::make_room;
use super::count_tables::CountTables;
use super::expected::Expected;
use super::free::Messages;
use super::outputs::{Record, Shares, SpanOutputs};
use super::solver::SpanSolver;
use super::vocabulary::{Impossible, Span, Stamped, Trouble};
use super::windows::{Band, widen};
use crate::parallel::{gather, in_order};
use crate::scratch::Scratch;

/// Source of a session's log-odds, and consumer of its solution.
pub trait Pass: Sync {
    /// The sums of the pass, besides the log evidence and the expected counts.
    type Sums: Send;

    /// Whether the sums keep data of every cell: counts are then recorded one by one, and nothing runs in
    /// parallel.
    const KEEPS_CELLS: bool = false;

    /// Rows that stay in cache from their log-odds to their derivatives.
    fn rows_at_a_time(&self) -> usize;

    /// Numbers in the sums, about.
    fn numbers(&self) -> usize {
        1
    }

    /// Empty sums.
    fn zero(&self) -> Self::Sums;

    /// The log-odds of these instances, borrowed or written to `room`; ±∞ if a label is known.
    fn log_odds<'a>(&'a self, instances: Range<usize>, room: &'a mut [f64]) -> &'a [f64];

    /// Takes the responsibilities of some stamps.
    fn take_stamps(&self, shares: Shares<'_>, sums: &mut Self::Sums);

    /// Takes a span that is solved.
    fn take_span(&self, solved: SpanSolution<'_>, sums: &mut Self::Sums);

    /// Adds the sums over later spans.
    fn add(&self, sums: &mut Self::Sums, later: Self::Sums);

    /// Messages of the last pass over this session, if they are kept.
    fn messages(&self) -> Option<&Messages> {
        None
    }

    /// Whether runs may be worked on in parallel.
    fn in_parallel(&self) -> bool {
        true
    }

    /// Whether to skip the remaining spans; the log evidence is then NaN.
    fn is_stopped(&self) -> bool {
        false
    }
}

/// A solved span: its instances given all stamps.
#[derive(Debug)]
pub struct SpanSolution<'a> {
    /// Which ones.
    pub instances: Range<usize>,
    /// Their log-odds.
    pub log_odds: &'a [f64],
    /// Derivatives of the log evidence in these: p(1 | z) − p(1), and 0 if the label is known.
    pub d_log_odds: &'a mut [f64],
    /// p(o_i = c, y | z) for c = 1, 2, …, if recorded.
    pub(super) record: &'a mut Record,
}

/// The result of a pass over a session.
#[derive(Debug)]
pub struct SessionSums<S> {
    /// log p(z | x, t).
    pub log_evidence: f64,
    /// Expected counts, for the parameters of the counts.
    pub expected: Expected,
    /// The sums of the pass.
    pub sums: S,
}

/// Buffers of one thread.
#[derive(Debug, Default)]
pub struct Buffers {
    pub(super) band: Band,
    pub(super) spans: SpanBuffers,
}

#[derive(Debug, Default)]
pub(super) struct SpanBuffers {
    solver: SpanSolver,
    pub(super) room: Vec<f64>,
    pub(super) d_log_odds: Vec<f64>,
    pub(super) record: Record,
}

impl Stamped<'_> {
    /// Runs `pass` over the session.
    pub fn run<P: Pass>(
        &self,
        pass: &P,
        counts: &CountTables,
        scratch: &Scratch<Buffers>,
    ) -> Result<SessionSums<P::Sums>, Impossible> {
        let session = Session { stamped: self, counts, pass, scratch };
        scratch.with(|Buffers { band, spans }| {
            widen(band, self, counts, P::KEEPS_CELLS, |band| session.all_spans(band, spans))
        })
    }
}

struct Session<'a, P> {
    stamped: &'a Stamped<'a>,
    counts: &'a CountTables,
    pass: &'a P,
    scratch: &'a Scratch<Buffers>,
}

impl<P: Pass> Session<'_, P> {
    fn zero(&self) -> SessionSums<P::Sums> {
        let expected = Expected::zeros(self.counts);
        SessionSums { log_evidence: 0.0, expected, sums: self.pass.zero() }
    }

    /// All spans: on this thread if they are few, in parallel otherwise.
    fn all_spans(
        &self,
        band: &mut Band,
        buffers: &mut SpanBuffers,
    ) -> Result<SessionSums<P::Sums>, Trouble> {
        let spans = band.spans(self.counts.rows_of_span(self.pass.rows_at_a_time()));
        let runs = gather(spans.iter().map(|span| span.instances.len()));
        if P::KEEPS_CELLS || runs.len() == 1 || !self.pass.in_parallel() {
            return self.run(&spans, band, buffers);
        }
        let band = &*band;
        let run = |run: usize| {
            self.scratch.with(|buffers| {
                buffers.band.share_windows(band);
                self.run(&spans[runs[run].clone()], &mut buffers.band, &mut buffers.spans)
            })
        };
        let mut total = self.zero();
        in_order(runs.len(), self.pass.numbers(), run, |own| {
            total.log_evidence += own.log_evidence;
            total.expected.add(&own.expected);
            self.pass.add(&mut total.sums, own.sums);
        })?;
        Ok(total)
    }

    /// One run: neighbouring spans, one after the other.
    fn run(
        &self,
        spans: &[Span],
        band: &mut Band,
        buffers: &mut SpanBuffers,
    ) -> Result<SessionSums<P::Sums>, Trouble> {
        let SpanBuffers { solver, room, d_log_odds, record } = buffers;
        let mut total = self.zero();
        for span in spans {
            if self.pass.is_stopped() {
                total.log_evidence = f64::NAN;
                break;
            }
            let instances = span.instances.clone();
            make_room(room, instances.len());
            make_room(d_log_odds, instances.len());
            let log_odds = self.pass.log_odds(instances.clone(), &mut room[..instances.len()]);
            let d_log_odds = &mut d_log_odds[..instances.len()];
            if P::KEEPS_CELLS {
                record.iter_mut().for_each(Vec::clear);
                record.resize(instances.len(), Vec::new());
            }
            let outputs = SpanOutputs {
                d_log_odds,
                expected: &mut total.expected,
                record: P::KEEPS_CELLS.then_some(&mut *record),
                visit: &mut |shares| self.pass.take_stamps(shares, &mut total.sums),
                messages: self.pass.messages(),
            };
            total.log_evidence +=
                solver.solve(band, self.stamped, self.counts, span, log_odds, outputs)?;
            self.pass.take_span(
                SpanSolution { instances, log_odds, d_log_odds, record },
                &mut total.sums,
            );
        }
        Ok(total)
    }
}
