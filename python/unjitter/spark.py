"""Sessions on a cluster of Spark::

    from unjitter import EventDetector
    from unjitter.spark import dataset

    sessions = dataset(instances, events, staging="s3://bucket/scratch")
    detector = EventDetector().fit(sessions)
    aligned = detector.align(sessions)  # a Spark DataFrame

It uses the DataFrame API only, so a session of Spark Connect will do. Rows are written once, by
session, into a folder that all workers can read. Python workers load their partitions from there
and keep them between passes; one that was lost, or has none, loads them again.
"""

from __future__ import annotations

import os
import threading
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
from pyarrow import fs
from pyspark.sql import DataFrame, functions

from ._session import Session
from .scale._dataset import Dataset, log
from .scale._layout import Layout, Size
from .scale._questions import Place, Tabulate, half_of_memory

__all__ = ["SparkDataset", "dataset"]

# The column of the partition's number.
PART = "unjitter_part"


def dataset(
    instances: DataFrame,
    events: DataFrame,
    *,
    staging: str | os.PathLike[str],
    session: str = "session",
    time: str = "time",
    features: Sequence[str] | None = None,
    label: str = "label",
    subject: str = "subject",
    annotator: str = "annotator",
    end: str | None = "end",
    duration: str = "duration",
    partitions: int | None = None,
    memory: int | None = None,
) -> SparkDataset:
    """Sessions in frames of Spark.

    Parameters
    ----------
    instances, events : pyspark.sql.DataFrame
        One row per instance and per stamp, as in :func:`unjitter.sessions_from_frames`.
    staging : path
        A folder that all workers can read and write, such as one of HDFS, S3 or NFS; on one
        machine, any. A new folder inside takes the rows, and is yours to delete.
    session, time, features, label, subject, annotator, end, duration
        The columns. Stamps that tell when something ended, or how long it lasted, are of bouts,
        unless `end` is None.
    partitions : int, optional
        Into how many parts sessions are dealt; by default ``spark.sql.shuffle.partitions``.
    memory : int, optional
        Bytes of features that a Python worker keeps between passes; by default its share of half of
        the machine's memory.

    Returns
    -------
    SparkDataset
        For :meth:`unjitter.EventDetector.fit` and the like.
    """
    names = None if features is None else tuple(features)
    layout = Layout(session, time, names, label, subject, annotator, end, duration)
    spark = instances.sparkSession
    parts = int(partitions or spark.conf.get("spark.sql.shuffle.partitions") or 200)
    if parts < 1:
        raise ValueError(f"partitions is {partitions}, expected a number above 0")
    schema = instances.limit(0).toArrow().schema
    layout = layout.of_instances(schema, "instances")
    of_events = layout.of_events_columns(events.limit(0).toArrow().schema, "events")
    root = f"{os.fspath(staging).rstrip('/')}/unjitter-{uuid.uuid4().hex[:12]}"
    staged = Staged(layout, root, tuple(layout.of_instances_columns(schema)), tuple(of_events))
    log.info("writing rows by session into %s", root)
    for frame, columns, table in (
        (instances, staged.columns, "instances"),
        (events, staged.of_events, "events"),
    ):
        name = functions.col(layout.session).cast("string")
        number = functions.pmod(functions.xxhash64(name), functions.lit(parts)).cast("int")
        dealt = frame.select(*columns).withColumn(PART, number)
        dealt.repartition(parts, PART).write.partitionBy(PART).parquet(f"{root}/{table}")
    return SparkDataset(spark, staged, parts, memory, _is_dated(schema, layout))


def _is_dated(schema: pa.Schema, layout: Layout) -> bool:
    return bool(pa.types.is_timestamp(schema.field(layout.time).type))


@dataclass(frozen=True)
class Staged:
    """Rows of a partition, in files."""

    layout: Layout
    root: str
    columns: tuple[str, ...]
    of_events: tuple[str, ...]
    number: int = 0

    def __call__(self) -> list[Session]:
        """Its sessions."""
        return self._told(self.layout.sessions, self.columns)

    def sizes(self) -> list[Size]:
        """What is known of them without their features."""
        known = [
            name for name in self.columns if name in (self.layout.session, self.layout.subject)
        ]
        return self._told(self.layout.sizes, tuple(known))

    def _told(
        self, tell: Callable[[pa.Table, pa.Table, str], list[Any]], columns: tuple[str, ...]
    ) -> list[Any]:
        instances = self._read("instances", columns)
        if instances is None:
            return []
        events = self._read("events", self.of_events)
        if events is None:
            events = pa.table({name: pa.array([], pa.float64()) for name in self.of_events})
        return tell(instances, events, f"{self.root}/instances/{PART}={self.number}")

    def _read(self, table: str, columns: tuple[str, ...]) -> pa.Table | None:
        path = f"{self.root}/{table}/{PART}={self.number}"
        system, inside = (
            fs.FileSystem.from_uri(path) if ":" in path else (fs.LocalFileSystem(), path)
        )
        if system.get_file_info(inside).type == fs.FileType.NotFound:
            return None
        return ds.dataset(inside, filesystem=system, format="parquet").to_table(list(columns))


@dataclass(frozen=True)
class _Ask:
    """What a Python worker does with the numbers of partitions."""

    question: Callable[[Place], bytes]
    token: str
    staged: Staged
    memory: int | None

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                yield from self.answers(number)

    def answers(self, number: int) -> Iterator[pa.RecordBatch]:
        """The answer of a partition."""
        # Spark sets it to the cores of a task.
        threads = int(os.environ.get("OMP_NUM_THREADS") or 1)
        share = half_of_memory() // (os.cpu_count() or 1) * threads
        memory = share if self.memory is None else self.memory
        place = Place(self.token, number, replace(self.staged, number=number), memory, threads)
        answer = pa.array([self.question(place)], pa.binary())
        yield pa.record_batch({"number": pa.array([number], pa.int64()), "answer": answer})


class _Tables(_Ask):
    """The same for tables."""

    def answers(self, number: int) -> Iterator[pa.RecordBatch]:
        """The table of a partition."""
        question: Any = self.question
        sessions = replace(self.staged, number=number)()
        yield from question.table(sessions).to_batches()


class SparkDataset(Dataset):
    """See :func:`dataset`."""

    def __init__(
        self, spark: Any, staged: Staged, parts: int, memory: int | None, dated: bool
    ) -> None:
        super().__init__()
        self._spark, self._staged, self._memory, self._dated = spark, staged, memory, dated
        self._parts = parts
        # Kept by Spark, so that a number goes to the executor that had it before.
        self._numbers = spark.range(0, parts, 1, numPartitions=parts).persist()

    def __len__(self) -> int:
        """Number of partitions."""
        return self._parts

    def _submit(self, question: Callable[[Place], bytes], numbers: Sequence[int]) -> _Job:
        ask = _Ask(question, self._token, self._staged, self._memory)
        own = self._numbers
        if len(numbers) < self._parts:
            own = own.where(functions.col("id").isin(list(numbers)))
        return _Job(self._spark, own.mapInArrow(ask.__call__, "number long, answer binary"))

    def _frame(self, question: Tabulate) -> DataFrame:
        ask = _Tables(question, self._token, self._staged, self._memory)
        kinds = {
            pa.string(): "string",
            pa.float64(): "double",
            pa.int64(): "long",
            pa.bool_(): "boolean",
            pa.timestamp("ns"): "timestamp_ntz",
        }
        # Names of classes may be any text.
        named = ((own.name.replace("`", "``"), kinds[own.type]) for own in question.schema())
        columns = ", ".join(f"`{name}` {kind}" for name, kind in named)
        return self._numbers.mapInArrow(ask.__call__, columns)

    def _is_dated(self) -> bool:
        return self._dated

    def close(self) -> None:
        """Lets Spark forget the numbers of partitions; the staged rows stay."""
        super().close()
        self._numbers.unpersist()


class _Job:
    """A question that Spark works on."""

    def __init__(self, spark: Any, asked: DataFrame) -> None:
        self._spark, self._asked, self._tag = spark, asked, f"unjitter-{uuid.uuid4().hex}"
        self._answers: list[bytes] | None = None
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._spark.addTag(self._tag)
            rows = sorted(self._asked.collect(), key=lambda row: row["number"])
            self._answers = [bytes(row["answer"]) for row in rows]
        except BaseException as failure:
            self._failure = failure

    def poll(self, seconds: float) -> list[bytes] | None:
        """See :class:`unjitter.scale._dataset.Pass`."""
        self._thread.join(seconds)
        if self._failure is not None:
            raise self._failure
        return self._answers

    def cancel(self) -> None:
        """See :class:`unjitter.scale._dataset.Pass`."""
        self._spark.interruptTag(self._tag)
        self._thread.join()
