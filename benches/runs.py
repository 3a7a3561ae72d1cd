"""Does a chain help where one event covers many windows and is stamped once?

    python benches/runs.py [DATA ...] [--seeds 3]

Wearables are simulated (`simulate.wearable`): windows of one second, four or ten of them begin in
every second, and something is done for two to ten seconds, about once in half a minute. Each
beginning is stamped once, sloppily. Events of half of the people are found by

- the chain from true labels, which nobody has,
- the chain from the stamps,
- the independent detector from the stamps, with the debouncing (threshold, smoothing, gaps that are
  closed, shortest run) that is best on the **true labels of the held-out people**: an oracle.

An event is found by a detection that begins within a tolerance of it. In the folders DATA, whose
instances must all have labels, spreads and the tolerance are in spacings of instances, and people
are left out in folds.
"""

from __future__ import annotations

import argparse
import itertools
import warnings

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GroupKFold
from unjitter import EventDetector, Session, baselines, metrics, read_dataset, simulate

Floats = NDArray[np.float64]
# How far the windows of a wearable are smoothed, in seconds, and what else debouncing chooses.
SMOOTHED, CLOSED, SHORTEST = (0.0, 1.0, 2.0, 4.0), (0.0, 1.0, 2.0, 4.0), (0.0, 0.5, 1.0, 2.0)
THRESHOLDS = np.concatenate([[0.02, 0.05], np.arange(0.1, 0.95, 0.1)])


def stamped(session: Session, spread: float, seed: int) -> tuple[Session, Floats]:
    """The session with a stamp at nine in ten beginnings, and a few at nothing; and how late the
    nine are."""
    random = np.random.default_rng(seed)
    begins = beginnings(session)
    pressed = begins[random.uniform(size=len(begins)) > 0.1]
    delays = random.normal(0.0, spread, len(pressed))
    extra = random.uniform(*session.times[[0, -1]], random.poisson(0.05 * len(begins)))
    return session.replace(events=np.sort(np.concatenate([pressed + delays, extra]))), delays


def beginnings(session: Session) -> Floats:
    """When runs of true labels begin."""
    labels = np.asarray(session.labels) == 1
    return session.times[labels & ~np.concatenate([[False], labels[:-1]])]


def f1(sessions: list[Session], found: list[Floats], tolerance: float) -> float:
    """Of beginnings."""
    truth = [beginnings(session) for session in sessions]
    return metrics.event_metrics(truth, found, tolerance).f1


def debounced(p: Floats, times: Floats, threshold: float, closed: float, shortest: float) -> Floats:
    """When runs above a threshold begin, after short gaps were closed and short runs left out."""
    above = np.concatenate([[False], p >= threshold, [False]])
    first = np.flatnonzero(above[1:-1] & ~above[:-2])
    last = np.flatnonzero(above[1:-1] & ~above[2:])
    if len(first) == 0:
        return np.array([])
    keep = np.concatenate([[True], times[first[1:]] - times[last[:-1]] > closed])
    begins = times[first[keep]]
    ends = times[last[np.concatenate([keep[1:], [True]])]]
    return begins[ends - begins >= shortest]


def best_debounced(sessions: list[Session], each: list[Floats], tolerance: float) -> float:
    """The best F1 of any debouncing, by the true labels that it is judged on."""
    spacing = float(np.median(np.diff(sessions[0].times)))
    # Where windows are rare, closing and smoothing by less than one of them is not at all.
    unit = max(1.0, spacing)
    best = 0.0
    for width in SMOOTHED:
        wide = 1 + 2 * round(0.5 * width * unit / spacing)
        bell = np.ones(wide) / wide
        # Recordings may be shorter than the bell.
        smooth = [np.convolve(np.pad(p, wide // 2, mode="edge"), bell, mode="valid") for p in each]
        for threshold, closed, shortest in itertools.product(THRESHOLDS, CLOSED, SHORTEST):
            found = [
                debounced(p, own.times, threshold, closed * unit, shortest * unit)
                for p, own in zip(smooth, sessions, strict=True)
            ]
            best = max(best, f1(sessions, found, tolerance))
    return best


def placed(chain: EventDetector, sessions: list[Session], reach: float) -> tuple[float, float]:
    """Variance of onsets around true beginnings, as claimed without stamps and as it is."""
    claimed, errors = [], []
    for session in sessions:
        onsets = chain.predict_stamped(session) / (1.0 - chain.miss_rate_)
        for begin in beginnings(session):
            near = np.abs(session.times - begin) <= reach
            # Those that are found, and not half of another one.
            if onsets[near].sum() > 0.6:
                mean = np.average(session.times[near], weights=onsets[near])
                squares = (session.times[near] - mean) ** 2
                claimed.append(np.average(squares, weights=onsets[near]))
                errors.append(mean - begin)
    return float(np.mean(claimed)), float(np.var(errors))


class Held:
    """What is found in people that were not learned from, fold by fold."""

    def __init__(self, tolerance: float) -> None:
        self.tolerance = tolerance
        self.sessions: list[Session] = []
        self.by_hand: list[Floats] = []
        self.chain: list[Floats] = []
        self.alone: list[Floats] = []
        self.learned: list[tuple[float, ...]] = []

    def add(self, stamps: list[tuple[Session, Floats]], test: list[Session]) -> None:
        """Learns from some sessions, and looks for events in others, whose stamps are not seen."""
        train = [session for session, _ in stamps]
        drawn = float(np.std(np.concatenate([delays for _, delays in stamps])))
        hidden = [session.replace(events=[]) for session in test]
        chain = EventDetector(labels="chain").fit(train)
        self.sessions += test
        self.by_hand += baselines.HandAligned(labels="chain").fit(train).detect(hidden)
        self.chain += chain.detect(hidden)
        self.alone += [p[:, 1] for p in EventDetector().fit(train).predict_proba(hidden)]
        learned = (chain.run_length_, chain.delay_, chain.spread_)
        reach = 4.0 * self.tolerance
        self.learned.append((*learned, chain.spread_ / drawn, *placed(chain, train, reach)))

    def row(self) -> tuple[float, ...]:
        """Event F1 from labels, from stamps and debounced, and what was learned of stamps."""
        return (
            f1(self.sessions, self.by_hand, self.tolerance),
            f1(self.sessions, self.chain, self.tolerance),
            best_debounced(self.sessions, self.alone, self.tolerance),
            *np.mean(self.learned, axis=0),
        )


def told(title: str, rows: list[tuple[float, ...]]) -> None:
    """Prints one row of the table, the mean over seeds."""
    best, chain, oracle, length, delay, spread, share, *variances = np.mean(rows, axis=0)
    print(
        f"| {title} | {best:.3f} | {chain:.3f} | {100 * chain / best:.0f} % | {oracle:.3f} "
        f"| {length:.1f} | {delay:+.2f} | {spread:.2f} | {100 * share:.0f} % "
        f"| {variances[0]:.2f} | {variances[1]:.2f} |",
        flush=True,
    )


def wearables(options: argparse.Namespace) -> None:
    """A row for each rate of windows and each spread."""
    half = options.people // 2
    for rate, spread in itertools.product(options.rates, options.spreads):
        rows = []
        for seed in range(options.seeds):
            drawn = simulate.wearable(
                seed=seed, people=options.people, windows_per_second=rate, annotator=None
            )
            held = Held(tolerance=1.0)
            train = [stamped(own, spread, 7 + k) for k, own in enumerate(drawn[:half])]
            held.add(train, drawn[half:])
            rows.append(held.row())
        told(f"{rate} a second, {spread:g} s", rows)


def recorded(folder: str, options: argparse.Namespace) -> None:
    """A row for each spread; people are left out in folds."""
    sessions = [own for own in read_dataset(folder) if len(own) > 2]
    spacing = float(np.median(np.concatenate([np.diff(own.times) for own in sessions])))
    subjects = [own.subject or own.name for own in sessions]
    folds = GroupKFold(min(5, len(set(subjects))))
    for spread in options.spreads:
        rows = []
        for seed in range(options.seeds):
            drawn = [
                stamped(own, spread * spacing, 100 * seed + k) for k, own in enumerate(sessions)
            ]
            held = Held(tolerance=1.5 * spacing)
            for train, test in folds.split(subjects, groups=subjects):
                held.add([drawn[k] for k in train], [sessions[k] for k in test])
            rows.append(held.row())
        told(f"{folder.rstrip('/').split('/')[-1]}, {spread:g} spacings", rows)


def main() -> None:
    """Prints a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", nargs="*", help="folders of labelled recordings")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--people", type=int, default=24)
    parser.add_argument("--spreads", type=float, nargs="*", default=[0.5, 1.0, 2.0, 4.0, 6.0])
    parser.add_argument("--rates", type=int, nargs="*", default=[4, 10])
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print(
        "| windows, spread of stamps | chain from labels | chain from stamps | of it "
        "| debounced by oracle | run length | delay | spread | of that drawn "
        "| onset variance, as claimed | as it is |"
    )
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
    wearables(options)
    for folder in options.data:
        recorded(folder, options)


if __name__ == "__main__":
    main()
