"""Parameters that can be checked before the library sees them."""

from __future__ import annotations

import json
from math import isfinite
from numbers import Integral, Real
from typing import Any

import numpy as np


def whole(name: str, value: Any) -> int:
    """A whole number of at least 0 that the library can hold."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 0:
        raise ValueError(f"{name} is {value!r}, expected a whole number of at least 0")
    number = int(value)
    if number >= 2**64:
        raise ValueError(f"{name} is {value!r}, expected a whole number of at most 2**64 - 1")
    return number


def probability(name: str, value: Any) -> float:
    """A number from 0 to 1."""
    if isinstance(value, Real) and not isinstance(value, bool) and 0.0 <= float(value) <= 1.0:
        return float(value)
    raise ValueError(f"{name} is {value!r}, expected a number from 0 to 1")


def asked_threshold(value: Any) -> float | None:
    """A number from 0 to 1, or None for one that is to be found."""
    if isinstance(value, str) and value == "expected_f1":
        return None
    try:
        return probability("threshold", value)
    except ValueError as error:
        raise ValueError(f"{error} or 'expected_f1'") from None


def one_of(name: str, value: Any, accepted: tuple[str, ...]) -> str:
    """One of the accepted names."""
    if isinstance(value, str) and value in accepted:
        return value
    names = " or ".join(repr(one) for one in accepted)
    raise ValueError(f"{name} is {value!r}, expected {names}")


def span(name: str, value: Any) -> tuple[float, float]:
    """Two finite numbers, the second above the first."""
    try:
        earliest, latest = (number(name, end) for end in value)
    except (TypeError, ValueError):
        earliest = latest = 0.0
    if earliest < latest:
        return earliest, latest
    raise ValueError(
        f"{name} is {value!r}, expected (earliest, latest), two finite numbers with the first "
        "below the second"
    )


def number(name: str, value: Any) -> float:
    """A finite number."""
    if isinstance(value, Real) and not isinstance(value, bool) and isfinite(float(value)):
        return float(value)
    raise ValueError(f"{name} is {value!r}, expected a finite number")


def above_zero(name: str, value: Any) -> float:
    """A finite number above 0."""
    if number(name, value) > 0.0:
        return float(value)
    raise ValueError(f"{name} is {value!r}, expected a number above 0")


def no_labels_apart(y: Any) -> None:
    """Refuses labels of instances beside their sessions: no method would use them, and
    scikit-learn's own scorers would compare them with predictions in a way that makes no sense. One
    value per session, for a splitter to use, is allowed."""
    if y is None:
        return
    if getattr(y, "ndim", 1) > 1 or any(np.ndim(entry) > 0 for entry in y):
        raise ValueError(
            "y has labels of instances, expected them in the sessions: Session(..., labels=...); "
            "they are scored with scoring=metrics.f1_scorer and its like, not with scikit-learn's "
            'names such as scoring="f1"'
        )


def settings(value: Any) -> str:
    """Settings as JSON for the compiled half. A value outside JSON is named by its place."""
    _all_finite("", value)
    return json.dumps(value)


def _all_finite(place: str, value: Any) -> None:
    if isinstance(value, float) and not isfinite(value):
        raise ValueError(f"{place} is {value}, expected a finite number")
    if isinstance(value, dict):
        # A fixed value follows its name.
        own = value.get("name", "")
        for name, entry in value.items():
            _all_finite(own if own and name == "values" else f"{place}.{name}".strip("."), entry)
    if isinstance(value, (list, tuple)):
        for entry in value:
            _all_finite(place, entry)
