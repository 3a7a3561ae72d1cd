"""Sessions on a cluster of Dask::

    import dask.dataframe as dd
    from unjitter import EventDetector
    from unjitter.dask import dataset

    sessions = dataset(dd.read_parquet("study/instances"), events)
    detector = EventDetector().fit(sessions)
    aligned = detector.align(sessions)  # a dask DataFrame

Every question is a task for each partition, which goes where the partition was prepared, if that
worker is still there; otherwise another one loads it. So workers may come, go and die. It works
with whatever `dask.distributed.Client` is connected to: processes of this machine, dask-jobqueue on
SLURM, dask-kubernetes and the like.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import distributed
import pandas as pd
import pyarrow as pa
from dask import dataframe as dd
from dask import delayed

from ._session import Session
from .parquet import ROWS, FilePartition, partitions
from .scale._dataset import Dataset, log
from .scale._layout import Layout, Size, by_session
from .scale._questions import Load, Place, Tabulate

__all__ = ["DaskDataset", "dataset"]

Question = Callable[[Place], "bytes"]
# How often a task is tried again, besides those that die with their worker.
RETRIES = 2


def dataset(
    instances: Any,
    events: Any,
    *,
    session: str = "session",
    time: str = "time",
    features: Sequence[str] | None = None,
    label: str = "label",
    subject: str = "subject",
    annotator: str = "annotator",
    end: str | None = "end",
    duration: str = "duration",
    client: distributed.Client | None = None,
    rows: int = ROWS,
    memory: int | None = None,
) -> DaskDataset:
    """Sessions in frames of Dask, or in Parquet files that all workers can read.

    Parameters
    ----------
    instances : dask DataFrame, or path or sequence of paths
        One row per instance, as in :func:`unjitter.sessions_from_frames`. Rows of a session that
        lie in several partitions are brought together by a shuffle.
    events : dask or pandas DataFrame, pyarrow.Table, or path or sequence of paths
        The stamps: session, time and, if they are known, annotator and end or duration.
    session, time, features, label, subject, annotator, end, duration
        The columns. Stamps that tell when something ended, or how long it lasted, are of bouts,
        unless `end` is None.
    client : distributed.Client, optional
        By default the current one.
    rows : int
        Instances of a partition, about, if files are given.
    memory : int, optional
        Bytes of features that a worker keeps between passes; by default about half of its
        limit.

    Returns
    -------
    DaskDataset
        For :meth:`unjitter.EventDetector.fit` and the like.
    """
    names = None if features is None else tuple(features)
    layout = Layout(session, time, names, label, subject, annotator, end, duration)
    found = distributed.get_client() if client is None else client
    if isinstance(instances, dd.DataFrame):
        return _Frames(found, layout, instances, _table(events, layout), memory)
    stamps = events.compute() if isinstance(events, dd.DataFrame) else events
    if isinstance(stamps, pd.DataFrame):
        stamps = pa.Table.from_pandas(stamps, preserve_index=False)
    return _Files(found, partitions(instances, stamps, layout, rows), memory)


def _table(events: Any, layout: Layout) -> pa.Table:
    """Stamps, which are few, as a table of Arrow."""
    if isinstance(events, dd.DataFrame):
        events = events.compute()
    if isinstance(events, pd.DataFrame):
        events = pa.Table.from_pandas(events, preserve_index=False)
    if not isinstance(events, pa.Table):
        events = pa.Table.from_pandas(dd.read_parquet(events).compute(), preserve_index=False)
    return events.select(layout.of_events_columns(events.schema, "events"))


@dataclass(frozen=True)
class _Frame:
    """A partition whose frame is here."""

    layout: Layout
    frame: pd.DataFrame
    events: pa.Table
    where: str

    def __call__(self) -> list[Session]:
        """Its sessions."""
        return self.layout.sessions(*self._tables(), self.where)

    def sizes(self) -> list[Size]:
        """What is known of them without their features."""
        return self.layout.sizes(*self._tables(), self.where)

    def _tables(self) -> tuple[pa.Table, pa.Table]:
        table = pa.Table.from_pandas(self.frame, preserve_index=False)
        names = by_session(table, self.layout.session)
        stamps = by_session(self.events, self.layout.session)
        taken = sorted(k for name in names for k in stamps.get(name, ()))
        return table, self.events.take(pa.array(taken, pa.int64()))


class _Missing(Exception):
    """The worker does not have the partition."""


class _NotHere:
    """A partition that a worker has prepared, or has nothing of."""

    def __call__(self) -> list[Session]:
        raise _Missing

    def sizes(self) -> list[Size]:
        raise _Missing


def _answer(
    question: Question, token: str, number: int, load: Load, memory: int | None
) -> bytes | None:
    """The answer of a partition; None if it would have to be loaded and cannot."""
    worker = distributed.get_worker()
    limit = worker.memory_manager.memory_limit or 2**62
    # Half of what the libraries and a partition under way leave.
    usual = max(0, limit - 2**29) // 2
    # One thread for each task: a worker has as many tasks at a time as it has threads.
    place = Place(token, number, load, usual if memory is None else memory, 1)
    try:
        return question(place)
    except _Missing:
        return None


def _answer_of_frame(
    question: Question,
    token: str,
    number: int,
    frame: pd.DataFrame,
    layout: Layout,
    events: pa.Table,
    memory: int | None,
) -> bytes | None:
    load = _Frame(layout, frame, events, f"partition {number}")
    return _answer(question, token, number, load, memory)


class DaskDataset(Dataset):
    """See :func:`dataset`."""

    def __init__(self, client: distributed.Client, memory: int | None) -> None:
        super().__init__()
        self._client, self._memory = client, memory
        # Who was asked last for each partition.
        self._homes: dict[int, str] = {}

    @abc.abstractmethod
    def _loading(self, question: Question, number: int) -> tuple[Any, ...]:
        """A function and its arguments that answer for a partition, which may have to be loaded."""

    def _kept(self, question: Question, number: int) -> tuple[Any, ...]:
        """The same, without what is needed to load it if that is dear."""
        return self._loading(question, number)

    def _submit(self, question: Question, numbers: Sequence[int]) -> _Answers:
        return _Answers(self, question, numbers)

    def _send(self, number: int, *task: Any) -> distributed.Future:
        """Sends a task to the worker that prepared the partition. If that has no time, or is gone,
        another one takes it."""
        home = self._homes.get(number)
        return self._client.submit(
            *task,
            pure=False,
            retries=RETRIES,
            workers=None if home is None else [home],
            allow_other_workers=home is not None,
        )

    def _settle(self) -> None:
        """Gives partitions that have no home one, evenly."""
        known = sorted(self._client.scheduler_info(n_workers=-1)["workers"])
        for number in range(len(self)):
            if self._homes.get(number) not in known and known:
                self._homes[number] = known[number % len(known)]


class _Answers:
    """A question on its way to all partitions."""

    def __init__(self, dataset: DaskDataset, question: Question, numbers: Sequence[int]) -> None:
        self._dataset, self._question, self._numbers = dataset, question, numbers
        is_kept = [number in dataset._homes for number in numbers]
        dataset._settle()
        self._futures = [
            dataset._send(number, *(dataset._kept if kept else dataset._loading)(question, number))
            for number, kept in zip(numbers, is_kept, strict=True)
        ]

    def poll(self, seconds: float) -> list[bytes] | None:
        """See :class:`unjitter.scale._dataset.Pass`."""
        try:
            distributed.wait(self._futures, timeout=seconds)
        except TimeoutError:
            failed = [future for future in self._futures if future.status == "error"]
            if failed:
                # Before the rest is cancelled: what failed would be, too, and not say why.
                try:
                    failed[0].result()
                finally:
                    self.cancel()
            return None
        answers = self._dataset._client.gather(self._futures)
        missing = [k for k, answer in enumerate(answers) if answer is None]
        for k in missing:
            task = self._dataset._loading(self._question, self._numbers[k])
            self._futures[k] = self._dataset._send(self._numbers[k], *task)
        return None if missing else answers

    def cancel(self) -> None:
        """See :class:`unjitter.scale._dataset.Pass`."""
        self._dataset._client.cancel(self._futures)


class _Files(DaskDataset):
    """Parquet files that workers read themselves."""

    def __init__(
        self, client: distributed.Client, parts: list[FilePartition], memory: int | None
    ) -> None:
        super().__init__(client, memory)
        self._parts = parts

    def __len__(self) -> int:
        return len(self._parts)

    def _loading(self, question: Question, number: int) -> tuple[Any, ...]:
        return (_answer, question, self._token, number, self._parts[number], self._memory)

    def _frame(self, question: Tabulate) -> Any:
        meta = question.schema().empty_table().to_pandas()
        return dd.from_map(_table_of_part, self._parts, question=question, meta=meta)

    def _is_dated(self) -> bool:
        return self._parts[0].dated


def _table_of_part(part: FilePartition, question: Tabulate) -> pd.DataFrame:
    return question.table(part()).to_pandas()


class _Frames(DaskDataset):
    """Frames of Dask. Workers keep the sessions, not the frames, which are computed again if a
    worker is lost."""

    def __init__(
        self,
        client: distributed.Client,
        layout: Layout,
        instances: dd.DataFrame,
        events: pa.Table,
        memory: int | None,
    ) -> None:
        super().__init__(client, memory)
        schema = pa.Schema.from_pandas(instances._meta_nonempty, preserve_index=False)
        self._layout = layout.of_instances(schema, "instances")
        self._dated = pa.types.is_timestamp(schema.field(layout.time).type)
        self._instances = instances[self._layout.of_instances_columns(schema)]
        # As a task and not as scattered data, so that it is not lost with a worker.
        self._events = client.submit(_itself, events, pure=False)
        self._is_shuffled = False

    def __len__(self) -> int:
        return int(self._instances.npartitions)

    @cached_property
    def _delayed(self) -> list[Any]:
        return list(self._instances.to_delayed())

    def _loading(self, question: Question, number: int) -> tuple[Any, ...]:
        frame = self._client.compute(self._delayed[number], retries=RETRIES)
        about = (self._layout, self._events, self._memory)
        return (_answer_of_frame, question, self._token, number, frame, *about)

    def _kept(self, question: Question, number: int) -> tuple[Any, ...]:
        return (_answer, question, self._token, number, _NotHere(), self._memory)

    def _gathered(self, twice: str) -> bool:
        if self._is_shuffled:
            return False
        log.info("session %s is in two partitions; shuffling all", twice)
        self._is_shuffled = True
        self._instances = self._instances.shuffle(on=self._layout.session)
        del self._delayed
        self._homes.clear()
        return True

    def _frame(self, question: Tabulate) -> Any:
        meta = question.schema().empty_table().to_pandas()
        self.sizes()
        return self._instances.map_partitions(
            _table_of_frame,
            question,
            self._layout,
            delayed(self._events),
            meta=meta,
            enforce_metadata=False,
        )

    def _is_dated(self) -> bool:
        return bool(self._dated)


def _itself(value: Any) -> Any:
    return value


def _table_of_frame(
    frame: pd.DataFrame, question: Tabulate, layout: Layout, events: pa.Table
) -> pd.DataFrame:
    return question.table(_Frame(layout, frame, events, "a partition")()).to_pandas()
