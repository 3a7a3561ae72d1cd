"""Do warnings tell bad fits from good ones?

    python benches/warned.py [DATA ...] [--seeds 3]

Annotators of known sloppiness stamp simulated recordings, and those of the folders DATA, whose
instances must all have labels. Each fit is judged by its labels: the detector is bad if its F1 is
below 0.9 of that of the same detector from labels, or below 0.5; the spread is bad if it is off by
more than a quarter. A warning is worth its words if the bad share is high where it is given and low
where it is not.
"""

from __future__ import annotations

import argparse
import warnings
from dataclasses import dataclass

import numpy as np
from unjitter import EventDetector, Session, baselines, metrics, read_dataset, simulate

# Spread, delay and distance of wild stamps are in spacings of instances; the others are shares.
ANNOTATORS: dict[str, dict[str, float]] = {
    **{f"spread {s:g}": {"spread": s} for s in (0.25, 1.0, 2.0, 4.0, 8.0)},
    **{
        f"spread {s:g}, 10 % missed and extra": {"spread": s, "miss": 0.1, "extra": 0.1}
        for s in (1.0, 2.0, 4.0, 8.0)
    },
    "30 % missed and extra": {"miss": 0.3, "extra": 0.3},
    "80 % missed": {"miss": 0.8},
    "at random": {"miss": 0.99, "extra": 1.0},
    "late 3": {"delay": 3.0},
    "late 8": {"delay": 8.0},
    "late 20": {"delay": 20.0},
    "wild": {"wild": 0.1},
    "after the end": {"stray": 2},
    "twice": {"presses": 2},
}
# What a warning says, and its name. The last two are of other models than the default, which has
# no order and a background.
WORDS = {
    "not sure of its events": "UnsureDetector",
    "two explanations of the stamps": "Modes",
    "below half the spacing": "TinySpread",
    "events have several stamps": "SeveralStamps",
    "events may have several stamps": "PerhapsSeveralStamps",
    "is large beside the median gap": "SpreadNearGap",
    "far from every instance": "FarStamps",
}


@dataclass
class Judged:
    """A fit, what it warned of, and what was wrong with it."""

    words: set[str]
    bad_detector: bool
    bad_spread: bool


def windows(seed: int, separation: float) -> list[Session]:
    """Eight sessions of 600 instances, whose features tell the thirty events apart more or less."""
    random, sessions = np.random.default_rng(seed), []
    for _ in range(8):
        labels = np.zeros(600, dtype=int)
        labels[random.choice(600, 30, replace=False)] = 1
        features = random.normal(size=(600, 3))
        features[labels == 1] += [separation, -0.75 * separation, 0.0]
        sessions.append(Session(features, np.arange(600.0), [], labels=labels))
    return sessions


def in_context(sessions: list[Session]) -> list[Session]:
    """The same sessions with the first feature of all instances up to eight away: detectors can
    then fire early or late, and several delays explain the stamps."""
    return [
        session.replace(X=np.column_stack([np.roll(session.X[:, 0], lag) for lag in range(-8, 9)]))
        for session in sessions
    ]


def stamped(
    session: Session,
    spacing: float,
    random: np.random.Generator,
    *,
    spread: float = 1.0,
    delay: float = 0.0,
    miss: float = 0.0,
    extra: float = 0.0,
    wild: float = 0.0,
    stray: int = 0,
    presses: int = 1,
) -> Session:
    """The session with stamps, so many for each event that is not missed."""
    events = session.times[np.asarray(session.labels) == 1]
    true = np.repeat(events[random.random(len(events)) >= miss], presses)
    errors = random.normal(delay, spread, len(true))
    off = np.where(random.random(len(true)) < wild, random.choice([-20.0, 20.0], len(true)), 0.0)
    first, last = session.times[[0, -1]]
    for_nothing = random.uniform(first, last, random.poisson(extra * len(events)))
    later = last + random.uniform(50.0, 100.0, stray) * spacing
    stamps = [true + (errors + off) * spacing, for_nothing, later]
    return session.replace(events=np.sort(np.concatenate(stamps)))


def judge(sessions: list[Session], annotator: dict[str, float], seed: int) -> Judged:
    """One fit."""
    random = np.random.default_rng(seed)
    spacing = float(np.median(np.concatenate([np.diff(session.times) for session in sessions])))
    training = [stamped(session, spacing, random, **annotator) for session in sessions]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        detector = EventDetector().fit(training)
    by_hand = baselines.HandAligned().fit(training)
    f1, best = (
        metrics.f1(training, learner.predict_proba(training)) for learner in (detector, by_hand)
    )
    words = {name for one in caught for part, name in WORDS.items() if part in str(one.message)}
    off = abs(np.log(detector.spread_ / (annotator.get("spread", 1.0) * spacing)))
    # The detector from labels may be useless too; a warning is in place then as well.
    return Judged(words, f1 < 0.9 * best or f1 < 0.5, off > np.log(1.25))


def main() -> None:
    """Prints a table in Markdown."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", nargs="*")
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    judged = []
    for seed in range(options.seeds):
        recordings = [windows(seed, separation) for separation in (0.0, 1.5, 2.5, 4.0)]
        recordings += [
            in_context(windows(seed, 4.0)),
            simulate.respiration(seed=seed),
            *(read_dataset(folder) for folder in options.data),
        ]
        judged += [
            judge(sessions, annotator, seed)
            for sessions in recordings
            for annotator in ANNOTATORS.values()
        ]
    print(f"{len(judged)} fits\n")
    print("| warning | fits | bad detector: warned, not | bad spread: warned, not |")
    print("|---|---|---|---|")
    for name in WORDS.values():
        told = [name in one.words for one in judged]
        shares = []
        for bad in ([one.bad_detector for one in judged], [one.bad_spread for one in judged]):
            halves = np.compress(told, bad), np.compress(np.logical_not(told), bad)
            shares.append(", ".join(f"{half.mean():.0%}" if len(half) else "–" for half in halves))
        print(f"| {name} | {sum(told)} | {shares[0]} | {shares[1]} |")


if __name__ == "__main__":
    main()
