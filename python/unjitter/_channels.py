"""Channels of a raw signal, in any form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._calendar import Calendar, read_times
from ._floats import floats

_Floats = NDArray[np.float64]


def channel_of(
    values: ArrayLike, times: ArrayLike | None, sampling_rate: float | None
) -> tuple[tuple[_Floats, _Floats], Calendar | None]:
    """Times in seconds and values; and the moment at zero, if times are dates."""
    samples = floats(values, "values")
    if samples.ndim != 1:
        raise ValueError(f"values have {samples.ndim} dimensions, expected 1")
    if (times is None) == (sampling_rate is None):
        raise ValueError("give either the times of the samples or their sampling_rate")
    if sampling_rate is not None:
        if not sampling_rate > 0.0:
            raise ValueError(f"sampling_rate is {sampling_rate}, expected a number above 0")
        return (np.arange(len(samples)) / float(sampling_rate), samples), None
    when = read_times(times)
    calendar = when.calendar()
    return (seconds_of("times", when, calendar), samples), calendar


def seconds_of(what: str, times: Any, calendar: Calendar | None) -> _Floats:
    seconds = read_times(times, what).seconds(calendar, what)
    if seconds.ndim != 1:
        raise ValueError(f"{what} have {seconds.ndim} dimensions, expected 1")
    return np.require(seconds, np.float64, ["C", "A"])


def columns_of(channels: Any) -> dict[str, Any]:
    """Channels by name."""
    if isinstance(channels, Mapping):
        return {str(name): values for name, values in channels.items()}
    names = getattr(channels, "columns", None)
    table = floats(channels, "channels")
    if table.ndim == 1:
        table = table[:, None]
    if table.ndim != 2:
        raise ValueError(f"channels have {table.ndim} dimensions, expected 1 or 2")
    if names is None:
        names = [f"channel_{column}" for column in range(table.shape[1])]
    return {str(name): column for name, column in zip(names, table.T)}


def of_channel(values: Any, name: str) -> Any:
    """The value for a channel: its own, or the shared one."""
    if not isinstance(values, Mapping):
        return values
    if name not in values:
        raise ValueError(f"nothing is said of channel {name!r}")
    return values[name]


def earliest(calendars: list[Calendar | None]) -> Calendar | None:
    """That of several channels: the one with the earliest zero; none if times are numbers."""
    known = [calendar for calendar in calendars if calendar is not None]
    if not known:
        return None
    if len(known) < len(calendars):
        raise ValueError("times of some channels are dates and of some are numbers")
    zones = {calendar.time_zone for calendar in known}
    if len(zones) > 1 and None in zones:
        raise ValueError("times of some channels have a time zone and some have none")
    origin = min(calendar.origin for calendar in known)
    return Calendar(origin, known[0].time_zone if len(zones) == 1 else "UTC")


def zone_of(times: Any) -> str | None:
    """The time zone of channels, from the times of all or of each; None without a zone."""
    if times is None:
        return None
    each = times.values() if isinstance(times, Mapping) else [times]
    calendar = earliest([read_times(own).calendar() for own in each])
    return None if calendar is None else calendar.time_zone


def between(first: Calendar | None, second: Calendar | None) -> float:
    """Seconds from one zero to another."""
    if first is None or second is None:
        return 0.0
    return float(first.seconds(np.array([second.origin]))[0])
