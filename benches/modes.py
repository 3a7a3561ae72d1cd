"""Which rule chooses best among the explanations that a fit found?

    python benches/modes.py [DATA ...] [--seeds 3]

Annotators and recordings are those of `warned.py`, and of the folders DATA, whose instances must
all have labels. Every mode of every fit that has several is judged by its F1 on the labels; a rule
by the mean over these fits of the mode that it takes.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
from unjitter import EventDetector, Session, metrics, read_dataset, simulate
from warned import ANNOTATORS, in_context, stamped, windows

RULES = {
    "the rule of the fit": lambda modes: 0,
    "nearest to no delay": lambda modes: np.argmin([abs(mode.delay) for mode in modes]),
    "most evidence in training": lambda modes: np.argmax([mode.log_evidence for mode in modes]),
    "most evidence of sessions left out": lambda modes: np.argmax(
        [-np.inf if mode.held_out is None else mode.held_out[0] for mode in modes]
    ),
}


def judge(sessions: list[Session], annotator: dict[str, float], seed: int) -> dict[str, float]:
    """F1 of the mode that each rule takes, and of the best; nothing if there is one mode."""
    random = np.random.default_rng(seed)
    spacing = float(np.median(np.concatenate([np.diff(session.times) for session in sessions])))
    training = [stamped(session, spacing, random, **annotator) for session in sessions]
    detector = EventDetector().fit(training)
    modes = list(detector.modes_)
    if len(modes) == 1:
        return {}
    scores = [
        metrics.f1(training, detector.use_mode(k).predict_proba(training))
        for k in range(len(modes))
    ]
    taken = {name: scores[int(rule(modes))] for name, rule in RULES.items()}
    return {**taken, "the best, by labels": max(scores)}


def main() -> None:
    """Prints a table in Markdown."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", nargs="*")
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    judged = []
    for seed in range(options.seeds):
        recordings = [
            windows(seed, 2.5),
            in_context(windows(seed, 4.0)),
            simulate.respiration(seed=seed),
            *(read_dataset(folder) for folder in options.data),
        ]
        judged += [
            judge(sessions, annotator, seed)
            for sessions in recordings
            for annotator in ANNOTATORS.values()
        ]
    several = [own for own in judged if own]
    print(f"{len(several)} of {len(judged)} fits have several modes.\n")
    print("| rule | mean F1 | within 0.05 of the best |\n|---|---|---|")
    for name in several[0]:
        near = np.mean([own[name] > own["the best, by labels"] - 0.05 for own in several])
        print(f"| {name} | {np.mean([own[name] for own in several]):.3f} | {100 * near:.0f} % |")


if __name__ == "__main__":
    main()
