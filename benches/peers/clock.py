"""Times of several things that take turns.

Only things measured in the same minutes on the same data are compared: in a round each side has one
turn, rounds follow each other, and a ratio is formed within each round. What disturbs the machine
then disturbs both. A turn is one run, or, if that is short, about 20 ms of runs, whose shortest
counts: the first ones find the caches as the other side left them.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass

import numpy as np

#: A side of a comparison: has a turn and gives the seconds of one run.
Side = Callable[[], float]

#: Seconds of a turn of short runs.
TURN = 0.02


@dataclass
class Row:
    """One line of a table."""

    case: str
    peer: str
    #: Which way the ratio goes: "peer / ours" (how many times faster) or "ours / peer".
    way: str
    ours_seconds: float | None
    peer_seconds: float | None
    #: Quartiles over the rounds.
    low: float
    ratio: float
    high: float
    #: The bound that was set, if any: at least for "peer / ours", at most for "ours / peer".
    goal: float | None = None
    note: str = ""
    #: Of a figure that is no ratio of two times: "bytes".
    unit: str = ""

    def json(self) -> dict:
        return asdict(self)


def repeats(once: float) -> int:
    """Runs in a turn, if one takes `once` seconds."""
    return 1 if once > TURN else min(2000, 1 + round(TURN / once))


def timed(work: Callable[[], object], once: float | None = None) -> Side:
    """Runs `work` in this process. `once` is about how long that takes, if it need not be tried."""

    def run() -> float:
        begun = time.perf_counter()
        work()
        return time.perf_counter() - begun

    repeat = repeats(run() if once is None else once)
    return lambda: min(run() for _ in range(repeat))


def alternate(
    sides: dict[str, Side], rounds: int = 9, seconds: float = 8.0, warm: bool = True
) -> dict[str, np.ndarray]:
    """Times of every side, by rounds: `rounds` of them, fewer if they take longer than `seconds`
    together (three at least, or one where that would take three times as long). One more round at
    the start, if `warm`, is left out."""
    for side in sides.values() if warm else []:
        side()
    found: dict[str, list[float]] = {name: [] for name in sides}
    begun = time.perf_counter()
    for done in range(1, rounds + 1):
        for name, side in sides.items():
            found[name].append(side())
        spent = time.perf_counter() - begun
        if spent > (seconds if done >= 3 else 3 * seconds):
            break
    return {name: np.array(times) for name, times in found.items()}


def faster(case: str, peer: str, ours: np.ndarray, theirs: np.ndarray, **more) -> Row:
    """How many times faster than the peer."""
    return _row(case, peer, "peer / ours", theirs / ours, ours, theirs, **more)


def cost(case: str, peer: str, ours: np.ndarray, theirs: np.ndarray, **more) -> Row:
    """How many times the peer's time."""
    return _row(case, peer, "ours / peer", ours / theirs, ours, theirs, **more)


def _row(case, peer, way, ratios, ours, theirs, **more) -> Row:
    low, ratio, high = np.quantile(ratios, [0.25, 0.5, 0.75])
    seconds = [float(np.median(times)) for times in (ours, theirs)]
    return Row(case, peer, way, *seconds, float(low), float(ratio), float(high), **more)
