"""Occurrence counts: the probability that a recording has as many events as stamps.

Schroeter, Sidorov, Marshall, "Weakly-supervised temporal localization via occurrence count
learning", ICML 2019. Instances are independent, so their number of events is Poisson-binomial. It
is summed exactly by the recursion

    forward(i, k) = forward(i-1, k) (1 - q_i) + forward(i-1, k-1) q_i

over instances i and counts k. A product of hundreds of probabilities may underflow, so q is tilted:
with a constant added to every logit so that the expected count is the observed one, c, the value
at c is never small, and

    log P(c) = log P_tilted(c) - c tilt + Σ softplus(x_i + tilt) - softplus(x_i)

holds for any tilt. The gradient is P(y_i = 1 | c) - P(y_i = 1), from the same recursion backwards.
Time and memory are O(instances x stamps).
"""

from __future__ import annotations

import numpy as np
import torch
from padded import Padded
from torch import Tensor, nn

HALVINGS = 60
WIDEST_TILT = 60.0


def _sigmoid(values: np.ndarray) -> np.ndarray:
    return np.exp(-np.logaddexp(0.0, -values))


def balancing_tilt(logits: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """(B, 1): what to add to logits so that the expected count is the observed one, by bisection.

    Bounded, since no finite tilt gives 0; any tilt is exact, this one keeps values from vanishing.
    """
    low, high = np.full((len(logits), 1), -WIDEST_TILT), np.full((len(logits), 1), WIDEST_TILT)
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        is_few = _sigmoid(logits + middle).sum(axis=1, keepdims=True) < counts[:, None]
        low, high = np.where(is_few, middle, low), np.where(is_few, high, middle)
    return 0.5 * (low + high)


def forward_sums(chances: np.ndarray, most: int) -> np.ndarray:
    """(T + 1, B, most + 1): probability of k events among the first i instances."""
    sums = np.zeros((chances.shape[1] + 1, len(chances), most + 1))
    sums[0, :, 0] = 1.0
    for i, on in enumerate(chances.T[:, :, None]):
        sums[i + 1] = sums[i] * (1.0 - on)
        sums[i + 1, :, 1:] += sums[i, :, :-1] * on
    return sums


def posteriors(chances: np.ndarray, counts: np.ndarray, sums: np.ndarray) -> np.ndarray:
    """(B, T): P(y_i = 1 | the count), by the recursion backwards."""
    found = np.zeros_like(chances)
    rest = np.zeros_like(sums[0])  # probability that the instances from here on complete the count
    rest[np.arange(len(counts)), counts] = 1.0
    for i in reversed(range(chances.shape[1])):
        on = chances[:, i, None]
        found[:, i] = (sums[i, :, :-1] * on * rest[:, 1:]).sum(axis=1)
        before = rest * (1.0 - on)
        before[:, :-1] += rest[:, 1:] * on
        rest = before
    return found / sums[-1, np.arange(len(counts)), counts][:, None]


class _LogCount(torch.autograd.Function):
    """Log probability of each count (B), for logits (B, T) with -inf where there is padding."""

    @staticmethod
    def forward(context, logits: Tensor, counts: Tensor) -> Tensor:
        x, c = logits.detach().double().cpu().numpy(), counts.numpy()
        tilt = balancing_tilt(x, c)
        chances = _sigmoid(x + tilt)
        sums = forward_sums(chances, max(1, int(c.max())))
        tilted = np.log(sums[-1, np.arange(len(c)), c])
        change = (np.logaddexp(0.0, x + tilt) - np.logaddexp(0.0, x)).sum(axis=1)
        slope = posteriors(chances, c, sums) - _sigmoid(x)
        context.save_for_backward(torch.tensor(slope).to(logits))
        return torch.tensor(tilted - c * tilt[:, 0] + change).to(logits)

    @staticmethod
    def backward(context, d_value: Tensor) -> tuple[Tensor, None]:
        (slope,) = context.saved_tensors
        return slope * d_value[:, None], None


def log_count(logits: Tensor, counts: Tensor) -> Tensor:
    """Log probability that the instances of each row have so many events."""
    return _LogCount.apply(logits, counts)


class OccurrenceCounts(nn.Module):
    """Minus the log probability of the count, mean over recordings."""

    def __init__(self, padded: Padded) -> None:
        super().__init__()
        self.is_real, self.counts = padded.is_real, padded.counts

    def forward(self, logits: Tensor, rows: Tensor) -> Tensor:
        real = logits.masked_fill(~self.is_real[rows], -torch.inf)
        return -log_count(real, self.counts[rows]).mean()
