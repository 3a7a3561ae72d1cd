"""Times written as text: Python takes what the command line takes, and refuses the rest."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from unjitter import EventDetector, Session, metrics, posterior, read_dataset, sessions_from_frames

LIBRARIES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}
X = np.zeros((3, 1))

# Three instances, a stamp and the ends of an interval.
TEXTS = {
    "without a zone": (
        ["2024-05-31T14:03:27.5", "2024-05-31 14:03:29", " 2024-06-01T00:00:00.000000001 "],
        "2024-05-31T14:03:28.25",
        ["2024-05-31T14:00", "2024-06-02T00:00:00"],
    ),
    "in UTC": (
        ["2024-05-31T14:03:27Z", "2024-05-31T14:03:29Z", "2024-05-31T14:03:29.5Z"],
        "2024-05-31T14:03:28.25Z",
        ["2024-05-31T14:00:00Z", "2024-06-02T00:00:00Z"],
    ),
    "with an offset": (
        ["2024-05-31T14:03:27-05:30", "2024-05-31T14:03:29-05:30", "2024-05-31T14:04:00-05:30"],
        "2024-05-31T19:33:28.25Z",
        ["2024-05-31T14:00:00-05:30", "2024-06-02T00:00:00-05:30"],
    ),
    "as clocks go back": (
        ["2024-10-27T02:59:59+02:00", "2024-10-27T02:00:00+01:00", "2024-10-27T02:00:01+01:00"],
        "2024-10-27T02:00:00.5+01:00",
        ["2024-10-27T02:00:00+02:00", "2024-10-27T03:00:00+01:00"],
    ),
    "numbers": (["0", "1.5", " 2e1"], "1.75", ["-5", "30"]),
    "large numbers": (
        ["1717164207.5", "1717164208.75", "1717164209"],
        "1717164208.25",
        ["1717164207", "1717164300"],
    ),
}


def from_disk(folder, times, stamp, observed):
    rows = "".join(f"{time},1\n" for time in times)
    (folder / "instances.csv").write_text("time,depth\n" + rows)
    (folder / "events.csv").write_text(f"time\n{stamp}\n")
    (folder / "observed.csv").write_text(f"start,end\n{','.join(observed)}\n")
    (session,) = read_dataset(folder)
    return session


def from_frames(library, times, stamp, observed):
    frame = LIBRARIES[library]
    (session,) = sessions_from_frames(
        frame({"time": times, "depth": [1.0] * 3}),
        frame({"time": [stamp]}),
        session=None,
        observed=frame({"start": observed[:1], "end": observed[1:]}),
    )
    return session


WAYS = {
    **{name: lambda *own, name=name: from_frames(name, *own) for name in LIBRARIES},
    "lists": lambda times, stamp, observed: Session(X, times, [stamp], observed=[observed]),
    "arrays": lambda times, stamp, observed: Session(
        X, np.array(times), np.array([stamp], dtype=object), observed=np.array([observed])
    ),
    "categories": lambda times, stamp, observed: Session(
        X, pd.Series(times, dtype="category"), pl.Series([stamp]), observed=[observed]
    ),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", TEXTS)
def test_texts_are_read_as_from_disk(tmp_path, kind, way):
    want, got = from_disk(tmp_path, *TEXTS[kind]), WAYS[way](*TEXTS[kind])
    np.testing.assert_array_equal(got.times, want.times)
    np.testing.assert_array_equal(got.events, want.events)
    np.testing.assert_array_equal(got.observed, want.observed)
    assert (got.calendar is None) == (want.calendar is None) == ("numbers" in kind)
    if want.calendar is not None:
        assert got.calendar.origin == want.calendar.origin
        # Where there are two offsets, Python has always kept the times in UTC.
        zone = "UTC" if kind == "as clocks go back" else want.calendar.time_zone
        assert got.calendar.time_zone == zone


@pytest.mark.parametrize(
    ("times", "events", "message"),
    [
        (["0", "1", "2024-05-31T14:03:27"], [], "at position 2 is a date without a zone, but the"),
        (["2024-05-31T14:03:27", "2024-05-31T14:03:28Z", "3"], [], "1 is a date with a zone, but"),
        (["2024-05-31T14:03:27", 1.0, 2.0], [], '"1.0" at position 1 is a number, but the first'),
        (["2024-05-31", "2024-06-01", "2024-06-02"], [], '"2024-05-31" at position 0, expected'),
        (["3024-05-31T14:03:27"] * 3, [], "expected a date from 1678 to 2261"),
        (["2024-05-31T14:03:27", None, "2024-05-31T14:03:27"], [], "missing date.*at position 1"),
        ([0.0, 1.0, 2.0], ["2024-05-31T14:03:27"], "events are dates but times are numbers"),
        (["2024-05-31T14:03:27"] * 3, [1.0], "times are dates but events are numbers"),
        (["2024-05-31T14:03:27"] * 3, ["2024-05-31T14:03:27Z"], "both have a time zone or neither"),
    ],
)
def test_kinds_do_not_mix(times, events, message):
    with pytest.raises(ValueError, match=f"session walk: .*{message}"):
        Session(X, times, events, name="walk")
    with pytest.raises(ValueError, match="numbers or dates alone"):
        Session(X, np.array(["2024-05-31T14:03:27", 1.0, 2.0], dtype=object), [])


@pytest.mark.filterwarnings("ignore:the learned spread:unjitter.UnjitterWarning")
@pytest.mark.parametrize("frame", LIBRARIES.values(), ids=LIBRARIES)
def test_texts_of_frames_come_back_as_dates(frame):
    texts = [f"2024-05-31T14:03:{second:02}+02:00" for second in range(60)]
    depth = [float(second % 9 == 4) for second in range(60)]
    presses = [texts[second + 1] for second in range(59) if depth[second]]
    (session,) = sessions_from_frames(
        frame({"time": texts, "depth": depth}), frame({"time": presses}), session=None
    )
    aligned = EventDetector().fit(session).align(session, backend="pandas")
    assert str(aligned["stamp"].dt.tz) == "UTC+02:00"
    assert list(aligned["stamp"]) == [pd.Timestamp(press) for press in presses]


def test_texts_are_times_everywhere():
    texts, dates = TEXTS["in UTC"][0], pd.to_datetime(TEXTS["in UTC"][0], format="ISO8601")
    assert metrics.event_metrics(texts, dates, 0.0).hits == 3
    np.testing.assert_array_equal(
        posterior(texts, texts[1:2], [0.0, 1.0, 0.0]).positive,
        posterior(dates, dates[1:2], [0.0, 1.0, 0.0]).positive,
    )
    session = Session(X, dates, [])
    np.testing.assert_array_equal(session.replace(events=texts[1:]).events, [2.0, 2.5])


def test_a_time_of_day_alone_has_no_day():
    with pytest.raises(ValueError, match="14:03:27.*a time of day alone has no day"):
        Session([[0.0]], ["14:03:27"], [])
