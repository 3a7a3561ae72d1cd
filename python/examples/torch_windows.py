"""Train small networks on raw windows of a signal, from sloppy stamps alone.

A GRU, a dilated CNN and a transformer each read the samples of one window and give one logit; what
they read out of the samples is learned end to end. The recordings and the annotator, who is late,
misses bumps and presses for nothing, are those of windows.py.

Three ways to train the same network on that are compared on recordings that it has not seen:

naive      each stamp is a label of the nearest window, and training is by cross-entropy
unjitter   the loss sums over all alignments and learns the annotator's habits
truth      cross-entropy on the true labels, which nobody has: the best one can hope for

Each network sees one window at a time, so that it cannot be late itself. torch_modes.py shows what
happens to networks that see more, and what to do about it.

    python torch_windows.py            # about 15 seconds on one core
    python torch_windows.py --quick    # about 8 seconds, for tests
"""

from __future__ import annotations

import argparse

import torch
from torch import Tensor, nn
from torch.nn import functional
from windows import (
    DELAY,
    MISSED,
    SAMPLES,
    SPREAD,
    SPURIOUS,
    Objective,
    f1,
    minus_log_evidence,
    simulate,
    train,
)

from unjitter import Session
from unjitter.torch import ImpreciseLabelLoss, SessionBatch

WINDOWS = 80  # per recording


class Gru(nn.Module):
    """Reads the samples of a window one after the other."""

    def __init__(self, hidden: int = 12) -> None:
        super().__init__()
        self.recurrent = nn.GRU(1, hidden, batch_first=True)
        self.out = nn.Linear(hidden, 1)

    def forward(self, windows: Tensor) -> Tensor:
        _, last = self.recurrent(windows.reshape(-1, SAMPLES, 1))
        return self.out(last[0]).reshape(windows.shape[:-1])


def dilated(channels_in: int, channels: int, taps: int, dilations: tuple[int, ...]) -> nn.Module:
    """Layers of filters whose taps lie further and further apart: a long reach for few weights."""
    layers: list[nn.Module] = []
    for dilation in dilations:
        padding = dilation * (taps // 2)
        layers += [nn.Conv1d(channels_in, channels, taps, padding=padding, dilation=dilation)]
        layers += [nn.ReLU()]
        channels_in = channels
    return nn.Sequential(*layers)


class DilatedCnn(nn.Module):
    """Filters that reach over a whole window, and the strongest and the mean answer of each."""

    def __init__(self, channels: int = 12) -> None:
        super().__init__()
        self.filters = dilated(1, channels, taps=5, dilations=(1, 2, 4))
        self.width = 2 * channels
        self.out = nn.Linear(self.width, 1)

    def answers(self, windows: Tensor) -> Tensor:
        """What the filters found in each window, of shape (..., width)."""
        found = self.filters(windows.reshape(-1, 1, SAMPLES))
        both = torch.cat([found.amax(dim=-1), found.mean(dim=-1)], dim=-1)
        return both.reshape(*windows.shape[:-1], self.width)

    def forward(self, windows: Tensor) -> Tensor:
        return self.out(self.answers(windows)).squeeze(-1)


def encoder(width: int) -> nn.Module:
    """One layer of attention, of two heads. Without dropout, since the network is small."""
    layer = nn.TransformerEncoderLayer(
        width, nhead=2, dim_feedforward=2 * width, dropout=0.0, batch_first=True, norm_first=True
    )
    return nn.TransformerEncoder(layer, num_layers=1, enable_nested_tensor=False)


class Transformer(nn.Module):
    """Pieces of three samples attend to each other; each has a learned vector for its place."""

    def __init__(self, width: int = 16, piece: int = 3) -> None:
        super().__init__()
        self.pieces = (SAMPLES // piece, piece)
        self.read = nn.Linear(piece, width)
        self.place = nn.Parameter(0.02 * torch.randn(SAMPLES // piece, width))
        self.attention = encoder(width)
        self.out = nn.Linear(width, 1)

    def forward(self, windows: Tensor) -> Tensor:
        pieces = self.read(windows.reshape(-1, *self.pieces)) + self.place
        return self.out(self.attention(pieces).mean(dim=1)).reshape(windows.shape[:-1])


NETWORKS = {"GRU": Gru, "CNN": DilatedCnn, "transformer": Transformer}


def stamped_windows(session: Session) -> Session:
    """Naive labels: each stamp is one of the nearest window."""
    nearest = abs(session.events[:, None] - session.times).argmin(axis=1)
    return session.replace(labels=[int(k in nearest) for k in range(len(session))])


def cross_entropy(logits: Tensor, batch: SessionBatch) -> Tensor:
    return functional.binary_cross_entropy_with_logits(logits, batch.labels.float())


def from_stamps(loss: ImpreciseLabelLoss) -> Objective:
    return lambda logits, batch: minus_log_evidence(loss, logits, batch)


def compare(name: str, quick: bool) -> None:
    """Trains one kind of network in three ways; prints F1 and what was learned of the annotator."""
    random = torch.Generator().manual_seed(0)
    sessions = [simulate(random, WINDOWS) for _ in range(20 if quick else 40)]
    unseen = [simulate(random, WINDOWS) for _ in range(20)]
    # Nothing is known of the annotator, so the first guess is wide.
    loss = ImpreciseLabelLoss(start={"delay": 0.0, "spread": 2.0})
    ways = {
        "naive": ([stamped_windows(session) for session in sessions], cross_entropy),
        "unjitter": ([session.replace(labels=None) for session in sessions], from_stamps(loss)),
        "truth": (sessions, cross_entropy),
    }
    for way, (training, objective) in ways.items():
        torch.manual_seed(1)
        network = NETWORKS[name]()
        annotator = loss if way == "unjitter" else None
        train(network, training, objective, epochs=40, batch_size=4, loss=annotator)
        score, best = f1(network, unseen)
        line = f"{name:11} {way:9} F1 {score:.2f}, at its best threshold {best:.2f}"
        if way == "unjitter":
            line += (
                f"; late by {loss.delay:.2f} s, spread {loss.spread:.2f} s, "
                f"misses {1.0 - loss.hit_rate:.0%}, presses for nothing {loss.false_rate:.1%}, "
                f"at no window {loss.background_rate:.3f} times per second"
            )
        print(line, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few recordings")
    quick = parser.parse_args().quick
    # The windows are small: one thread is as fast as many, and leaves the others alone.
    torch.set_num_threads(1)
    print(
        f"true annotator: late by {DELAY:.2f} s, spread {SPREAD:.2f} s, misses {MISSED:.0%}, "
        f"presses for nothing {SPURIOUS:.1%}"
    )
    for name in NETWORKS:
        compare(name, quick)


if __name__ == "__main__":
    main()
