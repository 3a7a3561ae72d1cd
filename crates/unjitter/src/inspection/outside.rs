//! Stamps outside their session, and the shift that would move them inside.

use super::finding::{Finding, SessionShift, SessionStamps, Shift};
use super::view::{Stamped, View};

/// People press late, and no instance may follow the last event: this many times the usual spacing of instances.
const MARGIN: f64 = 10.0;
/// Fewer stamps than this would fit somewhere by chance.
const LEAST_STAMPS: usize = 3;
/// Number of stamps that suffices for certainty, and how far outside half of a session's stamps are then,
/// in usual spacings and in seconds: no annotator is that late.
pub(super) const ENOUGH: usize = 5;
const FAR: f64 = 50.0;
const FAR_SECONDS: f64 = 60.0;
const HOUR: f64 = 3600.0;
/// Largest distance of time zones, in hours.
const ZONES: f64 = 26.0;

/// The shifts that move a session's stamps inside: from, to.
type Room = (f64, f64);

pub(super) fn check(view: &View<'_>) -> Vec<Finding> {
    let margin = MARGIN * view.spacing;
    let (mut outside, mut shifted, mut rooms, mut far) = (Vec::new(), Vec::new(), Vec::new(), 0);
    for session in &view.sessions {
        let (name, stamps) = (session.name, session.stamps.len());
        let strays = strays(session, margin);
        if strays == 0 {
            continue;
        }
        match room(session, margin).filter(|_| 2 * strays > stamps && stamps >= LEAST_STAMPS) {
            Some(room) => {
                let shift = shift(room, view.in_seconds());
                shifted.push(SessionShift { session: name.to_owned(), stamps, shift });
                rooms.push(room);
                far += if is_far(session, view.spacing) { stamps } else { 0 };
            }
            None => outside.push(SessionStamps { session: name.to_owned(), stamps: strays }),
        }
    }
    let mut findings = Vec::new();
    if !shifted.is_empty() {
        let meet = |a: Room, b: Room| (a.0.max(b.0), a.1.min(b.1));
        let doubtless = far >= ENOUGH;
        let room = rooms.into_iter().reduce(meet).filter(|room| room.0 <= room.1);
        let common = room.map(|room| shift(room, view.in_seconds()));
        findings.push(Finding::ShiftedClock { sessions: shifted, common, doubtless });
    }
    if !outside.is_empty() {
        let stamps = outside.iter().map(|session| session.stamps).sum();
        let of = view.stamps();
        findings.push(Finding::OutsideSession { stamps, of, margin, sessions: outside });
    }
    findings
}

fn strays(session: &Stamped<'_>, margin: f64) -> usize {
    let (start, end) = session.span();
    let before = session.stamps.partition_point(|&stamp| stamp < start - margin);
    before + session.stamps.len() - session.stamps.partition_point(|&stamp| stamp <= end + margin)
}

/// Whether half of the stamps are further outside than any annotator is late.
fn is_far(session: &Stamped<'_>, spacing: f64) -> bool {
    let ((start, end), middle) = (session.span(), session.stamps[session.stamps.len() / 2]);
    (start - middle).max(middle - end) >= (FAR * spacing).max(FAR_SECONDS)
}

fn room(session: &Stamped<'_>, margin: f64) -> Option<Room> {
    let (start, end) = session.span();
    let (first, last) = (session.stamps.first()?, session.stamps.last()?);
    let room = (start - margin - first, end + margin - last);
    (room.0 <= room.1).then_some(room)
}

/// The middle of the possible shifts, or the only whole number of hours.
fn shift((from, to): Room, in_seconds: bool) -> Shift {
    let (first, last) = ((from / HOUR).ceil(), (to / HOUR).floor());
    let is_zone = in_seconds && first == last && first != 0.0 && first.abs() <= ZONES;
    let give = (to - from) / 2.0;
    match is_zone {
        true => Shift { seconds: first * HOUR, give, hours: Some(first as i32) },
        false => Shift { seconds: from + give, give, hours: None },
    }
}
