"""Recordings that every library can hold: pulses and bouts in noise, and presses that are late."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from unjitter import EventDetector

RATE = 50.0
SECONDS = 400.0
# Of the pulses that presses are about, in samples.
LASTING = 25


class Pulses(NamedTuple):
    """Samples, when pulses began, and when somebody pressed."""

    samples: np.ndarray
    true: np.ndarray
    pressed: np.ndarray


def pulses(seed: int) -> Pulses:
    """Pulses at off-grid times, pressed late and sloppily, in order."""
    random = np.random.default_rng(seed)
    true = np.cumsum(random.uniform(8.0, 16.0, size=40))
    true = true[true < SECONDS - 8.0]
    samples = random.normal(size=int(SECONDS * RATE))
    for begin in true:
        first = round(begin * RATE)
        samples[first : first + LASTING] += 4.0
    pressed = np.sort(true + random.normal(1.0, 0.5, size=len(true)))
    return Pulses(samples, true, pressed)


@pytest.fixture(scope="session")
def recorded() -> Pulses:
    return pulses(3)


class Bouts(NamedTuple):
    """Samples, when bouts began and ended, and when somebody said so."""

    samples: np.ndarray
    true: np.ndarray
    told: np.ndarray


@pytest.fixture(scope="session")
def lasting() -> Bouts:
    """Bouts of some seconds, both ends of which were told late and sloppily, in order."""
    random = np.random.default_rng(5)
    begins = np.arange(5.0, SECONDS - 15.0, 12.0) + random.uniform(0.0, 4.0, size=32)
    true = np.column_stack([begins, begins + random.uniform(2.0, 5.0, size=32)])
    times = np.arange(int(SECONDS * RATE)) / RATE
    samples = random.normal(size=len(times))
    for begin, end in true:
        samples[(times >= begin) & (times < end)] += 4.0
    late = random.normal([0.4, 0.6], [0.4, 0.6], size=true.shape)
    return Bouts(samples, true, true + late)


def nearer(told, found, true) -> bool:
    """Whether bouts are far nearer to true ones than they were told, at both ends."""
    before, after = (np.abs(np.asarray(own) - true).mean(axis=0) for own in (told, found))
    # Windows are half a second apart, and what is told is late by half a second on average.
    return bool(np.all(after < 0.6 * before))


def detector() -> EventDetector:
    """Labels of windows that overlap are not independent, but one window in a few is enough."""
    return EventDetector(restarts=2, n_jobs=1)


# Windows of the length of a pulse, each beginning where the one before ends.
WINDOWS = {"length": 0.5, "step": 0.25, "anchor": "start"}
# Windows of bouts, each of which is in a bout or not.
APART = {"length": 0.5, "step": 0.5, "anchor": "centre"}


def closer(aligned, true) -> bool:
    """Whether aligned stamps are far nearer to the truth, but for their common delay."""

    def scatter(times):
        nearest = true[np.abs(np.subtract.outer(np.asarray(times), true)).argmin(axis=1)]
        return np.std(np.asarray(times) - nearest)

    # Windows are a quarter of a second apart, presses scatter by half a second.
    return scatter(aligned["time"]) < 0.5 * scatter(aligned["stamp"])
