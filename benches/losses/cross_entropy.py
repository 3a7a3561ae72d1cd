"""Cross-entropy with targets made from stamps in three ways, and with the true labels.

    naive      each stamp labels its nearest instance
    smeared    each stamp is one positive, shared out over instances by a Gaussian of its distance
    drop-near  naive; other instances within a radius of a stamp are left out

"Truth" takes the labels themselves, which nobody has: what the network could learn.
"""

from __future__ import annotations

import torch
from data import Recording
from padded import Padded
from torch import Tensor, nn
from torch.nn import functional


class CrossEntropy(nn.Module):
    """Mean over the instances that have a weight of one; targets and weights are (N, T)."""

    def __init__(self, targets: Tensor, weights: Tensor) -> None:
        super().__init__()
        self.register_buffer("targets", targets.float())
        self.register_buffer("weights", weights.float())

    def forward(self, logits: Tensor, rows: Tensor) -> Tensor:
        weights = self.weights[rows]
        each = functional.binary_cross_entropy_with_logits(
            logits, self.targets[rows], reduction="none"
        )
        return (each * weights).sum() / weights.sum()


def nearest_labels(padded: Padded) -> Tensor:
    """One where an instance is the nearest of some stamp."""
    labels = torch.zeros_like(padded.times)
    for row, stamps in enumerate(padded.stamps):
        if len(stamps) > 0:
            labels[row, padded.distances(row).abs().argmin(dim=0)] = 1.0
    return labels


def smeared_labels(padded: Padded, width: float) -> Tensor:
    """Shares of stamps; those of a recording sum to the number of its stamps.

    A softmax over instances, so that a stamp outside the recording is shared out too."""
    labels = torch.zeros_like(padded.times)
    for row, stamps in enumerate(padded.stamps):
        if len(stamps) > 0:
            log_shares = -0.5 * (padded.distances(row) / width) ** 2
            labels[row] = torch.softmax(log_shares, dim=0).sum(dim=1)
    return labels


def naive(padded: Padded) -> CrossEntropy:
    return CrossEntropy(nearest_labels(padded), padded.is_real)


def smeared(padded: Padded, width: float) -> CrossEntropy:
    """Shares above one, where stamps crowd, are cut to one: a target is a probability."""
    return CrossEntropy(smeared_labels(padded, width).clamp(max=1.0), padded.is_real)


def drop_near(padded: Padded, radius: float) -> CrossEntropy:
    labels, weights = nearest_labels(padded), padded.is_real.clone()
    for row, stamps in enumerate(padded.stamps):
        if len(stamps) > 0:
            is_near = padded.distances(row).abs().amin(dim=1) <= radius
            weights[row] &= ~is_near | (labels[row] == 1.0)
    return CrossEntropy(labels, weights)


def truth(padded: Padded, recordings: list[Recording]) -> CrossEntropy:
    labels = torch.zeros_like(padded.times)
    for row, recording in enumerate(recordings):
        labels[row, : len(recording.labels)] = torch.tensor(recording.labels, dtype=labels.dtype)
    return CrossEntropy(labels, padded.is_real)
