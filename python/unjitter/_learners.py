"""Learners for comparison: common practice with sloppy stamps."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, ClassVar

import joblib
import numpy as np

from . import _core
from ._base import Detector, Sessions, learnable, seed_of, sessions_of
from ._check import no_labels_apart, one_of, probability, whole
from ._classifiers import Classifier, classifier_model
from ._priors import Priors
from ._session import Session


class Baseline(Detector):
    """Base of all learners without an annotator; see :class:`Naive` for the parameters."""

    kind: ClassVar[str]
    _fitted: _core.Detector
    _learned: ClassVar[Any] = _core.Detector

    def __init__(
        self,
        classifier: str | Classifier = "logistic",
        *,
        labels: str = "independent",
        stamps: str = "onset",
        regularisation: float = 1.0,
        intercept_precision: float = 0.01,
        threshold: float = 0.5,
        max_iter: int = 500,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.classifier = classifier
        self.labels = labels
        self.stamps = stamps
        self.regularisation = regularisation
        self.intercept_precision = intercept_precision
        self.threshold = threshold
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Sequence[Session], y: None = None) -> Any:
        """Learn from sessions.

        Parameters
        ----------
        X : list of Session
        y : ignored
            As in :meth:`EventDetector.fit`.

        Returns
        -------
        self
        """
        no_labels_apart(y)
        sessions = sessions_of(X)
        learnable(sessions)
        probability("threshold", self.threshold)
        self._fitted = _core.learn(
            json.dumps(self.settings()),
            sessions,
            seed_of(self.random_state),
            joblib.effective_n_jobs(self.n_jobs),
        )
        self.classes_ = np.array([0, 1])
        self.n_features_in_ = self._fitted.n_features
        self._forget("coef_", "intercept_", "feature_names_in_")
        self._adopt_runs()
        linear = self._fitted.linear()
        if linear is not None:
            self.coef_, self.intercept_ = linear[0].reshape(1, -1), np.array([linear[1]])
        if sessions[0].feature_names is not None:
            self.feature_names_in_ = np.array(sessions[0].feature_names, dtype=object)
        return self

    def score(self, X: Sessions, y: None = None) -> float:
        """F1 over all labelled instances of sessions at `threshold`."""
        from . import metrics

        no_labels_apart(y)
        return metrics.f1_scorer(self, X)

    def settings(self) -> dict[str, Any]:
        """The learner as JSON for the library."""
        supervised = {
            "classifier": classifier_model(self.classifier).settings(),
            "labels": one_of("labels", self.labels, ("independent", "chain")),
            "stamps": one_of("stamps", self.stamps, ("onset", "end", "presence")),
            "priors": Priors(intercept_precision=self.intercept_precision).settings(
                self.regularisation
            ),
            "optimiser": {"max_iterations": whole("max_iter", self.max_iter)},
        }
        return {"kind": self.kind, "options": {"supervised": supervised, **self._options()}}

    def _options(self) -> dict[str, Any]:
        """Settings that only this learner has."""
        return {}

    def _forget(self, *names: str) -> None:
        for name in names:
            if hasattr(self, name):
                delattr(self, name)


class HandAligned(Baseline):
    """Supervised learning on hand-aligned labels: the upper limit.

    Every instance of every session must have a label; stamps are not used. Parameters and
    attributes are those of :class:`Naive`.

    Examples
    --------
    >>> from unjitter import baselines, simulate
    >>> sessions = simulate.respiration(sessions=3)
    >>> baselines.HandAligned().fit(sessions[:2]).score(sessions[2]) > 0.5
    True
    """

    kind: ClassVar[str] = "hand_aligned"


class Naive(Baseline):
    """Each stamp marks its nearest instance as positive; all others are negative.

    Parameters
    ----------
    classifier : {"logistic", "kernel", "mlp"} or Logistic, Kernel, Mlp
        From features to probability.
    labels : {"independent", "chain"}
        As in :class:`EventDetector`: the same chain, learned from the labels here. Soft labels are
        read as hard ones at a random threshold.
    stamps : {"onset", "end", "presence"}
        What of a run stamps are about, which is only asked where a learner without a model of the
        annotator is compared by the evidence of stamps.
    regularisation : float
        Precision (1 / variance) of the normal prior on the classifier's weights, on standardised
        features.
    intercept_precision : float
        The same for its constant term.
    threshold : float
        Probability from which ``predict`` returns 1 and ``detect`` finds an event.
    max_iter : int
        Iterations of the optimiser.
    random_state : int, RandomState instance or None
        For initial weights and landmarks.
    n_jobs : int, optional
        Threads, as in scikit-learn; the result does not depend on it.

    Attributes
    ----------
    onset_rate_, offset_rate_, run_length_ : float
        With ``labels="chain"``, as in :class:`EventDetector`.
    coef_ : ndarray of shape (1, n_features), intercept_ : ndarray of shape (1,)
        Of a logistic classifier, for raw features.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        If the sessions have feature names.
    classes_ : ndarray
        [0, 1].

    Examples
    --------
    >>> from unjitter import baselines, simulate
    >>> sessions = simulate.respiration(sessions=3)
    >>> naive = baselines.Naive().fit(sessions[:2])
    >>> naive.predict_proba(sessions[2]).shape == (len(sessions[2]), 2)
    True
    """

    kind: ClassVar[str] = "naive"


class DropNear(Baseline):
    """As :class:`Naive`, without the other instances near a stamp.

    Parameters
    ----------
    radius : float
        Largest distance in time, in the unit of the data, at which an instance is left out.
    classifier, labels, stamps, regularisation, intercept_precision, threshold, max_iter, \
    random_state, n_jobs
        As in :class:`Naive`, whose attributes it has too.

    Examples
    --------
    >>> from unjitter import baselines, simulate
    >>> sessions = simulate.respiration(sessions=2)
    >>> baselines.DropNear(radius=6.0).fit(sessions).coef_.shape
    (1, 30)
    """

    kind: ClassVar[str] = "drop_near"

    def __init__(
        self,
        classifier: str | Classifier = "logistic",
        *,
        radius: float = 1.0,
        labels: str = "independent",
        stamps: str = "onset",
        regularisation: float = 1.0,
        intercept_precision: float = 0.01,
        threshold: float = 0.5,
        max_iter: int = 500,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            classifier,
            labels=labels,
            stamps=stamps,
            regularisation=regularisation,
            intercept_precision=intercept_precision,
            threshold=threshold,
            max_iter=max_iter,
            random_state=random_state,
            n_jobs=n_jobs,
        )
        self.radius = radius

    def _options(self) -> dict[str, Any]:
        return {"radius": float(self.radius)}


class Smear(Baseline):
    """Soft labels: a Gaussian of hand-set width around each stamp.

    Parameters
    ----------
    width : float
        Standard deviation of the Gaussian, in the unit of the data.
    classifier, regularisation, intercept_precision, threshold, max_iter, random_state, n_jobs
        As in :class:`Naive`, whose attributes it has too.

    Examples
    --------
    >>> from unjitter import baselines, simulate
    >>> sessions = simulate.respiration(sessions=2)
    >>> baselines.Smear(width=3.0).fit(sessions).coef_.shape
    (1, 30)
    """

    kind: ClassVar[str] = "smear"

    def __init__(
        self,
        classifier: str | Classifier = "logistic",
        *,
        width: float = 1.0,
        labels: str = "independent",
        stamps: str = "onset",
        regularisation: float = 1.0,
        intercept_precision: float = 0.01,
        threshold: float = 0.5,
        max_iter: int = 500,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            classifier,
            labels=labels,
            stamps=stamps,
            regularisation=regularisation,
            intercept_precision=intercept_precision,
            threshold=threshold,
            max_iter=max_iter,
            random_state=random_state,
            n_jobs=n_jobs,
        )
        self.width = width

    def _options(self) -> dict[str, Any]:
        return {"width": float(self.width)}


class MultipleInstance(Baseline):
    """Bags of neighbouring instances with a witness each: MI-SVM (Andrews et al. 2002) adapted.

    A bag is positive if it contains the nearest instance of a stamp. In a positive bag only the
    likeliest instance by the detector counts; choosing it and fitting alternate.

    Parameters
    ----------
    bag_size : int
        Instances per bag.
    classifier, regularisation, intercept_precision, threshold, max_iter, random_state, n_jobs
        As in :class:`Naive`, whose attributes it has too.

    Examples
    --------
    >>> from unjitter import baselines, simulate
    >>> sessions = simulate.respiration(sessions=2)
    >>> baselines.MultipleInstance(bag_size=5).fit(sessions).coef_.shape
    (1, 30)
    """

    kind: ClassVar[str] = "multiple_instance"

    def __init__(
        self,
        classifier: str | Classifier = "logistic",
        *,
        bag_size: int = 4,
        regularisation: float = 1.0,
        intercept_precision: float = 0.01,
        threshold: float = 0.5,
        max_iter: int = 500,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            classifier,
            regularisation=regularisation,
            intercept_precision=intercept_precision,
            threshold=threshold,
            max_iter=max_iter,
            random_state=random_state,
            n_jobs=n_jobs,
        )
        self.bag_size = bag_size

    def _options(self) -> dict[str, Any]:
        return {"bag_size": whole("bag_size", self.bag_size)}
