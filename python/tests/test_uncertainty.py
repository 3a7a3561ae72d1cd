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
    # The stamps of known labels tell nothing more of the weights. Differences are of a thousandth.
    # Beyond 400 stamps they are measured on a part of the sessions, and what labels tell on all.
    assert (sum(len(s.events) for s in made) > 400) == bool(options)
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


def _certain(sessions=3, events=12, seed=4):
    """Labelled events so far apart that the owner of every stamp is certain; a sixth is missed."""
    random = np.random.default_rng(seed)
    made, delays, missed = [], [], 0
    for k in range(sessions):
        times = np.arange(20.0 * (events + 1))
        labels = np.zeros(len(times), int)
        at = 20 * np.arange(1, events + 1)
        labels[at] = 1
        hit = random.random(events) < 5 / 6
        own = random.normal(0.4, 1.3, hit.sum())
        delays.extend(own)
        missed += events - hit.sum()
        X = random.standard_normal((len(times), 1))
        made.append(Session(X, times, np.sort(times[at[hit]] + own), labels=labels, name=f"s{k}"))
    return made, np.array(delays), missed


def _crossings(fall, low, best, high):
    """Where a profile has fallen by half the 95 % quantile of chi squared, by SciPy."""
    optimize = pytest.importorskip("scipy.optimize")
    drop = pytest.importorskip("scipy.stats").chi2.ppf(0.95, 1) / 2
    return [
        optimize.brentq(lambda x: fall(x) - drop, *ends) for ends in [(low, best), (best, high)]
    ]


def test_profiles_of_certain_owners_are_scipys():
    optimize = pytest.importorskip("scipy.optimize")
    stats = pytest.importorskip("scipy.stats")
    made, delays, missed = _certain()
    frozen = {"counts.false_rate": 1e-12, "background.rate": 0.0}
    detector = EventDetector(use_labels=True, counts="bernoulli", frozen=frozen).fit(made)
    found = detector.diagnose(made, priors=False)
    gap = np.median(np.concatenate([np.diff(s.events) for s in made]))

    def log_posterior(delay, spread):
        """The priors of docs/model.md: Cauchy on the delay, inverse Gamma on the squared spread."""
        prior = stats.cauchy.logpdf(delay, scale=gap / 4) + stats.invgamma.logpdf(spread**2, 1.0)
        return stats.norm.logpdf(delays, delay, spread).sum() + prior

    best = optimize.minimize(lambda x: -log_posterior(*x), [0.0, 1.0], method="Nelder-Mead")
    assert detector.delay_ == pytest.approx(best.x[0], abs=2e-3)
    assert detector.spread_ == pytest.approx(best.x[1], rel=2e-3)

    def profile(held, x):
        """The fall with one of the two held."""

        def value(other):
            return -log_posterior(*((x, other) if held == "delay" else (other, x)))

        bounds = (0.2, 9.0) if held == "delay" else (-9.0, 9.0)
        return optimize.minimize_scalar(value, bounds=bounds, method="bounded").fun - best.fun

    rows = {row["name"]: row for row in found.intervals.to_dict("records")}
    for name, low, high in [("delay", -3.0, 4.0), ("spread", 0.5, 4.0)]:
        at = best.x[0 if name == "delay" else 1]
        expected = _crossings(lambda x, name=name: profile(name, x), low, at, high)
        got = [rows[name]["profile_low"], rows[name]["profile_high"]]
        # The others are learned to some thousandths in the log posterior at three places a side.
        np.testing.assert_allclose(got, expected, atol=0.01)

    def hits(rate):
        """Minus the log posterior of the share missed, with its Beta prior."""
        known = stats.binom.logpmf(missed, missed + len(delays), rate)
        return -known - stats.beta.logpdf(1.0 - rate, 5.0, 1.5)

    top = optimize.minimize_scalar(hits, bounds=(1e-6, 0.9), method="bounded")
    expected = _crossings(lambda x: hits(x) - hits(top.x), 1e-9, top.x, 0.9)
    got = [rows["miss_rate"]["profile_low"], rows["miss_rate"]["profile_high"]]
    np.testing.assert_allclose(got, expected, atol=0.002)  # as above
    assert found.profiles["miss_rate"].shape == (2, 61)
    # Near its boundary it is the interval that a fit reports.
    few, _, _ = _certain(sessions=1, events=8)
    alone = EventDetector(use_labels=True, counts="bernoulli", frozen=frozen).fit(few)
    told = alone.diagnose(few, priors=False).intervals.to_dict("records")[2]
    assert told["name"] == "miss_rate"
    reported = alone.confidence_intervals()["miss_rate"]
    # A fit follows it to 3 % of a standard error, about 0.1 here.
    np.testing.assert_allclose(reported, [told["profile_low"], told["profile_high"]], atol=0.003)


def test_other_draws_of_the_sessions_agree_with_clusters():
    made = [s.replace(labels=None) for s in _labelled(42)]
    detector = EventDetector().fit(made)
    found = detector.diagnose(made, priors=False, profiles=False, bootstrap=60)
    row = found.intervals.to_dict("records")[0]
    assert row["name"] == "delay"
    width = row["bootstrap_high"] - row["bootstrap_low"]
    # A standard deviation of 60 draws is known to 9 %, its outermost twentieths to some 15 %.
    assert width == pytest.approx(row["clusters_high"] - row["clusters_low"], rel=0.35)
    again = detector.diagnose(made, priors=False, profiles=False, bootstrap=60)
    assert again.intervals.to_dict("records")[0] == pytest.approx(row, nan_ok=True)
    with pytest.raises(ValueError, match="bootstrap"):
        detector.diagnose(made, bootstrap=-1)
