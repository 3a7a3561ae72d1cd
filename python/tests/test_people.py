"""Simulated people: clocks that are off, habits, rounding, and who gave which stamp."""

from __future__ import annotations

import numpy as np
import pytest

from unjitter import Session, simulate


def recordings(count, instances=2000):
    """Instances ten seconds apart, one in ten positive: presses never mingle."""
    times, labels = 10.0 * np.arange(instances), np.arange(instances) % 10 == 0
    return [
        Session(np.zeros((instances, 1)), times, [], labels=labels, name=f"s{k}", subject=f"p{k}")
        for k in range(count)
    ]


def delays(session, who):
    own = session.events[session.annotators == who]
    return own - 100.0 * np.round(own / 100.0)


def test_a_clock_drifts_from_the_middle_of_its_session():
    [session] = recordings(1)
    annotator = simulate.Annotator(spread=1e-6, offset_spread=1.0, drift_spread=1e-4)
    presses = simulate.press(session.times, session.labels, annotator, seed=3)
    late = presses.stamps - session.times[presses.sources]
    middle = 0.5 * (session.times[0] + session.times[-1])
    slope, at_middle = np.polyfit(session.times[presses.sources] - middle, late, 1)
    # Presses scatter by a millionth, over 20 000.
    assert slope == pytest.approx(presses.drift, abs=1e-9) and abs(presses.drift) > 1e-6
    assert at_middle == pytest.approx(presses.offset, abs=1e-6)


def test_clocks_run_right_unless_they_are_asked_to_drift():
    [session] = recordings(1)
    presses = simulate.press(session.times, session.labels, simulate.Annotator(spread=1.0))
    assert presses.drift == 0.0
    sloppy = simulate.Sloppiness(spread=1e-7, drift_spread=1e-4)
    late = [own.events - own.times[own.labels == 1] for own in simulate.annotate([session], sloppy)]
    assert np.ptp(late[0]) > 1e-3


def test_presses_can_be_rounded():
    [session] = recordings(1)
    for annotator in (
        simulate.Annotator(spread=3.0, rounded=2.5),
        simulate.Sloppiness(spread=0.3, rounded=0.25),
    ):
        [own] = simulate.annotate(session, annotator)
        assert len(np.unique(own.events)) > 100
        # Multiples of a power of two times five: exact.
        np.testing.assert_array_equal(own.events % 2.5, 0.0)


def test_people_press_together_with_the_habits_that_people_tells():
    sessions = recordings(4)
    sloppy = simulate.Sloppiness(
        delay=0.3, spread=0.1, pressed=0.8, people=3, together=True, habits=(0.2, 0.5)
    )
    truth = simulate.people(sessions, sloppy, seed=2)
    annotated = simulate.annotate(sessions, sloppy, seed=2)
    assert list(truth) == ["person 1", "person 2", "person 3"]
    assert len({own.noise.delay for own in truth.values()}) == 3
    for session, given in zip(annotated, sessions):
        assert set(session.annotators) == set(truth) and session.subject == given.subject
    for who, own in truth.items():
        late = np.concatenate([delays(session, who) for session in annotated])
        # Four standard errors of 640 delays.
        assert late.mean() == pytest.approx(own.noise.delay, abs=4 * own.noise.spread / 25)
        assert late.std() == pytest.approx(own.noise.spread, rel=4 / np.sqrt(2 * 640))
        assert own.miss == pytest.approx(0.2, rel=1e-12)


def test_people_take_turns():
    annotated = simulate.annotate(recordings(5), simulate.Sloppiness(people=2, spread=0.1))
    people = [sorted(set(session.annotators)) for session in annotated]
    assert people == [["person 1"], ["person 2"], ["person 1"], ["person 2"], ["person 1"]]


def test_who_gave_no_stamp_annotated_all_the_same():
    [session] = recordings(1, instances=11)
    sloppy = simulate.Sloppiness(people=3, together=True, pressed=0.3, spread=0.1)
    seen = simulate.annotate([session] * 8, sloppy)
    assert any(own.also_annotated for own in seen)
    assert all(own._people() == ["person 1", "person 2", "person 3"] for own in seen)


def test_one_person_needs_no_name():
    [session] = simulate.annotate(recordings(1), simulate.Sloppiness(spread=0.1))
    assert session.annotators is None and session.also_annotated == ()


@pytest.mark.parametrize(
    "shape", [{"tails": "laplace"}, {"tails": "student_t"}, {"errors": [-1.0, 0.5]}]
)
def test_people_of_every_shape_press_as_they_are_told(shape):
    sessions = recordings(1)
    sloppy = simulate.Sloppiness(spread=0.1, people=2, habits=(0.1, 0.1), **shape)
    (one, _), told = simulate.people(sessions, sloppy).values(), simulate.annotate(sessions, sloppy)
    again = simulate.annotate(sessions, simulate.Annotator(**vars(one)), seed=0)
    assert len(told[0].events) == len(again[0].events) == 200
    scale = np.std(told[0].events - told[0].times[told[0].labels == 1])
    # Two draws of 200 delays; with heavy tails the standard error is some 10 %.
    assert np.std(again[0].events - again[0].times[again[0].labels == 1]) == pytest.approx(
        scale, rel=0.4
    )


@pytest.mark.parametrize(
    ("sloppy", "message"),
    [
        ({"people": 0}, "people is 0, expected a number from 1 to 1000"),
        ({"people": 1.5}, "people is 1.5, expected a whole number"),
        ({"habits": (-1.0, 0.0)}, "habits: delay is -1, expected a number of at least 0"),
        ({"habits": 0.5}, "habits is 0.5, expected \\(of delays, of log spreads\\)"),
        ({"drift_spread": -0.1}, "drift_spread is -0.1, expected a number of at least 0"),
    ],
)
def test_mistakes_are_named(sloppy, message):
    with pytest.raises(ValueError, match=message):
        simulate.annotate(recordings(1, instances=20), simulate.Sloppiness(**sloppy))
