"""What partitions are asked, and what workers keep between questions.

A question is asked of every partition, by whichever worker has it, and answered in bytes. A worker
keeps the sessions that it has prepared for a model. It may forget them, or die, at any time: an
answer depends on the question alone, so another worker that loads the partition anew says the same.
"""

from __future__ import annotations

import json
import os
import pickle
import threading
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from .. import _core
from .._classes import told_classes
from .._session import Session
from ._layout import Size

Fold = tuple[int, int]


class Load(Protocol):
    """How the sessions of a partition are loaded."""

    def __call__(self) -> list[Session]:
        """All of them."""

    def sizes(self) -> list[Size]:
        """What is known of them without their features."""


@dataclass(frozen=True)
class Place:
    """Where a partition is: its dataset, its number, and how its sessions are loaded."""

    dataset: str
    number: int
    load: Load
    # Bytes of features that this process may keep.
    memory: int
    threads: int


@dataclass
class _Kept:
    model: int
    use_labels: bool
    partition: _core.Partition
    size: int


_kept: dict[tuple[str, int], _Kept] = {}
_lock = threading.Lock()
loads = 0


def prepared(place: Place, model: str, use_labels: bool) -> _core.Partition:
    """The sessions of a partition, prepared for a model: kept ones, or loaded now."""
    global loads
    key, about = (place.dataset, place.number), hash(model)
    with _lock:
        known = _kept.get(key)
        if known is not None and (known.model, known.use_labels) == (about, use_labels):
            return known.partition
        # What was prepared for another model of the same data is not needed again.
        stale = [
            name
            for name, own in _kept.items()
            if name[0] == place.dataset and (own.model, own.use_labels) != (about, use_labels)
        ]
        for name in stale:
            del _kept[name]
    loads += 1
    sessions = place.load()
    size = sum(session.X.nbytes + session.times.nbytes for session in sessions)
    partition = _core.Partition(model, sessions, use_labels, place.threads)
    with _lock:
        # Another dataset is done with first. Of this one, those that came first are kept: in a pass
        # from the first to the last, the oldest is needed soonest.
        others = [name for name in _kept if name[0] != place.dataset]
        while others and size <= place.memory < _size() + size:
            del _kept[others.pop()]
        if _size() + size <= place.memory:
            _kept[key] = _Kept(about, use_labels, partition, size)
    return partition


def _size() -> int:
    return sum(own.size for own in _kept.values())


def forget(dataset: str) -> None:
    """Frees what is kept of a dataset."""
    with _lock:
        for key in [key for key in _kept if key[0] == dataset]:
            del _kept[key]


@dataclass(frozen=True)
class Describe:
    """Name, subject, stamps, instances and features of every session."""

    def __call__(self, place: Place) -> bytes:
        """The answer of a partition."""
        return json.dumps(place.load.sizes()).encode()


@dataclass(frozen=True)
class Gather:
    """The sessions of these names."""

    names: frozenset[str]

    def __call__(self, place: Place) -> bytes:
        """The answer of a partition."""
        return pickle.dumps([session for session in place.load() if session.name in self.names])


@dataclass(frozen=True)
class Evaluate:
    """What sessions tell of each row of parameters, without those of a fold."""

    model: str
    params: NDArray[np.float64]
    use_labels: bool
    left_out: Fold | None = None

    def __call__(self, place: Place) -> bytes:
        """The answer of a partition."""
        partition = prepared(place, self.model, self.use_labels)
        return partition.evaluate(self.params, self.left_out, place.threads)


@dataclass(frozen=True)
class Score:
    """For every session of a fold, or of all: what F1 and the evidence per stamp are made of."""

    model: str
    threshold: float
    only: Fold | None = None

    def __call__(self, place: Place) -> bytes:
        """The answer of a partition."""
        fitted = _core.Fitted.from_json(self.model)
        found = []
        for session in place.load():
            if self.only is not None and not in_fold(session, self.only):
                continue
            log_evidence = fitted.log_evidence(session)
            counts = [0, 0, 0]
            if session.labels is not None:
                known = session.labels >= 0
                truth = session.labels[known] == 1
                positive = fitted.predict_session(session)[known] >= self.threshold
                counts = [
                    int((truth & positive).sum()),
                    int((~truth & positive).sum()),
                    int((truth & ~positive).sum()),
                ]
            found.append((session.name, len(session.events), log_evidence, *counts))
        return json.dumps(found).encode()


def in_fold(session: Session, fold: Fold) -> bool:
    """Whether a session, with all of its subject, is in a fold."""
    return _core.fold_of(session.subject or str(session.name), fold[1]) == fold[0]


@dataclass(frozen=True)
class Tabulate:
    """A table of every session by a model: a method of the detector, and its options."""

    model: str
    threshold: float
    method: str
    # Whether times are dates.
    dated: bool
    # Columns beside the usual ones, and their kinds: about ends and classes, if the model has them.
    more: dict[str, str] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)

    def __call__(self, place: Place) -> bytes:
        """The answer of a partition."""
        return to_bytes(self.table(place.load()))

    def table(self, sessions: list[Session]) -> pa.Table:
        """The rows of these sessions."""
        from .._detector import EventDetector

        detector = EventDetector._from_fitted(_core.Fitted.from_json(self.model))
        tables = [getattr(self, f"_{self.method}")(detector, session) for session in sessions]
        return pa.concat_tables(tables) if tables else self.schema().empty_table()

    def schema(self) -> pa.Schema:
        """The columns of the table."""
        time = pa.timestamp("ns") if self.dated else pa.float64()
        kinds = {"t": time, "s": pa.string(), "f": pa.float64(), "i": pa.int64(), "b": pa.bool_()}
        return pa.schema([(name, kinds[kind]) for name, kind in self._columns().items()])

    def _columns(self) -> dict[str, str]:
        return COLUMNS[self.method] | self.more

    def _predict(self, detector: Any, session: Session) -> pa.Table:
        _, *classes = detector.predict_proba(session).T
        # Of an event of any class.
        p = np.sum(classes, axis=0)
        columns = {
            "session": pa.array([str(session.name)] * len(session), pa.string()),
            "time": session.dates(session.times),
            "probability": p,
            "event": p >= self.threshold,
        }
        if self.more:
            told = told_classes(detector.classes_[1:], np.column_stack(classes), self.threshold)
            columns |= {"event": told != np.array(None), "class": told}
            columns |= {f"p_{name}": own for name, own in zip(detector.classes_[1:], classes)}
        return pa.table(columns, schema=self.schema())

    def _align(self, detector: Any, session: Session) -> pa.Table:
        if len(session.events) == 0:
            return self.schema().empty_table()
        table = detector.align(session, backend="numpy", **self.options)
        columns = {name: table[name] for name in self._columns() if name != "session"}
        names = pa.array([str(session.name)] * len(session.events), pa.string())
        return pa.table({"session": names, **columns}, schema=self.schema())


# Columns of tables and their kinds: text, time, number, whole number, yes or no.
COLUMNS = {
    "predict": {"session": "s", "time": "t", "probability": "f", "event": "b"},
    "align": {
        "session": "s",
        "stamp": "t",
        "time": "t",
        "low": "t",
        "high": "t",
        "instance": "i",
        "instance_time": "t",
        "p_instance": "f",
        "p_spurious": "f",
    },
}


def to_bytes(table: pa.Table) -> bytes:
    """A table as a stream of Arrow."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def from_bytes(answer: bytes) -> pa.Table:
    """The table of a stream of Arrow."""
    return pa.ipc.open_stream(answer).read_all()


def half_of_memory() -> int:
    """Half of the bytes of this machine."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
