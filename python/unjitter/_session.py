"""One recording: instances with features and times, and the annotator's stamps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._annotators import Names, names_of, others_of
from ._calendar import Calendar, Times, is_missing, read_times, refuse_put_back
from ._classes import class_labels, classes_of, given_labels
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
    events : array-like of shape (n_stamps,), unjitter.stamps.Stamps, or mapping of str to these
        The presses, in the same unit. The session sorts them; results come in the given order. Like
        `observed`, they have a time zone if and only if `times` have one. If several people
        annotated the session, a mapping has the presses of each, empty if somebody gave none:
        ``{"ann": [12.4, 31.0], "bob": []}``. Or `annotators` names who gave each. Presses that are
        only known to lie between two times are an array of shape (n_stamps, 2) of earliest and
        latest times; the attribute has their middles.
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
    annotators : str or array-like of shape (n_stamps,), optional
        Who gave each of `events`, in their order; or the one who gave all. Everybody who is named
        annotated the whole session, so an event without a press of theirs is one that they missed.
        The attribute is in the order of the attribute `events`.
    also_annotated : sequence of str
        Who annotated the session too, and gave no stamp.
    rounded : float or array-like of shape (n_stamps,), optional
        What `events` are rounded to, such as 60.0 for whole minutes: the nearest multiple, so the
        width of the interval around each in which it was pressed. The attribute has one for each
        of the attribute `events`, or is None.
    classes : array-like of str of shape (n_stamps,), optional
        The class that each event is recorded as, in the order of `events`. Labels then are names of
        classes, 0 where there is no event, or unknown; the attribute `label_classes` has the names.
    device : str, optional
        The device that recorded or was pressed.
    clock : str, optional
        The clock that stamps were taken by, if sessions share one.
    ends : array-like of shape (n_stamps,) or mapping of str to these, optional
        When what was stamped ended, in the order of `events`; missing (NaN, None, NaT) where a
        stamp tells no end. Events with ends are bouts: both ends are sloppy, and labels form runs.
        :class:`unjitter.stamps.Stamps` with durations have ends of their own; give their ``times``
        to use the beginnings alone. The attribute is in the order of the attribute `events`, or
        None.

    Examples
    --------
    >>> import numpy as np
    >>> from unjitter import Session
    >>> session = Session([[0.1], [2.0], [0.3]], times=[0.0, 1.0, 2.0], events=[1.4], name="walk")
    >>> session
    Session('walk', 3 instances x 1 feature, 1 stamp)
    >>> len(session)
    3

    Two people who annotated the same recording:

    >>> session.replace(events={"ann": [1.4], "bob": [0.9, 2.2]}).annotators
    array(['bob', 'ann', 'bob'], dtype=object)

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
    annotators: Names | None
    also_annotated: tuple[str, ...]
    rounded: NDArray[np.float64] | None
    ends: NDArray[np.float64] | None
    classes: Names | None
    label_classes: tuple[str | None, ...] | None
    device: str | None
    clock: str | None
    calendar: Calendar | None
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
        events: ArrayLike | Mapping[str, ArrayLike],
        labels: ArrayLike | None = None,
        subject: str | None = None,
        observed: ArrayLike | None = None,
        name: str | None = None,
        *,
        feature_names: Sequence[str] | None = None,
        annotators: str | ArrayLike | None = None,
        also_annotated: str | Sequence[str] = (),
        rounded: ArrayLike | None = None,
        device: str | None = None,
        clock: str | None = None,
        ends: ArrayLike | Mapping[str, ArrayLike] | None = None,
        classes: ArrayLike | None = None,
    ) -> None:
        self.name = None if name is None else str(name)
        self.backend = None
        names = getattr(X, "columns", None) if feature_names is None else feature_names
        self.X = self._features(X)
        when = self._read("times", times)
        self.calendar = when.calendar()
        self.times = self._times("times", when)
        refuse_put_back(self.times, self.calendar, f"{self._title}: ")
        given, who, others = self._presses(events, annotators, also_annotated)
        middles = given.mean(axis=1)
        order = np.argsort(middles, kind="stable")
        self.events = middles[order]
        self._places = np.argsort(order)
        widths = self._widths(given, rounded)
        self.rounded = None if widths is None else widths[order]
        until = self._until(events, ends, given[:, 0])
        self.ends = None if until is None else until[order]
        of_stamps = classes_of(classes, len(given), self._title)
        self.classes = None if of_stamps is None else of_stamps[order]
        self.label_classes = None
        self.annotators, self.also_annotated = None if who is None else who[order], others
        self.labels = None if labels is None else self._labels(labels)
        self.subject = None if subject is None else str(subject)
        self.device = None if device is None else str(device)
        self.clock = None if clock is None else str(clock)
        self.observed = None if observed is None else self._intervals(observed)
        self.feature_names = None if names is None else tuple(str(name) for name in names)
        self._check()

    def __setattr__(self, name: str, value: Any) -> None:
        """Places, rows, annotators and rounding belong to the original stamps and instances, not
        to replaced ones."""
        if name == "annotators":
            value = names_of(value, len(self.events), self._title)
        super().__setattr__(name, value)
        if name == "events":
            self._places = self._event_rows = None
            self.annotators, self.also_annotated = None, ()
            self.rounded = self.ends = self.classes = None
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
            _count(len(self.events), "stamp" if self.ends is None else "bout") + self._by(),
        ]
        if self.labels is not None:
            parts.append(_count(int((self.labels == 1).sum()), "positive label"))
        own = (("subject", self.subject), ("device", self.device), ("clock", self.clock))
        parts += [f"{what} {name!r}" for what, name in own if name is not None]
        return f"Session({', '.join(parts)})"

    def _by(self) -> str:
        people = self._people()
        if not people:
            return ""
        return f" by {people[0]!r}" if len(people) == 1 else f" by {len(people)} annotators"

    def _people(self) -> list[str]:
        """Everybody who annotated the session, in order; empty if that is not known."""
        return sorted({*([] if self.annotators is None else self.annotators), *self.also_annotated})

    def _repr_html_(self) -> str:
        return session_html(self)

    def replace(self, **changes: Any) -> Session:
        """The same session with other values of some of its parameters.

        >>> from unjitter import Session
        >>> session = Session([[0.0], [1.0]], times=[0.0, 1.0], events=[])
        >>> session.replace(events=[0.9]).events
        array([0.9])

        NumPy's dates, such as those of :meth:`dates`, are taken as UTC if the session's have a
        zone. Annotators, rounding and ends are those of the old stamps: with other `events` they
        are forgotten, unless they are given anew.
        """
        kept = ("X", "labels", "subject", "name", "feature_names", "device", "clock")
        own = {name: getattr(self, name) for name in kept}
        if "events" not in changes and "annotators" not in changes:
            who = None if self.annotators is None else self._as_given(self.annotators)
            own |= {"annotators": who, "also_annotated": self.also_annotated}
        if "events" not in changes and self.rounded is not None:
            own["rounded"] = self._as_given(self.rounded)
        if "events" not in changes and self.classes is not None:
            own["classes"] = self._as_given(self.classes)
        if self.labels is not None and self.label_classes is not None:
            own["labels"] = given_labels(self.labels, self.label_classes)
        if "events" not in changes and "ends" not in changes and self.ends is not None:
            until = self._as_given(self.ends)
            own["ends"] = until if self.calendar is None else self.calendar.times(until)
        events = self._as_given(self.events)
        for name, values in (
            ("times", self.times),
            ("events", events),
            ("observed", self.observed),
        ):
            own[name] = (
                values if self.calendar is None or values is None else self.calendar.times(values)
            )
            if self.calendar is not None and changes.get(name) is not None:
                changes[name] = self._in_own_zone(name, changes[name])
        if self.calendar is not None and changes.get("ends") is not None:
            changes["ends"] = self._ends_in_own_zone(changes["ends"])
        changed = Session(**{**own, **changes})
        changed.backend = self.backend
        if "events" not in changes:
            changed._event_rows = self._event_rows
        if "times" not in changes:
            changed._instance_rows = self._instance_rows
        return changed

    def _in_own_zone(self, what: str, values: Any) -> Any:
        if isinstance(values, Mapping):
            return {name: self._in_own_zone(what, own) for name, own in values.items()}
        zone = None if self.calendar is None else self.calendar.time_zone
        return self._read(what, values).in_zone(zone)

    def _ends_in_own_zone(self, ends: Any) -> Any:
        """The same of ends, some of which may be missing."""
        if isinstance(ends, Mapping):
            return {name: self._ends_in_own_zone(own) for name, own in ends.items()}
        zone = None if self.calendar is None else self.calendar.time_zone
        is_zoneless = isinstance(ends, np.ndarray) and ends.dtype.kind == "M" and zone is not None
        return Times(ends.astype("datetime64[ns]"), zone) if is_zoneless else ends

    def dates(self, seconds: ArrayLike) -> NDArray[Any]:
        """Times of the session in their original form: dates if they were dates, else numbers.

        NumPy's dates have no zones: if the session's have one, these are in UTC.
        """
        values = np.asarray(seconds, dtype=np.float64)
        return values if self.calendar is None else self.calendar.dates(values)

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

    def _presses(
        self, events: Any, annotators: Any, also: str | Sequence[str]
    ) -> tuple[NDArray[np.float64], Names | None, tuple[str, ...]]:
        """Earliest and latest of stamps in the given order, who gave each, and who gave none."""
        silent = [also] if isinstance(also, str) else list(also)
        if isinstance(events, Mapping):
            if annotators is not None:
                raise ValueError(
                    f"{self._title}: events are by annotator already, but annotators is given"
                )
            each = [(str(name), self._seconds(own)) for name, own in events.items()]
            given = np.concatenate([np.zeros((0, 2)), *(own for _, own in each)])
            annotators = [name for name, own in each for _ in own]
            silent += [name for name, _ in each]
        else:
            given = self._seconds(events)
            silent += [annotators] if isinstance(annotators, str) else []
        who = names_of(annotators, len(given), self._title)
        return given, who, others_of(silent, who, len(given), self._title)

    def _seconds(self, events: Any) -> NDArray[np.float64]:
        """Earliest and latest of stamps of one kind."""
        stamps = self._stamps(events) if isinstance(events, Stamps) else events
        given = self._read("events", stamps)
        if given.values.ndim == 2 and given.values.shape[1] == 2:
            return self._pairs("events", given)
        return np.column_stack(2 * [self._times("events", given)])

    def _until(
        self, events: Any, ends: Any, starts: NDArray[np.float64]
    ) -> NDArray[np.float64] | None:
        """Ends of stamps in the given order, NaN where there is none; None if there are none."""
        if ends is None:
            lasting = _lasting(events)
            if lasting is None:
                return None
            until = np.where(lasting > 0.0, starts + lasting, np.nan)
        elif isinstance(ends, Mapping):
            if not isinstance(events, Mapping) or list(ends) != list(events):
                raise ValueError(
                    f"{self._title}: ends are by annotator, expected the same names in events"
                )
            until = np.concatenate([np.zeros(0), *map(self._known_ends, ends.values())])
        else:
            until = self._known_ends(ends)
        if len(until) != len(starts):
            raise ValueError(
                f"{self._title}: {len(until)} ends for {len(starts)} events, expected one for each"
            )
        early = np.flatnonzero(until < starts)
        if len(early):
            raise ValueError(
                f"{self._title}: event {early[0]} ends before it begins, expected an end that is "
                "not earlier"
            )
        return None if np.all(np.isnan(until)) else until

    def _known_ends(self, ends: Any) -> NDArray[np.float64]:
        """Ends of stamps of one kind, NaN where they are missing."""
        values = ends.values if isinstance(ends, Times) else np.asarray(ends)
        if values.ndim != 1:
            raise ValueError(f"{self._title}: ends has {values.ndim} dimensions, expected 1")
        missing = np.array([is_missing(value) for value in values], dtype=bool)
        until = np.full(len(values), np.nan)
        if not np.all(missing):
            known = values[~missing]
            own = isinstance(ends, Times)
            read = Times(known, ends.time_zone) if own else self._read("ends", known)
            until[~missing] = self._times("ends", read)
        return until

    def _stamps(self, stamps: Stamps) -> Any:
        """Stamps of a file: as dates beside dates, otherwise in their seconds."""
        if self.calendar is None:
            if stamps.origin is not None and stamps._found.origin_is_guess:
                raise ValueError(
                    f"{self._title}: times are seconds but the stamps are dates, and nothing says "
                    "when second 0 was; read them with origin=, such as "
                    f"{stamps.origin.isoformat()!r}"
                )
            return stamps.times
        if stamps.origin is None:
            raise ValueError(
                f"{self._title}: times are dates but the stamps count seconds from an origin that "
                "is not known"
            )
        calendar = read_times([stamps.origin]).calendar()
        return stamps.times if calendar is None else calendar.times(stamps.times)

    def _read(self, what: str, values: Any) -> Times:
        return read_times(values, f"{self._title}: {what}")

    def _times(self, what: str, given: Times) -> NDArray[np.float64]:
        seconds = given.seconds(self.calendar, what, f"{self._title}: ")
        if seconds.ndim != 1:
            raise ValueError(f"{self._title}: {what} has {seconds.ndim} dimensions, expected 1")
        return np.array(seconds, order="C")

    def _labels(self, labels: ArrayLike) -> NDArray[np.int8]:
        given = np.asarray(labels, dtype=object)
        if given.ndim != 1:
            raise ValueError(f"{self._title}: labels has {given.ndim} dimensions, expected 1")
        known = np.full(len(given), UNKNOWN, dtype=np.int8)
        if any(isinstance(label, str) for label in given):
            known, self.label_classes = class_labels(given)
            return known
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
        return self._pairs("observed", given)

    def _pairs(self, what: str, given: Times) -> NDArray[np.float64]:
        flat = Times(given.values.ravel(), given.time_zone)
        return self._times(what, flat).reshape(-1, 2)

    def _widths(
        self, given: NDArray[np.float64], rounded: ArrayLike | None
    ) -> NDArray[np.float64] | None:
        """The width of the interval in which each stamp was pressed; None if all are known."""
        widths = given[:, 1] - given[:, 0]
        if np.any(widths < 0.0):
            late = int(np.argmax(widths < 0.0))
            raise ValueError(
                f"{self._title}: the latest time of event {late} is before its earliest"
            )
        if rounded is not None:
            to = np.asarray(rounded, dtype=np.float64)
            if to.shape not in ((), widths.shape):
                raise ValueError(
                    f"{self._title}: rounded has shape {to.shape}, expected one number, or one for "
                    f"each of {len(widths)} events"
                )
            if not np.all(np.isfinite(to) & (to >= 0.0)):
                raise ValueError(
                    f"{self._title}: rounded is {rounded!r}, expected a number above 0"
                )
            widths = np.where(widths > 0.0, widths, to)
        return widths if np.any(widths > 0.0) else None

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


def _lasting(events: Any) -> NDArray[np.float64] | None:
    """How long things lasted by stamps that tell it, in the given order; 0 where they do not, and
    None if no stamp could."""
    if not isinstance(events, Mapping):
        return events.durations if isinstance(events, Stamps) else None
    if not any(isinstance(own, Stamps) for own in events.values()):
        return None
    told = ((_lasting(own), own) for own in events.values())
    return np.concatenate([np.zeros(len(own)) if known is None else known for known, own in told])


def _numbers(values: NDArray[Any]) -> NDArray[np.float64]:
    """Numbers in a Python sequence; missing ones become NaN."""
    known = [np.nan if is_missing(value) else value for value in values.ravel().tolist()]
    return np.array(known, dtype=np.float64).reshape(values.shape)


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
