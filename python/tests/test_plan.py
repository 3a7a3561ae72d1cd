"""Planning in Python."""

import numpy as np
import pytest

from unjitter import EventDetector, simulate


@pytest.fixture(scope="module")
def planned():
    sessions = simulate.respiration(seed=0)
    detector = EventDetector().fit(sessions)
    return detector, sessions, detector.plan(sessions, more=[13, 39], labelled=[1, 13])


def test_more_sessions_and_labels_tell_more(planned):
    _, sessions, plan = planned
    table = plan.to_frame(backend="numpy")
    assert list(table["sessions"]) == [13, 26, 52, 13, 13]
    assert list(table["labelled"]) == [0, 0, 0, 1, 13]
    assert 0.1 < plan.worth < 1.0 and plan.sessions == len(sessions)
    for steps in ([0, 1, 2], [0, 3, 4]):
        assert np.all(np.diff(table["f1"][steps]) > 0.0)
        assert np.all(np.diff(table["as_good_as"][steps]) > 0.0)
        for name in ("delay_width", "spread_width", "miss_rate_width"):
            assert np.all(np.diff(table[name][steps]) < 0.0), name
    assert np.all(np.isnan(table["f1_refits"])) and plan.refits is None


def test_widths_now_are_those_of_the_fit(planned):
    detector, _, plan = planned
    low, high = detector.confidence_intervals()["delay"]
    assert plan.outlooks[0]["delay_width"] == pytest.approx(high - low, rel=1e-6)


def test_refits_are_told(planned):
    detector, sessions, _ = planned
    plan = detector.plan(sessions, more=[13], refits=1)
    assert [sizes for sizes, _, _ in plan.refits] == [3, 6, 9]
    assert np.isfinite(plan.outlooks[1]["f1_refits"])


def test_it_says_what_it_is(planned):
    text = repr(planned[2])
    assert text.startswith("Plan(13 sessions, a stamp is worth 0.") and "with 52 sessions" in text


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"labelled": [14]}, "number of sessions to label is 14"),
        ({"more": [0]}, "number of further sessions is 0"),
        ({"more": [1.5]}, "more is 1.5"),
        ({"level": 1.0}, "level is 1"),
        ({"refits": -1}, "refits is -1"),
    ],
)
def test_mistakes_are_named(planned, options, words):
    detector, sessions, _ = planned
    with pytest.raises(ValueError, match=words):
        detector.plan(sessions, **options)
