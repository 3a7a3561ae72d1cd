"""Standard errors and intervals, beside statsmodels' where all labels are known."""

import numpy as np
import pytest

from unjitter import EventDetector, Priors, Session


def _labelled(sessions, instances=60, seed=0):
    """Sessions with all labels known; people differ."""
    random = np.random.default_rng(seed)
    made = []
    for k in range(sessions):
        X = random.standard_normal((instances, 2))
        log_odds = -2.5 + 2.0 * X @ [1.0, -0.7] + random.normal(0.0, 0.8)
        y = (random.random(instances) < 1.0 / (1.0 + np.exp(-log_odds))).astype(int)
        times = np.arange(float(instances))
        stamps = np.sort(times[y == 1] + random.normal(0.0, 0.8, y.sum()))
        made.append(Session(X, times, stamps, labels=y, name=f"s{k}"))
    return made


def _detector():
    """Without a prior on the weights, nearly."""
    priors = Priors(intercept_precision=1e-9)
    return EventDetector(use_labels=True, regularisation=1e-9, priors=priors, counts="bernoulli")


def _raw(detector, errors):
    """Errors of coefficients of raw features, from those of standardised ones."""
    scale = np.abs(detector.coef_[0] / detector.parameters_["classifier.weights"])
    return errors * scale


@pytest.mark.parametrize(("sessions", "options"), [(8, {}), (42, {"cov_type": "cluster"})])
def test_errors_of_known_labels_are_those_of_logistic_regression(sessions, options):
    sm = pytest.importorskip("statsmodels.api")
    made = _labelled(sessions)
    X = sm.add_constant(np.concatenate([np.asarray(s.X) for s in made]))
    y = np.concatenate([np.asarray(s.labels) for s in made])
    if options:
        groups = np.repeat(np.arange(sessions), len(made[0]))
        options["cov_kwds"] = {"groups": groups, "use_correction": False}
    peer = sm.Logit(y, X).fit(disp=False, **options)
    detector = _detector().fit(made)
    np.testing.assert_allclose(detector.coef_[0], peer.params[1:], rtol=1e-4)
    ours = _raw(detector, detector.standard_errors_["classifier.weights"])
    clusters = sessions / (sessions - 1) if options else 1.0
    # The stamps of known labels tell nothing more of the weights. Below 600 stamps all sessions are
    # measured, by differences of a thousandth.
    assert sum(len(s.events) for s in made) < 600
    np.testing.assert_allclose(ours, np.sqrt(clusters) * peer.bse[1:], rtol=2e-3)


def test_intervals_hold_the_value_and_widen_with_the_level():
    detector = EventDetector().fit([s.replace(labels=None) for s in _labelled(6)])
    narrow, wide = (detector.confidence_intervals(level) for level in [0.5, 0.95])
    for name in ["delay", "spread", "miss_rate", "false_rate", "background_rate"]:
        value = getattr(detector, f"{name}_")
        assert wide[name][0] < narrow[name][0] < value < narrow[name][1] < wide[name][1]
        assert detector.standard_errors_[name] > 0.0
    for name, values in detector.parameters_.items():
        assert wide[name].shape == (len(values), 2)
        assert detector.standard_errors_[name].shape == values.shape
    with pytest.raises(ValueError, match="level"):
        detector.confidence_intervals(95)


def test_what_was_held_has_no_error():
    detector = EventDetector(frozen={"noise.delay": 0.1}).fit(_labelled(4))
    assert np.isnan(detector.standard_errors_["delay"])
    assert np.isnan(detector.confidence_intervals()["delay"]).all()
    assert detector.standard_errors_["spread"] > 0.0


def test_alignment_accounts_for_what_is_not_known():
    sessions = [s.replace(labels=None) for s in _labelled(2, instances=40)]
    detector = EventDetector().fit(sessions)
    drawn, certain = (detector.align(sessions, draws=draws) for draws in [32, 0])
    width = (drawn["high"] - drawn["low"]).sum(), (certain["high"] - certain["low"]).sum()
    assert width[0] > width[1]
    narrow = detector.align(sessions, level=0.5)
    assert (narrow["low"] >= drawn["low"]).all() and (narrow["high"] <= drawn["high"]).all()
    with pytest.raises(ValueError, match="draws"):
        detector.align(sessions, draws=-1)
    with pytest.raises(ValueError, match="level"):
        detector.align(sessions, level=1.0)
