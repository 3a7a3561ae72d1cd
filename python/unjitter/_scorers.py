"""Scores of an estimator on sessions, in scikit-learn's form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from . import _core
from ._base import sessions_of
from ._events import (
    Tolerance,
    event_metrics,
    mean_event_average_precision,
    window,
)
from ._instances import average_precision, brier_score, f1, log_loss
from ._pooled import NO_LABELS, positive_column
from ._session import UNKNOWN, Session

_Floats = NDArray[np.float64]


def f1_scorer(estimator: Any, X: Any, y: None = None) -> float:
    """F1 over all labelled instances of sessions, from ``predict``.

    Instances with an unknown label, and sessions without labels, are left out; without any label
    this raises a `ValueError`.

    >>> from sklearn.model_selection import cross_val_score
    >>> from unjitter import EventDetector, metrics, simulate
    >>> sessions = simulate.respiration(seed=0, sessions=4)
    >>> scores = cross_val_score(EventDetector(), sessions, scoring=metrics.f1_scorer, cv=2)
    >>> scores.shape
    (2,)
    """
    sessions = sessions_of(X)
    return f1(sessions, estimator.predict(sessions))


def average_precision_scorer(estimator: Any, X: Any, y: None = None) -> float:
    """Average precision on the labels of sessions, which needs no threshold."""
    sessions = sessions_of(X)
    return average_precision(sessions, estimator.predict_proba(sessions))


def brier_scorer(estimator: Any, X: Any, y: None = None) -> float:
    """Minus the Brier score on the labels of sessions, so that larger is better."""
    sessions = sessions_of(X)
    return -brier_score(sessions, estimator.predict_proba(sessions))


def log_loss_scorer(estimator: Any, X: Any, y: None = None) -> float:
    """Minus the log loss on the labels of sessions, so that larger is better."""
    sessions = sessions_of(X)
    return -log_loss(sessions, estimator.predict_proba(sessions))


def log_evidence_scorer(estimator: Any, X: Any, y: None = None) -> float:
    """Log evidence per held-out stamp: for choosing a model without a single label.

    It ranks models of the same stamps, and does not care whether probabilities reach 0.5: search
    with ``EventDetector(threshold="expected_f1")``. Stamps that are impossible under a model raise
    a `ValueError`, which scikit-learn handles by `error_score`.
    """
    detector, sessions = _inside(estimator, sessions_of(X))
    if not hasattr(detector, "log_evidence"):
        raise ValueError(
            f"{type(detector).__name__} has no model of stamps, and so no log evidence: score it "
            "by labels, scoring=metrics.f1_scorer"
        )
    stamps = sum(len(session.events) for session in sessions)
    if stamps == 0:
        raise ValueError("these sessions have no stamps to score by")
    return float(detector.log_evidence(sessions)) / stamps


@dataclass(frozen=True)
class _EventF1Scorer:
    """F1 of detected events: see :func:`event_f1_scorer`."""

    tolerance: Tolerance
    min_separation: float = 0.0

    def __call__(self, estimator: Any, X: Any, y: None = None) -> float:
        true, detected, _ = _detected(estimator, X, None, self.min_separation)
        return event_metrics(true, detected, self.tolerance).f1


@dataclass(frozen=True)
class _EventAveragePrecisionScorer:
    """Average precision of events: see :func:`event_average_precision_scorer`."""

    tolerances: tuple[Tolerance, ...]
    min_separation: float = 0.0

    def __call__(self, estimator: Any, X: Any, y: None = None) -> float:
        true, detected, scores = _detected(estimator, X, 0.0, self.min_separation)
        return mean_event_average_precision(true, detected, scores, self.tolerances)


def event_f1_scorer(tolerance: Tolerance, min_separation: float = 0.0) -> _EventF1Scorer:
    """A scorer: F1 of the events that an estimator detects, against those of the labels.

    With ``labels="chain"`` events are runs on both sides, and one is detected if another begins
    within the tolerance. Sessions without labels are left out, as are instances with an unknown
    label.

    Parameters
    ----------
    tolerance : float or (before, after)
        As in :func:`match_events`, in the unit of the sessions.
    min_separation : float
        Smallest distance between two detected events.

    Examples
    --------
    >>> from unjitter import EventDetector, metrics, simulate
    >>> sessions = simulate.respiration(seed=0, sessions=4)
    >>> scorer = metrics.event_f1_scorer(tolerance=3.0, min_separation=5.0)
    >>> 0.0 <= scorer(EventDetector().fit(sessions[:3]), sessions[3:]) <= 1.0
    True
    """
    return _EventF1Scorer(window(tolerance), float(min_separation))


def event_average_precision_scorer(
    tolerance: Tolerance | list[Tolerance], min_separation: float = 0.0
) -> _EventAveragePrecisionScorer:
    """A scorer: average precision of the events that an estimator detects at falling thresholds.

    With ``labels="chain"`` these are the events at its own threshold, ranked by how sure they are:
    at lower ones runs only get longer.

    Parameters
    ----------
    tolerance : float or (before, after), or list of them
        As in :func:`match_events`; of several the mean.
    min_separation : float
        Smallest distance between two detected events.
    """
    several: list[Any] = list(tolerance) if isinstance(tolerance, list) else [tolerance]
    return _EventAveragePrecisionScorer(tuple(map(window, several)), float(min_separation))


def _detected(
    estimator: Any, X: Any, threshold: float | None, min_separation: float
) -> tuple[list[_Floats], list[_Floats], list[_Floats]]:
    """When true and detected events begin, and scores of these, of sessions that have labels; by
    default at the threshold of the estimator."""
    sessions = [session for session in sessions_of(X) if np.any(_labels_of(session) >= 0)]
    if not sessions:
        raise ValueError(NO_LABELS)
    detector, sessions = _inside(estimator, sessions)
    form = getattr(detector, "_labels", "independent")
    if threshold is None or form == "chain":
        # Runs at a lower threshold are not more of them, but longer ones.
        threshold = detector.threshold_
    true, detected, scores = [], [], []
    for session, probabilities in zip(sessions, detector.predict_proba(sessions)):
        labels = _labels_of(session)
        times, own = session.times, (labels == 1).astype(np.float64)
        known = _stretches(labels >= 0, form)
        p = positive_column(probabilities)
        found = [
            _core.detect_events(times[k], p[k], threshold, min_separation, form) for k in known
        ]
        truth = [_core.detect_events(times[k], own[k], 0.5, 0.0, form) for k in known]
        true.append(np.concatenate([begin for begin, *_ in truth]))
        detected.append(np.concatenate([begin for begin, *_ in found]))
        scores.append(np.concatenate([score for *_, score in found]))
    return true, detected, scores


def _stretches(known: NDArray[np.bool_], form: str) -> list[NDArray[np.int64]]:
    """Instances with known labels, all together, or in stretches that no run leaves."""
    places = np.flatnonzero(known)
    furthest = 1.0 if form == "chain" else np.inf
    return np.split(places, np.flatnonzero(np.diff(places) > furthest) + 1)


def _labels_of(session: Session) -> NDArray[np.int8]:
    return np.full(len(session), UNKNOWN, np.int8) if session.labels is None else session.labels


def _inside(estimator: Any, sessions: list[Session]) -> tuple[Any, list[Session]]:
    """The detector inside a search or a pipeline, and the sessions as it gets them."""
    if hasattr(estimator, "best_estimator_"):
        return _inside(estimator.best_estimator_, sessions)
    if isinstance(estimator, Pipeline):
        seen = sessions if len(estimator) == 1 else estimator[:-1].transform(sessions)
        return _inside(estimator[-1], seen)
    return estimator, sessions
