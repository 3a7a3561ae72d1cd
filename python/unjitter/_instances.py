"""Predicted instances against their labels.

scikit-learn counts; here sessions are pooled, and cases in which it only warns have a value.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.stats
import sklearn.metrics
from numpy.typing import NDArray

from ._check import whole
from ._pooled import pooled

_Floats = NDArray[np.float64]


class Confusion(NamedTuple):
    """Counts of the four cases."""

    true_positives: int
    false_positives: int
    false_negatives: int
    true_negatives: int


class Scores(NamedTuple):
    """Precision, recall and F1, each from 0 to 1; a share of nothing is 0."""

    precision: float
    recall: float
    f1: float


class BestF1(NamedTuple):
    """The threshold with the highest F1, and its scores."""

    threshold: float
    precision: float
    recall: float
    f1: float


class PrecisionRecallCurve(NamedTuple):
    """Precision and recall at rising thresholds, as in scikit-learn."""

    precision: _Floats
    recall: _Floats
    thresholds: _Floats


class ReliabilityCurve(NamedTuple):
    """Predicted against observed shares, one entry for each bin that is not empty."""

    mean_predicted: _Floats
    observed_share: _Floats
    counts: NDArray[np.int64]


def confusion(y_true: Any, y_score: Any, threshold: float = 0.5) -> Confusion:
    """Count the four cases; an instance is predicted positive from `threshold` on.

    Parameters
    ----------
    y_true : array-like of shape (n_instances,), or list of Session
        Labels, 0 or 1; or sessions that have some.
    y_score : array-like of shape (n_instances,) or (n_instances, 2), or list of them
        Probability of the positive label, alone or beside that of the negative one.
    threshold : float
        Least probability of an instance predicted positive.

    Returns
    -------
    Confusion
        ``true_positives, false_positives, false_negatives, true_negatives``.

    Examples
    --------
    >>> from unjitter import metrics
    >>> metrics.confusion([0, 0, 1, 1], [0.1, 0.6, 0.4, 0.9])
    Confusion(true_positives=1, false_positives=1, false_negatives=1, true_negatives=1)
    """
    counts = sklearn.metrics.confusion_matrix(
        *_called(y_true, y_score, threshold), labels=[True, False]
    )
    hits, misses, false_alarms, others = counts.ravel().tolist()
    return Confusion(hits, false_alarms, misses, others)


def precision_recall_f1(y_true: Any, y_score: Any, threshold: float = 0.5) -> Scores:
    """Precision, recall and F1 at a threshold.

    Parameters
    ----------
    y_true, y_score, threshold
        As in :func:`confusion`.

    Returns
    -------
    Scores
        ``precision, recall, f1``.

    Examples
    --------
    >>> from unjitter import metrics
    >>> metrics.precision_recall_f1([0, 0, 1, 1], [0.1, 0.6, 0.7, 0.9])
    Scores(precision=0.6666666666666666, recall=1.0, f1=0.8)
    """
    *scores, _ = sklearn.metrics.precision_recall_fscore_support(
        *_called(y_true, y_score, threshold), average="binary", zero_division=0
    )
    return Scores(*map(float, scores))


def precision(y_true: Any, y_score: Any, threshold: float = 0.5) -> float:
    """Share of true ones among the instances predicted positive; 0 if there are none.

    Parameters are those of :func:`confusion`.

    >>> from unjitter import metrics
    >>> metrics.precision([0, 1, 1], [0.7, 0.9, 0.2])
    0.5
    """
    return precision_recall_f1(y_true, y_score, threshold).precision


def recall(y_true: Any, y_score: Any, threshold: float = 0.5) -> float:
    """Share of the positive instances that are predicted positive; 0 if there are none.

    Parameters are those of :func:`confusion`.

    >>> from unjitter import metrics
    >>> metrics.recall([0, 1, 1], [0.7, 0.9, 0.2])
    0.5
    """
    return precision_recall_f1(y_true, y_score, threshold).recall


def f1(y_true: Any, y_score: Any, threshold: float = 0.5) -> float:
    """Harmonic mean of precision and recall; 0 without hits.

    Parameters are those of :func:`confusion`.

    >>> from unjitter import Session, metrics
    >>> metrics.f1([0, 1, 1], [0.7, 0.9, 0.2])
    0.5

    Sessions are pooled:

    >>> first = Session([[0.0], [0.0]], times=[0, 1], events=[], labels=[1, None])
    >>> second = Session([[0.0]], times=[0], events=[], labels=[1])
    >>> metrics.f1([first, second], [[[0.1, 0.9], [0.2, 0.8]], [[0.3, 0.7]]])
    1.0
    """
    return precision_recall_f1(y_true, y_score, threshold).f1


def precision_recall_curve(y_true: Any, y_score: Any) -> PrecisionRecallCurve:
    """Precision and recall at every threshold.

    The form is scikit-learn's: thresholds rise, and a last point of precision 1 and recall 0, which
    has no threshold, closes the curve. If no label is positive, recall is 0, not 1.

    Parameters
    ----------
    y_true, y_score
        As in :func:`confusion`.

    Returns
    -------
    PrecisionRecallCurve
        ``precision, recall`` of length n + 1 and ``thresholds`` of length n, which is the number of
        distinct probabilities.

    Examples
    --------
    >>> from unjitter import metrics
    >>> precision, recall, thresholds = metrics.precision_recall_curve([0, 1, 1], [0.2, 0.4, 0.9])
    >>> recall
    array([1. , 1. , 0.5, 0. ])
    >>> thresholds
    array([0.2, 0.4, 0.9])
    """
    labels, scores = pooled(y_true, y_score)
    if labels.any():
        return PrecisionRecallCurve(*sklearn.metrics.precision_recall_curve(labels, scores))
    # scikit-learn would warn, and give a recall of 1.
    thresholds = np.unique(scores)
    nothing = np.zeros(len(thresholds))
    return PrecisionRecallCurve(np.append(nothing, 1.0), np.append(nothing, 0.0), thresholds)


def average_precision(y_true: Any, y_score: Any) -> float:
    """Area under the steps of precision over recall; 0 if no label is positive.

    Parameters are those of :func:`confusion`.

    >>> from unjitter import metrics
    >>> metrics.average_precision([0, 1, 1], [0.2, 0.4, 0.9])
    1.0
    """
    labels, scores = pooled(y_true, y_score)
    # Without positives scikit-learn gives the same, with a warning.
    return float(sklearn.metrics.average_precision_score(labels, scores)) if labels.any() else 0.0


def best_f1(y_true: Any, y_score: Any) -> BestF1:
    """The threshold with the highest F1; of equals the highest.

    A threshold chosen on the data that evaluates it is too optimistic: choose it on the training
    sessions.

    Parameters
    ----------
    y_true, y_score
        As in :func:`confusion`.

    Returns
    -------
    BestF1
        ``threshold, precision, recall, f1``.

    Examples
    --------
    >>> from unjitter import metrics
    >>> metrics.best_f1([0, 1, 1], [0.2, 0.4, 0.9]).threshold
    0.4
    """
    labels, scores = pooled(y_true, y_score)
    # From counts: computed from precision and recall of a curve, equals would differ by rounding.
    thresholds, place = np.unique(scores, return_inverse=True)
    hits, called = (np.bincount(place, own)[::-1].cumsum() for own in (labels, None))
    best = float(thresholds[::-1][np.argmax(2.0 * hits / (called + labels.sum()))])
    return BestF1(best, *precision_recall_f1(labels, scores, best))


def reliability_curve(
    y_true: Any, y_score: Any, *, n_bins: int = 10, strategy: str = "uniform"
) -> ReliabilityCurve:
    """Calibration: whether "seventy per cent" happens seven times out of ten.

    Parameters
    ----------
    y_true, y_score
        As in :func:`confusion`.
    n_bins : int
        Number of groups of similar probability, at most a million; empty ones are left out.
    strategy : {"uniform", "quantile"}
        Bins of equal width, or of about equal count.

    Returns
    -------
    ReliabilityCurve
        ``mean_predicted, observed_share, counts`` of each bin.

    Examples
    --------
    >>> from unjitter import metrics
    >>> metrics.reliability_curve([0, 0, 1, 1], [0.1, 0.2, 0.7, 0.9], n_bins=2).observed_share
    array([0., 1.])
    """
    labels, scores = pooled(y_true, y_score)
    # The bins of scikit-learn's calibration_curve, which does not return their counts.
    bins = np.searchsorted(_edges(scores, n_bins, strategy), scores)
    _, bins, counts = np.unique(bins, return_inverse=True, return_counts=True)
    predicted, observed = (np.bincount(bins, own) / counts for own in (scores, labels))
    return ReliabilityCurve(predicted, observed, counts)


def expected_calibration_error(
    y_true: Any, y_score: Any, *, n_bins: int = 10, strategy: str = "uniform"
) -> float:
    """Mean gap between prediction and observation, weighted by the size of the bins.

    Parameters are those of :func:`reliability_curve`. It depends on the bins: name them beside the
    number.

    >>> from unjitter import metrics
    >>> metrics.expected_calibration_error([0, 1], [0.25, 0.75], n_bins=2)
    0.25
    """
    curve = reliability_curve(y_true, y_score, n_bins=n_bins, strategy=strategy)
    gaps = np.abs(curve.mean_predicted - curve.observed_share)
    return float(np.average(gaps, weights=curve.counts))


def brier_score(y_true: Any, y_score: Any) -> float:
    """Mean squared difference between probability and label; smaller is better.

    Parameters are those of :func:`confusion`.

    >>> from unjitter import metrics
    >>> metrics.brier_score([0, 1], [0.5, 0.5])
    0.25
    """
    return float(sklearn.metrics.brier_score_loss(*pooled(y_true, y_score)))


def log_loss(y_true: Any, y_score: Any) -> float:
    """Mean of -log(probability of the true label); smaller is better.

    Nothing is clipped: one certain mistake makes it infinite. Parameters are those of
    :func:`confusion`.

    >>> from unjitter import metrics
    >>> metrics.log_loss([0, 1], [0.0, 0.0])
    inf
    """
    # scikit-learn's would clip. No logarithm is positive: minus their mean is its size.
    return float(abs(scipy.stats.bernoulli.logpmf(*pooled(y_true, y_score)).mean()))


def _called(
    y_true: Any, y_score: Any, threshold: float
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which instances are positive, and which are predicted positive."""
    if np.isnan(threshold):
        raise ValueError("threshold is NaN, expected a number")
    labels, scores = pooled(y_true, y_score)
    return labels, scores >= threshold


def _edges(scores: _Floats, n_bins: int, strategy: str) -> _Floats:
    """The edges between bins; a bin contains its upper edge."""
    if strategy not in ("uniform", "quantile"):
        raise ValueError(f"strategy is {strategy!r}, expected one of uniform, quantile")
    if not 1 <= whole("n_bins", n_bins) <= 1_000_000:
        raise ValueError(f"n_bins is {n_bins}, expected a number from 1 to 1000000")
    shares: _Floats = np.arange(1, n_bins) / n_bins
    return shares if strategy == "uniform" else np.quantile(scores, shares)
