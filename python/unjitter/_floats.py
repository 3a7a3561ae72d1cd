"""Arrays for the library: aligned, C-contiguous doubles in native byte order."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def floats(values: Any, what: str) -> NDArray[np.float64]:
    """An array of doubles; `values` themselves, without a copy, if they already are one."""
    refuse_masked(values, what)
    given = np.asarray(values)
    if given.dtype.kind == "c":
        raise ValueError(f"{what} holds complex numbers, expected real ones")
    return np.require(given, np.float64, ["C", "A"])


def refuse_masked(values: Any, what: str) -> None:
    """Refuses masked arrays: the library would take masked entries for values."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise ValueError(f"{what} has masked values; fill them or leave them out")
