"""The sessions of the golden files.

Only Random.random() is used: its sequence is the same in every Python version.
"""

import itertools
import random

from parts import COUNTS, NOISE


def number(rng, low, high):
    return round(low + (high - low) * rng.random(), 3)


def random_counts(rng, kind):
    rates = {"false_rate": number(rng, 0.02, 0.4), "hit_rate": number(rng, 0.5, 0.95)}
    if kind != "categorical":
        return {"kind": kind, **rates}
    two = {"false_split": [0.75, 0.25], "hit_split": [0.625, 0.375]}
    three = {"false_split": [0.75, 0.1875, 0.0625], "hit_split": [0.5, 0.375, 0.125]}
    return {"kind": kind, **rates, **(two if rng.random() < 0.5 else three)}


def random_noise(rng, kind):
    """A noise model and two delays between which its density is positive and ordinary."""
    delay, spread = number(rng, -0.4, 0.6), number(rng, 0.3, 1.2)
    around = (delay - 1.5 * spread, delay + 1.5 * spread)
    if kind in ("gaussian", "laplace"):
        return {"kind": kind, "delay": delay, "spread": spread}, around
    if kind == "gaussian_mixture":
        noise = {"weights": [0.625, 0.375], "delays": [delay, number(rng, 0.8, 1.6)]}
        return {"kind": kind, **noise, "spreads": [spread, number(rng, 0.2, 0.6)]}, around
    if kind == "student_t":
        noise = {"kind": kind, "delay": delay, "scale": spread}
        return noise | {"degrees_of_freedom": number(rng, 1.5, 8)}, around
    if kind == "shifted_gamma":
        noise = {"kind": kind, "shift": delay, "shape": number(rng, 1.2, 4), "spread": spread}
        return noise, (delay + 0.2 * spread, delay + 3 * spread)
    earliest, latest = round(delay - spread, 3), round(delay + 2 * spread, 3)
    inside = (earliest + 0.1 * spread, latest - 0.1 * spread)
    return {"kind": kind, "earliest": earliest, "latest": latest}, inside


def random_session(name, count_kind, noise_kind, seed, length, stamp_count, **changes):
    """Irregular times, stamps near some of them, a third of the labels known; `changes` replace.

    A name that ends in -1 has two equal times, one that ends in -2 two equal stamps.
    """
    rng = random.Random(seed)
    counts = random_counts(rng, count_kind)
    noise, (low, high) = random_noise(rng, noise_kind)
    times = list(itertools.accumulate(number(rng, 0.3, 1.5) for _ in range(length)))
    times = [round(t, 3) for t in times]
    if name.endswith("-1"):
        times[1] = times[0]
    ranking = sorted(range(length), key=lambda _: rng.random())
    owners = [ranking[l % length] for l in range(stamp_count)]
    stamps = sorted(round(times[i] + number(rng, low, high), 3) for i in owners)
    if name.endswith("-2") and stamp_count >= 2:
        stamps[0] = stamps[1]
    labels = [[None, None, None, None, 0, 1][int(6 * rng.random())] for _ in range(length)]
    if name.endswith("-1"):
        labels[0] = None  # two equal instances with one known label would tie the best alignment
    session = {
        "name": name,
        "times": times,
        "stamps": stamps,
        "log_odds": [number(rng, -3, 3) for _ in range(length)],
        "labels": labels,
        "counts": counts,
        "noise": noise,
    }
    for part in ("counts", "noise"):
        session[part] |= changes.pop(part, {})
    return session | changes


def grid_sessions():
    kinds = list(itertools.product(COUNTS, NOISE))
    for k, (counts, noise) in enumerate(kinds):
        length, stamp_count = [(4, 2), (5, 3), (4, 3)][k % 3]
        yield random_session(f"{counts}-{noise}-1", counts, noise, 100 + k, length, stamp_count)
        length, stamp_count = [(3, 3), (4, 2), (5, 4)][k % 3]
        yield random_session(f"{counts}-{noise}-2", counts, noise, 200 + k, length, stamp_count)


def corner_sessions():
    """Where arithmetic goes wrong: no stamps, no slack, saturated rates and labels, far stamps."""
    for k, counts in enumerate(COUNTS):
        noise = list(NOISE)[k]
        yield random_session(f"no-stamps-{counts}", counts, noise, 300 + k, 4, 0)
        low_high = {"false_rate": 1e-12, "hit_rate": 1 - 1e-12}
        name = f"saturated-rates-{counts}"
        yield random_session(name, counts, noise, 310 + k, 4, 3, counts=low_high)
        ceiling = 1.0 if counts in ("bernoulli", "categorical") else 0.75
        bounds = {"false_rate": 0.0, "hit_rate": ceiling}
        closed = {"counts": bounds, "labels": [None, None, 1, None]}
        name = f"rates-at-bounds-{counts}"
        yield random_session(name, counts, noise, 320 + k, 4, 3, **closed)
        sure = {"log_odds": [30.0, -30.0, 30.0, -30.0], "labels": [None, None, 0, 1]}
        yield random_session(f"saturated-labels-{counts}", counts, noise, 330 + k, 4, 2, **sure)
    yield random_session("capacity-bernoulli", "bernoulli", "gaussian", 340, 4, 4)
    yield random_session("capacity-bernoulli-uniform", "bernoulli", "uniform", 341, 3, 3)
    two = {"false_split": [0.75, 0.25], "hit_split": [0.625, 0.375]}
    yield random_session("capacity-categorical", "categorical", "laplace", 342, 2, 4, counts=two)
    holes = {"false_split": [1.0, 0.0, 0.0], "hit_split": [0.5, 0.0, 0.5]}
    yield random_session("split-with-zeros", "categorical", "gaussian", 343, 3, 4, counts=holes)
    yield random_session("one-instance-one-stamp", "bernoulli", "student_t", 344, 1, 1)
    yield random_session("one-instance-poisson", "poisson", "gaussian", 345, 1, 3)
    yield random_session("equal-times", "poisson", "gaussian_mixture", 346, 3, 3, times=[0.5] * 3)
    swapped = {"false_rate": 0.8, "hit_rate": 0.1}
    yield random_session("rates-swapped", "geometric", "gaussian", 347, 4, 3, counts=swapped)
    for k, noise in enumerate(["gaussian", "laplace", "student_t", "gaussian_mixture"]):
        far = {"stamps": [-60.0, 1.25, 75.0]}
        yield random_session(f"far-stamps-{noise}", "bernoulli", noise, 350 + k, 4, 3, **far)


def zero_density_sessions():
    """Bounded noise that forbids some alignments; delays exactly on a bound (binary fractions)."""
    late = {"kind": "shifted_gamma", "shift": 0.25, "shape": 2.5, "spread": 0.5}
    box = {"kind": "uniform", "earliest": -0.5, "latest": 1.0}
    sparse = {"times": [0.0, 0.75, 1.5, 3.0], "stamps": [0.5, 1.875, 3.5]}
    touching = {"times": [0.0, 1.0, 1.5, 2.5], "stamps": [0.5, 2.0, 2.25]}
    on_box = {"noise": box, **touching}
    for k, counts in enumerate(COUNTS):
        for n, noise in enumerate([late, box]):
            name, seed = f"some-forbidden-{noise['kind']}-{counts}", 430 + 10 * n + k
            yield random_session(name, counts, noise["kind"], seed, 4, 3, noise=noise, **sparse)
    yield random_session("delay-on-bounds", "poisson", "uniform", 420, 4, 3, **on_box)
    at_shift = {"noise": late | {"shift": 0.5}, **touching, "stamps": [0.75, 1.5, 2.25]}
    yield random_session("delay-on-shift", "geometric", "shifted_gamma", 421, 4, 3, **at_shift)
    at_shift["noise"] = at_shift["noise"] | {"shape": 1.0}  # only here is the limit not zero
    yield random_session("delay-on-jump", "geometric", "shifted_gamma", 424, 4, 3, **at_shift)
    exponential = {"noise": late | {"shape": 1.0}, **sparse}
    yield random_session("gamma-shape-one", "bernoulli", "shifted_gamma", 422, 4, 3, **exponential)
    peak = {"noise": {"delay": 0.5, "spread": 0.75}, **touching}
    yield random_session("delay-on-peak", "bernoulli", "laplace", 423, 4, 3, **peak)


def tied_sessions():
    """Two or more best alignments of exactly equal weight."""
    same = {"times": [1.0, 1.0, 1.0], "stamps": [1.25], "log_odds": [0.5] * 3, "labels": [None] * 3}
    yield random_session("tie-equal-instances", "bernoulli", "gaussian", 500, 3, 1, **same)
    known = {"times": [0.0, 0.5, 1.0], "stamps": [0.75, 0.875], "labels": [1] * 3}
    known["noise"] = {"earliest": -2.0, "latest": 2.0}
    yield random_session("tie-uniform-poisson", "poisson", "uniform", 501, 3, 2, **known)


def infeasible_sessions():
    yield random_session("infeasible-bernoulli-capacity", "bernoulli", "gaussian", 600, 3, 4)
    one = {"counts": {"false_split": [1.0], "hit_split": [1.0]}}
    yield random_session("infeasible-categories", "categorical", "laplace", 601, 3, 4, **one)
    early = {
        "times": [0.0, 1.0, 2.0],
        "stamps": [0.125, 2.0],
        "noise": {"shift": 0.25, "shape": 2.0, "spread": 0.5},
    }
    yield random_session("infeasible-early-stamp", "poisson", "shifted_gamma", 602, 3, 2, **early)
    crowded = {
        "times": [0.0, 0.5, 2.0],
        "stamps": [0.25, 0.375, 0.5],
        "noise": {"earliest": -0.5, "latest": 0.5},
    }
    yield random_session("infeasible-crowded-uniform", "bernoulli", "uniform", 603, 3, 3, **crowded)
    silent = {"counts": {"false_rate": 0.0}, "labels": [0, 0, 0]}
    yield random_session("infeasible-known-negatives", "geometric", "gaussian", 604, 3, 1, **silent)


def sessions():
    yield from grid_sessions()
    yield from corner_sessions()
    yield from zero_density_sessions()
    yield from tied_sessions()
    yield from infeasible_sessions()
