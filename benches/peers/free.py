"""Inference without order: belief propagation beside the exact sum over alignments in order."""

from __future__ import annotations

import numpy as np
from clock import Row, alternate, cost
from data import BACKGROUND, PAPER, annotator, session
from library import Library, agree

TITLE = "Inference without order"
ABOUT = """\
Log evidence of one session and its derivatives in every log-odds and in the annotator's parameters,
as in the section above, with stamps in any order and a background of one stamp in a thousand
instances, as a fit begins with; beside the library's own sum in order without a background, the
paper's. One stamp at most per instance, spread of two spacings, 5 % as many stamps as instances,
one thread. "From nothing" is one evaluation alone. "Messages kept" is an evaluation in a fit, which
begins with the messages of the last one: the spread goes from 2 to 2.02 spacings and back, and both
sides do the same. Memory is what both hold at most during such evaluations, kept messages
included, and how much more of it is taken without order."""

SPREAD, NEXT_SPREAD = 2.0, 2.02
FREE = {"alignment": "free", "frozen": [{"name": "background.rate", "values": [BACKGROUND]}]}

#: What was asked: times the cost of the sum in order, from nothing and with messages kept.
COLD, KEPT = 8.0, 3.0
#: What was asked: how much more an instance may cost in longer sessions, and bytes of memory each.
GROWTH, BYTES = 1.2, 64.0

#: Messages settle to 1e-7; that is the error of a gradient, and its square that of a value.
SETTLED = 1e-6


def measure() -> list[Row]:
    """All rows."""
    growth = [_growth(10_000, instances) for instances in [100_000, 1_000_000]]
    return [*_beside_ordered(10_000), *growth, _memory(1_000_000)]


def _library(model: dict, instances: int) -> Library:
    params = {"params": annotator(SPREAD), "next": annotator(NEXT_SPREAD)}
    return Library({"kind": "evidence", "model": model}, session(instances, SPREAD) | params)


def _beside_ordered(instances: int) -> list[Row]:
    with _library(FREE, instances) as free, _library(PAPER, instances) as ordered:
        _check(free, instances)
        sides = {"free": free.side(), "ordered": ordered.side()}
        sides |= {"free kept": free.side("kept"), "ordered kept": ordered.side("kept")}
        times = alternate(sides, rounds=15, seconds=8.0)
    case, peer = f"{instances:,} instances", "in order"
    # A run with messages kept is two evaluations.
    kept = [times[side] / 2 for side in ["free kept", "ordered kept"]]
    return [
        cost(f"{case}, from nothing", peer, times["free"], times["ordered"], goal=COLD),
        cost(f"{case}, messages kept", peer, *kept, goal=KEPT, note="spread moves by 1 %"),
    ]


def _check(free: Library, instances: int) -> None:
    """Kept messages lead to where one arrives from nothing."""
    value, gradient = free.run("kept", repeat=5)["value"], free.numbers()
    arrays = session(instances, SPREAD) | {"params": annotator(NEXT_SPREAD)}
    with Library({"kind": "evidence", "model": FREE}, arrays) as alone:
        agree("value with messages kept", value, alone.run()["value"], SETTLED**2)
        agree("gradient with messages kept", gradient, alone.numbers(), SETTLED)


def _growth(few: int, many: int) -> Row:
    with _library(FREE, few) as small, _library(FREE, many) as large:
        times = alternate({"small": small.side(), "large": large.side()}, rounds=11, seconds=15.0)
    each = [times["large"] / many, times["small"] / few]
    note = f"{1e9 * np.median(each[0]):.0f} ns per instance"
    return cost(f"{many:,} instances, each", f"{few:,} instances", *each, goal=GROWTH, note=note)


def _memory(instances: int) -> Row:
    extra = {}
    for name, model in {"free": FREE, "ordered": PAPER}.items():
        with _library(model, instances) as ours:
            extra[name] = (ours.run("kept")["peak"] - ours.loaded["resident"]) / instances
    more = extra["free"] - extra["ordered"]
    title = f"{instances:,} instances, memory each beyond that in order"
    note = f"{extra['free']:.0f} and {extra['ordered']:.0f} bytes"
    return Row(title, "", "ours / peer", None, None, more, more, more, BYTES, note, "bytes")
