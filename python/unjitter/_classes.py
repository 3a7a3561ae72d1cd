"""Classes of events: those of stamps and labels, and what a detector says of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._annotators import Names
from ._calendar import is_missing

# As scikit-learn's metrics name them.
AVERAGES = ("macro", "micro")
SCORES = ("precision", "recall", "f1", "events")
UNKNOWN = -1
# Labels in text that name no event, and those that are unknown: as in tables on disk.
NO_EVENT = ("0", "0.0", "false", "False", "FALSE")
NOT_KNOWN = ("", "NA", "NaN", "nan")
# What tables of instances tell as p_detector, p_positive and p_missed beside p_CLASS.
TAKEN = ("detector", "positive", "missed")


def classes_of(classes: Any, stamps: int, where: str) -> Names | None:
    """The class that each stamp is recorded as."""
    if classes is None:
        return None
    given = np.asarray(classes, dtype=object)
    if given.ndim != 1 or len(given) != stamps:
        raise ValueError(
            f"{where}: classes has shape {given.shape}, expected ({stamps},), one for each of "
            "events"
        )
    missing = [position for position, name in enumerate(given) if is_missing(name)]
    if missing:
        raise ValueError(f"{where}: class {missing[0]} is missing, expected a name")
    return np.array([str(name) for name in given], dtype=object)


def refuse_taken(names: Iterable[str]) -> None:
    """Refuses classes whose probabilities would be in columns that are something else."""
    for name in names:
        if name in TAKEN:
            raise ValueError(
                f"class {name!r} has a name that tables use: p_{name} is something else there; "
                "rename it"
            )


def class_labels(given: NDArray[Any]) -> tuple[NDArray[np.int8], tuple[str | None, ...]]:
    """Labels of which some are names of classes: whether there is an event, and of which class."""
    known = np.full(len(given), UNKNOWN, dtype=np.int8)
    names: list[str | None] = [None] * len(given)
    for index, label in enumerate(given):
        is_text = isinstance(label, str)
        if is_missing(label) or (label in NOT_KNOWN if is_text else label == UNKNOWN):
            continue
        is_event = label not in NO_EVENT if is_text else label != 0
        known[index] = int(is_event)
        names[index] = str(label) if is_event else None
    return known, tuple(names)


def given_labels(known: NDArray[np.int8], names: Sequence[str | None]) -> list[Any]:
    """The same labels as they were given."""
    return [None if own == UNKNOWN else name or 0 for own, name in zip(known, names)]


def told_classes(names: Sequence[str], probabilities: NDArray[np.float64], at: float) -> Names:
    """The likeliest class of each row if an event of any class is as likely as this, else None."""
    flat = np.ascontiguousarray(probabilities).reshape(-1)
    told = _core.told_classes(flat, len(names), float(at))
    return named_classes(names, told)


def named_classes(names: Sequence[str], numbers: NDArray[np.int64]) -> Names:
    """The classes of these numbers, None for those below zero."""
    # The last one is that of -1.
    known: Names = np.array([*names, None], dtype=object)[numbers]
    return known


def class_scores(
    names: Sequence[str], truth: Sequence[str | None], found: Sequence[str | None]
) -> dict[str, list[Any]]:
    """Precision, recall and F1 of each class over instances, and their averages: the mean of all
    classes (macro), and over all events together (micro)."""
    scores = json.loads(_core.class_scores(names, truth, found))
    rows = [*scores["classes"], *(scores[f"{name}_average"] for name in AVERAGES)]
    columns: dict[str, list[Any]] = {"class": [*names, *AVERAGES]}
    return columns | {name: [row[name] for row in rows] for name in SCORES}
