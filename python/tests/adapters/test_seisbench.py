"""Metadata of SeisBench as it stands in frames; the real package is among the tests of the loss,
since it needs torch."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from conftest import RATE, SECONDS, WINDOWS, detector, pulses

import unjitter.seisbench
from unjitter import Table
from unjitter.seisbench import StampLabeller

HEAD = {"trace_sampling_rate_hz": RATE, "trace_component_order": "Z"}


class Dataset:
    """What a dataset gives of its traces: each has one pulse, and a late pick of it."""

    def __init__(self, seed: int, traces: int = 60):
        random = np.random.default_rng(seed)
        own = pulses(seed)
        self.waveforms, rows, self.true = [], [], []
        for k in range(traces):
            which = k % len(own.true)
            begin = round((own.true[which] - 6.0 + random.uniform(-1.0, 1.0)) * RATE)
            begin = max(begin, 0)
            self.waveforms.append(own.samples[None, begin : begin + round(14 * RATE)])
            picked = own.pressed[which] * RATE - begin
            rows.append({**HEAD, "trace_name": f"t{k:02}", "trace_P_arrival_sample": picked})
            self.true.append(own.true[which] - begin / RATE)
        self.metadata = pd.DataFrame(rows)
        self.metadata.loc[3, "trace_P_arrival_sample"] = np.nan
        self.metadata["trace_S_arrival_sample"] = np.nan

    def __len__(self):
        return len(self.metadata)

    def get_sample(self, k):
        return self.waveforms[k], self.metadata.iloc[k].to_dict()


def test_arrivals_are_stamps_in_seconds():
    row = {
        **HEAD,
        "trace_S_arrival_sample": 700,
        "trace_Pg_arrival_sample": 425.5,
        "trace_Pn_arrival_sample": np.nan,
        "trace_P_status": "manual",
    }
    stamps = unjitter.seisbench.stamps(row)
    assert stamps.times.tolist() == [425.5 / RATE, 14.0]
    assert stamps.labels == ["Pg", "S"]
    assert unjitter.seisbench.stamps(pd.Series(row), "S").times.tolist() == [14.0]
    assert unjitter.seisbench.stamps(row, ["Pg", "Pn"]).labels == ["Pg"]


def test_better_arrivals_are_in_the_rows_of_their_traces():
    dataset = Dataset(3)
    sessions = unjitter.seisbench.sessions(dataset, "P", **WINDOWS)
    assert [session.name for session in sessions] == list(dataset.metadata["trace_name"])
    assert sessions[0].feature_names[0].startswith("Z_")
    assert len(sessions[3].events) == 0
    aligned = detector().fit(sessions).align(sessions)
    picked = dataset.metadata["trace_P_arrival_sample"].to_numpy() / RATE
    late = picked - dataset.true
    before = dataset.metadata.copy()
    better = unjitter.seisbench.repicked(dataset.metadata, aligned, "P")
    pd.testing.assert_frame_equal(dataset.metadata, before)
    after = better["trace_P_arrival_sample"].to_numpy() / RATE - dataset.true
    # Windows are a quarter of a second apart, picks scatter by half a second.
    assert np.nanstd(after) < 0.5 * np.nanstd(late)
    assert np.isnan(after[3]) and np.isnan(after).sum() == 1
    own = aligned.set_index("session")
    for name, row in better.set_index("trace_name").drop("t03").iterrows():
        assert row["trace_P_arrival_sample"] == pytest.approx(own.loc[name, "time"] * RATE)
        width = own.loc[name, "high"] - own.loc[name, "low"]
        assert row["trace_P_arrival_uncertainty_s"] == pytest.approx(0.5 * width)
    pd.testing.assert_series_equal(
        better["trace_P_stamped_sample"], before["trace_P_arrival_sample"], check_names=False
    )


def test_phases_are_classes_on_request():
    dataset = Dataset(3, traces=4)
    dataset.metadata["trace_S_arrival_sample"] = 600.0
    plain = unjitter.seisbench.sessions(dataset, **WINDOWS)
    assert {session.classes for session in plain} == {None}
    sessions = unjitter.seisbench.sessions(dataset, classes=True, **WINDOWS)
    assert [list(session.classes) for session in sessions] == [["P", "S"]] * 3 + [["S"]]


def test_several_phases_of_a_trace_go_back_to_their_columns():
    rows = [
        {**HEAD, "trace_P_arrival_sample": 100.0, "trace_S_arrival_sample": 50.0},
        {**HEAD, "trace_P_arrival_sample": np.nan, "trace_S_arrival_sample": 200.0},
    ]
    columns = {"stamp": [1.0, 2.0, 4.0], "time": [0.5, 1.5, 3.5], "low": [0.0, 1.0, 3.0]}
    columns |= {"high": [1.0, 3.0, 6.0], "p_spurious": [0.0, 0.0, 0.0]}
    better = unjitter.seisbench.repicked(pd.DataFrame(rows), Table(columns))
    np.testing.assert_array_equal(better["trace_P_arrival_sample"], [75.0, np.nan])
    np.testing.assert_array_equal(better["trace_S_arrival_sample"], [25.0, 175.0])
    np.testing.assert_array_equal(better["trace_S_arrival_uncertainty_s"], [0.5, 1.5])


def test_a_labeller_gives_what_the_loss_takes():
    row = {**HEAD, "trace_P_arrival_sample": 425.5, "trace_Pn_arrival_sample": 10}
    state = {"X": (np.zeros((3, 1000)), row)}
    StampLabeller(["P", "Pn", "Pdiff"], most=3, step=4)(state)
    given = {name: values for name, (values, _) in state.items()}
    assert given["events"].tolist() == [10 / RATE, 425.5 / RATE, 0.0]
    assert given["event_lengths"] == 2
    np.testing.assert_array_equal(given["times"], np.arange(250) * 4 / RATE)
    for sample in (-1.0, 1000.0, np.nan):
        state = {"X": (np.zeros((3, 1000)), {**row, "trace_P_arrival_sample": sample})}
        StampLabeller("P")(state)
        assert state["event_lengths"][0] == 0
        assert state["events"][0].tolist() == [0.0]


def test_mistakes_are_told():
    row = {**HEAD, "trace_P_arrival_sample": 425.5, "trace_Pn_arrival_sample": 10}
    with pytest.raises(ValueError, match="no column 'trace_S_arrival_sample'; there are trace_P_"):
        unjitter.seisbench.stamps(row, "S")
    with pytest.raises(ValueError, match="metadata has no 'trace_sampling_rate_hz'"):
        unjitter.seisbench.stamps({"trace_P_arrival_sample": 1.0})
    with pytest.raises(ValueError, match="trace_sampling_rate_hz is 0.0, expected .* above 0"):
        unjitter.seisbench.stamps({**row, "trace_sampling_rate_hz": 0})
    with pytest.raises(ValueError, match="trace_P_arrival_sample is inf"):
        unjitter.seisbench.stamps({**row, "trace_P_arrival_sample": np.inf})
    with pytest.raises(ValueError, match="trace_P_arrival_sample has 1 dimensions"):
        unjitter.seisbench.stamps({**row, "trace_P_arrival_sample": [1.0, 2.0]})
    with pytest.raises(ValueError, match="a window has 2 stamps, expected 1 at most"):
        StampLabeller(["P", "Pn"])({"X": (np.zeros((3, 1000)), row)})
    with pytest.raises(ValueError, match="X has 3 dimensions"):
        StampLabeller("P")({"X": (np.zeros((2, 3, 1000)), row)})
    with pytest.raises(ValueError, match="step is 0"):
        StampLabeller("P", step=0)
    dataset = Dataset(3, traces=4)
    dataset.metadata.loc[1, "trace_P_arrival_sample"] = SECONDS * RATE
    with pytest.raises(ValueError, match="trace t01: stamp 0 is at 400 s, but the samples last"):
        unjitter.seisbench.sessions(dataset, "P", **WINDOWS)
    dataset.waveforms[0] = np.zeros(5)
    with pytest.raises(ValueError, match="trace 0 has 1 dimensions, expected 2"):
        unjitter.seisbench.sessions(dataset, "P", **WINDOWS)
