"""Recordings as tables, and the fit in memory that all engines must repeat."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from unjitter import EventDetector, sessions_from_frames

SESSIONS, INSTANCES = 40, 150
# Few enough stamps that the sample is a part of the sessions.
SAMPLE = 200


def detector() -> EventDetector:
    """With passes over all sessions."""
    return EventDetector(sample=SAMPLE, n_jobs=1)


@pytest.fixture(scope="session")
def tables() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Instances and events; features in single precision."""
    random = np.random.default_rng(7)
    instances, events = [], []
    for k in range(SESSIONS):
        times = np.cumsum(random.uniform(0.5, 1.5, INSTANCES))
        label = (random.random(INSTANCES) < 0.1).astype(int)
        X = random.normal(size=(INSTANCES, 3)) + 1.5 * label[:, None]
        own = pd.DataFrame(X.astype(np.float32), columns=["a", "b", "c"])
        own.insert(0, "session", f"s{k:02}")
        own.insert(1, "time", times)
        instances.append(own.assign(label=label, subject=f"p{k // 2:02}"))
        pressed = times[label == 1] + random.normal(1.5, 0.7, label.sum())
        events.append(pd.DataFrame({"session": f"s{k:02}", "time": np.sort(pressed)}))
    return pd.concat(instances, ignore_index=True), pd.concat(events, ignore_index=True)


@pytest.fixture(scope="session")
def sessions(tables):
    """The same in memory, in order of names."""
    return sessions_from_frames(*tables)


@pytest.fixture(scope="session")
def in_memory(sessions) -> EventDetector:
    """Learned in memory."""
    return detector().fit(sessions)


def same_bits(one: EventDetector, other: EventDetector) -> bool:
    """Whether two model files are the same."""
    return one._fitted.to_json() == other._fitted.to_json()


@pytest.fixture(scope="session")
def folder(tables, tmp_path_factory):
    """Parquet files, in which some sessions are split over two."""
    path = tmp_path_factory.mktemp("parquet")
    instances, events = (pa.Table.from_pandas(table, preserve_index=False) for table in tables)
    (path / "instances").mkdir()
    # Not at the ends of sessions.
    for k, start in enumerate(range(0, len(instances), 1700)):
        pq.write_table(
            instances.slice(start, 1700), path / "instances" / f"{k}.parquet", row_group_size=400
        )
    pq.write_table(events, path / "events.parquet")
    return path
