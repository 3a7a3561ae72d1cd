"""The paper's protocol: nested cross-validation of LR-M beside SciPy and numba."""

from __future__ import annotations

import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
import peer_learner
from clock import Row, alternate, faster, timed
from data import PAPER, PAPER_PRIORS
from library import COMMAND, Library, agree
from peer_learner import Recording, Tolerance, Training

TITLE = "The paper's protocol"
ABOUT = """\
LR-M on the simulated mPuff recordings (13 sessions of about 264 breaths, 30 features, presses one
spacing off), beside SciPy's L-BFGS-B with the evidence and its analytic gradient compiled by
numba (`benches/peers/alignments.py`, `peer_learner.py`): the paper's model and priors, three
starts, same folds and grid, one thread. Both have the same objective at the peer's minimum, to
1e-9, before they are timed. First one fit of all sessions, then LR-M (paper) of
`experiments/spread.toml` at one spacing: ten outer folds, five inner ones, four precisions, 210
fits."""

MODEL = PAPER | {"priors": PAPER_PRIORS}

PRECISIONS = [0.01, 0.1, 1.0, 10.0]
#: As in experiments/spread.toml; SciPy looks at one step where the library looks at ten.
LOOSE = Tolerance(1e-3, 1e-7)
FIT = {"restarts": 2, "optimiser": {"gradient_tolerance": 1e-3, "value_tolerance": 1e-6}}
TIGHT = Tolerance(1e-6, 1e-13)


def measure() -> list[Row]:
    """All rows."""
    recordings = _recordings()
    arrays = {
        "features": np.concatenate([one.features for one in recordings]),
        "times": np.concatenate([one.times for one in recordings]),
        "stamps": np.concatenate([one.stamps for one in recordings]),
        "labels": np.concatenate([one.labels for one in recordings]),
        "instances": [len(one.times) for one in recordings],
        "stamps_of": [len(one.stamps) for one in recordings],
    }
    columns = recordings[0].features.shape[1]
    return [_one_fit(recordings, arrays, columns), _nested(recordings, arrays, columns)]


def _one_fit(recordings, arrays, columns) -> Row:
    case = {"kind": "objective", "columns": columns, "model": MODEL}
    # There are several minima, and random starts differ: the sides agree on the function itself.
    theirs = peer_learner.fit(Training(recordings), 1.0, TIGHT)
    with Library(case, {**arrays, "params": theirs.x}) as ours:
        agree("objective at their minimum", ours.run("evaluate")["value"], theirs.fun, 1e-9)
    with Library({**case, "fit": FIT}, arrays) as ours:
        peer = timed(lambda: peer_learner.fit(Training(recordings), 1.0, LOOSE))
        times = alternate({"ours": ours.side("fit"), "peer": peer}, rounds=9, seconds=10.0)
        _, evaluations, _ = ours.numbers()
    note = f"{evaluations:.0f} evaluations from the best start"
    return faster("one fit, three starts", "SciPy + numba", times["ours"], times["peer"], note=note)


def _nested(recordings, arrays, columns) -> Row:
    case = {
        "kind": "cross_validation",
        "columns": columns,
        "model": MODEL,
        "fit": FIT,
        "cross_validation": {"folds": 10, "inner_folds": 5},
        "weight_precision": PRECISIONS,
    }
    with Library(case, arrays) as ours:
        ours.run("folds")
        folds = ours.numbers().reshape(-1, len(recordings))
        # Ours before and after: theirs takes long, and once has to do.
        before = 1e-9 * ours.run("run")["nanoseconds"][0]
        begun = time.perf_counter()
        theirs = peer_learner.cross_validate(recordings, folds, PRECISIONS, LOOSE)
        peer = time.perf_counter() - begun
        after = 1e-9 * ours.run("run")["nanoseconds"][0]
        mine = ours.numbers().reshape(-1, 2)
    note = f"mean F1 {mine[:, 1].mean():.3f}, theirs {theirs[:, 1].mean():.3f}; "
    note += f"same candidate in {(mine[:, 0] == theirs[:, 0]).sum()} of {len(mine)} folds"
    sides = np.array([before, after]), np.array([peer, peer])
    return faster("nested cross-validation, 210 fits", "SciPy + numba", *sides, note=note)


def _recordings() -> list[Recording]:
    with tempfile.TemporaryDirectory(prefix="peers-") as folder:
        simulate = [COMMAND, "--quiet", "simulate", "--preset", "mpuff", "--spread", "1"]
        subprocess.run([*simulate, "--output", folder, "--force"], check=True, capture_output=True)
        instances = pd.read_csv(Path(folder) / "instances.csv")
        events = pd.read_csv(Path(folder) / "events.csv")
    features = instances.columns.drop(["session", "subject", "time", "label"])
    stamps = {name: of["time"].to_numpy() for name, of in events.groupby("session")}
    recordings = []
    for name, of in instances.groupby("session", sort=False):
        numbers = [of[list(features)].to_numpy(float), of["time"].to_numpy(float)]
        numbers += [np.sort(stamps.get(name, np.empty(0))), of["label"].to_numpy(float)]
        recordings.append(Recording(*numbers))
    return recordings
