"""The library's loss, ordered or free, as its documentation says to use it.

All parameters of the annotator are learned, delay included, from a start that is the same for all
data; priors are those that the loss's documentation gives for the density of stamps.
"""

from __future__ import annotations

import torch
from padded import Padded
from torch import Tensor, nn
from unjitter import Priors
from unjitter.torch import ImpreciseLabelLoss

START = {"delay": 0.0, "spread": 2.0}


def priors(padded: Padded) -> Priors:
    """What a detector takes for as many stamps per instance and per unit of time."""
    stamps = float(padded.counts.sum())
    per_instance = stamps / float(padded.lengths.sum())
    per_time = stamps / float(padded.times.amax(dim=1).sum())
    return Priors(
        silence=(0.5 + 16.7 / per_instance, 1.5),
        background=(20.0, 190.0 / per_time),
        delay_width=0.25 / per_time,
    )


class Ours(nn.Module):
    """Minus the log probability of the stamps and of the prior, per recording."""

    def __init__(self, padded: Padded, alignment: str) -> None:
        super().__init__()
        self.loss = ImpreciseLabelLoss(alignment=alignment, start=START, priors=priors(padded))
        self.padded = padded
        self.lengths = padded.lengths

    def forward(self, logits: Tensor, rows: Tensor) -> Tensor:
        stamps = [self.padded.stamps[row] for row in rows.tolist()]
        width = max(1, max(len(own) for own in stamps))
        events = torch.zeros(len(stamps), width, dtype=torch.float64, device=logits.device)
        for place, own in enumerate(stamps):
            events[place, : len(own)] = own
        counts = torch.tensor([len(own) for own in stamps], device=logits.device)
        value = self.loss(logits, self.padded.times[rows], events, self.lengths[rows], counts)
        return value + self.loss.penalty() / len(self.padded.stamps)
