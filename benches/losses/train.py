"""Training: Adam, the same number of steps, the same batches and the same start for every loss.

Losses want different learning rates. Each is given all of `RATES`, and an oracle chooses for it,
as for its width. An annotator's parameters, which only our loss has, move at a rate of their own.
"""

from __future__ import annotations

import torch
from network import Network
from padded import Padded
from torch import nn

RECORDINGS_PER_STEP = 4
RATES = (3e-3, 1e-2)
ANNOTATOR_RATE = 3e-2
WEIGHT_DECAY = 1e-3


def trained(padded: Padded, loss: nn.Module, rate: float, steps: int, seed: int) -> Network:
    """A network that the loss has taught."""
    torch.manual_seed(seed)
    device = padded.features.device
    stamps_per_instance = float(padded.counts.sum() / padded.lengths.sum())
    network = Network(padded.features.shape[-1], stamps_per_instance).to(device)
    loss = loss.to(device)
    optimiser = torch.optim.Adam(
        [
            {"params": network.parameters(), "lr": rate, "weight_decay": WEIGHT_DECAY},
            {"params": loss.parameters(), "lr": ANNOTATOR_RATE},
        ]
    )
    # Falls to zero, so that the last batches do not decide.
    schedule = torch.optim.lr_scheduler.LinearLR(optimiser, 1.0, 0.0, steps)
    for rows in batches(len(padded.stamps), steps, seed):
        value = loss(network(padded.features[rows]), rows)
        optimiser.zero_grad()
        value.backward()
        optimiser.step()
        schedule.step()
    return network


def batches(recordings: int, steps: int, seed: int):
    """Rows of each step; all recordings come once before any comes again."""
    random = torch.Generator().manual_seed(seed)
    size, order = min(RECORDINGS_PER_STEP, recordings), torch.zeros(0, dtype=torch.long)
    for _ in range(steps):
        if len(order) < size:
            order = torch.randperm(recordings, generator=random)
        yield order[:size]
        order = order[size:]
