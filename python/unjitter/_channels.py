"""Channels of a raw signal, in any form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._clock import Clock, read_times
from ._floats import floats

_Floats = NDArray[np.float64]


def channel_of(
    values: ArrayLike, times: ArrayLike | None, sampling_rate: float | None
) -> tuple[tuple[_Floats, _Floats], Clock | None]:
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
    clock = when.clock()
    return (seconds_of("times", when, clock), samples), clock


def seconds_of(what: str, times: Any, clock: Clock | None) -> _Floats:
    seconds = read_times(times, what).seconds(clock, what)
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


def earliest(clocks: list[Clock | None]) -> Clock | None:
    """The clock of several channels: the one with the earliest zero; none if times are numbers."""
    known = [clock for clock in clocks if clock is not None]
    if not known:
        return None
    if len(known) < len(clocks):
        raise ValueError("times of some channels are dates and of some are numbers")
    zones = {clock.time_zone for clock in known}
    if len(zones) > 1 and None in zones:
        raise ValueError("times of some channels have a time zone and some have none")
    origin = min(clock.origin for clock in known)
    return Clock(origin, known[0].time_zone if len(zones) == 1 else "UTC")


def zone_of(times: Any) -> str | None:
    """The time zone of channels, from the times of all or of each; None without a zone."""
    if times is None:
        return None
    each = times.values() if isinstance(times, Mapping) else [times]
    clock = earliest([read_times(own).clock() for own in each])
    return None if clock is None else clock.time_zone


def between(first: Clock | None, second: Clock | None) -> float:
    """Seconds from one zero to another."""
    if first is None or second is None:
        return 0.0
    return float(first.seconds(np.array([second.origin]))[0])
