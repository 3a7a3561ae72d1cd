"""The threshold: a number, or found by fit without labels."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest
from drawn import make_session
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from unjitter import EventDetector, Kernel, baselines, metrics

# So strong a prior that no probability reaches one half.
STRONG = 3000.0


def bare(sessions):
    return [session.replace(labels=None) for session in sessions]


@pytest.fixture(scope="module")
def shrunken(sessions):
    return EventDetector(regularisation=STRONG, threshold="expected_f1").fit(bare(sessions))


@pytest.fixture(scope="module")
def held_out():
    return [make_session(seed) for seed in range(100, 106)]


def test_a_shrunken_detector_finds_events_all_the_same(shrunken, sessions, held_out):
    usual = EventDetector(regularisation=STRONG).fit(bare(sessions))
    assert usual.threshold_ == 0.5 and usual.score(held_out) == 0.0
    assert max(p[:, 1].max() for p in shrunken.predict_proba(held_out)) < 0.5
    # What the labels of these very sessions would choose.
    best = metrics.best_f1(held_out, shrunken.predict_proba(held_out))
    # On other sessions, without a label: a tenth less is allowed.
    assert shrunken.score(held_out) > best.f1 - 0.1 > 0.5


def test_it_is_the_best_of_all_thresholds_by_the_formula(shrunken, sessions):
    table = shrunken.align_instances(bare(sessions), draws=0)
    found, q = table["p_detector"].to_numpy(), table["p_positive"].to_numpy()

    def expected(threshold):
        called = found >= threshold
        return 2.0 * q[called].sum() / (called.sum() + q.sum())

    best = max(expected(threshold) for threshold in np.unique(found))
    # The order of sums.
    assert expected(shrunken.threshold_) == pytest.approx(best, rel=1e-12)


def test_everything_uses_it(shrunken, held_out):
    session = held_out[0]
    probabilities = shrunken.predict_proba(session)[:, 1]
    called = probabilities >= shrunken.threshold_
    assert 0 < called.sum() < len(session)
    np.testing.assert_array_equal(shrunken.predict(session), called)
    np.testing.assert_array_equal(shrunken.detect(session), session.times[called])
    # Every found instance within half a spacing: F1 of events is that of instances.
    scorer = metrics.event_f1_scorer(tolerance=0.4 * np.diff(session.times).min())
    assert scorer(shrunken, session) == pytest.approx(shrunken.score(session), rel=1e-12)
    assert f"{shrunken.threshold_:.3g}" in shrunken._repr_html_()


def test_a_number_counts_at_once_and_a_rule_from_the_next_fit(sessions):
    detector = EventDetector(restarts=0)
    assert not hasattr(detector, "threshold_")
    with pytest.raises(NotFittedError):
        _ = detector.threshold_
    detector.fit(sessions)
    assert "an event from" not in detector._repr_html_()
    assert detector.set_params(threshold=1.0).predict(sessions[0]).sum() == 0
    found = clone(detector.set_params(threshold="expected_f1")).fit(sessions)
    assert found.get_params()["threshold"] == "expected_f1"
    assert 0.0 < found.threshold_ < 1.0 and found.threshold_ != 0.5


def test_labels_count_for_who_learns_from_them(sessions):
    options = {"regularisation": STRONG, "threshold": "expected_f1", "use_labels": True}
    detector = EventDetector(**options).fit(sessions)
    # Every label is known: the expected F1 is the F1.
    best = metrics.best_f1(sessions, detector.predict_proba(sessions))
    assert detector.score(sessions) == pytest.approx(best.f1, rel=1e-12)


@pytest.mark.parametrize("classifier", ["logistic", Kernel(landmarks=10)])
def test_files_and_pickles_keep_it(sessions, tmp_path, classifier):
    options = {"regularisation": STRONG, "threshold": "expected_f1", "restarts": 0}
    detector = EventDetector(classifier, **options).fit(bare(sessions))
    detector.save(tmp_path / "model.json")
    assert json.loads((tmp_path / "model.json").read_text())["threshold"] == detector.threshold_
    loaded = EventDetector.load(tmp_path / "model.json")
    for other in (loaded, pickle.loads(pickle.dumps(detector))):
        assert (other.threshold, other.threshold_) == ("expected_f1", detector.threshold_)
        np.testing.assert_array_equal(other.predict(sessions[0]), detector.predict(sessions[0]))
    # A number that was set later counts in the file too.
    detector.set_params(threshold=0.25).save(tmp_path / "model.json")
    loaded = EventDetector.load(tmp_path / "model.json")
    assert (loaded.threshold, loaded.threshold_) == (0.25, 0.25)


@pytest.mark.parametrize("threshold", ["best_f1", "0.5", None, -0.1, True, float("nan")])
def test_other_values_are_refused_with_those_expected(sessions, threshold):
    expected = f"threshold is {threshold!r}, expected a number from 0 to 1 or 'expected_f1'"
    with pytest.raises(ValueError, match=expected):
        EventDetector(threshold=threshold).fit(sessions)


def test_baselines_take_a_number_only(sessions):
    with pytest.raises(ValueError, match="threshold is 'expected_f1', expected a number"):
        baselines.Naive(threshold="expected_f1").fit(sessions)
    assert baselines.Naive(threshold=0.25).fit(sessions).threshold_ == 0.25


def test_a_comparison_by_evidence_finds_thresholds(sessions):
    grid = [EventDetector(regularisation=STRONG * k, restarts=0) for k in (1, 2)]
    learners = {"chosen": grid, "alone": grid[0], "naive": [baselines.Naive()] * 2}
    options = {"folds": 2, "inner_folds": 2}
    found = baselines.compare(sessions, learners, criterion="log_evidence", **options)
    chosen, alone, naive = found.thresholds
    assert np.all((chosen > 0.0) & (chosen < 0.5))
    assert np.all(alone == 0.5) and np.all(naive == 0.5)
    assert found.scores[0].min() > 0.5 and found.scores[1].max() == 0.0
    for other in ({"criterion": "f1"}, {"criterion": "log_evidence", "threshold": 0.5}):
        found = baselines.compare(sessions, learners, **options, **other)
        assert np.all(found.thresholds == 0.5)
