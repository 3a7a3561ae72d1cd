"""A process that is forked after work in several threads can work too."""

from __future__ import annotations

import multiprocessing
import warnings

import numpy as np
import pytest

from unjitter import EventDetector, Kernel, baselines

if "fork" not in multiprocessing.get_all_start_methods():
    pytest.skip("processes are not forked here", allow_module_level=True)

ROWS = np.random.default_rng(0).normal(size=(2000, 3))


def fit(sessions):
    # Landmarks make the work worth sharing out.
    return baselines.HandAligned(classifier="kernel", n_jobs=2).fit(sessions)


def in_a_fork(work, *arguments):
    """What `work` gives in a forked process, within ten seconds."""
    with warnings.catch_warnings():
        # Python warns of forks while threads run, and joblib of threads in forks.
        warnings.simplefilter("ignore")
        with multiprocessing.get_context("fork").Pool(1) as pool:
            return pool.apply_async(work, arguments).get(timeout=10)


def test_prediction(sessions):
    detector = fit(sessions)
    here = detector.predict_proba(ROWS)
    # The detector is pickled on its way there, so this reads one too.
    assert np.array_equal(in_a_fork(detector.predict_proba, ROWS), here)
    assert np.array_equal(
        in_a_fork(detector.decision_function, ROWS), detector.decision_function(ROWS)
    )


@pytest.mark.filterwarnings("ignore::unjitter.UnjitterWarning")
def test_a_detector_that_aligns(sessions):
    detector = EventDetector(Kernel(landmarks=300), max_iter=20).fit(sessions)
    here = detector.align_instances(sessions[0])
    there = in_a_fork(detector.align_instances, sessions[0])
    assert np.array_equal(there["p_positive"], here["p_positive"])
    assert np.array_equal(in_a_fork(detector.predict, ROWS), detector.predict(ROWS))


def test_learning(sessions):
    here = fit(sessions).predict_proba(ROWS)
    assert np.array_equal(in_a_fork(fit, sessions).predict_proba(ROWS), here)


def compare(sessions):
    learners = [baselines.Naive(classifier="kernel"), baselines.HandAligned(classifier="kernel")]
    return baselines.compare(sessions, learners, folds=2, n_jobs=2).scores


def test_comparison(sessions):
    assert np.array_equal(in_a_fork(compare, sessions), compare(sessions))
