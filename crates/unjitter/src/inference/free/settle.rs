//! Rounds of visits until the responsibilities no longer move.
//!
//! Once those of a stretch of stamps no longer move, the next rounds leave it out. For one stamp at most
//! this converges always; for other counts, a block that has not converged after [`ROUNDS`] goes on with
//! damped claims, and fails if that does not help.

use std::ops::Range;

use super::claim::log_agreement;
use super::messages::Messages;
use super::row::{Row, Side};
use super::sweep::{Free, Scene};
use super::tally::Tally;
use crate::inference::buffers::{make_room, refill};
use crate::inference::vocabulary::{Block, Trouble};
use crate::inference::windows::Band;
use crate::math::LANES;

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
/// What may still move after all rounds. Two stamps that may have come from two sure events, either way, creep from one
/// to the other: it costs nothing, so that evidence and derivatives have long settled.
const CREEPING: f64 = 1e-3;
/// How many stamps more a block's instances may own than they give. If they cannot give as many as there
/// are, responsibilities settle, but a whole stamp is missing.
const MISSING: f64 = 0.1;
/// Most cells per instance whose messages are kept: all sessions keep theirs for as long as learning takes.
const KEPT_CELLS: usize = 32;

/// The end of propagation.
pub(in crate::inference) struct Settled<'a> {
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
    pub(super) fn check(&self, given: f64) -> Result<(), Trouble> {
        if (given - self.owned).abs() < MISSING { Ok(()) } else { Err(Trouble::Narrow) }
    }
}

impl Free {
    /// Propagates until nothing moves. Fills the responsibilities of the block's stamps.
    pub(in crate::inference) fn settle(
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
                return Ok(self.settled(scene, log_evidence, responsibilities, messages));
            }
        }
        let log_evidence = self.conclude(scene, responsibilities);
        if log_evidence.is_finite() && self.unsettled(scene, CREEPING).is_empty() {
            return Ok(self.settled(scene, log_evidence, responsibilities, messages));
        }
        Err(Trouble::Unsettled)
    }

    fn settled(
        &self,
        scene: Scene<'_>,
        log_evidence: f64,
        responsibilities: &[f64],
        messages: Option<&Messages>,
    ) -> Settled<'_> {
        if let Some(messages) = messages {
            self.keep(scene, messages);
        }
        let Scene { band, block, tally } = scene;
        let cells = scene.cells(block.stamps.end - 1).end;
        let instances = block.instances.len() * tally.width();
        let (tally, claims) = (&self.running[..instances], &self.claims[..cells]);
        let owned = &responsibilities[band.padded_cells_of(block.stamps.start).start..];
        let owned = owned[..cells].iter().sum();
        Settled { log_evidence, owned, tally, claims }
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
