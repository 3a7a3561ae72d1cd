"""Recordings cut into raw windows, training on them, and judging: what the examples share.

Each recording is cut into windows of one second. In some of them a bump happens; others have a
spike or a drift that looks a little like one. Somebody presses a button at bumps: late by about a
window and a half, not always equally late, sometimes not at all and sometimes for nothing.

Labels come with the recordings, for judging. What training sees of them is up to its objective.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader

from unjitter import Session
from unjitter.torch import ImpreciseLabelLoss, SessionBatch, collate

SAMPLES = 24  # per window
DELAY, SPREAD, MISSED, SPURIOUS = 1.5, 0.5, 0.1, 0.01

Objective = Callable[[Tensor, SessionBatch], Tensor]


def simulate(random: torch.Generator, windows: int) -> Session:
    """One recording with its annotator: raw windows (windows x samples), times of their middles,
    stamps; and labels, for judging."""

    def uniform(low: float, high: float, *shape: int) -> Tensor:
        return low + (high - low) * torch.rand(*shape, generator=random)

    clock = torch.linspace(0.0, 1.0, SAMPLES)
    signal = 0.35 * torch.randn(windows, SAMPLES, generator=random)
    labels = torch.rand(windows, generator=random) < 0.15
    # A bump of any width, place and height.
    centre, width = uniform(0.3, 0.7, windows, 1), uniform(0.08, 0.2, windows, 1)
    bump = uniform(0.8, 1.6, windows, 1) * torch.exp(-0.5 * ((clock - centre) / width) ** 2)
    # Elsewhere, now and then, a spike or a drift.
    spike = uniform(1.0, 2.5, windows, 1) * (torch.abs(clock - centre) < 0.03)
    drift = uniform(-1.5, 1.5, windows, 1) * (clock - 0.5)
    kind = torch.rand(windows, 1, generator=random)
    other = torch.where(kind < 0.2, spike, torch.where(kind < 0.4, drift, torch.zeros(1)))
    signal += torch.where(labels[:, None], bump, other)

    times = torch.arange(windows) + 0.5
    chance = torch.where(labels, 1.0 - MISSED, SPURIOUS)
    pressed = torch.rand(windows, generator=random) < chance
    late = DELAY + SPREAD * torch.randn(int(pressed.sum()), generator=random)
    return Session(signal, times, times[pressed] + late, labels)


def minus_log_evidence(loss: ImpreciseLabelLoss, logits: Tensor, batch: SessionBatch) -> Tensor:
    """Minus the log probability of the stamps, on average over the recordings of a batch."""
    return loss(logits, batch)


def train(
    network: nn.Module,
    sessions: list[Session],
    objective: Objective,
    epochs: int,
    batch_size: int,
    loss: ImpreciseLabelLoss | None = None,
) -> None:
    """Trains a network by an objective of logits and batch, a mean over recordings; and with it
    what a loss learns of the annotator, if the objective has one."""
    groups = [{"params": network.parameters(), "lr": 5e-3, "weight_decay": 1e-4}]
    if loss is not None:
        groups.append({"params": loss.parameters(), "lr": 3e-2})
    optimiser = torch.optim.Adam(groups)
    loader = DataLoader(sessions, batch_size, shuffle=True, collate_fn=collate)
    for _ in range(epochs):
        for batch in loader:
            value = objective(network(batch.features), batch)
            if loss is not None:
                # The prior counts once for the whole training set.
                value = value + loss.penalty() / len(sessions)
            optimiser.zero_grad()
            value.backward()
            optimiser.step()


@torch.no_grad()
def f1(network: nn.Module, sessions: list[Session]) -> tuple[float, float]:
    """F1 of the windows called positive: from a probability of one half on, and at the threshold
    that suits these sessions best. A neighbouring window does not count."""
    batch = collate(sessions)
    logits, true = network(batch.features), batch.labels == 1

    def at(threshold: float) -> float:
        called = torch.sigmoid(logits) >= threshold
        hits, wrong = (called & true).sum().item(), (called ^ true).sum().item()
        return 2.0 * hits / (2.0 * hits + wrong)

    return at(0.5), max(at(percent / 100.0) for percent in range(1, 100))
