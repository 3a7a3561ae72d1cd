"""Raw signals become the instances that they should."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from sklearn.base import clone

from unjitter import Session, signal

PERIOD = 4.0


@pytest.fixture(scope="module")
def breathing():
    """Two minutes of a sine: inhalation begins at multiples of the period."""
    seconds = np.arange(0.0, 120.0, 0.05)
    return seconds, -np.cos(2 * np.pi * seconds / PERIOD)


def test_cycles_are_where_they_should_be(breathing):
    seconds, values = breathing
    cycles = signal.find_cycles(values, times=seconds)
    # The first and the last breath touch the ends of the recording.
    assert 27 <= len(cycles) <= 29
    # A tenth of the rise of a sine is done after this time; the grid is 0.05 s.
    onset = PERIOD / (2 * np.pi) * np.arccos(1 - 2 * 0.1)
    np.testing.assert_allclose(cycles.start % PERIOD, onset, atol=0.05)
    np.testing.assert_allclose((cycles.peak - PERIOD / 2) % PERIOD % PERIOD, 0.0, atol=0.05)
    np.testing.assert_allclose(cycles.end - cycles.start, PERIOD, atol=0.05)
    # Despiking and smoothing by 0.3 s each take less than 1 % off a sine of 4 s.
    np.testing.assert_allclose(cycles.peak_value, 1.0, atol=0.02)
    np.testing.assert_allclose(cycles.stretch, 2.0, atol=0.04)
    assert cycles.runs == 1
    assert cycles.rejected == {"short": 0, "long": 0, "small": 0}


def test_a_rate_is_as_good_as_times(breathing):
    seconds, values = breathing
    by_times = signal.find_cycles(values, times=seconds)
    by_rate = signal.find_cycles(values, sampling_rate=20.0)
    # Multiples of 0.05 by addition and by division differ in the last digits.
    np.testing.assert_allclose(by_rate.start, by_times.start, atol=1e-9)
    with pytest.raises(ValueError, match="either the times of the samples or"):
        signal.find_cycles(values)
    with pytest.raises(ValueError, match="either the times of the samples or"):
        signal.find_cycles(values, times=seconds, sampling_rate=20.0)
    with pytest.raises(ValueError, match="sampling_rate is 0"):
        signal.find_cycles(values, sampling_rate=0)


def test_no_cycle_spans_a_gap(breathing):
    seconds, values = breathing
    broken = values.copy()
    broken[(seconds > 50.0) & (seconds < 55.0)] = np.nan
    cycles = signal.find_cycles(broken, times=seconds)
    assert cycles.runs == 2
    assert not np.any((cycles.start < 50.0) & (cycles.end > 55.0))
    assert set(cycles.run) == {0, 1}


def test_options_have_their_names(breathing):
    seconds, values = breathing
    options = signal.CycleOptions(min_duration=5.0)
    with pytest.raises(ValueError, match="no respiration cycle in 2400 samples"):
        signal.find_cycles(values, times=seconds, options=options)
    with pytest.raises(ValueError, match="onset is 1, expected a share from 0 to below 1"):
        signal.find_cycles(values, times=seconds, options=signal.CycleOptions(onset=1.0))
    late = signal.find_cycles(values, times=seconds, options=signal.CycleOptions(onset=0.5))
    # Half the rise of a sine is done after a quarter of its period.
    np.testing.assert_allclose(late.start % PERIOD, PERIOD / 4, atol=0.05)


def test_features_say_what_their_names_say(breathing):
    seconds, values = breathing
    cycles = signal.find_cycles(values, times=seconds)
    features = signal.cycle_features(cycles)
    assert features.shape == (len(cycles), len(signal.CYCLE_FEATURES))
    column = dict(zip(signal.CYCLE_FEATURES, features.T))
    np.testing.assert_array_equal(column["duration"], cycles.end - cycles.start)
    np.testing.assert_array_equal(column["inhalation_duration"], cycles.peak - cycles.start)
    np.testing.assert_array_equal(column["stretch"], cycles.stretch)
    # All breaths are alike, to within the grid.
    np.testing.assert_allclose(column["duration_relative"], 1.0, atol=0.03)
    np.testing.assert_allclose(column["duration_from_previous"], 0.0, atol=0.1)
    assert list(cycles.to_frame().columns)[:2] == ["run", "start"]


def test_a_session_from_a_signal_has_cycles_stamps_and_labels(breathing):
    seconds, values = breathing
    session = signal.session_from_signal(
        values,
        times=seconds,
        events=[21.0],
        true_events=[20.0, 42.0],
        tolerance=0.7,
        name="a",
        subject="b",
        observed=[(0.0, 100.0)],
    )
    cycles = signal.find_cycles(values, times=seconds)
    np.testing.assert_array_equal(session.times, cycles.start)
    np.testing.assert_array_equal(session.X, signal.cycle_features(cycles))
    assert session.events.tolist() == [21.0]
    # The cycle that begins near 20 is labelled; none begins within 0.7 s of 42.
    assert session.times[session.labels == 1] == pytest.approx([20.4], abs=0.05)
    assert (session.name, session.subject) == ("a", "b")
    assert session.feature_names == signal.CYCLE_FEATURES
    assert signal.session_from_signal(values, times=seconds).labels is None


def test_dates_stay_dates(breathing):
    seconds, values = breathing
    zero = np.datetime64("2024-05-31T14:00:00", "ns")
    dates = zero + (seconds * 1e9).astype("m8[ns]")
    session = signal.session_from_signal(
        values, times=dates, events=dates[400:401], true_events=dates[400:401]
    )
    plain = signal.session_from_signal(values, times=seconds)
    # Dates have nanoseconds.
    np.testing.assert_allclose(
        (session.dates(session.times) - zero) / np.timedelta64(1, "s"), plain.times, atol=1e-8
    )
    assert session.labels.sum() == 1
    with pytest.raises(ValueError, match="times are dates but true_events are numbers"):
        signal.session_from_signal(values, times=dates, true_events=[20.0])
    windows = signal.windows(values, times=dates, length=10.0, step=10.0)
    # The dates of the middles of the windows.
    assert (windows.times[0] - zero) / np.timedelta64(1, "s") == pytest.approx(5.0, abs=1e-8)


def test_windows_are_summarised_as_numpy_would():
    rng = np.random.default_rng(0)
    table = rng.normal(size=(500, 2))
    found = signal.windows(
        {"x": table[:, 0], "y": table[:, 1]}, sampling_rate=50.0, length=2.0, step=1.0
    )
    assert found.feature_names == tuple(
        f"{channel}_{name}" for channel in "xy" for name in signal.SUMMARIES
    )
    np.testing.assert_allclose(found.times, np.arange(1.0, 10.0), atol=1e-12)
    for k, row in enumerate(found.X):
        for c in range(2):
            own = table[50 * k : 50 * k + 100, c]
            crossings = np.count_nonzero(np.diff(own > own.mean())) / 2.0
            want = [
                own.mean(),
                own.std(),
                scipy.stats.skew(own),
                scipy.stats.kurtosis(own),
                *np.quantile(own, [0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0]),
                crossings,
                np.abs(np.diff(own)).mean(),
            ]
            # Moments of a hundred numbers of size one.
            np.testing.assert_allclose(row[13 * c : 13 * (c + 1)], want, rtol=1e-11, atol=1e-12)


def test_bands_share_the_power():
    seconds = np.arange(0.0, 20.0, 0.01)
    found = signal.windows(
        np.sin(2 * np.pi * 5.0 * seconds),
        times=seconds,
        length=4.0,
        step=2.0,
        bands=[(0.0, 3.0), (3.0, 8.0), (8.0, 50.0)],
    )
    shares = found.X[:, 13:]
    assert found.feature_names[14] == "channel_0_power_3_8_hz"
    # A whole number of periods under a Hann window leaks into two neighbouring bins only.
    np.testing.assert_allclose(shares, [[0.0, 1.0, 0.0]] * len(shares), atol=1e-6)


def test_windows_with_too_few_samples_are_skipped():
    values = np.ones(1000)
    values[200:400] = np.nan
    found = signal.windows(values, sampling_rate=100.0, length=1.0, step=1.0)
    assert (len(found.times), found.skipped) == (8, 2)
    anchored = {
        anchor: signal.windows(values, sampling_rate=100.0, length=1.0, anchor=anchor).times[0]
        for anchor in ("start", "centre", "end")
    }
    # The first sample is at zero, the window a second long.
    assert anchored == {"start": 0.0, "centre": 0.5, "end": 1.0}
    with pytest.raises(ValueError, match="unknown variant `middle`, expected one of `start`"):
        signal.windows(values, sampling_rate=100.0, anchor="middle")


def test_channels_may_have_rates_of_their_own():
    channels = {"fast": np.zeros(1000), "slow": np.zeros(100)}
    found = signal.windows(channels, sampling_rate={"fast": 100.0, "slow": 10.0}, length=2.0)
    assert len(found.times) == 9
    with pytest.raises(ValueError, match="nothing is said of channel 'slow'"):
        signal.windows(channels, sampling_rate={"fast": 100.0})
    zero = np.datetime64("2024-05-31T14:00:00", "ns")
    later = {
        "fast": zero + np.arange(1000) * np.timedelta64(10, "ms"),
        "slow": zero + np.timedelta64(3, "s") + np.arange(100) * np.timedelta64(100, "ms"),
    }
    found = signal.windows(channels, times=later, length=2.0, anchor="start")
    # Windows begin where both channels have begun.
    assert (found.times[0] - zero) / np.timedelta64(1, "s") == pytest.approx(3.0, abs=1e-8)


def test_frames_name_their_channels():
    frame = pd.DataFrame({"a": np.arange(100.0), "b": np.arange(100.0)})
    session = signal.session_from_windows(frame, sampling_rate=10.0, events=[3.0], name="w")
    assert session.feature_names[0] == "a_mean"
    assert (session.name, len(session), session.events.tolist()) == ("w", 9, [3.0])


def test_bins_hold_equal_shares_and_each_row_is_in_one_of_each():
    rng = np.random.default_rng(1)
    sessions = [
        Session(rng.normal(size=(100, 2)), np.arange(100.0), [5.0], feature_names=["a", "b"])
        for _ in range(2)
    ]
    histogram = signal.Histogram(bins=4).fit(sessions)
    changed = histogram.transform(sessions)
    X = np.concatenate([session.X for session in changed])
    assert X.shape == (200, 8)
    assert X.sum(axis=0).tolist() == [50.0] * 8
    assert np.all(X[:, :4].sum(axis=1) == 1.0)
    assert changed[0].feature_names[:2] == ("a[0]", "a[1]")
    np.testing.assert_array_equal(histogram.transform(sessions[0].X), changed[0].X)
    assert clone(histogram).get_params() == {"bins": 4}
    with pytest.raises(ValueError, match="bins is 1, expected at least 2"):
        signal.Histogram(bins=1).fit(sessions)
    with pytest.raises(ValueError, match="3 features, expected 2"):
        histogram.transform(np.zeros((4, 3)))
    with pytest.raises(ValueError, match="NaN"):
        histogram.transform(np.full((4, 2), np.nan))


def test_bins_of_a_histogram_are_full_and_take_in_what_lies_beyond() -> None:
    random = np.random.default_rng(3)
    # A normal, a skewed one, one with many ties, and a constant.
    X = np.column_stack(
        [
            random.normal(size=801),
            random.gamma(0.5, size=801),
            random.integers(3, size=801),
            np.full(801, 7.0),
        ]
    )
    histogram = signal.Histogram(bins=8).fit(X)
    members = histogram.transform(X)
    assert [len(cuts) + 1 for cuts in histogram.cuts_] == [8, 8, 3, 1]
    assert np.all(members.sum(axis=1) == 4.0) and np.all(members.sum(axis=0) > 0.0)
    # Without ties, bins differ by one at most.
    assert set(members[:, :16].sum(axis=0)) <= {100.0, 101.0}
    # A value at a cut lies below it.
    cut = histogram.cuts_[0][2]
    rows = np.array([[value, 0.5, 1.0, 7.0] for value in (-1e9, cut, cut + 1e-9, 1e9)])
    assert histogram.transform(rows)[:, :8].argmax(axis=1).tolist() == [0, 2, 3, 7]
    # Another unit changes no membership.
    stretched = signal.Histogram(bins=8).fit(np.exp(3.0 * X))
    np.testing.assert_array_equal(stretched.transform(np.exp(3.0 * X)), members)
