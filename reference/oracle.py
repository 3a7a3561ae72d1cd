"""Enumeration oracle: the model's joint, added up term by term.

Every label vector y and every count vector o with Σ o_i = M is visited, and its weight

    Π_i p(y_i | f_i) · p(o_i | y_i) · o_i!  ·  Π_l p(z_l − t_w(l))

is added to whatever is asked for. Stamps go to instances in order, so o fixes w. The factor o_i! is
there because c independent draws, seen sorted, have c! times the product of their densities.

There is no recursion and labels are not summed out first: the point of this file is to share
nothing with the fast implementation that it judges. Cost is 2^L · (M+1)^L. Weights are kept as
logs, so that a stamp a hundred spreads away from every instance still has a posterior.

Derivatives are complex steps, Im log evidence(parameter + ih) / h with h = 1e-30: no difference is
taken, so nothing cancels but the terms of the derivative itself.

    python oracle.py --write golden/oracle.json
    python oracle.py --check
"""

import argparse
import cmath
import copy
import itertools
import json
import math
import pathlib
import platform
import random
import sys

NEVER = -math.inf  # compared by equality only, so that a NaN is not taken for it
STEP = 1e-30
TIE = 1e-12  # log weights closer than this differ by rounding only
GOLDEN = pathlib.Path(__file__).with_name("golden") / "oracle.json"


# Elementary functions of a real number, or of one that carries an infinitesimal imaginary part.


def exp(x):
    return cmath.exp(x) if isinstance(x, complex) else math.exp(x)


def log(x):
    if x == 0:
        return NEVER
    return cmath.log(x) if isinstance(x, complex) else math.log(x)


def log1p(x):
    if x == -1:
        return NEVER
    if isinstance(x, complex):
        return complex(math.log1p(x.real), math.atan2(x.imag, 1 + x.real))
    return math.log1p(x)


def log_gamma(x):
    if isinstance(x, complex):
        return complex(math.lgamma(x.real), x.imag * digamma(x.real))
    return math.lgamma(x)


def digamma(x):
    """ψ(x), x > 0: ψ(x) = ψ(x+1) − 1/x up to 12, then the asymptotic series (error below 1e-16)."""
    below = []
    while x < 12:
        below.append(-1 / x)
        x += 1
    series = [1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760, 1 / 12]
    tail = [-coefficient / x ** (2 * k) for k, coefficient in enumerate(series, start=1)]
    return math.fsum([math.log(x), -0.5 / x, *tail, *below])


def add(values):
    values = list(values)
    if any(isinstance(v, complex) for v in values):
        return complex(math.fsum(v.real for v in values), math.fsum(v.imag for v in values))
    return math.fsum(values)


def log_sum_exp(values):
    possible = [v for v in values if v.real != NEVER]
    if not possible:
        return NEVER
    peak = max(v.real for v in possible)
    return peak + log(add(exp(v - peak) for v in possible))


# The label: log p(y | f), with log-odds f.


def log_label(log_odds, label):
    towards = log_odds if label == 1 else -log_odds
    if towards.real >= 0:
        return -log1p(exp(-towards))
    return towards - log1p(exp(towards))


# Count models: log p(c | y), where rate = P(c ≥ 1 | y).


def log_bernoulli(count, rate, split):
    return [log1p(-rate), log(rate)][count] if count <= 1 else NEVER


def log_categorical(count, rate, split):
    if count == 0:
        return log1p(-rate)
    return log(rate) + log(split[count - 1]) if count <= len(split) else NEVER


def log_poisson(count, rate, split):
    mean = -log1p(-rate)
    return -mean + (count * log(mean) if count else 0.0) - math.log(math.factorial(count))


def log_geometric(count, rate, split):
    return log1p(-rate) + (count * log(rate) if count else 0.0)


COUNTS = {
    "bernoulli": log_bernoulli,
    "categorical": log_categorical,
    "poisson": log_poisson,
    "geometric": log_geometric,
}


def log_count(counts, label, count):
    which = "hit" if label == 1 else "false"
    rate = counts[f"{which}_rate"]
    if rate == 1 and counts["kind"] in ("poisson", "geometric"):
        raise ValueError(f"{counts['kind']} counts need a {which}_rate below 1")
    return COUNTS[counts["kind"]](count, rate, counts.get(f"{which}_split"))


# Noise models: log density of d = z − t.


def log_gaussian(d, delay, spread):
    x = (d - delay) / spread
    return -0.5 * x * x - log(spread) - 0.5 * math.log(2 * math.pi)


def log_gaussian_mixture(d, weights, delays, spreads):
    parts = zip(weights, delays, spreads)
    return log_sum_exp([log(w) + log_gaussian(d, delay, spread) for w, delay, spread in parts])


def log_laplace(d, delay, spread):
    x = d - delay if d >= delay.real else delay - d
    b = spread / math.sqrt(2)
    return -x / b - log(2 * b)


def log_student_t(d, delay, scale, degrees_of_freedom):
    nu = degrees_of_freedom
    x = (d - delay) / scale
    normaliser = log_gamma((nu + 1) / 2) - log_gamma(nu / 2) - 0.5 * log(nu * math.pi) - log(scale)
    return normaliser - (nu + 1) / 2 * log1p(x * x / nu)


def log_shifted_gamma(d, shift, shape, spread):
    x = d - shift
    if x.real < 0 or (x == 0 and shape != 1):
        return NEVER
    power = 0.0 if shape == 1 else (shape - 1) * log(x)  # at the shift, 0·(−∞) would be NaN
    theta = spread / shape**0.5
    return power - x / theta - log_gamma(shape) - shape * log(theta)


def log_uniform(d, earliest, latest):
    inside = earliest.real <= d <= latest.real
    return -log(latest - earliest) if inside else NEVER


NOISE = {
    "gaussian": log_gaussian,
    "gaussian_mixture": log_gaussian_mixture,
    "laplace": log_laplace,
    "student_t": log_student_t,
    "shifted_gamma": log_shifted_gamma,
    "uniform": log_uniform,
}


def noise_parameters(noise):
    return {name: value for name, value in noise.items() if name != "kind"}


def log_density(noise, delay):
    return NOISE[noise["kind"]](delay, **noise_parameters(noise))


# The joint, and the questions asked of it.


def joint(session):
    """Yields (labels, counts, owners, log weight); owners[l] is the instance of stamp l."""
    times, stamps = session["times"], session["stamps"]
    instances, stamp_count = range(len(times)), len(stamps)
    labels_of = [[log_label(f, y) for y in (0, 1)] for f in session["log_odds"]]
    counts_of = [
        [log_count(session["counts"], y, c) for c in range(stamp_count + 1)] for y in (0, 1)
    ]
    density_of = [[log_density(session["noise"], z - t) for z in stamps] for t in times]

    choices = [(0, 1) if label is None else (label,) for label in session["labels"]]
    every_count = itertools.product(range(stamp_count + 1), repeat=len(times))
    count_vectors = [counts for counts in every_count if sum(counts) == stamp_count]
    for labels in itertools.product(*choices):
        for counts in count_vectors:
            owners = [i for i in instances for _ in range(counts[i])]
            factors = [labels_of[i][labels[i]] for i in instances]
            factors += [counts_of[labels[i]][counts[i]] for i in instances]
            factors += [math.log(math.factorial(count)) for count in counts]
            factors += [density_of[i][l] for l, i in enumerate(owners)]
            yield labels, counts, owners, add(factors)


def log_evidence(session):
    return log_sum_exp([log_weight for _, _, _, log_weight in joint(session)])


def alignments(session):
    """Every possible alignment with its log weight (labels summed), in lexicographic order."""
    weights = {}
    for _, _, owners, log_weight in joint(session):
        weights.setdefault(tuple(owners), []).append(log_weight)
    summed = [(list(owners), log_sum_exp(terms)) for owners, terms in sorted(weights.items())]
    return [(owners, log_weight) for owners, log_weight in summed if log_weight != NEVER]


def infer(session):
    """The `expected` block of a golden case; every field is None when no alignment is possible."""
    instances, stamps = range(len(session["times"])), range(len(session["stamps"]))
    terms = [term for term in joint(session) if term[3] != NEVER]
    if not terms:
        fields = ["log_evidence", "positive", "counts", "responsibilities"]
        fields += ["responsibilities_positive", "best_alignment", "best_log_weight", "spurious"]
        return dict.fromkeys(fields)

    peak = max(log_weight for _, _, _, log_weight in terms)
    weighted = [(y, o, w, math.exp(log_weight - peak)) for y, o, w, log_weight in terms]
    evidence = math.fsum(weight for _, _, _, weight in weighted)

    def probability(holds):
        return math.fsum(weight for y, o, w, weight in weighted if holds(y, o, w)) / evidence

    ranked = alignments(session)
    best_log_weight = max(log_weight for _, log_weight in ranked)
    best = next(owners for owners, log_weight in ranked if log_weight >= best_log_weight - TIE)
    return {
        "log_evidence": peak + math.log(evidence),
        "positive": [probability(lambda y, o, w: y[i] == 1) for i in instances],
        "counts": [
            [
                [probability(lambda y, o, w: o[i] == c and y[i] == label) for label in (0, 1)]
                for c in range(len(stamps) + 1)
            ]
            for i in instances
        ],
        "responsibilities": [
            [probability(lambda y, o, w: w[l] == i) for l in stamps] for i in instances
        ],
        "responsibilities_positive": [
            [probability(lambda y, o, w: w[l] == i and y[i] == 1) for l in stamps]
            for i in instances
        ],
        "best_alignment": best,
        "best_log_weight": best_log_weight,
        "spurious": [probability(lambda y, o, w: y[w[l]] == 0) for l in stamps],
    }


# Derivatives of the log evidence.


def derivative(session, path, scale=1.0):
    """d log evidence / d parameter, times `scale`; the parameter is session[path[0]][path[1]]…"""
    stepped = copy.deepcopy(session)
    *outer, last = path
    holder = stepped
    for key in outer:
        holder = holder[key]
    holder[last] = holder[last] + 1j * STEP * scale
    return complex(log_evidence(stepped)).imag / STEP


def gradient(session):
    """The `gradient` block of a golden case; None where there is no two-sided derivative."""
    feasible = log_evidence(session) != NEVER

    def rate(name):
        value = session["counts"][name]
        if not feasible or value in (0, 1):
            return None
        return derivative(session, ["counts", name], scale=value * (1 - value))

    def noise(name, value):
        if not feasible or not differentiable(session, name):
            return None
        if isinstance(value, list):
            return [derivative(session, ["noise", name, k]) for k in range(len(value))]
        return derivative(session, ["noise", name])

    def each_log_odds():
        return [derivative(session, ["log_odds", i]) for i in range(len(session["log_odds"]))]

    parameters = noise_parameters(session["noise"])
    return {
        "log_odds": each_log_odds() if feasible else None,
        "false_rate_logit": rate("false_rate"),
        "hit_rate_logit": rate("hit_rate"),
        "noise": {name: noise(name, value) for name, value in parameters.items()},
    }


def differentiable(session, name):
    """Whether every delay's density has a two-sided derivative in the noise parameter `name`."""
    noise = session["noise"]
    kinks = {"laplace": ["delay"], "shifted_gamma": ["shift"], "uniform": ["earliest", "latest"]}
    if name in kinks.get(noise["kind"], []):
        return all(z - t != noise[name] for z in session["stamps"] for t in session["times"])
    return (noise["kind"], name) != ("shifted_gamma", "shape") or noise["shape"] > 1


# The golden cases. Only Random.random() is used: its sequence is the same in every Python version.


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


# The golden file.

FIELDS = "see reference/README.md; ordinals are zero-based; null is −∞ or does not exist"


def document():
    return {
        "script": "reference/oracle.py --write",
        "python": platform.python_version(),
        "generated": "2026-11-15",
        "fields": FIELDS,
        "cases": [s | {"expected": infer(s), "gradient": gradient(s)} for s in sessions()],
    }


def pretty(value, indent=""):
    """JSON with one line for each field, and lists of numbers left whole."""
    deeper = indent + " "
    if isinstance(value, dict) and not ("kind" in value or indent == "    "):
        rows = [f"{deeper}{json.dumps(key)}: {pretty(item, deeper)}" for key, item in value.items()]
        return "{\n" + ",\n".join(rows) + f"\n{indent}}}"
    if isinstance(value, list) and any(isinstance(item, dict) for item in value):
        return "[\n" + ",\n".join(deeper + pretty(item, deeper) for item in value) + f"\n{indent}]"
    return json.dumps(value, allow_nan=False, ensure_ascii=False)


def first_difference(committed, computed, path, absolute):
    """The first place where two JSON values differ by more than 1e-12 (relative), as a message."""
    if isinstance(committed, float) and isinstance(computed, float):
        same = math.isclose(committed, computed, rel_tol=1e-12, abs_tol=absolute)
        return None if same else f"{path}: committed {committed!r}, computed {computed!r}"
    if type(committed) is not type(computed):
        return f"{path}: committed {committed!r}, computed {computed!r}"
    if isinstance(committed, dict):
        if list(committed) != list(computed):
            return f"{path}: committed fields {list(committed)}, computed {list(computed)}"
        pairs = [(f"{path}.{key}", committed[key], computed[key]) for key in committed]
    elif isinstance(committed, list):
        if len(committed) != len(computed):
            return f"{path}: committed {len(committed)} entries, computed {len(computed)}"
        pairs = [(f"{path}[{k}]", a, b) for k, (a, b) in enumerate(zip(committed, computed))]
    else:
        same = committed == computed
        return None if same else f"{path}: committed {committed!r}, computed {computed!r}"
    # Logs and derivatives may cancel to near zero; probabilities and inputs cannot.
    cancels = ("log_evidence", "best_log_weight", "gradient")
    for place, a, b in pairs:
        slack = 1e-14 if place.endswith(cancels) else absolute
        difference = first_difference(a, b, place, slack)
        if difference:
            return difference
    return None


def check(path):
    committed = json.loads(path.read_text(encoding="utf-8"))["cases"]
    computed = document()["cases"]
    names = [case["name"] for case in computed]
    if [case["name"] for case in committed] != names:
        return "the committed file does not have the cases of this script, or not in this order"
    for name, before, after in zip(names, committed, computed):
        difference = first_difference(before, after, name, absolute=0.0)
        if difference:
            return difference
    return None


def main():
    parser = argparse.ArgumentParser(description="Enumerate the model's joint on small sessions.")
    action = parser.add_mutually_exclusive_group(required=True)
    path = {"type": pathlib.Path, "metavar": "FILE"}
    action.add_argument("--write", **path, help="write the golden cases to FILE")
    comparing = "recompute all cases and compare with FILE (default: golden/oracle.json)"
    action.add_argument("--check", **path, nargs="?", const=GOLDEN, help=comparing)
    arguments = parser.parse_args()
    if arguments.write:
        arguments.write.write_text(pretty(document()) + "\n", encoding="utf-8")
        return 0
    difference = check(arguments.check)
    if difference:
        print(f"{arguments.check}: {difference}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
