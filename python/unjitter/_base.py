"""Methods common to every detector of the package."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_array, check_is_fitted

from . import _core
from ._check import number, whole
from ._finite import refuse_missing, refuse_missing_in
from ._session import Session
from ._stream import Stream

Sessions = Session | Sequence[Session]


class Detector(BaseEstimator):  # type: ignore[misc]
    """Predictions of a fitted detector, for sessions and for arrays of features.

    Subclasses have a parameter `threshold`, checked by ``fit``, and keep the fitted model in
    ``_fitted``: an object of the compiled class ``_learned``, which is pickled as its JSON.
    """

    threshold: float | str
    n_features_in_: int
    _fitted: Any
    _learned: ClassVar[Any]

    @property
    def threshold_(self) -> float:
        """Probability from which ``predict`` returns 1 and ``detect`` finds an event: `threshold`,
        or the one that ``fit`` found by that rule."""
        self._check_fitted()
        found = self._fitted.threshold if isinstance(self.threshold, str) else self.threshold
        return float(found)

    def predict_proba(self, X: Sessions | ArrayLike) -> Any:
        """Probability that each instance is negative and positive, from its features alone.

        Parameters
        ----------
        X : Session, array-like of shape (n_instances, n_features), or list of Session

        Returns
        -------
        ndarray of shape (n_instances, 2), or a list of them
        """

        return self._each_probability(X, lambda p: np.column_stack([1.0 - p, p]))

    def predict(self, X: Sessions | ArrayLike) -> Any:
        """Label of each instance: 1 where the probability is at least `threshold_`.

        Parameters
        ----------
        X : Session, array-like of shape (n_instances, n_features), or list of Session

        Returns
        -------
        ndarray of shape (n_instances,), or a list of them
        """
        return self._each_probability(X, lambda p: (p >= self.threshold_).astype(np.int64))

    def decision_function(self, X: Sessions | ArrayLike) -> Any:
        """Log-odds that each instance is positive, by its own features: with ``labels="chain"``
        before they are smoothed.

        Parameters
        ----------
        X : Session, array-like of shape (n_instances, n_features), or list of Session

        Returns
        -------
        ndarray of shape (n_instances,), or a list of them
        """
        return self._each(X, lambda features: self._fitted.log_odds(features))

    def detect(self, X: Sessions, *, min_separation: float = 0.0) -> Any:
        """Times of the events that the detector finds, without using any stamp.

        With ``labels="chain"`` these are the times at which they begin, so that whatever takes
        times of events takes them; :meth:`detect_events` says when they end.

        Parameters
        ----------
        X : Session or list of Session
        min_separation : float
            Keeps the most probable of candidates closer than this; runs closer than this are one.

        Returns
        -------
        ndarray of times (datetime64 if the session's times were dates, in UTC if these have a
            zone), or a list of them
        """
        sessions = self._known(X)
        found = [session.dates(self._events(session, min_separation)[0]) for session in sessions]
        return found[0] if isinstance(X, Session) else found

    def detect_events(
        self, X: Sessions, *, min_separation: float = 0.0, backend: str | None = None
    ) -> Any:
        """The events that the detector finds, without using any stamp, as a table.

        With ``labels="chain"`` an event is a run: there is one where the probability has a peak of
        `threshold_` or more, from the first to the last of the neighbouring instances with half the
        probability of the peak, so that where it begins does not depend on the threshold. If
        instances are windows, it is as long as one of them more. Otherwise events are single
        instances, which end when they begin.

        Parameters
        ----------
        X : Session or list of Session
        min_separation : float
            As in :meth:`detect`.
        backend : {"pandas", "polars", "pyarrow", "numpy"}, optional
            The data frame to return; by default that of the sessions' frames, or pandas.

        Returns
        -------
        DataFrame with one row per event
            ``session`` (its name), ``start``, ``end`` and ``probability``: that of its surest
            instance. With several classes also ``class``: there is an event where one of any class
            is as probable as `threshold_`, and it is of the likeliest class there. Runs of
            different classes are different events.
        """
        from ._aligned import detected_table

        sessions = self._known(X)
        found = (self._events(session, min_separation) for session in sessions)
        return detected_table(sessions, found, self._names(), backend)

    def _adopt_runs(self) -> None:
        """Sets how labels form runs, if they do."""
        runs = self._fitted.runs()
        if runs is not None:
            self.onset_rate_, self.offset_rate_ = runs
            self.run_length_ = 1.0 / self.offset_rate_
        elif hasattr(self, "run_length_"):
            del self.onset_rate_, self.offset_rate_, self.run_length_

    def stream(
        self, *, min_separation: float = 0.0, tolerance: float = 1e-9, within: float | None = None
    ) -> Stream:
        """A recording whose instances arrive one by one, for detection while it goes on.

        Parameters
        ----------
        min_separation : float
            As in :meth:`detect`.
        tolerance : float
            With ``labels="chain"``, an instance leaves when nothing that may come can move its
            probability further than this.
        within : float, optional
            An instance leaves at the latest when another arrives that is so much later.

        Returns
        -------
        Stream
            Its ``push(times, X)`` takes instances and returns what leaves.

        Examples
        --------
        >>> from unjitter import EventDetector, simulate
        >>> walk, *others = simulate.respiration(seed=0)
        >>> detector = EventDetector().fit(others)
        >>> stream, found = detector.stream(), []
        >>> for time, x in zip(walk.times, walk.X):
        ...     found += stream.push(time, x).events
        >>> found += stream.finish().events
        >>> [event.start for event in found] == list(detector.detect(walk))
        True
        """
        self._check_fitted()
        within = None if within is None else number("within", within)
        options = (number("min_separation", min_separation), number("tolerance", tolerance), within)
        return Stream(self._fitted.stream(self.threshold_, *options), self._rows)

    @property
    def _labels(self) -> str:
        """How labels depend on each other in what was learned."""
        return "independent" if self._fitted.runs() is None else "chain"

    def _names(self) -> list[str]:
        """Classes of events, if there are several."""
        return []

    def _events(self, session: Session, min_separation: float) -> tuple[Any, Any, Any, Any]:
        """Begin, end, probability and number of the class of the events of a session."""
        count = len(self._names())
        p = (
            self._fitted.predict_classes_session(session)
            if count
            else self._fitted.predict_session(session)
        )
        return _core.detect_events(
            session.times, p, self.threshold_, float(min_separation), self._labels, max(count, 1)
        )

    def _each_probability(self, X: Any, told: Any) -> Any:
        """What is told of the probability of each instance, as :meth:`_each` does; sessions are
        asked as a whole."""
        self._check_fitted()
        if are_sessions(X):
            each = [told(self._fitted.predict_session(session)) for session in self._known(X)]
            return each[0] if isinstance(X, Session) else each
        return told(self._fitted.predict(self._rows(X)))

    def _each(self, X: Any, answer: Any) -> Any:
        """The result for a session or an array, or the list of results for a list of sessions."""
        if isinstance(X, Session):
            return answer(self._known(X)[0].X)
        if are_sessions(X):
            return [answer(session.X) for session in self._known(X)]
        return answer(self._rows(X))

    def _known(self, X: Any) -> list[Session]:
        """Sessions whose features match those learned from, as far as they are named."""
        self._check_fitted()
        sessions = sessions_of(X)
        for position, session in enumerate(sessions):
            title = position if session.name is None else session.name
            self._check_names(f"session {title}", session.feature_names)
            refuse_missing_in(session, position)
        return sessions

    def _rows(self, X: Any) -> NDArray[np.float64] | NDArray[np.float32]:
        """Features as scikit-learn checks them, but an empty array is allowed, and an array without
        names needs no warning: sessions have names, their arrays do not."""
        self._check_fitted()
        names = getattr(X, "columns", None)
        self._check_names("X", names)
        rows = check_array(
            X,
            dtype=[np.float64, np.float32],
            order="C",
            ensure_all_finite=False,
            ensure_min_samples=0,
        )
        refuse_missing(rows, names=names)
        if rows.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {rows.shape[1]} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input"
            )
        rows = np.require(rows, requirements=["C", "A"])
        return cast("NDArray[np.float64] | NDArray[np.float32]", rows)

    def _check_names(self, what: str, names: Iterable[Any] | None) -> None:
        expected = getattr(self, "feature_names_in_", None)
        if names is None or expected is None:
            return
        given = [str(name) for name in names]
        if given != list(expected):
            raise ValueError(
                f"{what} has the features {', '.join(given)}; the detector was fitted with "
                f"{', '.join(expected)}"
            )

    def _check_fitted(self) -> None:
        check_is_fitted(self, "_fitted")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        # Sessions, not rows, are the samples; labels belong to them.
        tags.target_tags.required = False
        return tags

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        if "_fitted" in state:
            state["_fitted"] = state["_fitted"].to_json()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        if isinstance(state.get("_fitted"), str):
            state["_fitted"] = self._learned.from_json(state["_fitted"])
        super().__setstate__(state)


def are_sessions(X: Any) -> bool:
    """Whether it is a session or a list of sessions, by its first entry."""
    if isinstance(X, Session):
        return True
    if isinstance(X, np.ndarray):
        return X.dtype == object and X.size > 0 and isinstance(X.flat[0], Session)
    return isinstance(X, Sequence) and len(X) > 0 and isinstance(X[0], Session)


def sessions_of(X: Any) -> list[Session]:
    """One session or many, as a list of at least one."""
    sessions = [X] if isinstance(X, Session) else list(X) if isinstance(X, Iterable) else [X]
    for position, session in enumerate(sessions):
        if not isinstance(session, Session):
            raise ValueError(f"sample {position} is a {type(session).__name__}, expected a Session")
    if not sessions:
        raise ValueError("no sessions were given")
    return sessions


def apart(sessions: list[Session]) -> list[Session]:
    """Gives sessions drawn more than once, as by a bootstrap, names of their own. Different
    sessions with the same name are left for the library to refuse."""
    seen: dict[int, int] = {}
    apart = []
    for session in sessions:
        times = seen[id(session)] = seen.get(id(session), 0) + 1
        again = times > 1 and session.name is not None
        apart.append(session.replace(name=f"{session.name} ({times})") if again else session)
    return apart


def learnable(sessions: list[Session]) -> None:
    """Refuses sessions with missing features, or with columns of different meaning."""
    same_names(sessions)
    for position, session in enumerate(sessions):
        refuse_missing_in(session, position)


def same_names(sessions: list[Session]) -> None:
    """Refuses sessions with columns of different meaning."""
    first = sessions[0].feature_names
    for position, session in enumerate(sessions):
        names = session.feature_names
        if first is not None and names is not None and names != first:
            title = position if session.name is None else session.name
            raise ValueError(
                f"session {title} has the features {', '.join(names)}; the first has "
                f"{', '.join(first)}"
            )


def seed_of(random_state: Any) -> int:
    """The library's seed for a random state of scikit-learn."""
    if isinstance(random_state, (int, np.integer)):
        return whole("random_state", random_state)
    return int(check_random_state(random_state).randint(2**31))
