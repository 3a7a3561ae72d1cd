"""Dates as seconds, and back.

The library counts seconds from the first instance of a session, so that dates lose no digits. The
moment at zero and its time zone are kept, so that results are dates again.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from datetime import date, datetime, timedelta, timezone, tzinfo
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from . import _core
from ._floats import floats, refuse_masked

NANOSECOND = np.timedelta64(1, "ns")
SECOND = np.timedelta64(1, "s")

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_OFFSET = re.compile(r"(?:UTC)?([+-]\d\d:\d\d)")
_NAME = re.compile(r"[A-Za-z][\w+/-]*")


@dataclass(frozen=True)
class Calendar:
    """The moment at zero, in UTC or in a local time without a zone."""

    origin: np.datetime64
    time_zone: str | None = None

    def seconds(self, dates: NDArray[np.datetime64]) -> NDArray[np.float64]:
        """Seconds from zero to each date."""
        return (dates.astype("datetime64[ns]") - self.origin) / NANOSECOND / 1e9

    def dates(self, seconds: NDArray[np.float64]) -> NDArray[np.datetime64]:
        """The moment at each number of seconds, to the nanosecond (in UTC if there is a zone)."""
        nanoseconds = np.round(np.asarray(seconds) * 1e9)
        return self.origin + nanoseconds.astype("timedelta64[ns]")

    def hour(self) -> float | None:
        """Hours since midnight at zero, in its own zone; None if the system does not know that."""
        midnight = self.origin.astype("datetime64[D]")
        utc = (self.origin - midnight) / NANOSECOND / 3600e9
        ahead = _hours_ahead(self.time_zone, self.origin)
        return None if ahead is None else float((utc + ahead) % 24.0)

    def times(self, seconds: NDArray[np.float64]) -> Times:
        """The same with their zone."""
        return Times(self.dates(seconds), self.time_zone)


@dataclass(frozen=True, eq=False)
class Times:
    """Times that have been read: numbers, or dates in UTC or in a local time without a zone.

    `zoneless` marks NumPy's dates, which cannot have a zone; the user did not choose that.
    """

    values: NDArray[Any]
    time_zone: str | None = None
    zoneless: bool = False

    @property
    def are_dates(self) -> bool:
        return self.values.dtype.kind == "M"

    def calendar(self) -> Calendar | None:
        """The calendar with the first of them as zero; None for numbers."""
        if not self.are_dates or self.values.size == 0:
            return None
        return Calendar(self.values.flat[0].astype("datetime64[ns]"), self.time_zone)

    def take(self, rows: Any) -> Times:
        """The times at some positions."""
        return Times(self.values[rows], self.time_zone, self.zoneless)

    def in_zone(self, time_zone: str | None) -> Times:
        """NumPy's dates as UTC, for use with dates that have a zone; others unchanged."""
        if time_zone is None or not self.zoneless:
            return self
        return Times(self.values, time_zone)

    def seconds(self, calendar: Calendar | None, what: str, where: str = "") -> NDArray[np.float64]:
        """Seconds from the calendar's zero, or the numbers themselves without a calendar."""
        if self.values.size == 0:
            return np.zeros(self.values.shape)
        if calendar is None:
            if self.are_dates:
                raise ValueError(f"{where}{what} are dates but times are numbers")
            return self.values
        if not self.are_dates:
            raise ValueError(f"{where}times are dates but {what} are numbers")
        if (self.time_zone is None) != (calendar.time_zone is None):
            raise ValueError(f"{where}{what} and times must both have a time zone or neither")
        return calendar.seconds(self.values)


def refuse_put_back(seconds: NDArray[np.float64], calendar: Calendar | None, where: str) -> None:
    """Refuses local dates that step back at the end of summer time: sorting would mix two hours."""
    if calendar is None or calendar.time_zone is not None:
        return
    steps = np.diff(seconds)
    backward = np.flatnonzero(steps < 0)
    if backward.size == 0:
        return
    at = int(backward[0])
    # Time that passed meanwhile, as on the command line: the usual step, or a little more.
    usual = (seconds[at] - seconds[0]) / max(at, 1)
    passed = min(max(10.0 * usual, 5.0), 900.0)
    if any(0.0 <= by + steps[at] <= passed for by in (3600.0, 1800.0)):
        raise ValueError(
            f"{where}time {at + 1} is {-steps[at]:g} s before the one before it: the clock was put "
            "back, as where summer time ends; give dates with their time zone, or in UTC"
        )


def read_times(values: Any, what: str = "times") -> Times:
    """Times of any kind and shape: arrays, lists and series of numbers, dates, durations or texts.

    Durations become seconds. Texts are read as in tables on disk. Dates with a zone are converted
    to UTC; dates of several zones are reported in UTC. Missing dates are refused.
    """
    if isinstance(values, Times):
        return values
    refuse_masked(values, what)
    known = _narwhal(values)
    if isinstance(known, nw.DataFrame):
        return _beside([read_times(own.to_native(), what) for own in known.iter_columns()], what)
    zone = getattr(getattr(values, "dtype", None), "tz", None)
    if zone is not None:
        # pandas converts to UTC on the way to NumPy.
        name = _zone_of(zone, zone.utcoffset(None))
        return _dates(np.asarray(values, dtype="datetime64[ns]"), what, name)
    try:
        given, time_zone = _array(known)
    except (TypeError, ValueError):
        raise ValueError(f"{what} must be numbers or dates, got {values!r:.60}") from None
    kind = given.dtype.kind
    if kind in "OUT":
        return _of_objects(given, what)
    if kind == "M":
        zoneless = isinstance(values, np.ndarray) or not hasattr(values, "dtype")
        return _dates(given, what, time_zone, zoneless and time_zone is None)
    if kind == "m":
        _refuse_missing(np.isnat(given), what)
        return Times(given / SECOND)
    try:
        return Times(floats(given, what))
    except (TypeError, ValueError):
        if kind == "c":
            raise
        raise ValueError(f"{what} must be numbers or dates, got {values!r:.60}") from None


def zone_name(name: str) -> str:
    """A zone by a name that every data frame library knows: UTC for a zone without such a name."""
    offset = _OFFSET.fullmatch(name)
    if offset is not None:
        return "UTC" if offset[1][1:] == "00:00" else offset[1]
    return name if _NAME.fullmatch(name) else "UTC"


def _hours_ahead(name: str | None, moment: np.datetime64) -> float | None:
    """Hours that a zone is ahead of UTC at a moment."""
    offset = _OFFSET.fullmatch(name or "")
    if offset is not None:
        sign, (hours, minutes) = offset[1][0], offset[1][1:].split(":")
        return float(f"{sign}1") * (int(hours) + int(minutes) / 60.0)
    try:
        zone: tzinfo = timezone.utc if name is None else ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        return None
    # Not `fromtimestamp`, which some systems refuse before 1970.
    seconds = timedelta(seconds=int(moment.astype("datetime64[s]").astype(int)))
    ahead = zone.utcoffset((_EPOCH + seconds).astimezone(zone))
    return 0.0 if ahead is None else ahead.total_seconds() / 3600.0


def is_missing(value: Any) -> bool:
    """Whether a value is None, NaN, NaT or NA."""
    # NaN is the only value that differs from itself; pandas' NA has no truth at all.
    return value is None or type(value).__name__ == "NAType" or bool(value != value)


def _narwhal(values: Any) -> Any:
    """Columns and tables as narwhals objects; anything else unchanged."""
    # Most times are arrays already, and asking costs more than reading a short one.
    if isinstance(values, (np.ndarray, list, tuple)):
        return values
    pyarrow = sys.modules.get("pyarrow")
    if pyarrow is not None and isinstance(values, pyarrow.Array):
        values = pyarrow.chunked_array([values])
    return nw.from_native(values, allow_series=True, eager_only=True, pass_through=True)


def _array(values: Any) -> tuple[NDArray[Any], str | None]:
    """The input as an array, dates of a series in UTC, and their zone."""
    if not isinstance(values, nw.Series):
        return np.asarray(values), None
    zone = getattr(values.dtype, "time_zone", None)
    if zone is None:
        return values.to_numpy(), None
    utc = values.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
    return utc.to_numpy(), zone_name(str(zone))


def _beside(columns: list[Times], what: str) -> Times:
    """Columns of a table."""
    if len({(own.are_dates, own.time_zone is None) for own in columns}) > 1:
        raise ValueError(f"{what} are of several kinds, expected numbers or dates alone")
    zones = {own.time_zone for own in columns}
    values = np.column_stack([own.values for own in columns]) if columns else np.zeros((0, 0))
    return Times(values, zones.pop() if len(zones) == 1 else "UTC" if zones else None)


def _dates(dates: NDArray[Any], what: str, time_zone: str | None, zoneless: bool = False) -> Times:
    _refuse_missing(np.isnat(dates), what)
    return Times(dates.astype("datetime64[ns]"), time_zone, zoneless)


def _of_objects(values: NDArray[Any], what: str) -> Times:
    """Times in a Python sequence: their kind is that of the first one present."""
    flat = values.ravel().tolist()
    missing = np.array([is_missing(value) for value in flat], dtype=bool)
    first = next((value for value, lost in zip(flat, missing) if not lost), None)
    if isinstance(first, str):
        kind: Any = str
    elif isinstance(first, (date, np.datetime64)):
        kind = (date, np.datetime64)
    elif isinstance(first, (timedelta, np.timedelta64)):
        kind = (timedelta, np.timedelta64)
    else:
        return _of_number_objects(values, what)
    _refuse_missing(missing, what)
    if not all(isinstance(value, kind) for value in flat):
        raise ValueError(f"{what} are of several kinds, expected numbers or dates alone")
    if kind is str:
        return _of_texts(flat, values.shape, what)
    if kind == (timedelta, np.timedelta64):
        seconds = [np.timedelta64(value) / SECOND for value in flat]
        return Times(np.array(seconds, dtype=np.float64).reshape(values.shape))
    return _of_date_objects(flat, values.shape)


def _of_texts(texts: list[str], shape: tuple[int, ...], what: str) -> Times:
    """Numbers or dates as text in tables."""
    try:
        read = _core.read_times(texts)
    except ValueError as error:
        raise ValueError(f"{what}: {error}") from None
    if not isinstance(read, tuple):
        return Times(read.reshape(shape))
    nanoseconds, ahead = read
    zones = set() if ahead is None else {_offset_name(int(own)) for own in np.unique(ahead)}
    moments = nanoseconds.view("datetime64[ns]").reshape(shape)
    return Times(moments, zones.pop() if len(zones) == 1 else "UTC" if zones else None)


def _of_number_objects(values: NDArray[Any], what: str) -> Times:
    try:
        return Times(floats(values.astype(np.float64), what))
    except (TypeError, ValueError):
        shown = values.tolist()
        raise ValueError(f"{what} must be numbers or dates, got {shown!r:.60}") from None


def _of_date_objects(dates: list[Any], shape: tuple[int, ...]) -> Times:
    read = [_naive(value) for value in dates]
    zones = {zone for _, zone in read}
    if len(zones) > 1 and None in zones:
        raise ValueError("some dates have a time zone and some have none")
    moments = np.array([moment for moment, _ in read], dtype="datetime64[ns]").reshape(shape)
    return Times(moments, next(iter(zones)) if len(zones) == 1 else "UTC")


def _naive(value: Any) -> tuple[np.datetime64, str | None]:
    zone = getattr(value, "tzinfo", None)
    name = None if zone is None else _zone_of(zone, value.utcoffset())
    if hasattr(value, "to_datetime64"):
        # pandas' dates have nanoseconds, which Python's would lose.
        return value.to_datetime64(), name
    if zone is not None:
        value = value.replace(tzinfo=None) - value.utcoffset()
    return np.datetime64(value, "ns"), name


def _zone_of(zone: tzinfo, offset: timedelta | None) -> str:
    """A zone's name, or its distance from UTC where it has none."""
    if not isinstance(zone, timezone) and _NAME.fullmatch(str(zone)):
        return str(zone)
    return _offset_name(0.0 if offset is None else offset.total_seconds())


def _offset_name(seconds: float) -> str:
    """A zone so many seconds ahead of UTC; UTC itself if they are not whole minutes."""
    minutes, rest = divmod(abs(seconds), 60)
    if rest:
        return "UTC"
    hours, minutes = divmod(int(minutes), 60)
    return zone_name(f"{'-' if seconds < 0 else '+'}{hours:02}:{minutes:02}")


def _refuse_missing(missing: NDArray[np.bool_], what: str) -> None:
    if missing.any():
        where = int(np.flatnonzero(missing)[0])
        raise ValueError(
            f"{what} has a missing date (NaT) at position {where}; fill it or leave it out"
        )
