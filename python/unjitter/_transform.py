"""Transformers of features, for pipelines whose samples are sessions."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from ._base import are_sessions, same_names, sessions_of
from ._session import Session
from ._tables import NUMPY, frame, preferred


class OnFeatures(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A transformer of scikit-learn, applied to the features of sessions.

    It is fitted to the instances of all sessions together; times, stamps and labels stay unchanged.
    Put it before a detector with :func:`make_pipeline`.

    Parameters
    ----------
    transformer : estimator
        Anything with ``fit`` and ``transform`` of arrays: a scaler, an imputer, PCA, a polynomial
        expansion, a pipeline of these. One that chooses columns by name needs pandas.

    Attributes
    ----------
    transformer_ : estimator
        The fitted one.
    feature_names_ : tuple of str or None
        Names of the columns that it was fitted to.

    Examples
    --------
    >>> from sklearn.decomposition import PCA
    >>> from unjitter import EventDetector, OnFeatures, make_pipeline, simulate
    >>> sessions = simulate.respiration(seed=0, subjects=4)
    >>> model = make_pipeline(OnFeatures(PCA(8)), EventDetector()).fit(sessions[:3])
    >>> model.predict_proba(sessions[3]).shape == (len(sessions[3]), 2)
    True
    """

    def __init__(self, transformer: Any) -> None:
        self.transformer = transformer

    def fit(self, X: Any, y: None = None) -> OnFeatures:
        """Fit the transformer to the instances of all sessions.

        Parameters
        ----------
        X : Session or list of Session
        y : ignored

        Returns
        -------
        self
        """
        sessions = sessions_of(X)
        same_names(sessions)
        self.feature_names_ = sessions[0].feature_names
        rows = np.concatenate([session.X for session in sessions])
        self.transformer_ = clone(self.transformer).fit(self._rows(rows))
        return self

    def transform(self, X: Any) -> Any:
        """The sessions with their features transformed; arrays of features are transformed too.

        Parameters
        ----------
        X : Session, list of Session, or array-like of shape (n_instances, n_features)

        Returns
        -------
        the same, with other features
        """
        check_is_fitted(self)
        if isinstance(X, Session):
            return X.replace(X=self._transformed(X.X), feature_names=self._names(X))
        if are_sessions(X):
            return [self.transform(session) for session in X]
        return self._transformed(X)

    def _transformed(self, X: Any) -> Any:
        rows = self.transformer_.transform(self._rows(X))
        return rows.toarray() if issparse(rows) else rows

    def _rows(self, X: Any) -> Any:
        """Rows with the names of their columns, for transformers that choose columns by name."""
        if self.feature_names_ is None or not isinstance(X, np.ndarray):
            return X
        if X.ndim != 2 or X.shape[1] != len(self.feature_names_) or preferred() == NUMPY:
            return X
        return frame(dict(zip(self.feature_names_, X.T)))

    def _names(self, session: Session) -> tuple[str, ...] | None:
        names = getattr(self.transformer_, "get_feature_names_out", None)
        if names is None or session.feature_names is None:
            return None
        return tuple(names(np.array(session.feature_names, dtype=object)))
