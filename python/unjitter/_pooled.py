"""Labels beside probabilities: of two arrays, or of many sessions together."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._base import are_sessions, sessions_of
from ._session import Session

_Floats = NDArray[np.float64]

NO_LABELS = (
    "these sessions have no labels to score by; the stamps themselves can rank models: "
    "scoring=metrics.log_evidence_scorer"
)


def pooled(y_true: Any, y_score: Any) -> tuple[NDArray[np.bool_], _Floats]:
    """Known labels and their probabilities in one array each; at least one."""
    if are_sessions(y_true):
        labels, scores = _of_sessions(y_true, y_score)
    else:
        labels, scores = known_labels(y_true), positive_column(y_score)
    if len(labels) != len(scores):
        raise ValueError(f"{len(labels)} labels for {len(scores)} probabilities")
    if len(labels) == 0:
        raise ValueError("0 instances, expected at least 1")
    odd = np.flatnonzero(~((scores >= 0.0) & (scores <= 1.0)))
    if len(odd):
        raise ValueError(f"probability {odd[0]} is {scores[odd[0]]}, expected a number from 0 to 1")
    return labels, scores


def _of_sessions(y_true: Any, y_score: Any) -> tuple[NDArray[np.bool_], _Floats]:
    sessions = sessions_of(y_true)
    scores = [y_score] if isinstance(y_true, Session) else list(y_score)
    if len(scores) != len(sessions):
        raise ValueError(f"{len(scores)} arrays of probabilities for {len(sessions)} sessions")
    labels, probabilities = [], []
    for position, (session, score) in enumerate(zip(sessions, scores)):
        if session.labels is None:
            continue
        positive = positive_column(score)
        if len(positive) != len(session):
            name = position if session.name is None else session.name
            raise ValueError(
                f"session {name}: {len(positive)} probabilities for {len(session)} instances"
            )
        known = session.labels >= 0
        labels.append(session.labels[known] == 1)
        probabilities.append(positive[known])
    if not sum(map(len, labels)):
        raise ValueError(NO_LABELS)
    return np.concatenate(labels), np.concatenate(probabilities)


def known_labels(y_true: ArrayLike) -> NDArray[np.bool_]:
    """Labels as truth values; none may be unknown."""
    labels = np.asarray(y_true)
    if labels.ndim != 1:
        raise ValueError(f"y_true has {labels.ndim} dimensions, expected 1")
    if labels.dtype == np.bool_:
        return labels
    odd = np.flatnonzero((labels != 0) & (labels != 1))
    if len(odd):
        raise ValueError(f"label {odd[0]} is {labels[odd[0]]!r}, expected 0 or 1")
    return np.asarray(labels == 1)


def positive_column(y_score: ArrayLike) -> _Floats:
    """Probabilities of an event, from one column, from two, or from that of no event and one for
    each class; or whether there is one, from the classes that are told, None for no event."""
    given = np.asarray(y_score)
    are_told = given.dtype == object and given.ndim == 1 and given.size > 0
    if are_told and all(own is None or isinstance(own, str) for own in given):
        return np.array([own is not None for own in given], dtype=np.float64)
    scores = np.asarray(y_score, dtype=np.float64)
    if scores.ndim == 2 and scores.shape[1] == 2:
        scores = scores[:, 1]
    if scores.ndim == 2 and scores.shape[1] > 2 and np.allclose(scores.sum(axis=1), 1.0):
        # A sum of shares may be above one by their rounding.
        scores = np.minimum(scores[:, 1:].sum(axis=1), 1.0)
    if scores.ndim != 1:
        raise ValueError(
            f"probabilities have shape {scores.shape}, expected (n_instances,), (n_instances, 2) "
            "or a column for no event and for each class, with a sum of 1"
        )
    return np.ascontiguousarray(scores)
