"""What metrics mean at their edges; and beside scikit-learn, SciPy and mir_eval."""

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


def test_the_threshold_itself_is_positive():
    case = [1, 0, 1, 1, 0, 1], [0.5, 0.5, 0.4, 0.6, 0.1, 0.2], 0.5
    assert metrics.confusion(*case) == (2, 1, 2, 1)
    scores = metrics.precision_recall_f1(*case)
    assert scores == (2 / 3, 2 / 4, 4 / 7)
    alone = (metrics.precision(*case), metrics.recall(*case), metrics.f1(*case))
    assert alone == scores
    assert metrics.confusion(*case[:2], np.inf) == (0, 0, 4, 2)
    with pytest.raises(ValueError, match="threshold is NaN"):
        metrics.f1(*case[:2], np.nan)


def test_a_share_of_nothing_is_zero_and_no_warning():
    nothing = [0, 0, 0], [0.2, 0.7, 0.7]
    assert metrics.precision_recall_f1(*nothing) == (0.0, 0.0, 0.0)
    assert metrics.precision_recall_f1([1, 0], [0.1, 0.2]) == (0.0, 0.0, 0.0)
    precision, recall, thresholds = metrics.precision_recall_curve(*nothing)
    assert (precision.tolist(), recall.tolist()) == ([0.0, 0.0, 1.0], [0.0, 0.0, 0.0])
    assert thresholds.tolist() == [0.2, 0.7]
    assert metrics.average_precision(*nothing) == 0.0
    assert metrics.best_f1(*nothing) == (0.7, 0.0, 0.0, 0.0)


def test_equal_scores_make_one_point_whatever_their_order():
    for labels in ([1, 0, 1], [0, 1, 1]):
        curve = metrics.precision_recall_curve(labels, [0.7, 0.7, 0.2])
        assert [values.tolist() for values in curve] == [[2 / 3, 0.5, 1], [1, 0.5, 0], [0.2, 0.7]]
        # One half of 1/2 and one half of 2/3; roundings of numbers below one.
        area = metrics.average_precision(labels, [0.7, 0.7, 0.2])
        assert area == pytest.approx(7 / 12, rel=1e-15)
    assert len(metrics.precision_recall_curve([0, 1], [0.0, -0.0]).thresholds) == 1


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


def test_a_bin_has_its_upper_edge():
    curve = metrics.reliability_curve([0, 1, 1], [0.0, 0.5, 0.6], n_bins=2)
    assert [values.tolist() for values in curve] == [[0.25, 0.6], [0.5, 1.0], [2, 1]]


def test_losses_take_labels_of_one_kind():
    assert metrics.brier_score([1, 1], [0.5, 1.0]) == 0.125
    assert metrics.brier_score([0, 0], [0.5, 1.0]) == 0.625
    # Two logarithms and their mean.
    assert metrics.log_loss([1, 1], [0.25, 0.5]) == pytest.approx(np.log(8) / 2, rel=1e-15)
    assert metrics.log_loss([0, 0], [0.75, 0.5]) == pytest.approx(np.log(8) / 2, rel=1e-15)


def test_a_certain_mistake_is_infinitely_bad_and_a_certain_truth_costs_nothing():
    assert metrics.log_loss([1, 0], [0.0, 0.5]) == metrics.log_loss([1, 0], [0.5, 1.0]) == np.inf
    assert str(metrics.log_loss([1, 0], [1.0, 0.0])) == "0.0"


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


def test_two_pairs_have_the_cauchy_tail():
    # Differences 1 and 3: their mean is twice its standard error.
    test = metrics.paired_t_test([1.0, 3.0], [0.0, 0.0])
    assert test[:3] == (2.0, 2.0, 1)
    # The arctangent and a few roundings.
    assert test.p_value == pytest.approx(1 - 2 * np.arctan(2.0) / np.pi, rel=1e-13)


def test_equal_differences_leave_no_spread_to_compare_with():
    scores = np.array([0.1, 0.2, 0.3])
    assert metrics.paired_t_test(scores, scores) == (0.0, 0.0, 2, 1.0)
    # Neither is rounding evidence, nor does it make a spread.
    assert metrics.paired_t_test([0.1 + 0.2, 0.5], [0.3, 0.5])[1:] == (0.0, 1, 1.0)
    assert metrics.paired_t_test([0.2, 0.3, 0.4], scores)[1:] == (np.inf, 2, 0.0)
    assert metrics.paired_t_test(scores, [0.2, 0.3, 0.4])[1:] == (-np.inf, 2, 0.0)


@pytest.mark.parametrize("seed", range(20))
def test_the_interval_of_a_mean_is_that_of_the_t_test(seed):
    scores = np.random.default_rng(seed).random(2 + seed)
    want = scipy.stats.ttest_1samp(scores, 0.0).confidence_interval(0.9)
    # The same standard error and quantile, multiplied in another order.
    np.testing.assert_allclose(
        metrics.mean_interval(scores, level=0.9), (scores.mean(), *want), rtol=1e-12, atol=1e-14
    )


@pytest.mark.parametrize(
    ("mistake", "message"),
    [
        (lambda: metrics.paired_t_test([0.5], [0.4]), "1 scores, expected at least 2"),
        (lambda: metrics.paired_t_test([0.5] * 3, [0.4] * 2), "2 scores of the second .* for 3"),
        (lambda: metrics.paired_t_test([0.5] * 2, [0.5, np.nan]), "score 1 is nan"),
        (lambda: metrics.paired_t_test([[0.5]], [[0.5]]), "expected one dimension, got 2"),
        (lambda: metrics.mean_interval([0.1, 0.2], level=1.0), "level is 1.0, expected .* between"),
        (lambda: metrics.bonferroni(1.5, 2), "p_value is 1.5"),
        (lambda: metrics.bonferroni(0.5, 0), "0 comparisons, expected at least 1"),
        (lambda: metrics.bootstrap_interval(len, 0), "no sessions were given"),
        (lambda: metrics.bootstrap_interval(len, 3, resamples=0), "resamples is 0"),
        (lambda: metrics.bootstrap_interval(len, 3, level=np.nan), "level is nan"),
    ],
)
def test_mistakes_about_scores_are_named(mistake, message):
    with pytest.raises(ValueError, match=message):
        mistake()


def test_corrected_p_values_stop_at_one():
    assert metrics.bonferroni(0.01, 3) == 0.03
    assert metrics.bonferroni(0.5, 3) == 1.0


def test_bootstrap_interval_holds_the_middle_of_the_resampled_values():
    values, drawn = np.random.default_rng(0).random(10), []

    def mean(positions):
        drawn.append(positions)
        return values[positions].mean()

    found = metrics.bootstrap_interval(mean, values.tolist(), level=0.8, resamples=500)
    assert np.shape(drawn) == (500, 10)
    # As often each: binomial of 5000 draws, standard deviation 21, five of them.
    assert np.all(np.abs(np.bincount(np.ravel(drawn), minlength=10) - 500) < 105)
    inside = np.mean([found.low <= values[own].mean() <= found.high for own in drawn])
    # Each end lies between two of 500 values.
    assert inside == pytest.approx(0.8, abs=1 / 250)
    options = {"level": 0.8, "resamples": 500}
    assert found == metrics.bootstrap_interval(mean, 10, **options)
    assert found != metrics.bootstrap_interval(mean, 10, seed=1, **options)
    assert metrics.bootstrap_interval(lambda positions: 0.5, 1, resamples=1) == (0.5, 0.5)


def test_what_a_statistic_raises_comes_through():
    def fail(drawn):
        raise KeyError("no such session")

    with pytest.raises(KeyError, match="no such session"):
        metrics.bootstrap_interval(fail, 3)
    with pytest.raises(ValueError, match="statistic of resample 0 is nan"):
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
        ([0, 1], [0.5, np.nan], "probability 1 is nan"),
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
