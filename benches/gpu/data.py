"""Batches of one kind: evenly spaced instances, stamps for 5 % of them, two spacings off."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

EVENTS, SPREAD, FEATURES = 0.05, 2.0, 16
BACKGROUND = 1e-3
START = {"spread": SPREAD, "delay": 0.0, "background_rate": BACKGROUND}
# A window ends where the density times the largest odds is 1e-10 of the background.
LOG_DROP, LARGEST_ODDS = 23.0, 9.0


@dataclass
class Batch:
    features: torch.Tensor
    labels: torch.Tensor
    logits: torch.Tensor
    times: torch.Tensor
    events: torch.Tensor
    lengths: torch.Tensor
    event_lengths: torch.Tensor

    def to(self, device: str) -> Batch:
        return Batch(**{name: own.to(device) for name, own in vars(self).items()})

    @property
    def data(self) -> tuple[torch.Tensor, ...]:
        return self.times, self.events, self.lengths, self.event_lengths

    def cells(self) -> int:
        """Instances in all windows of Gaussian noise."""
        peak = -0.5 * np.log(2 * np.pi) - np.log(SPREAD)
        drop = peak - (np.log(BACKGROUND) - np.log(LARGEST_ODDS) - LOG_DROP)
        reach = SPREAD * np.sqrt(2 * drop)
        total = 0
        for row, own, n, m in zip(*(given.cpu().numpy() for given in self.data)):
            windows = [np.searchsorted(row[:n], own[:m] + way * reach) for way in (-1, 1)]
            total += int((windows[1] - windows[0]).sum())
        return total


def batch(size: int, length: int, seed: int = 0, ragged: bool = False) -> Batch:
    random = np.random.default_rng(seed)
    lengths = random.integers(1, length + 1, size) if ragged else np.full(size, length)
    labels = random.random((size, length)) < EVENTS
    labels &= np.arange(length) < lengths[:, None]
    times = np.tile(np.arange(length, dtype=float), (size, 1))
    counts = labels.sum(1)
    events = np.zeros((size, max(1, counts.max())))
    for row, (own, instants) in enumerate(zip(labels, times)):
        stamps = instants[own] + SPREAD * random.normal(size=own.sum())
        events[row, : own.sum()] = np.sort(stamps)
    features = random.normal(size=(size, length, FEATURES)) + labels[:, :, None]
    logits = np.where(labels, 1.0, -4.0) + random.normal(size=labels.shape)
    return Batch(
        features=torch.tensor(features, dtype=torch.float32),
        labels=torch.tensor(labels, dtype=torch.float32),
        logits=torch.tensor(logits, dtype=torch.float32),
        times=torch.tensor(times),
        events=torch.tensor(events),
        lengths=torch.tensor(lengths),
        event_lengths=torch.tensor(counts),
    )
