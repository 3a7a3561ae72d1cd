"""Families of sloppy annotators: what they do to the true times.

Lengths are in median spacings of instances. The human family takes errors of people who tapped to
music (`../shared/data/human_timing_errors`): every recording gets the errors of one tapped piece,
with its bias and its heavy tails, all scaled by one factor so that their standard deviation over
all pieces is two spacings. Their shape is real, their size is set.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from dataclasses import dataclass, replace

import numpy as np
from data import SHARED, Recording

TAPS = SHARED / "human_timing_errors" / "tapcorrect_residuals.csv"
HUMAN_SPREAD = 2.0


@dataclass(frozen=True)
class Family:
    """How stamps differ from the truth."""

    name: str
    spread: float = 1.0
    late: tuple[float, float] | None = None  # shape and scale of a Gamma delay, instead of a spread
    offset: float = 0.0  # standard deviation of one offset per recording
    missed: float = 0.0  # share of events
    extra: float = 0.0  # stamps for nothing, per event
    human: bool = False


EXACT = Family("exact", spread=0.0)
FAMILIES = (
    *(Family(f"Gaussian {spread:g}", spread=spread) for spread in (0.5, 1.0, 2.0, 4.0, 8.0)),
    Family("skewed", late=(2.0, 1.0)),
    Family("offset", offset=3.0),
    Family("missed, extra", missed=0.1, extra=0.1),
    Family("human", human=True),
)
MEANING = {
    "Gaussian": "normal errors with this standard deviation, mean zero",
    "skewed": "always late: Gamma delays of shape 2 and scale 1, so 2 late on average",
    "offset": "Gaussian 1, and an offset of each recording with standard deviation 3",
    "missed, extra": "Gaussian 1; 10 % of events missed, and 10 % as many stamps for nothing",
    "human": "errors of people who tapped to music, scaled to a standard deviation of 2",
}


def usable() -> list[Family]:
    """The families whose data are here."""
    return [family for family in FAMILIES if not family.human or TAPS.is_file()]


def stamp(recordings: list[Recording], family: Family, seed: int) -> list[Recording]:
    """The recordings, with stamps."""
    random = np.random.default_rng([seed, 7])
    pieces = _pieces() if family.human else []
    return [replace(r, stamps=_stamps(r, family, random, pieces)) for r in recordings]


def _stamps(recording: Recording, family: Family, random, pieces: list[np.ndarray]) -> np.ndarray:
    times = recording.times[recording.labels == 1]
    times = times[random.random(len(times)) >= family.missed]
    if family.human:
        errors = random.choice(pieces[random.integers(len(pieces))], len(times))
    elif family.late is not None:
        errors = random.gamma(*family.late, len(times))
    else:
        errors = random.normal(0.0, family.spread, len(times))
    errors = errors + random.normal(0.0, family.offset)
    nothing = random.poisson(family.extra * recording.labels.sum())
    anywhere = random.uniform(recording.times[0], recording.times[-1], nothing)
    return np.sort(np.concatenate([times + errors, anywhere]))


def _pieces() -> list[np.ndarray]:
    """Scaled errors of each tapped piece, in the units of its beat."""
    errors = defaultdict(list)
    with open(TAPS) as file:
        for row in csv.DictReader(file):
            if row["kind"] == "matched":
                errors[row["recording"]].append(float(row["residual"]) / float(row["period"]))
    scale = HUMAN_SPREAD / np.std(np.concatenate(list(errors.values())))
    return [scale * np.array(piece) for piece in errors.values()]
