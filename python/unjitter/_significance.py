"""Whether a difference is real."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from ._check import whole

_Floats = NDArray[np.float64]


class PairedTest(NamedTuple):
    """A two-sided paired t-test."""

    mean_difference: float
    t: float
    degrees_of_freedom: int
    p_value: float


class Interval(NamedTuple):
    """From low to high."""

    low: float
    high: float


class MeanInterval(NamedTuple):
    """A mean with its interval."""

    mean: float
    low: float
    high: float


def paired_t_test(first: ArrayLike, second: ArrayLike) -> PairedTest:
    """Whether one learner beats another on the same folds by more than chance.

    Folds share most of their training sessions, so the test is somewhat too sure of itself.

    Parameters
    ----------
    first, second : array-like of shape (n_folds,)
        Scores on the same folds, at least two.

    Returns
    -------
    PairedTest
        ``mean_difference, t, degrees_of_freedom, p_value``.

    Examples
    --------
    >>> from unjitter import metrics
    >>> test = metrics.paired_t_test([0.8, 0.7, 0.9], [0.5, 0.6, 0.6])
    >>> round(test.p_value, 4), test.degrees_of_freedom
    (0.0728, 2)
    """
    return PairedTest(*_core.paired_t_test(numbers(first), numbers(second)))


def bonferroni(p_value: float, comparisons: int) -> float:
    """The p-value to report for the best of so many tests.

    >>> from unjitter import metrics
    >>> metrics.bonferroni(0.02, 4)
    0.08
    """
    return _core.bonferroni(float(p_value), whole("comparisons", comparisons))


def mean_interval(scores: ArrayLike, *, level: float = 0.95) -> MeanInterval:
    """Mean of scores and its t-interval.

    Parameters
    ----------
    scores : array-like of shape (n_scores,)
        At least two.
    level : float
        Between 0 and 1.

    Returns
    -------
    MeanInterval
        ``mean, low, high``.

    Examples
    --------
    >>> from unjitter import metrics
    >>> metrics.mean_interval([0.5, 0.5, 0.5])
    MeanInterval(mean=0.5, low=0.5, high=0.5)
    """
    return MeanInterval(*_core.mean_interval(numbers(scores), float(level)))


def bootstrap_interval(
    statistic: Callable[[NDArray[np.int64]], float],
    sessions: int | Sequence[Any],
    *,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> Interval:
    """How much a score would move with other sessions of the same kind.

    Whole sessions are drawn with replacement, since instances of one resemble each other.

    Parameters
    ----------
    statistic : callable
        Given the positions of the drawn sessions, as many as there are and some more than once,
        the score.
    sessions : int, or the sessions themselves
        How many there are.
    level : float
        Share of the resampled scores inside the interval.
    resamples : int
        How often to draw, at most ten million times.
    seed : int
        Same seed, same interval.

    Returns
    -------
    Interval
        ``low, high``.

    Examples
    --------
    >>> import numpy as np
    >>> from unjitter import metrics
    >>> scores = np.array([0.6, 0.7, 0.9, 0.8])
    >>> low, high = metrics.bootstrap_interval(lambda drawn: scores[drawn].mean(), 4)
    >>> low < 0.75 < high
    True
    """
    number = len(sessions) if isinstance(sessions, Sequence) else whole("sessions", sessions)
    return Interval(
        *_core.bootstrap_interval(
            statistic, number, (float(level), whole("resamples", resamples), whole("seed", seed))
        )
    )


def numbers(values: ArrayLike) -> _Floats:
    """A list of numbers as an array."""
    given = np.ascontiguousarray(values, dtype=np.float64)
    if given.ndim != 1:
        raise ValueError(f"expected one dimension, got {given.ndim}")
    return given
