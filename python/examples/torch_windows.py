"""Train small networks on raw windows of a signal, from sloppy stamps alone.

Each recording is cut into windows of one second. In some of them a bump happens; others have a
spike or a drift that looks a little like one. Somebody presses a button at bumps: late by about a
window and a half, not always equally late, sometimes not at all and sometimes for nothing.

Three ways to train the same network on that are compared on recordings that it has not seen:

naive      each stamp is a label of the nearest window, and training is by cross-entropy
unjitter   the loss sums over all alignments and learns the annotator's habits
truth      cross-entropy on the true labels, which nobody has: the best one can hope for

    python torch_windows.py            # about 20 seconds on one core
    python torch_windows.py --quick    # about 8 seconds, for tests
"""

from __future__ import annotations

import argparse

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.data import DataLoader

from unjitter import Session
from unjitter.torch import ImpreciseLabelLoss, collate

SAMPLES = 24  # per window
WINDOWS = 80  # per recording, one second each
DELAY, SPREAD, MISSED, SPURIOUS = 1.5, 0.5, 0.1, 0.01


def simulate(random: torch.Generator) -> Session:
    """One recording with its annotator: raw windows (windows x samples), times of their middles,
    stamps; and labels, for judging."""

    def uniform(low: float, high: float, *shape: int) -> Tensor:
        return low + (high - low) * torch.rand(*shape, generator=random)

    clock = torch.linspace(0.0, 1.0, SAMPLES)
    signal = 0.35 * torch.randn(WINDOWS, SAMPLES, generator=random)
    labels = torch.rand(WINDOWS, generator=random) < 0.15
    # A bump of any width, place and height.
    centre, width = uniform(0.3, 0.7, WINDOWS, 1), uniform(0.08, 0.2, WINDOWS, 1)
    bump = uniform(0.8, 1.6, WINDOWS, 1) * torch.exp(-0.5 * ((clock - centre) / width) ** 2)
    # Elsewhere, now and then, a spike or a drift.
    spike = uniform(1.0, 2.5, WINDOWS, 1) * (torch.abs(clock - centre) < 0.03)
    drift = uniform(-1.5, 1.5, WINDOWS, 1) * (clock - 0.5)
    kind = torch.rand(WINDOWS, 1, generator=random)
    other = torch.where(kind < 0.2, spike, torch.where(kind < 0.4, drift, torch.zeros(1)))
    signal += torch.where(labels[:, None], bump, other)

    times = torch.arange(WINDOWS) + 0.5
    chance = torch.where(labels, 1.0 - MISSED, SPURIOUS)
    pressed = torch.rand(WINDOWS, generator=random) < chance
    late = DELAY + SPREAD * torch.randn(int(pressed.sum()), generator=random)
    return Session(signal, times, times[pressed] + late, labels)


class Gru(nn.Module):
    """Reads the samples of a window one after the other."""

    def __init__(self, hidden: int = 12) -> None:
        super().__init__()
        self.recurrent = nn.GRU(1, hidden, batch_first=True)
        self.out = nn.Linear(hidden, 1)

    def forward(self, windows: Tensor) -> Tensor:
        _, last = self.recurrent(windows.reshape(-1, SAMPLES, 1))
        return self.out(last[0]).reshape(windows.shape[:-1])


class Cnn(nn.Module):
    """Two layers of filters, and the strongest answer of each."""

    def __init__(self, channels: int = 12) -> None:
        super().__init__()
        self.filters = nn.Sequential(
            nn.Conv1d(1, channels, 7, padding=3),
            nn.ReLU(),
            nn.Conv1d(channels, channels, 5, stride=2, padding=2),
            nn.ReLU(),
        )
        self.out = nn.Linear(2 * channels, 1)

    def forward(self, windows: Tensor) -> Tensor:
        found = self.filters(windows.reshape(-1, 1, SAMPLES))
        both = torch.cat([found.amax(dim=-1), found.mean(dim=-1)], dim=-1)
        return self.out(both).reshape(windows.shape[:-1])


def stamped_windows(session: Session) -> Session:
    """Naive labels: each stamp is one of the nearest window."""
    nearest = abs(session.events[:, None] - session.times).argmin(axis=1)
    return session.replace(labels=[int(k in nearest) for k in range(len(session))])


def train(
    network: nn.Module, sessions: list[Session], epochs: int, by_stamps: bool
) -> ImpreciseLabelLoss:
    """Trains on the stamps of sessions, or on their labels."""
    # Nothing is known of the annotator, so the first guess is wide.
    loss = ImpreciseLabelLoss(start={"delay": 0.0, "spread": 2.0})
    optimiser = torch.optim.Adam(
        [
            {"params": network.parameters(), "lr": 5e-3, "weight_decay": 1e-4},
            {"params": loss.parameters(), "lr": 3e-2},
        ]
    )
    loader = DataLoader(sessions, batch_size=4, shuffle=True, collate_fn=collate)
    for _ in range(epochs):
        for batch in loader:
            logits = network(batch.features)
            if by_stamps:
                value = loss(logits, batch.times, batch.events, batch.lengths, batch.event_lengths)
                # The prior counts once for the whole training set.
                value = value + loss.penalty() / len(sessions)
            else:
                value = functional.binary_cross_entropy_with_logits(logits, batch.labels.float())
            optimiser.zero_grad()
            value.backward()
            optimiser.step()
    return loss


@torch.no_grad()
def f1(network: nn.Module, sessions: list[Session]) -> tuple[float, float]:
    """F1 of the windows called positive: from a probability of one half on, and at the threshold
    that suits these sessions best."""
    batch = collate(sessions)
    logits, true = network(batch.features), batch.labels == 1

    def at(threshold: float) -> float:
        called = torch.sigmoid(logits) >= threshold
        hits, wrong = (called & true).sum().item(), (called ^ true).sum().item()
        return 2.0 * hits / (2.0 * hits + wrong)

    return at(0.5), max(at(percent / 100.0) for percent in range(1, 100))


def compare(name: str, make: type[nn.Module], quick: bool) -> dict[str, float]:
    """Trains one kind of network in three ways; returns F1 by way."""
    random = torch.Generator().manual_seed(0)
    n, epochs = (20, 40) if quick else (40, 40)
    sessions = [simulate(random) for _ in range(n)]
    unseen = [simulate(random) for _ in range(20)]
    ways = {
        "naive": [stamped_windows(session) for session in sessions],
        "unjitter": [session.replace(labels=None) for session in sessions],
        "truth": sessions,
    }
    scores = {}
    for way, training in ways.items():
        torch.manual_seed(1)
        network = make()
        loss = train(network, training, epochs, by_stamps=way == "unjitter")
        scores[way], best = f1(network, unseen)
        line = f"{name:4} {way:9} F1 {scores[way]:.2f}, at its best threshold {best:.2f}"
        if way == "unjitter":
            line += (
                f"; late by {loss.delay:.2f} s, spread {loss.spread:.2f} s, "
                f"misses {1.0 - loss.hit_rate:.0%}, presses for nothing {loss.false_rate:.1%}, "
                f"at no window {loss.background_rate:.3f} times per second"
            )
        print(line, flush=True)
    return scores


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few recordings, few epochs")
    quick = parser.parse_args().quick
    # The windows are small: one thread is as fast as many, and leaves the others alone.
    torch.set_num_threads(1)
    print(
        f"true annotator: late by {DELAY:.2f} s, spread {SPREAD:.2f} s, misses {MISSED:.0%}, "
        f"presses for nothing {SPURIOUS:.1%}"
    )
    compare("GRU", Gru, quick)
    compare("CNN", Cnn, quick)


if __name__ == "__main__":
    main()
