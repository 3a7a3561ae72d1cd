"""A network that sees its neighbours can be late itself: what then fixes the annotator's delay?

The recordings are those of windows.py, whose annotator is late by 1.5 windows. If a network sees
one window at a time, the stamps say how late the annotator is. If it sees the windows around, it
can answer two windows late, and an annotator who is half a window early then explains the stamps
just as well. These explanations are called modes. The stamps cannot tell them apart; whoever needs
the right window can.

First the same network, with and without context, is trained from several delays. Then it gets help,
in three ways:

hold     the delay is known, and fixed: ``Gaussian(delay=1.5)``, or ``loss.hold("delay")`` for the
         present value. It must be right to half a window. One that is off by that much, here 1.0,
         makes the next window as good; its wider spread and its higher loss give it away.
prior    ``Priors(delay=(1.5, 0.25))``: "about one and a half seconds, give or take a quarter". The
         next window is four standard deviations away, but that is 8 nats against the tens by which
         runs on the same stamps differ: some seeds leave it, even from its mean. Give or take
         0.05 stayed there in all seeds that were tried. From a start far away either may fail,
         since the network settles first. So start where the prior has its mean, and make it narrow.
labels   one of the eight recordings is labelled by hand. Its labels are known to the loss, as
         infinite logits, which have no gradient; the network learns them by cross-entropy. The sum
         is minus the log probability of stamps *and* labels,

             log p(stamps, labels | windows) = log p(stamps | labels, windows)
                                             + log p(labels | windows),

         not a weighted compromise, so that there is nothing to tune.

The table says for each where training started, the delay at which it ended, minus the log evidence
of the training stamps by the network's own logits, per stamp, and F1 on recordings that it has not
seen, in which the window next to the right one is wrong.

With the CNN across windows and the first seed, ends with an F1 of 0.1 have as little loss as ends
with one of 0.96; the lowest belongs to a wrong one, and a start at the true delay leaves it. A GRU
and local attention are led astray much less often. Without context, the one wrong end has twice the
loss of the others: there the stamps do tell.

    python torch_modes.py                        # three networks: about 6 minutes on one core
    python torch_modes.py --quick                # the dilated CNN: about 35 seconds, for tests
    python torch_modes.py --figure modes.png     # loss and F1 against the delay (matplotlib)
    python torch_modes.py --quick --seed 2       # other first weights, other ends
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch_windows import DilatedCnn, dilated, encoder
from windows import DELAY, Objective, f1, minus_log_evidence, simulate, train

from unjitter import Gaussian, Priors, Session
from unjitter.torch import ImpreciseLabelLoss, SessionBatch, collate

# Long recordings: at the ends, where a late network has no window left, stamps do tell modes apart.
WINDOWS = 300
STARTS = (-3.0, 0.0, DELAY, 3.0)


class OneWindow(nn.Module):
    """No context, for comparison."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.hidden, self.out = nn.Linear(width, 12), nn.Linear(12, 1)

    def forward(self, answers: Tensor) -> Tensor:
        return self.out(torch.relu(self.hidden(answers))).squeeze(-1)


class CnnAcross(nn.Module):
    """Sees seven windows to each side."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.filters = dilated(width, 12, taps=3, dilations=(1, 2, 4))
        self.out = nn.Conv1d(12, 1, 1)

    def forward(self, answers: Tensor) -> Tensor:
        return self.out(self.filters(answers.transpose(1, 2))).squeeze(1)


class GruAcross(nn.Module):
    """Reads the recording forwards and backwards."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.recurrent = nn.GRU(width, 12, batch_first=True, bidirectional=True)
        self.out = nn.Linear(24, 1)

    def forward(self, answers: Tensor) -> Tensor:
        return self.out(self.recurrent(answers)[0]).squeeze(-1)


class AttentionAcross(nn.Module):
    """Attends to five windows on each side, by content and by their place relative to its own."""

    def __init__(self, width: int, reach: int = 5) -> None:
        super().__init__()
        self.reach = reach
        self.read = nn.Linear(width, 16)
        self.place = nn.Parameter(0.5 * torch.randn(2 * reach + 1, 16))
        self.attention = encoder(16)
        self.out = nn.Linear(16, 1)

    def forward(self, answers: Tensor) -> Tensor:
        padded = functional.pad(self.read(answers), (0, 0, self.reach, self.reach))
        around = padded.unfold(1, 2 * self.reach + 1, 1).transpose(-1, -2) + self.place
        attended = self.attention(around.flatten(0, 1))[:, self.reach]
        return self.out(attended).reshape(answers.shape[:-1])


class Network(nn.Module):
    """Looks at the samples of each window, then across windows; all of it is learned together."""

    def __init__(self, across: type[nn.Module]) -> None:
        super().__init__()
        self.window = DilatedCnn()
        self.across = across(self.window.width)

    def forward(self, windows: Tensor) -> Tensor:
        return self.across(self.window.answers(windows))


def stamps_and_labels(loss: ImpreciseLabelLoss) -> Objective:
    """Minus the log probability of the stamps, and of the labels where there are any."""

    def objective(logits: Tensor, batch: SessionBatch) -> Tensor:
        if batch.labels is None:
            return minus_log_evidence(loss, logits, batch)
        known = torch.where(batch.labels == 1, torch.inf, -torch.inf)
        is_known = batch.labels >= 0
        stamps = minus_log_evidence(loss, torch.where(is_known, known, logits), batch)
        labels = functional.binary_cross_entropy_with_logits(
            logits[is_known], batch.labels[is_known].to(logits.dtype), reduction="sum"
        )
        return stamps + labels / len(logits)

    return objective


@dataclass(frozen=True)
class Remedy:
    """What is known of the annotator besides the stamps, and where learning starts."""

    name: str
    start: float = 0.0
    noise: Gaussian = field(default_factory=Gaussian)
    priors: Priors = field(default_factory=Priors)
    labelled: int = 0

    def loss(self) -> ImpreciseLabelLoss:
        start = {"spread": 1.0}
        if self.noise.delay is None:
            start["delay"] = self.start
        return ImpreciseLabelLoss(noise=self.noise, priors=self.priors, start=start)


NOTHING = [Remedy("nothing", start) for start in STARTS]
REMEDIES = [
    Remedy("hold 1.5", 1.5, noise=Gaussian(delay=1.5)),
    Remedy("hold 1.0", 1.0, noise=Gaussian(delay=1.0)),
    Remedy("prior .25", 1.5, priors=Priors(delay=(1.5, 0.25))),
    Remedy("prior .05", 1.5, priors=Priors(delay=(1.5, 0.05))),
    Remedy("prior .05", -3.0, priors=Priors(delay=(1.5, 0.05))),
    *(Remedy("labels", start, labelled=1) for start in STARTS),
]
NETWORKS = {
    "one window": (OneWindow, NOTHING),
    "CNN": (CnnAcross, NOTHING + REMEDIES),
    "GRU": (GruAcross, NOTHING + REMEDIES),
    "attention": (AttentionAcross, NOTHING + REMEDIES),
}


@dataclass(frozen=True)
class End:
    """Where training ended."""

    network: str
    remedy: str
    start: float
    delay: float
    spread: float
    loss_per_stamp: float
    f1: float

    def row(self) -> str:
        return (
            f"{self.network:11} {self.remedy:9} {self.start:6.1f} {self.delay:6.2f} "
            f"{self.spread:7.2f} {self.loss_per_stamp:8.3f} {self.f1:6.2f}"
        )


HEAD = "network     remedy     start  delay  spread     loss     F1"


@torch.no_grad()
def loss_per_stamp(network: nn.Module, loss: ImpreciseLabelLoss, sessions: list[Session]) -> float:
    batch = collate(sessions)
    total = minus_log_evidence(loss, network(batch.features), batch) * len(sessions)
    return float(total / batch.event_lengths.sum())


def attempt(
    name: str, remedy: Remedy, sessions: list[Session], unseen: list[Session], seed: int
) -> End:
    """Trains a network with a remedy, and judges it."""
    torch.manual_seed(seed)
    network, loss = Network(NETWORKS[name][0]), remedy.loss()
    hidden = [session.replace(labels=None) for session in sessions[remedy.labelled :]]
    training = sessions[: remedy.labelled] + hidden
    # One recording at a time: eight steps an epoch.
    train(network, training, stamps_and_labels(loss), epochs=60, batch_size=1, loss=loss)
    return End(
        network=name,
        remedy=remedy.name,
        start=remedy.start,
        delay=loss.delay,
        spread=loss.spread,
        loss_per_stamp=loss_per_stamp(network, loss, sessions),
        f1=f1(network, unseen)[0],
    )


def draw(ends: list[End], file: str) -> None:
    """Loss and F1 against the delay at which training ended."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 1, sharex=True, figsize=(7.0, 6.0), layout="constrained")
    markers = {"one window": "x", "CNN": "o", "GRU": "s", "attention": "^"}
    colours = {
        "nothing": "tab:red",
        "hold": "tab:blue",
        "prior": "tab:purple",
        "labels": "tab:green",
    }
    for end in ends:
        colour = colours[end.remedy.split()[0]]
        style = {"marker": markers[end.network], "color": colour, "alpha": 0.7, "ls": ""}
        axes[0].plot(end.delay, end.loss_per_stamp, **style)
        axes[1].plot(end.delay, end.f1, **style)
    for axis in axes:
        axis.axvline(DELAY, color="grey", lw=0.8, ls=":")
    axes[0].set(
        ylabel="training loss per stamp", title="The stamps hardly tell ends apart, F1 does"
    )
    axes[1].set(ylabel="F1, unseen recordings", xlabel="delay at the end, windows (dotted: true)")
    for remedy, colour in colours.items():
        axes[0].plot([], [], marker="o", ls="", color=colour, label=f"help: {remedy}")
    for network in dict.fromkeys(end.network for end in ends):
        axes[0].plot([], [], marker=markers[network], ls="", color="grey", label=network)
    axes[0].legend(fontsize="small")
    figure.savefig(file, dpi=150)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="of the networks with context, one")
    parser.add_argument("--figure", metavar="FILE", help="draw loss and F1 against the delay")
    parser.add_argument("--seed", type=int, default=1, help="of the first weights")
    options = parser.parse_args()
    # The windows are small: one thread is as fast as many, and leaves the others alone.
    torch.set_num_threads(1)
    random = torch.Generator().manual_seed(0)
    sessions = [simulate(random, WINDOWS) for _ in range(8)]
    unseen = [simulate(random, WINDOWS) for _ in range(6)]
    print(HEAD, flush=True)
    ends = []
    for name in ["one window", "CNN"] if options.quick else NETWORKS:
        for remedy in NETWORKS[name][1]:
            ends.append(attempt(name, remedy, sessions, unseen, options.seed))
            print(ends[-1].row(), flush=True)
    if options.figure is not None:
        draw(ends, options.figure)


if __name__ == "__main__":
    main()
