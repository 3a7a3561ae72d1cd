"""Significance of differences."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.stats
from numpy.typing import ArrayLike, NDArray

from ._check import probability, whole

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
    """Test whether one learner beats another on the same folds by more than chance.

    Folds share most of their training sessions, so the test is somewhat too confident. If all
    differences are equal there is no spread to compare with: if they are zero, t is 0 and p is 1;
    if not, t is infinite and p is 0.

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
    one, other = _scores(first), _scores(second)
    if len(one) != len(other):
        raise ValueError(f"{len(other)} scores of the second learner for {len(one)} of the first")
    difference = float(np.mean(one - other))
    # 0.3 - 0.2 and 0.2 - 0.1 differ by rounding, which SciPy would take for a spread; without a
    # spread it gives NaN.
    rounding = 4.0 * np.finfo(np.float64).eps * np.max(np.abs([one, other]))
    if np.allclose(one - other, difference, rtol=0.0, atol=rounding):
        same = abs(difference) <= rounding
        t, p_value = (0.0, 1.0) if same else (math.copysign(math.inf, difference), 0.0)
    else:
        t, p_value = map(float, scipy.stats.ttest_rel(one, other))
    return PairedTest(difference, t, len(one) - 1, p_value)


def bonferroni(p_value: float, comparisons: int) -> float:
    """The p-value to report for the best of so many tests.

    >>> from unjitter import metrics
    >>> metrics.bonferroni(0.02, 4)
    0.08
    """
    if whole("comparisons", comparisons) == 0:
        raise ValueError("0 comparisons, expected at least 1")
    return min(1.0, probability("p_value", p_value) * comparisons)


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
    given, high = _scores(scores), 0.5 * (1.0 + _level(level))
    mean = float(given.mean())
    reach = float(scipy.stats.t.ppf(high, len(given) - 1) * scipy.stats.sem(given))
    return MeanInterval(mean, mean - reach, mean + reach)


def bootstrap_interval(
    statistic: Callable[[NDArray[np.int64]], float],
    sessions: int | Sequence[Any],
    *,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> Interval:
    """The uncertainty of a score over other sessions of the same kind.

    Whole sessions are drawn with replacement, since instances of one resemble each other.

    Parameters
    ----------
    statistic : callable
        Returns the score for the positions of the drawn sessions, as many as there are and some
        more than once.
    sessions : int, or the sessions themselves
        Their number.
    level : float
        Share of the resampled scores inside the interval.
    resamples : int
        Number of draws, at most ten million.
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
    if number == 0:
        raise ValueError("no sessions were given")
    if not 1 <= whole("resamples", resamples) <= 10_000_000:
        raise ValueError(f"resamples is {resamples}, expected a number from 1 to 10000000")
    tail = 0.5 * (1.0 - _level(level))
    random = np.random.default_rng(whole("seed", seed))
    # scipy.stats.bootstrap would draw everything first, and refuses a single session.
    scores = np.empty(resamples)
    for k in range(resamples):
        scores[k] = statistic(random.integers(number, size=number))
        if not np.isfinite(scores[k]):
            raise ValueError(f"statistic of resample {k} is {scores[k]}, expected a finite number")
    return Interval(*np.quantile(scores, [tail, 1.0 - tail]).tolist())


def _level(level: float) -> float:
    if not 0.0 < level < 1.0:
        raise ValueError(f"level is {level}, expected a number between 0 and 1")
    return float(level)


def _scores(values: ArrayLike) -> _Floats:
    """Two finite numbers or more."""
    scores = np.asarray(values, dtype=np.float64)
    if scores.ndim != 1:
        raise ValueError(f"expected one dimension, got {scores.ndim}")
    if len(scores) < 2:
        raise ValueError(f"{len(scores)} scores, expected at least 2")
    odd = np.flatnonzero(~np.isfinite(scores))
    if len(odd):
        raise ValueError(f"score {odd[0]} is {scores[odd[0]]}, expected a finite number")
    return scores
