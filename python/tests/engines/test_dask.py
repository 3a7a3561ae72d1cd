"""Clusters of Dask, in processes of their own."""

from __future__ import annotations

import os
import signal
import threading
import time

import dask.dataframe as dd
import distributed
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import SESSIONS, detector, same_bits

from unjitter import EventDetector
from unjitter.dask import dataset


@pytest.fixture(scope="module")
def client():
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def by_partitions(tables, count):
    """A frame of so many partitions, dealt out by session; some are empty if there are many."""
    instances, events = tables
    number = instances["session"].str[1:].astype(int) % count
    parts = [instances[number == k] for k in range(count)]
    meta = instances.iloc[:0]
    return dd.from_map(lambda part: part, parts, meta=meta), events


@pytest.mark.parametrize("count", [1, 7, 64])
def test_partitions_change_no_bit(client, tables, in_memory, count):
    own = dataset(*by_partitions(tables, count), client=client)
    assert len(own) == count
    assert same_bits(detector().fit(own), in_memory)
    # Two fits in a row.
    assert same_bits(detector().fit(own), in_memory)


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_workers_change_no_bit(tables, folder, in_memory, workers):
    with (
        distributed.LocalCluster(
            n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        frames = dataset(*by_partitions(tables, 7), client=client)
        assert same_bits(detector().fit(frames), in_memory)
        files = dataset(folder / "instances", folder / "events.parquet", client=client, rows=500)
        assert same_bits(detector().fit(files), in_memory)


def test_a_session_in_two_partitions_is_brought_together(client, tables, in_memory):
    instances, events = tables
    split = dd.from_pandas(instances.sample(frac=1.0, random_state=0), npartitions=3, sort=False)
    own = dataset(split, dd.from_pandas(events, npartitions=2), client=client)
    assert same_bits(detector().fit(own), in_memory)


def test_a_killed_worker_changes_no_bit(tables, folder, in_memory):
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        for own in (
            dataset(*by_partitions(tables, 7), client=client),
            dataset(folder / "instances", folder / "events.parquet", client=client, rows=500),
        ):
            pid, killed_at = next(iter(client.run(os.getpid).values())), []

            def kill(own=own, pid=pid, killed_at=killed_at):
                while own.passes < 3:
                    time.sleep(0.001)
                os.kill(pid, signal.SIGKILL)
                killed_at.append(own.passes)

            killer = threading.Thread(target=kill)
            killer.start()
            found = detector().fit(own)
            killer.join()
            assert killed_at[0] < own.passes
            assert same_bits(found, in_memory)


def test_tables_are_lazy_and_as_in_memory(client, tables, sessions, in_memory, folder):
    for own in (
        dataset(*by_partitions(tables, 7), client=client),
        dataset(folder / "instances", folder / "events.parquet", client=client, rows=500),
    ):
        aligned = in_memory.align(own)
        assert isinstance(aligned, dd.DataFrame)
        order = ["session", "stamp"]
        table = aligned.compute().sort_values(order, ignore_index=True)
        want = in_memory.align(sessions, backend="pandas").sort_values(order, ignore_index=True)
        for name in ("time", "low", "high", "p_spurious"):
            np.testing.assert_array_equal(table[name], want[name])
        predicted = in_memory.predict(own).compute().sort_values(["session", "time"])
        want = np.concatenate([in_memory.predict_proba(one)[:, 1] for one in sessions])
        np.testing.assert_array_equal(predicted["probability"], want)
        assert in_memory.score(own) == pytest.approx(in_memory.score(sessions), abs=1e-12)
    scores = detector().cross_validate(own, folds=2)
    assert sum(score.sessions for score in scores) == SESSIONS


def test_a_part_is_kept_and_the_rest_read_again(client, folder, in_memory):
    kept = SESSIONS * 150 * 20 // 3 // 2
    own = dataset(
        folder / "instances", folder / "events.parquet", client=client, rows=500, memory=kept
    )
    assert same_bits(detector().fit(own), in_memory)


def test_three_times_the_memory_of_the_worker(tmp_path):
    """1.8 GB of features, as loaded, for a worker of 600 MB, which Dask would stop at more."""
    random = np.random.default_rng(1)
    sessions, length, columns = 1875, 10_000, 12
    events = []
    (tmp_path / "instances").mkdir()
    for first in range(0, sessions, 25):
        labels = random.random(25 * length) < 0.01
        X = random.standard_normal((columns, 25 * length), dtype=np.float32) + 2.0 * labels
        # Whole numbers make small files.
        X = (20.0 * X).astype(np.int8)
        times = np.tile(np.arange(float(length)), 25)
        names = np.repeat([f"s{first + k:04}" for k in range(25)], length)
        table = {"session": names, "time": times} | {f"x{k}": X[k] for k in range(columns)}
        path = tmp_path / "instances" / f"{first:04}.parquet"
        pq.write_table(pa.table(table), path, compression="none", use_dictionary=["session"])
        pressed = np.flatnonzero(labels)
        delays = random.normal(2.0, 1.0, len(pressed))
        events.append(pa.table({"session": names[pressed], "time": times[pressed] + delays}))
    pq.write_table(pa.concat_tables(events), tmp_path / "events.parquet")
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, memory_limit="600MiB", dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        (before,) = client.run(os.getpid).values()
        own = dataset(tmp_path / "instances", tmp_path / "events.parquet", client=client, rows=1)
        found = EventDetector(sample=4000, restarts=0, n_jobs=1).fit(own)
        # It was never killed.
        assert list(client.run(os.getpid).values()) == [before]
    assert found.converged_ and own.passes > 3, own.passes
    assert found.delay_ == pytest.approx(2.0, abs=0.02)
    assert found.spread_ == pytest.approx(1.0, abs=0.02)


def test_mistakes_come_back_and_a_fit_can_be_stopped(client, tables, monkeypatch):
    instances, events = by_partitions(tables, 7)

    def spoil(part: pd.DataFrame) -> pd.DataFrame:
        return part.assign(a=part["a"].where(part["session"] != "s03", np.inf))

    with pytest.raises(ValueError, match="partition 3: session s03: 'a' of instance 0 is inf"):
        detector().fit(dataset(instances.map_partitions(spoil), events, client=client))

    own = dataset(*by_partitions(tables, 64), client=client)
    own.sizes()

    def interrupt():
        while own.passes < 2:
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    submit, passes = own._submit, []
    monkeypatch.setattr(own, "_submit", lambda *of: passes.append(submit(*of)) or passes[-1])
    threading.Thread(target=interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        detector().fit(own)
    # The scheduler hears of it a moment later.
    assert all(future.status != "pending" for future in passes[-1]._futures)
