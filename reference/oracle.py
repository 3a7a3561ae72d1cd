"""Enumeration oracle: the model's joint, added up term by term.

Every label vector y and every map a of stamps to instances is visited, and its weight

    Π_i p(y_i | f_i) · p(o_i | y_i) · o_i!  ·  Π_l p(z_l − t_a(l)),        o_i = #{l : a(l) = i}

is added to whatever is asked for. In an ordered session stamps keep the order of their instances;
in a free one every map counts. The factor o_i! is there because c independent draws, seen sorted,
have c! times the product of their densities.

If the session has a background, ρ stamps per unit of time over its duration T, a stamp may also
come from no instance. Its factor is then ρ, it stands outside the order, and every term has a
factor e^(−ρT).

There is no recursion and labels are not summed out first: the point of this file is to share
nothing with the fast implementation that it judges. Cost is 2^L · (L+1)^M. Weights are kept as
logs, so that a stamp a hundred spreads away from every instance still has a posterior.

Derivatives are complex steps, Im log evidence(parameter + ih) / h with h = 1e-30: no difference is
taken, so nothing cancels but the terms of the derivative itself.

    python oracle.py --write golden/background.json    # the name says which cases
    python oracle.py --check                           # all golden files
"""

import argparse
import copy
import itertools
import json
import math
import pathlib
import platform
import sys

import frontier
from cases import frontier_sessions, loose_sessions, sessions
from parts import NEVER, add, log, log_count, log_density, log_label, log_sum_exp, noise_parameters

STEP = 1e-30
TIE = 1e-12  # log weights closer than this differ by rounding only
GOLDEN = pathlib.Path(__file__).with_name("golden")


# The joint, and the questions asked of it.


def maps(session):
    """Every map of stamps to instances that the alignment allows; None is the background."""
    alignment = session.get("alignment", "ordered")
    if alignment not in ("ordered", "free"):
        raise ValueError(f"alignment is ordered or free, not {alignment!r}")
    origins = list(range(len(session["times"])))
    if session.get("background"):
        origins.append(None)
    for owners in itertools.product(origins, repeat=len(session["stamps"])):
        placed = [i for i in owners if i is not None]
        if alignment == "free" or placed == sorted(placed):
            yield owners


def joint(session):
    """Yields (labels, counts, owners, log weight); owners[l] is the instance of stamp l or None."""
    times, stamps = session["times"], session["stamps"]
    instances = range(len(times))
    labels_of = [[log_label(f, y) for y in (0, 1)] for f in session["log_odds"]]
    counts_of = [
        [log_count(session["counts"], y, c) for c in range(len(stamps) + 1)] for y in (0, 1)
    ]
    density_of = {
        i: [log_density(session["noise"], z - times[i]) for z in stamps] for i in instances
    }
    background = session.get("background", 0.0)
    density_of[None] = [log(background)] * len(stamps)
    no_others = -background * session["duration"] if background else 0.0

    choices = [(0, 1) if label is None else (label,) for label in session["labels"]]
    owned = [(owners, [owners.count(i) for i in instances]) for owners in maps(session)]
    for labels in itertools.product(*choices):
        for owners, counts in owned:
            factors = [labels_of[i][labels[i]] for i in instances]
            factors += [counts_of[labels[i]][counts[i]] for i in instances]
            factors += [math.log(math.factorial(count)) for count in counts]
            factors += [density_of[i][l] for l, i in enumerate(owners)]
            yield labels, counts, owners, add([*factors, no_others])


def log_evidence(session):
    return log_sum_exp([log_weight for _, _, _, log_weight in joint(session)])


def alignments(session):
    """Every possible map with its log weight (labels summed), in lexicographic order.

    The background comes after all instances.
    """
    weights = {}
    for _, _, owners, log_weight in joint(session):
        weights.setdefault(owners, []).append(log_weight)
    summed = [(list(owners), log_sum_exp(terms)) for owners, terms in weights.items()]
    return [(owners, log_weight) for owners, log_weight in summed if log_weight != NEVER]


def best_alignment(session):
    """The heaviest map, labels summed, and its log weight; the first of those that tie."""
    ranked = alignments(session)
    heaviest = max(log_weight for _, log_weight in ranked)
    return next(owners for owners, weight in ranked if weight >= heaviest - TIE), heaviest


def infer(session):
    """The `expected` block of a golden case; every field is None when no alignment is possible."""
    instances, stamps = range(len(session["times"])), range(len(session["stamps"]))
    terms = [term for term in joint(session) if term[3] != NEVER]
    if not terms:
        fields = ["log_evidence", "positive", "counts", "responsibilities"]
        fields += ["responsibilities_positive", "best_alignment", "best_log_weight", "spurious"]
        return dict.fromkeys(fields + ["background"] * ("background" in session))

    peak = max(log_weight for _, _, _, log_weight in terms)
    weighted = [(y, o, w, math.exp(log_weight - peak)) for y, o, w, log_weight in terms]
    evidence = math.fsum(weight for _, _, _, weight in weighted)

    def probability(holds):
        return math.fsum(weight for y, o, w, weight in weighted if holds(y, o, w)) / evidence

    best, best_log_weight = best_alignment(session)
    answers = {
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
        "spurious": [probability(lambda y, o, w: w[l] is None or y[w[l]] == 0) for l in stamps],
    }
    if "background" in session:
        answers["background"] = [probability(lambda y, o, w: w[l] is None) for l in stamps]
    return answers


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

    def log_background():
        value = session["background"]
        return derivative(session, ["background"], scale=value) if feasible and value else None

    parameters = noise_parameters(session["noise"])
    slopes = {
        "log_odds": each_log_odds() if feasible else None,
        "false_rate_logit": rate("false_rate"),
        "hit_rate_logit": rate("hit_rate"),
        "noise": {name: noise(name, value) for name, value in parameters.items()},
    }
    return slopes | ({"background_log": log_background()} if "background" in session else {})


def differentiable(session, name):
    """Whether every delay's density has a two-sided derivative in the noise parameter `name`."""
    noise = session["noise"]
    kinks = {"laplace": ["delay"], "shifted_gamma": ["shift"], "uniform": ["earliest", "latest"]}
    if name in kinks.get(noise["kind"], []):
        return all(z - t != noise[name] for z in session["stamps"] for t in session["times"])
    return (noise["kind"], name) != ("shifted_gamma", "shape") or noise["shape"] > 1


# The golden files.

FIELDS = "see reference/README.md; ordinals are zero-based; null is −∞ or does not exist"


def enumerated(session):
    return session | {"expected": infer(session), "gradient": gradient(session)}


def summed(session):
    return session | {"expected": frontier.infer(session)}


# Of each file: when it was written, its sessions, and what makes cases of them.
FILES = {
    "oracle.json": ("2026-11-15", sessions, enumerated),
    "background.json": ("2026-11-16", loose_sessions, enumerated),
    "frontier.json": ("2026-11-16", frontier_sessions, summed),
}


def document(name):
    generated, every_session, answered = FILES[name]
    return {
        "script": "reference/oracle.py --write",
        "python": platform.python_version(),
        "generated": generated,
        "fields": FIELDS,
        "cases": [answered(session) for session in every_session()],
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
    computed = document(path.name)["cases"]
    names = [case["name"] for case in computed]
    if [case["name"] for case in committed] != names:
        return "the committed file does not have the cases of this script, or not in this order"
    for name, before, after in zip(names, committed, computed):
        # The smallest numbers have few digits: they are denormal below 1e-307.
        difference = first_difference(before, after, name, absolute=1e-300)
        if difference:
            return difference
    return None


def golden_path(text):
    path = pathlib.Path(text)
    if path.name not in FILES:
        raise argparse.ArgumentTypeError(f"{text}: expected a file named {' or '.join(FILES)}")
    return path


def main():
    parser = argparse.ArgumentParser(description="Sum the model's joint exactly on small sessions.")
    action = parser.add_mutually_exclusive_group(required=True)
    path = {"type": golden_path, "metavar": "FILE"}
    action.add_argument("--write", **path, help=f"write the cases of {', '.join(FILES)} to FILE")
    comparing = "recompute all cases and compare with FILE (default: every file in golden/)"
    action.add_argument("--check", **path, nargs="?", const=None, default=False, help=comparing)
    arguments = parser.parse_args()
    if arguments.write:
        text = pretty(document(arguments.write.name)) + "\n"
        arguments.write.write_text(text, encoding="utf-8")
        return 0
    paths = [arguments.check] if arguments.check else [GOLDEN / name for name in FILES]
    differences = [(path, check(path)) for path in paths]
    for path, difference in differences:
        if difference:
            print(f"{path}: {difference}", file=sys.stderr)
    return int(any(difference for _, difference in differences))


if __name__ == "__main__":
    sys.exit(main())
