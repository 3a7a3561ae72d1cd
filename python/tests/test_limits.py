"""Numbers beyond all reason are refused by name; nothing panics, and no memory runs out."""

from __future__ import annotations

import numpy as np
import pytest

from unjitter import EventDetector, Session, baselines, metrics, posterior, simulate


@pytest.mark.parametrize("learner", ["HandAligned", "Naive", "MultipleInstance"])
def test_features_too_large_to_standardise(learner):
    X = np.array([1.7e308, -1.7e308] * 10).reshape(-1, 1)
    session = Session(X, np.arange(20.0), [3.1, 9.2], labels=np.arange(20) % 7 == 3)
    with pytest.raises(ValueError, match="may be extreme"):
        getattr(baselines, learner)().fit([session])


def test_restarts(sessions):
    with pytest.raises(ValueError, match="restarts is .* from 0 to 1000000"):
        EventDetector(restarts=2**64 - 1).fit(sessions)


@pytest.mark.parametrize(
    "size", [{"sessions": 2**60}, {"subjects": 2**62}, {"negatives": 10**12}, {"puffs": 10**12}]
)
def test_studies(size):
    for study in (simulate.respiration, simulate.chest_band):
        with pytest.raises(ValueError, match="at most 10000000 in all"):
            study(**size)


def test_bins():
    for number in (10**10, 1_000_001):
        with pytest.raises(ValueError, match="from 1 to 1000000"):
            metrics.reliability_curve([0, 1], [0.1, 0.9], n_bins=number)
    for number in (2.7, "3", True, -1):
        with pytest.raises(ValueError, match="n_bins is .* expected a whole number"):
            metrics.expected_calibration_error([0, 1], [0.1, 0.9], n_bins=number)


def test_resamples(sessions):
    expected = "resamples is 100000000000, expected a number from 1 to 10000000"
    with pytest.raises(ValueError, match=expected):
        metrics.bootstrap_interval(lambda drawn: 0.0, 3, resamples=10**11)
    with pytest.raises(ValueError, match=expected):
        baselines.compare(sessions, [baselines.Naive()], folds=2, resamples=10**11)


def test_draws():
    found = posterior([0.0, 1.0], [0.4], [0.0, 0.0])
    with pytest.raises(
        ValueError, match="n is 100000000000, expected at most 20000000 for 1 stamps"
    ):
        found.sample(10**11)
    with pytest.raises(ValueError, match="n is -1, expected a whole number of at least 0"):
        found.sample(-1)
    with pytest.raises(ValueError, match="seed is -1, expected a whole number of at least 0"):
        found.sample(seed=-1)
    assert found.sample(0).shape == (0, 1)


def test_seeds(sessions):
    with pytest.raises(ValueError, match=r"random_state is .* at most 2\*\*64 - 1"):
        baselines.Naive(random_state=2**70).fit(sessions)
    with pytest.raises(ValueError, match=r"seed is .* at most 2\*\*64 - 1"):
        posterior([0.0], [0.4], [0.0]).sample(seed=2**64)
    baselines.Naive(random_state=2**64 - 1).fit(sessions)
