"""Measures passes of engines, in their environment; the last line printed is JSON."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

LENGTH, STAMPS, COLUMNS = 5_000, 100, 8
SIZES = [100_000, 1_000_000, 10_000_000]
ROUNDS = 7
CORES = 2


@dataclass(frozen=True)
class Nothing:
    """A question without work."""

    def __call__(self, place: Any) -> bytes:
        return b""


def write(folder: Path, instances: int) -> None:
    """Recordings in files of 50 sessions."""
    random = np.random.default_rng(1)
    (folder / "instances").mkdir(parents=True)
    events = []
    for first in range(0, instances // LENGTH, 50):
        names = range(first, min(first + 50, instances // LENGTH))
        label = random.random((len(names), LENGTH)) < STAMPS / LENGTH
        X = random.standard_normal((len(names), LENGTH, COLUMNS), dtype=np.float32)
        X[label] += 1.5
        time = np.tile(np.arange(LENGTH, dtype=float), len(names))
        session = np.repeat([f"s{k:06}" for k in names], LENGTH)
        columns = {f"x{k}": X[:, :, k].ravel() for k in range(COLUMNS)}
        table = pa.table({"session": session, "time": time, **columns})
        pq.write_table(table, folder / "instances" / f"{first:06}.parquet")
        pressed = np.flatnonzero(label.ravel())
        at = time[pressed] + random.normal(2.0, 1.5, len(pressed))
        events.append(pa.table({"session": session[pressed], "time": at}))
    pq.write_table(pa.concat_tables(events), folder / "events.parquet")


def timed(work: Callable[[], Any]) -> float:
    """Seconds of a run."""
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def rows_of(name: str, dataset: Any, work: Callable[[], Any], question: Any) -> dict[str, Any]:
    """A pass beside its work and its tasks, in turns."""
    everywhere = range(len(dataset))
    dataset._ask(question, everywhere)
    dataset._ask(question, everywhere)
    found = [
        (
            timed(lambda: dataset._ask(question, everywhere)),
            timed(work) / CORES + timed(lambda: dataset._ask(Nothing(), everywhere)),
        )
        for _ in range(ROUNDS)
    ]
    ours, beside = (float(np.median([pair[k] for pair in found])) for k in (0, 1))
    low, ratio, high = np.quantile([a / b for a, b in found], [0.25, 0.5, 0.75])
    print(f"{name}: {ours:.3f} s, {ratio:.2f}", file=sys.stderr, flush=True)
    return {
        "case": name,
        "peer": "work / 2 cores + empty tasks",
        "way": "ours / peer",
        "ours_seconds": ours,
        "peer_seconds": beside,
        "low": low,
        "ratio": ratio,
        "high": high,
        "goal": 1.3,
    }


def main() -> None:
    """Measures all engines at all sizes."""
    warnings.simplefilter("ignore")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    import distributed
    from pyspark.sql import SparkSession
    from unjitter import EventDetector, parquet
    from unjitter import dask as on_dask
    from unjitter import spark as on_spark
    from unjitter.scale._questions import Evaluate, Place, forget

    rows = []
    builder = SparkSession.builder.master("local-cluster[2,1,1024]").appName("bench")
    for setting, value in {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.log.level": "ERROR",
        "spark.locality.wait": "30s",
    }.items():
        builder = builder.config(setting, value)
    with (
        tempfile.TemporaryDirectory() as scratch,
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        spark = builder.getOrCreate()
        model, params = "", np.zeros((1, 0))
        for instances in SIZES:
            folder = Path(scratch) / str(instances)
            write(folder, instances)
            files = (folder / "instances", folder / "events.parquet")
            partition = max(LENGTH * 10, instances // 20)
            local = parquet.dataset(*files, rows=partition)
            if not model:
                fitted = EventDetector(sample=500, restarts=0).fit(local)
                model = fitted._fitted.to_json()
                params = np.array([fitted._fitted.unconstrained()])
            question = Evaluate(model, params, False)
            places = [Place("work", k, part, 2**40, 1) for k, part in enumerate(local._parts)]
            alone = [question(place) for place in places]

            def work(places: Any = places, question: Any = question) -> list[bytes]:
                return [question(place) for place in places]

            assert work() == alone
            size = f"{instances:,} instances"
            engines = {"threads, files kept": local}
            engines["Dask"] = on_dask.dataset(*files, client=client, rows=partition)
            tables = [spark.read.parquet(str(path)) for path in files]
            engines["Spark"] = on_spark.dataset(
                *tables, staging=scratch, partitions=len(local), memory=2**40
            )
            for name, dataset in engines.items():
                rows.append(rows_of(f"{name}, {size}", dataset, work, question))
            again = parquet.dataset(*files, rows=partition, memory=0)
            row = rows_of(f"threads, files read again, {size}", again, work, question)
            rows.append({**row, "goal": None})
            forget("work")
            local.close()
        spark.stop()
    print(json.dumps(rows))


if __name__ == "__main__":
    main()
