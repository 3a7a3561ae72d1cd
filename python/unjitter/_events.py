"""Detected against true events."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from ._calendar import Calendar, Times, read_times
from ._floats import floats
from ._pooled import positive_column

_Floats = NDArray[np.float64]
Tolerance = float | tuple[float, float]


class Detections(NamedTuple):
    """Detected events in order of time."""

    times: NDArray[Any]
    scores: _Floats


class TimingErrors(NamedTuple):
    """Detection minus event over the hits: positive is late."""

    mean: float
    median: float
    standard_deviation: float
    mean_absolute: float


class EventMetrics(NamedTuple):
    """Scores of detected events, all sessions pooled."""

    precision: float
    recall: float
    f1: float
    hits: int
    misses: int
    false_alarms: int
    false_alarms_per_hour: float | None
    timing: TimingErrors | None


def detect_events(
    times: ArrayLike,
    probabilities: ArrayLike,
    *,
    threshold: float = 0.5,
    min_separation: float = 0.0,
) -> Detections:
    """Events from a probability for each instance.

    Candidates are taken from the most probable down, of equals the earlier first; one that is
    closer than `min_separation` to an event already taken is dropped.

    Parameters
    ----------
    times : array-like of shape (n_instances,)
        Numbers or dates, in any order.
    probabilities : array-like of shape (n_instances,) or (n_instances, 2)
    threshold : float
        Least probability of a candidate.
    min_separation : float
        Smallest distance between two events, in the unit of time (seconds, for dates).

    Returns
    -------
    Detections
        ``times, scores`` in order of time; the score is the probability. Times are NumPy's dates
        if dates were given, in UTC if those had a time zone.

    Examples
    --------
    >>> from unjitter import metrics
    >>> metrics.detect_events([0, 1, 2, 9], [0.6, 0.9, 0.7, 0.8], min_separation=5.0).times
    array([1., 9.])
    """
    (seconds,), calendar = _seconds(times)
    found, _, scores, _ = _core.detect_events(
        seconds,
        positive_column(probabilities),
        float(threshold),
        float(min_separation),
    )
    return Detections(found if calendar is None else calendar.dates(found), scores)


def match_events(true: ArrayLike, detected: ArrayLike, tolerance: Tolerance) -> NDArray[np.int64]:
    """Match detections with events.

    One to one, as many as possible, and among those matchings one with the least total distance.

    Parameters
    ----------
    true, detected : array-like of times
        Numbers or dates of one session, in any order. NumPy's dates, which have no time zones, are
        taken as UTC beside dates that have one.
    tolerance : float or (before, after)
        Largest distance of a detection from its event, in the unit of time (seconds, for dates);
        how early and how late, if that differs. The limits themselves still match.

    Returns
    -------
    ndarray of shape (n_pairs, 2)
        Positions in `true` and in `detected`, in order of time.

    Examples
    --------
    >>> from unjitter import metrics
    >>> metrics.match_events([10.0, 20.0], [11.0, 17.0, 20.5], tolerance=2.0)
    array([[0, 0],
           [1, 2]])
    """
    (wanted, found), _ = _seconds(true, detected)
    truths, detections = _core.match_events(wanted, found, window(tolerance))
    return np.column_stack([truths, detections])


def event_metrics(
    true: Any,
    detected: Any,
    tolerance: Tolerance,
    *,
    observed: float | Sequence[float] = 0.0,
    seconds_per_unit: float = 1.0,
) -> EventMetrics:
    """Scores of detected events, and their timing.

    Each session is matched separately; then counts and errors are pooled.

    Parameters
    ----------
    true, detected : array-like of times, or list of them
        Events of one session, or of each of many; dates as in :func:`match_events`.
    tolerance : float or (before, after)
        As in :func:`match_events`.
    observed : float or sequence of float
        Observed time of each session, in the unit of time: for the rate of false alarms.
    seconds_per_unit : float
        Length of the unit of time in seconds; 0.001 for milliseconds.

    Returns
    -------
    EventMetrics
        ``precision, recall, f1, hits, misses, false_alarms, false_alarms_per_hour`` (None without
        `observed`) and ``timing`` (None without hits), which has ``mean, median,
        standard_deviation, mean_absolute`` of detection less event.

    Examples
    --------
    >>> from unjitter import metrics
    >>> found = metrics.event_metrics([10.0, 20.0], [11.0, 17.0, 20.5], 2.0, observed=1800.0)
    >>> found.recall, found.false_alarms_per_hour, found.timing.mean
    (1.0, 2.0, 0.75)
    """
    sessions = _events(true, detected, None, observed)
    fields = json.loads(_core.event_metrics(sessions, window(tolerance), float(seconds_per_unit)))
    timing = fields.pop("timing")
    return EventMetrics(**fields, timing=None if timing is None else TimingErrors(**timing))


def event_average_precision(true: Any, detected: Any, scores: Any, tolerance: Tolerance) -> float:
    """Area under precision over recall of events as the score threshold falls, sessions pooled.

    Parameters
    ----------
    true, detected : array-like of times, or list of them
        As in :func:`event_metrics`; give detections at a low threshold, since events that none
        reaches count as never found.
    scores : array-like, or list of them
        Certainty of each detection; larger is surer.
    tolerance : float or (before, after)
        As in :func:`match_events`.

    Examples
    --------
    >>> from unjitter import metrics
    >>> metrics.event_average_precision([10, 20], [11, 17, 20.5], [0.9, 0.8, 0.7], tolerance=2)
    0.8333333333333333
    """
    return mean_event_average_precision(true, detected, scores, [tolerance])


def mean_event_average_precision(
    true: Any, detected: Any, scores: Any, tolerances: Iterable[Tolerance]
) -> float:
    """Mean of :func:`event_average_precision` over tolerances.

    Parameters
    ----------
    true, detected, scores
        As in :func:`event_average_precision`.
    tolerances : iterable of float or (before, after)
        At least one.

    Examples
    --------
    >>> from unjitter import metrics
    >>> metrics.mean_event_average_precision([10, 20], [11, 20], [0.9, 0.8], tolerances=[0.5, 1])
    0.625
    """
    windows = [window(tolerance) for tolerance in tolerances]
    return _core.mean_event_average_precision(_events(true, detected, scores, 0.0), windows)


def window(tolerance: Tolerance) -> tuple[float, float]:
    """How early and how late a detection may be."""
    if not isinstance(tolerance, Iterable):
        return float(tolerance), float(tolerance)
    limits = tuple(tolerance)
    if len(limits) != 2:
        raise ValueError(f"tolerance is {tolerance!r}, expected a number or (before, after)")
    return float(limits[0]), float(limits[1])


def _seconds(*times: Any) -> tuple[list[_Floats], Calendar | None]:
    """Times of one session in seconds, and the moment at zero if they are dates."""
    given = [_read(values) for values in times]
    zones = [own.time_zone for own in given if own.are_dates and own.time_zone is not None]
    given = [own.in_zone(zones[0]) if zones else own for own in given]
    dates = [own for own in given if len(own.values) and own.are_dates]
    if len({own.time_zone is None for own in dates}) > 1:
        raise ValueError("some dates have a time zone and some have none")
    if dates and any(len(own.values) and not own.are_dates for own in given):
        raise ValueError("some times are dates and some are numbers")
    calendar = dates[0].calendar() if dates else None
    return [own.seconds(calendar, "times") for own in given], calendar


def _read(values: Any) -> Times:
    times = read_times(values)
    if times.values.ndim != 1:
        raise ValueError(f"expected one dimension, got {times.values.ndim}")
    return times


def _events(
    true: Any, detected: Any, scores: Any, observed: float | Sequence[float]
) -> list[tuple[_Floats, _Floats, _Floats, float]]:
    """Events of each session for the compiled half."""
    if not _are_many(true) and not _are_many(detected):
        true, detected = [true], [detected]
        scores = None if scores is None else [scores]
    lengths = {"true": len(true), "detected": len(detected)}
    lengths |= {} if scores is None else {"scores": len(scores)}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{name} of {number}" for name, number in lengths.items())
        raise ValueError(f"lists are of different numbers of sessions: {told}")
    if isinstance(observed, Iterable):
        durations = [float(duration) for duration in observed]
        if len(durations) != len(true):
            raise ValueError(f"observed has length {len(durations)}, expected {len(true)}")
    else:
        durations = [float(observed)] * len(true)
    certainties = [None] * len(true) if scores is None else scores
    sessions = []
    for k, (truths, detections, own, duration) in enumerate(
        zip(true, detected, certainties, durations)
    ):
        (wanted, times), _ = _seconds(truths, detections)
        sure = np.zeros(len(times)) if own is None else floats(own, "scores")
        if sure.ndim != 1:
            raise ValueError(f"expected one dimension, got {sure.ndim}")
        if len(sure) != len(times):
            raise ValueError(f"session {k}: {len(sure)} scores for {len(times)} detections")
        sessions.append((wanted, times, sure, duration))
    return sessions


def _are_many(times: Any) -> bool:
    """Whether times are those of several sessions: a list whose entries are lists."""
    dtype = getattr(times, "dtype", None)
    if dtype is not None and dtype != np.dtype(object):
        return np.ndim(times) > 1
    # A series may have no entry of the name 0.
    first = next(iter(times), None)
    return hasattr(first, "__len__") and not isinstance(first, str)
