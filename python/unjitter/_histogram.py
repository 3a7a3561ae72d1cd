"""Features as bin memberships."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from ._base import are_sessions
from ._check import whole
from ._session import Session

_Floats = NDArray[np.float64]


class Histogram(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Features as bin memberships, which make a linear classifier nonlinear: the paper's transform.

    Each feature becomes a row of zeros with a one at its bin; bins are cut at quantiles of the
    training data. Use it before a detector in a scikit-learn ``Pipeline``.

    Parameters
    ----------
    bins : int
        Most bins of a feature.

    Attributes
    ----------
    cuts_ : list of ndarray
        Of each feature, the cuts between its bins; a value at a cut lies below it.
    n_features_in_ : int

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from unjitter import EventDetector, signal, simulate
    >>> sessions = simulate.respiration(sessions=3)
    >>> detector = make_pipeline(signal.Histogram(bins=4), EventDetector(restarts=0))
    >>> detector.fit(sessions).predict_proba(sessions)[0].shape == (len(sessions[0]), 2)
    True
    """

    def __init__(self, bins: int = 10) -> None:
        self.bins = bins

    def fit(self, X: Any, y: None = None) -> Histogram:
        """Learn the bins from sessions, or from an array of features."""
        if (bins := whole("bins", self.bins)) < 2:
            raise ValueError(f"bins is {bins}, expected at least 2")
        values = np.concatenate([check_array(part) for part in _feature_arrays(X)])
        self.cuts_ = [_cuts(column, bins) for column in values.T]
        self.n_features_in_ = values.shape[1]
        return self

    def transform(self, X: Any) -> Any:
        """Sessions with bin memberships for features; or an array for an array."""
        check_is_fitted(self)
        if isinstance(X, Session):
            return self._session(X)
        if are_sessions(X):
            return [self._session(session) for session in X]
        return self._members(_feature_arrays(X)[0])

    def get_feature_names_out(self, input_features: Sequence[str] | None = None) -> NDArray[Any]:
        """Names of the bins, such as ``duration[2]``."""
        check_is_fitted(self)
        names = input_features
        if names is None:
            names = [f"x{column}" for column in range(self.n_features_in_)]
        bins = zip(names, self.cuts_)
        named = [f"{name}[{bin}]" for name, cuts in bins for bin in range(len(cuts) + 1)]
        return np.array(named, dtype=object)

    def _session(self, session: Session) -> Session:
        members = self._members(*_feature_arrays(session))
        names = self.get_feature_names_out(session.feature_names)
        return session.replace(X=members, feature_names=tuple(names))

    def _members(self, features: _Floats) -> _Floats:
        if (found := check_array(features).shape[1]) != self.n_features_in_:
            raise ValueError(f"{found} features, expected {self.n_features_in_}")
        bins = [np.searchsorted(cuts, column) for cuts, column in zip(self.cuts_, features.T)]
        members = [np.eye(len(cuts) + 1)[own] for cuts, own in zip(self.cuts_, bins)]
        return np.concatenate(members, axis=1)


def _cuts(values: _Floats, bins: int) -> _Floats:
    """Distinct values at which a share k/bins of all values is reached.

    Only values that occur, and none at the largest: no bin is empty in training. scikit-learn's
    ``KBinsDiscretizer`` cuts between values and drops bins that are narrow in the data's unit.
    """
    ordered = np.sort(values)
    reached = -(-np.arange(1, bins) * len(ordered) // bins)
    cuts = np.unique(ordered[np.maximum(reached, 1) - 1])
    below: _Floats = cuts[cuts < ordered[-1]]
    return below


def _feature_arrays(X: Any) -> list[_Floats]:
    if isinstance(X, Session):
        return _feature_arrays(X.X)
    if are_sessions(X):
        return [np.ascontiguousarray(session.X, dtype=np.float64) for session in X]
    return [np.ascontiguousarray(X, dtype=np.float64)]
