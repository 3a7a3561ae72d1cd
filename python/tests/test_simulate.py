"""Simulated data are what was asked for, and the same for the same seed."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.stats

from unjitter import (
    EventDetector,
    Gaussian,
    Laplace,
    Session,
    ShiftedGamma,
    StudentT,
    Uniform,
    simulate,
)


def test_the_same_seed_gives_the_same_arrays():
    first, again = (simulate.respiration(sessions=3, seed=5) for _ in range(2))
    other = simulate.respiration(sessions=3, seed=6)
    for a, b, c in zip(first, again, other):
        for name in ("X", "times", "events", "labels"):
            np.testing.assert_array_equal(getattr(a, name), getattr(b, name))
            assert not np.array_equal(getattr(a, name), getattr(c, name))


@pytest.mark.parametrize(
    ("kind", "subjects", "sessions", "puffs"), [("mpuff", 4, 13, 179), ("puffmarker", 6, 30, 305)]
)
def test_studies_are_as_large_as_the_papers(kind, subjects, sessions, puffs):
    study = simulate.respiration(kind)
    assert len(study) == sessions
    assert len({session.subject for session in study}) == subjects
    found = sum(int(session.labels.sum()) for session in study)
    # A few puffs are lost by the detector of cycles.
    assert 0.95 * puffs <= found <= puffs
    for session in study:
        assert session.feature_names == simulate.CYCLE_FEATURES
        assert session.X.shape == (len(session), 30)
        assert set(np.unique(session.labels)) == {0, 1}


def test_a_study_can_be_of_another_size():
    study = simulate.respiration(subjects=2)
    assert len(study) == 7
    assert {session.subject for session in study} == {"subject-1", "subject-2"}
    assert len(simulate.respiration("puffmarker", subjects=2)) == 10
    assert len(simulate.respiration(sessions=3, puffs=6)[0].labels.nonzero()[0]) < 6
    with pytest.raises(ValueError, match="kind is 'smoke', expected one of mpuff, puffmarker"):
        simulate.respiration("smoke")
    with pytest.raises(ValueError, match="talking"):
        simulate.respiration(sessions=1, talking=2.0)
    with pytest.raises(ValueError, match="subjects"):
        simulate.respiration(subjects=0)
    with pytest.raises(ValueError, match="sessions is -1, expected a whole number"):
        simulate.respiration(sessions=-1)
    with pytest.raises(ValueError, match=r"seed is 0\.5, expected a whole number"):
        simulate.respiration(sessions=1, seed=0.5)


def test_the_learned_delay_is_near_the_truth():
    sessions = simulate.respiration("puffmarker", seed=1)
    spacing = np.median(np.concatenate([np.diff(session.times) for session in sessions]))
    detector = EventDetector().fit(sessions)
    stamps = sum(len(session.events) for session in sessions)
    # The demo's annotator: half a spacing late, scattered by one. The mean of so many delays is
    # known to one over the root of their number; three times that, and as much for what is unknown.
    reach = 6.0 / np.sqrt(stamps)
    assert detector.delay_ / spacing == pytest.approx(0.5, abs=reach)
    assert detector.spread_ / spacing == pytest.approx(1.0, abs=reach)
    assert detector.miss_rate_ == pytest.approx(0.1, abs=0.1)


def test_raw_signals_become_the_same_sessions():
    bands = simulate.chest_band(sessions=2, seed=3)
    sessions = simulate.respiration(sessions=2, seed=3, annotator=None)
    for band, session in zip(bands, sessions):
        made = band.session()
        assert (made.name, made.subject) == (session.name, session.subject)
        for name in ("X", "times", "events", "labels"):
            np.testing.assert_array_equal(getattr(made, name), getattr(session, name))
        # 20 Hz.
        assert np.median(np.diff(band.times)) == pytest.approx(0.05, rel=1e-9)
        assert len(band.times) == len(band.values)
        assert np.all((band.puffs > band.times[0]) & (band.puffs < band.times[-1]))


@pytest.fixture(scope="module")
def long_session():
    """20 000 instances ten seconds apart, one in ten positive: presses never mingle."""
    times = 10.0 * np.arange(20_000)
    return Session(np.zeros((20_000, 1)), times, [], labels=np.arange(20_000) % 10 == 0)


@pytest.mark.parametrize(
    ("noise", "law"),
    [
        (Gaussian(0.3, 0.5), scipy.stats.norm(0.3, 0.5)),
        (Laplace(0.3, 0.5), scipy.stats.laplace(0.3, 0.5 / np.sqrt(2))),
        (StudentT(0.3, 0.2, 4.0), scipy.stats.t(4.0, 0.3, 0.2)),
        (ShiftedGamma(0.2, 2.0, 0.5), scipy.stats.gamma(2.0, 0.2, 0.5 / np.sqrt(2))),
        (Uniform(-0.5, 1.0), scipy.stats.uniform(-0.5, 1.5)),
    ],
)
def test_delays_follow_the_noise_model(long_session, noise, law):
    annotator = simulate.Annotator(noise=noise)
    [annotated] = simulate.annotate(long_session, annotator, seed=1)
    delays = annotated.events - long_session.times[long_session.labels == 1]
    # The seed is fixed; a wrong law of 2000 delays would be seen at far below this.
    assert scipy.stats.kstest(delays, law.cdf).pvalue > 0.01


def test_rates_are_those_that_were_asked_for(long_session):
    annotator = simulate.Annotator(spread=0.1, miss=0.25, spurious=0.02)
    presses = simulate.press(long_session.times, long_session.labels, annotator, seed=2)
    hits = np.mean(long_session.labels[presses.sources] == 1) * len(presses.stamps)
    # Three standard deviations of binomials of 2000 and 18 000.
    assert hits == pytest.approx(0.75 * 2000, abs=3 * np.sqrt(2000 * 0.75 * 0.25))
    assert len(presses.stamps) - hits == pytest.approx(360, abs=3 * np.sqrt(360))
    assert np.all(np.diff(presses.stamps) >= 0)

    hourly = simulate.Annotator(spread=0.1, miss=1.0, spurious_per_hour=6.0)
    presses = simulate.press(long_session.times, long_session.labels, hourly, seed=2)
    hours = (long_session.times[-1] - long_session.times[0]) / 3600.0
    assert np.all(presses.sources == -1)
    assert len(presses.stamps) == pytest.approx(6.0 * hours, abs=3 * np.sqrt(6.0 * hours))


def test_errors_that_people_made_can_be_drawn(long_session):
    annotator = simulate.Annotator(errors=[-1.0, 2.0], scale=0.5)
    [annotated] = simulate.annotate(long_session, annotator)
    delays = annotated.events - long_session.times[long_session.labels == 1]
    # Times of up to 200 000 have 11 digits behind the point.
    assert set(np.round(delays, 9)) == {-0.5, 1.0}


def test_sloppiness_is_in_spacings(long_session):
    sloppy = simulate.Sloppiness(delay=0.2, spread=0.05, pressed=0.5, extra=0.5)
    [annotated] = simulate.annotate(long_session, sloppy, seed=3)
    # 1000 hits and 1000 for nothing, give or take three standard deviations.
    assert len(annotated.events) == pytest.approx(2000, abs=3 * np.sqrt(1500))
    delays = annotated.events - 10.0 * np.round(annotated.events / 10.0)
    assert delays.mean() == pytest.approx(2.0, abs=3 * 0.5 / np.sqrt(2000))
    assert delays.std() == pytest.approx(0.5, abs=3 * 0.5 / np.sqrt(4000))
    [other] = simulate.annotate(long_session, simulate.Sloppiness(spread=0.05, unit=1.0))
    assert (other.events - 10.0 * np.round(other.events / 10.0)).std() < 0.06


@pytest.mark.parametrize("tails", ["gaussian", "laplace", "student_t"])
def test_tails_have_the_spread_that_was_asked_for(long_session, tails):
    sloppy = simulate.Sloppiness(spread=0.1, tails=tails, degrees_of_freedom=10.0)
    [annotated] = simulate.annotate(long_session, sloppy, seed=4)
    delays = annotated.events - long_session.times[long_session.labels == 1]
    # Excess kurtosis up to 3 makes the standard error of 2000 at most 2.5 %; three times that.
    assert delays.std() == pytest.approx(1.0, rel=0.075)


def test_a_shared_offset_moves_all_presses_of_a_session():
    sessions = [
        Session(np.zeros((50, 1)), 10.0 * np.arange(50), [], labels=np.ones(50), name=str(k))
        for k in range(2)
    ]
    annotator = simulate.Annotator(spread=1e-6, offset_spread=1.0)
    moved = [session.events - session.times for session in simulate.annotate(sessions, annotator)]
    # Single presses scatter by a millionth.
    assert all(np.ptp(offset) < 1e-4 for offset in moved)
    assert abs(moved[0].mean() - moved[1].mean()) > 1e-2


def test_dates_stay_dates():
    zero = np.datetime64("2024-05-31T14:00:00", "ns")
    times = zero + np.arange(3) * np.timedelta64(10, "s")
    session = Session(np.zeros((3, 1)), times, times[:0], labels=[0, 1, 0])
    [annotated] = simulate.annotate(session, simulate.Annotator(delay=0.5, spread=1e-9))
    assert annotated.calendar == session.calendar
    # Nine digits of spread below a nanosecond's rounding.
    np.testing.assert_allclose(annotated.events, [10.5], atol=1e-7)


def test_mistakes_are_named(long_session):
    cases = [
        (simulate.Annotator(delay=1.0, noise=Gaussian(0, 1)), "delays come from"),
        (simulate.Annotator(noise=Gaussian(0.0)), "spread"),
        (simulate.Annotator(miss=1.5), "miss is 1.5"),
        (simulate.Annotator(spurious=0.1, spurious_per_hour=1.0), "not both"),
        (simulate.Sloppiness(spread=0.0), "spread is 0"),
        (simulate.Sloppiness(tails="cauchy"), "tails is 'cauchy'"),
        ("late", "expected an Annotator"),
    ]
    for annotator, message in cases:
        with pytest.raises(ValueError, match=message):
            simulate.annotate(long_session, annotator)
    with pytest.raises(ValueError, match="label"):
        simulate.annotate(long_session.replace(labels=None), simulate.Annotator())


def test_unknown_labels_are_not_pressed_for():
    annotator = simulate.Annotator(spread=0.1)
    for labels in ([0, 1, -1], [0.0, 1.0, np.nan]):
        with pytest.raises(ValueError, match="label 2 is .*, expected 0 or 1"):
            simulate.press([0, 10, 20], labels, annotator)


def test_no_two_seeds_share_draws():
    session = Session([[0.0]] * 20, times=10.0 * np.arange(20), events=[], labels=[1] * 20)
    annotator = simulate.Annotator(spread=1.0)
    many = simulate.annotate([session] * 1001, annotator, seed=0)
    (first,) = simulate.annotate([session], annotator, seed=1)
    assert not np.array_equal(many[1000].events, first.events)


def runs(labels):
    """First and last positions of the runs of positive labels."""
    edges = np.flatnonzero(np.diff((labels == 1).astype(int), prepend=0, append=0))
    return edges[::2], edges[1::2] - 1


def test_a_wearable_has_as_many_people_and_windows_as_were_asked_for():
    sessions = simulate.wearable(people=3, seconds=120.0, windows_per_second=2.0, seed=1)
    assert [session.name for session in sessions] == ["person-01", "person-02", "person-03"]
    assert len({session.subject for session in sessions}) == 3
    for session in sessions:
        # A window is a second long, so the last begins a second before the end.
        assert session.X.shape == (len(session), 6) == (2 * 119, 6) or len(session) == 239
        np.testing.assert_allclose(np.diff(session.times), 0.5)
        assert len(session.feature_names) == 6
        assert set(np.unique(session.labels)) == {0, 1}
    dense = simulate.wearable(people=1, seconds=120.0, windows_per_second=8.0, seed=1)
    assert len(dense[0]) == pytest.approx(4 * len(sessions[0]), abs=8)


def test_events_of_a_wearable_last_as_long_as_was_asked_for():
    sessions = simulate.wearable(people=8, shortest=3.0, longest=6.0, apart=15.0, annotator=None)
    lengths, gaps = [], []
    for session in sessions:
        assert len(session.events) == 0 and session.ends is None
        first, last = runs(session.labels)
        lengths += list(session.times[last] - session.times[first])
        gaps += list(session.times[first[1:]] - session.times[last[:-1]])
    # A window is positive by its middle: a run is shorter than its event by less than a spacing.
    assert min(lengths[1:-1]) >= 3.0 - 0.5
    assert max(lengths) <= 6.0
    # 150 gaps that scatter by less than their mean.
    assert np.mean(gaps) == pytest.approx(15.0, abs=4 * 15.0 / np.sqrt(len(gaps)))


def test_the_same_seed_gives_the_same_movement():
    first, again, other = (
        simulate.wearable(people=1, seconds=100.0, seed=seed)[0] for seed in (5, 5, 6)
    )
    for name in ("X", "labels", "events", "ends"):
        np.testing.assert_array_equal(getattr(first, name), getattr(again, name))
        assert not np.array_equal(getattr(first, name), getattr(other, name))


def test_ends_are_pressed_with_a_delay_and_a_spread_of_their_own():
    times = 0.5 * np.arange(40_000)
    labels = np.arange(40_000) % 40 < 6
    session = Session(np.zeros((40_000, 1)), times, [], labels=labels.astype(int))
    # In spacings of half a second.
    sloppy = simulate.Sloppiness(delay=1.0, spread=0.4, ends=(3.0, 0.8))
    [pressed] = simulate.annotate(session, sloppy, seed=2)
    first, last = runs(session.labels)
    assert len(pressed.events) == len(pressed.ends) == len(first) == 1000
    for stamps, true, delay, spread in (
        (pressed.events, times[first], 0.5, 0.2),
        (pressed.ends, times[last], 1.5, 0.4),
    ):
        late = stamps - true
        # Three standard errors of the mean and of the standard deviation of a thousand.
        assert late.mean() == pytest.approx(delay, abs=3 * spread / np.sqrt(1000))
        assert late.std() == pytest.approx(spread, abs=3 * spread / np.sqrt(2000))
    forgetful = simulate.Sloppiness(pressed=0.7, ends=(0.0, 1.0))
    [some] = simulate.annotate(session, forgetful, seed=2)
    # Three standard deviations of a binomial.
    assert len(some.events) == pytest.approx(700, abs=3 * np.sqrt(1000 * 0.3 * 0.7))


@pytest.mark.parametrize("zone", [None, "Europe/Zurich"])
def test_pressed_ends_of_dates_are_dates(zone):
    times = pd.date_range("2024-05-31T14:00:00", periods=30, freq="s", tz=zone)
    labels = (np.arange(30) % 10 < 4).astype(int)
    session = Session(np.zeros((30, 1)), times, times[:0], labels=labels)
    sloppy = simulate.Sloppiness(delay=0.25, spread=1e-9, ends=(0.5, 1e-9))
    [pressed] = simulate.annotate(session, sloppy)
    assert pressed.calendar == session.calendar
    # Nine digits of spread below a nanosecond's rounding.
    np.testing.assert_allclose(pressed.events, [0.25, 10.25, 20.25], atol=1e-7)
    np.testing.assert_allclose(pressed.ends, [3.5, 13.5, 23.5], atol=1e-7)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"people": 0}, "people is 0"),
        ({"people": 1.5}, r"people is 1\.5, expected a whole number"),
        ({"seconds": -1.0}, "seconds is -1"),
        ({"windows_per_second": 0.0}, "windows_per_second is 0"),
        ({"windows_per_second": 21.0}, "windows_per_second is 21"),
        ({"shortest": 0.0}, "shortest is 0"),
        ({"shortest": 5.0, "longest": 4.0}, "longest is 4"),
        ({"apart": 3.0}, "apart is 3"),
        ({"seed": -1}, "seed is -1"),
    ],
)
def test_settings_of_a_wearable_are_refused_by_name(settings, message):
    with pytest.raises(ValueError, match=message):
        simulate.wearable(**settings)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"ends": (1.0,)}, r"ends is \(1.0,\), expected \(mean delay, spread\)"),
        ({"ends": 1.0}, r"ends is 1.0, expected \(mean delay, spread\)"),
        ({"ends": (0.0, -1.0)}, "spread of ends is -1"),
        ({"ends": (np.nan, 1.0)}, "ends is nan, expected a finite number"),
        ({"habits": (1.0, 2.0, 3.0)}, r"habits is .*, expected \(of delays, of log spreads\)"),
    ],
)
def test_settings_of_ends_are_refused_by_name(long_session, settings, message):
    with pytest.raises(ValueError, match=message):
        simulate.annotate(long_session, simulate.Sloppiness(**settings))
