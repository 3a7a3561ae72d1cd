//! Where around the stamps do the features change?
//!
//! For widths over decades and for lags, the features in a window that lies so long before each stamp are
//! compared with those in its surroundings, in units of how windows differ anyway:
//!
//! ```text
//! T(lag, width) = M · dᵀ C⁻¹ d        d mean contrast over M stamps, C covariance of contrasts of this width
//! ```
//!
//! Then T is compared with its values for stamps that were moved to random places, since windows overlap
//! and stamps come in bouts. Cube roots of such sums of squares are nearly normal, so strength is the number
//! of deviations by which a cube root exceeds the median of chance, and means the same at every width.
//!
//! This needs no detector, no labels and no guess of the delay. The best peaks are a delay and a scatter
//! to start from, and the picture is the stamp-triggered average of the field.
//! Cost: a few passes over the features; stamps are sampled beyond some thousands.

mod binned;
mod grid;
mod peaks;
mod scaling;
mod stretch;
mod sums;
mod whitening;

pub(crate) use binned::{Binned, bins};
pub use peaks::LEAST_STRENGTH;
pub(crate) use scaling::Scaling;
pub(crate) use stretch::Stretch;
pub(crate) use whitening::{Covariances, Whitening};

use serde::Serialize;

use crate::math::quantile;
use crate::session::check_columns;
use crate::{Control, Error, Result, Session, parallel};
use grid::{Grid, Window};
use sums::{Sums, Work};

/// Most stamps used, about.
const MOST_STAMPS: usize = 4096;
/// Most tasks that run in parallel: each has sums of its own.
const TASKS: usize = 32;
/// Quartiles of a normal number are so many deviations apart.
const NORMAL_QUARTILES: f64 = 1.349;

/// How strongly features change around the stamps, by lag and width.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Scan {
    /// One for each width, from narrow to wide.
    pub rows: Vec<Row>,
    /// Where the change is strongest, and more than chance: at most four, the strongest first.
    pub peaks: Vec<Peak>,
}

/// Strength by lag, at one width.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// How long the windows are, in the unit of times.
    pub width: f64,
    /// How long the middle of the window lies before the stamp, increasing; negative if after it.
    pub lags: Vec<f64>,
    /// How far the change exceeds the median of chance, in deviations; about −2 to 2 by chance.
    pub strength: Vec<f64>,
}

/// A lag and a width at which features change most.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Peak {
    /// How long before the stamp, in the unit of times.
    pub lag: f64,
    /// How long the window is. Stamps that scatter normally give some three standard deviations.
    pub width: f64,
    /// See [`Row::strength`].
    pub strength: f64,
}

/// Scans sessions. None if there is nothing to scan: no stamps, constant features, or sessions of a few
/// instances.
pub fn scan<'a>(
    sessions: impl IntoIterator<Item = &'a Session<'a>>,
    control: Control<'_>,
) -> Result<Option<Scan>> {
    let mut recordings: Vec<Stretch<'_>> = Vec::new();
    for session in sessions {
        let (own, first) = (Stretch::of(session), recordings.first());
        let columns = first.map_or(own.features.ncols(), |first| first.features.ncols());
        check_columns(session.name(), own.features.ncols(), columns)?;
        recordings.push(own);
    }
    scan_stretches(&recordings, control)
}

/// The same for recordings that have the same number of columns.
pub(crate) fn scan_stretches(
    recordings: &[Stretch<'_>],
    control: Control<'_>,
) -> Result<Option<Scan>> {
    let Some(grid) = Grid::of(recordings) else { return Ok(None) };
    let features = recordings.iter().map(|recording| recording.features);
    let columns = recordings[0].features.ncols();
    let Some(scaling) = Scaling::of(features, columns) else { return Ok(None) };
    let pieces: Vec<Stretch<'_>> =
        recordings.iter().flat_map(|recording| recording.cut(grid.reach, grid.longest)).collect();
    let stamps: usize = pieces.iter().map(|piece| piece.stamps.len()).sum();
    let work = Work {
        grid: &grid,
        scaling: &scaling,
        span: pieces.iter().map(Stretch::span).sum(),
        every: stamps.div_ceil(MOST_STAMPS).max(1),
    };
    let sums = add_up(&work, &pieces, control)?;
    let rows = rows(&grid.windows, sums);
    let peaks = peaks::of(&rows);
    Ok((!rows.is_empty()).then_some(Scan { rows, peaks }))
}

/// The sums of all pieces, width by width.
fn add_up(work: &Work<'_>, pieces: &[Stretch<'_>], control: Control<'_>) -> Result<Vec<Sums>> {
    let width = work.scaling.width();
    let empty = || -> Vec<Sums> {
        work.grid.windows.iter().map(|window| Sums::empty(window, width)).collect()
    };
    let tasks = tasks(pieces);
    let run = |task: usize| {
        let mut sums = empty();
        for k in tasks[task].clone() {
            control.stop_if_requested()?;
            work.add(&pieces[k], k as u64, &mut sums);
        }
        Ok::<_, Error>(sums)
    };
    let mut all = empty();
    let join = |sums: Vec<Sums>| all.iter_mut().zip(&sums).for_each(|(all, sums)| all.join(sums));
    parallel::in_order(tasks.len(), 0, run, join)?;
    Ok(all)
}

/// Neighbouring pieces with about the same number of instances in each task.
fn tasks(pieces: &[Stretch<'_>]) -> Vec<std::ops::Range<usize>> {
    let instances: usize = pieces.iter().map(|piece| piece.times.len()).sum();
    let (mut tasks, mut first, mut gathered) = (Vec::new(), 0, 0);
    for (k, piece) in pieces.iter().enumerate() {
        gathered += piece.times.len();
        if gathered * TASKS >= instances || k + 1 == pieces.len() {
            tasks.push(first..k + 1);
            (first, gathered) = (k + 1, 0);
        }
    }
    tasks
}

/// T by lag and by chance, as cube roots.
struct CubeRoots {
    by_lag: Vec<f64>,
    /// Sorted.
    by_chance: Vec<f64>,
}

impl CubeRoots {
    fn of(window: &Window, sums: Sums) -> Self {
        let stamps = sums.stamps.max(1) as f64;
        // Neighbouring windows overlap and are not worth one each.
        let windows = sums.covariances.count() as f64 / window.bins as f64;
        let width = sums.by_lag.len() / window.lags();
        let whitening = sums.covariances.whitening(width as f64 / (width as f64 + windows));
        let square = |row: &[f32]| row.iter().map(|&x| f64::from(x) * f64::from(x)).sum::<f64>();
        let roots = |sums: &[f32]| -> Vec<f64> {
            let white = whitening.whiten(sums);
            white.chunks(width).map(|row| (square(row) / stamps).cbrt()).collect()
        };
        let (by_lag, mut by_chance) = (roots(&sums.by_lag), roots(&sums.by_chance));
        by_chance.sort_by(f64::total_cmp);
        Self { by_lag, by_chance }
    }

    fn chance(&self) -> Chance {
        let [lower, middle, upper] =
            [0.25, 0.5, 0.75].map(|share| quantile(&self.by_chance, share));
        Chance { middle, deviation: (upper - lower) / NORMAL_QUARTILES }
    }
}

/// The distribution of cube roots by chance, from its quartiles: stamps that happen to be moved onto
/// other events do not count.
#[derive(Clone, Copy)]
struct Chance {
    middle: f64,
    deviation: f64,
}

/// Strength by lag, for all widths at which chance has a spread to compare with.
fn rows(windows: &[Window], sums: Vec<Sums>) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut narrowest: Option<Chance> = None;
    for (window, sums) in windows.iter().zip(sums) {
        let roots = CubeRoots::of(window, sums);
        let own = roots.chance();
        // Wide windows around regular stamps cover everything alike and hardly differ by chance. But such
        // differences are small, not telling; they are measured by those of windows that do not overlap.
        let least = *narrowest.get_or_insert(own);
        let middle = own.middle.max(least.middle);
        let deviation = own.deviation.max(least.deviation);
        if deviation <= 0.0 {
            narrowest = None;
            continue;
        }
        // Places go from the longest lag to the shortest.
        let places = (0..window.lags()).rev();
        rows.push(Row {
            width: window.width(),
            lags: places.clone().map(|place| window.lag(place)).collect(),
            strength: places.map(|place| (roots.by_lag[place] - middle) / deviation).collect(),
        });
    }
    rows
}
