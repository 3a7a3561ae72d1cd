"""Made-up sessions: instances one second apart, some of them events, each with a sloppy stamp."""

from __future__ import annotations

import numpy as np

#: Unconstrained parameters of the annotator, but for the spread: logits of a false press and of a
#: hit, the delay.
FALSE_LOGIT, HIT_LOGIT, DELAY = -7.0, 3.0, 0.3

#: Presses from nowhere per spacing, in the default model.
BACKGROUND = 1e-3

#: The paper's model of the stamps: in order, one at most per instance, and none from nowhere.
PAPER = {
    "alignment": "ordered",
    "counts": {"kind": "bernoulli"},
    "frozen": [{"name": "background.rate", "values": [0.0]}],
}

#: The paper's priors, where they are not the library's: on hits, on silence, on the delay.
PAPER_PRIORS = {
    "hit_rate": {"a": 5.0, "b": 1.0},
    "silence": {"a": 5.0, "b": 1.0},
    "delay": {"mean": 0.0, "sd": 1.0},
}


def annotator(spread: float) -> np.ndarray:
    """The annotator's parameters in the library's order; the spread goes by its logarithm."""
    return np.array([FALSE_LOGIT, HIT_LOGIT, DELAY, np.log(spread)])


def session(instances: int, spread: float, columns: int = 0, share: float = 0.05, seed: int = 0):
    """Arrays of one session with exactly `share` as many stamps as instances: times, stamps,
    labels, log-odds of a good detector, and features (the first of them tells)."""
    random = np.random.default_rng(seed)
    stamps = round(share * instances)
    events = np.sort(random.choice(instances, stamps, replace=False))
    times = np.arange(instances, dtype=float)
    labels = np.zeros(instances)
    labels[events] = 1.0
    log_odds = random.normal(-4.0, 1.0, instances)
    log_odds[events] = random.normal(2.0, 1.5, stamps)
    made = {
        "times": times,
        "stamps": np.sort(times[events] + DELAY + spread * random.normal(size=stamps)),
        "labels": labels,
        "log_odds": log_odds,
        "instances": [instances],
        "stamps_of": [stamps],
    }
    if columns:
        features = random.standard_normal((instances, columns))
        features[:, 0] += 3.0 * labels
        made["features"] = features
    return made


def sessions(count: int, instances: int, spread: float, columns: int, share: float = 0.05):
    """Arrays of `count` sessions of `instances` each, in one random stream."""
    whole = session(count * instances, 0.0, columns, share)
    random = np.random.default_rng(1)
    of = (whole["stamps"] // instances).astype(int)
    stamps = whole["stamps"] - of * instances + spread * random.normal(size=len(of))
    whole["stamps"] = stamps[np.lexsort((stamps, of))]
    whole["times"] = np.tile(np.arange(instances, dtype=float), count)
    whole["instances"] = np.full(count, float(instances))
    whole["stamps_of"] = np.bincount(of, minlength=count).astype(float)
    return whole


def fitted(columns: int, spread: float, seed: int = 8) -> np.ndarray:
    """Parameters like those of a finished fit: small weights, the first one telling."""
    random = np.random.default_rng(seed)
    weights = 0.1 * random.standard_normal(columns)
    weights[0] = 1.0
    return np.concatenate([weights, [-4.0], annotator(spread), [np.log(BACKGROUND)]])
