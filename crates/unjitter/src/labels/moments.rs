//! What paths say of every edge: labels, transitions and events, with stamps and without.
//!
//! One pass over all edges, in pieces that threads work on at the same time and that are added in order.

use rayon::prelude::*;

use super::chain::{Base, Chain};
use super::count::{Count, counted};
use super::path::{Edges, Paths};
use super::rates::Transition;
use super::told::Told;
use super::weight::{Log, Weight};

/// Edges of a piece.
const PIECE: usize = 4096;

/// Expectations of a session.
#[derive(Debug, Default)]
pub(super) struct Moments {
    /// log Σ over all labels without stamps.
    pub(super) log_normaliser: f64,
    /// p(y_i = k), by instance and class, with stamps and without.
    pub(super) presence: Vec<f64>,
    pub(super) prior: Vec<f64>,
    /// Derivatives of the difference of both log normalisers in log onset rate and log offset rate.
    pub(super) d_rates: [f64; 2],
    /// By stream: p(an event is at an edge), and that it is and has no stamp, by edge and class.
    pub(super) events: Vec<Vec<f64>>,
    pub(super) silent: Vec<Vec<f64>>,
}

impl Moments {
    /// Of all edges as told, and as they would be without stamps.
    pub(super) fn new(told: &Told<'_>, paths: &Paths<f64>) -> Self {
        match told.scene.chain.needs_logs() {
            false => Self::beside::<f64>(told, paths),
            true => Self::beside::<Log>(told, paths),
        }
    }

    fn beside<W: Weight>(told: &Told<'_>, paths: &Paths<f64>) -> Self {
        let chain = told.scene.chain;
        let base = Base::<W>::new(chain, &[], told.in_parallel);
        let without = Paths::new(&base, told.in_parallel);
        let all = Both { told, paths, base: &base, without: &without };
        let pieces: Vec<usize> = (0..told.edges()).step_by(PIECE).collect();
        let piece = |first: usize| counted!(told.form.labels, n => all.piece(n, first));
        let pieces: Vec<Self> = match told.in_parallel {
            true => pieces.into_par_iter().map(piece).collect(),
            false => pieces.into_iter().map(piece).collect(),
        };
        let mut total = Self::together(pieces);
        total.log_normaliser = base.scales + without.log_normaliser();
        total
    }

    /// Those of all pieces, in order; each is dropped once it has been added.
    fn together(pieces: Vec<Self>) -> Self {
        fn join(all: &mut Vec<f64>, later: Vec<f64>, pieces: usize) {
            // Pieces are of one length but for the last, and nothing is told of the last edge's instance.
            if all.capacity() == 0 {
                all.reserve_exact(later.len() * pieces);
            }
            all.extend(later);
        }
        let (mut all, count) = (Self::default(), pieces.len());
        for piece in pieces {
            join(&mut all.presence, piece.presence, count);
            join(&mut all.prior, piece.prior, count);
            all.events.resize(piece.events.len(), Vec::new());
            all.silent.resize(piece.silent.len(), Vec::new());
            all.events
                .iter_mut()
                .zip(piece.events)
                .for_each(|(own, later)| join(own, later, count));
            all.silent
                .iter_mut()
                .zip(piece.silent)
                .for_each(|(own, later)| join(own, later, count));
            (0..2).for_each(|k| all.d_rates[k] += piece.d_rates[k]);
        }
        all
    }
}

struct Both<'a, W> {
    told: &'a Told<'a>,
    paths: &'a Paths<f64>,
    base: &'a Base<'a, W>,
    without: &'a Paths<W>,
}

impl<W: Weight> Both<'_, W> {
    fn piece<N: Count>(&self, n: N, first: usize) -> Moments {
        let Self { told, paths, base, without } = *self;
        let (chain, form) = (told.scene.chain, &told.form);
        let (labels, classes) = (n.get(), n.get() - 1);
        let edges = first..told.edges().min(first + PIECE);
        let by_class = || vec![0.0; edges.len() * classes];
        let each = || form.streams.iter().map(|_| by_class()).collect::<Vec<_>>();
        let mut moments = Moments { events: each(), silent: each(), ..Moments::default() };
        let (mut after, mut before) = (vec![0.0; labels * labels], vec![W::ZERO; labels * labels]);
        for (j, edge) in edges.clone().enumerate() {
            told.weigh(n, edge, &mut after);
            paths.weigh(n, edge, &mut after);
            base.weigh(n, edge, &mut before);
            without.weigh(n, edge, &mut before);
            if edge < chain.instances() {
                for y in 1..labels {
                    let (mut own, mut prior) = (0.0, 0.0);
                    for z in 0..labels {
                        own += after[z * labels + y];
                        prior += before[z * labels + y].number();
                    }
                    moments.presence.push(own);
                    moments.prior.push(prior);
                }
            }
            add_rates(n, chain, edge, &after, &before, &mut moments.d_rates);
            let tally = told.tally(edge);
            let streams = form.streams.iter().zip(&mut moments.events).zip(&mut moments.silent);
            for ((own, events), silent) in streams {
                for (o, occurrence) in own.occurrences.iter().enumerate() {
                    let p = after[occurrence.from * labels + occurrence.to];
                    let (all, without) = own.weigh(o, tally);
                    events[j * classes + occurrence.class] += p;
                    if p > 0.0 {
                        silent[j * classes + occurrence.class] += p * without / all;
                    }
                }
            }
        }
        moments
    }
}

/// Adds what an edge with these probabilities says of the rates, less the same without stamps.
#[inline(always)]
fn add_rates<W: Weight>(
    n: impl Count,
    chain: &Chain<'_>,
    edge: usize,
    after: &[f64],
    before: &[W],
    d_rates: &mut [f64; 2],
) {
    let (Some(rates), Some(gap)) = (chain.rates, edge.checked_sub(1)) else { return };
    let Some(weights) = chain.transitions.get(gap) else { return };
    let mut expected = Transition::default();
    for z in 0..n.get() {
        for y in 0..n.get() {
            let k = z * n.get() + y;
            *expected.kind_mut(z, y) += after[k] - before[k].number();
        }
    }
    rates.pull_back(chain.gaps[gap], n.get() - 1, weights, &expected, d_rates);
}
