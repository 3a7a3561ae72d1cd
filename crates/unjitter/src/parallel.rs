//! Parallel work whose results are added up in order, so that no bit depends on the threads.
//!
//! Work is divided by the data alone: rows that fit the cache, gathered into tasks.

use std::ops::Range;

use rayon::prelude::*;

/// Numbers that may wait for addition: 8 MiB.
const WAITING: usize = 1 << 20;

/// Results that may wait in any case, however long they are: enough to keep many threads busy.
const AT_LEAST: usize = 64;

/// Instances per task, about: enough to make the bookkeeping small, few enough to distribute well.
const TASK_INSTANCES: usize = 4096;

/// Numbers in use at a time: 256 KiB, which stay in the second-level cache.
const CACHE_NUMBERS: usize = 1 << 15;

/// Numbers per instance besides its features, about: log-odds, weights, derivatives, cells.
const WORK_COLUMNS: usize = 10;

/// How many rows with `columns` features stay in cache between their first and their last use.
pub(crate) fn rows_in_cache(columns: usize) -> usize {
    (CACHE_NUMBERS / (columns + WORK_COLUMNS)).max(64)
}

/// Gathers neighbours with the given numbers of instances into groups of at least [`TASK_INSTANCES`]; the
/// last may be smaller.
pub(crate) fn gather(sizes: impl ExactSizeIterator<Item = usize>) -> Vec<Range<usize>> {
    let mut groups = Vec::new();
    let count = sizes.len();
    let (mut first, mut instances) = (0, 0);
    for (k, size) in sizes.enumerate() {
        instances += size;
        if instances >= TASK_INSTANCES || k + 1 == count {
            groups.push(first..k + 1);
            (first, instances) = (k + 1, 0);
        }
    }
    groups
}

/// Runs pieces 0..`pieces` in parallel and passes each result, of about `numbers` numbers, to `add` in
/// order. Stops at the first failure.
pub(crate) fn in_order<T: Send, E: Send>(
    pieces: usize,
    numbers: usize,
    run: impl Fn(usize) -> Result<T, E> + Sync,
    mut add: impl FnMut(T),
) -> Result<(), E> {
    if pieces == 1 {
        // Too small for another thread.
        return run(0).map(add);
    }
    let together = (WAITING / numbers.max(1)).max(AT_LEAST);
    for first in (0..pieces).step_by(together) {
        let last = pieces.min(first + together);
        let results: Result<Vec<T>, E> = (first..last).into_par_iter().map(&run).collect();
        results?.into_iter().for_each(&mut add);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order_and_the_first_failure_ends_it() {
        for (pieces, numbers) in [(0, 1), (1, 1), (300, 1), (300, WAITING)] {
            let mut seen = Vec::new();
            let run = |k| if k == 250 { Err(k) } else { Ok(k) };
            let ended = in_order(pieces, numbers, run, |k| seen.push(k));
            assert_eq!(ended, if pieces > 250 { Err(250) } else { Ok(()) });
            assert!(seen.iter().copied().eq(0..seen.len()), "{seen:?}");
            assert!(pieces > 250 || seen.len() == pieces);
        }
    }
}
