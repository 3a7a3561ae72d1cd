"""Long tables of Arrow, and the sessions in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from .._session import Session

Rows = dict[str, NDArray[np.int64]]


class Size(NamedTuple):
    """A session, as the driver knows it."""

    name: str
    together: str
    stamps: int
    instances: int
    features: int
    # Of its stamps, how many tell when what was stamped ended.
    ends: int


@dataclass(frozen=True)
class Layout:
    """What the columns of long tables are.

    Attributes
    ----------
    session, time : str
        The name of the session of each row, and its time: numbers or dates.
    features : tuple of str, optional
        The columns of features; by default all others of numbers.
    label, subject, annotator : str
        Columns that are used if they exist: the label of an instance, the person recorded, and who
        gave a stamp.
    end, duration : str or None
        Columns of the stamps that are used if they exist: when what was stamped ended, or else how
        long it lasted. The time of a stamp may then be called "start" or "onset". With an `end` of
        None neither is used.
    """

    session: str = "session"
    time: str = "time"
    features: tuple[str, ...] | None = None
    label: str = "label"
    subject: str = "subject"
    annotator: str = "annotator"
    end: str | None = "end"
    duration: str = "duration"

    def of_instances(self, schema: pa.Schema, where: str) -> Layout:
        """The same with features, given the columns of the instances."""
        self._require(schema, where, self.time)
        others = {self.session, self.time, self.label, self.subject}
        features = self.features or tuple(
            field.name for field in schema if field.name not in others
        )
        if not features:
            raise ValueError(f"{where}: it has no column left for a feature")
        for name in features:
            if name not in schema.names:
                raise ValueError(f"{where}: it has no column {name!r}; there are {_listed(schema)}")
            kind = schema.field(name).type
            if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or kind == pa.bool_()):
                raise ValueError(
                    f"{where}: column {name!r} holds {kind}, expected numbers; name the features "
                    "with features=[...]"
                )
        return replace(self, features=tuple(features))

    def of_instances_columns(self, schema: pa.Schema) -> list[str]:
        """The columns of instances that are needed."""
        used = [self.session, self.time, *(self.features or ())]
        return used + [name for name in (self.label, self.subject) if name in schema.names]

    def of_events_columns(self, schema: pa.Schema, where: str) -> list[str]:
        """The columns of events that are needed."""
        time, until = self._stamp_time(schema), self._until(schema)
        self._require(schema, where, time)
        used = [self.session, time, *({self.annotator} & set(schema.names))]
        return used if until is None else [*used, until]

    def _until(self, schema: pa.Schema) -> str | None:
        """The column that tells when what was stamped ended, or how long it lasted."""
        if self.end is None:
            return None
        return next((name for name in (self.end, self.duration) if name in schema.names), None)

    def _stamp_time(self, schema: pa.Schema) -> str:
        """The column of the times of stamps."""
        usual = [self.time] if self._until(schema) is None else [self.time, "start", "onset"]
        return next((name for name in usual if name in schema.names), self.time)

    def _ends(self, events: pa.Table, starts: NDArray[Any], where: str) -> NDArray[Any] | None:
        """When what was stamped ended; missing where a stamp tells no end, or no time passed."""
        name = self._until(events.schema)
        if name is None:
            return None
        if name == self.end:
            ends = _times(events, name)
        else:
            lasting = _seconds(events, name, where)
            passed = lasting if starts.dtype.kind != "M" else _nanoseconds(lasting)
            ends = starts + passed
        missing = np.datetime64("NaT") if ends.dtype.kind == "M" else np.nan
        same_kind = ends.dtype.kind == starts.dtype.kind
        return np.where(ends == starts, missing, ends) if same_kind else ends

    def _require(self, schema: pa.Schema, where: str, time: str) -> None:
        for name in (self.session, time):
            if name not in schema.names:
                raise ValueError(f"{where}: it has no column {name!r}; there are {_listed(schema)}")

    def sizes(self, instances: pa.Table, events: pa.Table, where: str) -> list[Size]:
        """What is known of the sessions of a partition without their features and times."""
        rows, stamps = self._by_session(instances, events, where)
        subjects = _optional(instances, self.subject)
        until = self._ends(events, _times(events, self._stamp_time(events.schema)), where)
        found = []
        for name, own in rows.items():
            subject = None if subjects is None else _one(subjects[own], f"{where}: session {name}")
            pressed = stamps.get(name, np.zeros(0, dtype=np.int64))
            ends = 0 if until is None else len(pressed) - int(_is_missing(until[pressed]).sum())
            counts = (len(pressed), len(own), len(self.features or ()), ends)
            found.append(Size(name, subject or name, *counts))
        return found

    def _by_session(self, instances: pa.Table, events: pa.Table, where: str) -> tuple[Rows, Rows]:
        rows, stamps = by_session(instances, self.session), by_session(events, self.session)
        strange = sorted(stamps.keys() - rows.keys())
        if strange:
            raise ValueError(f"{where}: there are stamps of session {strange[0]!r}, no instances")
        return rows, stamps

    def sessions(self, instances: pa.Table, events: pa.Table, where: str) -> list[Session]:
        """The sessions of a partition, in order of their names."""
        rows, stamps = self._by_session(instances, events, where)
        features = _matrix(instances, self.features or ())
        times = _times(instances, self.time)
        presses = _times(events, self._stamp_time(events.schema))
        ends = self._ends(events, presses, where)
        labels, subjects = _optional(instances, self.label), _optional(instances, self.subject)
        people = _optional(events, self.annotator)
        none = np.zeros(0, dtype=np.int64)
        found = []
        for name in sorted(rows):
            own = _in_time(rows[name], times)
            given = stamps.get(name, none)
            subject = None if subjects is None else _one(subjects[own], f"{where}: session {name}")
            try:
                session = Session(
                    features[own],
                    times[own],
                    presses[given],
                    labels=None if labels is None else labels[own],
                    subject=subject,
                    name=name,
                    feature_names=self.features,
                    annotators=None if people is None else people[given].tolist(),
                    ends=None if ends is None else ends[given],
                )
                _finite(session, self.features or ())
            except ValueError as error:
                raise ValueError(f"{where}: {error}") from None
            found.append(session)
        return found


def by_session(table: pa.Table, column: str) -> Rows:
    """The rows of each session, in order."""
    chunked = table.column(column)
    if chunked.null_count:
        raise ValueError(f"column {column!r} has {chunked.null_count} rows without a session")
    if not pa.types.is_dictionary(chunked.type):
        chunked = chunked.dictionary_encode()
    coded = chunked.unify_dictionaries().combine_chunks()
    coded = coded if isinstance(coded, pa.DictionaryArray) else coded.chunk(0)
    codes = coded.indices.to_numpy(zero_copy_only=False)
    order = np.argsort(codes, kind="stable")
    ends = np.searchsorted(codes[order], np.arange(len(coded.dictionary) + 1))
    names = [str(name) for name in coded.dictionary.to_pylist()]
    rows = ((name, order[a:b]) for name, a, b in zip(names, ends, ends[1:], strict=False))
    return {name: own for name, own in rows if len(own)}


def _matrix(table: pa.Table, names: Sequence[str]) -> NDArray[Any]:
    """Columns side by side, in single precision if all are."""
    single = all(table.schema.field(name).type == pa.float32() for name in names)
    matrix = np.empty((table.num_rows, len(names)), dtype=np.float32 if single else np.float64)
    for k, name in enumerate(names):
        column = table.column(name)
        if column.null_count:
            column = pc.fill_null(column.cast(pa.float64()), float("nan"))
        matrix[:, k] = column.to_numpy()
    return matrix


def _times(table: pa.Table, name: str) -> NDArray[Any]:
    column = table.column(name)
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.timestamp("ns"))
    return np.asarray(column.to_numpy())


def _is_missing(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Whether numbers are NaN, or dates are none."""
    found: NDArray[np.bool_] = np.isnat(values) if values.dtype.kind == "M" else np.isnan(values)
    return found


def _seconds(table: pa.Table, name: str, where: str) -> NDArray[np.float64]:
    """Lengths of time, NaN where they are missing."""
    column = table.column(name)
    if pa.types.is_duration(column.type):
        seconds = column.cast(pa.duration("ns")).to_numpy() / np.timedelta64(1, "s")
    elif pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
        seconds = column.cast(pa.float64()).to_numpy()
    else:
        raise ValueError(f"{where}: column {name!r} holds {column.type}, expected lengths of time")
    if np.any(seconds < 0.0):
        raise ValueError(f"{where}: column {name!r} holds lengths of time below 0")
    return np.asarray(seconds, dtype=np.float64)


def _nanoseconds(seconds: NDArray[np.float64]) -> NDArray[np.timedelta64]:
    """The same beside dates."""
    known = np.where(np.isnan(seconds), 0.0, np.round(1e9 * seconds)).astype("timedelta64[ns]")
    return np.where(np.isnan(seconds), np.timedelta64("NaT"), known)


def _optional(table: pa.Table, name: str) -> NDArray[Any] | None:
    if name not in table.schema.names:
        return None
    values = np.empty(table.num_rows, dtype=object)
    values[:] = table.column(name).to_pylist()
    return values


def _finite(session: Session, features: Sequence[str]) -> None:
    bad = np.argwhere(~np.isfinite(session.X))
    if len(bad):
        row, column = bad[0]
        raise ValueError(
            f"session {session.name}: {features[column]!r} of instance {row} is "
            f"{session.X[row, column]}, expected a finite number"
        )


def _in_time(rows: NDArray[np.int64], times: NDArray[Any]) -> NDArray[np.int64]:
    """Rows in order of their times, which engines may have mixed."""
    own = times[rows]
    return rows if np.all(own[1:] >= own[:-1]) else rows[np.argsort(own, kind="stable")]


def _one(values: NDArray[Any], where: str) -> str | None:
    known = {str(value) for value in values if value is not None}
    if len(known) > 1:
        first, second = sorted(known)[:2]
        raise ValueError(f"{where} has the subjects {first!r} and {second!r}")
    return known.pop() if known else None


def _listed(schema: pa.Schema) -> str:
    return ", ".join(schema.names[:12]) + (", …" if len(schema.names) > 12 else "")
