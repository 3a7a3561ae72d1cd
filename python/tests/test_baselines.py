"""Learners to compare with train on what they say, and behave as scikit-learn expects."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from pressed import seconds_to_stop
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.preprocessing import StandardScaler

from unjitter import EventDetector, Kernel, Mlp, Session, UnjitterWarning, baselines, metrics

LEARNERS = [
    baselines.HandAligned(),
    baselines.Naive(),
    baselines.DropNear(radius=2.0),
    baselines.Smear(width=1.0),
    baselines.MultipleInstance(bag_size=4),
]
NAMES = [type(learner).__name__ for learner in LEARNERS]


def nearest(session: Session) -> np.ndarray:
    """Which instances some stamp is nearest to."""
    labels = np.zeros(len(session), dtype=bool)
    labels[np.abs(session.times[:, None] - session.events).argmin(axis=0)] = True
    return labels


def reference(sessions, labels, weights=None, regularisation=1.0):
    """scikit-learn's logistic regression with the library's prior: coefficients and intercept.

    The prior on the intercept is a penalty on the weight of a constant column of size s, whose
    precision is that of the others times s**2.
    """
    X = np.concatenate([session.X for session in sessions])
    scaler = StandardScaler().fit(X)
    size = np.sqrt(regularisation / 0.01)
    columns = np.column_stack([scaler.transform(X), np.full(len(X), size)])
    model = LogisticRegression(
        C=1.0 / regularisation, fit_intercept=False, tol=1e-10, max_iter=10_000
    )
    model.fit(columns, labels, weights)
    weight = model.coef_[0]
    coefficients = weight[:-1] / scaler.scale_
    return coefficients, weight[-1] * size - coefficients @ scaler.mean_


def check(learner, want):
    # The library stops at a gradient of 1e-5 relative to the root of the objective, some tens.
    np.testing.assert_allclose(learner.coef_[0], want[0], rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(learner.intercept_[0], want[1], rtol=1e-3)


@pytest.mark.parametrize("regularisation", [0.1, 1.0, 30.0])
def test_hand_aligned_is_logistic_regression(sessions, regularisation):
    learner = baselines.HandAligned(regularisation=regularisation).fit(sessions)
    labels = np.concatenate([session.labels for session in sessions])
    check(learner, reference(sessions, labels, regularisation=regularisation))
    # Two ways to one number: standardised features, and coefficients for raw ones.
    np.testing.assert_allclose(
        learner.decision_function(sessions[0]),
        sessions[0].X @ learner.coef_[0] + learner.intercept_[0],
        rtol=1e-9,
        atol=1e-9,
    )


def test_naive_is_logistic_regression_on_the_nearest_instances(sessions):
    labels = np.concatenate([nearest(session) for session in sessions])
    check(baselines.Naive().fit(sessions), reference(sessions, labels))


def test_drop_near_leaves_the_neighbours_of_stamps_out(sessions):
    labels = np.concatenate([nearest(session) for session in sessions])
    near = np.concatenate(
        [np.abs(s.times[:, None] - s.events).min(axis=1) <= 2.0 for s in sessions]
    )
    weights = np.where(near & ~labels, 0.0, 1.0)
    learner = baselines.DropNear(radius=2.0).fit(sessions)
    check(learner, reference(sessions, labels, weights))
    naive = baselines.Naive().fit(sessions)
    assert not np.allclose(learner.coef_, naive.coef_, rtol=1e-2)


def test_smear_is_logistic_regression_on_soft_labels(sessions):
    soft = np.concatenate(
        [np.exp(-0.5 * ((s.times[:, None] - s.events) / 0.8) ** 2).max(axis=1) for s in sessions]
    )
    # A soft label is two instances that share its weight. The doubled rows leave means and scales
    # as they are.
    labels = np.concatenate([np.ones(len(soft)), np.zeros(len(soft))])
    want = reference([*sessions, *sessions], labels, np.concatenate([soft, 1.0 - soft]))
    check(baselines.Smear(width=0.8).fit(sessions), want)


def test_a_bag_of_one_instance_is_naive(sessions):
    alone = baselines.MultipleInstance(bag_size=1).fit(sessions)
    # The same problem from another start.
    np.testing.assert_allclose(
        alone.coef_, baselines.Naive().fit(sessions).coef_, rtol=1e-3, atol=1e-4
    )
    assert not np.allclose(alone.coef_, LEARNERS[4].fit(sessions).coef_, rtol=1e-2)


@pytest.mark.parametrize("learner", LEARNERS, ids=NAMES)
def test_the_interface_is_that_of_a_detector(sessions, learner):
    learner = clone(learner).set_params(threshold=0.3)
    with pytest.raises(NotFittedError):
        learner.predict(sessions)
    assert learner.fit(sessions[:4]) is learner
    session = sessions[4]
    proba = learner.predict_proba(session)
    assert proba.shape == (len(session), 2)
    # Both columns by one subtraction; log-odds by a logistic function.
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, rtol=1e-15)
    log_odds = learner.decision_function(session)
    np.testing.assert_allclose(proba[:, 1], 1 / (1 + np.exp(-log_odds)), rtol=1e-12)
    np.testing.assert_array_equal(learner.predict(session), proba[:, 1] >= 0.3)
    np.testing.assert_array_equal(learner.predict(session.X), learner.predict(session))
    events = learner.detect(session)
    np.testing.assert_array_equal(events, session.times[learner.predict(session) == 1])
    assert [len(own) for own in learner.predict_proba(sessions[4:])] == [300, 300]
    assert learner.score(sessions[4:]) == metrics.f1_scorer(learner, sessions[4:])
    # One instance in fifteen is positive: guessing scores 0.1.
    assert learner.score(sessions[4:]) > 0.2
    assert learner.n_features_in_ == 3


@pytest.mark.parametrize("learner", LEARNERS, ids=NAMES)
@pytest.mark.parametrize("classifier", ["logistic", Kernel(landmarks=40), Mlp((4,))], ids=str)
def test_pickled_learners_give_the_same_bits(sessions, learner, classifier):
    learner = clone(learner).set_params(classifier=classifier).fit(sessions[:3])
    again = pickle.loads(pickle.dumps(learner))
    np.testing.assert_array_equal(
        again.decision_function(sessions[3]), learner.decision_function(sessions[3])
    )
    assert again.get_params() == learner.get_params()
    assert hasattr(learner, "coef_") == (classifier == "logistic")


@pytest.mark.parametrize("learner", LEARNERS, ids=NAMES)
def test_clones_learn_the_same(sessions, learner):
    first, second = (clone(learner).fit(sessions[:3]) for _ in range(2))
    np.testing.assert_array_equal(first.coef_, second.coef_)
    assert clone(first).get_params() == learner.get_params()
    assert not hasattr(clone(first), "coef_")
    several = clone(learner).set_params(n_jobs=2).fit(sessions[:3])
    np.testing.assert_array_equal(several.coef_, first.coef_)


def test_a_new_fit_leaves_nothing_of_the_old_one(sessions):
    named = [session.replace(feature_names=["a", "b", "c"]) for session in sessions]
    learner = baselines.Naive().fit(named)
    assert learner.feature_names_in_.tolist() == ["a", "b", "c"]
    learner.set_params(classifier=Mlp((2,))).fit(sessions)
    assert not any(hasattr(learner, name) for name in ("coef_", "intercept_", "feature_names_in_"))


def test_a_grid_is_searched(sessions):
    grid = {"bag_size": [1, 4], "regularisation": [0.1, 1e4]}
    search = GridSearchCV(
        baselines.MultipleInstance(), grid, scoring=metrics.f1_scorer, cv=KFold(3)
    )
    assert search.fit(sessions).best_params_["regularisation"] == 0.1
    assert search.predict_proba(sessions[0]).shape == (300, 2)


def test_what_a_learner_cannot_use_is_named(sessions):
    bare = [session.replace(labels=None) for session in sessions]
    with pytest.raises(ValueError, match="label"):
        baselines.HandAligned().fit(bare)
    baselines.Naive().fit(bare)
    with pytest.raises(ValueError, match="no labels"):
        baselines.Naive().fit(bare).score(bare)
    silent = [session.replace(events=[]) for session in sessions]
    with pytest.raises(ValueError, match="0 positives"):
        baselines.Naive().fit(silent)
    cases = [
        (baselines.DropNear(radius=-1.0), "radius is -1"),
        (baselines.Smear(width=0.0), "width is 0"),
        (baselines.MultipleInstance(bag_size=0), "bag_size is 0"),
        (baselines.Naive("forest"), "classifier is 'forest'"),
        (baselines.Naive(regularisation=-1.0), "weight_precision"),
        (baselines.Naive(threshold=2.0), "threshold is 2"),
        (baselines.Naive(max_iter=-1), "max_iter is -1"),
    ]
    for learner, message in cases:
        with pytest.raises(ValueError, match=message):
            learner.fit(sessions)


def test_kept_by_naive_counts_positives_that_stay(sessions):
    kept = sum(int((nearest(s) & (s.labels == 1)).sum()) for s in sessions)
    every = sum(int(s.labels.sum()) for s in sessions)
    assert baselines.kept_by_naive(sessions) == (kept, every)
    assert kept < every


@pytest.fixture(scope="module")
def comparison(sessions):
    learners = {
        "ours": EventDetector(restarts=0),
        "hand": baselines.HandAligned(),
        "naive": [baselines.Naive(regularisation=value) for value in (1e4, 0.1)],
    }
    return baselines.compare(sessions, learners, folds=3, inner_folds=2, seed=4)


def test_a_comparison_judges_every_learner_on_every_fold(sessions, comparison):
    assert comparison.learners == ["ours", "hand", "naive"]
    assert comparison.metric == "f1"
    assert comparison.scores.shape == (3, 3)
    assert sorted(np.concatenate(comparison.folds)) == list(range(6))
    for fold, held_out in enumerate(comparison.folds):
        training = [session for k, session in enumerate(sessions) if k not in held_out]
        for row, learner in enumerate((EventDetector(restarts=0), baselines.HandAligned())):
            test = [sessions[k] for k in held_out]
            # The same fit by another way.
            assert comparison.scores[row, fold] == learner.fit(training).score(test)
    # A prior of 1e4 allows no weights: the grid never chooses it.
    assert comparison.chosen[2].tolist() == [1, 1, 1]
    assert np.all(comparison.thresholds == 0.5)
    pooled = metrics.f1(sessions, comparison.probabilities["ours"])
    assert comparison.summary[0]["f1"] == pooled


def test_a_comparison_is_a_table(comparison):
    table = comparison.to_frame()
    assert isinstance(table, pd.DataFrame)
    assert table["learner"].tolist() == comparison.learners
    assert np.all((table["f1_low"] <= table["f1"]) & (table["f1"] <= table["f1_high"]))
    # A mean of three numbers below 1.
    np.testing.assert_allclose(table["mean_f1"], comparison.scores.mean(axis=1), rtol=1e-14)
    assert comparison.intervals[1].tolist() == [*metrics.mean_interval(comparison.scores[1])[1:]]
    test = metrics.paired_t_test(comparison.scores[2], comparison.scores[0])
    assert np.isnan(table["p_value"][0])
    # SciPy's t-test, and ours: the distribution function is good to 1e-13, t to a few roundings.
    want = metrics.bonferroni(test.p_value, 2)
    assert table["p_value"][2] == pytest.approx(want, rel=1e-10)
    # No annotator is fitted around a bare detector for its evidence alone.
    assert np.isfinite(table["log_evidence"].astype(float)).tolist() == [True, False, False]
    # No less is found within a tolerance than on the instance itself.
    assert np.all(table["event_f1"] >= table["f1"])
    assert (table["false_alarms_per_hour"] >= 0.0).all()
    rows = comparison.to_frame(per_fold=True)
    assert rows["score"].tolist() == comparison.scores.ravel().tolist()
    assert type(comparison.to_frame(backend="polars")).__module__.startswith("polars")
    assert repr(comparison).startswith("Comparison(f1: ours 0.")


def test_candidates_are_compared_with_the_best_by_evidence(sessions):
    grid = [EventDetector(regularisation=strength) for strength in (0.5, 1.0, 1e7)]
    options = {"folds": 2, "inner_folds": 2, "criterion": "log_evidence"}
    found = baselines.compare(sessions, [grid], **options)
    table = found.to_frame(per_candidate=True, backend="numpy")
    assert list(table["weight_precision"]) == [0.5, 1.0, 1e7]
    assert np.all(table["behind"] >= 0.0) and table["behind"].min() == 0.0
    assert np.array_equal(table["equal"], table["behind"] <= table["behind_error"])
    # Without weights nothing is found.
    assert not table["equal"][2] and table["chosen"][2] == 0
    assert list(table["chosen"]) == [np.sum(found.chosen == k) for k in range(3)]
    line = found.to_frame(backend="numpy")
    assert line["behind"][0] == 0.0 and line["behind_error"][0] == 0.0
    nothing = baselines.compare(sessions, [EventDetector()], folds=2)
    assert len(nothing.to_frame(per_candidate=True, backend="numpy")["learner"]) == 0


def test_events_of_a_comparison_are_those_of_metrics(sessions):
    options = {"folds": 3, "tolerance": 0.0, "min_separation": 5.0, "seconds_per_unit": 60.0}
    found = baselines.compare(sessions, [baselines.HandAligned()], **options)
    said = found.probabilities[found.learners[0]]
    true = [session.times[session.labels == 1] for session in sessions]
    events = [
        metrics.detect_events(session.times, p, min_separation=5.0)
        for session, p in zip(sessions, said)
    ]
    want = metrics.event_metrics(
        true,
        [own.times for own in events],
        0.0,
        observed=[session.times[-1] - session.times[0] for session in sessions],
        seconds_per_unit=60.0,
    )
    line = found.summary[0]
    assert (line["event_f1"], line["event_recall"]) == (want.f1, want.recall)
    assert line["event_precision"] == want.precision
    assert line["false_alarms_per_hour"] == want.false_alarms_per_hour
    assert line["tolerance"] == 0.0
    with pytest.raises(ValueError, match="min_separation is -1"):
        baselines.compare(sessions, [baselines.Naive()], min_separation=-1.0)


def test_folds_that_say_little_are_warned_of(sessions):
    with pytest.warns(UnjitterWarning, match="folds instead of 100: there are only"):
        baselines.compare(sessions, [baselines.Naive()], folds=100)
    empty = [sessions[0].replace(labels=np.zeros(len(sessions[0]), int)), *sessions[1:]]
    with pytest.warns(UnjitterWarning, match="1 of .* folds have no positive instance"):
        baselines.compare(empty, [baselines.HandAligned()], folds=len(sessions))


def test_a_comparison_shows_a_bar(sessions, capsys):
    baselines.compare(sessions, [baselines.Naive()], folds=3, verbose=1)
    shown = capsys.readouterr().err
    assert "compare: 100%" in shown
    assert "3/3" in shown
    baselines.compare(sessions, [baselines.Naive()], folds=3)
    assert capsys.readouterr().err == ""


def test_a_comparison_does_not_depend_on_threads_and_goes_on(sessions, tmp_path):
    learners = [baselines.Naive(), baselines.MultipleInstance()]
    options = {"folds": 3, "group_by": "subject", "journal": tmp_path / "journal"}
    first = baselines.compare(sessions, learners, **options)
    again = baselines.compare(sessions, learners, n_jobs=2, **options)
    assert first.learners == ["LR-N", "MI"]
    np.testing.assert_array_equal(first.scores, again.scores)
    for fold in first.folds:
        subjects = {sessions[k].subject for k in fold}
        assert all((s.subject in subjects) == (k in fold) for k, s in enumerate(sessions))
    with pytest.raises(ValueError, match="other options"):
        baselines.compare(sessions, learners, seed=1, **options)


def test_without_labels_learners_are_judged_by_the_stamps(sessions):
    bare = [session.replace(labels=None) for session in sessions]
    found = baselines.compare(
        bare, [EventDetector(restarts=0), baselines.Naive()], folds=2, threshold="expected_f1"
    )
    assert found.metric == "log_evidence"
    assert np.isfinite(found.scores).all()
    assert np.isnan(found.to_frame()["f1"]).all()
    fold = found.folds[0]
    detector = EventDetector(restarts=0).fit([s for k, s in enumerate(bare) if k not in fold])
    held_out = [bare[k] for k in fold]
    # The same fit by another way.
    want = metrics.log_evidence_scorer(detector, held_out)
    assert found.scores[0, 0] == pytest.approx(want, rel=1e-12)


def test_comparisons_that_make_no_sense_are_refused(sessions):
    naive = baselines.Naive()
    cases = [
        ({"learners": []}, "no learners"),
        ({"learners": [naive, naive]}, "two learners are called LR-N"),
        ({"learners": [EventDetector(use_labels=True)]}, "would see the labels"),
        ({"learners": [LogisticRegression()]}, "expected an EventDetector or"),
        ({"learners": [[]]}, "no candidates"),
        ({"learners": [naive], "reference": "ours"}, "reference is 'ours'"),
        ({"learners": [naive], "reference": 3}, "reference is 3"),
        ({"learners": [naive], "group_by": "day"}, "day"),
        ({"learners": [naive], "folds": 1}, "1 folds"),
        ({"learners": [naive], "seed": -1}, "seed is -1"),
    ]
    for arguments, message in cases:
        with pytest.raises(ValueError, match=message):
            baselines.compare(sessions, **arguments)


@pytest.fixture(scope="module")
def long_work():
    """Fits that would take minutes."""
    rng = np.random.default_rng(0)
    labels = rng.random((4, 50_000)) < 0.05
    times = np.arange(50_000.0)
    return [
        Session(rng.normal(size=(50_000, 20)) + own[:, None], times, times[own], labels=own)
        for own in labels
    ]


@pytest.mark.parametrize(
    "work",
    [
        lambda learner, sessions: learner.fit(sessions),
        lambda learner, sessions: baselines.compare(sessions, [learner], folds=2),
    ],
    ids=["fit", "compare"],
)
def test_ctrl_c_ends_it_within_a_second(long_work, work):
    learner = baselines.MultipleInstance(Mlp((64, 64)), max_iter=100_000)
    assert seconds_to_stop(lambda: work(learner, long_work)) < 1.0
    assert not hasattr(learner, "coef_")
