"""Learning: one evaluation of the objective, a whole fit, and a second thread."""

from __future__ import annotations

import numpy as np
from clock import Row, alternate, cost, faster, timed
from data import fitted, session, sessions
from library import Library, agree
from sklearn.linear_model import LogisticRegression

TITLE = "Learning"
ABOUT = """\
One evaluation of the LR-M objective (value and gradient) on a million instances of 50 features,
400 MB and so beyond the caches, beside what a detector with known labels costs: the logistic loss
and its gradient fused into one plain pass (`crates/unjitter/benches/peer/fused.rs`, same
program), and NumPy's two passes, `X @ w` and `X.T @ r`, one BLAS thread; then the same with
features kept as float32. Then a whole fit, from sloppy stamps, beside scikit-learn's
`LogisticRegression(solver="lbfgs")` on the true labels of the same 52,800 × 50 features,
standardised for it beforehand: same regularisation, same bound on the gradient. "One start" is
the naive one; the default adds up to six more; both without standard errors, whose cost is a row
of its own. Then an alignment that averages over 64 draws of the parameters beside one that takes
them as certain, on two threads. At last two threads beside one."""

SPREAD = 2.0
COLUMNS = 50


def measure() -> list[Row]:
    """All rows."""
    return [*_evaluation(), *_fit(), _draws(), *_threads()]


def _evaluation() -> list[Row]:
    made = session(1_000_000, SPREAD, COLUMNS)
    params = fitted(COLUMNS, SPREAD)
    arrays = {**made, "params": params}
    case = {"kind": "objective", "columns": COLUMNS}
    single = made["features"].astype(np.float32)
    passes, single_passes = (
        _two_passes(features, made["labels"], params) for features in [made["features"], single]
    )
    with Library(case, arrays) as ours, Library({**case, "single": True}, arrays) as ours_single:
        value, gradient = passes()
        # A million terms in another order.
        agree("logistic loss", ours.run("logistic")["value"], value, 1e-10)
        agree("its gradient", ours.numbers(), gradient, 1e-10)
        # Features rounded to seven digits.
        agree("single precision", ours_single.run()["value"], ours.run()["value"], 1e-6)
        sides = {"ours": ours.side(), "fused": ours.side("logistic"), "numpy": timed(passes)}
        sides |= {"single": ours_single.side(), "numpy single": timed(single_passes)}
        times = alternate(sides, rounds=11, seconds=20.0)
    name = "evaluation, 1,000,000 × 50"
    loss = "fused logistic loss"
    kept = f"{name} as float32"
    return [
        cost(name, loss, times["ours"], times["fused"], goal=1.2),
        cost(name, "NumPy, two passes", times["ours"], times["numpy"], goal=1.0),
        cost(kept, f"{loss} in doubles", times["single"], times["fused"], goal=1.2),
        cost(kept, "NumPy float32", times["single"], times["numpy single"], goal=1.0),
    ]


def _two_passes(features, labels, params):
    """The logistic loss and its gradient, in the precision of the features as far as they go."""
    weights, intercept = params[:COLUMNS].astype(features.dtype), params[COLUMNS]

    def run():
        log_odds = features @ weights + intercept
        residuals = 1.0 / (1.0 + np.exp(-log_odds)) - labels
        value = np.logaddexp(0.0, log_odds).sum() - labels @ log_odds
        slopes = features.T @ residuals.astype(features.dtype)
        return value, np.append(slopes, residuals.sum())

    return run


def _fit() -> list[Row]:
    made = sessions(200, 264, SPREAD, COLUMNS)
    features, labels = made["features"], made["labels"]
    features = (features - features.mean(0)) / features.std(0)
    tight = {"optimiser": {"gradient_tolerance": 1e-5, "value_tolerance": 0.0}}
    rows = []
    tight["standard_errors"] = False
    for restarts, name, goal in [(0, "fit, one start", 3.0), (6, "fit, all starts (default)", 8.0)]:
        case = {"kind": "objective", "columns": COLUMNS, "fit": {"restarts": restarts, **tight}}
        with Library(case, made) as ours:
            value = ours.run("fit")["value"]
            iterations, evaluations, _ = ours.numbers()
            # The bound that the library sets itself, per instance as scikit-learn counts.
            bound = 1e-5 * np.sqrt(abs(value)) / len(labels)
            peer = LogisticRegression(C=1.0, tol=bound, max_iter=1000)
            sides = {
                "ours": ours.side("fit"),
                "sklearn": timed(lambda p=peer: p.fit(features, labels)),
            }
            times = alternate(sides, rounds=5, seconds=12.0)
        note = (
            f"{iterations:.0f} iterations, {evaluations:.0f} evaluations; theirs {peer.n_iter_[0]}"
        )
        rows.append(
            cost(name, "scikit-learn", times["ours"], times["sklearn"], goal=goal, note=note)
        )
    case = {"kind": "objective", "columns": COLUMNS, "fit": tight}
    sure = {**case, "fit": {**tight, "standard_errors": True}}
    with Library(case, made) as bare, Library(sure, made) as measured:
        times = alternate({"sure": measured.side("fit"), "bare": bare.side("fit")}, 5, 12.0)
    name = "fit with standard errors"
    rows.append(cost(name, "without", times["sure"], times["bare"], goal=1.3))
    return rows


def _draws() -> Row:
    made = sessions(50, 264, SPREAD, 10)
    with Library({"kind": "objective", "columns": 10}, made, threads=2) as ours:
        sides = {what: ours.side(what, 2) for what in ["64 draws", "plug-in"]}
        times = alternate(sides, rounds=5, seconds=10.0)
    return cost("alignment with 64 draws", "plug-in", *times.values(), goal=20.0)


def _threads() -> list[Row]:
    columns = 10
    loose = {"restarts": 0, "optimiser": {"max_iterations": 20}}
    shapes = {
        "2,000 sessions of 264": sessions(2000, 264, SPREAD, columns),
        "one session of 528,000": session(528_000, SPREAD, columns),
    }
    rows = []
    for shape, made in shapes.items():
        case = {"kind": "objective", "columns": columns, "fit": loose}
        with Library(case, {**made, "params": fitted(columns, SPREAD)}, threads=2) as ours:
            for what, name in [("evaluate", "evaluation"), ("fit", "20 iterations of a fit")]:
                sides = {count: ours.side(what, count) for count in [1, 2]}
                times = alternate(sides, rounds=7, seconds=10.0)
                title = f"two threads, {name}, {shape}"
                rows.append(faster(title, "one thread", times[2], times[1], goal=1.8))
    return rows
