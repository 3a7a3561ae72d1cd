"""Refuses missing features: names their place and the line of code that fills them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._session import Session

CURE = "unjitter.make_pipeline(OnFeatures(SimpleImputer()), EventDetector())"


def refuse_missing_in(session: Session, position: int) -> None:
    """Refuses a session with features that are not finite. Without a name, it has a position."""
    title = position if session.name is None else session.name
    rows = session._instance_rows
    places = None if rows is None else rows.positions
    refuse_missing(session.X, f"session {title}: ", session.feature_names, places)


def refuse_missing(
    X: NDArray[Any],
    where: str = "",
    names: Sequence[Any] | None = None,
    places: NDArray[np.intp] | None = None,
) -> None:
    """Refuses features that are not finite, by row and column.

    `places` are the rows' positions in their table of instances.
    """
    # A sum is finite only if all are, and takes no memory; it may also overflow.
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(np.sum(X)):
            return
    odd = np.argwhere(~np.isfinite(X))
    if len(odd) == 0:
        return
    row, column = (int(place) for place in odd[0])
    at = f"row {row} of X" if places is None else f"row {places[row]} of instances"
    named = column if names is None else repr(str(names[column]))
    value = X[row, column]
    if not np.isnan(value):
        raise ValueError(f"{where}{at}, column {named} is {value}, expected a finite number")
    count = int(np.isnan(X).sum())
    others = "" if count == 1 else f", one of {count} values that are missing"
    raise ValueError(
        f"{where}{at}, column {named} is NaN{others}; leave such rows out or fill them, as in\n"
        f"    {CURE}"
    )
