"""Bare inference against enumeration of the joint."""

from __future__ import annotations

import copy
import itertools
import pickle
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

import unjitter
from unjitter._models import COUNTS
from unjitter._noise import NOISE

# At the end, so that the names of its files hide nothing.
sys.path.append(str(Path(__file__).parents[2] / "reference"))
import cases
import oracle


def models(session):
    """The models of an oracle's session as objects of the package."""
    counts, noise = dict(session["counts"]), dict(session["noise"])
    kind = counts.pop("kind")
    if kind == "categorical":
        rows = [
            [1.0 - counts[f"{of}_rate"], *(counts[f"{of}_rate"] * p for p in counts[f"{of}_split"])]
            for of in ("false", "hit")
        ]
        counts = {"table": rows}
    return COUNTS[kind](**counts), NOISE[noise.pop("kind")](**noise)


def case(kind, noise, seed, instances=4, stamps=3):
    unknown = [None] * instances
    name = f"case-{seed}"
    return cases.random_session(name, kind, noise, seed, instances, stamps, labels=unknown)


def loose(session, alignment, background_rate):
    """The session with this alignment and background."""
    moments = [*session["times"], *session["stamps"]]
    duration = max(moments) - min(moments)
    return session | {"alignment": alignment, "background": background_rate, "duration": duration}


def inferred(session):
    """The library's posterior of a loose session."""
    given = [session[name] for name in ("times", "stamps", "log_odds")]
    options = {"alignment": session["alignment"], "background_rate": session["background"]}
    return unjitter.posterior(*given, *models(session), **options)


def owners(best):
    return [-1 if owner is None else owner for owner in best]


KINDS = [kind for kind in COUNTS if kind != "auto"]
CASES = [
    pytest.param(case(kind, noise, seed), id=f"{kind}-{noise}-{seed}")
    for seed, (kind, noise) in enumerate(itertools.product(KINDS, NOISE), start=900)
]


@pytest.mark.parametrize("background_rate", [0.0, 0.3])
@pytest.mark.parametrize("session", CASES)
def test_every_answer_equals_enumeration(session, background_rate):
    session = loose(session, "ordered", background_rate)
    want = oracle.infer(session)
    if want["log_evidence"] is None:
        with pytest.raises(ValueError, match="stamps"):
            inferred(session)
        return
    got = inferred(session)
    # A few hundred additions of terms of one sign: rounding only.
    close = {"rtol": 1e-10, "atol": 1e-13}
    np.testing.assert_allclose(got.log_evidence, want["log_evidence"], **close)
    np.testing.assert_allclose(got.positive, want["positive"], **close)
    assert isinstance(got.responsibilities, csr_array)
    np.testing.assert_allclose(got.responsibilities.toarray(), want["responsibilities"], **close)
    np.testing.assert_array_equal(got.best_alignment, owners(want["best_alignment"]))
    np.testing.assert_allclose(got.best_log_weight, want["best_log_weight"], **close)
    wanted = np.array(want["counts"])
    assert got.counts.shape[0] == 4
    assert got.counts.shape[2] == 2
    shared = min(got.counts.shape[1], wanted.shape[1])
    np.testing.assert_allclose(got.counts[:, :shared], wanted[:, :shared], **close)
    assert not got.counts[:, shared:].any()
    # What the narrower of the two leaves out is impossible.
    np.testing.assert_allclose(wanted[:, shared:], 0.0, atol=1e-13)


@pytest.mark.parametrize("background_rate", [0.0, 0.3])
@pytest.mark.parametrize("kind", KINDS)
def test_one_stamp_has_an_exact_posterior_in_any_order(kind, background_rate):
    session = loose(case(kind, "gaussian", 940, 5, 1), "free", background_rate)
    got, want = inferred(session), oracle.infer(session)
    # There is nothing to iterate: rounding, and windows that leave out 1e-10 of a stamp.
    close = {"rtol": 0.0, "atol": 1e-9}
    np.testing.assert_allclose(got.log_evidence, want["log_evidence"], **close)
    np.testing.assert_allclose(got.positive, want["positive"], **close)
    np.testing.assert_allclose(got.responsibilities.toarray(), want["responsibilities"], **close)
    np.testing.assert_array_equal(got.best_alignment, owners(want["best_alignment"]))


# The worst of section 19 of docs/model.md: log evidence, p(positive), responsibilities.
@pytest.mark.parametrize(
    ("background_rate", "worst"), [(0.0, (0.504, 0.079, 0.316)), (0.1, (0.211, 0.037, 0.137))]
)
def test_stamps_in_any_order_are_as_near_enumeration_as_documented(background_rate, worst):
    errors = []
    for seed in range(950, 1000):
        session = loose(case("bernoulli", "gaussian", seed, 5, 3), "free", background_rate)
        got, want = inferred(session), oracle.infer(session)
        off = [
            got.log_evidence - want["log_evidence"],
            got.positive - want["positive"],
            got.responsibilities.toarray() - want["responsibilities"],
        ]
        errors.append([np.abs(entry).max() for entry in off])
        # The best is found by another search, without an approximation: rounding.
        np.testing.assert_array_equal(got.best_alignment, owners(want["best_alignment"]))
        np.testing.assert_allclose(got.best_log_weight, want["best_log_weight"], atol=1e-12)
    found = np.max(errors, axis=0)
    assert (found < worst).all(), found
    # An exact sum would not be what it says it is.
    assert (found > 0.01).all(), found


def test_stamps_may_cross_in_any_order_only():
    # The first stamp is surely of the second instance, and the other way round.
    times, stamps, log_odds = [0.0, 1.0], [1.2, 2.0], [5.0, 5.0]
    noise = unjitter.GaussianMixture(weights=[0.5, 0.5], delays=[0.2, 2.0], spreads=[0.05, 0.05])
    best = {
        alignment: unjitter.posterior(
            times, stamps, log_odds, noise=noise, alignment=alignment, background_rate=1e-9
        ).best_alignment.tolist()
        for alignment in ("free", "ordered")
    }
    assert best["free"] == [1, 0]
    # In order, one of them comes from nowhere.
    assert best["ordered"].count(-1) == 1


def test_draws_in_any_order_are_refused():
    found = unjitter.posterior([0.0, 1.0], [0.4], [0.0, 0.0], alignment="free")
    with pytest.raises(ValueError, match="any order cannot be drawn"):
        found.sample(3)


def test_draws_follow_the_posterior():
    session = case("bernoulli", "gaussian", 907)
    counts, noise = models(session)
    got = unjitter.posterior(
        session["times"], session["stamps"], session["log_odds"], counts, noise
    )
    draws = got.sample(20_000, seed=3)
    assert draws.shape == (20_000, 3)
    assert (np.diff(draws, axis=1) >= 0).all()
    share = np.stack([(draws == i).mean(axis=0) for i in range(4)])
    # Five standard errors of a share from 20 000 draws.
    np.testing.assert_allclose(share, got.responsibilities.toarray(), atol=5 * 0.5 / 20_000**0.5)
    np.testing.assert_array_equal(draws, got.sample(20_000, seed=3))
    assert (draws != got.sample(20_000, seed=4)).any()


def test_known_labels_are_infinite_log_odds():
    got = unjitter.posterior([0.0, 1.0, 2.0], [1.1], [-np.inf, 0.0, np.inf])
    assert got.positive[0] == 0.0
    assert got.positive[2] == 1.0


def test_dates_are_taken_as_seconds():
    dates = np.datetime64("2024-05-31T14:03:00") + np.arange(3).astype("timedelta64[s]")
    got = unjitter.posterior(dates, dates[1:2], [0.0, 0.0, 0.0])
    want = unjitter.posterior([0.0, 1.0, 2.0], [1.0], [0.0, 0.0, 0.0])
    assert got.log_evidence == want.log_evidence
    with pytest.raises(ValueError, match="times are dates but events are numbers"):
        unjitter.posterior(dates, [1.0], [0.0, 0.0, 0.0])


def test_no_stamps():
    got = unjitter.posterior([0.0, 1.0], [], [0.0, 1.0])
    assert got.responsibilities.shape == (2, 0)
    assert got.best_alignment.shape == (0,)
    assert got.sample(3).shape == (3, 0)
    assert got.counts.shape == (2, 2, 2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0.0, 1.0], [0.5], [0.0]), "log-odds"),
        (([1.0, 0.0], [0.5], [0.0, 0.0]), "time"),
        (([0.0, 1.0], [2.0, 1.0], [0.0, 0.0]), "stamp"),
        (([0.0, 1.0], [0.1, 0.2, 0.3], [0.0, 0.0]), "3 stamps"),
        (([0.0, 1.0], [0.5], [0.0, np.nan]), "log-odds"),
    ],
)
def test_bad_input_is_a_value_error_with_the_librarys_words(arguments, message):
    with pytest.raises(ValueError, match=message):
        unjitter.posterior(*arguments)


@pytest.mark.parametrize(
    ("models", "message"),
    [
        (
            {"noise": unjitter.Gaussian(delay=0.0)},
            "noise has no spread, but a posterior learns noth",
        ),
        ({"counts": unjitter.Categorical(hit_rate=0.9)}, "counts has no false_rate"),
        ({"noise": unjitter.Gaussian(delay=0.0, spread=-1.0)}, "noise.spread is -1"),
        ({"noise": "gauss"}, "expected one of gaussian"),
        ({"noise": "gaussian"}, "needs its values too, as in noise=Gaussian"),
        ({"counts": "poisson"}, "needs its values too, as in counts=Bernoulli"),
        ({"noise": unjitter.Gaussian(delay=0.0, spread=np.nan)}, "noise.spread is NaN"),
        ({"noise": "uniform"}, "Uniform"),
        ({"counts": unjitter.Bernoulli(0.1, 1.5)}, "counts.hit_rate is 1.5"),
        ({"counts": "normal"}, "expected one of auto, bernoulli"),
        ({"counts": unjitter.Gaussian(0.0, 1.0)}, "expected a name or one of Auto, Bernoulli"),
    ],
)
def test_a_model_that_cannot_be_says_why(models, message):
    with pytest.raises(ValueError, match=message):
        unjitter.posterior([0.0, 1.0], [0.5], [0.0, 0.0], **models)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"alignment": "any"}, "alignment is 'any', expected 'ordered' or 'free'"),
        ({"background_rate": -1.0}, "background_rate is -1, expected a number of at least 0"),
        ({"background_rate": np.nan}, "background_rate is nan, expected a finite number"),
        ({"background_rate": None}, "background_rate is None, expected a finite number"),
    ],
)
def test_options_are_checked(options, message):
    with pytest.raises(ValueError, match=message):
        unjitter.posterior([0.0, 1.0], [0.5], [0.0, 0.0], **options)


def test_no_instance_explains_a_stamp():
    with pytest.raises(ValueError, match="no instance can have given stamp 0"):
        unjitter.posterior([0.0, 1.0], [9.0], [0.0, 0.0], noise=unjitter.Uniform(0.0, 2.0))
    # But it may have come from nowhere.
    found = unjitter.posterior(
        [0.0, 1.0], [9.0], [0.0, 0.0], noise=unjitter.Uniform(0.0, 2.0), background_rate=0.1
    )
    assert found.best_alignment.tolist() == [-1]


def test_a_pickle_has_all_that_was_inferred():
    found = unjitter.posterior(
        [0.0, 1.0, 2.0],
        [0.7, 1.9],
        [-1.0, 2.0, 0.5],
        unjitter.Poisson(0.1, 1.0),
        unjitter.Laplace(0.2, 0.8),
        background_rate=0.1,
    )
    for other in (pickle.loads(pickle.dumps(found)), copy.deepcopy(found)):
        assert other.log_evidence == found.log_evidence
        assert np.array_equal(other.counts, found.counts)
        assert np.array_equal(other.sample(20, seed=3), found.sample(20, seed=3))
        assert repr(other) == repr(found)


def test_arrays_of_more_dimensions_are_named():
    right = {"times": [0.0, 1.0], "events": [0.4], "log_odds": [0.0, 0.0]}
    for name, values in right.items():
        with pytest.raises(ValueError, match=f"{name} have shape .* expected one dimension"):
            unjitter.posterior(**{**right, name: [values]})
