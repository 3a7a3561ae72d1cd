"""Stamps of a file go into a session, and come back where they belong."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import numpy as np
import pandas as pd
import pytest

from unjitter import EventDetector, Session
from unjitter.stamps import Stamps, read

START = datetime(2024, 5, 31, 14, 3, tzinfo=timezone.utc)


def drawn() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    random = np.random.default_rng(3)
    seconds = np.arange(200.0)
    labels = random.random(200) < 0.1
    presses = seconds[labels] + random.normal(1.0, 0.5, labels.sum())
    return random.normal(size=(200, 1)) + 4.0 * labels[:, None], seconds, np.sort(presses)


def test_a_file_comes_back_with_its_stamps_moved(tmp_path):
    X, seconds, presses = drawn()
    Stamps(presses, labels=["cough"] * len(presses)).write(tmp_path / "labels.txt")
    stamps = read(tmp_path / "labels.txt")
    session = Session(X, seconds, stamps)
    np.testing.assert_array_equal(session.events, stamps.times)
    aligned = EventDetector().fit(session).align(session)
    stamps.moved(aligned["time"]).write(tmp_path / "moved.txt")
    # The format keeps microseconds.
    np.testing.assert_allclose(read(tmp_path / "moved.txt").times, aligned["time"], atol=1e-6)


def test_dates_beside_dates(tmp_path):
    X, seconds, presses = drawn()
    stamps = Stamps(presses + 10.0, origin=START - timedelta(seconds=10))
    zoned = pd.DatetimeIndex([START] * 200).tz_convert("Asia/Tokyo") + pd.to_timedelta(
        seconds, unit="s"
    )
    session = Session(X, zoned, stamps)
    # The origin of the stamps is ten seconds before that of the session.
    np.testing.assert_allclose(session.events, presses, atol=1e-8)
    aligned = EventDetector().fit(session).align(session)
    moved = stamps.moved(aligned["time"])
    want = (aligned["time"] - zoned[0]).dt.total_seconds() + 10.0
    np.testing.assert_allclose(moved.times, want, atol=2e-6)
    assert moved.origin == stamps.origin


def test_stamps_made_of_dates():
    dates = pd.to_datetime(["2024-05-31T14:03:02.0", "2024-05-31T14:03:00.5"])
    stamps = Stamps(dates, labels=["b", "a"])
    assert stamps.labels == ["a", "b"]
    assert stamps.origin == datetime(2024, 5, 31, 14, 3, 0, 500_000)
    np.testing.assert_array_equal(stamps.times, [0.0, 1.5])
    np.testing.assert_array_equal(stamps.dates, np.sort(dates.to_numpy("datetime64[ns]")))
    assert Stamps(dates.tz_localize("Europe/Berlin")).origin.tzinfo is timezone.utc


def test_dates_without_an_origin_are_refused():
    dates = pd.to_datetime(["2024-05-31T14:03:02"])
    with pytest.raises(ValueError, match="found dates, expected seconds: the stamps have no orig"):
        Stamps([1.0]).moved(dates)
    with pytest.raises(ValueError, match="no origin"):
        _ = Stamps([1.0]).dates
    with pytest.raises(ValueError, match="an origin that is not known"):
        Session([[0.0]], dates, Stamps([1.0]))
    with pytest.raises(ValueError, match="must both have a time zone or neither"):
        Stamps([1.0], origin=START).moved(pd.Series(dates))


def test_dates_without_an_origin_are_not_put_on_seconds(tmp_path):
    X, seconds, presses = drawn()
    dates = pd.Timestamp(START) + pd.to_timedelta(presses, unit="s")
    with pytest.raises(ValueError, match="times are seconds but the stamps are dates"):
        Session(X, seconds, Stamps(dates))
    session = Session(X, seconds, Stamps(dates, origin=START))
    np.testing.assert_allclose(session.events, presses, atol=1e-6)
    (tmp_path / "tags.csv").write_text("1717164187.50\n1717164190.00\n")
    tags = read(tmp_path / "tags.csv")
    with pytest.raises(ValueError, match=r"origin=, such as '2024-05-31T14:03:07.500000\+00:00'"):
        Session(X, seconds, tags)
    # Where the sensors beside tell the start, it is no guess.
    (tmp_path / "EDA.csv").write_text("1717164180.00\n4.0\n")
    session = Session(X, seconds, read(tmp_path / "tags.csv"))
    np.testing.assert_array_equal(session.events, [7.5, 10.0])
