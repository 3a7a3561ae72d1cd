"""Connectionist temporal classification: the stamps as a string of equal letters.

Graves et al., "Connectionist temporal classification", ICML 2006. Only the number and the order of
stamps count; with one letter that is their number. Neighbours with the same letter are read as one
event, so M events need at least 2M - 1 instances.
"""

from __future__ import annotations

import torch
from padded import Padded
from torch import Tensor, nn
from torch.nn import functional

BLANK, EVENT = 0, 1


def is_feasible(instances: int, stamps: int) -> bool:
    """Whether some path spells so many equal letters, with a blank between any two."""
    return instances >= 2 * stamps - 1


class Ctc(nn.Module):
    """Minus the log probability of the string, per instance."""

    def __init__(self, padded: Padded) -> None:
        super().__init__()
        for row, (instances, stamps) in enumerate(zip(padded.lengths, padded.counts)):
            if not is_feasible(int(instances), int(stamps)):
                raise ValueError(f"recording {row}: {instances} instances, {stamps} stamps")
        self.lengths, self.counts = padded.lengths.cpu(), padded.counts

    def forward(self, logits: Tensor, rows: Tensor) -> Tensor:
        log_odds = torch.stack(
            [functional.logsigmoid(-logits), functional.logsigmoid(logits)], dim=-1
        )
        lengths, counts = self.lengths[rows], self.counts[rows]
        letters = torch.full((int(counts.sum()),), EVENT)
        total = functional.ctc_loss(
            log_odds.transpose(0, 1), letters, lengths, counts, blank=BLANK, reduction="sum"
        )
        return total / lengths.sum()
