"""Numbers as the library takes them: aligned, C-contiguous doubles of this machine."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def floats(values: Any, what: str) -> NDArray[np.float64]:
    """An array of doubles; `values` themselves where they are one already, without a copy."""
    refuse_masked(values, what)
    given = np.asarray(values)
    if given.dtype.kind == "c":
        raise ValueError(f"{what} holds complex numbers, expected real ones")
    return np.require(given, np.float64, ["C", "A"])


def refuse_masked(values: Any, what: str) -> None:
    """The library knows no masks: what lies under one would be taken for a value."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise ValueError(f"{what} has masked values; fill them or leave them out")
