"""Dates of every library and kind: nowhere do they turn into bare numbers or lose their zone."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from drawn import make_session

from unjitter import EventDetector, Session, metrics, signal
from unjitter._calendar import Calendar

X = np.arange(6.0).reshape(3, 2)
BERLIN = pd.date_range("2024-10-27T00:30:00.123456789", periods=3, freq="1h", tz="UTC").tz_convert(
    "Europe/Berlin"
)
NAIVE = BERLIN.tz_convert(None)
SECONDS = [0.0, 3600.0, 7200.0]
KINDS = {
    "index": lambda dates: dates,
    "series": lambda dates: pd.Series(dates, index=[5, 6, 7]),
    "extension array": lambda dates: dates.array,
    "objects": lambda dates: dates.to_series().astype(object),
    "list": list,
    "array of objects": lambda dates: np.array(list(dates), dtype=object),
    "polars": lambda dates: pl.from_pandas(dates.to_series()),
    "pyarrow": lambda dates: pa.chunked_array([pa.array(dates.to_series())]),
    "pyarrow array": lambda dates: pa.array(dates.to_series()),
    "pandas on pyarrow": lambda dates: dates.to_series().convert_dtypes(dtype_backend="pyarrow"),
    "polars in microseconds": lambda dates: pl.from_pandas(dates.to_series()).cast(
        pl.Datetime("us", None if dates.tz is None else str(dates.tz))
    ),
}


@pytest.mark.parametrize("dates", [NAIVE, BERLIN], ids=["naive", "zoned"])
@pytest.mark.parametrize("kind", KINDS)
def test_dates_of_any_kind_are_seconds_and_a_clock(kind, dates):
    given = KINDS[kind](dates)
    session = Session(X, given, given)
    np.testing.assert_array_equal(session.times, SECONDS)
    np.testing.assert_array_equal(session.events, SECONDS)
    unit = "us" if "micro" in kind else "ns"
    want = np.datetime64("2024-10-27T00:30:00.123456789", unit)
    assert session.calendar == Calendar(want.astype("M8[ns]"), dates.tz and "Europe/Berlin")


@pytest.mark.parametrize("kind", KINDS)
def test_metrics_take_dates_of_any_kind(kind):
    given = KINDS[kind](NAIVE)
    found = metrics.detect_events(given, [0.9, 0.1, 0.8])
    assert found.times.dtype == "datetime64[ns]"
    assert len(metrics.match_events(given, found.times, 0.001)) == 2
    assert metrics.event_metrics([given], [given], 0.0).hits == 3


@pytest.mark.parametrize("zone", [None, timezone.utc, ZoneInfo("Asia/Tokyo")])
def test_observed_may_be_pairs_of_dates(zone):
    dates = [datetime(2024, 5, 31, 14, 0, second, tzinfo=zone) for second in (0, 1, 5)]
    session = Session(X, dates, dates[1:2], observed=[(dates[0], dates[2])])
    np.testing.assert_array_equal(session.observed, [[0.0, 5.0]])


@pytest.mark.parametrize("library", [pd.DataFrame, pl.from_pandas, pa.Table.from_pandas])
def test_observed_may_be_a_table_of_dates(library):
    observed = library(pd.DataFrame({"start": BERLIN[:1], "end": BERLIN[2:]}))
    session = Session(X, BERLIN, [], observed=observed)
    np.testing.assert_array_equal(session.observed, [[0.0, 7200.0]])
    with pytest.raises(ValueError, match="both have a time zone or neither"):
        Session(X, NAIVE, [], observed=observed)


@pytest.mark.parametrize(
    "given",
    [
        np.array([0, 1500, 2000], dtype="m8[ms]"),
        [timedelta(), timedelta(seconds=1.5), timedelta(seconds=2)],
        pd.to_timedelta([0, 1.5, 2], unit="s"),
        pl.Series([0, 1500, 2000]).cast(pl.Duration("ms")),
        pa.array([0, 1500, 2000], pa.duration("ms")),
    ],
)
def test_durations_are_seconds(given):
    session = Session(X, given, [])
    np.testing.assert_array_equal(session.times, [0.0, 1.5, 2.0])
    assert session.calendar is None


@pytest.mark.parametrize(
    "given",
    [
        np.array(["2024-05-31", "NaT", "NaT"], dtype="M8[s]"),
        pd.to_datetime(["2024-05-31", None, None]),
        pd.to_datetime(["2024-05-31", None, None], utc=True),
        [datetime(2024, 5, 31), None, pd.NaT],
        [None, datetime(2024, 5, 31), None],
        pl.Series([datetime(2024, 5, 31), None, None]),
        pa.array([datetime(2024, 5, 31), None, None]),
        np.array([1, "NaT", 2], dtype="m8[s]"),
    ],
)
def test_missing_dates_are_refused(given):
    with pytest.raises(ValueError, match=r"session walk: times has a missing date \(NaT\)"):
        Session(X, given, [], name="walk")


def test_dates_among_numbers_are_refused():
    with pytest.raises(ValueError, match="of several kinds"):
        Session(X, [datetime(2024, 5, 31), 1.0, 2.0], [])
    with pytest.raises(ValueError, match="some dates have a time zone"):
        Session(X, [*NAIVE[:2], BERLIN[2]], [])


@pytest.mark.parametrize(
    "times", [BERLIN.to_series(), list(BERLIN), pl.from_pandas(BERLIN.to_series())]
)
def test_flat_tables_keep_dates(times):
    from unjitter._flat import sessions_from_arrays

    groups = ["b", "b", "a"]
    b, a = sessions_from_arrays(X, times, {"b": list(BERLIN[1:2])}, groups)
    assert (b.name, a.name) == ("b", "a")
    assert b.calendar.time_zone == a.calendar.time_zone == "Europe/Berlin"
    np.testing.assert_array_equal(b.times, SECONDS[:2])
    np.testing.assert_array_equal(b.events, [3600.0])
    assert len(a.events) == 0


def test_a_zoned_session_takes_zoned_events_instead():
    session = Session(X, BERLIN, BERLIN[:1])
    other = session.replace(events=BERLIN[1:], observed=[list(BERLIN[[0, 2]])])
    np.testing.assert_array_equal(other.events, SECONDS[1:])
    np.testing.assert_array_equal(other.observed, [[0.0, 7200.0]])
    assert other.calendar == session.calendar
    moved = session.replace(times=BERLIN - pd.Timedelta(seconds=2))
    np.testing.assert_array_equal(moved.events, [2.0])
    # What `dates` gives is in UTC, as NumPy has no zones.
    back = session.replace(events=session.dates([60.0]))
    np.testing.assert_array_equal(back.events, [60.0])
    assert back.calendar == session.calendar
    with pytest.raises(ValueError, match="both have a time zone or neither"):
        session.replace(events=NAIVE[1:])


def test_numpy_dates_are_in_utc_beside_zoned_ones():
    session = Session(X, BERLIN, [])
    found = session.dates([1.0, 3600.0])
    for truth in (BERLIN, list(BERLIN), pl.from_pandas(BERLIN.to_series())):
        assert metrics.event_metrics(truth, found, 2.0).hits == 2
        assert metrics.event_metrics([truth], [found], 2.0).timing.mean == 0.5
        np.testing.assert_array_equal(metrics.match_events(found, truth, 0.0), [[1, 1]])
    with pytest.raises(ValueError, match="some dates have a time zone and some have none"):
        metrics.event_metrics(BERLIN, list(NAIVE), 2.0)
    with pytest.raises(ValueError, match="some dates have a time zone and some have none"):
        metrics.event_metrics(BERLIN, NAIVE, 2.0)


MINUTE = np.arange(0.0, 60.0, 0.05)
BREATHING = -np.cos(2 * np.pi * MINUTE / 4.0)


def zoned(seconds):
    return BERLIN[0] + pd.to_timedelta(seconds, unit="s")


@pytest.mark.parametrize("kind", [pd.Series, list, pl.Series])
def test_signals_keep_their_zone(kind):
    times = zoned(MINUTE)
    given = kind(times) if kind is not pl.Series else pl.from_pandas(times.to_series())
    press = [zoned(21.5)]
    session = signal.session_from_signal(BREATHING, times=given, events=press, true_events=press)
    assert session.calendar.time_zone == "Europe/Berlin"
    assert session.labels.sum() == 1
    stamp = session.dates(session.events)[0]
    assert abs(stamp - press[0].tz_convert(None).to_datetime64()) < np.timedelta64(2, "ns")
    windows = signal.session_from_windows(BREATHING, times=given, events=press)
    assert windows.calendar.time_zone == "Europe/Berlin"
    assert len(windows.events) == 1
    plain = signal.windows(BREATHING, times=given)
    np.testing.assert_array_equal(plain.times, windows.dates(windows.times))


def test_signals_and_events_both_have_a_zone_or_neither():
    times, naive = zoned(MINUTE), zoned(MINUTE).tz_convert(None)
    match = "both have a time zone or neither"
    with pytest.raises(ValueError, match=f"true_events and times must {match}"):
        signal.session_from_signal(BREATHING, times=times, true_events=naive[400:401].to_numpy())
    with pytest.raises(ValueError, match=f"events and times must {match}"):
        signal.session_from_signal(BREATHING, times=times, events=naive[400:401])
    with pytest.raises(ValueError, match="some channels have a time zone"):
        both = {"a": BREATHING, "b": BREATHING}
        signal.windows(both, times={"a": times, "b": naive})


@pytest.fixture(scope="module")
def fitted():
    return EventDetector().fit([make_session(seed) for seed in range(3)])


def dated(zone, seed=1, stamps=True):
    own = make_session(seed)

    def dates(seconds):
        moments = pd.Timestamp("2024-05-31T12:00:00", tz="UTC") + pd.to_timedelta(seconds, unit="s")
        zoned = [moment.astimezone(zone) for moment in moments.to_pydatetime()]
        return zoned if zone is not None else [moment.replace(tzinfo=None) for moment in zoned]

    events = dates(own.events) if stamps else []
    return Session(own.X, dates(own.times), events, name=f"s{seed}")


def columns_of(table):
    import narwhals as nw

    return nw.from_native(table, eager_only=True)


BACKENDS = ["pandas", "polars", "pyarrow"]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("zone", "name"),
    [
        (timezone.utc, "UTC"),
        (timezone(timedelta(hours=2)), "+02:00"),
        (timezone(timedelta(hours=2), "summer"), "+02:00"),
        (timezone(-timedelta(hours=5, minutes=30)), "-05:30"),
        (timezone(timedelta(minutes=19, seconds=32)), "UTC"),
        (ZoneInfo("Etc/GMT-2"), "Etc/GMT-2"),
        (ZoneInfo("Europe/Berlin"), "Europe/Berlin"),
    ],
)
def test_tables_have_the_zone_of_the_session(fitted, backend, zone, name):
    session = dated(zone)
    assert session.calendar.time_zone == name
    table = columns_of(fitted.align(session, backend=backend))
    first = table.get_column("stamp").to_list()[0]
    # polars knows no offsets of half an hour.
    unknown = (backend, name) == ("polars", "-05:30")
    want = timedelta() if name == "UTC" or unknown else first.astimezone(zone).utcoffset()
    assert first.utcoffset() == want
    stamp = pd.Timestamp(session.dates(session.events)[0], tz="UTC")
    assert abs(pd.Timestamp(first) - stamp) < pd.Timedelta("1us")


def test_detections_of_a_zoned_session_meet_its_zoned_truth(fitted):
    session = dated(ZoneInfo("Asia/Tokyo"))
    found = fitted.detect(session)
    truth = pd.DatetimeIndex(found).tz_localize("UTC").tz_convert("Asia/Tokyo")
    assert len(found) > 0
    assert metrics.event_metrics([truth], [found], 0.0).f1 == 1.0


@pytest.mark.parametrize("backend", BACKENDS)
def test_offsets_of_a_column_are_understood(backend):
    east = timezone(timedelta(hours=2))
    times = pd.Series([datetime(2024, 5, 31, 14, 0, second, tzinfo=east) for second in (0, 1, 5)])
    given = {"pandas": times, "polars": pl.from_pandas(times.dt.tz_convert("Etc/GMT-2"))}
    given["pyarrow"] = pa.chunked_array([pa.array(times)])
    session = Session(X, given[backend], [])
    assert session.calendar.origin == np.datetime64("2024-05-31T12:00:00", "ns")
    assert session.calendar.time_zone in ("+02:00", "Etc/GMT-2")


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_session_without_stamps_does_not_spoil_a_table(fitted, backend):
    sessions = [dated(timezone.utc, 1, stamps=False), dated(timezone.utc, 2)]
    table = columns_of(fitted.align(sessions, backend=backend))
    assert table.get_column("session").unique().to_list() == ["s2"]
    alone = columns_of(fitted.align(sessions[0], backend=backend))
    assert len(alone) == 0
    assert dict(alone.schema) == dict(table.schema)
    bare = [make_session(1).replace(events=[], name="a"), make_session(2).replace(name="b")]
    table = columns_of(fitted.align(bare, backend=backend))
    assert table.get_column("session").unique().to_list() == ["b"]


@pytest.mark.parametrize("backend", BACKENDS)
def test_sessions_of_several_zones_are_told_in_utc(fitted, backend):
    sessions = [dated(ZoneInfo("Asia/Tokyo"), 1), dated(ZoneInfo("Europe/Berlin"), 2)]
    for table in (fitted.align(sessions, backend=backend), fitted.align_instances(sessions)):
        dtype = columns_of(table).schema["time"]
        assert dtype.time_zone == "UTC"
    with pytest.raises(ValueError, match="have a time zone and of some have none"):
        fitted.align([sessions[0], dated(None, 2)], backend=backend)
    with pytest.raises(ValueError, match="some sessions are dates and of some are numbers"):
        fitted.align([sessions[0], make_session(2)], backend=backend)
