"""Other parts: each time beside what its arithmetic needs at the rates of this machine."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from clock import Row, alternate, cost, timed
from data import PAPER, annotator, session
from library import Library

TITLE = "Other parts"
ABOUT = """\
Each time beside what its arithmetic needs: floating-point operations at the rate of NumPy's
matrix product (OpenBLAS, doubles, 1,500 × 1,500), plus bytes at the rate of a sum over 320 MB,
plus exponentials at the rate of `numpy.exp` over 16,384 doubles; one thread, all rates measured
in turns with the part itself. What is needed stands in the last column; n are instances, d
features, m landmarks, w cells of the windows (17 spreads per stamp)."""

GOAL = 3.0


@dataclass
class Needs:
    """The arithmetic of one run."""

    operations: float = 0.0
    bytes: float = 0.0
    exponentials: float = 0.0

    def seconds(self, rates: dict[str, np.ndarray]) -> np.ndarray:
        """Round by round."""
        return (
            self.operations / rates["operations"]
            + self.bytes / rates["bytes"]
            + self.exponentials / rates["exponentials"]
        )


def measure() -> list[Row]:
    """All rows."""
    return [*_kernels(), _network(), *_annotators()]


def _kernels() -> list[Row]:
    d = 10
    n = 8000
    made = session(n, 2.0, d)
    exact = {"kind": "kernel", "length_scale": None, "landmarks": None}
    prepare = Needs(n**3 / 3 + d * n**2, 0.0, n**2 / 2)
    rows = _classifier(
        "exact kernel, n = 8,000",
        exact,
        made,
        [
            ("prepare", prepare, "n³/3 + d·n² operations, n²/2 exponentials"),
            ("evaluate", Needs(bytes=8.0 * n * n), "8·n² bytes"),
        ],
    )
    n, m = 100_000, 500
    made = session(n, 2.0, d)
    landmarks = {"kind": "kernel", "length_scale": None, "landmarks": m}
    prepare = Needs(n * m**2 + m**3 / 3 + 2 * d * n * m, 0.0, n * m)
    rows += _classifier(
        "Nyström, n = 100,000, m = 500",
        landmarks,
        made,
        [
            ("prepare", prepare, "n·m² + m³/3 + 2·d·n·m operations, n·m exponentials"),
            ("evaluate", Needs(bytes=8.0 * n * m), "8·n·m bytes"),
        ],
    )
    return rows


def _network() -> Row:
    n, d, hidden = 100_000, 50, 32
    spec = {"kind": "mlp", "hidden": [hidden], "activation": "tanh"}
    # Forward, and back to the weights: two operations per weight each.
    needs = Needs(4.0 * n * (d + 1) * hidden, 8.0 * n * d, n * hidden)
    said = "4·n·d·32 operations, 8·n·d bytes, 32·n exponentials"
    made = session(n, 2.0, d)
    return _classifier("network 50-32-1, n = 100,000", spec, made, [("evaluate", needs, said)])[0]


def _classifier(name: str, spec: dict, made: dict, whats: list) -> list[Row]:
    case = {"kind": "objective", "columns": made["features"].shape[1]}
    case["model"] = {"classifier": spec}
    rows = []
    with Library(case, made) as ours:
        for what, needs, said in whats:
            rows.append(_row(f"{name}: {what}", ours, what, needs, said))
    return rows


def _annotators() -> list[Row]:
    n, spread = 100_000, 2.0
    made = session(n, spread)
    false, hit, delay, log_spread = annotator(spread)
    w = 17.0 * spread * len(made["stamps"])
    bell = {"kind": "gaussian"}
    # Labels: a sigmoid and a logarithm per instance. Cells: a density, and forward, backward and
    # posterior of the recursion for each count.
    cases = {
        "mixture of two": (
            [{"kind": "bernoulli"}, {"kind": "gaussian_mixture", "components": 2}],
            [false, hit, 0.0, delay, delay + 1.0, log_spread, log_spread],
            Needs(20 * w, 0.0, 2 * n + 2 * w),
            "20·w operations, 2·n + 2·w exponentials",
        ),
        "Poisson counts": (
            [{"kind": "poisson"}, bell],
            [false, hit, delay, log_spread],
            Needs(20 * w, 0.0, 2 * n + w),
            "20·w operations, 2·n + w exponentials",
        ),
        "categorical counts up to 3": (
            [{"kind": "categorical", "max_count": 3}, bell],
            [false, hit, 2.0, 1.0, 2.0, 1.0, delay, log_spread],
            Needs(60 * w, 0.0, 2 * n + w),
            "60·w operations, 2·n + w exponentials",
        ),
    }
    rows = []
    for name, ((counts, noise), params, needs, said) in cases.items():
        case = {"kind": "evidence", "model": PAPER | {"counts": counts, "noise": noise}}
        with Library(case, {**made, "params": params}) as ours:
            rows.append(_row(f"{name}, n = 100,000", ours, "evaluate", needs, said))
    return rows


def _row(name: str, ours: Library, what: str, needs: Needs, said: str) -> Row:
    # Preparing takes long, and leaves nothing behind that would make the next time shorter.
    is_long = what == "prepare"
    side = ours.side(what, once=60.0 if is_long else None)
    times = alternate({"ours": side, **_probes()}, rounds=5, seconds=10.0, warm=not is_long)
    rates = {probe: amount / times[probe] for probe, amount in AMOUNTS.items()}
    operations, stream, exponentials = (float(np.median(rates[probe])) for probe in AMOUNTS)
    note = f"needs {said} at {operations / 1e9:.0f} GF/s, {stream / 1e9:.1f} GB/s, "
    note += f"{exponentials / 1e9:.2f} G/s"
    peer = "arithmetic"
    return cost(name, peer, times["ours"], needs.seconds(rates), goal=GOAL, note=note)


_MATRIX = np.random.default_rng(0).standard_normal((1500, 1500))
_STREAM = np.ones(40_000_000)
_POWERS = np.random.default_rng(1).uniform(-10.0, 0.0, 16_384)
_OUT = np.empty_like(_POWERS)

AMOUNTS = {
    "operations": 2.0 * len(_MATRIX) ** 3,
    "bytes": float(_STREAM.nbytes),
    "exponentials": float(len(_POWERS)),
}


def _probes() -> dict:
    return {
        "operations": timed(lambda: _MATRIX @ _MATRIX),
        "bytes": timed(_STREAM.sum),
        "exponentials": timed(lambda: np.exp(_POWERS, out=_OUT)),
    }
