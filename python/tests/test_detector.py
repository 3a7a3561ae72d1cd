"""The estimator from a user's seat."""

from __future__ import annotations

import json
import pickle
import warnings
from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
import pandas as pd
import pytest
from drawn import DELAY, FALSE, MISS, SPREAD, make_session
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, cross_validate
from sklearn.utils import resample

import unjitter
from unjitter import (
    Bernoulli,
    Categorical,
    EventDetector,
    Gaussian,
    GaussianMixture,
    Kernel,
    Mlp,
    NotConvergedWarning,
    Priors,
    Session,
    Uniform,
    UnjitterWarning,
)


@pytest.fixture(scope="module")
def fitted(sessions):
    return EventDetector().fit(sessions)


def test_it_learns_what_was_put_in():
    many = [make_session(seed, instances=1000) for seed in range(8)]
    detector = EventDetector().fit(many)
    stamps = sum(len(session.events) for session in many)
    # Three standard errors of a mean of as many delays.
    assert abs(detector.delay_ - DELAY) < 3 * SPREAD / stamps**0.5
    assert 0.8 * SPREAD < detector.spread_ < 1.1 * SPREAD
    # Three standard errors of rates over the instances they are of.
    positives = sum((session.labels == 1).sum() for session in many)
    assert abs(detector.miss_rate_ - MISS) < 3 * (MISS * (1 - MISS) / positives) ** 0.5
    # One unit of time apart, negatives that were pressed for and presses from nowhere are alike.
    assert abs(detector.false_rate_ + detector.background_rate_ - FALSE) < 0.004
    assert detector.converged_
    assert detector.score([make_session(seed) for seed in range(100, 110)]) > 0.7


def test_fitted_attributes(fitted, sessions):
    assert fitted.n_features_in_ == 3
    assert fitted.n_iter_ > 1
    assert fitted.coef_.shape == (1, 3)
    assert fitted.intercept_.shape == (1,)
    assert fitted.time_unit_ == pytest.approx(1.0, abs=0.1)  # spacings are 0.5 to 1.5
    np.testing.assert_array_equal(fitted.classes_, [0, 1])
    assert set(fitted.parameters_) == {
        "classifier.weights",
        "classifier.intercept",
        "counts.false_rate",
        "counts.hit_rate",
        "noise.delay",
        "noise.spread",
        "background.rate",
    }
    by_hand = sessions[0].X @ fitted.coef_[0] + fitted.intercept_
    # A sum of four numbers of up to a hundred.
    np.testing.assert_allclose(fitted.decision_function(sessions[0]), by_hand, atol=1e-11)
    total = fitted.log_evidence(sessions)
    # A sum over sessions instead of one over tasks.
    assert fitted.log_evidence_ == pytest.approx(total, rel=1e-12)


def test_predictions_agree_with_each_other(fitted, sessions):
    probabilities = fitted.predict_proba(sessions[0])
    assert probabilities.shape == (300, 2)
    np.testing.assert_array_equal(probabilities.sum(axis=1), 1.0)
    log_odds = fitted.decision_function(sessions[0])
    # One exponential and one division.
    np.testing.assert_allclose(probabilities[:, 1], 1 / (1 + np.exp(-log_odds)), rtol=1e-14)
    labels = fitted.predict(sessions[0])
    np.testing.assert_array_equal(labels, probabilities[:, 1] >= 0.5)
    np.testing.assert_array_equal(fitted.detect(sessions[0]), sessions[0].times[labels == 1])


def test_stamped_is_seen_through_the_annotator(fitted, sessions):
    p = fitted.predict_proba(sessions[0])[:, 1]
    want = fitted.false_rate_ * (1.0 - p) + (1.0 - fitted.miss_rate_) * p
    # Two products and a sum.
    np.testing.assert_allclose(fitted.predict_stamped(sessions[0]), want, rtol=1e-14)


def test_sessions_arrays_frames_and_lists_give_the_same(fitted, sessions):
    want = fitted.predict_proba(sessions[1])
    for given in (sessions[1].X, np.asfortranarray(sessions[1].X), sessions[1].X.tolist()):
        np.testing.assert_array_equal(fitted.predict_proba(given), want)
    np.testing.assert_array_equal(fitted.predict_proba(pd.DataFrame(sessions[1].X)), want)
    both = fitted.predict_proba(sessions[:2])
    assert len(both) == 2
    np.testing.assert_array_equal(both[1], want)


def test_detect_keeps_events_apart(fitted, sessions):
    events = fitted.detect(sessions, min_separation=5.0)
    assert len(events) == len(sessions)
    assert all((np.diff(own) >= 5.0).all() for own in events)


def test_align_has_a_row_for_every_stamp(fitted, sessions):
    frame = fitted.align(sessions[0])
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.columns) == [
        "session",
        "event",
        "stamp",
        "time",
        "low",
        "high",
        "instance",
        "instance_time",
        "p_instance",
        "best_instance",
        "p_spurious",
    ]
    np.testing.assert_array_equal(frame["stamp"], sessions[0].events)
    np.testing.assert_array_equal(frame["instance_time"], sessions[0].times[frame["instance"]])
    assert (frame["low"] <= frame["high"]).all()
    assert frame["p_spurious"].between(0, 1).all()
    # Most presses find their event again: they were within a spread or two of it.
    true = sessions[0].labels[frame["instance"]] == 1
    assert true.mean() > 0.8


def test_align_stacks_sessions(fitted, sessions):
    frame = fitted.align(sessions[:2])
    assert list(frame["session"].unique()) == ["session-0", "session-1"]
    instances = fitted.align_instances(sessions[:2])
    assert list(instances["instance"]) == [*range(300), *range(300)]
    np.testing.assert_array_equal(
        instances["p_detector"][:300], fitted.predict_proba(sessions[0])[:, 1]
    )


def test_align_gives_dates_for_dates(fitted, sessions):
    plain = sessions[0]
    dates = pd.to_datetime("2024-05-31T14:00:00").tz_localize("Europe/Paris") + pd.to_timedelta(
        plain.times - plain.times[0], unit="s"
    )
    stamps = dates[0] + pd.to_timedelta(plain.events - plain.times[0], unit="s")
    frame = fitted.align(Session(plain.X, dates, stamps))
    assert str(frame["time"].dt.tz) == "Europe/Paris"
    want = fitted.align(plain)
    moved = (frame["time"] - dates[0]).dt.total_seconds() + plain.times[0]
    # Dates are kept to the nanosecond.
    np.testing.assert_allclose(moved, want["time"], atol=3e-9)
    assert fitted.detect(Session(plain.X, dates, stamps)).dtype == "datetime64[ns]"


def test_flat_arrays_give_the_same_as_sessions(sessions):
    want = EventDetector().fit(sessions[:3])
    one_by_one = EventDetector().fit(
        np.concatenate([session.X for session in sessions[:3]]),
        times=np.concatenate([session.times for session in sessions[:3]]),
        events={session.name: session.events for session in sessions[:3]},
        groups=np.repeat([session.name for session in sessions[:3]], 300),
    )
    assert one_by_one.parameters_.keys() == want.parameters_.keys()
    for name, values in want.parameters_.items():
        np.testing.assert_array_equal(one_by_one.parameters_[name], values)
    single = sessions[0]
    flat = EventDetector().fit(single.X, times=single.times, events=single.events)
    assert flat.delay_ == EventDetector().fit(single).delay_


def test_groups_may_be_mixed_and_lack_stamps(sessions):
    first, second = sessions[:2]
    order = np.argsort(np.concatenate([first.times, second.times]), kind="stable")
    detector = EventDetector().fit(
        np.concatenate([first.X, second.X])[order],
        times=np.concatenate([first.times, second.times])[order],
        events={0: first.events},
        groups=np.repeat([0, 1], 300)[order],
    )
    # Sums over sessions are in the order in which groups first appear.
    own = [first, second.replace(events=[])]
    want = EventDetector().fit(own if order[0] < 300 else own[::-1])
    assert detector.delay_ == want.delay_


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "times is missing"),
        ({"times": [0.0, 1.0]}, "events is missing"),
        ({"times": [0.0], "events": []}, "times has length 1, expected 2"),
        ({"times": [0.0, 1.0], "events": {"a": []}}, "groups is missing"),
        ({"times": [0.0, 1.0], "events": [0.5], "groups": [0, 1]}, "mapping of group to stamps"),
        ({"times": [0.0, 1.0], "events": {3: []}, "groups": [0, 1]}, "group 3"),
        ({"times": [0.0, 1.0], "events": {}, "groups": [0]}, "groups has length 1, expected 2"),
    ],
)
def test_flat_mistakes_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        EventDetector().fit(np.zeros((2, 1)), **arguments)


def test_parameters_are_stored_untouched_and_cloned():
    noise = Gaussian(delay=0.0)
    detector = EventDetector(noise=noise, regularisation=3, random_state=None)
    assert detector.get_params()["noise"] is noise
    assert detector.get_params()["regularisation"] == 3
    assert clone(detector).get_params() == detector.get_params()
    assert detector.set_params(restarts=0).restarts == 0


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"classifier": "svm"}, "classifier is 'svm', expected one of logistic, kernel, mlp"),
        ({"counts": "none"}, "counts is 'none'"),
        ({"noise": 3}, "noise is 3"),
        ({"regularisation": -1.0}, "regularisation is -1.0, expected a number of at least 0"),
        ({"regularisation": np.inf}, "regularisation is inf, expected a finite number"),
        ({"noise": Gaussian(delay=np.nan)}, "noise.delay is nan, expected a finite number"),
        ({"priors": 5}, "priors is 5, expected an object of the class Priors"),
        ({"priors": Priors(delay=3)}, r"a prior is 3, expected \(mean, sd\)"),
        ({"priors": Priors(delay=(0.0, np.inf))}, "priors.delay.sd is inf"),
        ({"classifier": Kernel(length_scale=np.nan)}, "classifier.length_scale is nan"),
        ({"frozen": {"classifier.weight": 0.0}}, "no parameter.*classifier.weight"),
        ({"time_unit": 0.0}, "time_unit is 0"),
        ({"priors": Priors(delay=(0.0, 0.0))}, "delay.sd is 0"),
        ({"noise": GaussianMixture(components=100)}, "components is 100"),
        ({"restarts": -1}, "restarts is -1, expected a whole number of at least 0"),
        ({"max_iter": 0.5}, "max_iter is 0.5, expected a whole number of at least 0"),
        ({"random_state": -3}, "random_state is -3"),
        ({"threshold": 1.5}, "threshold is 1.5, expected a number from 0 to 1"),
    ],
)
def test_a_parameter_that_cannot_be_is_named_at_fit(sessions, parameters, message):
    with pytest.raises(ValueError, match=message):
        EventDetector(**parameters).fit(sessions)


def test_parts_check_themselves():
    with pytest.raises(ValueError, match="activation is 'swish', expected one of tanh, relu"):
        Mlp(activation="swish")
    assert Mlp(8).hidden == (8,)
    with pytest.raises(ValueError, match="hidden is 0.5"):
        Mlp((0.5,))
    with pytest.raises(ValueError, match="last count of table must be possible"):
        Categorical([[0.9, 0.1, 0.0], [0.1, 0.6, 0.3]])
    with pytest.raises(ValueError, match="probabilities that sum to 1"):
        Categorical([[0.9, np.nan], [0.1, 0.6]])
    with pytest.raises(ValueError, match=r"agree on the largest count, got \[1, 2\]"):
        Categorical([[0.9, 0.1], [0.2, 0.8]], max_count=2)
    assert Categorical([[1.0, 0.0], [0.2, 0.8]]).false_rate == 0.0


def test_parameters_are_frozen_by_name(sessions):
    frozen = {"classifier.weights[2]": 0.0, "noise.spread": [2.0]}
    detector = EventDetector(frozen=frozen).fit(sessions)
    assert detector.coef_[0, 2] == 0.0
    assert detector.spread_ == pytest.approx(2.0, rel=1e-14)
    assert clone(detector).frozen == frozen


def test_many_threads_share_a_detector(fitted, sessions):
    want = fitted.predict_proba(sessions[0])

    def ask(_):
        assert fitted._fitted.parameters().keys() == fitted.parameters_.keys()
        fitted.align(sessions[0])
        return fitted.predict_proba(sessions[0])

    with ThreadPoolExecutor(4) as pool:
        for got in pool.map(ask, range(40)):
            np.testing.assert_array_equal(got, want)


def test_values_that_an_object_has_are_held(sessions):
    detector = EventDetector(noise=Gaussian(delay=0.25), counts=Bernoulli(false_rate=0.01)).fit(
        sessions
    )
    # There and back through a division by the unit of time, and through a logit.
    assert detector.delay_ == pytest.approx(0.25, rel=1e-14)
    assert detector.false_rate_ == pytest.approx(0.01, rel=1e-13)
    assert detector.spread_ != pytest.approx(EventDetector().fit(sessions).spread_)


def test_every_classifier_and_model_fits_and_pickles(sessions):
    few = sessions[:2]
    for parameters in (
        {"classifier": Kernel(landmarks=40)},
        {"classifier": Mlp((4,), "relu"), "max_iter": 2000},
        {"counts": "poisson", "noise": "laplace"},
        {"counts": Categorical(max_count=3), "noise": "student_t"},
        {"counts": "geometric", "noise": "shifted_gamma"},
        {"noise": Uniform(-3.0, 5.0)},
        {"noise": GaussianMixture(components=3)},
    ):
        with warnings.catch_warnings():
            # Two small sessions are too few for some; that is not the question here.
            warnings.simplefilter("ignore", UnjitterWarning)
            detector = EventDetector(**parameters).fit(few)
        want = detector.predict_proba(few)
        other = pickle.loads(pickle.dumps(detector))
        np.testing.assert_array_equal(other.predict_proba(few), want)
        assert other.get_params() == detector.get_params()
        assert np.isfinite(want).all()
        assert not hasattr(detector, "coef_") or "classifier" not in parameters


def test_refitting_another_classifier_leaves_nothing_behind(sessions):
    detector = EventDetector().fit(sessions[:2])
    assert hasattr(detector, "coef_")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnjitterWarning)
        detector.set_params(classifier=Kernel(landmarks=20)).fit(sessions[:2])
    assert not hasattr(detector, "coef_")


def test_an_unfitted_detector_says_so(sessions):
    for method in ("predict", "predict_proba", "decision_function", "align", "detect"):
        with pytest.raises(NotFittedError):
            getattr(EventDetector(), method)(sessions[0])


def test_wrong_features_are_refused(fitted):
    with pytest.raises(ValueError, match="2 features, but EventDetector is expecting 3"):
        fitted.predict(np.zeros((4, 2)))
    with pytest.raises(ValueError, match="Expected 2D array"):
        fitted.predict(np.zeros(3))
    with pytest.raises(ValueError, match="NaN"):
        fitted.predict(np.full((2, 3), np.nan))


def test_feature_names_are_remembered_and_checked(sessions):
    named = [session.replace(feature_names=["a", "b", "c"]) for session in sessions[:2]]
    detector = EventDetector().fit(named)
    assert list(detector.feature_names_in_) == ["a", "b", "c"]
    frame = pd.DataFrame(sessions[0].X, columns=["a", "b", "c"])
    np.testing.assert_array_equal(detector.predict(frame), detector.predict(sessions[0]))
    with pytest.raises(ValueError, match="fitted with a, b, c"):
        detector.predict(frame[["b", "a", "c"]])
    with pytest.raises(ValueError, match="session-1.*a, x, c.*a, b, c"):
        EventDetector().fit([named[0], named[1].replace(feature_names=["a", "x", "c"])])


def test_sessions_with_other_features_are_refused(sessions):
    named = [session.replace(feature_names=["a", "b", "c"]) for session in sessions[:2]]
    detector = EventDetector().fit(named)
    turned = named[0].replace(X=named[0].X[:, ::-1], feature_names=["c", "b", "a"])
    for ask in (
        detector.predict,
        detector.predict_proba,
        detector.decision_function,
        detector.detect,
        detector.align,
        detector.align_instances,
        detector.log_evidence,
        detector.score,
    ):
        with pytest.raises(ValueError, match="session-0 has the features c, b, a; the detector"):
            ask(turned)


def test_sessions_may_be_drawn_again(sessions):
    twice = EventDetector().fit([sessions[0], sessions[1], sessions[0]])
    copy = sessions[0].replace(name="copy")
    assert twice.delay_ == EventDetector().fit([sessions[0], sessions[1], copy]).delay_
    resampled = resample(sessions, random_state=0)
    assert len({session.name for session in resampled}) < len(resampled)
    EventDetector().fit(resampled)


def test_bad_sessions_are_value_errors_with_the_librarys_words(sessions):
    broken = sessions[0].X.copy()
    broken[7, 1] = np.inf
    cases = [
        ([sessions[0].replace(X=broken)], "session-0.*inf"),
        ([sessions[0].replace(events=[])], "none of the 1 sessions has a stamp"),
        ([sessions[0], sessions[0].replace(labels=None)], "session-0"),
        ([], "no sessions were given"),
        ([sessions[0].replace(times=sessions[0].times[::-1])], "session-0"),
        ([sessions[0], sessions[1].replace(X=np.zeros((300, 2)))], "session-1"),
    ]
    for given, message in cases:
        with pytest.raises(ValueError, match=message):
            EventDetector().fit(given)


def test_sessions_without_names_are_numbered(sessions):
    unnamed = [session.replace(name=None) for session in sessions[:2]]
    detector = EventDetector().fit(unnamed)
    assert list(detector.align(unnamed)["session"].unique()) == ["0", "1"]
    with pytest.raises(ValueError, match="session 1"):
        EventDetector().fit([unnamed[0], unnamed[1].replace(times=unnamed[1].times[::-1])])


def test_cross_validation_splits_by_session(sessions):
    result = cross_validate(EventDetector(), sessions, cv=KFold(3), return_train_score=True)
    assert result["test_score"].shape == (3,)
    assert (result["test_score"] > 0.5).all()
    groups = [session.subject for session in sessions]
    grouped = cross_validate(EventDetector(), sessions, groups=groups, cv=GroupKFold(3))
    assert np.isfinite(grouped["test_score"]).all()


def test_grid_search_on_two_processes_equals_one(sessions):
    grid = {"regularisation": [0.1, 10.0], "noise": ["gaussian", Gaussian(delay=0.0)]}
    one = GridSearchCV(EventDetector(), grid, cv=3).fit(sessions)
    with joblib.parallel_config(backend="loky"):
        two = GridSearchCV(EventDetector(), grid, cv=3, n_jobs=2).fit(sessions)
    np.testing.assert_array_equal(
        one.cv_results_["mean_test_score"], two.cv_results_["mean_test_score"]
    )
    assert one.best_params_ == two.best_params_
    assert two.best_estimator_.delay_ == one.best_estimator_.delay_


def test_threads_do_not_change_a_bit(sessions):
    one = EventDetector(n_jobs=1).fit(sessions)
    two = EventDetector(n_jobs=2).fit(sessions)
    for name, values in one.parameters_.items():
        np.testing.assert_array_equal(two.parameters_[name], values)


def test_labels_are_used_only_when_told(sessions):
    bare = [session.replace(labels=None) for session in sessions]
    assert EventDetector().fit(sessions).delay_ == EventDetector().fit(bare).delay_
    told = EventDetector(use_labels=True).fit(sessions)
    assert told.delay_ != EventDetector().fit(bare).delay_
    # With every label known, delays are those of presses to their own events.
    assert told.delay_ == pytest.approx(DELAY, abs=0.25)


def test_not_converged_is_a_warning_of_ours_and_of_scikit_learn(sessions):
    with pytest.warns(NotConvergedWarning, match="learning stopped early") as caught:
        detector = EventDetector(max_iter=2, restarts=0).fit(sessions)
    assert issubclass(NotConvergedWarning, (UnjitterWarning, ConvergenceWarning))
    assert not detector.converged_
    # It points at this file, not into the package.
    assert all(warning.filename == __file__ for warning in caught)


def test_a_detector_that_is_unsure_of_its_events_is_warned_of(sessions):
    shuffled = np.random.default_rng(0).permuted
    strange = [session.replace(X=shuffled(session.X, axis=0)) for session in sessions]
    with pytest.warns(UnjitterWarning, match="not sure of its events: .* probability of 0[.][0-4]"):
        EventDetector().fit(strange)


def test_far_stamps_are_warned_of_if_they_cannot_come_from_nowhere(fitted, sessions):
    far = sessions[0].replace(events=[*sessions[0].events, 5000.0])
    assert fitted.align(far)["p_spurious"].iloc[-1] > 0.99
    without = EventDetector(restarts=0, frozen={"background.rate": 0.0}).fit(sessions)
    with pytest.warns(UnjitterWarning, match="far from every instance"):
        without.align(far)


def test_verbose_shows_a_bar(sessions, capsys):
    EventDetector(verbose=1).fit(sessions)
    shown = capsys.readouterr().err
    assert "fit" in shown
    assert "loss" in shown
    EventDetector().fit(sessions)
    assert capsys.readouterr().err == ""


def test_the_seed_decides(sessions):
    def weights(seed):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnjitterWarning)
            detector = EventDetector(Mlp((3,)), random_state=seed, restarts=0, max_iter=20)
            return detector.fit(sessions).parameters_["classifier.layer0.weights"]

    def same(a, b):
        return np.array_equal(a, b)

    assert same(weights(1), weights(1))
    assert not same(weights(1), weights(2))
    assert same(weights(np.random.RandomState(5)), weights(np.random.RandomState(5)))


def test_delay_density_integrates_to_one(fitted):
    delays = np.linspace(-20.0, 20.0, 4001)
    # Trapezoids on a smooth density of spread one: far below this.
    assert np.trapezoid(fitted.delay_density(delays), delays) == pytest.approx(1.0, abs=1e-8)


def test_the_version_is_the_packages(fitted):
    assert unjitter.__version__.count(".") == 2
    assert json.loads(fitted._fitted.metadata())["program"]
