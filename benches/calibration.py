"""Are intervals and probabilities honest?

    python benches/calibration.py [--seeds 20] [--quick] [--figure calibration.svg]

Annotators of known sloppiness stamp simulated recordings over a grid of spreads, densities, misses,
presses for nothing and numbers of sessions. A detector learns from the stamps and aligns them. An
interval of 95 % is honest if it holds the instance that gave the stamp in 95 of 100 cases, and a
probability of 0.3 if the thing is so in 30 of 100. `--quick` is a part of the tests: it fails if
they are not.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from dataclasses import dataclass, replace

import numpy as np
from unjitter import EventDetector, Session

BINS = 10


@dataclass(frozen=True)
class Case:
    """An annotator and recordings; times are in spacings of instances."""

    name: str
    spread: float = 1.0
    density: float = 1 / 12  # events per instance
    miss: float = 0.1
    extra: float = 0.1  # presses for nothing, per event
    sessions: int = 10
    differ: bool = False  # whether sessions have between a fifth and five times as many events


USUAL = Case("usual")
GRID = (
    USUAL,
    *(replace(USUAL, name=f"spread {s:g}", spread=s) for s in (0.5, 2.0, 4.0, 8.0)),
    *(replace(USUAL, name=f"one event in {n}", density=1 / n) for n in (6, 40)),
    *(replace(USUAL, name=f"{m:.0%} missed", miss=m) for m in (0.0, 0.3)),
    *(replace(USUAL, name=f"{e:.0%} extra", extra=e) for e in (0.0, 0.3)),
    *(replace(USUAL, name=f"{n} sessions", sessions=n) for n in (3, 30)),
    replace(USUAL, name="sessions differ", differ=True),
    replace(USUAL, name="sessions differ, 30% extra", differ=True, extra=0.3),
    replace(USUAL, name="spread 4, 30% extra", spread=4.0, extra=0.3),
)
QUICK = (USUAL, GRID[2], GRID[3], GRID[13])


@dataclass
class Drawn:
    """A recording, the instance of each stamp (-1: pressed for nothing), and the labels."""

    session: Session
    source: np.ndarray
    labels: np.ndarray


def draw(case: Case, seed: int) -> list[Drawn]:
    """Sessions of 300 instances, which features tell apart well but not perfectly."""
    random, drawn = np.random.default_rng(seed), []
    for k in range(case.sessions):
        density = case.density * (5.0 ** random.uniform(-1.0, 1.0) if case.differ else 1.0)
        labels = random.random(300) < min(density, 0.4)
        features = random.normal(size=(300, 4))
        features[labels, :2] += [2.6, -2.0]
        times = np.arange(300.0)
        hit = np.flatnonzero(labels & (random.random(300) >= case.miss))
        extra = random.poisson(case.extra * labels.sum())
        stamps = np.r_[
            times[hit] + random.normal(0.5, case.spread, len(hit)), random.uniform(0, 299, extra)
        ]
        source = np.r_[hit, np.full(extra, -1)]
        order = np.argsort(stamps, kind="stable")
        session = Session(features, times, stamps[order], name=f"s{k}")
        drawn.append(Drawn(session, source[order], labels))
    return drawn


@dataclass
class Told:
    """What was said, and whether it is so."""

    inside: list[np.ndarray]
    spurious: list[np.ndarray]
    missed: list[np.ndarray]
    positive: list[np.ndarray]

    @classmethod
    def nothing(cls) -> Told:
        return cls([], [], [], [])

    def add(self, case: Case, seed: int) -> None:
        drawn = draw(case, seed)
        sessions = [own.session for own in drawn]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            detector = EventDetector().fit(sessions)
        for own in drawn:
            stamps = detector.align(own.session, backend="numpy")
            instances = detector.align_instances(own.session, backend="numpy")
            real = own.source >= 0
            truth = own.session.times[own.source[real]]
            self.inside.append((stamps["low"][real] <= truth) & (truth <= stamps["high"][real]))
            self.spurious.append(np.c_[stamps["p_spurious"], ~real])
            pressed = np.isin(np.arange(len(own.labels)), own.source)
            self.missed.append(np.c_[instances["p_missed"], own.labels & ~pressed])
            self.positive.append(np.c_[instances["p_positive"], own.labels])


def bins(pairs: list[np.ndarray]) -> list[tuple[float, float, int]]:
    """Mean of what was said, share of what is so, and how many, by tenth of what was said."""
    said, so = np.concatenate(pairs).T
    at = np.minimum((said * BINS).astype(int), BINS - 1)
    return [
        (float(said[at == k].mean()), float(so[at == k].mean()), int((at == k).sum()))
        for k in range(BINS)
        if (at == k).any()
    ]


def off(table: list[tuple[float, float, int]]) -> float:
    """The mean distance between said and so, weighted by how many."""
    total = sum(n for _, _, n in table)
    return sum(n * abs(said - so) for said, so, n in table) / total


def brier(pairs: list[np.ndarray]) -> tuple[float, float]:
    """The Brier score, and that of the best constant."""
    said, so = np.concatenate(pairs).T
    return float(((said - so) ** 2).mean()), float(so.mean() * (1 - so.mean()))


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--figure")
    args = parser.parse_args()
    cases, seeds = (QUICK, 6) if args.quick else (GRID, args.seeds)
    everything, failures = Told.nothing(), []
    columns = ["inside 95 %", "spurious: so, said", "Brier, constant's", "missed: so, said"]
    print(f"| case | stamps | {' | '.join(columns)} |\n|---|---|---|---|---|---|")
    for case in cases:
        told = Told.nothing()
        for seed in range(seeds):
            told.add(case, seed)
        for name in vars(told):
            getattr(everything, name).extend(getattr(told, name))
        inside = np.concatenate(told.inside)
        spurious, missed = (np.concatenate(own).mean(0) for own in (told.spurious, told.missed))
        score, constant = brier(told.spurious)
        print(
            f"| {case.name} | {len(inside)} | {inside.mean():.1%} "
            f"| {spurious[1]:.3f}, {spurious[0]:.3f} | {score:.4f}, {constant:.4f} "
            f"| {missed[1]:.4f}, {missed[0]:.4f} |",
            flush=True,
        )
        # An interval has whole instances, so it holds more where owners are nearly certain.
        if not 0.92 <= inside.mean() <= 0.995:
            failures.append(f"{case.name}: {inside.mean():.1%} inside")
    for name in ("spurious", "missed", "positive"):
        table = bins(getattr(everything, name))
        print(f"\n| p_{name} | so | how many |\n|---|---|---|")
        for said, so, count in table:
            print(f"| {said:.3f} | {so:.3f} | {count} |")
        print(f"\noff by {off(table):.4f} on average")
        # 0.026 at most with these seeds.
        if off(table) > 0.04:
            failures.append(f"p_{name}: off by {off(table):.3f}")
    if args.figure:
        figure(everything, args.figure)
    print("\n".join(failures), file=sys.stderr)
    return 1 if failures and args.quick else 0


def figure(told: Told, path: str) -> None:
    """Reliability of the three probabilities."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    drawing, axes = pyplot.subplots(1, 3, figsize=(9, 3.2), sharey=True)
    for axis, name in zip(axes, ("spurious", "missed", "positive"), strict=True):
        said, so, _ = zip(*bins(getattr(told, name)), strict=True)
        axis.plot([0, 1], [0, 1], "--", color="grey")
        axis.plot(said, so, "o-")
        axis.set_xlabel(f"p_{name}, as said")
    axes[0].set_ylabel("as it is")
    drawing.tight_layout()
    drawing.savefig(path)


if __name__ == "__main__":
    sys.exit(main())
