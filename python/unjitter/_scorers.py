"""Scores of an estimator on sessions, in scikit-learn's form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from . import _core
from ._base import sessions_of
from ._bouts import bout_metrics
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
    """F1 over all labelled instances of sessions, from ``predict``: that of events of any class, if
    there are several. :func:`class_f1_scorer` asks for the right class too.

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


def class_f1_scorer(estimator: Any, X: Any, y: None = None) -> float:
    """Mean over classes of the F1 of each, over all labelled instances of sessions: the row "macro"
    of :meth:`EventDetector.class_scores`, and what ``EventDetector.score`` is with several classes.
    """
    detector, sessions = _inside(estimator, sessions_of(X))
    if not hasattr(detector, "class_scores"):
        raise ValueError(
            f"{type(detector).__name__} knows no classes: score it by metrics.f1_scorer"
        )
    scores = detector.class_scores(sessions, backend="numpy")
    return float(scores["f1"][list(scores["class"]).index("macro")])


def average_precision_scorer(estimator: Any, X: Any, y: None = None) -> float:
    """Average precision on the labels of sessions, which needs no threshold: that of events of any
    class, if there are several."""
    sessions = sessions_of(X)
    return average_precision(sessions, estimator.predict_proba(sessions))


def brier_scorer(estimator: Any, X: Any, y: None = None) -> float:
    """Minus the Brier score on the labels of sessions, so that larger is better: that of events of
    any class, if there are several."""
    sessions = sessions_of(X)
    return -brier_score(sessions, estimator.predict_proba(sessions))


def log_loss_scorer(estimator: Any, X: Any, y: None = None) -> float:
    """Minus the log loss on the labels of sessions, so that larger is better: that of events of any
    class, if there are several."""
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
        found = _detected(estimator, X, None, self.min_separation)
        return event_metrics(found.begins(0), found.begins(1), self.tolerance).f1


@dataclass(frozen=True)
class _EventAveragePrecisionScorer:
    """Average precision of events: see :func:`event_average_precision_scorer`."""

    tolerances: tuple[Tolerance, ...]
    min_separation: float = 0.0

    def __call__(self, estimator: Any, X: Any, y: None = None) -> float:
        found = _detected(estimator, X, 0.0, self.min_separation)
        scores = [own.scores for _, own in found.sessions]
        return mean_event_average_precision(
            found.begins(0), found.begins(1), scores, self.tolerances
        )


@dataclass(frozen=True)
class _BoutF1Scorer:
    """F1 of detected bouts: see :func:`bout_f1_scorer`."""

    overlap: float
    min_separation: float = 0.0

    def __call__(self, estimator: Any, X: Any, y: None = None) -> float:
        found = _detected(estimator, X, None, self.min_separation, "chain")
        true, detected = ([own[k].bouts(found.spacing) for own in found.sessions] for k in (0, 1))
        return bout_metrics(true, detected, overlap=self.overlap).overlap.f1


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


def bout_f1_scorer(overlap: float = 0.5, min_separation: float = 0.0) -> _BoutF1Scorer:
    """A scorer: F1 of the bouts that an estimator detects, against those of the labels.

    A bout is a run of positive instances, whatever the estimator takes labels for. Its last
    instance lasts as long as instances usually are apart. Sessions without labels are left out, as
    are instances with an unknown label.

    Parameters
    ----------
    overlap : float
        Least share that a detection and a bout have in common of what both cover, as in
        :func:`bout_metrics`.
    min_separation : float
        Bouts that are detected closer than this are one.

    Examples
    --------
    >>> from unjitter import baselines, metrics, simulate
    >>> sessions = simulate.wearable(people=4, windows_per_second=1)
    >>> detector = baselines.HandAligned(labels="chain").fit(sessions[:3])
    >>> 0.5 < metrics.bout_f1_scorer()(detector, sessions[3:]) <= 1.0
    True
    """
    return _BoutF1Scorer(float(overlap), float(min_separation))


def event_average_precision_scorer(
    tolerance: Tolerance | list[Tolerance], min_separation: float = 0.0
) -> _EventAveragePrecisionScorer:
    """A scorer: average precision of the events that an estimator detects at falling thresholds.

    With ``labels="chain"`` and a `min_separation` these are the events at its own threshold, ranked
    by how sure they are: at lower ones more and more of them would be joined.

    Parameters
    ----------
    tolerance : float or (before, after), or list of them
        As in :func:`match_events`; of several the mean.
    min_separation : float
        Smallest distance between two detected events.
    """
    several: list[Any] = list(tolerance) if isinstance(tolerance, list) else [tolerance]
    return _EventAveragePrecisionScorer(tuple(map(window, several)), float(min_separation))


class _Found(NamedTuple):
    """Events of a session, in order of time: when they begin and end, and how sure they are."""

    begins: _Floats
    ends: _Floats
    scores: _Floats

    @classmethod
    def of(cls, parts: list[tuple[Any, ...]]) -> _Found:
        """Those of several stretches of time."""
        return cls(*(np.concatenate([part[k] for part in parts]) for k in range(3)))

    def bouts(self, spacing: float) -> _Floats:
        """Start and end of each, whose last instance lasts so long."""
        return np.column_stack([self.begins, _core.lasting(self.begins, self.ends, spacing)])


class _Detected(NamedTuple):
    """True and detected events of each session that has labels, and how far instances are apart."""

    sessions: list[tuple[_Found, _Found]]
    spacing: float

    def begins(self, side: int) -> list[_Floats]:
        """When the true (0) or the detected (1) events of each session begin."""
        return [own[side].begins for own in self.sessions]


def _detected(
    estimator: Any,
    X: Any,
    threshold: float | None,
    min_separation: float,
    form: str | None = None,
) -> _Detected:
    """Events by the labels of sessions that have some, and by an estimator: at its own threshold by
    default, and of the form that labels have for it."""
    sessions = [session for session in sessions_of(X) if np.any(_labels_of(session) >= 0)]
    if not sessions:
        raise ValueError(NO_LABELS)
    detector, sessions = _inside(estimator, sessions)
    form = getattr(detector, "_labels", "independent") if form is None else form
    if threshold is None or (form == "chain" and min_separation > 0.0):
        # Runs that are close are one: at a lower threshold sure ones would get longer.
        threshold = detector.threshold_
    found = []
    for session, probabilities in zip(sessions, detector.predict_proba(sessions)):
        labels = _labels_of(session)
        times, own = session.times, (labels == 1).astype(np.float64)
        known = _stretches(labels >= 0, form)
        p = positive_column(probabilities)
        told = [_core.detect_events(times[k], p[k], threshold, min_separation, form) for k in known]
        truth = [_core.detect_events(times[k], own[k], 0.5, 0.0, form) for k in known]
        found.append((_Found.of(truth), _Found.of(told)))
    gaps = np.concatenate([np.diff(session.times) for session in sessions])
    spacing = float(np.median(gaps[gaps > 0.0])) if np.any(gaps > 0.0) else 0.0
    return _Detected(found, spacing)


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
