"""The sessions of the golden files.

Only Random.random() is used: its sequence is the same in every Python version.
"""

import itertools
import math
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


# Sessions that may have a background and need not be ordered.


def loose(alignment, background, session):
    """The session with this alignment and background, and a duration that could hold all of it."""
    moments = session["times"] + session["stamps"]
    duration = math.ceil(max(moments) - min(moments)) + 1.0
    return session | {"alignment": alignment, "background": background, "duration": duration}


def loose_grid_sessions():
    for k, noise in enumerate(NOISE):
        length, stamp_count = [(4, 3), (3, 4), (4, 2)][k % 3]
        both = [("ordered", [0.05, 0.4, 1.5]), ("free", [0.4, 0.0, 0.05])]
        for n, (alignment, backgrounds) in enumerate(both):
            counts = list(COUNTS)[(k + 2 * n) % len(COUNTS)]
            name, seed = f"{alignment}-{counts}-{noise}", 700 + 10 * n + k
            session = random_session(name, counts, noise, seed, length, stamp_count)
            yield loose(alignment, backgrounds[k % 3], session)


def loose_corner_sessions(alignment):
    """Few stamps, more than instances can give, far ones, a background that hardly matters."""

    def session(name, background, *arguments, **changes):
        given = random_session(f"{alignment}-{name}", *arguments, **changes)
        return loose(alignment, background, given)

    known = {"labels": [1, 0, 1, 0]}
    yield session("known-labels", 0.2, "poisson", "gaussian", 720, 4, 3, **known)
    far = {"stamps": [0.875, 2.0, 60.0]}
    yield session("far-stamp", 0.05, "bernoulli", "gaussian", 721, 4, 3, **far)
    gap = {"times": [0.0, 0.5, 4.5, 5.0], "stamps": [2.125, 2.5, 2.75], "noise": {"spread": 1.25}}
    yield session("three-in-a-gap", 0.02, "bernoulli", "gaussian", 722, 4, 3, **gap)
    yield session("one-stamp", 0.1, "geometric", "laplace", 723, 4, 1)
    yield session("one-instance", 0.3, "categorical", "student_t", 724, 1, 3)
    yield session("no-stamps", 0.3, "geometric", "gaussian_mixture", 725, 4, 0)
    yield session("crowded", 0.3, "bernoulli", "shifted_gamma", 726, 2, 4)
    unreachable = {"stamps": [-5.0, 1.25, 9.0]}
    yield session("outside-support", 0.1, "poisson", "uniform", 727, 4, 3, **unreachable)
    yield session("faint-background", 1e-12, "categorical", "laplace", 728, 3, 3)
    # Delays of 0 or 2: the first stamp suits the second instance, and the second the first.
    twofold = {"weights": [0.5, 0.5], "delays": [0.0, 2.0], "spreads": [0.25, 0.25]}
    cross = {"times": [0.0, 1.0, 4.0], "stamps": [1.125, 2.0], "noise": twofold}
    yield session("crossing", 0.02, "bernoulli", "gaussian_mixture", 729, 3, 2, **cross)


def matched_sessions():
    """No background. All give one stamp: the evidence is a permanent, and one term is in order."""
    sure = {"counts": {"false_rate": 0.0, "hit_rate": 1.0}, "labels": [1, 1, 1]}
    near = {"times": [0.0, 0.5, 1.25], "stamps": [0.25, 0.5, 1.0], **sure}
    far = {"stamps": [-60.0, 1.25, 75.0]}
    for alignment in ("ordered", "free"):
        session = random_session(
            f"{alignment}-matching", "bernoulli", "gaussian", 730, 3, 3, **near
        )
        yield loose(alignment, 0.0, session)
    session = random_session("free-far-stamps", "geometric", "gaussian", 731, 4, 3, **far)
    yield loose("free", 0.0, session)


def loose_tied_sessions():
    equal = {"stamps": [0.75, 0.75], "labels": [None] * 3}
    session = random_session("tie-free-equal-stamps", "bernoulli", "gaussian", 740, 3, 2, **equal)
    yield loose("free", 0.01, session)
    same = {"times": [1.0] * 3, "stamps": [1.25], "log_odds": [0.5] * 3, "labels": [None] * 3}
    session = random_session("tie-free-equal-instances", "poisson", "gaussian", 741, 3, 1, **same)
    yield loose("free", 0.01, session)
    # Rates of ½ make a stamp as likely as silence, and the density is as high as the background.
    even = {"counts": {"false_rate": 0.5, "hit_rate": 0.5}, "times": [0.0], "stamps": [0.25]}
    even["noise"] = {"earliest": -1.0, "latest": 1.0}
    session = random_session("tie-ordered-background", "bernoulli", "uniform", 742, 1, 1, **even)
    yield loose("ordered", 0.5, session)


def loose_infeasible_sessions():
    for alignment in ("ordered", "free"):
        name = f"infeasible-{alignment}-capacity"
        session = random_session(name, "bernoulli", "gaussian", 750, 2, 3)
        yield loose(alignment, 0.0, session)
    early = {"stamps": [-9.0, 1.5]}
    session = random_session("infeasible-free-early", "poisson", "uniform", 751, 3, 2, **early)
    yield loose("free", 0.0, session)


def loose_sessions():
    yield from loose_grid_sessions()
    yield from loose_corner_sessions("ordered")
    yield from loose_corner_sessions("free")
    yield from matched_sessions()
    yield from loose_tied_sessions()
    yield from loose_infeasible_sessions()


# Sessions too large to enumerate.


def detected_session(name, seed, length, stamp_count, spread, background):
    """A fair detector, stamps of instances of their own, and a few that fall anywhere.

    Instances are one apart on average, at most one stamp each.
    """
    rng = random.Random(seed)
    times = list(itertools.accumulate(number(rng, 0.5, 1.5) for _ in range(length)))
    times = [round(t, 3) for t in times]
    events = sorted(range(length), key=lambda _: rng.random())[:stamp_count]
    delay = number(rng, -0.5, 0.5)

    def stamp(i):
        radius, angle = math.sqrt(-2 * math.log(1 - rng.random())), 2 * math.pi * rng.random()
        if rng.random() < background * length / stamp_count:
            return number(rng, times[0], times[-1])
        return round(times[i] + delay + spread * radius * math.cos(angle), 3)

    session = {
        "name": name,
        "times": times,
        "stamps": sorted(stamp(i) for i in events),
        "log_odds": [number(rng, *((-1, 4) if i in events else (-4, 1))) for i in range(length)],
        "labels": [None] * length,
        "counts": {
            "kind": "bernoulli",
            "false_rate": number(rng, 0.01, 0.1),
            "hit_rate": number(rng, 0.8, 0.95),
        },
        "noise": {"kind": "gaussian", "delay": delay, "spread": spread},
    }
    return loose("free", background, session)


def frontier_sessions():
    """Ten for each density of stamps and each spread, two of them with much background."""
    grid = itertools.product([0.3, 0.6], [0.3, 1.0, 3.0], range(10))
    for k, (density, spread, n) in enumerate(grid):
        length = 12 + n % 3 if density == 0.3 else 10 + n % 5
        background = 0.1 if n < 2 else 0.01
        name = f"density-{density}-spread-{spread}-{n}"
        stamp_count = round(density * length)
        yield detected_session(name, 800 + k, length, stamp_count, spread, background)
