"""Recordings with true labels: simulated windows, and real sets where they lie beside the checkout.

The simulation is that of `python/examples/windows.py`: raw windows with a bump of any width,
place and height where there is an event, and now and then a spike or a drift where there is none.
The real sets are read from `../shared/data`; nothing of them is kept. Times are in median spacings
of instances from the start of the recording, so that one noise family suits all sets.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"
REAL = ("gait_turn", "pvc_mitbih")
SAMPLES = 24  # per simulated window
FOLDS = 3


@dataclass(frozen=True)
class Recording:
    """Features (instances x features), times, labels; stamps are drawn later."""

    name: str
    group: str
    features: np.ndarray
    times: np.ndarray
    labels: np.ndarray
    stamps: np.ndarray = field(default_factory=lambda: np.zeros(0))


def simulated(
    seed: int, recordings: int, windows: int = 80, rate: float = 0.1, clutter: float = 0.35
) -> list[Recording]:
    """Recordings of raw windows; `clutter` is the standard deviation of the signal's noise."""
    random = np.random.default_rng(seed)
    return [_one(random, f"window-{i}", windows, rate, clutter) for i in range(recordings)]


def _one(random, name: str, windows: int, rate: float, clutter: float) -> Recording:
    clock = np.linspace(0.0, 1.0, SAMPLES)
    column = (windows, 1)
    labels = (random.random(windows) < rate).astype(int)
    centre, width = random.uniform(0.3, 0.7, column), random.uniform(0.08, 0.2, column)
    bump = random.uniform(0.8, 1.6, column) * np.exp(-0.5 * ((clock - centre) / width) ** 2)
    spike = random.uniform(1.0, 2.5, column) * (np.abs(clock - centre) < 0.03)
    drift = random.uniform(-1.5, 1.5, column) * (clock - 0.5)
    kind = random.random(column)
    other = np.where(kind < 0.2, spike, np.where(kind < 0.4, drift, 0.0))
    signal = clutter * random.standard_normal((windows, SAMPLES))
    signal += np.where(labels[:, None] == 1, bump, other)
    return Recording(name, name, signal, np.arange(windows) + 0.5, labels)


def real(name: str) -> list[Recording]:
    """The recordings of a folder of `../shared/data`."""
    with open(SHARED / name / "sessions.csv") as file:
        group = {row["session"]: row["group"] for row in csv.DictReader(file)}
    rows = defaultdict(list)
    with open(SHARED / name / "instances.csv") as file:
        for row in csv.DictReader(file):
            rows[row.pop("session")].append([float(value) for value in row.values()])
    tables = {session: np.array(lines) for session, lines in rows.items()}
    # Columns: time, features, label.
    spacing = np.median(np.concatenate([np.diff(table[:, 0]) for table in tables.values()]))
    return [
        Recording(
            session,
            group[session],
            table[:, 1:-1],
            (table[:, 0] - table[0, 0]) / spacing,
            table[:, -1].astype(int),
        )
        for session, table in tables.items()
    ]


def present() -> list[str]:
    """Names of the real sets that are here."""
    return [name for name in REAL if (SHARED / name / "instances.csv").is_file()]


def split(recordings: list[Recording], seed: int) -> tuple[list[Recording], list[Recording]]:
    """Training and held-out recordings: fold `seed` of three, and no group in both.

    Groups are dealt in the order of their events, so that folds have about as many each; seeds 0,
    1 and 2 together hold out every recording once.
    """
    events = defaultdict(int)
    for recording in recordings:
        events[recording.group] += int(recording.labels.sum())
    ranked = sorted(events, key=lambda group: (-events[group], group))
    held = {group for rank, group in enumerate(ranked) if rank % FOLDS == seed % FOLDS}
    return (
        [recording for recording in recordings if recording.group not in held],
        [recording for recording in recordings if recording.group in held],
    )
