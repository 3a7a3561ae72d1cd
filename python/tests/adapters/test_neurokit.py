"""Peaks that NeuroKit2 finds in signals that it simulates."""

from __future__ import annotations

import warnings

import neurokit2
import numpy as np
import pytest

import unjitter.neurokit
from unjitter.stamps import Stamps

RATE = 200


@pytest.fixture(scope="module")
def processed():
    ecg = neurokit2.ecg_simulate(
        duration=60, sampling_rate=RATE, heart_rate=70, random_state=1, random_state_distort=1
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return neurokit2.ecg_process(ecg, sampling_rate=RATE)


def test_beats_are_instances_and_their_intervals_features(processed):
    signals, info = processed
    beats = info["ECG_R_Peaks"]
    session = unjitter.neurokit.session(signals, info, events=[12.5, 31.0], name="rest")
    assert session.events.tolist() == [12.5, 31.0]
    np.testing.assert_allclose(session.times, beats[1:-1] / RATE)
    feature = dict(zip(session.feature_names, session.X.T))
    np.testing.assert_allclose(feature["interval_before"], np.diff(beats)[:-1] / RATE)
    np.testing.assert_allclose(feature["interval_after"], np.diff(beats)[1:] / RATE)
    clean = signals["ECG_Clean"].to_numpy()
    np.testing.assert_array_equal(feature["ECG_Clean_value"], clean[beats[1:-1]])
    # An R peak is the highest point near itself.
    np.testing.assert_array_equal(feature["ECG_Clean_high"], feature["ECG_Clean_value"])
    for k in (1, 20, len(beats) - 2):
        steps = np.diff(beats) / RATE
        usual = np.median(steps[max(k - 8, 0) : k + 8])
        assert feature["before_ratio"][k - 1] == pytest.approx(steps[k - 1] / usual)
        assert feature["after_ratio"][k - 1] == pytest.approx(steps[k] / usual)
        near = clean[
            int(np.ceil(beats[k] - 0.5 * (beats[k] - beats[k - 1]))) : int(
                np.ceil(beats[k] + 0.5 * (beats[k + 1] - beats[k]))
            )
        ]
        assert feature["ECG_Clean_mean"][k - 1] == pytest.approx(near.mean())
        assert feature["ECG_Clean_sd"][k - 1] == pytest.approx(near.std())
        assert feature["ECG_Clean_low"][k - 1] == near.min()


def test_marks_and_the_raw_signal_are_no_features(processed):
    session = unjitter.neurokit.session(*processed, events=[])
    named = {name.rsplit("_", 1)[0] for name in session.feature_names[4:]}
    assert {"ECG_Clean", "ECG_Rate", "ECG_Quality"} <= named
    assert not named & {"ECG_Raw", "ECG_R_Peaks", "ECG_T_Offsets", "ECG_Phase_Atrial"}
    own = unjitter.neurokit.session(*processed, events=[], columns=["ECG_Raw"])
    assert own.X.shape[1] == 9


def test_breaths_and_responses_of_the_skin():
    rsp = neurokit2.rsp_simulate(duration=60, sampling_rate=50, random_state=1)
    signals, info = neurokit2.rsp_process(rsp, sampling_rate=50)
    session = unjitter.neurokit.session(signals, info, events=Stamps([5.0]))
    np.testing.assert_allclose(session.times, info["RSP_Troughs"][1:-1] / 50)
    peaks = unjitter.neurokit.peaks(info, "RSP_Peaks")
    np.testing.assert_allclose(peaks, info["RSP_Peaks"] / 50)
    eda = neurokit2.eda_simulate(duration=60, sampling_rate=50, scr_number=9, random_state=1)
    _, info = neurokit2.eda_process(eda, sampling_rate=50)
    np.testing.assert_allclose(unjitter.neurokit.peaks(info), info["SCR_Peaks"] / 50)


def test_stamps_keep_their_ends_their_classes_and_their_order(processed):
    stamps = Stamps([31.0, 12.5], ["b", "a"], [2.0, 0.0])
    session = unjitter.neurokit.session(*processed, stamps, classes=stamps.labels)
    np.testing.assert_array_equal(session.ends, [np.nan, 33.0])
    assert list(session.classes) == ["a", "b"]
    given = unjitter.neurokit.session(*processed, [31.0, 12.5], classes=["b", "a"])
    assert list(given.classes) == ["a", "b"]
    assert given.ends is None


def test_mistakes_are_told(processed):
    signals, info = processed
    with pytest.raises(ValueError, match="stamp 1 is at 31000 s, but the samples last from 0 s"):
        unjitter.neurokit.session(signals, info, events=[1.0, 31_000.0])
    with pytest.raises(ValueError, match="times: found nan at index 0"):
        unjitter.neurokit.session(signals, info, events=[np.nan])
    with pytest.raises(ValueError, match="info has no 'RSP_Peaks'"):
        unjitter.neurokit.peaks(info, "RSP_Peaks")
    with pytest.raises(ValueError, match="info has none of ECG_R_Peaks"):
        unjitter.neurokit.peaks({"sampling_rate": 50})
    with pytest.raises(ValueError, match="info has no 'sampling_rate'"):
        unjitter.neurokit.peaks({"ECG_R_Peaks": [1, 2, 3]})
    with pytest.raises(ValueError, match="ECG_R_Peaks: found nan at index 1"):
        unjitter.neurokit.peaks({"ECG_R_Peaks": [1, np.nan], "sampling_rate": 50})
    with pytest.raises(ValueError, match="sampling_rate is 0, expected a number above 0"):
        unjitter.neurokit.peaks({"ECG_R_Peaks": [1, 2, 3], "sampling_rate": 0})
    with pytest.raises(ValueError, match="signals has no column 'RSP_Clean'"):
        unjitter.neurokit.session(signals, info, events=[], columns=["RSP_Clean"])
    with pytest.raises(ValueError, match="signals has no column of decimal numbers"):
        unjitter.neurokit.session(signals[["ECG_R_Peaks"]], info, events=[])
    late = {**info, "ECG_R_Peaks": np.array([10, 20, 1_000_000])}
    with pytest.raises(ValueError, match="peak 2 is at 5000 s"):
        unjitter.neurokit.session(signals, late, events=[])
