"""Times of a session on an axis: dates in their own zone, or numbers."""

from __future__ import annotations

from datetime import datetime, timezone, tzinfo
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._calendar import Calendar, Times, read_times

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .._session import Session


def places(calendar: Calendar | None, seconds: ArrayLike) -> NDArray[np.float64]:
    """Where times lie on the axis: matplotlib counts days where a session has dates."""
    values = np.asarray(seconds, dtype=np.float64)
    if calendar is None:
        return values
    return np.asarray(_dates().date2num(calendar.dates(values)), dtype=np.float64)


def seconds(session: Session, moment: Any, what: str) -> float | None:
    """A moment that the user named, in seconds of the session."""
    if moment is None:
        return None
    if session.calendar is None:
        try:
            return float(moment)
        except (TypeError, ValueError):
            raise ValueError(f"{what} is {moment!r}, expected a number like the times") from None
    if isinstance(moment, str):
        moment = np.datetime64(moment)
    read = _read(moment)
    if read is None or not read.are_dates:
        raise ValueError(f"{what} is {moment!r}, expected a date like the times")
    dates = read.values
    if read.time_zone is None and session.calendar.time_zone is not None:
        # A bare date means what the axis shows: the session's own zone.
        own = _zone(session.calendar.time_zone)
        local = dates[0].astype("datetime64[us]").item().replace(tzinfo=own)
        dates = read_times([local]).values
    return float(session.calendar.seconds(dates)[0])


def _read(moment: Any) -> Times | None:
    try:
        return read_times([moment])
    except ValueError:
        return None


def label(ax: Axes, calendar: Calendar | None) -> None:
    """Names the axis of time; gives dates their locator and zone."""
    if calendar is None:
        ax.set_xlabel("time")
        ax.ticklabel_format(axis="x", useOffset=True, style="plain")
        return
    zone = None if calendar.time_zone is None else _zone(calendar.time_zone)
    locator = _dates().AutoDateLocator(tz=zone, minticks=4, maxticks=9)
    ax.xaxis.set_major_locator(locator)
    ax.xaxis.set_major_formatter(_dates().ConciseDateFormatter(locator, tz=zone))
    ax.set_xlabel("time" if zone is None else f"time ({zone})")


def _dates() -> Any:
    """matplotlib's dates, which have no annotations."""
    from matplotlib import dates

    return dates


def _zone(name: str) -> tzinfo:
    """A time zone by its name, or by its distance from UTC; UTC itself if it is unknown."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        pass
    try:
        offset = datetime.strptime(name.removeprefix("UTC"), "%z").tzinfo
    except ValueError:
        offset = None
    return offset or timezone.utc
