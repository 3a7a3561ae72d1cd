"""A process that is forked after work in several threads can work too."""

import multiprocessing
import warnings

import numpy as np
import pytest
from drawn import drawn

from unjitter import baselines, compare

if "fork" not in multiprocessing.get_all_start_methods():
    pytest.skip("processes are not forked here", allow_module_level=True)


def in_a_fork(work):
    """What `work` gives in a forked process, within ten seconds."""
    with warnings.catch_warnings():
        # Python warns of forks with threads running; that is the point.
        warnings.simplefilter("ignore", DeprecationWarning)
        with multiprocessing.get_context("fork").Pool(1) as pool:
            return pool.apply_async(work).get(timeout=10)


DETECTOR = baselines.HandAligned(classifier="kernel")
ROWS = np.random.default_rng(0).normal(size=(2000, 2))


def predict():
    return DETECTOR.predict_proba(ROWS)


def fit_again():
    return baselines.HandAligned(classifier="kernel").fit(drawn()).predict_proba(ROWS)


def test_prediction():
    DETECTOR.fit(drawn())
    here = predict()
    assert np.array_equal(in_a_fork(predict), here)
    assert np.array_equal(in_a_fork(fit_again), here)


def test_comparison():
    table = compare({"naive": baselines.Naive(classifier="kernel")}, drawn(), folds=2, n_jobs=2)
    assert len(table.table_["name"]) == 1
    DETECTOR.fit(drawn())
    assert len(in_a_fork(predict)) == len(ROWS)
