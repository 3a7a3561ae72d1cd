"""Metrics agree with scikit-learn, SciPy and mir_eval on many random cases."""

from __future__ import annotations

import math

import mir_eval
import numpy as np
import pandas as pd
import pytest
import scipy.stats
import sklearn.calibration
import sklearn.metrics

from unjitter import Session, metrics

CASES = range(60)


def draw(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Labels of both kinds and probabilities, in every third case with many ties."""
    rng = np.random.default_rng(seed)
    number = int(rng.integers(2, 200))
    labels = rng.integers(0, 2, number)
    labels[:2] = [0, 1]
    scores = rng.random(number) * 0.98 + 0.01
    return labels, np.round(scores, 1).clip(0.1, 0.9) if seed % 3 == 0 else scores


@pytest.mark.parametrize("seed", CASES)
def test_counts_and_shares_are_those_of_scikit_learn(seed):
    labels, scores = draw(seed)
    threshold = float(np.random.default_rng(seed).choice(scores))
    called = scores >= threshold
    (tn, fp), (fn, tp) = sklearn.metrics.confusion_matrix(labels, called, labels=[0, 1])
    assert metrics.confusion(labels, scores, threshold) == (tp, fp, fn, tn)
    want = sklearn.metrics.precision_recall_fscore_support(
        labels, called, average="binary", zero_division=0
    )[:3]
    got = metrics.precision_recall_f1(labels, scores, threshold)
    # One division each; F1 is another form of the same fraction.
    np.testing.assert_allclose(got, want, rtol=1e-15)
    alone = [of(labels, scores, threshold) for of in (metrics.precision, metrics.recall)]
    assert (*alone, metrics.f1(labels, scores, threshold)) == got


@pytest.mark.parametrize("seed", CASES)
def test_curve_and_area_are_those_of_scikit_learn(seed):
    labels, scores = draw(seed)
    for got, want in zip(
        metrics.precision_recall_curve(labels, scores),
        sklearn.metrics.precision_recall_curve(labels, scores),
    ):
        # The same counts, divided once.
        np.testing.assert_allclose(got, want, rtol=1e-15)
    want = sklearn.metrics.average_precision_score(labels, scores)
    # A sum of up to 200 terms below 1 in another order.
    assert metrics.average_precision(labels, scores) == pytest.approx(want, abs=1e-13)


@pytest.mark.parametrize("seed", CASES)
def test_the_best_threshold_is_the_best_of_all(seed):
    labels, scores = draw(seed)
    best = metrics.best_f1(labels, scores)
    every = {s: sklearn.metrics.f1_score(labels, scores >= s) for s in np.unique(scores)}
    highest = max(every.values())
    # Two forms of one fraction.
    assert best.f1 == pytest.approx(highest, rel=1e-15)
    # Of thresholds with the same F1, which scikit-learn may round differently, the highest.
    assert best.threshold == max(s for s, f1 in every.items() if f1 >= highest * (1 - 1e-12))
    assert best[1:] == metrics.precision_recall_f1(labels, scores, best.threshold)


@pytest.mark.parametrize("seed", CASES)
def test_losses_are_those_of_scikit_learn(seed):
    labels, scores = draw(seed)
    # Means of up to 200 terms, summed in another order.
    want = sklearn.metrics.brier_score_loss(labels, scores)
    assert metrics.brier_score(labels, scores) == pytest.approx(want, rel=1e-13)
    want = sklearn.metrics.log_loss(labels, np.column_stack([1 - scores, scores]))
    assert metrics.log_loss(labels, scores) == pytest.approx(want, rel=1e-13)


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
@pytest.mark.parametrize("seed", [seed for seed in CASES if seed % 3])
def test_reliability_is_the_calibration_curve_of_scikit_learn(seed, strategy):
    labels, scores = draw(seed)
    bins = 1 + seed % 7
    while math.gcd(len(labels) - 1, bins) > 1:
        # A quantile that is one of the values: scikit-learn's rounding would decide its bin.
        labels, scores = labels[:-1], scores[:-1]
    true, predicted = sklearn.calibration.calibration_curve(
        labels, scores, n_bins=bins, strategy=strategy
    )
    got = metrics.reliability_curve(labels, scores, n_bins=bins, strategy=strategy)
    # Means of the same instances, summed in another order.
    np.testing.assert_allclose(got.observed_share, true, rtol=1e-13)
    np.testing.assert_allclose(got.mean_predicted, predicted, rtol=1e-13)
    assert got.counts.sum() == len(labels)
    error = metrics.expected_calibration_error(labels, scores, n_bins=bins, strategy=strategy)
    want = np.sum(got.counts * np.abs(predicted - true)) / len(labels)
    assert error == pytest.approx(want, abs=1e-13)


def test_a_certain_mistake_is_infinitely_bad():
    assert metrics.log_loss([1, 0], [0.0, 0.5]) == np.inf


@pytest.mark.parametrize("seed", CASES)
def test_events_match_as_in_mir_eval(seed):
    rng = np.random.default_rng(seed)
    true = np.sort(rng.uniform(0, 60, rng.integers(1, 40)))
    detected = np.sort(rng.uniform(0, 60, rng.integers(1, 40)))
    # In tenths there are pairs exactly at the limit.
    if seed % 2:
        true, detected = np.round(true, 1), np.round(detected, 1)
    tolerance = 0.5
    pairs = metrics.match_events(true, detected, tolerance)
    # mir_eval compares differences without slack: give it what rounding may cost.
    want = mir_eval.util.match_events(true, detected, tolerance + 1e-9)
    assert len(pairs) == len(want)
    assert len(set(pairs[:, 0])) == len(set(pairs[:, 1])) == len(pairs)
    assert np.all(np.abs(true[pairs[:, 0]] - detected[pairs[:, 1]]) <= tolerance + 1e-9)
    f1, precision, recall = mir_eval.onset.f_measure(true, detected, window=tolerance + 1e-9)
    got = metrics.event_metrics(true, detected, tolerance)
    # One division each; F1 in another form.
    np.testing.assert_allclose(
        [got.precision, got.recall, got.f1], [precision, recall, f1], rtol=1e-15
    )
    errors = detected[pairs[:, 1]] - true[pairs[:, 0]]
    if len(errors):
        want = [errors.mean(), np.median(errors), errors.std(), np.abs(errors).mean()]
        # Moments of at most 40 numbers below 1.
        np.testing.assert_allclose(got.timing, want, atol=1e-14)
    else:
        assert got.timing is None


def test_an_edge_still_matches_and_tolerances_may_differ():
    assert len(metrics.match_events([0.1], [0.1 + 0.2], 0.2)) == 1
    assert len(metrics.match_events([10.0], [11.5], (0.0, 1.5))) == 1
    assert len(metrics.match_events([10.0], [9.9], (0.0, 1.5))) == 0
    with pytest.raises(ValueError, match="tolerance before is -1"):
        metrics.match_events([0.0], [0.0], -1.0)
    with pytest.raises(ValueError, match="expected a number or"):
        metrics.match_events([0.0], [0.0], (1.0, 2.0, 3.0))


def test_sessions_of_events_are_pooled():
    true, detected = [[1.0, 5.0], []], [[1.2], [1.0]]
    found = metrics.event_metrics(true, detected, 0.5, observed=[1800.0, 1800.0])
    assert (found.hits, found.misses, found.false_alarms) == (1, 1, 1)
    assert found.false_alarms_per_hour == 1.0
    minutes = metrics.event_metrics(true, detected, 0.5, observed=60.0, seconds_per_unit=60.0)
    assert minutes.false_alarms_per_hour == 0.5
    with pytest.raises(ValueError, match="different numbers of sessions: true of 2"):
        metrics.event_metrics(true, detected[:1], 0.5)


def test_dates_match_by_seconds():
    zero = np.datetime64("2024-05-31T14:00:00", "ns")
    true, detected = zero + np.array([0, 60], "m8[s]"), zero + np.array([59], "m8[s]")
    assert metrics.match_events(true, detected, 1.5).tolist() == [[1, 0]]
    found = metrics.detect_events(true, [0.2, 0.9])
    assert found.times.tolist() == true[1:].tolist()
    with pytest.raises(ValueError, match="some times are dates"):
        metrics.match_events(true, [59.0], 1.5)


@pytest.mark.parametrize("seed", range(20))
def test_average_precision_of_events_is_the_area_over_thresholds(seed):
    rng = np.random.default_rng(seed)
    true = [rng.uniform(0, 60, rng.integers(1, 12)) for _ in range(3)]
    detected = [rng.uniform(0, 60, rng.integers(1, 20)) for _ in range(3)]
    scores = [np.round(rng.random(len(times)), 1) for times in detected]
    area, before = 0.0, 0.0
    for threshold in np.unique(np.concatenate(scores))[::-1]:
        kept = [times[own >= threshold] for times, own in zip(detected, scores)]
        found = metrics.event_metrics(true, kept, 2.0)
        area += (found.recall - before) * found.precision
        before = found.recall
    got = metrics.event_average_precision(true, detected, scores, 2.0)
    # At most eleven steps below 1.
    assert got == pytest.approx(area, abs=1e-14)
    several = [0.5, (1.0, 2.0)]
    each = [metrics.event_average_precision(true, detected, scores, one) for one in several]
    mean = metrics.mean_event_average_precision(true, detected, scores, several)
    assert mean == pytest.approx(np.mean(each), rel=1e-15)


def test_series_need_no_entry_at_zero():
    true = pd.Series([10.0, 20.0], index=[7, 8])
    found = pd.Series([11.0, 17.0, 20.5], index=[4, 5, 6])
    scores = pd.Series([0.9, 0.8, 0.7], index=[4, 5, 6])
    assert metrics.event_metrics(true, found, 2.0).hits == 2
    assert metrics.event_metrics(true.astype(object), found.astype(object), 2.0).hits == 2
    nested = pd.Series([scores.to_numpy()], index=[3])
    for sure in ([scores], nested):
        assert 0.8 < metrics.event_average_precision([true], [found], sure, 2.0) < 0.9


def test_the_surest_of_near_candidates_stays():
    found = metrics.detect_events([0, 1, 2, 9, 30], [0.6, 0.9, 0.7, 0.8, 0.1], min_separation=5)
    assert found.times.tolist() == [1.0, 9.0]
    assert found.scores.tolist() == [0.9, 0.8]
    everything = metrics.detect_events([0, 1], [[0.4, 0.6], [0.9, 0.1]], threshold=0.05)
    assert everything.scores.tolist() == [0.6, 0.1]


@pytest.mark.parametrize("seed", range(20))
def test_paired_t_test_is_that_of_scipy(seed):
    rng = np.random.default_rng(seed)
    first, second = rng.random((2, int(rng.integers(2, 20))))
    want = scipy.stats.ttest_rel(first, second)
    got = metrics.paired_t_test(first, second)
    # The distribution function is good to 1e-13; t to rounding of a few sums.
    assert got.t == pytest.approx(want.statistic, rel=1e-11)
    assert got.p_value == pytest.approx(want.pvalue, rel=1e-10)
    assert got.degrees_of_freedom == want.df
    interval = scipy.stats.ttest_1samp(first, 0.0).confidence_interval(0.9)
    # A quantile found by the distribution function: as above, with its slope.
    np.testing.assert_allclose(
        metrics.mean_interval(first, level=0.9), (first.mean(), *interval), rtol=1e-9
    )


def test_corrected_p_values_stop_at_one():
    assert metrics.bonferroni(0.01, 3) == 0.03
    assert metrics.bonferroni(0.5, 3) == 1.0


def test_bootstrap_interval_holds_the_middle_of_the_resampled_values():
    values, seen = np.arange(10.0), []

    def mean(drawn):
        seen.append(values[drawn].mean())
        return seen[-1]

    low, high = metrics.bootstrap_interval(mean, values.tolist(), level=0.8, resamples=500)
    assert len(seen) == 500
    # NumPy's quantiles of the same values, interpolated in another order.
    np.testing.assert_allclose((low, high), np.quantile(seen, [0.1, 0.9]), rtol=1e-13)
    assert metrics.bootstrap_interval(mean, 10, seed=1) != metrics.bootstrap_interval(mean, 10)


def test_what_a_statistic_raises_comes_through():
    def fail(drawn):
        raise KeyError("no such session")

    with pytest.raises(KeyError, match="no such session"):
        metrics.bootstrap_interval(fail, 3)
    with pytest.raises(ValueError, match="statistic of resample 0 is NaN"):
        metrics.bootstrap_interval(lambda drawn: np.nan, 3)


def test_unknown_labels_and_unlabelled_sessions_are_left_out():
    def one(labels, name):
        return Session(np.zeros((3, 1)), [0.0, 1.0, 2.0], [], labels=labels, name=name)

    sessions = [one([1, None, 0], "a"), one(None, "b"), one([0, 1, 1], "c")]
    scores = [[0.9, 0.9, 0.8], [0.9] * 3, np.column_stack([[0.9, 0.2, 0.7], [0.1, 0.8, 0.3]])]
    assert metrics.confusion(sessions, scores) == (2, 1, 1, 1)
    flat = [1, 0, 0, 1, 1], [0.9, 0.8, 0.1, 0.8, 0.3]
    assert metrics.f1(sessions, scores) == metrics.f1(*flat)
    assert metrics.log_loss(sessions, scores) == metrics.log_loss(*flat)
    assert metrics.f1(sessions[0], scores[0]) == metrics.f1([1, 0], [0.9, 0.8])
    with pytest.raises(ValueError, match="no labels to score by"):
        metrics.f1(sessions[1:2], scores[1:2])
    with pytest.raises(ValueError, match="2 arrays of probabilities for 3 sessions"):
        metrics.f1(sessions, scores[:2])
    with pytest.raises(ValueError, match="session a: 2 probabilities for 3 instances"):
        metrics.f1(sessions, [scores[0][:2], *scores[1:]])


@pytest.mark.parametrize(
    ("labels", "scores", "message"),
    [
        ([0, 1], [0.5], "2 labels for 1 probabilities"),
        ([0, 2], [0.5, 0.5], "label 1 is .*2.*, expected 0 or 1"),
        ([0, 1], [0.5, 1.5], "probability 1 is 1.5, expected a number from 0 to 1"),
        ([0, 1], [0.5, np.nan], "probability 1 is NaN"),
        ([[0, 1]], [0.5, 0.5], "y_true has 2 dimensions"),
        ([0, 1], np.zeros((2, 3)), r"shape \(2, 3\)"),
        (np.zeros(0), [], "0 instances, expected at least 1"),
    ],
)
def test_mistakes_are_named(labels, scores, message):
    with pytest.raises(ValueError, match=message):
        metrics.f1(labels, scores)


def test_bins_are_checked():
    with pytest.raises(ValueError, match="expected one of uniform, quantile"):
        metrics.reliability_curve([0, 1], [0.1, 0.9], strategy="equal")
    with pytest.raises(ValueError, match="n_bins is 0"):
        metrics.reliability_curve([0, 1], [0.1, 0.9], n_bins=0)
