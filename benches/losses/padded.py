"""Recordings side by side, the shorter ones padded: what all losses are made from.

Features are standardised by the training recordings. A loss sees times and stamps, never labels.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from data import Recording
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence


@dataclass(frozen=True)
class Padded:
    """N recordings of up to T instances."""

    features: Tensor  # (N, T, D)
    times: Tensor  # (N, T), float64
    is_real: Tensor  # (N, T), bool: not padding
    stamps: list[Tensor]  # N, float64

    @classmethod
    def of(cls, recordings: list[Recording], scale: Scale) -> Padded:
        lengths = torch.tensor([len(recording.times) for recording in recordings])
        features = [torch.tensor(scale(r.features), dtype=torch.float32) for r in recordings]
        times = [torch.tensor(recording.times) for recording in recordings]
        return cls(
            pad_sequence(features, batch_first=True),
            pad_sequence(times, batch_first=True),
            torch.arange(int(lengths.max())) < lengths[:, None],
            [torch.tensor(recording.stamps) for recording in recordings],
        )

    @property
    def lengths(self) -> Tensor:
        return self.is_real.sum(dim=1)

    @property
    def counts(self) -> Tensor:
        """Number of stamps of each recording."""
        return torch.tensor([len(stamps) for stamps in self.stamps])

    def to(self, device: str) -> Padded:
        moved = (self.features.to(device), self.times.to(device), self.is_real.to(device))
        return Padded(*moved, [stamps.to(device) for stamps in self.stamps])

    def distances(self, row: int) -> Tensor:
        """From each instance (T) to each stamp of a recording (M): stamp - instance.

        Padding is infinitely far from everything."""
        apart = self.stamps[row][None, :] - self.times[row][:, None]
        return apart.masked_fill(~self.is_real[row][:, None], torch.inf)


class Scale:
    """Features less their mean, over their standard deviation; constant ones become 0."""

    def __init__(self, recordings: list[Recording]) -> None:
        rows = np.concatenate([recording.features for recording in recordings])
        self.mean, deviation = rows.mean(axis=0), rows.std(axis=0)
        self.deviation = np.where(deviation > 0.0, deviation, 1.0)

    def __call__(self, features: np.ndarray) -> np.ndarray:
        return (features - self.mean) / self.deviation
