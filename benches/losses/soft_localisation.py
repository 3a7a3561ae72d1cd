"""Soft localisation: smoothed predictions beside smoothed stamps, and a count term.

After Schroeter, Sidorov, Marshall, "Learning precise temporal point event detection with misaligned
labels", AAAI 2021: both the predictions and the stamps are smoothed by a Gaussian before they are
compared, so that a small shift costs little, and a term in the number of events keeps predictions
from spreading out. The squared difference is summed over instances and scaled so that one lone
stamp costs one; the count term is the likelihood of occurrence counts. How the two are weighed is
our choice, the same for all data.
"""

from __future__ import annotations

import math

import torch
from occurrence_counts import OccurrenceCounts
from padded import Padded
from torch import Tensor, nn

COUNT_WEIGHT = 0.1


def _gaussian(distances: Tensor, width: float) -> Tensor:
    return torch.exp(-0.5 * (distances / width) ** 2) / (width * math.sqrt(2.0 * math.pi))


class SoftLocalisation(nn.Module):
    """Mean over recordings; smoothing takes O(instances²) memory for each."""

    def __init__(self, padded: Padded, width: float) -> None:
        super().__init__()
        self.count_term = OccurrenceCounts(padded)
        self.is_real = padded.is_real
        self.lone_stamp = 1.0 / (2.0 * width * math.sqrt(math.pi))
        between = padded.times[:, :, None] - padded.times[:, None, :]
        self.smoother = _gaussian(between, width).float()
        smooth = [_gaussian(padded.distances(row), width).sum(dim=1) for row in range(len(between))]
        self.smooth_stamps = torch.stack(smooth).float()

    def forward(self, logits: Tensor, rows: Tensor) -> Tensor:
        chances = torch.sigmoid(logits) * self.is_real[rows]
        smooth = torch.einsum("bij,bj->bi", self.smoother[rows], chances)
        apart = (smooth - self.smooth_stamps[rows]) * self.is_real[rows]
        shape = apart.square().sum(dim=1).mean() / self.lone_stamp
        return shape + COUNT_WEIGHT * self.count_term(logits, rows)
