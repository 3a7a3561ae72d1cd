//! Blocks whose stamps may have come from any instance in their windows: belief propagation.
//!
//! The exact sum runs over all maps of stamps to instances or the background, a permanent. Belief
//! propagation approximates it by messages between stamps and instances. Stamp l *claims* instance i with
//! μ_l(i), and the instance *offers* itself with ν_i(l), given what the other stamps claim:
//!
//! ```text
//! μ_l(i) = p_l(i) / (ρ + Σ_{j≠i} p_l(j)·ν_j(l))
//! ν_i(l) = Σ_c u_i(c+1)·e_c(claims but l's) / Σ_c u_i(c)·e_c(claims but l's)
//! w_l(i) = p_l(i)·ν_i(l) / D_l             D_l = ρ + Σ_j p_l(j)·ν_j(l)
//! log Z  ≈ Σ_l log D_l + Σ_i log Σ_c u_i(c)·e_c(claims) − Σ_{i,l} log(1 + μ_l(i)·ν_i(l))
//! ```
//!
//! with e_c the elementary symmetric polynomials. It is exact if no two stamps share an instance, and the
//! derivatives of log Z are expectations under the messages, as in the exact sum.
//!
//! Stamps are visited in order of time, to the end and back. Each cell keeps what the stamps on one side
//! claim ([`Tally`]) from the last visit, so an instance's offer is the join of two sides and nothing is ever
//! subtracted. Once the responsibilities of a stretch no longer move, the next rounds leave it out. For
//! one stamp at most this converges always; for other counts, a block that has not converged after
//! [`ROUNDS`] goes on with damped claims, and fails if that does not help.

mod any_table;
mod assignment;
mod first_order;
mod market;
mod messages;
mod neighbours;
mod one_stamp;
mod rescale;

use std::ops::Range;

use multiversion::multiversion;

pub(super) use any_table::AnyTable;
pub(super) use assignment::best_owners;
pub(super) use first_order::FirstOrder;
pub use messages::Messages;
pub(super) use one_stamp::OneStamp;

use super::buffers::{make_room, refill};
use super::column::{groups, groups_mut};
use super::vocabulary::{Block, Trouble};
use super::windows::Band;
use crate::math::{LANES, Lanes};

/// Responsibilities of a stamp that move by less, in sum, have converged. The evidence is then right to the
/// square of it, since it is stationary in the messages.
const TOLERANCE: f64 = 1e-7;
/// The same for the last visit to all stamps, whose neighbours may have moved since the one before.
const CERTIFIED: f64 = 10.0 * TOLERANCE;
/// Rounds, there and back, before claims are also rescaled.
const PLAIN_ROUNDS: usize = 4;
/// Rounds before claims are damped.
const ROUNDS: usize = 100;
/// Damped rounds before a block is given up.
const DAMPED_ROUNDS: usize = 2000;
/// How many stamps more a block's instances may own than they give. If they cannot give as many as there
/// are, responsibilities settle, but a whole stamp is missing.
const MISSING: f64 = 0.1;
/// Most cells per instance whose messages are kept: all sessions keep theirs for as long as learning takes.
const KEPT_CELLS: usize = 32;
/// A divisor below this could overflow the claim: nothing else explains the stamp.
const TINY: f64 = 1e-290;

/// What the claims of some stamps mean to the instances of a block, for one kind of counts.
pub(super) trait Tally {
    /// Numbers per instance.
    fn width(&self) -> usize;

    /// No claims yet, for all instances of the block.
    fn begin(&self, side: Side, running: &mut [f64]);

    /// Fills in what the instances of the row offer, given the claims of the stamps on either side.
    fn offer(&self, row: &mut Row<'_>);

    /// Adds the stamp's claims to those of the stamps visited so far.
    fn take(&self, row: &mut Row<'_>);

    /// Updates offers, claims and responsibilities; returns D and how far the responsibilities moved.
    fn visit(&self, row: &mut Row<'_>) -> (f64, f64) {
        visit_in_steps(self, row, None)
    }
}

/// A visit, with claims damped by the last ones if these are given.
fn visit_in_steps<T: Tally + ?Sized>(
    tally: &T,
    row: &mut Row<'_>,
    last: Option<&mut [f64]>,
) -> (f64, f64) {
    tally.offer(row);
    let moved = claim(row);
    if let Some(last) = last {
        dampen(row.claims, last);
    }
    row.stored.copy_from_slice(row.running);
    tally.take(row);
    moved
}

/// The cells of a stamp that is visited.
pub(super) struct Row<'a> {
    /// The side of the stamps visited so far.
    side: Side,
    /// First instance, counted from the block's.
    first: usize,
    density: &'a [f64],
    background: f64,
    /// What the stamps visited so far claim.
    running: &'a mut [f64],
    /// Keeps that for the way back.
    stored: &'a mut [f64],
    /// What the stamps on the other side claim.
    beyond: &'a [f64],
    offers: &'a mut [f64],
    claims: &'a mut [f64],
    responsibilities: &'a mut [f64],
}

impl Row<'_> {
    fn empty(side: Side, first: usize) -> Self {
        Row {
            side,
            first,
            density: &[],
            background: 0.0,
            running: &mut [],
            stored: &mut [],
            beyond: &[],
            offers: &mut [],
            claims: &mut [],
            responsibilities: &mut [],
        }
    }

    /// What the stamps before and after this one claim.
    fn sides(&self) -> [&[f64]; 2] {
        match self.side {
            Side::Before => [&*self.running, self.beyond],
            Side::After => [self.beyond, &*self.running],
        }
    }
}

/// The stamps before or those after the one that is visited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Before,
    After,
}

/// Buffers that outlive a block.
#[derive(Debug, Default)]
pub(super) struct Free {
    /// What the earlier stamps claim, as of the last visit of each stamp, by cell.
    before: Vec<f64>,
    /// The same of the later ones.
    after: Vec<f64>,
    /// What the stamps on the side of the last visits claim, by instance.
    running: Vec<f64>,
    /// What instances offer the stamp that is visited.
    offers: Vec<f64>,
    /// What stamps claim, by cell.
    claims: Vec<f64>,
    /// By stamp: how far its responsibilities moved between the last two visits.
    moved: Vec<f64>,
    /// What instances believe to have given, by cell.
    beliefs: Vec<f64>,
    /// The last claims by cell, for damping.
    damped: Vec<f64>,
}

/// The end of propagation.
pub(super) struct Settled<'a> {
    /// Σ log D − Σ log(1 + μν), with the scales of the stamps.
    pub(super) log_evidence: f64,
    /// Stamps that come from instances.
    owned: f64,
    /// The tally of all stamps, by instance.
    pub(super) tally: &'a [f64],
    /// The claims, by cell of the block.
    pub(super) claims: &'a [f64],
}

impl Settled<'_> {
    /// Fails unless the instances give as many stamps as they own.
    fn check(&self, given: f64) -> Result<(), Trouble> {
        if (given - self.owned).abs() < MISSING { Ok(()) } else { Err(Trouble::Narrow) }
    }
}

/// A block in a loaded band.
#[derive(Clone, Copy)]
struct Scene<'a> {
    band: &'a Band,
    block: &'a Block,
    tally: &'a dyn Tally,
}

impl Scene<'_> {
    /// Cells of a stamp, within those of the block.
    fn cells(&self, stamp: usize) -> Range<usize> {
        let start = self.band.padded_cells_of(self.block.stamps.start).start;
        let cells = self.band.padded_cells_of(stamp);
        cells.start - start..cells.end - start
    }

    /// First instance of a stamp's window, within the block.
    fn first(&self, stamp: usize) -> usize {
        self.band.windows()[stamp].first - self.block.instances.start
    }
}

#[cfg(test)]
thread_local! {
    /// Visits to stamps on this thread.
    pub(super) static VISITS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

impl Free {
    /// Propagates until nothing moves. Fills the responsibilities of the block's stamps.
    pub(super) fn settle(
        &mut self,
        band: &Band,
        block: &Block,
        tally: &dyn Tally,
        responsibilities: &mut [f64],
        messages: Option<&Messages>,
    ) -> Result<Settled<'_>, Trouble> {
        let scene = Scene { band, block, tally };
        let cells = scene.cells(block.stamps.end - 1).end;
        let are_few = cells <= KEPT_CELLS * block.instances.len();
        let messages = messages.filter(|_| are_few && block.stamps.len() > 1);
        self.begin(scene, responsibilities, messages);
        // One stamp has nobody to agree with.
        let is_alone = block.stamps.len() == 1;
        let mut stretches = if is_alone { Vec::new() } else { vec![block.stamps.clone()] };
        for round in 0..ROUNDS + DAMPED_ROUNDS {
            if round == ROUNDS {
                refill(&mut self.damped, cells, 0.0);
            }
            for stretch in stretches {
                self.sweep(scene, Side::Before, stretch.clone(), responsibilities);
                self.sweep(scene, Side::After, stretch.clone(), responsibilities);
                if (PLAIN_ROUNDS..ROUNDS).contains(&round) && stretch.len() > 1 {
                    self.rescale(scene, stretch, responsibilities);
                }
            }
            stretches = self.unsettled(scene, TOLERANCE);
            if !stretches.is_empty() && !is_alone {
                continue;
            }
            let log_evidence = self.conclude(scene, responsibilities);
            stretches = self.unsettled(scene, CERTIFIED);
            if log_evidence.is_finite() && (stretches.is_empty() || is_alone) {
                if let Some(messages) = messages {
                    self.keep(scene, messages);
                }
                let instances = block.instances.len() * tally.width();
                let (tally, claims) = (&self.running[..instances], &self.claims[..cells]);
                let owned = &responsibilities[band.padded_cells_of(block.stamps.start).start..];
                let owned = owned[..cells].iter().sum();
                return Ok(Settled { log_evidence, owned, tally, claims });
            }
        }
        Err(Trouble::Unsettled)
    }

    fn begin(
        &mut self,
        scene: Scene<'_>,
        responsibilities: &mut [f64],
        messages: Option<&Messages>,
    ) {
        let Scene { band, block, tally } = scene;
        let cells = scene.cells(block.stamps.end - 1).end;
        let width = tally.width();
        make_room(&mut self.before, cells * width);
        make_room(&mut self.after, cells * width);
        make_room(&mut self.claims, cells);
        let widest = block.stamps.clone().map(|stamp| scene.cells(stamp).len()).max();
        make_room(&mut self.offers, widest.unwrap_or(0));
        refill(&mut self.running, (block.instances.len() + LANES) * width, 0.0);
        tally.begin(Side::After, &mut self.running);
        if block.stamps.len() > 1 {
            self.claim_all(tally);
        }
        for stamp in block.stamps.clone() {
            let (cells, first) = (scene.cells(stamp), scene.first(stamp));
            let own = cells.len() * width;
            let after = &mut self.after[cells.start * width..][..own];
            after.copy_from_slice(&self.running[first * width..][..own]);
            if let Some(messages) = messages {
                let window = band.windows()[stamp];
                let after = &mut after[..window.len() * width];
                messages.recall(stamp, window.first, width, after);
            }
            responsibilities[band.padded_cells_of(stamp)].fill(0.0);
        }
        self.moved.clear();
        self.moved.resize(block.stamps.len(), f64::INFINITY);
        self.damped.clear();
    }

    /// Begins as if every instance were claimed already: what one that must give a stamp offers would
    /// otherwise begin without bound, and take as many rounds to fall.
    fn claim_all(&mut self, tally: &dyn Tally) {
        let mut claims = vec![1.0; self.running.len() / tally.width()];
        let (running, claims) = (&mut self.running[..], &mut claims[..]);
        tally.take(&mut Row { running, claims, ..Row::empty(Side::After, 0) });
    }

    fn keep(&self, scene: Scene<'_>, messages: &Messages) {
        let width = scene.tally.width();
        for stamp in scene.block.stamps.clone() {
            let (window, cells) = (scene.band.windows()[stamp], scene.cells(stamp));
            let after = &self.after[cells.start * width..][..window.len() * width];
            messages.keep(stamp, window.first, after);
        }
    }

    /// Visits a stretch of stamps in order, with the stamps of `side` behind.
    fn sweep(
        &mut self,
        scene: Scene<'_>,
        side: Side,
        stretch: Range<usize>,
        responsibilities: &mut [f64],
    ) {
        let entry = if side == Side::Before { stretch.start } else { stretch.end - 1 };
        self.enter(scene, side, entry);
        for step in 0..stretch.len() {
            let stamp = if side == Side::Before { entry + step } else { entry - step };
            self.visit(scene, side, stamp, responsibilities);
        }
    }

    /// Begins with what the stamps behind `entry` claim. Those outside the stretch no longer move: it is in
    /// the cells of the entry.
    fn enter(&mut self, scene: Scene<'_>, side: Side, entry: usize) {
        let width = scene.tally.width();
        scene.tally.begin(side, &mut self.running);
        let (edge, stored) = match side {
            Side::Before => (scene.block.stamps.start, &self.before),
            Side::After => (scene.block.stamps.end - 1, &self.after),
        };
        if entry != edge {
            let (cells, first) = (scene.cells(entry), scene.first(entry));
            let len = cells.len() * width;
            self.running[first * width..][..len]
                .copy_from_slice(&stored[cells.start * width..][..len]);
        }
    }

    /// Updates the claims of a stamp; returns log D.
    fn visit(
        &mut self,
        scene: Scene<'_>,
        side: Side,
        stamp: usize,
        responsibilities: &mut [f64],
    ) -> f64 {
        #[cfg(test)]
        VISITS.set(VISITS.get() + 1);
        let Scene { band, block, tally } = scene;
        let (cells, first, width) = (scene.cells(stamp), scene.first(stamp), tally.width());
        let states = cells.start * width..cells.end * width;
        let (stored, beyond) = match side {
            Side::Before => (&mut self.before, &self.after),
            Side::After => (&mut self.after, &self.before),
        };
        let padded = band.padded_cells_of(stamp);
        let mut row = Row {
            side,
            first,
            density: &band.densities()[padded.clone()],
            background: band.background(stamp),
            running: &mut self.running[first * width..][..states.len()],
            stored: &mut stored[states.clone()],
            beyond: &beyond[states],
            offers: &mut self.offers[..cells.len()],
            claims: &mut self.claims[cells.clone()],
            responsibilities: &mut responsibilities[padded],
        };
        let (total, moved) = if self.damped.is_empty() {
            tally.visit(&mut row)
        } else {
            visit_in_steps(tally, &mut row, Some(&mut self.damped[cells]))
        };
        self.moved[stamp - block.stamps.start] = moved;
        total.ln()
    }

    /// A last visit to all stamps, which adds up the evidence.
    fn conclude(&mut self, scene: Scene<'_>, responsibilities: &mut [f64]) -> f64 {
        let mut log_evidence = 0.0;
        scene.tally.begin(Side::Before, &mut self.running);
        for stamp in scene.block.stamps.clone() {
            let log_total = self.visit(scene, Side::Before, stamp, responsibilities);
            let cells = scene.cells(stamp);
            log_evidence += log_total + scene.band.log_scale(stamp)
                - log_agreement(&self.claims[cells.clone()], &self.offers[..cells.len()]);
        }
        log_evidence
    }

    /// Stretches of stamps that still move, with those that share an instance with them.
    fn unsettled(&self, scene: Scene<'_>, tolerance: f64) -> Vec<Range<usize>> {
        let (windows, start) = (scene.band.windows(), scene.block.stamps.start);
        let mut stretches: Vec<Range<usize>> = Vec::new();
        let mut stamp = start;
        while stamp < scene.block.stamps.end {
            // NaN moves.
            if self.moved[stamp - start] < tolerance {
                stamp += 1;
                continue;
            }
            let least = stretches.last().map_or(start, |last| last.end);
            let mut from = stamp;
            while from > least && windows[from - 1].end > windows[stamp].first {
                from -= 1;
            }
            let mut to = stamp + 1;
            while to < scene.block.stamps.end && windows[to].first < windows[stamp].end {
                to += 1;
            }
            match stretches.last_mut() {
                Some(last) if from <= last.end => last.end = to.max(last.end),
                _ => stretches.push(from..to),
            }
            stamp += 1;
        }
        stretches
    }
}

/// The stamps that claim each instance of a block.
#[derive(Clone, Copy)]
pub(super) struct Claimants<'a> {
    pub(super) band: &'a Band,
    pub(super) block: &'a Block,
}

impl Claimants<'_> {
    /// Calls `each` with every instance, counted from the block's first, that somebody claims, the first
    /// stamp that claims it, and its claims.
    fn for_instances(&self, settled: &Settled<'_>, mut each: impl FnMut(usize, usize, &[f64])) {
        let Self { band, block } = *self;
        let (windows, stamps) = (band.windows(), block.stamps.clone());
        let origin = band.padded_cells_of(stamps.start).start;
        let (mut from, mut to) = (stamps.start, stamps.start);
        let mut claims = Vec::new();
        for instance in block.instances.clone() {
            while from < stamps.end && windows[from].end <= instance {
                from += 1;
            }
            while to < stamps.end && windows[to].first <= instance {
                to += 1;
            }
            claims.clear();
            claims.extend(
                (from..to).map(|stamp| settled.claims[self.cell(stamp, instance) - origin]),
            );
            if claims.iter().any(|&claim| claim > 0.0) {
                each(instance - block.instances.start, from, &claims);
            }
        }
    }

    /// The cell of a stamp and an instance.
    fn cell(&self, stamp: usize, instance: usize) -> usize {
        self.band.cells_of(stamp).start + instance - self.band.windows()[stamp].first
    }
}

/// Claims of a stamp from its densities and offers; overwrites its responsibilities. Returns D and how far
/// these moved.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2+fma"))]
fn claim(row: &mut Row<'_>) -> (f64, f64) {
    let mut sum = Others::default();
    for (density, offer) in groups(row.density).iter().zip(groups(row.offers)) {
        sum.add(Lanes(*density) * Lanes(*offer));
    }
    let (others, largest) = sum.finish(row.background);
    let mut shares = NewShares::new(others + largest);
    let inputs = groups(row.density).iter().zip(groups(row.offers));
    let outputs = groups_mut(row.claims).iter_mut().zip(groups_mut(row.responsibilities));
    for ((density, offer), (claim, share)) in inputs.zip(outputs) {
        let own = Lanes(*density) * Lanes(*offer);
        *claim = but_own(*density, own, others, largest).0;
        shares.set(own, share);
    }
    (others + largest, shares.moved.sum())
}

/// Sums of terms from which one can be left out without cancellation: the largest is kept apart.
struct Others {
    top: Lanes,
    rest: Lanes,
}

impl Default for Others {
    #[inline(always)]
    fn default() -> Self {
        Self { top: Lanes::all(0.0), rest: Lanes::all(0.0) }
    }
}

impl Others {
    #[inline(always)]
    fn add(&mut self, terms: Lanes) {
        self.rest += self.top.min(terms);
        self.top = self.top.max(terms);
    }

    /// The sum of a number and all terms but the largest, and the largest.
    #[inline(always)]
    fn finish(self, start: f64) -> (f64, f64) {
        let (mut largest, mut others) = (0.0, 0.0);
        for lane in self.top.0 {
            others += f64::min(largest, lane);
            largest = f64::max(largest, lane);
        }
        (start + (self.rest.sum() + others), largest)
    }
}

/// The claim: the density over all terms but the own.
#[inline(always)]
fn but_own(density: [f64; LANES], own: Lanes, others: f64, largest: f64) -> Lanes {
    let sum = Lanes::all(others) + (Lanes::all(largest) - own);
    Lanes(density) / sum.max(Lanes::all(TINY))
}

/// Responsibilities that replace the last ones.
struct NewShares {
    inverse: Lanes,
    moved: Lanes,
}

impl NewShares {
    #[inline(always)]
    fn new(total: f64) -> Self {
        Self { inverse: Lanes::all(1.0 / total.max(TINY)), moved: Lanes::all(0.0) }
    }

    #[inline(always)]
    fn set(&mut self, own: Lanes, share: &mut [f64; LANES]) {
        let new = own * self.inverse;
        let change = new - Lanes(*share);
        self.moved += change.max(Lanes::all(0.0) - change);
        *share = new.0;
    }
}

/// Σ log(1 + μν), from products: the responsibilities of a stamp sum to one, so these stay in range.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2+fma"))]
fn log_agreement(claims: &[f64], offers: &[f64]) -> f64 {
    let mut products = Lanes::all(1.0);
    let mut logs = 0.0;
    for (claim, offer) in groups(claims).iter().zip(groups(offers)) {
        products = products * (Lanes::all(1.0) + Lanes(*claim) * Lanes(*offer));
        if products.0.iter().any(|&product| product > 1e30) {
            logs += products.0.iter().map(|product| product.ln()).sum::<f64>();
            products = Lanes::all(1.0);
        }
    }
    logs + products.0.iter().product::<f64>().ln()
}

/// The geometric mean of new claims and the last ones.
fn dampen(claims: &mut [f64], last: &mut [f64]) {
    for (claim, last) in claims.iter_mut().zip(last) {
        if *last > 0.0 {
            // Their product could underflow.
            *claim = claim.sqrt() * last.sqrt();
        }
        *last = *claim;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_of_any_size_are_damped() {
        // Those of instances that must give a stamp.
        let (mut claims, mut last) = ([1e-200, 4e200, 3.0], [4e-200, 1e200, 0.0]);
        dampen(&mut claims, &mut last);
        for (got, want) in claims.into_iter().zip([2e-200, 2e200, 3.0]) {
            assert!((got / want - 1.0).abs() < 1e-15, "{got} {want}"); // two roundings
        }
        assert_eq!(claims, last);
    }
}
