"""Dates as seconds, and back.

The library counts seconds from the first instance of a session, so that dates lose no digits. The
moment at zero and its time zone are kept, so that answers come back as dates.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

NANOSECOND = np.timedelta64(1, "ns")


@dataclass(frozen=True)
class Clock:
    """The moment at zero, in UTC or in a local time that has no zone."""

    origin: np.datetime64
    time_zone: str | None = None

    def seconds(self, dates: NDArray[np.datetime64]) -> NDArray[np.float64]:
        """Seconds from zero to each date."""
        return (dates.astype("datetime64[ns]") - self.origin) / NANOSECOND / 1e9

    def dates(self, seconds: NDArray[np.float64]) -> NDArray[np.datetime64]:
        """The moment at each number of seconds, to the nanosecond (in UTC if there is a zone)."""
        nanoseconds = np.round(np.asarray(seconds) * 1e9)
        return self.origin + nanoseconds.astype("timedelta64[ns]")


def is_date(values: Any) -> bool:
    """Whether an array-like holds dates rather than numbers."""
    dtype = getattr(values, "dtype", None)
    if dtype is not None:
        return getattr(dtype, "kind", None) == "M"
    first = next(iter(values), None) if hasattr(values, "__iter__") else None
    return isinstance(first, (datetime, np.datetime64))


def to_dates(values: ArrayLike) -> tuple[NDArray[np.datetime64], str | None]:
    """Dates as UTC (or local, without a zone) nanoseconds, and the zone.

    Takes arrays and lists of dates, and what pandas makes of dates with a zone.
    """
    dtype = getattr(values, "dtype", None)
    time_zone = getattr(dtype, "tz", None)
    if time_zone is not None:
        # pandas converts to UTC on the way to NumPy.
        return np.asarray(values, dtype="datetime64[ns]"), str(time_zone)
    if isinstance(values, np.ndarray) and values.dtype.kind == "M":
        return values.astype("datetime64[ns]"), None
    dates = [_naive(value) for value in np.asarray(values, dtype=object)]
    zones = {zone for _, zone in dates}
    if len(zones) > 1 and None in zones:
        raise ValueError("some dates have a time zone and some have none")
    zone = next(iter(zones)) if len(zones) == 1 else "UTC" if zones else None
    return np.array([date for date, _ in dates], dtype="datetime64[ns]"), zone


def _naive(value: Any) -> tuple[np.datetime64, str | None]:
    if isinstance(value, datetime) and value.tzinfo is not None:
        moment = value.astimezone(timezone.utc).replace(tzinfo=None)
        return np.datetime64(moment, "ns"), str(value.tzinfo)
    return np.datetime64(value, "ns"), None
