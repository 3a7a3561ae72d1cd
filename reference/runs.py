"""Fully labelled chains, learned by CRFsuite, as golden numbers for labels that form runs.

At equal spacing the library's chain of two labels is a linear-chain conditional random field: its
transitions and constant term span the family of free weights of transitions and states, but for a
difference between first and last labels, which training on every session back and forth takes
away. So the most probable parameters under flat priors give the same probabilities. Sessions are
short, so that their beginnings and ends tell the onset rate from the offset rate.

    python reference/runs.py            writes reference/golden/runs.json
    python reference/runs.py --check    compares with it, exits 1 on a difference
"""

import argparse
import datetime
import json
import pathlib
import sys
import tempfile
from importlib.metadata import version

import numpy as np
import pycrfsuite

GOLDEN = pathlib.Path(__file__).parent / "golden" / "runs.json"
SEED = 3
SESSIONS, INSTANCES = 40, 25
# Each feature is normal, with its mean moved by so much in runs.
EFFECTS = np.array([1.2, -0.8])
# Of runs to begin at an instance, and to end.
BEGIN, END = 0.12, 0.2
# Where L-BFGS stops; marginals are then right to the square root of it.
EPSILON = 1e-9


def draw(random):
    """Features and labels of a session."""
    labels = [int(random.random() < BEGIN / (BEGIN + END))]
    for _ in range(INSTANCES - 1):
        changes = random.random() < (END if labels[-1] else BEGIN)
        labels.append(labels[-1] ^ int(changes))
    features = random.normal(size=(INSTANCES, 2)) + np.outer(labels, EFFECTS)
    return features.round(6), labels


def items(features):
    """What CRFsuite takes."""
    return [{"constant": 1.0, "a": float(a), "b": float(b)} for a, b in features]


def learned(sessions):
    """A tagger with the weights of the largest conditional likelihood."""
    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
    for features, labels in sessions:
        # Back and forth: free weights would tell a first label from a last one, which two rates do not.
        for step in (1, -1):
            trainer.append(items(features)[::step], [str(label) for label in labels[::step]])
    trainer.set_params(
        {
            "c1": 0.0,
            "c2": 0.0,
            "max_iterations": 5000,
            "epsilon": EPSILON,
            "delta": 0.0,
            "period": 100,
            "feature.possible_transitions": True,
            "feature.possible_states": True,
        }
    )
    with tempfile.TemporaryDirectory() as folder:
        path = str(pathlib.Path(folder) / "model")
        trainer.train(path)
        tagger = pycrfsuite.Tagger()
        tagger.open(path)
        return tagger


def case():
    random = np.random.default_rng(SEED)
    sessions = [draw(random) for _ in range(SESSIONS)]
    tagger = learned(sessions)
    told = []
    for features, labels in sessions:
        tagger.set(items(features))
        told.append(
            {
                "features": features.tolist(),
                "labels": labels,
                "positive": [tagger.marginal("1", i) for i in range(INSTANCES)],
                "log_probability": float(np.log(tagger.probability([str(y) for y in labels]))),
            }
        )
    return {"sessions": told}


def same(one, other):
    """Whether all numbers agree to 1e-6, which other versions of a compiler may change."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[k], other[k]) for k in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    return abs(one - other) < 1e-6


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare with the file")
    arguments = parser.parse_args()
    found = case()
    if arguments.check:
        if not same(json.loads(GOLDEN.read_text())["case"], found):
            sys.exit(f"{GOLDEN.name} is not what CRFsuite finds")
        return
    head = {
        "script": "reference/runs.py",
        "packages": {"python-crfsuite": version("python-crfsuite"), "numpy": np.__version__},
        "date": datetime.date.today().isoformat(),
    }
    GOLDEN.write_text(json.dumps(head | {"case": found}) + "\n")


if __name__ == "__main__":
    main()
