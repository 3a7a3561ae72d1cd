"""Sessions from data frames.

Frames go through narwhals: pandas, polars and all others that it supports.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from ._about import ANNOTATORS, FACTS, About, only_one, who_gave
from ._calendar import Calendar, Times, is_missing, read_times, refuse_put_back
from ._check import above_zero
from ._flat import partition
from ._rows import Kept, Rows
from ._session import Session

_Positions = NDArray[np.intp]


def sessions_from_frames(
    instances: Any,
    events: Any,
    session: str | None = "session",
    time: str = "time",
    *,
    features: Sequence[str] | None = None,
    label: str | None = "label",
    subject: str | None = "subject",
    event_time: str | None = None,
    observed: Any = None,
    earliest: str = "earliest",
    latest: str = "latest",
    rounded: float | None = None,
    annotator: str | None = "annotator",
    sessions: Any = None,
    device: str = "device",
    clock: str = "clock",
    annotators: str = "annotators",
    end: str | None = "end",
    duration: str = "duration",
    classes: str | None = None,
) -> list[Session]:
    """Sessions from a table of instances and a table of stamps.

    Parameters
    ----------
    instances : DataFrame (pandas, polars or another that narwhals supports)
        One row per instance: session, time, features, and if there are, label and subject. Rows of
        a session are in order of time.
    events : DataFrame
        One row per stamp: session, time and, if it is known, annotator. Other columns are returned
        beside the results.
    session : str or None
        The column of the session's name, which no row lacks and which is of one type in all
        tables; None if the tables are one session.
    time : str
        The column of times: numbers, durations, or dates with or without a time zone, which may
        be text such as ``2024-05-31T14:03:27.5`` or ``2024-05-31T14:03:27+02:00``.
    features : sequence of str, optional
        The columns of features; by default all other columns.
    label, subject : str or None
        Their columns: "label" and "subject" if they exist, or others that must exist. Values in
        them may be missing. All rows of a session have the same subject.
    event_time : str, optional
        The column of times in `events`, if different.
    observed : DataFrame, optional
        The annotated intervals: session, start and end.
    earliest, latest : str
        Columns of `events` between which each lies, if that is all that is known: these if both
        exist, or others that must. Where both are missing in a row, the time counts.
    rounded : float, optional
        What times in `events` are rounded to: the nearest multiple. In seconds if they are dates.
    annotator : str or None
        The column of `events` that says who gave each stamp: "annotator" if it exists, or another
        that must exist. None if it does not matter, and all stamps count as those of one.
    sessions : DataFrame, optional
        What sessions have in common, a row for each: session, subject, device and clock, and who
        annotated it, as ``ann; bob`` or a list. Those who gave no stamp missed all events. Rows of
        other sessions are ignored.
    device, clock, annotators : str
        Its columns, if they exist.
    end, duration : str
        The column of `events` with the time at which what was stamped ended, or else how long it
        lasted, in the unit of the times: these if they exist, or another that must. Missing, or no
        time at all, where a stamp tells no end. The time may then be called "start" or "onset".
        Such events are bouts. With an `end` of None beginnings alone are taken.
    classes : str, optional
        The column of `events` that names the class each is recorded as. Labels of instances then
        name a class, or are 0. By default all events are of one.

    Returns
    -------
    list of Session
        In the order in which `instances` names them. They remember their rows: results of a
        detector are tables of the same library, with the order and index of these frames. See
        :meth:`EventDetector.align`.

    Examples
    --------
    >>> import pandas as pd
    >>> from unjitter import sessions_from_frames
    >>> instances = pd.DataFrame(
    ...     {"session": ["a", "a", "b"], "time": [0.0, 1.0, 0.0], "depth": [0.2, 0.9, 0.1]}
    ... )
    >>> events = pd.DataFrame({"session": ["a"], "time": [1.3]})
    >>> sessions_from_frames(instances, events)
    [Session('a', 2 instances x 1 feature, 1 stamp), Session('b', 1 instance x 1 feature, 0 stamps)]
    """
    rows = nw.from_native(instances, eager_only=True)
    stamps = nw.from_native(events, eager_only=True)
    facts = None if sessions is None else nw.from_native(sessions, eager_only=True)
    columns = _Columns(rows, facts, session, time, features, label, subject)
    until = _Until.find(stamps, end, duration)
    stamp_time = until.time(stamps, time) if event_time is None else event_time
    stamps = until.filled(stamps, stamp_time)
    stamps, moments = _moments(stamps, stamp_time, earliest, latest)
    nearest = None if rounded is None else above_zero("rounded", rounded)
    giver = _optional([("events", stamps)], annotator, "annotator")
    if classes is not None:
        _require(stamps, "events", classes)
    needed = [] if session is None else [session]
    for column in (*moments, *needed):
        _require(stamps, "events", column)
    intervals = None if observed is None else nw.from_native(observed, eager_only=True)
    if intervals is not None:
        for column in ("start", "end", *needed):
            _require(intervals, "observed", column)
    own = _by_session(rows, "instances", session)
    stamped = _by_session(stamps, "events", session)
    watched = {} if intervals is None else _by_session(intervals, "observed", session)
    named = {"subject": subject, "device": device, "clock": clock}
    named |= {} if annotator is None else {ANNOTATORS: annotators}
    about = About({}, {}) if facts is None else _about(facts, session, own, named)
    _same_type(own, watched, "observed")
    _known_names(own, stamped)
    dates = _times(rows, "instances", time, own)
    presses = [_times(stamps, "events", moment, stamped) for moment in moments]
    ends = (
        None
        if intervals is None
        else [_times(intervals, "observed", end, watched) for end in ("start", "end")]
    )
    none = np.zeros(0, dtype=np.intp)
    read = (session, stamp_time, giver, until.column)
    others = [column for column in stamps.columns if column not in read]
    lasting = until.lasting(stamps, stamped)
    own_kept, stamps_kept = Kept.of(rows), Kept.of(stamps, others)
    givers = np.full(len(stamps), None) if giver is None else _objects(stamps, giver)
    recorded = None if classes is None else _objects(stamps, classes)
    return columns.sessions(
        rows,
        (
            _Part(
                None if session is None else str(name),
                Rows.of(own_kept, positions, name),
                Rows.of(stamps_kept, stamped.get(name, none), name),
                dates.take(positions),
                [press.take(stamped.get(name, none)) for press in presses],
                None if ends is None else [end.take(watched.get(name, none)) for end in ends],
                givers[stamped.get(name, none)].tolist(),
                None if lasting is None else lasting.take(stamped.get(name, none)),
                until.has_times,
                None if recorded is None else recorded[stamped.get(name, none)],
            )
            for name, positions in own.items()
        ),
        about,
        nearest,
    )


def _moments(
    stamps: nw.DataFrame[Any], time: str, earliest: str, latest: str
) -> tuple[nw.DataFrame[Any], list[str]]:
    """The columns of times: one, or the two that stamps lie between, filled where both lack."""
    found = [
        _optional([("events", stamps)], name, usual)
        for name, usual in ((earliest, "earliest"), (latest, "latest"))
    ]
    ends = [name for name in found if name is not None]
    if len(ends) < 2:
        if ends and (earliest, latest) != ("earliest", "latest"):
            _require(stamps, "events", latest if ends == [earliest] else earliest)
        return stamps, [time]
    if time in stamps.columns:
        either = ~(nw.col(ends[0]).is_null() & nw.col(ends[1]).is_null())
        filled = [nw.when(either).then(nw.col(end)).otherwise(nw.col(time)) for end in ends]
        named = [column.alias(end) for column, end in zip(filled, ends, strict=True)]
        stamps = stamps.with_columns(*named)
    return stamps, ends


def _about(
    facts: nw.DataFrame[Any],
    session: str | None,
    own: dict[Any, _Positions],
    named: Mapping[str, str | None],
) -> About:
    """What a table of sessions tells of those at hand."""
    if session is not None:
        _require(facts, "sessions", session)
    told = _by_session(facts, "sessions", session)
    _same_type(own, told, "sessions")
    if own.keys().isdisjoint(told):
        raise ValueError("sessions names none of the sessions of instances")
    values = {}
    for what, name in named.items():
        # The column of the subject may be one of the instances.
        column = name if what == "subject" else _optional([("sessions", facts)], name, what)
        if column is not None and column in facts.columns:
            values[what] = facts.get_column(column).to_list()
    if not values:
        raise ValueError(
            f"sessions has none of the columns {', '.join(map(str, named.values()))}; its columns "
            f"are {', '.join(facts.columns)}"
        )
    return About(told, values)


class _Until(NamedTuple):
    """The column of events that tells when what was stamped ended, if there is one."""

    column: str | None
    has_times: bool

    @classmethod
    def find(cls, stamps: nw.DataFrame[Any], end: str | None, duration: str) -> _Until:
        """The column of ends before that of durations."""
        if end is None:
            return cls(None, False)
        tables = [("events", stamps)]
        found = _optional(tables, end, "end")
        if found is not None:
            return cls(found, True)
        return cls(_optional(tables, duration, "duration"), False)

    def time(self, stamps: nw.DataFrame[Any], time: str) -> str:
        """The column of beginnings."""
        usual = [time] if self.column is None else [time, "start", "onset"]
        return next((name for name in usual if name in stamps.columns), time)

    def filled(self, stamps: nw.DataFrame[Any], time: str) -> nw.DataFrame[Any]:
        """Events that lasted no time where they tell no end."""
        if self.column is None or not self.has_times or time not in stamps.columns:
            return stamps
        end = nw.col(self.column)
        own = nw.when(end.is_null()).then(nw.col(time)).otherwise(end)
        return stamps.with_columns(own.alias(self.column))

    def lasting(self, stamps: nw.DataFrame[Any], stamped: dict[Any, _Positions]) -> Times | None:
        """Ends, or how long things lasted."""
        if self.column is None:
            return None
        if self.has_times:
            return _times(stamps, "events", self.column, stamped)
        told = [
            0.0 if is_missing(own) or own == "n/a" else own for own in _objects(stamps, self.column)
        ]
        read = read_times(told, f"column {self.column!r} of events")
        if read.are_dates or np.any(read.values < 0.0):
            raise ValueError(f"column {self.column!r} of events: expected lengths of time")
        return read


class _Part(NamedTuple):
    """The data of one session: rows of the instances and of the events, and times."""

    name: str | None
    rows: Rows
    event_rows: Rows
    times: Times
    events: list[Times]
    observed: list[Times] | None
    givers: list[Any]
    # Ends of stamps, or how long they lasted, 0 if that is not told.
    until: Times | None
    has_times: bool
    classes: NDArray[Any] | None

    def ends(self, starts: NDArray[np.float64], until: NDArray[np.float64]) -> Any:
        """Ends in seconds; NaN where a stamp tells none."""
        ends = until if self.has_times else starts + until
        return np.where(ends == starts, np.nan, ends)

    @property
    def title(self) -> str:
        """What it is called in messages."""
        return "instances" if self.name is None else f"session {self.name}"


class _Columns:
    """The meaning of the columns."""

    def __init__(
        self,
        rows: nw.DataFrame[Any],
        facts: nw.DataFrame[Any] | None,
        session: str | None,
        time: str,
        features: Sequence[str] | None,
        label: str | None,
        subject: str | None,
    ) -> None:
        tables = [("instances", rows), *([] if facts is None else [("sessions", facts)])]
        self.label = _optional(tables[:1], label, "label")
        self.subject = _optional(tables, subject, "subject")
        self.subject = self.subject if self.subject in rows.columns else None
        self.backend = str(rows.implementation)
        others = {session, time, self.label, self.subject}
        self.features = (
            [name for name in rows.columns if name not in others]
            if features is None
            else list(features)
        )
        needed = [time, *self.features, *([] if session is None else [session])]
        for column in needed:
            _require(rows, "instances", column)
        for column in self.features:
            if not (rows.schema[column].is_numeric() or rows.schema[column] == nw.Boolean):
                raise ValueError(
                    f"column {column!r} of instances holds {rows.schema[column]}, expected "
                    "numbers; name the features with features=[...]"
                )

    def sessions(
        self,
        rows: nw.DataFrame[Any],
        parts: Iterable[_Part],
        about: About,
        rounded: float | None,
    ) -> list[Session]:
        """The sessions of the parts, in their order."""
        X = rows.select(self.features).to_numpy()
        labels = None if self.label is None else _objects(rows, self.label)
        subjects = None if self.subject is None else _objects(rows, self.subject)
        return [
            self._session(
                part,
                X[part.rows.positions],
                None if labels is None else labels[part.rows.positions],
                [] if subjects is None else subjects[part.rows.positions].tolist(),
                about,
                rounded,
            )
            for part in parts
        ]

    def _session(
        self,
        part: _Part,
        X: NDArray[Any],
        labels: NDArray[Any] | None,
        subjects: list[Any],
        about: About,
        rounded: float | None,
    ) -> Session:
        calendar = part.times.calendar()
        times = _seconds(part.times, calendar, part.name, "instances")
        refuse_put_back(times, calendar, "" if part.name is None else f"session {part.name}: ")
        observed = (
            None
            if part.observed is None
            else np.column_stack(
                [_seconds(end, calendar, part.name, "observed") for end in part.observed]
            )
        )
        key = part.rows.name
        told = {what: about.values(key, what) for what in FACTS}
        told["subject"] = subjects + told["subject"]
        who, everybody = who_gave(part.givers, about.annotators(key), part.title)
        presses = np.column_stack(
            [_seconds(end, calendar, part.name, "events") for end in (part.events * 2)[:2]]
        )
        session = Session(
            X,
            times,
            presses,
            ends=None
            if part.until is None
            else part.ends(
                presses[:, 0],
                _seconds(part.until, calendar if part.has_times else None, part.name, "events"),
            ),
            rounded=rounded,
            classes=part.classes,
            labels=labels,
            observed=observed,
            name=part.name,
            feature_names=self.features,
            annotators=who,
            also_annotated=everybody,
            **{what: only_one(values, what, part.title) for what, values in told.items()},
        )
        session.calendar = calendar
        session.backend = self.backend
        session._instance_rows, session._event_rows = part.rows, part.event_rows
        return session


def _objects(rows: nw.DataFrame[Any], column: str) -> NDArray[Any]:
    """A column as Python objects."""
    values = np.empty(len(rows), dtype=object)
    values[:] = rows.get_column(column).to_list()
    return values


def _optional(
    tables: Sequence[tuple[str, nw.DataFrame[Any]]], column: str | None, default: str
) -> str | None:
    """A column that may be missing unless the user named it; it must not become a feature."""
    if any(column in rows.columns for _, rows in tables):
        return column
    if column is not None and column != default:
        table, rows = tables[0]
        _require(rows, table, column)
    return None


def _require(rows: nw.DataFrame[Any], table: str, column: str) -> None:
    if column not in rows.columns:
        raise ValueError(
            f"{table} has no column {column!r}; its columns are {', '.join(rows.columns)}"
        )


def _by_session(rows: nw.DataFrame[Any], table: str, session: str | None) -> dict[Any, _Positions]:
    """The rows of each session, in order; all rows under None if sessions have no name."""
    if session is None:
        return {None: np.arange(len(rows))}
    names = rows.get_column(session).to_list()
    nameless = sum(map(is_missing, names))
    if nameless:
        raise ValueError(
            f"column {session!r} of {table} has {nameless} missing values, expected the name of a "
            "session in each row"
        )
    own = partition(names)
    types = sorted({_type(name) for name in own})
    if len(types) > 1:
        raise ValueError(f"{table} names sessions by {types[0]} and by {types[1]}")
    return own


def _known_names(instances: dict[Any, _Positions], events: dict[Any, _Positions]) -> None:
    _same_type(instances, events, "events")
    strange = sorted(str(name) for name in events.keys() - instances.keys())
    if strange:
        raise ValueError(f"events names session {strange[0]!r}, which instances does not have")


def _same_type(instances: dict[Any, _Positions], others: dict[Any, _Positions], table: str) -> None:
    """Refuses 1 beside "1": they look the same, but are no match."""
    for first, second in zip(instances, others):
        if _type(first) != _type(second):
            raise ValueError(
                f"instances names sessions by {_type(first)} and {table} by {_type(second)}, "
                f"as in {first!r} and {second!r}"
            )


def _type(name: Any) -> str:
    if isinstance(name, str):
        return "text"
    return "integer" if isinstance(name, Integral) else type(name).__name__


def _times(rows: nw.DataFrame[Any], table: str, column: str, own: dict[Any, _Positions]) -> Times:
    """A column of times, once for all sessions."""
    values = rows.get_column(column)
    if values.null_count() > 0:
        missing = values.is_null().to_numpy()
        name, count = next(
            (name, int(missing[positions].sum()))
            for name, positions in own.items()
            if missing[positions].any()
        )
        raise ValueError(f"{_where(name, table)} have {count} missing values")
    return read_times(values.to_native(), f"the times of {table}")


def _seconds(
    times: Times, calendar: Calendar | None, name: str | None, table: str
) -> NDArray[np.float64]:
    if len(times.values) == 0:
        return np.zeros(0)
    where = _where(name, table)
    if times.are_dates != (calendar is not None):
        found, wanted = ("numbers", "dates") if calendar is not None else ("dates", "numbers")
        raise ValueError(f"{where} are {found}, expected {wanted} like those of instances")
    if calendar is not None and (times.time_zone is None) != (calendar.time_zone is None):
        raise ValueError(f"{where} and those of instances must both have a time zone or neither")
    return times.seconds(calendar, "times")


def _where(name: Any, table: str) -> str:
    return f"the times of {table}" if name is None else f"session {name}: the times of {table}"
