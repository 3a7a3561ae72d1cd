"""Channels of a raw signal, however they are given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._clock import Clock, is_date, to_dates

_Floats = NDArray[np.float64]


def channel_of(
    values: ArrayLike, times: ArrayLike | None, sampling_rate: float | None
) -> tuple[tuple[_Floats, _Floats], Clock | None]:
    """Times in seconds and values; and the moment at zero, if times are dates."""
    samples = np.ascontiguousarray(values, dtype=np.float64)
    if samples.ndim != 1:
        raise ValueError(f"values have {samples.ndim} dimensions, expected 1")
    if (times is None) == (sampling_rate is None):
        raise ValueError("give either the times of the samples or their sampling_rate")
    if sampling_rate is not None:
        if not sampling_rate > 0.0:
            raise ValueError(f"sampling_rate is {sampling_rate}, expected a number above 0")
        return (np.arange(len(samples)) / float(sampling_rate), samples), None
    clock = None
    if is_date(times):
        dates, zone = to_dates(times)  # type: ignore[arg-type]
        clock = Clock(dates[0], zone) if len(dates) else None
    return (seconds_of("times", times, clock), samples), clock


def seconds_of(what: str, times: Any, clock: Clock | None) -> _Floats:
    if clock is not None and is_date(times):
        return clock.seconds(to_dates(times)[0])
    if clock is not None and len(times):
        raise ValueError(f"times are dates but {what} are numbers")
    seconds = np.ascontiguousarray(times, dtype=np.float64)
    if seconds.ndim != 1:
        raise ValueError(f"{what} have {seconds.ndim} dimensions, expected 1")
    return seconds


def columns_of(channels: Any) -> dict[str, Any]:
    """Channels by name."""
    if isinstance(channels, Mapping):
        return {str(name): values for name, values in channels.items()}
    names = getattr(channels, "columns", None)
    table = np.asarray(channels, dtype=np.float64)
    if table.ndim == 1:
        table = table[:, None]
    if table.ndim != 2:
        raise ValueError(f"channels have {table.ndim} dimensions, expected 1 or 2")
    if names is None:
        names = [f"channel_{column}" for column in range(table.shape[1])]
    return {str(name): column for name, column in zip(names, table.T)}


def of_channel(values: Any, name: str) -> Any:
    """What belongs to a channel: its own, or what all share."""
    if not isinstance(values, Mapping):
        return values
    if name not in values:
        raise ValueError(f"nothing is said of channel {name!r}")
    return values[name]


def origin_of(clock: Clock) -> np.datetime64:
    return clock.origin


def between(first: Clock | None, second: Clock | None) -> float:
    """Seconds from one zero to another."""
    if first is None or second is None:
        return 0.0
    return float(first.seconds(np.array([second.origin]))[0])
