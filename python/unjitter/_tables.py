"""Answers as data frames, in the library that the user works with."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from ._clock import Clock


def frame(columns: dict[str, Any], backend: Any = None) -> Any:
    """A data frame of pandas, or of `backend`, or of whatever is installed."""
    series = {name: values for name, values in columns.items() if isinstance(values, nw.Series)}
    plain = {name: values for name, values in columns.items() if name not in series}
    table = nw.from_dict(plain, backend=backend or installed())
    # A dict of series would lose their time zones on the way into pandas.
    table = table.with_columns(*(values.alias(name) for name, values in series.items()))
    return table.select(list(columns)).to_native()


def installed() -> Any:
    """The data-frame library to use when the user has shown no preference."""
    for name in ("pandas", "polars", "pyarrow"):
        if importlib.util.find_spec(name) is not None:
            return name
    raise ImportError("tables need pandas or polars: pip install pandas")


def text_column(values: Sequence[str], backend: Any = None) -> Any:
    """A column of text, even where it has no rows."""
    return nw.new_series("text", values, dtype=nw.String(), backend=backend or installed())


def times_column(
    clocks: Sequence[Clock | None], seconds: Sequence[NDArray[np.float64]], backend: Any = None
) -> Any:
    """One column of the times of sessions below each other, each with its own clock.

    Dates are in their zone if the sessions' times were dates of one zone, and in UTC if they were
    of several.
    """
    dated = [(clock, own) for clock, own in zip(clocks, seconds) if clock is not None]
    if not dated:
        return np.concatenate(seconds)
    if any(clock is None and len(own) for clock, own in zip(clocks, seconds)):
        raise ValueError("times of some sessions are dates and of some are numbers")
    zones = {clock.time_zone for clock, _ in dated}
    if len(zones) > 1 and None in zones:
        raise ValueError("times of some sessions have a time zone and of some have none")
    dates = np.concatenate([clock.dates(own) for clock, own in dated])
    backend = backend or installed()
    # pandas turns an array of nanoseconds into its own dates; others need to be told.
    column = nw.new_series("time", dates, dtype=nw.Datetime("ns"), backend=backend)
    zone = dated[0][0].time_zone if len(zones) == 1 else "UTC"
    return column if zone is None else _in_zone(column, zone)


def _in_zone(column: nw.Series[Any], zone: str) -> Any:
    """Dates of UTC in a zone."""
    # polars knows offsets of whole hours alone.
    if column.implementation.is_polars() and re.fullmatch(r"[+-]\d\d:(?!00)\d\d", zone):
        zone = "UTC"
    return column.dt.replace_time_zone("UTC").dt.convert_time_zone(zone)
