"""Peaks, such as heart beats, as instances: what tells one from its neighbours.

A peak is described by how long after the peak before and how long before the next one it comes, the
same relative to the peaks around it, and what each channel does near it. The first and the last
peak have no neighbour on one side and are left out.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from .stamps.source import FloatArray

INTERVALS = ("interval_before", "interval_after", "before_ratio", "after_ratio")
SHAPES = ("value", "mean", "sd", "low", "high")
# Peaks on each side whose intervals are the usual ones.
NEIGHBOURS = 8
# How much of the interval on each side counts as near; the halves meet those of the neighbours.
NEAR = 0.5


def peak_features(
    channels: Mapping[str, FloatArray], times: Mapping[str, FloatArray], peaks: FloatArray
) -> tuple[FloatArray, FloatArray, tuple[str, ...]]:
    """Times of all peaks but the first and the last, their features and the names of these.

    A channel without samples near a peak, or with missing ones (NaN) only, has features NaN there.
    """
    if len(peaks) < 3:
        raise ValueError(f"{len(peaks)} peaks, expected at least 3, since each needs neighbours")
    steps = np.diff(peaks)
    if np.any(steps <= 0.0):
        late = int(np.argmax(steps <= 0.0)) + 1
        raise ValueError(f"peak {late} is not after the one before it")
    before, after = steps[:-1], steps[1:]
    usual = _usual(steps)
    table = [before, after, before / usual, after / usual]
    names = list(INTERVALS)
    inner = peaks[1:-1]
    for channel, values in channels.items():
        own = times[channel]
        here = np.searchsorted(own, inner).clip(max=max(len(own) - 1, 0))
        begin = np.searchsorted(own, inner - NEAR * before)
        end = np.searchsorted(own, inner + NEAR * after)
        rows = [_shape(values, *places) for places in zip(here, begin, end)]
        table += list(np.array(rows).T)
        names += [f"{channel}_{shape}" for shape in SHAPES]
    return inner, np.column_stack(table), tuple(names)


def _usual(steps: FloatArray) -> FloatArray:
    """The median interval around each inner peak."""
    return np.array(
        [np.median(steps[max(k - NEIGHBOURS, 0) : k + NEIGHBOURS]) for k in range(1, len(steps))]
    )


def _shape(values: FloatArray, here: int, begin: int, end: int) -> tuple[float, ...]:
    """The channel at a peak and near it."""
    near = values[begin:end]
    near = near[~np.isnan(near)]
    if len(near) == 0:
        return (np.nan,) * len(SHAPES)
    return float(values[here]), near.mean(), near.std(), near.min(), near.max()
