"""Features as bin memberships."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from . import _core
from ._base import are_sessions
from ._check import whole
from ._session import Session

_Floats = NDArray[np.float64]


class Histogram(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Features as bin memberships, so that a linear classifier can bend: the paper's transform.

    Each feature becomes a row of zeros with a one at the bin that holds it; bins are cut at
    quantiles of the training data. Use it before a detector in a scikit-learn ``Pipeline``.

    Parameters
    ----------
    bins : int
        Most bins of a feature.

    Attributes
    ----------
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
        training = _feature_arrays(X)
        self._histogram = _core.fit_histogram(training, whole("bins", self.bins))
        self.n_features_in_ = training[0].shape[1]
        return self

    def transform(self, X: Any) -> Any:
        """Sessions with bin memberships for features; or an array for an array."""
        check_is_fitted(self, "_histogram")
        if isinstance(X, Session):
            return self._session(X)
        if are_sessions(X):
            return [self._session(session) for session in X]
        return _core.transform_histogram(self._histogram, _feature_arrays(X)[0])

    def get_feature_names_out(self, input_features: Sequence[str] | None = None) -> NDArray[Any]:
        """Names of the bins, such as ``duration[2]``."""
        check_is_fitted(self, "_histogram")
        names = input_features
        if names is None:
            names = [f"x{column}" for column in range(self.n_features_in_)]
        return np.array(_core.histogram_names(self._histogram, list(names)), dtype=object)

    def _session(self, session: Session) -> Session:
        members = _core.transform_histogram(self._histogram, *_feature_arrays(session))
        names = self.get_feature_names_out(session.feature_names)
        return session.replace(X=members, feature_names=tuple(names))


def _feature_arrays(X: Any) -> list[_Floats]:
    if isinstance(X, Session):
        return _feature_arrays(X.X)
    if are_sessions(X):
        return [np.ascontiguousarray(session.X, dtype=np.float64) for session in X]
    return [np.ascontiguousarray(X, dtype=np.float64)]
