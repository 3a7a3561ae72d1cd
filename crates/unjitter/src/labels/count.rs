//! The number of labels, known to the compiler where it is two: loops over labels then vanish.

/// A number of labels.
pub(super) trait Count: Copy + Sync {
    fn get(self) -> usize;
}

/// No event, or one of the only class.
#[derive(Debug, Clone, Copy)]
pub(super) struct Two;

impl Count for Two {
    #[inline(always)]
    fn get(self) -> usize {
        2
    }
}

/// Any number.
#[derive(Debug, Clone, Copy)]
pub(super) struct Any(pub(super) usize);

impl Count for Any {
    #[inline(always)]
    fn get(self) -> usize {
        self.0
    }
}

/// Evaluates an expression with the number of labels as the best of these types.
macro_rules! counted {
    ($labels:expr, $count:ident => $work:expr) => {
        match $labels {
            2 => {
                let $count = $crate::labels::count::Two;
                $work
            }
            labels => {
                let $count = $crate::labels::count::Any(labels);
                $work
            }
        }
    };
}

pub(super) use counted;
