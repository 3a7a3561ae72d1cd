"""Comparison of learners by nested cross-validation over sessions or subjects."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray

from . import _core, _tables
from ._base import Detector, same_names, sessions_of
from ._check import whole
from ._detector import EventDetector
from ._instances import Scores
from ._learners import Baseline
from ._progress import Bar
from ._session import Session
from ._significance import mean_interval
from ._warnings import warn

_Floats = NDArray[np.float64]
_OF_CANDIDATES = (
    "learner",
    "candidate",
    "parameters",
    "weight_precision",
    "behind",
    "behind_error",
    "equal",
    "chosen",
)
Learners = Mapping[str, Detector | Sequence[Detector]] | Sequence[Detector | Sequence[Detector]]


@dataclass(frozen=True, eq=False)
class Comparison:
    """Results of learners on held-out sessions.

    Attributes
    ----------
    learners : list of str
        Their names.
    metric : {"f1", "log_evidence"}
        The score: F1 against labels; without labels, log evidence per stamp.
    scores : ndarray of shape (n_learners, n_folds)
        The score of each learner on each fold.
    intervals : ndarray of shape (n_learners, 2)
        The t-interval of each learner's mean score over the folds.
    summary : list of dict
        One line per learner: what :meth:`to_frame` shows.
    folds : list of ndarray
        Positions of the sessions of each fold.
    probabilities : dict of str to list of ndarray
        By learner, the probabilities of the instances of each session while it was held out.
    chosen : ndarray of shape (n_learners, n_folds)
        Index of the candidate that a learner chose, from 0.
    thresholds : ndarray of shape (n_learners, n_folds)
        Threshold of the probabilities.
    candidates : list of dict
        One line per candidate of a grid that the evidence chose from: what
        ``to_frame(per_candidate=True)`` shows.
    """

    learners: list[str]
    metric: str
    scores: _Floats
    intervals: _Floats
    summary: list[dict[str, Any]]
    folds: list[NDArray[np.int64]]
    probabilities: dict[str, list[_Floats]]
    chosen: NDArray[np.int64]
    thresholds: _Floats
    candidates: list[dict[str, Any]]

    def to_frame(
        self, *, per_fold: bool = False, per_candidate: bool = False, backend: str | None = None
    ) -> Any:
        """The result as a data frame.

        Parameters
        ----------
        per_fold : bool
            One row per learner and fold (``learner, fold, score, chosen, threshold``) instead of
            one per learner.
        per_candidate : bool
            One row per candidate of a grid that the held-out evidence chose from (``learner,
            candidate, parameters, weight_precision, behind, behind_error, equal, chosen``): how
            much less log evidence it has than the best, per session (or subject), the standard
            error of that over sessions, whether it is within one of the best, and the number of
            folds that chose it. Of equal ones the simplest is chosen: that with the fewest
            `parameters` to learn, then with the largest `weight_precision`, then the first.
        backend : {"pandas", "polars", "pyarrow", "numpy"}, optional
            The data frame to return; by default of pandas or, without it, a :class:`Table`.

        Returns
        -------
        DataFrame with one row per learner
            ``learner``; ``precision``, ``recall`` and ``f1`` of all held-out sessions together;
            ``f1_low`` and ``f1_high``, an interval of that F1 under resampling of sessions (or of
            subjects); ``mean_f1`` over the folds; ``p_value`` of the difference to the reference
            (NaN for itself), corrected for the number of comparisons; ``average_precision``,
            ``brier_score``; ``event_precision``, ``event_recall``, ``event_f1`` and
            ``false_alarms_per_hour`` of the events detected, and the ``tolerance`` within which
            they count as found; ``log_evidence`` per stamp; and how far it is ``behind`` the best
            learner in log evidence per session (or subject), with the standard error of that,
            paired over sessions, in ``behind_error``. Missing values are NaN.

            Where events are runs also what detected bouts have in common with true ones, as in
            :func:`unjitter.metrics.bout_metrics`: ``bout_precision``, ``bout_recall`` and
            ``bout_f1`` of those that overlap by half, ``start_error`` and ``end_error`` of these,
            ``intersection_f1``, ``stretch_f1`` of stretches of a second, and ``error_rate``.
        """
        if per_candidate:
            columns = {name: [line[name] for line in self.candidates] for name in _OF_CANDIDATES}
            return _tables.frame(columns, backend)
        if not per_fold:
            columns = {name: [line[name] for line in self.summary] for name in self.summary[0]}
            return _tables.frame(columns, backend)
        number = len(self.folds)
        rows = {
            "learner": [name for name in self.learners for _ in range(number)],
            "fold": np.tile(np.arange(number), len(self.learners)),
            "score": self.scores.ravel(),
            "chosen": self.chosen.ravel(),
            "threshold": self.thresholds.ravel(),
        }
        return _tables.frame(rows, backend)

    def __repr__(self) -> str:
        known = (f"{line['learner']} {line[self.metric]:.3f}" for line in self.summary)
        return f"Comparison({self.metric}: {', '.join(known)})"


def compare(
    sessions: Sequence[Session],
    learners: Learners,
    *,
    folds: int = 10,
    inner_folds: int = 10,
    group_by: str = "session",
    criterion: str | None = None,
    threshold: float | str | None = None,
    tolerance: float | None = None,
    min_separation: float = 0.0,
    seconds_per_unit: float = 1.0,
    reference: int | str = 0,
    seed: int = 0,
    level: float = 0.95,
    resamples: int = 2000,
    journal: str | os.PathLike[str] | None = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Comparison:
    """Compare learners by nested cross-validation. Ctrl-C stops it.

    Parameters
    ----------
    sessions : list of Session
        With labels for every instance, if learners are to be compared by F1.
    learners : list of estimators, or mapping of name to estimator
        :class:`EventDetector` and those of :mod:`unjitter.baselines`. A list of estimators in place
        of one is a grid: in each fold one is chosen by an inner cross-validation.
    folds, inner_folds : int
        Number of folds; fewer if there are fewer sessions or subjects.
    group_by : {"session", "subject"}
        The unit that no fold may split.
    criterion : {"f1", "log_evidence"}, optional
        The criterion for choosing candidates of a grid; by default F1 if every session has labels,
        and the held-out evidence of the stamps otherwise. F1 chooses the best. By the evidence,
        candidates within one standard error of the best, paired over sessions, are equal, and the
        simplest of them is chosen: the one with the fewest parameters, then the one with the
        strongest regularisation.
    threshold : float, "best_f1" or "expected_f1", optional
        Threshold of the probabilities: a number; the best one for F1 on the labels of the training
        sessions; or the best expected one given their stamps. By default 0.5, but "expected_f1" for
        an `EventDetector` chosen from a grid by the evidence, which does not care whether
        probabilities reach 0.5. Thresholds and random states of the estimators are not used.
    tolerance : float, optional
        How far from a true event a detected one may be, in the unit of the sessions (or from its
        begin, if stamps have ends or any learner has ``labels="chain"``: events are then runs for
        all); by default two median spacings of the instances, but no more than half the median
        distance between true events.
    min_separation : float
        Smallest distance between two detected events.
    seconds_per_unit : float
        The unit of the sessions' times in seconds, for false alarms per hour.
    reference : int or str
        Position or name of the learner that p-values compare with.
    seed : int
        Of folds, fits and resampling.
    level, resamples
        Of the intervals, as in :func:`unjitter.metrics.bootstrap_interval`.
    journal : path, optional
        A file for finished work, so that an interrupted comparison can continue.
    n_jobs : int, optional
        Threads, as in scikit-learn; the result does not depend on it.
    verbose : int
        Above 0, it shows a progress bar.

    Returns
    -------
    Comparison

    Warns
    -----
    UnjitterWarning
        If there are fewer sessions or subjects than folds, or folds with at most one positive
        instance, whose F1 is not informative.

    Examples
    --------
    >>> from unjitter import EventDetector, baselines, simulate
    >>> sessions = simulate.respiration(sessions=6)
    >>> found = baselines.compare(sessions, [EventDetector(), baselines.Naive()], folds=3)
    >>> found.learners, found.scores.shape
    (['LR-M', 'LR-N'], (2, 3))
    >>> list(found.to_frame().columns)[:4]
    ['learner', 'precision', 'recall', 'f1']
    """
    known = sessions_of(sessions)
    same_names(known)
    contenders = _contenders(learners)
    names = [name for name, _ in contenders]
    options = {
        "folds": whole("folds", folds),
        "inner_folds": whole("inner_folds", inner_folds),
        "group_by": group_by,
        "criterion": criterion,
        "threshold": _threshold(threshold),
        "seed": whole("seed", seed),
    }
    summary = {
        "bootstrap": {
            "level": float(level),
            "resamples": whole("resamples", resamples),
            "seed": int(seed),
        },
        "events": {
            "tolerance": None if tolerance is None else float(tolerance),
            "min_separation": float(min_separation),
            "seconds_per_unit": float(seconds_per_unit),
            "labels": _labels(contenders, known),
        },
    }
    with Bar("compare", "fit", enabled=verbose > 0) as bar:
        positions, results, text, wary = _core.compare(
            contenders,
            json.dumps(options),
            json.dumps(summary),
            _position(reference, names),
            known,
            joblib.effective_n_jobs(n_jobs),
            None if journal is None else os.fspath(journal),
            bar.show,
        )
    for words in wary:
        warn("folds", words, stacklevel=2)
    lines = json.loads(text)
    is_labelled = all(fold[3] is not None for result in results for fold in result)
    stamps = [sum(len(known[k].events) for k in fold) for fold in positions]
    scores = [
        [
            _number(f1) if is_labelled else _per_stamp(evidence, number)
            for (_, _, evidence, f1, _), number in zip(result, stamps)
        ]
        for result in results
    ]
    return Comparison(
        learners=names,
        metric="f1" if is_labelled else "log_evidence",
        scores=np.array(scores),
        intervals=np.array([_interval(row, level) for row in scores]),
        summary=[_line(line) for line in lines],
        folds=[np.array(fold, dtype=np.int64) for fold in positions],
        probabilities={
            name: _by_session(positions, [fold[4] for fold in result], len(known))
            for name, result in zip(names, results)
        },
        chosen=np.array([[fold[0] for fold in result] for result in results]),
        thresholds=np.array([[fold[1] for fold in result] for result in results]),
        candidates=[
            _candidate(line["name"], k, own)
            for line in lines
            for k, own in enumerate(line["candidates"])
        ],
    )


def kept_by_naive(sessions: Session | Sequence[Session]) -> tuple[int, int]:
    """How many true positives stay positive if each stamp goes to its nearest instance.

    Parameters
    ----------
    sessions : list of Session
        With a label for every instance.

    Returns
    -------
    kept, all : int
        Positives nearest to some stamp, and all positives, in the annotated intervals.

    Examples
    --------
    >>> from unjitter import Session, baselines
    >>> session = Session([[0.0]] * 3, times=[0, 10, 20], events=[6, 14], labels=[0, 1, 1])
    >>> baselines.kept_by_naive(session)
    (1, 2)
    """
    return _core.kept_by_naive(sessions_of(sessions))


def _contenders(learners: Any) -> list[tuple[str, list[str]]]:
    """Names, and the settings of the candidates of each."""
    if isinstance(learners, Mapping):
        named = [(str(name), _candidates(grid)) for name, grid in learners.items()]
    else:
        grids = [_candidates(grid) for grid in learners]
        named = [(_core.learner_name(grid[0]), grid) for grid in grids]
    if not named:
        raise ValueError("no learners were given")
    names = [name for name, _ in named]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ValueError(f"two learners are called {twice}: give a mapping of name to learner")
    return named


def _labels(contenders: list[tuple[str, list[str]]], sessions: list[Session]) -> str:
    """What events are: runs for all, if labels form a chain for any, as they do where stamps tell
    ends."""
    options = (json.loads(text)["options"] for _, grid in contenders for text in grid)
    forms = {(own.get("supervised") or own["model"])["labels"] for own in options}
    are_bouts = any(session.ends is not None for session in sessions)
    return "chain" if are_bouts or "chain" in forms else "independent"


def _candidates(grid: Any) -> list[str]:
    candidates = list(grid) if isinstance(grid, Sequence) else [grid]
    if not candidates:
        raise ValueError("a learner has no candidates")
    return [json.dumps(_settings(candidate)) for candidate in candidates]


def _settings(learner: Any) -> dict[str, Any]:
    if isinstance(learner, Baseline):
        return learner.settings()
    if isinstance(learner, EventDetector):
        if learner.use_labels:
            raise ValueError("a learner with use_labels=True would see the labels it is judged by")
        fit = learner._options()
        return {"kind": "imprecise", "options": {"model": learner._model(), "fit": fit}}
    raise ValueError(
        f"learner is {learner!r}, expected an EventDetector or one of unjitter.baselines"
    )


def _threshold(threshold: float | str | None) -> Any:
    """As the library reads it: a number is marked as one."""
    if threshold is None or isinstance(threshold, str):
        return threshold
    return {"fixed": float(threshold)}


def _position(reference: int | str, names: list[str]) -> int:
    if isinstance(reference, str):
        if reference not in names:
            raise ValueError(f"reference is {reference!r}, expected one of {', '.join(names)}")
        return names.index(reference)
    if not 0 <= reference < len(names):
        raise ValueError(f"reference is {reference}, expected 0 to {len(names) - 1}")
    return int(reference)


def _line(summary: dict[str, Any]) -> dict[str, Any]:
    """A line of the table."""
    labelled = summary["labelled"] or {}
    scores, interval = labelled.get("scores", {}), labelled.get("f1_interval", {})
    folds, events = labelled.get("fold_f1"), labelled.get("events", {})
    return {
        "learner": summary["name"],
        "precision": _number(scores.get("precision")),
        "recall": _number(scores.get("recall")),
        "f1": _number(scores.get("f1")),
        "f1_low": _number(interval.get("low")),
        "f1_high": _number(interval.get("high")),
        "mean_f1": np.nan if folds is None else float(np.mean(folds)),
        "p_value": _number(labelled.get("p_value")),
        "average_precision": _number(labelled.get("average_precision")),
        "brier_score": _number(labelled.get("brier_score")),
        "event_precision": _number(events.get("precision")),
        "event_recall": _number(events.get("recall")),
        "event_f1": _number(events.get("f1")),
        "false_alarms_per_hour": _number(events.get("false_alarms_per_hour")),
        "tolerance": _number(events.get("tolerance")),
        "log_evidence": _number(summary["log_evidence_per_stamp"]),
        **_behind(summary["behind"]),
        **_bouts(events.get("bouts")),
    }


def _bouts(found: dict[str, Any] | None) -> dict[str, float]:
    """What detected bouts have in common with true ones, if events are runs."""
    if found is None:
        return {}
    start_error, end_error = found["errors"] or (None, None)
    overlap = {f"bout_{name}": float(found["overlap"][name]) for name in Scores._fields}
    return overlap | {
        "start_error": _number(start_error),
        "end_error": _number(end_error),
        "intersection_f1": float(found["intersection"]["f1"]),
        "stretch_f1": float(found["stretches"]["f1"]),
        "error_rate": _number(found["error_rate"]),
    }


def _candidate(learner: str, position: int, own: dict[str, Any]) -> dict[str, Any]:
    """A line of the table of candidates."""
    behind = _behind(own["behind"])
    return {
        "learner": learner,
        "candidate": position,
        **own["simplicity"],
        **behind,
        "equal": bool(behind["behind"] <= behind["behind_error"]),
        "chosen": own["chosen"],
    }


def _behind(held_out: dict[str, float] | None) -> dict[str, float]:
    """How much less evidence than the best, and the standard error of that."""
    own = held_out or {}
    return {
        "behind": _number(own.get("mean")),
        "behind_error": _number(own.get("standard_error")),
    }


def _number(value: float | None) -> float:
    return np.nan if value is None else float(value)


def _per_stamp(evidence: float | None, stamps: int) -> float:
    return np.nan if evidence is None or stamps == 0 else evidence / stamps


def _interval(scores: list[float], level: float) -> tuple[float, float]:
    if not np.all(np.isfinite(scores)):
        return np.nan, np.nan
    _, low, high = mean_interval(scores, level=level)
    return low, high


def _by_session(
    folds: list[list[int]], probabilities: list[list[_Floats]], sessions: int
) -> list[_Floats]:
    by_session = [np.zeros(0)] * sessions
    for fold, held_out in zip(folds, probabilities):
        for position, own in zip(fold, held_out):
            by_session[position] = own
    return by_session
