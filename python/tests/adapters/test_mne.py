"""Raw objects and files of MNE: what is read, and what MNE itself reads back."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import mne
import numpy as np
import pytest
from conftest import APART, RATE, SECONDS, WINDOWS, closer, detector, nearer

import unjitter.mne
from unjitter import EventDetector, Session
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
    return own.set_annotations(mne.Annotations(recorded.pressed, 0.0, descriptions, orig_time=DATE))


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
    # What was put right is no stamp: to align once more is to align the same stamps.
    assert unjitter.mne.stamps(raw) == stamps
    assert len(unjitter.mne.stamps(back)) == len(stamps)
    extras = [own for own in back.annotations.extras if own]
    order = np.argsort(aligned["time"], kind="stable")
    for name in ("stamp", "low", "high", "p_spurious"):
        kept = [own[name] for own in extras]
        np.testing.assert_allclose(kept, aligned[name].to_numpy()[order], rtol=0.0, atol=1e-9)


def test_what_is_aligned_again_moves(raw):
    stamps = unjitter.mne.stamps(raw)
    columns = {name: stamps.times for name in ("stamp", "time", "low", "high", "p_spurious")}
    for earlier in (1.0, 0.5):
        table = unjitter.Table({**columns, "time": stamps.times - earlier})
        unjitter.mne.annotate(raw, stamps, table)
    assert len(raw.annotations) == 2 * len(stamps)
    moved = unjitter.mne.stamps(raw, only="aligned/pulse")
    np.testing.assert_allclose(moved.times, stamps.times - 0.5)
    unjitter.mne.annotate(raw, stamps, table, prefix="other/")
    assert len(raw.annotations) == 3 * len(stamps)


@pytest.mark.parametrize("prefix", ["aligned/", "put right: "])
@pytest.mark.filterwarnings("ignore:Extra field")
def test_what_was_put_right_is_known_by_its_name_or_by_its_extras(raw, tmp_path, prefix):
    stamps = unjitter.mne.stamps(raw)
    columns = {name: stamps.times for name in ("stamp", "time", "low", "high", "p_spurious")}
    unjitter.mne.annotate(raw, stamps, unjitter.Table(columns), prefix=prefix)
    assert unjitter.mne.stamps(raw) == stamps
    assert len(unjitter.mne.stamps(raw, only=f"{prefix}pulse")) == len(stamps)
    # A text file has extras for all, as text.
    raw.annotations.save(tmp_path / "own-annotations.txt")
    back = mne.read_annotations(tmp_path / "own-annotations.txt")
    assert unjitter.mne.stamps(raw.set_annotations(back)).labels == stamps.labels
    # Others have names alone.
    alone = mne.Annotations(back.onset, back.duration, back.description, back.orig_time)
    found = unjitter.mne.stamps(raw.set_annotations(alone))
    assert len(found) == (1 if prefix == "aligned/" else 2) * len(stamps)


def test_stamps_of_windows_that_form_runs_come_nearer(raw, recorded):
    stamps = unjitter.mne.stamps(raw, only="pulse")
    session = unjitter.mne.session(raw, stamps, picks=["Fp1"], length=0.5, step=0.1)
    runs = EventDetector(labels="chain", restarts=2, n_jobs=1).fit([session])
    aligned = runs.align(session)
    assert closer(aligned, recorded.true)
    unjitter.mne.annotate(raw, stamps, aligned)
    moved = unjitter.mne.stamps(raw, only="aligned/pulse")
    np.testing.assert_allclose(moved.times, np.sort(aligned["time"]))
    assert not np.any(moved.durations)


def test_annotations_that_last_are_bouts_and_keep_both_ends(lasting, tmp_path):
    raw = raw_of(lasting.samples)
    begins, ends = lasting.told.T
    raw.set_annotations(mne.Annotations(begins, ends - begins, "walk", orig_time=DATE))
    raw.crop(tmin=2.0)
    stamps = unjitter.mne.stamps(raw)
    session = unjitter.mne.session(raw, stamps, picks=["Fp1"], **APART)
    np.testing.assert_array_equal(session.ends, Session(session.X, session.times, stamps).ends)
    aligned = detector().fit([session]).align(session)
    found = aligned[["time", "end"]].to_numpy() + 2.0
    assert nearer(lasting.told, found, lasting.true)
    unjitter.mne.annotate(raw, stamps, aligned)
    raw.save(tmp_path / "own_raw.fif", verbose=False)
    back = mne.io.read_raw_fif(tmp_path / "own_raw.fif", verbose=False)
    moved = unjitter.mne.stamps(back, only="aligned/walk")
    order = np.argsort(aligned["time"], kind="stable")
    # FIF files keep onsets and durations in single precision.
    np.testing.assert_allclose(moved.times, aligned["time"].to_numpy()[order], rtol=1e-6)
    until = moved.times + moved.durations
    np.testing.assert_allclose(until, aligned["end"].to_numpy()[order], rtol=1e-6)
    extras = [own for own in back.annotations.extras if own]
    for name in ("end_stamp", "end_low", "end_high", "end_p_spurious"):
        kept = [own[name] for own in extras]
        np.testing.assert_allclose(kept, aligned[name].to_numpy()[order], rtol=0.0, atol=1e-9)


def test_stamps_without_an_end_stay_without_one(raw):
    stamps = Stamps([10.0, 20.0], ["a", "b"], [2.0, 0.0])
    session = unjitter.mne.session(raw, stamps, length=1.0, step=1.0)
    np.testing.assert_array_equal(session.ends, [12.0, np.nan])
    columns = {"stamp": [10.0, 20.0], "time": [9.0, 19.0], "low": [8.0, 18.0], "high": [9.5, 19.5]}
    columns |= {"p_spurious": [0.0, 0.5], "end_stamp": [12.0, np.nan], "end": [13.0, np.nan]}
    columns |= {"end_low": [11.5, np.nan], "end_high": [14.0, np.nan]}
    table = unjitter.Table({**columns, "end_p_spurious": [0.25, np.nan]})
    moved = unjitter.mne.annotations(raw, stamps, table)
    assert moved.duration.tolist() == [4.0, 0.0]
    assert moved.extras[0]["end_p_spurious"] == 0.25
    assert "end_stamp" not in moved.extras[1]
    other = Stamps([10.0, 20.0], ["a", "b"], [2.5, 0.0])
    with pytest.raises(ValueError, match="row 0 .* a stamp until 12 s, expected 12.5 s"):
        unjitter.mne.annotations(raw, other, table)
    with pytest.raises(ValueError, match="row 0 .* a stamp until 12 s, expected nan s"):
        unjitter.mne.annotations(raw, Stamps([10.0, 20.0]), table)
    lost = unjitter.Table({name: table[name] for name in table.columns} | {"end": [np.nan, np.nan]})
    with pytest.raises(ValueError, match="aligned: end: found nan at index 0"):
        unjitter.mne.annotations(raw, stamps, lost)
    # Beginnings alone were aligned: how long each lasts is not known any better.
    alone = table[["stamp", "time", "low", "high", "p_spurious"]]
    assert unjitter.mne.annotations(raw, stamps, alone).duration.tolist() == [2.0, 0.0]


def test_what_lasts_to_the_last_sample_is_within_the_recording(raw):
    raw.set_annotations(mne.Annotations([390.0], [10.0], "walk", orig_time=DATE))
    stamps = unjitter.mne.stamps(raw)
    assert unjitter.mne.session(raw, stamps, length=1.0, step=1.0).ends.tolist() == [400.0]
    with pytest.raises(ValueError, match="end of stamp 0 is at 3039 s, but the samples last"):
        unjitter.mne.session(raw, Stamps([39.0], None, [3000.0]), length=1.0, step=1.0)


def test_descriptions_are_classes_on_request(recorded):
    samples = recorded.samples.copy()
    names = np.array(["up", "down"])[np.arange(len(recorded.true)) % 2]
    for begin in recorded.true[1::2]:
        first = round(begin * RATE)
        samples[first : first + 25] -= 8.0
    raw = raw_of(samples)
    raw.set_annotations(mne.Annotations(recorded.pressed, 0.0, names, orig_time=DATE))
    stamps = unjitter.mne.stamps(raw)
    plain = unjitter.mne.session(raw, stamps, picks=["Fp1"], **APART)
    assert plain.classes is None
    session = unjitter.mne.session(raw, stamps, picks=["Fp1"], classes=stamps.labels, **APART)
    assert list(session.classes) == list(names)
    beats = unjitter.mne.session(raw, stamps, peaks=[1, 5, 9], classes=stamps.labels)
    assert list(beats.classes) == list(names)
    aligned = detector().fit([session]).align(session)
    told = unjitter.mne.annotations(raw, stamps, aligned)
    assert set(told.description) == {"aligned/up", "aligned/down"}
    order = np.argsort(aligned["time"], kind="stable")
    for name in ("aligned_class", "p_class"):
        assert [own[name] for own in told.extras] == list(aligned[name].to_numpy()[order])


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
