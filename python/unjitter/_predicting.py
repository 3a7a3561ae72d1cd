"""What a detector finds by the features alone, and how well."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ._annotators import Names
from ._base import Sessions, are_sessions
from ._check import no_labels_apart
from ._classes import UNKNOWN, class_scores, named_classes, told_classes
from ._elsewhere import Elsewhere
from ._learned import Learned
from ._session import Session
from ._tables import frame


class Predicting(Learned):
    """Probabilities, labels and scores of instances."""

    def predict_proba(self, X: Any) -> Any:
        """Probability that each instance is negative and positive, from its features alone.

        With ``labels="chain"`` from those of its whole session, which an array has no times for.

        Parameters
        ----------
        X : Session, array-like of shape (n_instances, n_features), or list of Session
            Or a :class:`unjitter.scale.Dataset`.

        Returns
        -------
        ndarray of shape (n_instances, 2), or a list of them
            With several classes a column for no event and for each class, as in `classes_`. For a
            dataset a frame of its engine, computed when needed: ``session``, ``time``,
            ``probability`` (of any event) and ``event``; with several classes also ``class`` (the
            likeliest, if there is an event) and ``p_CLASS`` of each.
        """
        if isinstance(X, Elsewhere):
            return self._predicted(X)
        if self._names():
            return self._each_class(X, lambda p: np.column_stack([1.0 - p.sum(axis=1), p]))
        return super().predict_proba(X)

    def predict(self, X: Any) -> Any:
        """Label of each instance: 1 where the probability is at least `threshold_`.

        With several classes the likeliest one where that of any event is, and None elsewhere.

        Parameters
        ----------
        X : Session, array-like of shape (n_instances, n_features), or list of Session
            Or a :class:`unjitter.scale.Dataset`.

        Returns
        -------
        ndarray of shape (n_instances,), or a list of them
            For a dataset the same frame as of :meth:`predict_proba`.
        """
        if isinstance(X, Elsewhere):
            return self._predicted(X)
        names = self._names()
        if names:
            return self._each_class(X, lambda p: told_classes(names, p, self.threshold_))
        return super().predict(X)

    def predict_stamped(self, X: Sessions | ArrayLike) -> Any:
        """Probability that the annotator stamps each instance: the only one that stamps determine.

        It is ``false_rate_ + (1 - miss_rate_ - false_rate_) * p`` for an instance that is positive
        with probability p. Rates and p can compensate each other; this probability stays the same.
        With ``labels="chain"`` p is the probability that an instance is what `stamps` are about.

        Parameters
        ----------
        X : Session, array-like of shape (n_instances, n_features), or list of Session

        Returns
        -------
        ndarray of shape (n_instances,), or a list of them
        """
        if are_sessions(X):
            each = [self._fitted.predict_stamped_session(session) for session in self._known(X)]
            return each[0] if isinstance(X, Session) else each
        return self._fitted.predict_stamped(self._rows(X))

    def class_scores(self, X: Sessions, *, backend: str | None = None) -> Any:
        """How well each class is found, over the labelled instances of sessions.

        Parameters
        ----------
        X : Session or list of Session
            With labels that name classes, or say that there is no event; others are left out.
        backend : {"pandas", "polars", "pyarrow", "numpy"}, optional
            As in :meth:`align`.

        Returns
        -------
        DataFrame with one row per class, and one for each average
            ``class``, ``precision``, ``recall``, ``f1`` and ``events``. "macro" is the mean of all
            classes, "micro" counts all events together.
        """
        known_sessions = self._known(X)
        names, truth, found = self._fitted.classes(), [], []
        if not names:
            raise ValueError("the detector has learned no classes: score it by metrics.f1_scorer")
        for session in known_sessions:
            classes = _true_classes(session)
            if classes is None or session.labels is None:
                continue
            known = session.labels != UNKNOWN
            truth += list(classes[known])
            found += list(self._told(session, names)[known])
        if not truth:
            raise ValueError("no session has labels that name classes")
        columns = class_scores(names, truth, found)
        return frame({name: np.array(own) for name, own in columns.items()}, backend)

    def score(self, X: Sessions, y: None = None) -> float:
        """F1 over all labelled instances of sessions at `threshold_`; with several classes the mean
        of theirs, but for a dataset that of events of any class.

        Sessions without labels are left out. If no session has labels, this is a `ValueError` and
        never another score: rank models of unlabelled sessions with
        ``scoring=metrics.log_evidence_scorer``.
        """
        from . import metrics

        no_labels_apart(y)
        if not isinstance(X, Elsewhere) and self._names():
            return metrics.class_f1_scorer(self, X)
        if isinstance(X, Elsewhere):
            self._check_fitted()
            return float(X._score(self._fitted.to_json(), self.threshold_).f1)
        return metrics.f1_scorer(self, X)

    def _told(self, session: Session, names: list[str]) -> Names:
        """The class of each instance that is an event, None for the others."""
        found = self.predict(session)
        # Events of a single class are labelled 1.
        return found if self._names() else named_classes(names, found - 1)

    def _each_class(self, X: Any, told: Any) -> Any:
        """What is told of the probabilities of classes, for instances or sessions."""
        count = len(self._names())
        if are_sessions(X):
            each = [
                told(self._fitted.predict_classes_session(session).reshape(-1, count))
                for session in self._known(X)
            ]
            return each[0] if isinstance(X, Session) else each
        return told(self._fitted.predict_classes(self._rows(X)).reshape(-1, count))

    def _predicted(self, X: Elsewhere) -> Any:
        self._check_fitted()
        names = self._names()
        more = {**({"class": "s"} if names else {}), **{f"p_{name}": "f" for name in names}}
        return X._table(self._fitted.to_json(), self.threshold_, "predict", more)


def _true_classes(session: Session) -> Names | None:
    """The class of each instance that is an event, None for the others; None if an event is of an
    unknown class."""
    if session.label_classes is not None:
        return np.array(session.label_classes, dtype=object)
    # Without any event nothing needs a name, and there may be false alarms.
    has_events = session.labels is None or np.any(session.labels == 1)
    return None if has_events else np.full(len(session), None, dtype=object)
