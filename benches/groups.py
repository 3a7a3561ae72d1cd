"""What does it help to tell clocks, people and rounding?

    python benches/groups.py [DATA ...] [--seeds 3]

Annotators of known sloppiness stamp simulated recordings, and those of the folders DATA, whose
instances must all have labels. Detectors are judged on subjects that they were not trained on, by
their F1 against that of the same detector from labels. Offsets are judged in sessions of five
stamps or more: whether they are within half a spacing, and whether their 95 % intervals hold the
truth. Spreads, delays, offsets and rounding are in spacings of instances.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np
from sklearn.model_selection import GroupKFold
from unjitter import EventDetector, Session, baselines, metrics, read_dataset, simulate

PEOPLE = {"varies": {"delay": "annotator"}}
CLOCKS = {"clock": "session"}
# What the annotators do, and what the detector is told of it.
CASES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "right clocks": ({}, {}),
    "right clocks, clock='session'": ({}, CLOCKS),
    "clocks off by 5": ({"offset": 5.0}, {}),
    "clocks off by 5, clock='session'": ({"offset": 5.0}, CLOCKS),
    "clocks gain 2 %": ({"drift": 0.02}, {}),
    "clocks gain 2 %, clock='session'": ({"drift": 0.02}, CLOCKS),
    "two people, the second 3 late, as one": ({"delays": (0.0, 3.0), "told": False}, {}),
    "two people, the second 3 late": ({"delays": (0.0, 3.0)}, PEOPLE),
    "spread 4, the first of two": ({"spread": 4.0, "delays": (0.0, 0.0), "only": 0}, {}),
    "spread 4, the second of two": ({"spread": 4.0, "delays": (0.0, 0.0), "only": 1}, {}),
    "spread 4, both": ({"spread": 4.0, "delays": (0.0, 0.0)}, {}),
    "rounded to 4, untold": ({"rounded": 4.0, "told": False}, {}),
    "rounded to 4": ({"rounded": 4.0}, {}),
}


def stamped(
    session: Session,
    spacing: float,
    random: np.random.Generator,
    *,
    spread: float = 1.0,
    delays: tuple[float, ...] = (0.0,),
    offset: float = 0.0,
    drift: float = 0.0,
    rounded: float = 0.0,
    told: bool = True,
    only: int | None = None,
) -> tuple[Session, float]:
    """The session with a stamp of everybody for every event, and how far its clock is off in the
    middle."""
    events = session.times[np.asarray(session.labels) == 1]
    first, last = session.times[[0, -1]]
    ahead, gain = offset * spacing * random.normal(), drift * random.normal()
    streams = {}
    for k, delay in enumerate(delays):
        pressed = events + random.normal(delay, spread, len(events)) * spacing
        pressed += ahead + gain * (events - first)
        if rounded:
            pressed = rounded * spacing * np.round(pressed / (rounded * spacing))
        streams[f"p{k}"] = pressed
    if only is not None:
        streams = {"p": streams[f"p{only}"]}
    width = rounded * spacing if rounded and told else None
    in_the_middle = ahead + 0.5 * gain * (last - first)
    if told and len(streams) > 1:
        return session.replace(events=streams, rounded=width), in_the_middle
    together = np.sort(np.concatenate(list(streams.values())))
    return session.replace(events=together, rounded=width), in_the_middle


def f1(sessions: list[Session], learner: Any) -> float:
    """On subjects that were not trained on."""
    subjects = [session.subject or session.name for session in sessions]
    found: list[Any] = [None] * len(sessions)
    folds = GroupKFold(min(5, len(set(subjects))))
    for train, test in folds.split(subjects, groups=subjects):
        learner.fit([sessions[k] for k in train])
        # Labels and stamps of the others are not seen.
        hidden = [sessions[k].replace(events=[]) for k in test]
        for k, own in zip(test, hidden, strict=True):
            found[k] = learner.predict_proba(own)
    return float(metrics.f1(sessions, found))


def offsets(sessions: list[Session], truth: list[float], spacing: float) -> tuple[int, int, int]:
    """Sessions with an offset, those within half a spacing, and those whose interval holds it."""
    detector = EventDetector(clock="session").fit(sessions)
    table = detector.groups_
    rows = {
        group: (value, low, high)
        for what, group, value, low, high in zip(
            *(table[name] for name in ("what", "group", "value", "low", "high")), strict=True
        )
        if what == "offset"
    }
    many = [k for k, session in enumerate(sessions) if len(session.events) >= 5]
    found = np.array([rows[sessions[k].name] for k in many])
    # Only differences of clocks can be told: what they have in common is delay.
    error = found[:, 0] - np.array([truth[k] for k in many])
    error -= error.mean()
    reach = np.column_stack([found[:, 1] - found[:, 0], found[:, 2] - found[:, 0]])
    near = np.abs(error) <= 0.5 * spacing
    held = (reach[:, 0] <= -error) & (-error <= reach[:, 1])
    return len(many), int(near.sum()), int(held.sum())


def main() -> None:
    """Prints a line for each recording and case."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", nargs="*", help="folders of labelled recordings")
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    recordings = {"respiration": simulate.respiration(seed=0)}
    recordings |= {
        folder.rstrip("/").split("/")[-1]: read_dataset(folder) for folder in options.data
    }
    for name, sessions in recordings.items():
        sessions = [session for session in sessions if len(session) > 2]
        spacing = float(np.median(np.concatenate([np.diff(own.times) for own in sessions])))
        best = f1(sessions, baselines.HandAligned())
        print(f"{name}: {best:.3f} from labels")
        for case, (annotator, told) in CASES.items():
            scores, found = [], np.zeros(3, dtype=int)
            for seed in range(options.seeds):
                random = np.random.default_rng(seed)
                drawn = [stamped(own, spacing, random, **annotator) for own in sessions]
                training, truth = [own for own, _ in drawn], [ahead for _, ahead in drawn]
                scores.append(f1(training, EventDetector(**told)))
                if told is CLOCKS:
                    found += offsets(training, truth, spacing)
            line = f"  {case:40} {np.mean(scores):.3f}, {100 * np.mean(scores) / best:.0f} %"
            if found[0]:
                of, near, held = found
                line += (
                    f"; {100 * near / of:.0f} % of offsets within 0.5, {100 * held / of:.0f} % held"
                )
            print(line, flush=True)


if __name__ == "__main__":
    main()
