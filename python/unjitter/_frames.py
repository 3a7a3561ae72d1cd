"""Sessions from data frames and from files.

Frames go through narwhals: pandas, polars and all others that it supports.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from . import _core
from ._clock import Clock, Times, is_missing, read_times, refuse_put_back
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
) -> list[Session]:
    """Sessions from a table of instances and a table of stamps.

    Parameters
    ----------
    instances : DataFrame (pandas, polars or another that narwhals supports)
        One row per instance: session, time, features, and if there are, label and subject. Rows of
        a session are in order of time.
    events : DataFrame
        One row per stamp: session and time. Other columns are returned beside the results.
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
    columns = _Columns(rows, session, time, features, label, subject)
    stamp_time = time if event_time is None else event_time
    needed = [] if session is None else [session]
    for column in (stamp_time, *needed):
        _require(stamps, "events", column)
    intervals = None if observed is None else nw.from_native(observed, eager_only=True)
    if intervals is not None:
        for column in ("start", "end", *needed):
            _require(intervals, "observed", column)
    own = _by_session(rows, "instances", session)
    stamped = _by_session(stamps, "events", session)
    watched = {} if intervals is None else _by_session(intervals, "observed", session)
    _same_type(own, watched, "observed")
    _known_names(own, stamped)
    dates = _times(rows, "instances", time, own)
    presses = _times(stamps, "events", stamp_time, stamped)
    ends = (
        None
        if intervals is None
        else [_times(intervals, "observed", end, watched) for end in ("start", "end")]
    )
    none = np.zeros(0, dtype=np.intp)
    others = [column for column in stamps.columns if column not in (session, stamp_time)]
    own_kept, stamps_kept = Kept.of(rows), Kept.of(stamps, others)
    return columns.sessions(
        rows,
        (
            _Part(
                None if session is None else str(name),
                Rows.of(own_kept, positions, name),
                Rows.of(stamps_kept, stamped.get(name, none), name),
                dates.take(positions),
                presses.take(stamped.get(name, none)),
                None if ends is None else [end.take(watched.get(name, none)) for end in ends],
            )
            for name, positions in own.items()
        ),
    )


class _Part(NamedTuple):
    """The data of one session: rows of the instances and of the events, and times."""

    name: str | None
    rows: Rows
    event_rows: Rows
    times: Times
    events: Times
    observed: list[Times] | None


class _Columns:
    """The meaning of the columns."""

    def __init__(
        self,
        rows: nw.DataFrame[Any],
        session: str | None,
        time: str,
        features: Sequence[str] | None,
        label: str | None,
        subject: str | None,
    ) -> None:
        self.label = _optional(rows, label, "label")
        self.subject = _optional(rows, subject, "subject")
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

    def sessions(self, rows: nw.DataFrame[Any], parts: Iterable[_Part]) -> list[Session]:
        """The sessions of the parts, in their order."""
        X = rows.select(self.features).to_numpy()
        labels, subjects = _objects(rows, self.label), _objects(rows, self.subject)
        return [
            self._session(
                part,
                X[part.rows.positions],
                None if labels is None else labels[part.rows.positions],
                None if subjects is None else _subject(subjects[part.rows.positions], part.name),
            )
            for part in parts
        ]

    def _session(
        self, part: _Part, X: NDArray[Any], labels: NDArray[Any] | None, subject: str | None
    ) -> Session:
        clock = part.times.clock()
        times = _seconds(part.times, clock, part.name, "instances")
        refuse_put_back(times, clock, "" if part.name is None else f"session {part.name}: ")
        observed = (
            None
            if part.observed is None
            else np.column_stack(
                [_seconds(end, clock, part.name, "observed") for end in part.observed]
            )
        )
        session = Session(
            X,
            times,
            _seconds(part.events, clock, part.name, "events"),
            labels=labels,
            subject=subject,
            observed=observed,
            name=part.name,
            feature_names=self.features,
        )
        session.clock = clock
        session.backend = self.backend
        session._instance_rows, session._event_rows = part.rows, part.event_rows
        return session


def _objects(rows: nw.DataFrame[Any], column: str | None) -> NDArray[Any] | None:
    """A column as a Python list."""
    if column is None:
        return None
    values = np.empty(len(rows), dtype=object)
    values[:] = rows.get_column(column).to_list()
    return values


def _subject(values: NDArray[Any], session: str | None) -> str | None:
    """The one subject of a session; none if no row names one."""
    known = {str(value): None for value in values if not is_missing(value)}
    if len(known) > 1:
        first, second, *_ = known
        where = "instances" if session is None else f"session {session}"
        raise ValueError(f"{where} has the subjects {first!r} and {second!r}, expected one")
    return next(iter(known), None)


def _optional(rows: nw.DataFrame[Any], column: str | None, default: str) -> str | None:
    """A column that may be missing unless the user named it; it must not become a feature."""
    if column is not None and column != default:
        _require(rows, "instances", column)
    return column if column in rows.columns else None


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
    times: Times, clock: Clock | None, name: str | None, table: str
) -> NDArray[np.float64]:
    if len(times.values) == 0:
        return np.zeros(0)
    where = _where(name, table)
    if times.are_dates != (clock is not None):
        found, wanted = ("numbers", "dates") if clock is not None else ("dates", "numbers")
        raise ValueError(f"{where} are {found}, expected {wanted} like those of instances")
    if clock is not None and (times.time_zone is None) != (clock.time_zone is None):
        raise ValueError(f"{where} and those of instances must both have a time zone or neither")
    return times.seconds(clock, "times")


def _where(name: Any, table: str) -> str:
    return f"the times of {table}" if name is None else f"session {name}: the times of {table}"


def read_dataset(
    folder: str | os.PathLike[str] | None = None,
    *,
    instances: str | os.PathLike[str] | None = None,
    events: str | os.PathLike[str] | None = None,
    session: str = "session",
    time: str = "time",
    label: str = "label",
    subject: str = "subject",
    features: Sequence[str] | None = None,
    ignore: Sequence[str] = (),
    times_in: str = "s",
    header: bool = True,
    event_session: str | None = None,
    event_time: str | None = None,
    only: Mapping[str, str | Sequence[str]] | None = None,
) -> list[Session]:
    """Read a dataset in the layout of the command line.

    Parameters
    ----------
    folder : path, optional
        A folder with ``instances.csv`` and ``events.csv`` (or .tsv, .csv.gz, .tsv.gz), and perhaps
        ``sessions.csv`` and ``observed.csv``.
    instances, events : path, optional
        Single tables, instead of those of the folder.
    session, time, label, subject : str
        Names of the columns.
    features : sequence of str, optional
        The features; by default all other columns.
    ignore : sequence of str
        Columns that are not features.
    times_in : {"s", "ms", "us", "ns"}
        The unit of times that are numbers; those of the sessions are in seconds.
    header : bool
        Whether tables begin with the names of their columns; otherwise these are called "1", "2"
        and so on.
    event_session, event_time : str, optional
        Names of the columns in the events, if different.
    only : mapping from str to str or sequence of str, optional
        The events to use: by column, the accepted value or values, such as ``{"class": "cough"}``.
        By default all.

    Returns
    -------
    list of Session
        In the order in which the instances name them, the stamps of each in order of time.
    """
    if folder is None and instances is None:
        raise ValueError("read_dataset needs a folder, or instances=... and events=...")
    if times_in not in ("s", "ms", "us", "ns"):
        raise ValueError(f"times_in is {times_in!r}, expected one of s, ms, us, ns")
    columns = {
        "session": session,
        "time": time,
        "label": label,
        "subject": subject,
        "features": None if features is None else list(features),
        "ignore": list(ignore),
        "times_in": times_in,
        "has_header": header,
        "event_session": event_session,
        "event_time": event_time,
        "only": {
            column: [values] if isinstance(values, str) else list(values)
            for column, values in ({} if only is None else only).items()
        },
    }
    read, names = _core.read_dataset(
        _path(folder), _path(instances), _path(events), json.dumps(columns)
    )
    return [_at_zero(Session(**arrays, feature_names=names), zero) for arrays, zero in read]


def _path(path: str | os.PathLike[str] | None) -> str | None:
    return None if path is None else os.fspath(path)


def _at_zero(session: Session, zero: str | None) -> Session:
    """The session with the moment at its zero: a date, or a large number."""
    if zero is None:
        return session
    try:
        number = float(zero)
    except ValueError:
        session.clock = read_times([zero]).clock()
        return session
    return session.replace(
        times=session.times + number,
        events=session.events + number,
        observed=None if session.observed is None else session.observed + number,
    )
