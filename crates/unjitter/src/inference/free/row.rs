//! What a stamp and the instances in its window say to each other when the stamp is visited.

/// The cells of a stamp that is visited.
pub(in crate::inference) struct Row<'a> {
    /// The side of the stamps visited so far.
    pub(super) side: Side,
    /// First instance, counted from the block's.
    pub(super) first: usize,
    pub(super) density: &'a [f64],
    pub(super) background: f64,
    /// What the stamps visited so far claim.
    pub(super) running: &'a mut [f64],
    /// Keeps that for the way back.
    pub(super) stored: &'a mut [f64],
    /// What the stamps on the other side claim.
    pub(super) beyond: &'a [f64],
    pub(super) offers: &'a mut [f64],
    pub(super) claims: &'a mut [f64],
    pub(super) responsibilities: &'a mut [f64],
}

impl Row<'_> {
    pub(super) fn empty(side: Side, first: usize) -> Self {
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
    pub(super) fn sides(&self) -> [&[f64]; 2] {
        match self.side {
            Side::Before => [&*self.running, self.beyond],
            Side::After => [self.beyond, &*self.running],
        }
    }
}

/// The stamps before or those after the one that is visited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::inference) enum Side {
    Before,
    After,
}
