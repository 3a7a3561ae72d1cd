"""Event F1 on recordings that were not learned from, at a threshold chosen without labels.

The rule, the same for every method: the threshold at which the training recordings give as many
detections as they have stamps. It needs no probabilities that are true to their word, which several
of the losses do not give, and looks at nothing but stamps. A detection matches an event if it is
the right instance or its neighbour; each is matched at most once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from data import Recording
from network import Network
from padded import Padded

TOLERANCE = 1.25  # spacings: real instances are not quite evenly spaced


@dataclass(frozen=True)
class Counts:
    """Events found, detections, events; of one recording or of many."""

    found: int = 0
    detected: int = 0
    events: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(
            self.found + other.found, self.detected + other.detected, self.events + other.events
        )

    @property
    def f1(self) -> float:
        return 2.0 * self.found / max(1, self.detected + self.events)


@torch.no_grad()
def threshold(network: Network, training: Padded) -> float:
    """The logit of the last of the strongest instances, as many as there are stamps."""
    logits = network(training.features)[training.is_real]
    return float(logits.topk(int(training.counts.sum())).values[-1])


@torch.no_grad()
def judged(network: Network, held_out: Padded, truth: list[Recording], above: float) -> Counts:
    logits = network(held_out.features).cpu().numpy()
    total = Counts()
    for own, recording in zip(logits, truth):
        detected = recording.times[own[: len(recording.times)] >= above]
        events = recording.times[recording.labels == 1]
        total += Counts(matched(events, detected), len(detected), len(events))
    return total


def matched(events: np.ndarray, detected: np.ndarray, tolerance: float = TOLERANCE) -> int:
    """The most pairs within the tolerance. Both are sorted, so earliest first is best."""
    pairs = i = k = 0
    while i < len(events) and k < len(detected):
        if abs(events[i] - detected[k]) <= tolerance:
            pairs, i, k = pairs + 1, i + 1, k + 1
        elif events[i] < detected[k]:
            i += 1
        else:
            k += 1
    return pairs
