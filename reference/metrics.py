"""Metrics by scikit-learn, mir_eval and SciPy, as golden numbers for the Rust library's own.

Cases are drawn from fixed seeds and stored with the answers. Times of events lie on a grid of 1/64
second and tolerances on one of 1/128: every sum and difference is exact, so a detection exactly on
the edge of a window is the same question for everybody.

    python reference/metrics.py            writes reference/golden/metrics.json
    python reference/metrics.py --check    compares with it, exits 1 on a difference
"""

import argparse
import datetime
import importlib.metadata
import json
import math
import pathlib
import sys
import warnings

import mir_eval
import numpy as np
from scipy import stats
from scipy.optimize import linear_sum_assignment
from sklearn.calibration import calibration_curve
from sklearn.metrics import (
    average_precision_score,
    brier_score_loss,
    confusion_matrix,
    log_loss,
    precision_recall_curve,
    precision_recall_fscore_support,
)

GOLDEN = pathlib.Path(__file__).parent / "golden" / "metrics.json"
PACKAGES = ("numpy", "scipy", "scikit-learn", "mir_eval")
GRID = 64.0
FOLDS_AND_LEADS = (
    (2, 0.0), (2, 0.1), (3, 0.02), (5, 0.05), (10, 0.0), (10, 0.2), (30, 0.03), (100, 0.01)
)


# Instances


def scored_instances():
    """(name, probabilities, labels).

    With 44, 54 or 400 instances no inner quantile falls on an instance, where rounding would decide.
    """
    random = np.random.default_rng(1)
    probabilities = random.uniform(size=44)
    labels = random.uniform(size=44) < probabilities
    yield "distinct", probabilities, labels
    yield "all_negative", probabilities, np.zeros(44, dtype=bool)
    yield "all_positive", probabilities, np.ones(44, dtype=bool)
    yield "perfect", np.where(labels, 0.5 + probabilities / 2, probabilities / 2), labels
    yield "inverted", np.where(labels, probabilities / 2, 0.5 + probabilities / 2), labels
    yield "certain", labels.astype(float), labels
    tied = np.round(random.uniform(size=54), 1)
    yield "tied", tied, random.uniform(size=54) < tied
    yield "one_score", np.full(54, 0.25), random.uniform(size=54) < 0.25
    rare = random.beta(0.3, 3.0, size=400)
    yield "rare", rare, random.uniform(size=400) < rare


def at_threshold(probabilities, labels, threshold):
    called = probabilities >= threshold
    precision, recall, f1, _ = precision_recall_fscore_support(
        labels, called, average="binary", zero_division=0
    )
    return {
        "threshold": threshold,
        # true negatives, false positives, false negatives, true positives
        "confusion": confusion_matrix(labels, called, labels=[False, True]).ravel().tolist(),
        "precision": float(precision),
        "recall": float(recall),
        "f1": float(f1),
    }


def reliability(probabilities, labels, strategy, bins):
    observed, predicted = calibration_curve(
        labels, probabilities, n_bins=bins, strategy=strategy, pos_label=True
    )
    shares = np.linspace(0.0, 1.0, bins + 1)
    edges = shares if strategy == "uniform" else np.quantile(probabilities, shares)
    counts = np.bincount(np.digitize(probabilities, edges[1:-1], right=True))
    counts = counts[counts > 0]
    return {
        "strategy": strategy,
        "bins": bins,
        "predicted": predicted.tolist(),
        "observed": observed.tolist(),
        "counts": counts.tolist(),
        "calibration_error": float(np.average(np.abs(observed - predicted), weights=counts)),
    }


def instance_case(name, probabilities, labels):
    precision, recall, thresholds = precision_recall_curve(labels, probabilities, pos_label=True)
    return {
        "name": name,
        "probabilities": probabilities.tolist(),
        "labels": labels.tolist(),
        "at": [at_threshold(probabilities, labels, t) for t in (0.0, 0.25, 0.5, 0.7, 1.0)],
        "curve": {
            "precision": precision.tolist(),
            "recall": recall.tolist(),
            "thresholds": thresholds.tolist(),
        },
        "average_precision": float(average_precision_score(labels, probabilities, pos_label=True)),
        "brier_score": float(brier_score_loss(labels, probabilities, pos_label=True)),
        "log_loss": float(log_loss(labels, probabilities, labels=[False, True])),
        "reliability": [
            reliability(probabilities, labels, strategy, bins)
            for strategy in ("uniform", "quantile")
            for bins in (1, 5, 10)
        ],
    }


# Events


def on_grid(random, count, seconds):
    return np.sort(random.integers(0, int(seconds * GRID), size=count) / GRID)


def event_lists():
    """(name, detections, truths, before, after)."""
    random = np.random.default_rng(2)
    for k in range(24):
        detections, truths = on_grid(random, 40, 10.0), on_grid(random, 30, 10.0)
        steps = random.integers(0, 16, size=2) + (0.5 if k % 2 else 0.0)
        if k % 3 == 0:
            steps[1] = steps[0]
        yield f"dense_{k}", detections, truths, steps[0] / GRID, steps[1] / GRID
    for k in range(6):
        truths = on_grid(random, 25, 200.0)
        late = random.integers(-4, 9, size=25) / GRID
        yield f"jittered_{k}", np.sort(truths + late), truths, k / GRID, (k + 2) / GRID
    yield "perfect", truths, truths, 0.0, 0.0
    yield "no_detections", np.array([]), truths, 0.5, 0.5
    yield "no_truths", truths, np.array([]), 0.5, 0.5


def best_total_error(detections, truths, before, after):
    """Pairs, and least total |d − e| among the largest matchings, by the assignment problem."""
    delay = detections[:, None] - truths[None, :]
    allowed = (-before <= delay) & (delay <= after)
    # A pair is worth more than all errors together.
    cost = np.where(allowed, np.abs(delay) - 2.0**16, 0.0)
    rows, columns = linear_sum_assignment(cost)
    chosen = allowed[rows, columns]
    return int(chosen.sum()), float(np.abs(delay[rows, columns])[chosen].sum())


def centred(truths, before, after):
    """mir_eval knows symmetric windows only: events in the middle of ours, and half its width."""
    return truths + (after - before) / 2.0, (before + after) / 2.0


def event_case(name, detections, truths, before, after):
    middles, width = centred(truths, before, after)
    f1, precision, recall = mir_eval.onset.f_measure(middles, detections, window=width)
    hits = len(mir_eval.util.match_events(middles, detections, width))
    pairs, total_error = best_total_error(detections, truths, before, after)
    assert pairs == hits, (name, pairs, hits)
    return {
        "name": name,
        "detections": detections.tolist(),
        "truths": truths.tolist(),
        "before": float(before),
        "after": float(after),
        "hits": hits,
        "precision": float(precision),
        "recall": float(recall),
        "f1": float(f1),
        "total_error": total_error,
    }


def ranked_case(seed):
    """Three sessions with tied scores; matched by mir_eval at every distinct score."""
    random = np.random.default_rng([3, seed])
    before, after = random.integers(0, 12, size=2) / GRID
    sessions = []
    for _ in range(3):
        detections = on_grid(random, int(random.integers(0, 25)), 8.0)
        scores = random.integers(1, 9, size=detections.size) / 8.0
        sessions.append((detections, scores, on_grid(random, int(random.integers(0, 15)), 8.0)))
    events = sum(truths.size for _, _, truths in sessions)
    area, recall_before = 0.0, 0.0
    for threshold in sorted({s for _, scores, _ in sessions for s in scores}, reverse=True):
        kept = [(times[scores >= threshold], truths) for times, scores, truths in sessions]
        hits = 0
        for detections, truths in kept:
            middles, width = centred(truths, before, after)
            hits += len(mir_eval.util.match_events(middles, detections, width))
        recall = hits / events
        area += (recall - recall_before) * hits / sum(d.size for d, _ in kept)
        recall_before = recall
    return {
        "sessions": [
            {"detections": d.tolist(), "scores": s.tolist(), "truths": t.tolist()}
            for d, s, t in sessions
        ],
        "before": float(before),
        "after": float(after),
        "average_precision": area,
    }


# Significance


def paired_case(seed, folds, lead):
    random = np.random.default_rng([4, seed])
    first = random.uniform(0.5, 0.9, size=folds)
    second = first - lead + 0.05 * random.normal(size=folds)
    result = stats.ttest_rel(first, second)
    return {
        "first": first.tolist(),
        "second": second.tolist(),
        "t": float(result.statistic),
        "p_value": float(result.pvalue),
    }


def student_t_cases():
    """Not nearer to zero than 0.1: SciPy 1.17 gives 0.49999968167… for t = −1e-6 and one degree of
    freedom, where ½ + atan(t)/π is 0.49999968169…"""
    for degrees in (1, 2, 3, 4, 5, 9, 19, 30, 99, 200):
        for t in (-50.0, -8.0, -3.0, -1.25, -1.0, -0.75, -0.1, 0.0, 0.5, 1.0, 2.0, 6.0):
            yield {"t": t, "degrees_of_freedom": degrees, "cdf": float(stats.t.cdf(t, degrees))}


# The file


def golden():
    return {
        "script": "reference/metrics.py",
        "packages": {name: importlib.metadata.version(name) for name in PACKAGES},
        "date": datetime.date.today().isoformat(),
        "instances": [instance_case(*case) for case in scored_instances()],
        "events": [event_case(*case) for case in event_lists()],
        "ranked": [ranked_case(seed) for seed in range(20)],
        "paired": [
            paired_case(seed, folds, lead)
            for seed, (folds, lead) in enumerate(FOLDS_AND_LEADS)
        ],
        "student_t": list(student_t_cases()),
    }


def dump(document):
    """JSON with one case a line."""

    def value(content):
        if not isinstance(content, list):
            return json.dumps(content)
        return "[\n" + ",\n".join("  " + json.dumps(case) for case in content) + "\n ]"

    lines = [f" {json.dumps(key)}: {value(content)}" for key, content in document.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def difference(ours, theirs, path=""):
    """The first place where two documents differ by more than 1e-12, relative or absolute."""
    if isinstance(ours, dict) and isinstance(theirs, dict) and ours.keys() == theirs.keys():
        pairs = ((f"{path}.{key}", ours[key], theirs[key]) for key in ours)
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        pairs = ((f"{path}[{k}]", a, b) for k, (a, b) in enumerate(zip(ours, theirs)))
    elif isinstance(ours, float) and isinstance(theirs, float):
        # Tails of the t distribution are far below 1e-12: they are compared relatively.
        small = 0.0 if path.endswith((".cdf", ".p_value")) else 1e-12
        same = math.isclose(ours, theirs, rel_tol=1e-12, abs_tol=small)
        return None if same else f"{path}: {ours!r} is not {theirs!r}"
    else:
        return None if ours == theirs else f"{path}: {ours!r} is not {theirs!r}"
    return next((found for found in (difference(a, b, p) for p, a, b in pairs) if found), None)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare with the file, write nothing")
    # Empty lists and labels of one class are among the cases; the answers are what we want.
    warnings.filterwarnings("ignore", category=UserWarning)
    document = json.loads(dump(golden()))
    if not parser.parse_args().check:
        GOLDEN.write_text(dump(document))
        return
    committed = json.loads(GOLDEN.read_text())
    for about in ("date", "packages"):
        committed.pop(about), document.pop(about)
    found = difference(document, committed)
    if found:
        sys.exit(f"{GOLDEN.name}{found}")
    print(f"{GOLDEN.name}: the same")


if __name__ == "__main__":
    main()
