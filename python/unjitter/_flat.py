"""Sessions from one flat table of arrays."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array

from ._calendar import is_missing, read_times
from ._finite import refuse_missing
from ._floats import refuse_masked
from ._session import Session


def sessions_from_arrays(
    X: ArrayLike, times: ArrayLike | None, events: Any, groups: ArrayLike | None
) -> list[Session]:
    """Cuts flat arrays into sessions, in the order in which groups first appear."""
    columns = getattr(X, "columns", None)
    refuse_masked(X, "X")
    rows = check_array(X, dtype=[np.float64, np.float32], order="C", ensure_all_finite=False)
    refuse_missing(rows, names=columns)
    if times is None or events is None:
        missing = "times" if times is None else "events"
        raise ValueError(
            f"{missing} is missing: fit takes a list of Session, or an array X with times=... and "
            "events=..."
        )
    if groups is None:
        if isinstance(events, Mapping):
            raise ValueError("events are by group but groups is missing")
        return [Session(rows, times, events, feature_names=columns)]
    when, group = read_times(times), np.asarray(groups)
    for what, values in (("times", when.values), ("groups", group)):
        if values.ndim != 1:
            raise ValueError(f"{what} has {values.ndim} dimensions, expected 1")
        if len(values) != len(rows):
            raise ValueError(f"{what} has length {len(values)}, expected {len(rows)}")
    if not isinstance(events, Mapping):
        raise ValueError(
            "with groups, events must say whose they are: a mapping of group to stamps"
        )
    own = partition(group.tolist())
    if any(is_missing(name) for name in own):
        raise ValueError("some rows have no group: groups has missing values")
    unknown = [name for name in events if name not in own]
    if unknown:
        raise ValueError(f"events of group {unknown[0]!r}, which no row belongs to")
    return [
        Session(
            rows[positions],
            when.take(positions),  # type: ignore[arg-type]
            events.get(name, ()),
            name=str(name),
            feature_names=columns,
        )
        for name, positions in own.items()
    ]


def partition(names: Iterable[Hashable]) -> dict[Any, NDArray[np.intp]]:
    """Positions of each name, in the order in which names first appear."""
    places: dict[Hashable, int] = {}
    codes = np.array([places.setdefault(name, len(places)) for name in names], dtype=np.intp)
    order = np.argsort(codes, kind="stable")
    ends = np.cumsum(np.bincount(codes, minlength=len(places)))
    return dict(zip(places, np.split(order, ends[:-1])))
