"""Sessions from files, in the layout of the command line."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence

from . import _core
from ._calendar import read_times
from ._check import above_zero
from ._session import Session


def read_dataset(
    folder: str | os.PathLike[str] | None = None,
    *,
    instances: str | os.PathLike[str] | None = None,
    events: str | os.PathLike[str] | None = None,
    sessions: str | os.PathLike[str] | None = None,
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
    earliest: str = "earliest",
    latest: str = "latest",
    event_end: str = "end",
    event_duration: str = "duration",
    rounded: float | None = None,
    annotator: str | None = "annotator",
    classes: str | None = None,
    device: str = "device",
    clock: str = "clock",
    annotators: str = "annotators",
    only: Mapping[str, str | Sequence[str]] | None = None,
) -> list[Session]:
    """Read a dataset in the layout of the command line.

    Parameters
    ----------
    folder : path, optional
        A folder with ``instances.csv`` and ``events.csv`` (or .tsv, .csv.gz, .tsv.gz), and perhaps
        ``sessions.csv`` and ``observed.csv``.
    instances, events, sessions : path, optional
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
    earliest, latest : str
        Columns of the events between which each lies, if that is all that is known: these if they
        exist, or others that must. Where both cells are empty, the time counts.
    event_end, event_duration : str
        Columns of the events with the time at which what was stamped ended, or else how long it
        lasted, in the unit of numeric times: these if they exist, or others that must. The time
        may then be called ``start`` or ``onset``. An empty `event_end` takes beginnings alone.
    rounded : float, optional
        What times of events are rounded to, in seconds: the nearest multiple.
    annotator : str or None
        The column of the events that says who gave each: "annotator" if it exists, or another that
        must exist. None if it does not matter, and all stamps count as those of one.
    classes : str, optional
        The column of the events that names the class each is recorded as. Labels of instances then
        name a class, or are 0. By default all events are of one.
    device, clock, annotators : str
        Names of columns in the table of sessions, which may also say who annotated each session, as
        ``ann; bob``.
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
        "earliest": earliest,
        "latest": latest,
        "event_end": event_end or "",
        "event_duration": event_duration,
        "rounded": None if rounded is None else above_zero("rounded", rounded),
        "annotator": annotator or "",
        "class": classes,
        "device": device,
        "clock": clock,
        "annotators": annotators,
        "only": {
            column: [values] if isinstance(values, str) else list(values)
            for column, values in ({} if only is None else only).items()
        },
    }
    read, names = _core.read_dataset(
        _path(folder), _path(instances), _path(events), _path(sessions), json.dumps(columns)
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
        session.calendar = read_times([zero]).calendar()
        return session
    return session.replace(
        times=session.times + number,
        events=session.events + number,
        observed=None if session.observed is None else session.observed + number,
        annotators=session.annotators,
        also_annotated=session.also_annotated,
        rounded=session.rounded,
        ends=None if session.ends is None else session.ends + number,
        classes=session.classes,
    )
