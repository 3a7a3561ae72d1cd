"""Parameters that can be checked before the library sees them."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any


def whole(name: str, value: Any) -> int:
    """A whole number of at least 0."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 0:
        raise ValueError(f"{name} is {value!r}, expected a whole number of at least 0")
    return int(value)


def probability(name: str, value: Any) -> float:
    """A number from 0 to 1."""
    if isinstance(value, Real) and not isinstance(value, bool) and 0.0 <= float(value) <= 1.0:
        return float(value)
    raise ValueError(f"{name} is {value!r}, expected a number from 0 to 1")
