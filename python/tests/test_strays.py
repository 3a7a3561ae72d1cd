"""Presses that belong to nothing, and events that several people press for."""

from __future__ import annotations

import numpy as np
import pytest
from drawn import make_session

from unjitter import EventDetector, Session, UnjitterWarning

SESSIONS = [make_session(seed) for seed in range(6)]


def with_gap(session, begin, end):
    """The session with a sensor that was off for a while, and nobody pressing then."""
    is_on = ~((session.times > begin) & (session.times < end))
    events = session.events[~((session.events > begin) & (session.events < end))]
    return Session(
        session.X[is_on], session.times[is_on], events, labels=session.labels[is_on], name="gap"
    )


@pytest.mark.filterwarnings("error::unjitter.UnjitterWarning")
def test_presses_at_nothing_change_nothing():
    first = with_gap(SESSIONS[0], 100.0, 160.0)
    clean = EventDetector().fit([first, *SESSIONS[1:]])
    # Three while the sensor was off, and one three hours after its end.
    strays = [115.0, 130.0, 145.0, first.times[-1] + 3.0 * 3600.0]
    first = first.replace(events=np.sort([*first.events, *strays]))
    detector = EventDetector().fit([first, *SESSIONS[1:]])
    assert detector.delay_ == pytest.approx(clean.delay_, rel=0.1)
    assert detector.spread_ == pytest.approx(clean.spread_, rel=0.1)
    aligned = detector.align(first)
    is_stray = np.isin(aligned["stamp"], strays)
    assert is_stray.sum() == 4
    assert (aligned["p_spurious"][is_stray] > 0.9).all()
    assert np.median(aligned["p_spurious"][~is_stray]) < 0.1


def pressed_twice(session, rng):
    """The session with two people who press for each event, the second a little later."""
    times = session.times[session.labels == 1]
    presses = []
    for delay in (0.5, 1.0):
        pressed = times[rng.random(len(times)) < 0.9]
        presses.append(pressed + rng.normal(delay, 0.4, len(pressed)))
    return session.replace(events=np.sort(np.concatenate(presses)))


@pytest.mark.filterwarnings("ignore::unjitter.UnjitterWarning")
def test_two_people_are_noticed():
    rng = np.random.default_rng(7)
    sessions = [pressed_twice(session, rng) for session in SESSIONS]
    with pytest.warns(UnjitterWarning, match="events have several stamps, 1.* on average"):
        detector = EventDetector().fit(sessions[:4])
    poisson = EventDetector(counts="poisson").fit(sessions[:4])
    assert detector.score(sessions[4:]) == pytest.approx(poisson.score(sessions[4:]), abs=0.01)
