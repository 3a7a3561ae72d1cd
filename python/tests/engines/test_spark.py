"""Clusters of Spark: executors in processes of their own, and Spark Connect."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import psutil
import pytest
from conftest import SESSIONS, detector, same_bits
from pyspark.sql import DataFrame, SparkSession

from unjitter.spark import dataset

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "4",
    "spark.executor.memory": "512m",
    "spark.driver.host": "127.0.0.1",
    "spark.python.worker.faulthandler.enabled": "true",
}


# Executors take the first `python3` of the path otherwise.
os.environ["PYSPARK_PYTHON"] = sys.executable


@pytest.fixture(scope="module")
def spark():
    """Two executors of one core."""
    builder = SparkSession.builder.master("local-cluster[2,1,512]").appName("tests")
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    yield session
    session.stop()


def frames(spark, tables, partitions=3):
    """Rows in any order, sessions over several partitions."""
    instances, events = tables
    mixed = instances.sample(frac=1.0, random_state=0)
    return spark.createDataFrame(mixed).repartition(partitions), spark.createDataFrame(events)


@pytest.mark.parametrize("partitions", [1, 7, 64])
def test_partitions_change_no_bit(spark, tables, in_memory, tmp_path, partitions):
    own = dataset(*frames(spark, tables), staging=tmp_path, partitions=partitions)
    assert len(own) == partitions
    assert same_bits(detector().fit(own), in_memory)
    if partitions == 7:
        # Two fits in a row.
        assert same_bits(detector().fit(own), in_memory)
    own.close()


def python_workers() -> list[psutil.Process]:
    """All processes of Spark below this one that run Python; one may end while it is asked."""
    found = []
    for own in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            if "pyspark.daemon" in " ".join(own.cmdline()):
                found.append(own)
    return found


def test_killed_workers_change_no_bit(spark, tables, in_memory, tmp_path):
    own = dataset(*frames(spark, tables), staging=tmp_path, partitions=4)
    own.sizes()
    killed = []

    def kill():
        while own.passes < 3:
            time.sleep(0.001)
        for worker in python_workers():
            with contextlib.suppress(psutil.NoSuchProcess):
                worker.kill()
                killed.append(worker.pid)
        killed.append(-own.passes)

    killer = threading.Thread(target=kill)
    killer.start()
    found = detector().fit(own)
    killer.join()
    assert len(killed) > 1 and -killed[-1] < own.passes
    assert same_bits(found, in_memory)


def test_tables_are_lazy_and_as_in_memory(spark, tables, sessions, in_memory, tmp_path):
    own = dataset(*frames(spark, tables), staging=tmp_path, partitions=3)
    aligned = in_memory.align(own)
    assert isinstance(aligned, DataFrame)
    order = ["session", "stamp"]
    table = aligned.toPandas().sort_values(order, ignore_index=True)
    want = in_memory.align(sessions, backend="pandas").sort_values(order, ignore_index=True)
    for name in ("time", "low", "high", "p_spurious"):
        np.testing.assert_array_equal(table[name], want[name])
    predicted = in_memory.predict(own).toPandas().sort_values(["session", "time"])
    want = np.concatenate([in_memory.predict_proba(one)[:, 1] for one in sessions])
    np.testing.assert_array_equal(predicted["probability"], want)
    assert in_memory.score(own) == pytest.approx(in_memory.score(sessions), abs=1e-12)
    scores = detector().cross_validate(own, folds=2)
    assert sum(score.sessions for score in scores) == SESSIONS


def test_a_part_is_kept_and_the_rest_read_again(spark, tables, in_memory, tmp_path):
    kept = SESSIONS * 150 * 20 // 3 // 2
    own = dataset(*frames(spark, tables), staging=tmp_path, partitions=7, memory=kept)
    assert same_bits(detector().fit(own), in_memory)


def test_mistakes_come_back_and_a_fit_can_be_stopped(spark, tables, tmp_path):
    instances, events = tables
    wild = instances.assign(a=instances["a"].where(instances["session"] != "s03", np.inf))
    own = dataset(*frames(spark, (wild, events)), staging=tmp_path, partitions=3)
    with pytest.raises(Exception, match="session s03: 'a' of instance 0 is inf"):
        detector().fit(own)
    own = dataset(*frames(spark, tables), staging=tmp_path, partitions=64)
    own.sizes()

    def interrupt():
        while own.passes < 2:
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt).start()
    before = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        detector().fit(own)
    # Sixty-four tasks of a pass take longer.
    assert time.monotonic() - before < 60


CONNECT = """
import sys
import pandas as pd
from pyspark.sql import SparkSession
from unjitter import EventDetector
from unjitter.spark import dataset

folder = sys.argv[1]
spark = SparkSession.builder.remote("local[2]").getOrCreate()
tables = [spark.read.parquet(f"{folder}/{name}.parquet") for name in ("instances", "events")]
own = dataset(*tables, staging=folder, partitions=3)
EventDetector(sample=200, n_jobs=1).fit(own).save(f"{folder}/model.json")
assert EventDetector.load(f"{folder}/model.json").align(own).count() > 0
spark.stop()
"""


def test_spark_connect(tables, in_memory, tmp_path):
    """In a process of its own: a session of Connect and one of a cluster do not mix."""
    instances, events = tables
    instances.to_parquet(tmp_path / "instances.parquet")
    events.to_parquet(tmp_path / "events.parquet")
    code = [sys.executable, "-W", "ignore", "-c", CONNECT, str(tmp_path)]
    subprocess.run(code, check=True, timeout=240)
    in_memory.save(tmp_path / "want.json")
    found, want = ((tmp_path / name).read_text() for name in ("model.json", "want.json"))
    assert found == want
