"""What must hold of the competitors before any figure is believed; each check can fail."""

from __future__ import annotations

import itertools

import cross_entropy
import ctc
import data
import methods
import noise
import numpy as np
import torch
import train
from occurrence_counts import log_count
from padded import Padded, Scale
from run import one_fit

EASY = 0.8  # F1 that every loss must reach where stamps are exact and the signal is clean


def all_checks() -> None:
    counts_equal_enumeration()
    gradient_of_counts()
    smeared_labels_sum_to_stamps()
    ctc_targets_are_feasible()
    every_loss_learns_what_is_easy()


def counts_equal_enumeration() -> None:
    random = np.random.default_rng(0)
    for instances in (1, 4, 10):
        logits = 3.0 * random.standard_normal(instances)
        chances = 1.0 / (1.0 + np.exp(-logits))
        sums = np.zeros(instances + 1)
        for labels in itertools.product((0, 1), repeat=instances):
            sums[sum(labels)] += np.prod(np.where(labels, chances, 1.0 - chances))
        rows = torch.tensor(logits).repeat(instances + 1, 1)
        ours = log_count(rows, torch.arange(instances + 1))
        # Rounding of at most 1024 products.
        np.testing.assert_allclose(ours.numpy(), np.log(sums), rtol=1e-9, atol=1e-9)


def gradient_of_counts() -> None:
    logits = torch.randn(3, 7, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    counts = torch.tensor([0, 3, 7])
    assert torch.autograd.gradcheck(lambda x: log_count(x, counts), logits.requires_grad_())


def _stamped(spread: float = 8.0) -> Padded:
    recordings = [*data.simulated(0, 5), *data.simulated(1, 2, windows=33)]
    stamped = noise.stamp(recordings, noise.Family("wide", spread=spread), 0)
    return Padded.of(stamped, Scale(stamped))


def smeared_labels_sum_to_stamps() -> None:
    padded = _stamped()
    for width in methods.WIDTHS:
        sums = cross_entropy.smeared_labels(padded, width).sum(dim=1)
        # Float64 sums of some eighty shares.
        torch.testing.assert_close(sums, padded.counts.double(), rtol=1e-9, atol=1e-9)


def ctc_targets_are_feasible() -> None:
    padded = _stamped()
    for instances, stamps in zip(padded.lengths.tolist(), padded.counts.tolist()):
        assert ctc.is_feasible(instances, stamps)
    log_chances = torch.full((5, 1, 2), 0.5).log()
    for stamps in (3, 4):  # five instances spell three equal letters, and no four
        value = torch.nn.functional.ctc_loss(
            log_chances, torch.ones(1, stamps, dtype=torch.long), [5], [stamps], reduction="sum"
        )
        assert bool(torch.isfinite(value)) == ctc.is_feasible(5, stamps)


def every_loss_learns_what_is_easy() -> None:
    easy = {"windows": 40, "clutter": 0.1}
    training = noise.stamp(data.simulated(0, 40, **easy), noise.EXACT, 0)
    held_out = data.simulated(100, 10, **easy)
    for method in methods.METHODS:
        # The narrowest width: the stamps are exact.
        f1 = one_fit(
            method, method.widths[0], max(train.RATES), training, held_out, steps=400, seed=0
        ).f1
        print(f"{method.name:18} learns exact stamps to F1 {f1:.2f}", flush=True)
        assert f1 > EASY, f"{method.name}: F1 {f1:.3f} where {EASY} is asked"
