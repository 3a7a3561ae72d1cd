"""Sessions from one flat table of arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array

from ._session import Session


def sessions_from_arrays(
    X: ArrayLike, times: ArrayLike | None, events: Any, groups: ArrayLike | None
) -> list[Session]:
    """Cuts flat arrays into sessions, in the order in which groups first appear."""
    columns = getattr(X, "columns", None)
    rows = check_array(X, dtype=np.float64, order="C")
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
    when, group = np.asarray(times), np.asarray(groups)
    for what, values in (("times", when), ("groups", group)):
        if len(values) != len(rows):
            raise ValueError(f"{what} has length {len(values)}, expected {len(rows)}")
    if not isinstance(events, Mapping):
        raise ValueError(
            "with groups, events must say whose they are: a mapping of group to stamps"
        )
    own, first = np.unique(group, return_index=True)
    names = own[np.argsort(first)]
    unknown = [name for name in events if name not in set(names.tolist())]
    if unknown:
        raise ValueError(f"events of group {unknown[0]!r}, which no row belongs to")
    return [
        Session(
            rows[group == name],
            when[group == name],
            events.get(name, when[:0]),
            name=str(name),
            feature_names=columns,
        )
        for name in names.tolist()
    ]
