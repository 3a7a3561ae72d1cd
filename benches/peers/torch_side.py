"""PyTorch's side, run by a Python that has torch: the same recursion by autograd, and torch's CTC.

It is spoken to as the library is; see library.py. CTC of the same size is another function (it does
not know times): it shows what a C++ recursion over all cells costs, forward and backward.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import numpy as np
import torch
from torch.nn.functional import ctc_loss, logsigmoid

torch.set_num_threads(1)


def evidence(log_odds, annotator, times, stamps):
    """log evidence, as in recursion.py."""
    false, hit, delay, log_spread = annotator
    negative, positive = logsigmoid(-log_odds), logsigmoid(log_odds)
    silent = torch.logaddexp(negative + logsigmoid(-false), positive + logsigmoid(-hit))
    press = torch.logaddexp(negative + logsigmoid(false), positive + logsigmoid(hit))
    delays = (stamps[None, :] - times[:, None] - delay) * torch.exp(-log_spread)
    pressed = press[:, None] - 0.5 * np.log(2 * np.pi) - log_spread - 0.5 * delays * delays
    row = torch.full((len(stamps) + 1,), -torch.inf, dtype=torch.float64)
    row[0] = 0.0
    # −∞ + −∞ has no gradient: cells that cannot be reached yet are left out of the sum.
    for i, (quiet, loud) in enumerate(zip(silent.unbind(), pressed.unbind())):
        reached = min(i, len(stamps))
        both = torch.logaddexp(row[1 : reached + 1] + quiet, row[:reached] + loud[:reached])
        parts = [row[:1] + quiet, both]
        if reached < len(stamps):
            parts += [row[reached : reached + 1] + loud[reached], row[reached + 2 :]]
        row = torch.cat(parts)
    return row[-1]


class Case:
    """The arrays of a session."""

    def __init__(self, folder: Path) -> None:
        self.arrays = {}
        for name in ["log_odds", "params", "times", "stamps"]:
            self.arrays[name] = torch.from_numpy(np.fromfile(folder / name, dtype="<f8"))

    def autograd(self):
        log_odds, annotator = (
            self.arrays[name].detach().requires_grad_() for name in ["log_odds", "params"]
        )
        value = evidence(log_odds, annotator, self.arrays["times"], self.arrays["stamps"])
        value.backward()
        return value.item(), torch.cat([log_odds.grad, annotator.grad]).numpy()

    def ctc(self):
        log_odds = self.arrays["log_odds"].detach().requires_grad_()
        classes = torch.stack([logsigmoid(-log_odds), logsigmoid(log_odds)], dim=1)
        target = torch.ones(1, len(self.arrays["stamps"]), dtype=torch.long)
        lengths = [torch.tensor([len(log_odds)]), torch.tensor([target.shape[1]])]
        value = ctc_loss(classes[:, None, :], target, *lengths, reduction="sum")
        value.backward()
        return value.item(), log_odds.grad.numpy()


def main() -> None:
    folder = Path(json.loads(sys.stdin.readline())["folder"])
    case = Case(folder)
    print(json.dumps({"version": torch.__version__}), flush=True)
    for line in sys.stdin:
        question = json.loads(line)
        nanoseconds = []
        for _ in range(question["repeat"]):
            begun = time.perf_counter_ns()
            value, gradient = getattr(case, question["what"])()
            nanoseconds.append(time.perf_counter_ns() - begun)
        gradient.tofile(folder / "answer")
        print(json.dumps({"nanoseconds": nanoseconds, "value": value}), flush=True)


main()
