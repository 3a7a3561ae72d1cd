"""Who gave the stamps of a session."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._calendar import is_missing
from ._floats import refuse_masked

Names = NDArray[np.object_]


def names_of(annotators: Any, stamps: int, where: str) -> Names | None:
    """The name of who gave each stamp: one name for all, or a name for each."""
    if annotators is None:
        return None
    if isinstance(annotators, str):
        return np.full(stamps, annotators, dtype=object)
    refuse_masked(annotators, f"{where}: annotators")
    given = np.asarray(annotators, dtype=object)
    if given.ndim != 1:
        raise ValueError(
            f"{where}: annotators has {given.ndim} dimensions, expected one name, or one for each "
            "of events"
        )
    if len(given) != stamps:
        raise ValueError(
            f"{where}: annotators has length {len(given)}, expected {stamps} (one name for each of "
            "events)"
        )
    missing = [position for position, name in enumerate(given) if is_missing(name)]
    if missing:
        raise ValueError(f"{where}: annotator {missing[0]} is missing, expected a name")
    return np.array([str(name) for name in given], dtype=object)


def others_of(
    named: Iterable[str], names: Names | None, stamps: int, where: str
) -> tuple[str, ...]:
    """Those of the named who gave no stamp, in order."""
    silent = sorted({str(name) for name in named} - set([] if names is None else names))
    if silent and names is None and stamps > 0:
        raise ValueError(
            f"{where}: also_annotated names {silent[0]!r}, but annotators does not say who gave "
            "the stamps"
        )
    return tuple(silent)
