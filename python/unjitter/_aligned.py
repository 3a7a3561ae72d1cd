"""Tables of aligned stamps and instances, in the rows of the frames that sessions came from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _tables
from ._classes import named_classes
from ._rows import Rows, Together, together
from ._session import Session

_Columns = dict[str, NDArray[Any]]
PLACES = ("stamp", "time", "low", "high", "instance_time")
END_PLACES = ("end_stamp", "end", "end_low", "end_high")
TIMES = (*PLACES, "start", *END_PLACES)
STAMPS = ("session", *PLACES, "instance", "p_instance", "best_instance", "p_spurious")
ENDS = (*END_PLACES, "end_p_spurious")
CLASSES = ("aligned_class", "p_class")
ANNOTATOR = "annotator"
# Between names, as in tables on disk.
SEPARATOR = "; "


def stamps_table(
    sessions: list[Session], parts: Iterable[_Columns], more: Iterable[str], backend: str | None
) -> Any:
    """Columns of the stamps of each session, as one table; `more` names those beside the usual.

    One row for each row of the events that the sessions came from, if they came from one frame.
    Otherwise sessions follow each other, each with its stamps in the given order.
    """
    rows = [session._event_rows for session in sessions]
    found = together(rows)
    own_names = {*STAMPS, *more, *([ANNOTATOR] if _are_named(sessions) else [])}
    for name in [] if found is None or found.others is None else found.others.columns:
        if name in own_names:
            raise ValueError(
                f"events has a column {name!r}, which the aligned stamps have too; rename it"
            )
    columns = _columns(
        sessions,
        rows,
        [
            {"event": np.arange(len(session.events))}
            | {
                name: session._as_given(np.asarray(values))
                for name, values in (_annotators(sessions, session) | part).items()
            }
            for session, part in zip(sessions, parts)
        ],
    )
    if found is not None:
        # The rows are the events.
        del columns["event"]
    return _table(columns, found, sessions, backend)


def events_table(
    sessions: list[Session],
    found: Iterable[list[tuple[int, float, float, float, str | None, int, list[str]]]],
    are_runs: bool,
    have_classes: bool,
    backend: str | None,
) -> Any:
    """The events of each session as the library tells them, as one table; runs have an end."""
    names = ("instance", "time", "end", "p_positive", "class", "stamps", "seen_by")
    kinds = (int, float, float, float, object, int, object)
    parts: list[_Columns] = []
    for own in found:
        told = [(*row, SEPARATOR.join(people)) for *row, people in own]
        columns = zip(*told) if told else [()] * len(names)
        parts.append({n: np.array(c, dtype=k) for n, k, c in zip(names, kinds, columns)})
        if not are_runs:
            del parts[-1]["end"]
        if not have_classes:
            del parts[-1]["class"]
        if not _are_named(sessions):
            del parts[-1]["seen_by"]
    rows = [session._instance_rows for session in sessions]
    return _table(_columns(sessions, rows, parts), None, sessions, backend)


def detected_table(
    sessions: list[Session],
    found: Iterable[tuple[Any, Any, Any, Any]],
    classes: Sequence[str],
    backend: str | None,
) -> Any:
    """Begin, end, probability and, if there are several, class of the detected events of each
    session, as one table."""
    parts: list[_Columns] = []
    for *own, numbers in found:
        parts.append(dict(zip(("start", "end", "probability"), own)))
        if classes:
            parts[-1]["class"] = named_classes(classes, numbers)
    rows = [session._instance_rows for session in sessions]
    return _table(_columns(sessions, rows, parts), None, sessions, backend)


def _are_named(sessions: list[Session]) -> bool:
    """Whether it is known of any session who annotated it."""
    return any(session.annotators is not None for session in sessions)


def _annotators(sessions: list[Session], session: Session) -> _Columns:
    """Who gave each stamp of a session, if that is known of any."""
    if not _are_named(sessions):
        return {}
    nobody = np.full(len(session.events), None, dtype=object)
    return {ANNOTATOR: nobody if session.annotators is None else session.annotators}


def instances_table(sessions: list[Session], parts: Iterable[_Columns], backend: str | None) -> Any:
    """The same for the instances, with their places in their session."""
    rows = [session._instance_rows for session in sessions]
    places = (np.arange(len(session)) for session in sessions)
    given = [{"instance": own} | part for own, part in zip(places, parts)]
    return _table(_columns(sessions, rows, given), together(rows), sessions, backend)


def _columns(
    sessions: list[Session], rows: list[Rows | None], parts: list[_Columns]
) -> dict[str, Any]:
    """Columns of the sessions, concatenated."""
    calendars = [session.calendar for session in sessions]
    names = [
        str(position) if session.name is None else session.name
        for position, session in enumerate(sessions)
    ]
    given = [None if own is None else own.name for own in rows]
    # As the frame has them: a number is not equal to its text.
    as_numbers = all(isinstance(own, Integral) for own in given) and names == [*map(str, given)]
    titles = np.array(given if as_numbers else names, dtype=None if as_numbers else object)
    lengths = [len(next(iter(own.values()))) for own in parts]
    columns: dict[str, Any] = {"session": np.repeat(titles, lengths)}
    for name in parts[0]:
        own = [part[name] for part in parts]
        is_time = name in TIMES
        columns[name] = _tables.times_column(calendars, own) if is_time else np.concatenate(own)
    return columns


def _table(
    columns: dict[str, Any], found: Together | None, sessions: list[Session], backend: str | None
) -> Any:
    """The columns unchanged, or in the order of a frame, with its index and other columns."""
    if found is None:
        given = next((session.backend for session in sessions if session.backend), None)
        return _tables.frame(columns, backend or given)
    backend = backend or found.backend
    taken = {name: values.take(found.order) for name, values in columns.items()}
    table = _tables.frame(taken, backend, found.others)
    if found.index is not None and backend == found.backend:
        table.index = found.index
    return table
