"""Pipelines with the methods of their detector."""

from __future__ import annotations

from typing import Any

import sklearn.pipeline
from sklearn.utils.metaestimators import available_if

from ._base import Sessions


def _has(name: str) -> Any:
    """Whether the last step has a method, so that a pipeline without a detector lacks it too."""
    return lambda pipeline: hasattr(pipeline.steps[-1][1], name)


class Pipeline(sklearn.pipeline.Pipeline):  # type: ignore[misc]
    """scikit-learn's pipeline, with ``align`` and ``detect`` if its last step has them.

    scikit-learn's own only passes on the methods that it knows, such as ``predict_proba``. All else
    is the same: parameters, ``set_params``, slices, ``GridSearchCV``. Fitted steps need not be
    fitted again, so ``Pipeline(model.steps)`` converts any other pipeline.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.impute import SimpleImputer
    >>> from unjitter import EventDetector, OnFeatures, make_pipeline, simulate
    >>> sessions = simulate.respiration(seed=0, subjects=4)
    >>> for session in sessions:
    ...     session.X[::7, 2] = np.nan
    >>> model = make_pipeline(OnFeatures(SimpleImputer()), EventDetector()).fit(sessions[:3])
    >>> len(model.align(sessions[3])) == len(sessions[3].events)
    True
    """

    @available_if(_has("align"))  # type: ignore[untyped-decorator]
    def align(
        self, X: Sessions, *, level: float = 0.95, draws: int = 32, backend: str | None = None
    ) -> Any:
        """See :meth:`EventDetector.align`."""
        sessions = self._transformed(X)
        return self._detector.align(sessions, level=level, draws=draws, backend=backend)

    @available_if(_has("align_instances"))  # type: ignore[untyped-decorator]
    def align_instances(self, X: Sessions, *, draws: int = 32, backend: str | None = None) -> Any:
        """See :meth:`EventDetector.align_instances`."""
        return self._detector.align_instances(self._transformed(X), draws=draws, backend=backend)

    @available_if(_has("detect"))  # type: ignore[untyped-decorator]
    def detect(self, X: Sessions, *, min_separation: float = 0.0) -> Any:
        """See :meth:`EventDetector.detect`."""
        return self._detector.detect(self._transformed(X), min_separation=min_separation)

    @available_if(_has("detect_events"))  # type: ignore[untyped-decorator]
    def detect_events(
        self, X: Sessions, *, min_separation: float = 0.0, backend: str | None = None
    ) -> Any:
        """See :meth:`EventDetector.detect_events`."""
        return self._detector.detect_events(
            self._transformed(X), min_separation=min_separation, backend=backend
        )

    @available_if(_has("log_evidence"))  # type: ignore[untyped-decorator]
    def log_evidence(self, X: Sessions) -> float:
        """See :meth:`EventDetector.log_evidence`."""
        return float(self._detector.log_evidence(self._transformed(X)))

    @available_if(_has("predict_stamped"))  # type: ignore[untyped-decorator]
    def predict_stamped(self, X: Any) -> Any:
        """See :meth:`EventDetector.predict_stamped`."""
        return self._detector.predict_stamped(self._transformed(X))

    @property
    def _detector(self) -> Any:
        return self.steps[-1][1]

    def _transformed(self, X: Any) -> Any:
        """The input of the last step."""
        return X if len(self.steps) == 1 else self[:-1].transform(X)


def make_pipeline(*steps: Any, **options: Any) -> Pipeline:
    """A :class:`Pipeline` of steps that are named by their types.

    Parameters
    ----------
    *steps : estimators
        Transformers of sessions, such as :class:`OnFeatures`, and a detector.
    **options
        Those of ``sklearn.pipeline.make_pipeline``: ``memory`` and ``verbose``.
    """
    return Pipeline(**sklearn.pipeline.make_pipeline(*steps, **options).get_params(deep=False))
