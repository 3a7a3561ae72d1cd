"""Results as data frames, in the user's library."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from ._calendar import Calendar, Times
from ._table import Table

NUMPY = "numpy"


def frame(
    columns: dict[str, Any], backend: str | None = None, others: nw.DataFrame[Any] | None = None
) -> Any:
    """A data frame of `backend`, by default of pandas if that is installed, or else a `Table`.

    Times are dates of their zone, and arrays of objects are text. `others` are further columns.
    """
    library: Any = backend or preferred()
    if library == NUMPY:
        further = [] if others is None else others.iter_columns()
        return Table(
            {name: _array(values) for name, values in columns.items()}
            | {own.name: own.to_numpy() for own in further}
        )
    # A dict of series would lose their time zones on the way into pandas.
    series = [_series(name, own, library) for name, own in columns.items() if _is_typed(own)]
    plain = {name: _array(own) for name, own in columns.items() if not _is_typed(own)}
    table = nw.from_dict(plain, backend=library).with_columns(*series).select(list(columns))
    if others is not None:
        table = table.with_columns(*_in_library(others, library).iter_columns())
    return table.to_native()


def preferred() -> str:
    """The default type of tables."""
    return "pandas" if importlib.util.find_spec("pandas") is not None else NUMPY


def times_column(
    calendars: Sequence[Calendar | None], seconds: Sequence[NDArray[np.float64]]
) -> Times:
    """The concatenated times of sessions, each with its own calendar.

    Dates are in their zone if the sessions' times were dates of one zone, and in UTC if there were
    several.
    """
    dated = [(calendar, own) for calendar, own in zip(calendars, seconds) if calendar is not None]
    if not dated:
        return Times(np.concatenate(seconds))
    if any(calendar is None and len(own) for calendar, own in zip(calendars, seconds)):
        raise ValueError("times of some sessions are dates and of some are numbers")
    zones = {calendar.time_zone for calendar, _ in dated}
    if len(zones) > 1 and None in zones:
        raise ValueError("times of some sessions have a time zone and of some have none")
    dates = np.concatenate([calendar.dates(own) for calendar, own in dated])
    return Times(dates, dated[0][0].time_zone if len(zones) == 1 else "UTC")


def _array(values: Any) -> Any:
    return values.values if isinstance(values, Times) else values


def _is_typed(values: Any) -> bool:
    """Whether a library must be given the type: for dates, and for text without rows."""
    if isinstance(values, Times):
        return values.are_dates
    return isinstance(values, np.ndarray) and values.dtype == object


def _series(name: str, values: Any, backend: Any) -> Any:
    if not isinstance(values, Times):
        return nw.new_series(name, values.tolist(), dtype=nw.String(), backend=backend)
    # pandas turns an array of nanoseconds into its own dates; others must be given the type.
    column = nw.new_series(name, values.values, dtype=nw.Datetime("ns"), backend=backend)
    return column if values.time_zone is None else _in_zone(column, values.time_zone)


def _in_zone(column: nw.Series[Any], zone: str) -> Any:
    """Dates of UTC in a zone."""
    # polars knows offsets of whole hours alone.
    if column.implementation.is_polars() and re.fullmatch(r"[+-]\d\d:(?!00)\d\d", zone):
        zone = "UTC"
    return column.dt.replace_time_zone("UTC").dt.convert_time_zone(zone)


def _in_library(table: nw.DataFrame[Any], backend: str) -> nw.DataFrame[Any]:
    """A frame of another library; Arrow would make a column of pandas' index."""
    if str(table.implementation) == backend:
        return table
    plain = nw.maybe_reset_index(table)
    to = {"pandas": plain.to_pandas, "polars": plain.to_polars, "pyarrow": plain.to_arrow}
    return nw.from_native(to[backend](), eager_only=True)
