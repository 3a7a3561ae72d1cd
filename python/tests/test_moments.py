"""Stamps that are rounded, or known to lie between two times."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest

from unjitter import EventDetector, Session, read_dataset, sessions_from_frames, simulate

X, TIMES = [[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0]


def test_events_may_be_intervals_or_rounded():
    session = Session(X, TIMES, [[1.0, 2.0], [0.25, 0.25]])
    assert session.events.tolist() == [0.25, 1.5]
    assert session.rounded is not None and session.rounded.tolist() == [0.0, 1.0]
    assert Session(X, TIMES, [[1.0, 1.0]]).rounded is None
    both = Session(X, TIMES, {"ann": [[1.0, 2.0]], "bob": [0.25]}, rounded=0.5)
    assert both.rounded is not None and both.rounded.tolist() == [0.5, 1.0]
    # They belong to the stamps.
    kept = pickle.loads(pickle.dumps(session)).replace(name="b")
    assert kept.rounded is not None and kept.rounded.tolist() == [0.0, 1.0]
    assert session.replace(events=[1.0]).rounded is None
    each = Session(X, TIMES, [1.0, 0.5], rounded=[0.3, 0.1])
    assert each.rounded is not None and each.rounded.tolist() == [0.1, 0.3]
    dates = np.array(["2024-05-31T14:03:00", "2024-05-31T14:04:00"], dtype="datetime64[s]")
    dated = Session(X[:2], dates, dates[None, :])
    assert dated.events.tolist() == [30.0] and dated.rounded is not None
    assert dated.rounded.tolist() == [60.0]


@pytest.mark.parametrize(
    ("events", "rounded", "words"),
    [
        ([[1.0, 2.0], [2.0, 1.0]], None, "the latest time of event 1 is before its earliest"),
        ([1.0], [1.0, 2.0], "rounded has shape (2,), expected one number, or one for each of 1"),
        ([1.0], -1.0, "rounded is -1.0, expected a number above 0"),
        ([1.0], np.nan, "rounded is nan"),
        ([[1.0, 2.0, 3.0]], None, "events has 2 dimensions"),
    ],
)
def test_what_is_no_interval_is_refused(events, rounded, words):
    with pytest.raises(ValueError, match="session") as error:
        Session(X, TIMES, events, rounded=rounded)
    assert words in str(error.value)


@pytest.mark.parametrize("library", [pd, pl])
def test_frames_and_files_tell_the_same(tmp_path, library):
    (tmp_path / "instances.csv").write_text("session,time,x\na,0,1\na,10,2\n")
    (tmp_path / "events.csv").write_text("session,time,earliest,latest\na,9,,\na,3,4,8\n")
    frames = [library.read_csv(tmp_path / f"{name}.csv") for name in ("instances", "events")]
    for rounded, widths in ((None, [4.0, 0.0]), (2.0, [4.0, 2.0])):
        (framed,) = sessions_from_frames(*frames, rounded=rounded)
        (filed,) = read_dataset(tmp_path, rounded=rounded)
        for session in (framed, filed):
            assert session.events.tolist() == [6.0, 9.0]
            assert session.rounded is not None and session.rounded.tolist() == widths
    (tmp_path / "events.csv").write_text("session,from,to\na,4,8\n")
    between = library.read_csv(tmp_path / "events.csv")
    (framed,) = sessions_from_frames(frames[0], between, earliest="from", latest="to")
    (filed,) = read_dataset(tmp_path, earliest="from", latest="to")
    assert framed.events.tolist() == filed.events.tolist() == [6.0]
    for read in (
        lambda: sessions_from_frames(frames[0], between, earliest="from"),
        lambda: read_dataset(tmp_path, earliest="from"),
    ):
        with pytest.raises(ValueError, match="no column .time|no column .latest"):
            read()
    with pytest.raises(ValueError, match="rounded is 0, expected a number above 0"):
        read_dataset(tmp_path, rounded=0)


def test_rounding_that_is_told_is_not_taken_for_sloppiness():
    sessions = simulate.respiration(seed=0)
    to = 20.0
    events = [to * np.round(session.events / to) for session in sessions]
    plain = [session.replace(events=own) for session, own in zip(sessions, events)]
    told = [session.replace(events=own, rounded=to) for session, own in zip(sessions, events)]
    spread = [EventDetector().fit(X).spread_ for X in (sessions, plain, told)]
    # Rounding adds 5.8 to 3.6, as the root of a mean square; 100 stamps tell the spread to 0.4.
    assert abs(spread[2] - spread[0]) < 1.5 and spread[1] > spread[0] + 2.0, spread
