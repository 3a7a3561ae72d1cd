"""Sessions from data frames and from files.

Frames go through narwhals: pandas, polars and whatever else it knows.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from . import _core
from ._clock import Clock
from ._session import Session


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
    instances : DataFrame (pandas, polars or another that narwhals knows)
        One row per instance: session, time, features, and if there are, label and subject. Rows of
        a session are in order of time.
    events : DataFrame
        One row per stamp: session and time.
    session : str or None
        The column of the session's name; None if the tables are one session.
    time : str
        The column of times: numbers, or dates with or without a time zone.
    features : sequence of str, optional
        The columns of features; by default all that are nothing else.
    label, subject : str or None
        Their columns; they may be missing.
    event_time : str, optional
        The column of times in `events`, where it has another name.
    observed : DataFrame, optional
        When somebody was annotating: session, start and end.

    Returns
    -------
    list of Session
        In the order in which `instances` names them. Tables that are made from them later are of
        the same library.

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
    _require(stamps, "events", stamp_time)
    if session is not None:
        _require(stamps, "events", session)
    names = rows.get_column(session).unique(maintain_order=True).to_list() if session else [None]
    if session is not None:
        _no_strangers(stamps, "events", session, names)
    intervals = None if observed is None else nw.from_native(observed, eager_only=True)
    if intervals is not None:
        for column in ("start", "end", *([] if session is None else [session])):
            _require(intervals, "observed", column)
    return [
        columns.session_of(
            name,
            _own(rows, session, name),
            _own(stamps, session, name).get_column(stamp_time),
            None if intervals is None else _own(intervals, session, name),
        )
        for name in names
    ]


class _Columns:
    """Which column is what."""

    def __init__(
        self,
        rows: nw.DataFrame[Any],
        session: str | None,
        time: str,
        features: Sequence[str] | None,
        label: str | None,
        subject: str | None,
    ) -> None:
        self.time = time
        self.label = label if label in rows.columns else None
        self.subject = subject if subject in rows.columns else None
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

    def session_of(
        self,
        name: Any,
        rows: nw.DataFrame[Any],
        stamps: nw.Series[Any],
        observed: nw.DataFrame[Any] | None,
    ) -> Session:
        title = None if name is None else str(name)
        clock = _clock(rows.get_column(self.time))
        seconds = [
            _seconds(column, clock, title, what)
            for what, column in (
                ("instances", rows.get_column(self.time)),
                ("events", stamps),
                *(
                    ()
                    if observed is None
                    else tuple(("observed", observed.get_column(end)) for end in ("start", "end"))
                ),
            )
        ]
        session = Session(
            rows.select(self.features).to_numpy(),
            seconds[0],
            seconds[1],
            labels=None if self.label is None else rows.get_column(self.label).to_list(),
            subject=None if self.subject is None else rows.get_column(self.subject)[0],
            observed=None if observed is None else np.column_stack(seconds[2:]),
            name=title,
            feature_names=self.features,
        )
        session.clock = clock
        session.backend = self.backend
        return session


def _own(rows: nw.DataFrame[Any], session: str | None, name: Any) -> nw.DataFrame[Any]:
    return rows if session is None else rows.filter(nw.col(session) == name)


def _require(rows: nw.DataFrame[Any], table: str, column: str) -> None:
    if column not in rows.columns:
        raise ValueError(
            f"{table} has no column {column!r}; its columns are {', '.join(rows.columns)}"
        )


def _no_strangers(rows: nw.DataFrame[Any], table: str, session: str, known: list[Any]) -> None:
    strange = sorted(set(map(str, rows.get_column(session).to_list())) - set(map(str, known)))
    if strange:
        raise ValueError(f"{table} names session {strange[0]!r}, which instances does not have")


def _clock(times: nw.Series[Any]) -> Clock | None:
    if not isinstance(times.dtype, nw.Datetime) or len(times) == 0:
        return None
    zone = getattr(times.dtype, "time_zone", None)
    return Clock(_utc(times)[0], None if zone is None else str(zone))


def _utc(times: nw.Series[Any]) -> NDArray[np.datetime64]:
    zone = getattr(times.dtype, "time_zone", None)
    if zone is not None:
        times = times.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
    return times.to_numpy().astype("datetime64[ns]")


def _seconds(
    times: nw.Series[Any], clock: Clock | None, name: str | None, table: str
) -> NDArray[np.float64]:
    where = f"the times of {table}" if name is None else f"session {name}: the times of {table}"
    if times.null_count() > 0:
        raise ValueError(f"{where} have {times.null_count()} missing values")
    if clock is None:
        if len(times) and not times.dtype.is_numeric():
            raise ValueError(f"{where} are {times.dtype}, expected numbers like those of instances")
        return times.to_numpy().astype(np.float64)
    if len(times) == 0:
        return np.zeros(0)
    zone = getattr(times.dtype, "time_zone", None)
    if not isinstance(times.dtype, nw.Datetime):
        raise ValueError(f"{where} are {times.dtype}, expected dates like those of instances")
    if (zone is None) != (clock.time_zone is None):
        raise ValueError(f"{where} and those of instances must both have a time zone or neither")
    return clock.seconds(_utc(times))


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
) -> list[Session]:
    """Read a dataset of the layout that the command line has.

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
        The features; by default all columns that are nothing else.
    ignore : sequence of str
        Columns that are no features.
    times_in : {"s", "ms", "us", "ns"}
        The unit of times that are numbers.
    header : bool
        Whether tables begin with the names of their columns.

    Returns
    -------
    list of Session
    """
    if folder is None and instances is None:
        raise ValueError("read_dataset needs a folder, or instances=... and events=...")
    columns = {
        "session": session,
        "time": time,
        "label": label,
        "subject": subject,
        "features": None if features is None else list(features),
        "ignore": list(ignore),
        "times_in": times_in,
        "has_header": header,
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
        session.clock = _clock_at(zero)
        return session
    return session.replace(
        times=session.times + number,
        events=session.events + number,
        observed=None if session.observed is None else session.observed + number,
    )


def _clock_at(text: str) -> Clock:
    """The clock of a date with up to nine digits of a second, with or without an offset."""
    text = text.replace(" ", "T")
    zone = None
    if text.endswith("Z"):
        text, zone = text[:-1], "UTC"
    elif "T" in text and text[-6] in "+-":
        text, zone = text[:-6], text[-6:]
    origin = np.datetime64(text, "ns")
    if zone not in (None, "UTC"):
        offset = datetime.fromisoformat(f"1970-01-01T00:00:00{zone}").utcoffset()
        assert offset is not None
        origin -= np.timedelta64(int(offset.total_seconds()), "s")
        zone = f"{zone}"
    return Clock(origin, zone)
