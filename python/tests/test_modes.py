"""Several explanations of the same stamps, and the choice among them."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest

from unjitter import EventDetector, Mode, Session, UnjitterWarning

DELAY = 6.0


def in_context(seed):
    """A drawn session whose features hold the neighbours of each instance, up to eight away, so
    that a detector can fire early or late."""
    rng = np.random.default_rng(seed)
    times = np.arange(400.0)
    labels = rng.random(400) < 0.05
    x = rng.normal(size=400) + 3.0 * labels
    X = np.column_stack([np.roll(x, lag) for lag in range(-8, 9)])
    pressed = labels & (rng.random(400) < 0.95)
    events = np.sort(times[pressed] + rng.normal(DELAY, 0.6, pressed.sum()))
    return Session(X, times, events, labels=labels, name=f"day-{seed}")


SESSIONS = [in_context(seed) for seed in range(6)]


@pytest.fixture
def detector():
    with pytest.warns(UnjitterWarning, match="two explanations of the stamps"):
        return EventDetector().fit(SESSIONS)


def test_all_explanations_are_kept(detector):
    assert len(detector.modes_) > 1
    first = detector.modes_[0]
    assert isinstance(first, Mode)
    assert (first.delay, first.spread) == (detector.delay_, detector.spread_)
    assert (first.miss_rate, first.false_rate) == (detector.miss_rate_, detector.false_rate_)
    assert first.background_rate == detector.background_rate_ > 0.0
    assert first.log_evidence == detector.log_evidence_
    assert (first.held_out, first.shift) == ((0.0, 0.0), 0)
    for mode in detector.modes_[1:]:
        # Later presses need an earlier detector, instance by instance, but for the scatter.
        assert mode.shift == pytest.approx(first.delay - mode.delay, abs=0.5)
    with pytest.raises(AttributeError):
        first.delay = 0.0


def test_another_mode_can_be_used(detector):
    modes, before = detector.modes_, detector.predict_proba(SESSIONS[0])
    assert detector.use_mode(0).modes_ == modes
    assert detector.use_mode(1) is detector
    assert detector.modes_ == [modes[1], modes[0], *modes[2:]]
    assert (detector.delay_, detector.log_evidence_) == (modes[1].delay, modes[1].log_evidence)
    # Of the sum over sessions: rounding only.
    assert detector.log_evidence(SESSIONS) == pytest.approx(modes[1].log_evidence, rel=1e-6)
    assert not np.allclose(detector.predict_proba(SESSIONS[0]), before)
    detector.use_mode(1)
    np.testing.assert_array_equal(detector.predict_proba(SESSIONS[0]), before)
    for k in (-1, 1.0, "1", len(modes)):
        with pytest.raises(ValueError, match=r"k is .*, expected a whole number"):
            detector.use_mode(k)


def test_another_mode_has_a_threshold_of_its_own(detector):
    detector.threshold = "expected_f1"
    first, other = detector.use_mode(0, SESSIONS).threshold_, detector.use_mode(1).threshold_
    assert other == first  # it is not known where to find another
    found = detector.use_mode(0, SESSIONS).threshold_
    assert found != first
    table = detector.align_instances([session.replace(labels=None) for session in SESSIONS])
    p, q = table["p_detector"].to_numpy(), table["p_positive"].to_numpy()

    def expected(threshold):
        called = p >= threshold
        return 2.0 * q[called].sum() / (called.sum() + q.sum())

    # The order of sums.
    assert expected(found) == pytest.approx(max(map(expected, np.unique(p))), rel=1e-12)
    detector.threshold = 0.5
    with pytest.raises(ValueError, match="X is for threshold='expected_f1', and threshold is 0.5"):
        detector.use_mode(1, SESSIONS)


def test_files_and_pickles_keep_the_modes(detector, tmp_path):
    detector.use_mode(1).save(tmp_path / "model.json")
    for other in (
        EventDetector.load(tmp_path / "model.json"),
        pickle.loads(pickle.dumps(detector)),
    ):
        assert other.modes_ == detector.modes_
        assert other.delay_ == detector.delay_
        assert other.use_mode(1).log_evidence_ == detector.modes_[1].log_evidence


def test_a_stated_range_is_kept_by_files(tmp_path):
    detector = EventDetector(delay=(DELAY - 1.0, DELAY + 1.0), alignment="ordered", restarts=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnjitterWarning)
        detector.fit(SESSIONS[:2]).save(tmp_path / "model.json")
    loaded = EventDetector.load(tmp_path / "model.json")
    assert (loaded.delay, loaded.alignment) == (detector.delay, "ordered")


@pytest.mark.parametrize("middle", [-2, 3, 6])
@pytest.mark.filterwarnings("ignore::unjitter.UnjitterWarning")
def test_a_stated_range_chooses_the_explanation(middle):
    detector = EventDetector(delay=(middle - 0.5, middle + 0.5)).fit(SESSIONS)
    assert abs(detector.delay_ - middle) < 0.5
    if middle == DELAY:
        # One feature, three standard deviations apart; an explanation with another delay is at 0.1.
        assert detector.score(SESSIONS) > 0.7


def test_the_page_shows_background_and_modes(detector):
    html = detector._repr_html_()
    assert f"{detector.background_rate_:.3g} per unit of time" in html
    assert html.count("or else") == len(detector.modes_) - 1
    assert f"{abs(detector.modes_[1].delay):.3g} " in html


@pytest.mark.parametrize(
    ("parameter", "value", "message"),
    [
        ("alignment", "loose", "alignment is 'loose', expected 'free' or 'ordered'"),
        ("alignment", None, "alignment is None, expected 'free' or 'ordered'"),
        ("delay", 3.0, r"delay is 3.0, expected \(earliest, latest\)"),
        ("delay", (3.0, 0.2), "two finite numbers with the first below the second"),
        ("delay", (0.0, np.inf), "two finite numbers"),
        ("delay", (0.0, 1.0, 2.0), "two finite numbers"),
        ("delay", "ab", "two finite numbers"),
        ("counts", "any", "counts is 'any', expected one of auto, bernoulli"),
    ],
)
def test_mistakes_are_named(parameter, value, message):
    with pytest.raises(ValueError, match=message):
        EventDetector(**{parameter: value}).fit(SESSIONS[:1])
