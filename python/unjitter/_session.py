"""One recording: instances with features and times, and the annotator's stamps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._clock import Clock, Times, is_missing, read_times, refuse_put_back
from ._floats import refuse_masked
from ._html import session_html
from ._rows import Rows
from .stamps import Stamps

UNKNOWN = -1


class Session:
    """A recording with its sloppy stamps.

    Parameters
    ----------
    X : array-like of shape (n_instances, n_features)
        Features of each instance (breath, beat, window). A C-contiguous array of double or single
        precision is used without a copy; do not change it afterwards. All else is copied.
        Arithmetic is in double precision. Values may be missing (NaN), for a transformer to fill; a
        detector refuses them.
    times : array-like of shape (n_instances,)
        Time of each instance, in seconds or any other unit, or as dates; they do not decrease.
        Durations (``timedelta64``) become seconds; texts like ``"2024-05-31T14:03:27.5"``, or with
        ``Z`` or ``+02:00`` behind, are dates. Dates of several time zones are kept in UTC.
    events : array-like of shape (n_stamps,), or unjitter.stamps.Stamps
        The presses, in the same unit. The session sorts them; results come in the given order. Like
        `observed`, they have a time zone if and only if `times` have one.
    labels : array-like of shape (n_instances,), optional
        The known labels: 0 or 1, and NaN, None or -1 if unknown. They are for evaluation; detectors
        learn from them only on request.
    subject : str, optional
        The person or animal recorded, for keeping its sessions together.
    observed : array-like of shape (n_intervals, 2), optional
        The annotated intervals of time; without them, the whole session.
    name : str, optional
        Name of the session, for messages and tables; its position among others by default.
    feature_names : sequence of str, optional
        Names of the columns of `X`; taken from `X` if it is a data frame.

    Examples
    --------
    >>> import numpy as np
    >>> from unjitter import Session
    >>> session = Session([[0.1], [2.0], [0.3]], times=[0.0, 1.0, 2.0], events=[1.4], name="walk")
    >>> session
    Session('walk', 3 instances x 1 feature, 1 stamp)
    >>> len(session)
    3

    Dates are kept as seconds from the first instance:

    >>> times = np.array(["2024-05-31T14:03:27", "2024-05-31T14:03:29"], dtype="datetime64[s]")
    >>> Session(np.zeros((2, 1)), times, events=times[:1]).times
    array([0., 2.])
    """

    X: NDArray[np.float64] | NDArray[np.float32]
    times: NDArray[np.float64]
    events: NDArray[np.float64]
    labels: NDArray[np.int8] | None
    subject: str | None
    observed: NDArray[np.float64] | None
    name: str | None
    feature_names: tuple[str, ...] | None
    clock: Clock | None
    backend: str | None
    # Position among the sorted stamps of each stamp in the given order.
    _places: NDArray[np.intp] | None = None
    # Rows of the frames that stamps and instances came from.
    _event_rows: Rows | None = None
    _instance_rows: Rows | None = None

    def __init__(
        self,
        X: ArrayLike,
        times: ArrayLike,
        events: ArrayLike,
        labels: ArrayLike | None = None,
        subject: str | None = None,
        observed: ArrayLike | None = None,
        name: str | None = None,
        *,
        feature_names: Sequence[str] | None = None,
    ) -> None:
        self.name = None if name is None else str(name)
        self.backend = None
        names = getattr(X, "columns", None) if feature_names is None else feature_names
        self.X = self._features(X)
        when = self._read("times", times)
        self.clock = when.clock()
        self.times = self._times("times", when)
        refuse_put_back(self.times, self.clock, f"{self._title}: ")
        stamps = self._stamps(events) if isinstance(events, Stamps) else events
        given = self._times("events", self._read("events", stamps))
        order = np.argsort(given, kind="stable")
        self.events = given[order]
        self._places = np.argsort(order)
        self.labels = None if labels is None else self._labels(labels)
        self.subject = None if subject is None else str(subject)
        self.observed = None if observed is None else self._intervals(observed)
        self.feature_names = None if names is None else tuple(str(name) for name in names)
        self._check()

    def __setattr__(self, name: str, value: Any) -> None:
        """Places and rows belong to the original stamps and instances, not to replaced ones."""
        super().__setattr__(name, value)
        if name == "events":
            self._places = self._event_rows = None
        if name == "times":
            self._instance_rows = None

    @property
    def _title(self) -> str:
        return "session" if self.name is None else f"session {self.name}"

    def __len__(self) -> int:
        return len(self.times)

    def __repr__(self) -> str:
        parts = [] if self.name is None else [repr(self.name)]
        parts += [
            f"{_count(len(self), 'instance')} x {_count(self.X.shape[1], 'feature')}",
            _count(len(self.events), "stamp"),
        ]
        if self.labels is not None:
            parts.append(_count(int((self.labels == 1).sum()), "positive label"))
        if self.subject is not None:
            parts.append(f"subject {self.subject!r}")
        return f"Session({', '.join(parts)})"

    def _repr_html_(self) -> str:
        return session_html(self)

    def replace(self, **changes: Any) -> Session:
        """The same session with other values of some of its parameters.

        >>> from unjitter import Session
        >>> session = Session([[0.0], [1.0]], times=[0.0, 1.0], events=[])
        >>> session.replace(events=[0.9]).events
        array([0.9])

        NumPy's dates, such as those of :meth:`dates`, are taken as UTC if the session's have a
        zone.
        """
        own = {
            name: getattr(self, name)
            for name in ("X", "labels", "subject", "name", "feature_names")
        }
        events = self._as_given(self.events)
        for name, values in (
            ("times", self.times),
            ("events", events),
            ("observed", self.observed),
        ):
            own[name] = values if self.clock is None or values is None else self.clock.times(values)
            if self.clock is not None and changes.get(name) is not None:
                given = self._read(name, changes[name])
                changes[name] = given.in_zone(self.clock.time_zone)
        changed = Session(**{**own, **changes})
        changed.backend = self.backend
        if "events" not in changes:
            changed._event_rows = self._event_rows
        if "times" not in changes:
            changed._instance_rows = self._instance_rows
        return changed

    def dates(self, seconds: ArrayLike) -> NDArray[Any]:
        """Times of the session in their original form: dates if they were dates, else numbers.

        NumPy's dates have no zones: if the session's have one, these are in UTC.
        """
        values = np.asarray(seconds, dtype=np.float64)
        return values if self.clock is None else self.clock.dates(values)

    def _as_given(self, values: NDArray[Any]) -> NDArray[Any]:
        """Values of the sorted stamps, in the given order of the stamps."""
        return values if self._places is None else values[self._places]

    def _features(self, X: ArrayLike) -> NDArray[np.float64] | NDArray[np.float32]:
        refuse_masked(X, f"{self._title}: X")
        features = np.asarray(X)
        if features.dtype.kind == "c":
            raise ValueError(f"{self._title}: X holds complex numbers, expected real ones")
        if features.dtype.kind not in "fiub":
            try:
                features = _numbers(features)
            except (TypeError, ValueError) as error:
                raise ValueError(f"{self._title}: X holds {error}, expected numbers") from None
        if features.ndim != 2:
            raise ValueError(
                f"{self._title}: X has {features.ndim} dimensions, expected 2 "
                "(instances x features)"
            )
        if features.dtype == np.float32:
            return np.require(features, np.float32, ["C", "A"])
        return np.require(features, np.float64, ["C", "A"])

    def _stamps(self, stamps: Stamps) -> Any:
        """Stamps of a file: as dates beside dates, otherwise in their seconds."""
        if self.clock is None:
            return stamps.times
        if stamps.origin is None:
            raise ValueError(
                f"{self._title}: times are dates but the stamps count seconds from an origin that "
                "is not known"
            )
        clock = read_times([stamps.origin]).clock()
        return stamps.times if clock is None else clock.times(stamps.times)

    def _read(self, what: str, values: Any) -> Times:
        return read_times(values, f"{self._title}: {what}")

    def _times(self, what: str, given: Times) -> NDArray[np.float64]:
        seconds = given.seconds(self.clock, what, f"{self._title}: ")
        if seconds.ndim != 1:
            raise ValueError(f"{self._title}: {what} has {seconds.ndim} dimensions, expected 1")
        return np.array(seconds, order="C")

    def _labels(self, labels: ArrayLike) -> NDArray[np.int8]:
        given = np.asarray(labels, dtype=object)
        if given.ndim != 1:
            raise ValueError(f"{self._title}: labels has {given.ndim} dimensions, expected 1")
        known = np.full(len(given), UNKNOWN, dtype=np.int8)
        for index, label in enumerate(given):
            if is_missing(label):
                continue
            if label not in (0, 1, UNKNOWN):
                raise ValueError(
                    f"{self._title}: label {index} is {label!r}, expected 0, 1 or unknown"
                )
            known[index] = int(label)
        return known

    def _intervals(self, observed: ArrayLike) -> NDArray[np.float64]:
        given = self._read("observed", observed)
        shape = given.values.shape
        if given.values.size == 0:
            return np.zeros((0, 2))
        if len(shape) != 2 or shape[1] != 2:
            raise ValueError(f"{self._title}: observed has shape {shape}, expected (intervals, 2)")
        flat = Times(given.values.ravel(), given.time_zone)
        return self._times("observed", flat).reshape(-1, 2)

    def _check(self) -> None:
        for what, values in (("times", self.times), ("labels", self.labels)):
            if values is not None and len(values) != len(self.X):
                raise ValueError(
                    f"{self._title}: {what} has length {len(values)}, expected "
                    f"{len(self.X)} (the rows of X)"
                )
        if self.feature_names is not None and len(self.feature_names) != self.X.shape[1]:
            raise ValueError(
                f"{self._title}: {len(self.feature_names)} feature names for "
                f"{self.X.shape[1]} columns of X"
            )


def _numbers(values: NDArray[Any]) -> NDArray[np.float64]:
    """Numbers in a Python sequence; missing ones become NaN."""
    known = [np.nan if is_missing(value) else value for value in values.ravel().tolist()]
    return np.array(known, dtype=np.float64).reshape(values.shape)


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
