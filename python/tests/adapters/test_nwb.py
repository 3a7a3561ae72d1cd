"""Tables and time series of NWB, through the files that PyNWB writes."""

from __future__ import annotations

from datetime import datetime, timezone

import numpy as np
import pynwb
import pytest
from conftest import APART, RATE, WINDOWS, closer, detector, nearer
from pynwb.epoch import TimeIntervals
from pynwb.event import EventsTable
from pynwb.misc import AnnotationSeries, IntervalSeries

import unjitter.nwb
from unjitter.stamps import Stamps

DATE = datetime(2024, 5, 31, 14, 3, 27, tzinfo=timezone.utc)
# When the recording began, in seconds of the file.
BEGIN = 12.5


def nwbfile():
    return pynwb.NWBFile(session_description="pulses", identifier="p1", session_start_time=DATE)


def written(own, path):
    with pynwb.NWBHDF5IO(path, "w") as io:
        io.write(own)
    return pynwb.NWBHDF5IO(path, "r")


def test_aligned_stamps_come_back_from_a_file(recorded, tmp_path):
    own = nwbfile()
    series = pynwb.TimeSeries(
        name="pressure", data=recorded.samples, unit="Pa", rate=RATE, starting_time=BEGIN
    )
    own.add_acquisition(series)
    own.add_events_table(
        unjitter.nwb.events_table(
            "licks",
            Stamps(recorded.pressed + BEGIN, ["lick"] * len(recorded.pressed)),
            description="seen on the video",
        )
    )
    with written(own, tmp_path / "first.nwb") as io:
        read = io.read()
        stamps = unjitter.nwb.stamps(read, "licks")
        assert stamps.origin == DATE
        assert set(stamps.labels) == {"lick"}
        np.testing.assert_array_equal(stamps.times, recorded.pressed + BEGIN)
        session = unjitter.nwb.session(read.acquisition["pressure"], stamps, **WINDOWS)
    assert session.times[0] == BEGIN
    aligned = detector().fit([session]).align(session)
    assert closer(aligned, recorded.true + BEGIN)
    own = nwbfile()
    own.add_events_table(unjitter.nwb.events_table("aligned", stamps, aligned))
    with written(own, tmp_path / "second.nwb") as io:
        table = io.read().events["aligned"]
        order = np.argsort(aligned["time"], kind="stable")
        for column, name in (("timestamp", "time"), ("stamp", "stamp"), ("low", "low")):
            np.testing.assert_array_equal(table[column][:], aligned[name].to_numpy()[order])
        for name in ("high", "p_spurious"):
            np.testing.assert_array_equal(table[name][:], aligned[name].to_numpy()[order])
        assert unjitter.nwb.stamps(table).times.tolist() == sorted(aligned["time"])
    assert pynwb.validate(path=tmp_path / "second.nwb") == []


def test_durations_of_events_and_of_intervals(tmp_path):
    own = nwbfile()
    table = EventsTable(name="licks", description="licks")
    table.add_event(timestamp=3.0, duration=0.5, annotation="left")
    table.add_event(timestamp=1.0, duration=np.nan, annotation="right")
    own.add_events_table(table)
    bouts = TimeIntervals(name="bouts", description="of grooming")
    bouts.add_column(name="label", description="what is groomed")
    bouts.add_interval(start_time=2.0, stop_time=6.5, label="paw")
    own.add_time_intervals(bouts)
    own.add_trial(start_time=1.5, stop_time=2.0)
    with written(own, tmp_path / "own.nwb") as io:
        read = io.read()
        licks = unjitter.nwb.stamps(read, "licks")
        bouts = unjitter.nwb.stamps(read, "bouts")
        trials = unjitter.nwb.stamps(read, "trials")
    assert licks == Stamps([1.0, 3.0], ["right", "left"], [0.0, 0.5], DATE)
    assert bouts == Stamps([2.0], ["paw"], [4.5], DATE)
    assert trials == Stamps([1.5], [""], [0.5], DATE)
    again = unjitter.nwb.stamps(unjitter.nwb.events_table("again", licks), origin=DATE)
    assert again == licks


def test_rows_are_in_order_of_time_and_keep_their_labels():
    columns = {"stamp": [1.0, 2.0], "time": [3.0, 1.5], "low": [2.5, 1.0], "high": [3.5, 2.0]}
    aligned = unjitter.Table({**columns, "p_spurious": [0.25, 0.5]})
    stamps = Stamps([1.0, 2.0], ["a", "b"], [0.0, 0.125])
    table = unjitter.nwb.events_table("moved", stamps, aligned)
    told = {name: list(table[name][:]) for name in table.colnames}
    assert told == {
        "timestamp": [1.5, 3.0],
        "stamp": [2.0, 1.0],
        "low": [1.0, 2.5],
        "high": [2.0, 3.5],
        "p_spurious": [0.5, 0.25],
        "duration": [0.125, 0.0],
        "annotation": ["b", "a"],
    }


def test_events_that_are_series_of_timestamps(tmp_path):
    own = nwbfile()
    times = pynwb.TimeSeries(
        name="presses", data=np.ones(2), unit="n.a.", timestamps=np.array([2.25, 9.5])
    )
    own.add_acquisition(times)
    with written(own, tmp_path / "own.nwb") as io:
        assert unjitter.nwb.stamps(io.read(), "presses").times.tolist() == [2.25, 9.5]


def test_texts_of_a_series_are_labels(tmp_path):
    own = nwbfile()
    notes = AnnotationSeries(name="notes", data=["rears", "grooms"], timestamps=[9.5, 2.25])
    own.add_acquisition(notes)
    own.add_acquisition(AnnotationSeries(name="none", data=[], timestamps=[]))
    expected = Stamps([2.25, 9.5], ["grooms", "rears"], None, DATE)
    assert unjitter.nwb.stamps(own, "notes") == expected
    assert len(unjitter.nwb.stamps(own, "none")) == 0
    with written(own, tmp_path / "own.nwb") as io:
        assert unjitter.nwb.stamps(io.read(), "notes") == expected


def test_intervals_of_a_series_last(tmp_path):
    own = nwbfile()
    data, when = [1, 2, -1, -2, 1], [1.0, 2.0, 2.5, 6.0, 7.0]
    own.add_acquisition(IntervalSeries(name="bouts", data=data, timestamps=when))
    expected = Stamps([1.0, 2.0, 7.0], ["1", "2", "1"], [1.5, 4.0, 0.0], DATE)
    assert unjitter.nwb.stamps(own, "bouts") == expected
    with written(own, tmp_path / "own.nwb") as io:
        assert unjitter.nwb.stamps(io.read(), "bouts") == expected
    for data, told in (
        ([-1], "bad: an interval of type 1 ends at 0 s unbegun"),
        ([1, -2], "bad: an interval of type 2 ends at 1 s unbegun"),
        ([3, 3], "bad: an interval of type 3 begins at 1 s within another"),
        ([1, 0], "bad: data is 0 at 1 s"),
    ):
        bad = IntervalSeries(name="bad", data=data, timestamps=np.arange(float(len(data))))
        with pytest.raises(ValueError, match=told):
            unjitter.nwb.stamps(bad)


def test_bouts_keep_both_ends(lasting, tmp_path):
    own = nwbfile()
    begins, ends = lasting.told.T + BEGIN
    bouts = TimeIntervals(name="bouts", description="of walking")
    for begin, end in zip(begins, ends):
        bouts.add_interval(start_time=begin, stop_time=end)
    own.add_time_intervals(bouts)
    stamps = unjitter.nwb.stamps(own, "bouts")
    series = pynwb.TimeSeries(
        name="speed", data=lasting.samples, unit="m/s", rate=RATE, starting_time=BEGIN
    )
    session = unjitter.nwb.session(series, stamps, **APART)
    np.testing.assert_allclose(session.ends, ends)
    aligned = detector().fit([session]).align(session)
    found = aligned[["time", "end"]].to_numpy() - BEGIN
    assert nearer(lasting.told, found, lasting.true)
    own.add_events_table(unjitter.nwb.events_table("aligned", stamps, aligned))
    with written(own, tmp_path / "own.nwb") as io:
        table = io.read().events["aligned"]
        moved = unjitter.nwb.stamps(table)
        order = np.argsort(aligned["time"], kind="stable")
        told = aligned.iloc[order]
        np.testing.assert_array_equal(moved.times, told["time"])
        np.testing.assert_allclose(moved.times + moved.durations, told["end"])
        for name in ("end_stamp", "end_low", "end_high", "end_p_spurious"):
            np.testing.assert_array_equal(table[name][:], told[name])
    assert pynwb.validate(path=tmp_path / "own.nwb") == []


def test_labels_are_classes_on_request(recorded):
    series = pynwb.TimeSeries(name="s", data=recorded.samples, unit="Pa", rate=RATE)
    stamps = Stamps([2.0, 1.0], ["left", "right"])
    assert unjitter.nwb.session(series, stamps, **WINDOWS).classes is None
    session = unjitter.nwb.session(series, stamps, classes=stamps.labels, **WINDOWS)
    assert list(session.classes) == ["right", "left"]
    columns = {"stamp": [1.0, 2.0], "time": [3.0, 1.5], "low": [2.5, 1.0], "high": [3.5, 2.0]}
    columns |= {"p_spurious": [0.25, 0.5], "aligned_class": ["left", "right"]}
    table = unjitter.nwb.events_table(
        "m", stamps, unjitter.Table({**columns, "p_class": [0.5, 1.0]})
    )
    assert list(table["annotation"][:]) == ["left", "right"]
    assert list(table["aligned_class"][:]) == ["right", "left"]
    assert list(table["p_class"][:]) == [1.0, 0.5]


def test_every_channel_has_its_own_conversion(recorded):
    own = nwbfile()
    probe = own.create_device(name="probe")
    group = own.create_electrode_group(name="g", description="g", location="CA1", device=probe)
    for _ in range(2):
        own.add_electrode(location="CA1", group=group)
    counts = np.column_stack([recorded.samples, recorded.samples])
    how = {"rate": RATE, "conversion": 10.0, "offset": 3.0}
    both = own.create_electrode_table_region(region=[0, 1], description="both")
    voltage = pynwb.ecephys.ElectricalSeries(
        name="v", data=counts, electrodes=both, channel_conversion=np.array([1.0, 4.0]), **how
    )
    session = unjitter.nwb.session(voltage, Stamps([]), length=1.0, step=1.0)
    for channel, converted in enumerate(voltage.get_data_in_units().T):
        mean = session.X[:, session.feature_names.index(f"v_{channel}_mean")]
        np.testing.assert_allclose(mean, converted.reshape(-1, int(RATE)).mean(axis=1))
    one = own.create_electrode_table_region(region=[0], description="one")
    alone = pynwb.ecephys.ElectricalSeries(
        name="v", data=recorded.samples, electrodes=one, channel_conversion=[4.0], **how
    )
    session = unjitter.nwb.session(alone, Stamps([]), length=1.0, step=1.0)
    # By hand, since PyNWB knows arrays of factors alone.
    means = 40.0 * recorded.samples.reshape(-1, int(RATE)).mean(axis=1) + 3.0
    np.testing.assert_allclose(session.X[:, session.feature_names.index("v_mean")], means)


def test_samples_have_their_unit_and_their_own_times(recorded):
    regular = pynwb.TimeSeries(
        name="both",
        data=np.column_stack([recorded.samples, 2.0 * recorded.samples]),
        unit="Pa",
        conversion=10.0,
        offset=3.0,
        rate=RATE,
        starting_time=BEGIN,
    )
    session = unjitter.nwb.session(regular, Stamps([]), length=1.0, step=1.0)
    means = recorded.samples.reshape(-1, int(RATE)).mean(axis=1)
    first = session.X[:, session.feature_names.index("both_0_mean")]
    second = session.X[:, session.feature_names.index("both_1_mean")]
    np.testing.assert_allclose(first, 10.0 * means + 3.0)
    np.testing.assert_allclose(second, 20.0 * means + 3.0)
    irregular = pynwb.TimeSeries(
        name="slow",
        data=recorded.samples,
        unit="Pa",
        timestamps=BEGIN + np.arange(len(recorded.samples)) / RATE,
    )
    both = unjitter.nwb.session([regular, irregular], Stamps([]), length=1.0, step=1.0)
    slow = both.X[:, both.feature_names.index("slow_mean")]
    np.testing.assert_allclose(slow, means)
    peaks = BEGIN + np.arange(1.0, 30.0)
    beats = unjitter.nwb.session(irregular, Stamps([20.0]), peaks=peaks)
    np.testing.assert_allclose(beats.times, peaks[1:-1])


def test_mistakes_are_told(recorded):
    own = nwbfile()
    series = pynwb.TimeSeries(name="s", data=recorded.samples, unit="Pa", rate=RATE)
    own.add_acquisition(series)
    with pytest.raises(ValueError, match="table is not given"):
        unjitter.nwb.stamps(own)
    with pytest.raises(ValueError, match="the file has no 'licks'; it has s"):
        unjitter.nwb.stamps(own, "licks")
    with pytest.raises(ValueError, match="s has a rate and no timestamps, expected events"):
        unjitter.nwb.stamps(own, "s")
    notes = AnnotationSeries(name="notes", data=["rears"], timestamps=[1.0])
    with pytest.raises(ValueError, match="notes is a series, which has no column 'kind'"):
        unjitter.nwb.stamps(notes, label="kind")
    with pytest.raises(ValueError, match="s is a series, which has no column 'kind'"):
        unjitter.nwb.stamps(own, "s", label="kind")
    with pytest.raises(ValueError, match="has no column 'timestamp' or 'start_time'"):
        unjitter.nwb.stamps(pynwb.core.DynamicTable(name="t", description="of nothing"))
    empty = EventsTable(name="none", description="of nothing")
    assert len(unjitter.nwb.stamps(empty)) == 0
    with pytest.raises(ValueError, match="none has no column 'kind'"):
        unjitter.nwb.stamps(empty, label="kind")
    empty.add_event(timestamp=np.nan)
    with pytest.raises(ValueError, match="none: timestamp: found nan at index 0"):
        unjitter.nwb.stamps(empty)
    with pytest.raises(ValueError, match="stamp 0 is at 4200 s, but the samples last from 0 s"):
        unjitter.nwb.session(series, Stamps([4200.0]), length=1.0, step=1.0)
    with pytest.raises(ValueError, match="two channels are named 's'"):
        unjitter.nwb.session([series, series], Stamps([]), length=1.0, step=1.0)
    video = pynwb.TimeSeries(name="v", data=np.zeros((3, 2, 2)), unit="n.a.", rate=1.0)
    with pytest.raises(ValueError, match="v: data has 3 dimensions, expected 1 or 2"):
        unjitter.nwb.session(video, Stamps([]), length=1.0, step=1.0)
