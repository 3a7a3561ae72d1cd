"""Answers as data frames, in the library that the user works with."""

from __future__ import annotations

import importlib.util
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from ._clock import Clock


def frame(columns: dict[str, Any], backend: Any = None) -> Any:
    """A data frame of pandas, or of `backend`, or of whatever is installed."""
    dates = {name: values for name, values in columns.items() if isinstance(values, nw.Series)}
    plain = {name: values for name, values in columns.items() if name not in dates}
    table = nw.from_dict(plain, backend=backend or installed())
    # A dict of series would lose their time zones on the way into pandas.
    table = table.with_columns(*(values.alias(name) for name, values in dates.items()))
    return table.select(list(columns)).to_native()


def stack(frames: list[Any]) -> Any:
    """One frame below the other."""
    return nw.concat([nw.from_native(own) for own in frames]).to_native()


def installed() -> Any:
    """The data-frame library to use when the user has shown no preference."""
    for name in ("pandas", "polars", "pyarrow"):
        if importlib.util.find_spec(name) is not None:
            return name
    raise ImportError("tables need pandas or polars: pip install pandas")


def times_column(clock: Clock | None, seconds: NDArray[np.float64], backend: Any = None) -> Any:
    """A column of times: dates with their zone if the session's times were dates."""
    if clock is None:
        return seconds
    dates = clock.dates(seconds)
    # pandas turns an array of nanoseconds into its own dates; others need to be told.
    column = nw.new_series("time", dates, dtype=nw.Datetime("ns"), backend=backend or installed())
    if clock.time_zone is None:
        return column
    return column.dt.replace_time_zone("UTC").dt.convert_time_zone(clock.time_zone)
