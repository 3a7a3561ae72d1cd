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
import copy
import itertools
import json
import math
import pathlib
import platform
import sys

from cases import sessions
from parts import NEVER, add, log_count, log_density, log_label, log_sum_exp, noise_parameters

STEP = 1e-30
TIE = 1e-12  # log weights closer than this differ by rounding only
GOLDEN = pathlib.Path(__file__).with_name("golden") / "oracle.json"


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
