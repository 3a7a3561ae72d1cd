//! What the optimiser tells while it runs, and how it is stopped.

use std::ops::ControlFlow;

use super::lbfgs::Step;
use crate::{Control, Iteration};

/// A run of the optimiser as a part of a fit.
#[derive(Debug, Clone, Copy)]
pub(super) struct Run {
    /// Which start it continues, of how many.
    pub(super) start: usize,
    pub(super) starts: usize,
    /// Iterations that this start has already made.
    pub(super) made: usize,
    /// Iterations that came before in all, and the most that there can be.
    pub(super) before: usize,
    pub(super) total: usize,
}

/// A callback that only breaks on request.
pub(super) fn quiet(control: Control<'_>) -> impl FnMut(&Step<'_>) -> ControlFlow<()> + '_ {
    move |_| {
        if control.is_stop_requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// The optimiser's callback: it reports every iteration, and breaks on request.
pub(super) fn watcher<'a>(
    control: Control<'a>,
    run: Run,
) -> impl FnMut(&Step<'_>) -> ControlFlow<()> + 'a {
    let mut break_on_request = quiet(control);
    move |step| {
        let &Step { iteration, value, gradient_norm, .. } = step;
        let Run { start, starts, made, before, total } = run;
        // The first value of a run that continues has been told.
        if iteration > 0 || made == 0 {
            let number = made + iteration;
            let done = before.saturating_add(iteration);
            control.tell(
                done,
                total,
                Some(Iteration { start, starts, number, value, gradient_norm }),
            );
        }
        break_on_request(step)
    }
}
