"""The one network that every loss trains.

It sees each instance by itself. A network with a view of its neighbours could shift its answers in
time, and no stamp would tell its delay from the annotator's; this one cannot, so the losses are all
that differs. The constant of its output starts at the log-odds of a stamp per instance, for all.
"""

from __future__ import annotations

import math

from torch import Tensor, nn


class Network(nn.Module):
    """Two hidden layers of 32 units, one logit per instance."""

    def __init__(self, features: int, stamps_per_instance: float, hidden: int = 32) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(features, hidden),
            nn.ReLU(),
            nn.Linear(hidden, hidden),
            nn.ReLU(),
            nn.Linear(hidden, 1),
        )
        odds = stamps_per_instance / (1.0 - stamps_per_instance)
        nn.init.constant_(self.layers[-1].bias, math.log(odds))

    def forward(self, features: Tensor) -> Tensor:
        return self.layers(features).squeeze(-1)
