"""Scores of detected bouts: what they have in common with true ones."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._instances import Scores


class BoutMetrics(NamedTuple):
    """How well bouts were found, over sessions; see :func:`bout_metrics`."""

    bouts: int
    detections: int
    overlap: Scores
    errors: tuple[float, float] | None
    intersection: Scores
    stretches: Scores
    error_rate: float | None


def bout_metrics(
    true: Any,
    detected: Any,
    *,
    overlap: float = 0.5,
    detection: float = 0.7,
    truth: float = 0.7,
    stretch: float = 1.0,
    begins: float | Sequence[float] = 0.0,
) -> BoutMetrics:
    """What detected bouts have in common with true ones.

    Parameters
    ----------
    true, detected : array-like of shape (n_bouts, 2), or list of them
        Start and end of the bouts of one session, or of each of many, in any order; those of one
        list do not overlap.
    overlap : float
        Least share that a detection and a bout have in common of what both cover together.
    detection, truth : float
        Least share of a detection that lies in true bouts, and of a bout that such detections
        cover: the criteria of PSDS, for any number of pieces.
    stretch : float
        Length of stretches of time, counted from `begins`, that have something or nothing.
    begins : float or sequence of float
        When each session begins.

    Returns
    -------
    BoutMetrics
        ``bouts`` and ``detections`` (how many), ``overlap`` (``precision, recall, f1``, each bout
        credited once), ``errors`` (mean absolute error of the start, and of the end, of those;
        None without any), ``intersection`` and ``stretches`` (the same scores), ``error_rate``
        (stretches missed or wrong for each with something; None if there is nothing).

    Examples
    --------
    >>> from unjitter import metrics
    >>> found = metrics.bout_metrics([[1, 3], [5, 9]], [[1.5, 3], [5, 8], [20, 21]])
    >>> found.overlap.recall, found.errors, found.error_rate
    (1.0, (0.25, 0.5), 0.3333333333333333)
    """
    if not (_are_many(true) or _are_many(detected)):
        true, detected = [true], [detected]
    if len(true) != len(detected):
        raise ValueError(
            "lists are of different numbers of sessions: "
            f"true of {len(true)}, detected of {len(detected)}"
        )
    first = [
        float(own) for own in (begins if isinstance(begins, Iterable) else len(true) * [begins])
    ]
    if len(first) != len(true):
        raise ValueError(f"begins has length {len(first)}, expected {len(true)}")
    sessions = [(_pairs(a), _pairs(b), c) for a, b, c in zip(true, detected, first)]
    shares = (float(overlap), float(detection), float(truth), float(stretch))
    fields = json.loads(_core.bout_metrics(sessions, *shares))
    scores = ("overlap", "intersection", "stretches")
    fields |= {name: Scores(**fields[name]) for name in scores}
    errors = fields.pop("errors")
    return BoutMetrics(**fields, errors=None if errors is None else tuple(errors))


def _are_many(bouts: Any) -> bool:
    """Whether bouts are those of several sessions."""
    first = next(iter(bouts), None)
    return first is not None and (np.ndim(first) == 2 or np.size(first) == 0)


def _pairs(bouts: Any) -> NDArray[np.float64]:
    pairs = np.asarray(bouts, dtype=np.float64)
    if pairs.size == 0:
        return np.zeros((0, 2))
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        raise ValueError(f"bouts have shape {pairs.shape}, expected (bouts, 2)")
    return np.ascontiguousarray(pairs)
