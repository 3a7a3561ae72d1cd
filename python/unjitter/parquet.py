"""Sessions in Parquet files that are larger than memory::

    from unjitter import EventDetector
    from unjitter.parquet import dataset

    sessions = dataset("study/instances", "study/events.parquet")
    detector = EventDetector().fit(sessions)
    detector.align(sessions).write("study/aligned")

Files are read by pyarrow, once for each pass over the sessions, unless they fit into half of the
memory. Rows of a session may lie in several files or row groups.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Any

import joblib
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from ._session import Session
from .scale._dataset import Dataset
from .scale._layout import Layout, Size, by_session
from .scale._questions import Place, Tabulate, half_of_memory

__all__ = ["ParquetDataset", "Tables", "dataset"]

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
# Rows of a partition, about.
ROWS = 250_000


def dataset(
    instances: Paths,
    events: Paths | pa.Table,
    *,
    session: str = "session",
    time: str = "time",
    features: Sequence[str] | None = None,
    label: str = "label",
    subject: str = "subject",
    annotator: str = "annotator",
    end: str | None = "end",
    duration: str = "duration",
    rows: int = ROWS,
    memory: int | None = None,
    n_jobs: int | None = -1,
) -> ParquetDataset:
    """Sessions of Parquet files, worked on by this process.

    Parameters
    ----------
    instances : path or sequence of paths
        A folder of Parquet files, or files: one row per instance, with session, time, features,
        and if there are, label and subject.
    events : path, sequence of paths, or pyarrow.Table
        The stamps: session, time and, if they are known, annotator and end or duration. They are
        kept in memory.
    session, time, features, label, subject, annotator, end, duration
        The columns, as in :func:`unjitter.sessions_from_frames`.
    rows : int
        Instances that are worked on together, about.
    memory : int, optional
        Bytes of features that are kept between passes; by default half of the machine's.
    n_jobs : int, optional
        Threads; by default all.

    Returns
    -------
    ParquetDataset
        For :meth:`unjitter.EventDetector.fit` and the like.
    """
    names = None if features is None else tuple(features)
    layout = Layout(session, time, names, label, subject, annotator, end, duration)
    threads = joblib.effective_n_jobs(n_jobs)
    return ParquetDataset(
        partitions(instances, events, layout, rows),
        half_of_memory() if memory is None else memory,
        threads,
    )


@dataclass(frozen=True)
class FilePartition:
    """Row groups that hold whole sessions, and their stamps."""

    layout: Layout
    # Path and row groups.
    pieces: tuple[tuple[str, tuple[int, ...]], ...]
    events: pa.Table
    columns: tuple[str, ...]
    dated: bool

    def __call__(self) -> list[Session]:
        """Its sessions."""
        return self.layout.sessions(self._read(self.columns), self.events, self._where)

    def sizes(self) -> list[Size]:
        """What is known of them without their features."""
        known = [
            name for name in self.columns if name in (self.layout.session, self.layout.subject)
        ]
        return self.layout.sizes(self._read(known), self.events, self._where)

    @property
    def _where(self) -> str:
        return ", ".join(path for path, _ in self.pieces[:3])

    def _read(self, columns: Sequence[str]) -> pa.Table:
        tables = []
        for path, groups in self.pieces:
            with pq.ParquetFile(path) as file:
                tables.append(file.read_row_groups(list(groups), columns=list(columns)))
        return pa.concat_tables(tables)


def partitions(
    instances: Paths, events: Paths | pa.Table, layout: Layout, rows: int
) -> list[FilePartition]:
    """Row groups of files, together where they share a session."""
    if rows < 1:
        raise ValueError(f"rows is {rows}, expected a number above 0")
    files = _files(instances)
    if not files:
        raise ValueError(f"{instances}: there are no Parquet files")
    schema = pq.read_schema(files[0])
    layout = layout.of_instances(schema, files[0])
    columns = tuple(layout.of_instances_columns(schema))
    stamps = events if isinstance(events, pa.Table) else _stamps(events, layout)
    stamps = stamps.select(layout.of_events_columns(stamps.schema, "events"))
    known = by_session(stamps, layout.session)
    together = _Together()
    sizes: dict[tuple[str, int], int] = {}
    names: set[str] = set()
    for path in files:
        with pq.ParquetFile(path) as file:
            for name in columns:
                if name not in file.schema_arrow.names:
                    raise ValueError(f"{path}: it has no column {name!r}, as {files[0]} has")
            for group in range(file.num_row_groups):
                own = by_session(file.read_row_group(group, [layout.session]), layout.session)
                sizes[path, group] = sum(map(len, own.values()))
                together.add((path, group), own)
                names |= own.keys()
    strange = sorted(known.keys() - names)
    if strange:
        raise ValueError(f"events names session {strange[0]!r}, which instances does not have")
    dated = pa.types.is_timestamp(schema.field(layout.time).type)
    found = []
    for pieces, members in together.packed(sizes, rows):
        of_files = defaultdict(list)
        for path, group in sorted(pieces):
            of_files[path].append(group)
        taken = sorted(k for name in members for k in known.get(name, ()))
        found.append(
            FilePartition(
                layout,
                tuple((path, tuple(groups)) for path, groups in of_files.items()),
                stamps.take(pa.array(taken, pa.int64())),
                columns,
                dated,
            )
        )
    return found


class _Together:
    """Pieces that share sessions."""

    def __init__(self) -> None:
        self._of_session: dict[str, Any] = {}
        self._root: dict[Any, Any] = {}
        self._names: dict[Any, set[str]] = {}

    def _find(self, piece: Any) -> Any:
        while self._root[piece] != piece:
            self._root[piece] = self._root[self._root[piece]]
            piece = self._root[piece]
        return piece

    def add(self, piece: Any, names: Iterable[str]) -> None:
        """A piece with these sessions."""
        self._root[piece], self._names[piece] = piece, set(names)
        for name in names:
            first, second = self._find(self._of_session.setdefault(name, piece)), self._find(piece)
            if first != second:
                self._root[second] = first
                self._names[first] |= self._names.pop(second)

    def packed(self, sizes: dict[Any, int], rows: int) -> Iterator[tuple[list[Any], set[str]]]:
        """Pieces that belong together, and others beside them until there are so many rows."""
        whole: dict[Any, list[Any]] = defaultdict(list)
        for piece in self._root:
            whole[self._find(piece)].append(piece)
        pieces: list[Any] = []
        names: set[str] = set()
        for root, own in whole.items():
            if pieces and sum(sizes[piece] for piece in pieces + own) > rows:
                yield pieces, names
                pieces, names = [], set()
            pieces, names = pieces + own, names | self._names[root]
        if pieces:
            yield pieces, names


def _files(paths: Paths) -> list[str]:
    if isinstance(paths, (str, os.PathLike)):
        return sorted(ds.dataset(os.fspath(paths), format="parquet").files)
    return [os.fspath(path) for path in paths]


def _stamps(events: Paths, layout: Layout) -> pa.Table:
    found = ds.dataset(_files(events), format="parquet")
    return found.to_table(columns=layout.of_events_columns(found.schema, "events"))


@dataclass
class Futures:
    """A question whose answers come one by one."""

    futures: list[Future[bytes]]

    def poll(self, seconds: float) -> list[bytes] | None:
        """See :class:`unjitter.scale._dataset.Pass`."""
        done, pending = wait(self.futures, seconds, return_when="FIRST_EXCEPTION")
        for future in done:
            if future.exception() is not None:
                self.cancel()
                future.result()
        return None if pending else [future.result() for future in self.futures]

    def cancel(self) -> None:
        """See :class:`unjitter.scale._dataset.Pass`."""
        for future in self.futures:
            future.cancel()
        for future in self.futures:
            if not future.cancelled():
                future.exception()


@dataclass(frozen=True)
class Tables:
    """Tables that are computed partition by partition when they are asked for."""

    question: Tabulate = field(repr=False)
    parts: list[FilePartition] = field(repr=False)

    @property
    def schema(self) -> pa.Schema:
        """The columns."""
        return self.question.schema()

    def __iter__(self) -> Iterator[pa.Table]:
        """One table after the other."""
        for part in self.parts:
            yield self.question.table(part())

    def read(self) -> pa.Table:
        """All of them."""
        return pa.concat_tables([self.schema.empty_table(), *self])

    def write(self, folder: str | os.PathLike[str]) -> None:
        """Writes a Parquet file for each partition into a new folder, whole or not at all."""
        path = os.fspath(folder)
        if os.path.exists(path):
            raise FileExistsError(f"{path} exists already")
        partial = f"{path}.partial"
        os.makedirs(partial)
        for k, table in enumerate(self):
            pq.write_table(table, os.path.join(partial, f"part-{k:05}.parquet"))
        os.rename(partial, path)


class ParquetDataset(Dataset):
    """See :func:`dataset`."""

    def __init__(self, parts: list[FilePartition], memory: int, threads: int) -> None:
        super().__init__()
        self._parts, self._memory, self._threads = parts, memory, threads

    def __len__(self) -> int:
        """Number of partitions."""
        return len(self._parts)

    def _submit(self, question: Callable[[Place], bytes], numbers: Sequence[int]) -> Futures:
        # Two at a time, so that one is read while the other is worked on.
        pool = ThreadPoolExecutor(2)
        threads = max(1, self._threads // 2) if len(self._parts) > 1 else self._threads
        futures = [
            pool.submit(question, Place(self._token, k, self._parts[k], self._memory, threads))
            for k in numbers
        ]
        pool.shutdown(wait=False)
        return Futures(futures)

    def _frame(self, question: Tabulate) -> Tables:
        return Tables(question, self._parts)

    def _is_dated(self) -> bool:
        return self._parts[0].dated
