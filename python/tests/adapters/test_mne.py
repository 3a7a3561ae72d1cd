"""Raw objects and files of MNE: what is read, and what MNE itself reads back."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import mne
import numpy as np
import pytest
from conftest import RATE, SECONDS, WINDOWS, closer, detector

import unjitter.mne
from unjitter.stamps import Stamps

DATE = datetime(2024, 5, 31, 14, 3, 27, 500_000, tzinfo=timezone.utc)


def raw_of(samples, date=DATE):
    info = mne.create_info(["Fp1", "noise"], RATE, "eeg")
    noise = np.random.default_rng(0).normal(size=len(samples))
    raw = mne.io.RawArray(np.vstack([samples, noise]) * 1e-6, info, verbose=False)
    return raw.set_meas_date(date)


@pytest.fixture
def raw(recorded):
    own = raw_of(recorded.samples)
    descriptions = ["pulse"] * len(recorded.pressed)
    return own.set_annotations(
        mne.Annotations(recorded.pressed, 0.25, descriptions, orig_time=DATE)
    )


@pytest.mark.parametrize("date", [DATE, None])
def test_seconds_count_from_the_first_sample_after_a_crop(recorded, date):
    raw = raw_of(recorded.samples, date)
    raw.set_annotations(mne.Annotations([12.3, 50.0], [0.0, 2.0], ["a", "b"]))
    stamps = unjitter.mne.stamps(raw.copy().crop(tmin=10.0))
    # A crop is at a sample; onsets keep their digits.
    np.testing.assert_allclose(stamps.times, [2.3, 40.0], rtol=0.0, atol=1e-12)
    assert stamps.labels == ["a", "b"]
    assert stamps.durations.tolist() == [0.0, 2.0]
    assert stamps.origin == (None if date is None else date + timedelta(seconds=10))


@pytest.mark.parametrize("date", [DATE, None])
@pytest.mark.parametrize("tmin", [0.0, 10.0])
def test_what_is_annotated_comes_back_from_a_file(recorded, tmp_path, date, tmin):
    raw = raw_of(recorded.samples, date)
    raw.set_annotations(mne.Annotations([30.0], [0.0], ["other"]))
    raw.crop(tmin=tmin)
    stamps = Stamps([2.345, 7.5], ["cough", ""], [0.0, 1.5])
    assert unjitter.mne.annotate(raw, stamps) is raw
    raw.save(tmp_path / "own_raw.fif", verbose=False)
    back = mne.io.read_raw_fif(tmp_path / "own_raw.fif", verbose=False)
    found = unjitter.mne.stamps(back)
    # FIF files keep onsets in single precision.
    np.testing.assert_allclose(found.times, [2.345, 7.5, 30.0 - tmin], rtol=1e-6)
    assert found.labels == ["cough", "stamp", "other"]
    np.testing.assert_allclose(found.durations, [0.0, 1.5, 0.0], rtol=1e-6)


def test_aligned_stamps_are_annotations_near_the_truth(raw, recorded, tmp_path):
    stamps = unjitter.mne.stamps(raw, only="pulse")
    session = unjitter.mne.session(raw, stamps, name="rest", picks=["Fp1"], **WINDOWS)
    assert session.feature_names[0].startswith("Fp1")
    aligned = detector().fit([session]).align(session, level=0.9)
    assert closer(aligned, recorded.true)
    unjitter.mne.annotate(raw, stamps, aligned)
    raw.save(tmp_path / "own_raw.fif", verbose=False)
    back = mne.io.read_raw_fif(tmp_path / "own_raw.fif", verbose=False)
    moved = unjitter.mne.stamps(back, only="aligned/pulse")
    np.testing.assert_allclose(moved.times, np.sort(aligned["time"]), rtol=1e-6)
    assert len(unjitter.mne.stamps(back)) == 2 * len(stamps)
    extras = [own for own in back.annotations.extras if own]
    order = np.argsort(aligned["time"], kind="stable")
    for name in ("stamp", "low", "high", "p_spurious"):
        kept = [own[name] for own in extras]
        np.testing.assert_allclose(kept, aligned[name].to_numpy()[order], rtol=0.0, atol=1e-9)


def test_windows_are_those_of_the_samples(raw):
    session = unjitter.mne.session(raw, Stamps([1.0]), picks=["Fp1"], length=1.0, step=1.0)
    means = session.X[:, session.feature_names.index("Fp1_mean")]
    # MNE keeps samples in double precision.
    by_hand = raw.get_data(["Fp1"])[0].reshape(-1, int(RATE)).mean(axis=1)
    np.testing.assert_allclose(means, by_hand, rtol=1e-9)
    np.testing.assert_allclose(session.times, np.arange(SECONDS) + 0.5)


def test_bad_segments_are_missing_and_no_stamps(raw):
    raw.set_annotations(mne.Annotations([100.0, 7.0], [50.0, 0.0], ["BAD_move", "ok"], DATE))
    stamps = unjitter.mne.stamps(raw)
    assert stamps.labels == ["ok"]
    session = unjitter.mne.session(raw, stamps, length=1.0, step=1.0)
    assert not np.any((session.times > 100.4) & (session.times < 149.6))
    assert np.all(np.isfinite(session.X))
    assert unjitter.mne.stamps(raw, only="BAD_move").durations.tolist() == [50.0]


def test_events_count_from_the_first_sample_that_was_recorded(raw):
    cropped = raw.copy().crop(tmin=20.0)
    events = mne.events_from_annotations(cropped, verbose=False)[0]
    of_events = unjitter.mne.stamps(cropped, events=events, event_id={"pulse": 1})
    # Events are whole samples.
    np.testing.assert_allclose(
        of_events.times, unjitter.mne.stamps(cropped).times, rtol=0.0, atol=0.5 / RATE + 1e-9
    )
    assert set(of_events.labels) == {"pulse"}
    matlab = [[1, 0, 7], [101, 0, 8]]
    ones = unjitter.mne.stamps(cropped, events=matlab, first_sample=1)
    assert ones.times.tolist() == [0.0, 100 / RATE]
    assert ones.labels == ["7", "8"]


def test_beats_are_instances(raw, recorded):
    cropped = raw.copy().crop(tmin=20.0)
    beats = np.arange(50, 15_000, 40) + cropped.first_samp
    events = np.column_stack([beats, np.zeros_like(beats), np.ones_like(beats)])
    stamps = unjitter.mne.stamps(cropped)
    for peaks in (beats, events):
        session = unjitter.mne.session(cropped, stamps, peaks=peaks, picks=["Fp1"])
        np.testing.assert_allclose(session.times, (beats[1:-1] - cropped.first_samp) / RATE)
        value = session.X[:, session.feature_names.index("Fp1_value")]
        samples = cropped.get_data(["Fp1"])[0]
        np.testing.assert_array_equal(value, samples[beats[1:-1] - cropped.first_samp])
        before = session.X[:, session.feature_names.index("interval_before")]
        np.testing.assert_allclose(before, 40 / RATE)


def test_mistakes_are_told(raw):
    session = {"length": 1.0, "step": 1.0}
    with pytest.raises(ValueError, match="stamp 0 is at 4200 s, but .* from 0 s to 399.98 s"):
        unjitter.mne.session(raw, Stamps([4200.0]), **session)
    with pytest.raises(ValueError, match="peak 0 is at -2 s"):
        unjitter.mne.session(raw, Stamps([]), peaks=[-100, 1, 2], first_sample=0)
    with pytest.raises(ValueError, match="peak 2 is not after the one before it"):
        unjitter.mne.session(raw, Stamps([]), peaks=[1, 5, 5, 9])
    with pytest.raises(ValueError, match="1 peaks, expected at least 3"):
        unjitter.mne.session(raw, Stamps([]), peaks=[5])
    with pytest.raises(ValueError, match="length: these are for windows, but peaks are given"):
        unjitter.mne.session(raw, Stamps([]), peaks=[1, 5, 9], length=1.0)
    with pytest.raises(ValueError, match="peaks: found nan at index 1"):
        unjitter.mne.session(raw, Stamps([]), peaks=[1.0, np.nan, 9.0])
    with pytest.raises(ValueError, match="no stamp is labelled 'puls'; the labels are 'pulse'"):
        unjitter.mne.stamps(raw, only="puls")
    with pytest.raises(ValueError, match=r"events have shape \(2,\)"):
        unjitter.mne.stamps(raw, events=[1, 2])
    with pytest.raises(ValueError, match="event_id and first_sample are for events"):
        unjitter.mne.stamps(raw, first_sample=1)


def test_no_annotations_are_no_stamps(raw):
    raw.set_annotations(None)
    stamps = unjitter.mne.stamps(raw)
    assert len(stamps) == 0
    assert len(unjitter.mne.session(raw, stamps, length=1.0, step=1.0).events) == 0
    assert len(unjitter.mne.annotate(raw, stamps).annotations) == 0


def test_a_table_of_other_stamps_is_refused(raw):
    stamps = unjitter.mne.stamps(raw)
    aligned = {name: stamps.times for name in ("stamp", "time", "low", "high", "p_spurious")}
    table = unjitter.Table(aligned)
    assert len(unjitter.mne.annotations(raw, stamps, table)) == len(stamps)
    with pytest.raises(ValueError, match=rf"has {len(stamps)} rows, expected 1,"):
        unjitter.mne.annotations(raw, Stamps([1.0]), table)
    with pytest.raises(ValueError, match="row 0 of aligned is about a stamp at .* expected 3"):
        unjitter.mne.annotations(raw, Stamps([3.0]), table[:1])
    with pytest.raises(ValueError, match="aligned has no column 'low'"):
        unjitter.mne.annotations(raw, stamps, table[["stamp", "time", "high", "p_spurious"]])
    unknown = unjitter.Table({**aligned, "time": np.full(len(stamps), np.nan)})
    with pytest.raises(ValueError, match="aligned: time: found nan at index 0"):
        unjitter.mne.annotations(raw, stamps, unknown)
    dates = unjitter.Table(
        {**aligned, "low": np.array(["2024-05-31"] * len(stamps), "datetime64[s]")}
    )
    with pytest.raises(ValueError, match="aligned: low holds datetime64"):
        unjitter.mne.annotations(raw, stamps, dates)
