"""Metrics of bouts by sed_scores_eval and SciPy, as golden numbers for the Rust library's own.

Bouts are drawn from fixed seeds and stored with the answers. Times lie on a grid of 1/64 second,
which six decimals write exactly, and no two bouts of a list touch: sed_scores_eval would take them
for one.

    python reference/bouts.py            writes reference/golden/bouts.json
    python reference/bouts.py --check    compares with it, exits 1 on a difference
"""

import argparse
import datetime
import importlib.metadata
import json
import pathlib
import sys

import numpy as np
import pandas as pd
from metrics import GRID, difference, dump
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import maximum_bipartite_matching
from sed_scores_eval import intersection_based, segment_based
from sed_scores_eval.base_modules.scores import create_score_dataframe

GOLDEN = pathlib.Path(__file__).parent / "golden" / "bouts.json"
PACKAGES = ("numpy", "scipy", "sed_scores_eval")
KIND = "bout"


class Column(pd.Series):
    """A column whose numbers may be written: sed_scores_eval wants it, and pandas 3 forbids it."""

    def to_numpy(self, *arguments, **options):
        return super().to_numpy(*arguments, **options).copy()


class Table(pd.DataFrame):
    """The same of a table."""

    _constructor_sliced = property(lambda self: Column)
    _constructor = property(lambda self: Table)

    def to_numpy(self, *arguments, **options):
        return super().to_numpy(*arguments, **options).copy()


def drawn(random, bouts, seconds):
    """Bouts of a session that do not touch, shape (bouts, 2)."""
    edges = random.choice(int(seconds * GRID), size=2 * bouts, replace=False)
    return np.sort(edges).reshape(-1, 2) / GRID


def moved(random, bouts, most):
    """The same bouts with both ends moved, some of them missed; none of them touch."""
    steps = random.integers(-most, most + 1, size=bouts.shape)
    kept = []
    for start, end in bouts + steps / GRID:
        before = kept[-1][1] if kept else 0.0
        if end > start > before and random.uniform() < 0.8:
            kept.append((start, end))
    return np.array(kept).reshape(-1, 2)


def sessions_of(seed):
    """Two sessions with (detections, truths), as (name, seconds, sessions)."""
    random = np.random.default_rng([5, seed])
    seconds, sessions = 30.0, []
    for _ in range(2):
        truths = drawn(random, int(random.integers(1, 9)), seconds)
        if seed % 2:
            detections = moved(random, truths, 40)
        else:
            detections = drawn(random, int(random.integers(0, 12)), seconds)
        sessions.append((detections, truths))
    return seconds, sessions


def overlap_hits(detections, truths, share):
    """Most pairs of bouts with at least this share of what they cover together in common."""
    if not (len(detections) and len(truths)):
        return 0
    starts = np.maximum(detections[:, None, 0], truths[None, :, 0])
    ends = np.minimum(detections[:, None, 1], truths[None, :, 1])
    common = np.maximum(ends - starts, 0.0)
    lengths = [np.diff(bouts)[:, 0] for bouts in (detections, truths)]
    together = lengths[0][:, None] + lengths[1][None, :] - common
    allowed = csr_matrix((common >= share * together) & (common > 0.0))
    return int((maximum_bipartite_matching(allowed) >= 0).sum())


def as_scores(bouts, seconds):
    """Detections as the scores that sed_scores_eval takes: 1 inside, 0 outside."""
    edges = np.concatenate([[0.0], bouts.ravel(), [seconds + 10.0]])
    values = np.arange(edges.size - 1) % 2
    is_there = np.diff(edges) > 0.0
    timestamps = np.concatenate([edges[:-1][is_there], edges[-1:]])
    scores = values[is_there][:, None].astype(float)
    return Table(create_score_dataframe(scores, timestamps, [KIND]))


def shares(statistics):
    """Precision, recall and F1 with 0 / 0 = 0, from counts."""
    found = statistics["tps"] + statistics["fps"]
    hits, present = statistics["tps"], statistics["n_ref"]
    both = found + present
    return {
        "precision": float(hits / found) if found else 0.0,
        "recall": float(hits / present) if present else 0.0,
        "f1": float(2 * hits / both) if both else 0.0,
    }


def case(seed):
    seconds, sessions = sessions_of(seed)
    random = np.random.default_rng([6, seed])
    overlap, detection, truth = (float(k) / 16.0 for k in random.integers(2, 15, size=3))
    stretch = float(random.integers(16, 128) / GRID)
    names = [f"session_{k}" for k in range(len(sessions))]
    scores = {name: as_scores(found, seconds) for name, (found, _) in zip(names, sessions)}
    truths = {
        name: [(float(start), float(end), KIND) for start, end in bouts]
        for name, (_, bouts) in zip(names, sessions)
    }
    durations = {name: seconds + 10.0 for name in names}
    criteria = {"dtc_threshold": detection, "gtc_threshold": truth}
    at, lengths = {KIND: 0.5}, {"segment_length": stretch}
    *_, inside = intersection_based.fscore(scores, truths, threshold=at, **criteria)
    *_, segments = segment_based.fscore(scores, truths, durations, at, **lengths)
    rate, *_ = segment_based.error_rate(scores, truths, durations, at, **lengths)
    return {
        "sessions": [
            {"detections": found.tolist(), "truths": bouts.tolist()} for found, bouts in sessions
        ],
        "overlap": overlap,
        "detection": detection,
        "truth": truth,
        "stretch": stretch,
        "overlap_hits": sum(overlap_hits(*session, overlap) for session in sessions),
        "intersection": shares(inside[KIND]),
        "stretches": shares(segments[KIND]),
        "error_rate": float(rate[KIND]),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare with the file, write nothing")
    document = {
        "script": "reference/bouts.py",
        "packages": {name: importlib.metadata.version(name) for name in PACKAGES},
        "date": datetime.date.today().isoformat(),
        "cases": [case(seed) for seed in range(40)],
    }
    document = json.loads(dump(document))
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
