"""A recording that every library can hold: pulses in noise, and late presses about them."""

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


def detector() -> EventDetector:
    """Labels of windows that overlap are not independent, but one window in a few is enough."""
    return EventDetector(restarts=2, n_jobs=1)


# Windows of the length of a pulse, each beginning where the one before ends.
WINDOWS = {"length": 0.5, "step": 0.25, "anchor": "start"}


def closer(aligned, true) -> bool:
    """Whether aligned stamps are far nearer to the truth, but for their common delay."""

    def scatter(times):
        nearest = true[np.abs(np.subtract.outer(np.asarray(times), true)).argmin(axis=1)]
        return np.std(np.asarray(times) - nearest)

    # Windows are a quarter of a second apart, presses scatter by half a second.
    return scatter(aligned["time"]) < 0.5 * scatter(aligned["stamp"])
