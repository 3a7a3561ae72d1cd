"""Clocks that are off: found, told, and taken off the stamps."""

from __future__ import annotations

import warnings
from datetime import datetime, timedelta, timezone

import numpy as np
import pandas as pd
import pytest
from people import USUAL, draw, off
from sklearn.preprocessing import StandardScaler

from unjitter import (
    EventDetector,
    OnFeatures,
    Session,
    UnjitterWarning,
    baselines,
    make_pipeline,
    sessions_from_frames,
    sync,
)

COLUMNS = ["name", "stamps", "verdict", "offset", "low", "high", "drift", "probability"]


def right_sessions():
    return [draw(seed, USUAL) for seed in range(100, 112)]


@pytest.fixture(scope="module")
def right():
    """A detector of sessions whose clocks are right."""
    return EventDetector(restarts=0).fit(right_sessions())


@pytest.fixture(scope="module")
def late():
    sessions, habits = off(8, 30.0, 0.0, seed=4)
    return sessions, np.array([habit.offset for habit in habits])


@pytest.fixture(scope="module")
def synced(right, late):
    return sync(late[0], right, by="session", range=100.0, drift=0.0)


def test_offsets_are_found(synced, late):
    sessions, offsets = late
    assert [clock.name for clock in synced] == [session.name for session in sessions]
    assert [clock.stamps for clock in synced] == [len(session.events) for session in sessions]
    assert {clock.verdict for clock in synced} == {"found"}
    assert np.abs(offsets).max() > 30.0
    # A dozen presses scatter by one.
    for clock, offset in zip(synced, offsets):
        assert clock.offset == pytest.approx(offset, abs=4 / np.sqrt(10))
        assert clock.low < clock.offset < clock.high
        assert clock.drift == 0.0 and clock.probability > 0.95


def test_profiles_peak_at_the_offset(synced):
    for clock in synced:
        offsets, heights = clock.profile
        assert np.all(np.diff(offsets) > 0.0)
        # The best is measured by all alignments, the profile by sums; and their grid is a spread
        # or so wide.
        assert offsets[np.argmax(heights)] == pytest.approx(clock.offset, abs=1.0)
        assert offsets[0] == pytest.approx(-100.0, abs=1.0)


def test_drifts_are_found(right):
    sessions, habits = off(6, 10.0, 0.03, seed=9)
    found = sync(sessions, right, by="session", range=40.0)
    for clock, habit in zip(found, habits):
        # A drift that is not zero has to earn its place, so small ones may be taken as none; the
        # ends of a session are 150 from its middle, and a dozen presses are known to 0.3.
        assert clock.drift == pytest.approx(habit.drift, abs=1.5 / 150)


def test_a_detector_is_learned_if_none_is_given():
    sessions, habits = off(10, 6.0, 0.0, seed=3)
    found = sync(sessions, by="session", range=20.0, drift=0.0)
    away = np.array([clock.offset - own.offset for clock, own in zip(found, habits)])
    # Of all offsets together only the sum with the delay is known.
    assert np.abs(away - away.mean()).max() < 4 / np.sqrt(10)


def test_sessions_share_a_clock(right):
    habit = USUAL.but(offset=25.0)
    together = [draw(seed, habit).replace(clock="watch", device="d1") for seed in (1, 2)]
    alone = draw(3, USUAL.but(offset=-12.0))
    found = sync([*together, alone], right, range=50.0, drift=0.0)
    assert [clock.name for clock in found] == ["s003", "watch"]
    assert found["watch"].stamps == sum(len(session.events) for session in together)
    assert found["watch"].offset == pytest.approx(25.0, abs=1.0)
    assert found["s003"].offset == pytest.approx(-12.0, abs=1.3)
    assert [own.name for own in sync(together, right, by="device", range=50.0)] == ["d1"]
    with pytest.raises(KeyError, match="phone"):
        found["phone"]
    assert found.apply(alone).events[0] == pytest.approx(alone.events[0] + 12.0, abs=1.3)
    with pytest.raises(ValueError, match="^clock 's009' was not looked for"):
        found.apply(draw(9, USUAL))


def test_the_table_is_of_the_clocks(synced):
    table = synced.to_frame()
    assert list(table.columns) == COLUMNS and len(synced) == len(table) == 8
    assert list(table["offset"]) == [clock.offset for clock in synced]
    assert repr(synced) == repr(table)
    assert synced.to_frame(backend="polars").columns == COLUMNS


def test_apply_moves_stamps_back(synced, late):
    sessions, _ = late
    moved = synced.apply(sessions)
    for before, after, clock in zip(sessions, moved, synced):
        # One addition, and one of the first instance's time.
        np.testing.assert_allclose(after.events, before.events - clock.offset, atol=1e-9)
        assert after.name == before.name and after.X is before.X
        np.testing.assert_array_equal(after.labels, before.labels)
    assert isinstance(synced.apply(sessions[0]), Session)
    again = EventDetector(restarts=0).fit(moved)
    assert again.delay_ == pytest.approx(USUAL.delay, abs=0.4)


def test_apply_takes_drift_off_too(right):
    fast = draw(9, USUAL.but(drift=0.04), name="fast")
    found = sync(fast, right, by="session", range=20.0)["fast"]
    moved = sync(fast, right, by="session", range=20.0).apply(fast)
    middle = 0.5 * (fast.times[0] + fast.times[-1])
    # A stamp at z by a clock that is ahead by o + d (t - middle) is of t = z - o - d (t - middle).
    late = found.offset + found.drift * (moved.events - middle)
    np.testing.assert_allclose(moved.events + late, fast.events, atol=1e-9)


def test_each_person_has_a_clock(right):
    people = {"ann": USUAL.but(offset=20.0), "bob": USUAL.but(offset=-15.0)}
    session = draw(5, people)
    found = sync(session, right, by="annotator", range=50.0, drift=0.0)
    assert found["ann"].offset == pytest.approx(20.0, abs=1.5)
    assert found["bob"].offset == pytest.approx(-15.0, abs=1.5)
    moved = found.apply(session)
    for who, clock in (("ann", found["ann"]), ("bob", found["bob"])):
        np.testing.assert_allclose(
            moved.events[moved.annotators == who],
            session.events[session.annotators == who] - clock.offset,
            atol=1e-9,
        )


def test_rows_of_frames_stay_with_their_stamps(right, late):
    sessions, _ = late
    names = [session.name for session in sessions[:2]]
    instances = pd.concat(
        pd.DataFrame(session.X, columns=list("abcd")).assign(session=name, time=session.times)
        for name, session in zip(names, sessions)
    )
    events = pd.concat(
        pd.DataFrame({"time": session.events[::-1], "session": name})
        for name, session in zip(names, sessions)
    ).sample(frac=1.0, random_state=0)
    events.index = range(1000, 1000 + len(events))
    read = sessions_from_frames(instances, events)
    moved = sync(read, right, by="session", range=100.0, drift=0.0)
    table = right.align(moved.apply(read))
    assert list(table.index) == list(events.index)
    by_name = np.array([moved[name].offset for name in events["session"]])
    np.testing.assert_allclose(table["stamp"], events["time"] - by_name, atol=1e-9)


@pytest.mark.parametrize("zone", [None, timezone(timedelta(hours=2))])
def test_dates_stay_dates(right, zone):
    start = datetime(2024, 5, 31, 14, 3, 27, 500_000, tzinfo=zone)
    plain = draw(6, USUAL.but(offset=40.0), name="dated")

    def dates(seconds):
        return [start + timedelta(seconds=float(one)) for one in seconds]

    dated = Session(plain.X, dates(plain.times), dates(plain.events), name="dated")
    found = sync(dated, right, by="session", range=100.0, drift=0.0)
    moved = found.apply(dated)
    assert moved.calendar == dated.calendar
    # Dates have nanoseconds, and those of Python microseconds.
    np.testing.assert_allclose(moved.events, dated.events - found.clocks[0].offset, atol=1e-5)
    assert found.clocks[0].offset == pytest.approx(40.0, abs=1.3)


def test_clocks_that_were_not_found_stay(right, late):
    session = late[0][0]
    few = session.replace(events=session.events[:1], name="few")
    silent = session.replace(events=[], name="silent")
    found = sync([session, few, silent], right, by="session", range=100.0, drift=0.0)
    assert [own.verdict for own in found] == ["flat", "found", "no_stamps"]
    with pytest.warns(UnjitterWarning, match="clocks of few were not found, and their") as caught:
        moved = found.apply([few, session, silent])
    assert caught[0].filename == __file__
    np.testing.assert_array_equal(moved[0].events, few.events)
    assert not np.array_equal(moved[1].events, session.events)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(found.apply(silent).events) == 0


def test_other_places_are_told(right):
    """Every tenth instance is an event, and all are pressed: one is as good as the next."""
    labels = np.arange(300) % 10 == 5
    X = np.outer(labels, [4.0, -4.0, 0.0, 0.0])
    times = np.arange(300.0)
    session = Session(X, times, times[labels][5:-5] + 0.5, name="regular")
    [clock] = sync(session, right, by="session", range=12.0, drift=0.0)
    assert clock.verdict == "several" and clock.probability < 0.5
    places = [clock.offset, *(place.offset for place in clock.others)]
    apart = np.diff(sorted(places))
    # Ten instances, to what priors and the ends of the session add.
    np.testing.assert_allclose(apart / 10.0, np.round(apart / 10.0), atol=0.05)
    assert len(places) > 2
    below = [place.log_evidence for place in clock.others]
    assert below == sorted(below, reverse=True) and below[0] <= 0.0


def test_pipelines_sync_what_their_detector_sees(late, synced):
    def in_other_units(sessions):
        return [session.replace(X=5.0 + 100.0 * session.X) for session in sessions]

    model = make_pipeline(OnFeatures(StandardScaler()), EventDetector(restarts=0))
    model.fit(in_other_units(right_sessions()))
    found = sync(in_other_units(late[0]), model, by="session", range=100.0, drift=0.0)
    for own, other in zip(found, synced):
        # Standardised features give the same detector, to what the optimiser leaves.
        assert own.offset == pytest.approx(other.offset, abs=0.05)


def test_mistakes_are_named(right, late, synced):
    session = late[0][0]
    with pytest.raises(ValueError, match="by is 'watch', expected 'annotator' or 'session'"):
        sync(session, right, by="watch")
    with pytest.raises(ValueError, match="session 0 has no name, and stamps differ by clock"):
        sync(session.replace(name=None), right)
    with pytest.raises(ValueError, match="range is 'far', expected a finite number"):
        sync(session, right, range="far")
    with pytest.raises(ValueError, match="range is -1"):
        sync(session, right, range=-1.0)
    with pytest.raises(ValueError, match="drift is -1"):
        sync(session, right, drift=-1.0)
    naive = baselines.Naive().fit(right_sessions())
    with pytest.raises(ValueError, match="detector is a Naive, expected an EventDetector"):
        sync(session, naive)
    with pytest.raises(ValueError, match="the clock of session 'other' was not looked for"):
        synced.apply(session.replace(name="other"))
