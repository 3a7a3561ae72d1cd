"""Inference: log evidence and all its gradients, beside the same recursion in other libraries."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import recursion
from clock import Row, alternate, cost, faster, timed
from data import PAPER, annotator, session
from library import Library, Served, agree

TITLE = "Inference"
ABOUT = """\
Log evidence of one session and its derivatives in every log-odds and in the annotator's four
parameters; stamps in order, at most one per instance, Gaussian delays, 5 % as many stamps as
instances, one thread. All sides agree in value and gradient to 1e-8 before they are timed. "JAX"
is the textbook recursion over all cells, compiled, with automatic differentiation
(`benches/peers/recursion.py`); "PyTorch" the same by autograd; "CTC" is PyTorch's C++ `ctc_loss`
of the same size, forward and backward, which is another function and is here for what a C++
recursion over all cells costs. Spreads are in instance spacings. The last rows are the library
alone on a million instances, beside `numpy.exp` of a million doubles."""

SPREADS = [0.5, 2.0, 8.0]
#: What was asked: times faster than JAX.
GOALS = {264: 20.0, 10_000: 500.0}
#: What was asked of a million instances: nanoseconds per instance.
NANOSECONDS = {0.5: 15.0, 2.0: 40.0}

#: Sums of ten thousand logarithms, in other orders.
ROUNDING = 1e-8


def measure() -> list[Row]:
    """All rows."""
    rows = []
    for instances in [264, 2000, 10_000]:
        for spread in SPREADS:
            rows += _beside_others(instances, spread)
    for spread in SPREADS:
        rows.append(_alone(1_000_000, spread))
    return rows


def _beside_others(instances: int, spread: float) -> list[Row]:
    made, params = session(instances, spread), annotator(spread)
    arrays = {**made, "params": params}
    case = f"{instances:,} instances, spread {spread:g}"
    with Library({"kind": "evidence", "model": PAPER}, arrays) as ours:
        value = ours.run()["value"]
        gradient = ours.numbers()
        style, jax = _jax(made, params, value, gradient)
        sides = {"ours": ours.side(), "jax": timed(jax)}
        times = alternate(sides, rounds=9, seconds=6.0)
        goal = GOALS.get(instances)
        rows = [faster(case, "JAX", times["ours"], times["jax"], goal=goal, note=style)]
        rows += _torch(case, arrays, ours, value, gradient)
    return rows


def _jax(made, params, value, gradient):
    """The faster of the styles that agree."""
    found = []
    for evidence, style in [(recursion.in_logs, "log space"), (recursion.scaled, "scaled rows")]:
        run = recursion.compiled(evidence, made, params)
        got, gradients = run()
        try:
            agree(f"JAX, {style}, value", value, got, ROUNDING)
            agree(f"JAX, {style}, gradient", gradient, np.concatenate(gradients), ROUNDING)
        except AssertionError:
            if evidence is recursion.in_logs:
                raise
            continue  # Underflow, as recursion.py says.
        found.append((timed(run)(), style, run))
    _, style, run = min(found, key=lambda one: one[0])
    return style, run


def _torch(case, arrays, ours, value, gradient) -> list[Row]:
    python = os.environ.get("PEERS_TORCH", "")
    if not python:
        return []
    side = str(Path(__file__).with_name("torch_side.py"))
    with Served([python, side], {}, arrays) as torch:
        agree("PyTorch, value", value, torch.run("autograd")["value"], ROUNDING)
        agree("PyTorch, gradient", gradient, torch.numbers(), ROUNDING)
        sides = {"ours": ours.side()}
        sides["PyTorch"], sides["CTC"] = torch.side("autograd"), torch.side("ctc")
        times = alternate(sides, rounds=5, seconds=3.0)
    return [faster(case, peer, times["ours"], times[peer]) for peer in ["PyTorch", "CTC"]]


def _alone(instances: int, spread: float) -> Row:
    arrays = {**session(instances, spread), "params": annotator(spread)}
    numbers = np.random.default_rng(0).uniform(-10.0, 0.0, instances)
    out = np.empty_like(numbers)
    with Library({"kind": "evidence", "model": PAPER}, arrays) as ours:
        sides = {"ours": ours.side(), "exp": timed(lambda: np.exp(numbers, out=out))}
        times = alternate(sides, rounds=15, seconds=6.0)
    case = f"{instances:,} instances, spread {spread:g}, each"
    each = {side: 1e9 * seconds / instances for side, seconds in times.items()}
    row = cost(case, "numpy.exp", times["ours"] / instances, times["exp"] / instances)
    row.note = f"{row.ratio:.3g} × `numpy.exp` of as many"
    row.low, row.ratio, row.high = np.quantile(each["ours"], [0.25, 0.5, 0.75]).tolist()
    row.unit, row.goal = "ns", NANOSECONDS.get(spread)
    return row
