"""A dataset that SeisBench writes, reads and cuts into windows, and a network that learns from its
stamps."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
import torch
from torch import nn

from unjitter import EventDetector
from unjitter.seisbench import StampLabeller, repicked, sessions
from unjitter.torch import ImpreciseLabelLoss

# SeisBench uses what pandas and others are about to drop, and they say so often.
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from seisbench import data as seisbench_data
    from seisbench import generate

pytestmark = pytest.mark.filterwarnings("ignore")

RATE, SAMPLES, TRACES = 20.0, 400, 48
DELAY = 0.8


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    """Short pulses in noise, picked 0.8 s late, by a third of a second more or less."""
    folder = tmp_path_factory.mktemp("dataset")
    random = np.random.default_rng(5)
    with seisbench_data.WaveformDataWriter(
        folder / "metadata.csv", folder / "waveforms.hdf5"
    ) as writer:
        writer.data_format = {
            "dimension_order": "CW",
            "component_order": "ZNE",
            "sampling_rate": RATE,
        }
        for k in range(TRACES):
            onset = random.integers(100, 250)
            waveform = random.normal(size=(3, SAMPLES))
            waveform[:, onset : onset + 8] *= 6.0
            picked = onset + RATE * random.normal(DELAY, 0.3)
            row = {
                "trace_name": f"trace-{k}",
                "trace_sampling_rate_hz": RATE,
                "trace_P_arrival_sample": picked,
                "trace_true_sample": onset,
            }
            writer.add_trace({**row, "split": "train"}, waveform)
    return seisbench_data.WaveformDataset(folder, component_order="ZNE")


def test_better_arrivals_come_back_from_disk(dataset, tmp_path):
    own = sessions(dataset, "P", length=0.5, step=0.25, anchor="start")
    assert own[0].feature_names[0] == "Z_mean"
    aligned = EventDetector(restarts=2).fit(own).align(own)
    better = repicked(dataset.metadata, aligned, "P")
    better.to_csv(tmp_path / "metadata.csv", index=False)
    read = pd.read_csv(tmp_path / "metadata.csv")

    def scatter(column):
        return np.std(read[column] - read["trace_true_sample"]) / RATE

    assert scatter("trace_P_arrival_sample") < 0.6 * scatter("trace_P_stamped_sample")
    np.testing.assert_allclose(
        read["trace_P_stamped_sample"], dataset.metadata["trace_P_arrival_sample"]
    )


def test_seisbench_moves_stamps_with_its_windows_and_its_sampling_rate(dataset):
    generator = generate.GenericGenerator(dataset)
    generator.add_augmentations(
        [generate.FixedWindow(p0=90, windowlen=256), StampLabeller("P", most=2, step=4)]
    )
    picked = dataset.metadata["trace_P_arrival_sample"].to_numpy()
    for k in range(5):
        sample = generator[k]
        assert sample["events"].tolist() == pytest.approx([(picked[k] - 90) / RATE, 0.0])
        assert sample["times"].tolist() == (np.arange(64) * 4 / RATE).tolist()
    slow = seisbench_data.WaveformDataset(dataset.path, sampling_rate=RATE / 2)
    resampled = generate.GenericGenerator(slow)
    resampled.augmentation(StampLabeller("P"))
    assert resampled[0]["events"].tolist() == pytest.approx([picked[0] / RATE])


def test_a_network_learns_from_stamps(dataset):
    generator = generate.GenericGenerator(dataset)
    generator.add_augmentations(
        [
            generate.FixedWindow(p0=0, windowlen=SAMPLES),
            generate.ChangeDtype(np.float32),
            StampLabeller("P", step=5),
        ]
    )
    batch = next(iter(torch.utils.data.DataLoader(generator, batch_size=TRACES)))
    assert batch["events"].shape == (TRACES, 1)
    assert batch["times"].dtype == torch.float64
    # How loud each stretch of five samples is.
    level = nn.functional.avg_pool1d(batch["X"].abs().mean(dim=1, keepdim=True), 5).squeeze(1)
    network, loss = nn.Linear(1, 1), ImpreciseLabelLoss(start={"delay": 0.0, "spread": 1.0})
    # A pulse is a few loud stretches with one pick, so there are other minima than the right one;
    # this begins near enough to it.
    nn.init.constant_(network.bias, -5.0)
    nn.init.ones_(network.weight)
    optimiser = torch.optim.Adam([*network.parameters(), *loss.parameters()], lr=0.1)
    for _ in range(150):
        optimiser.zero_grad()
        logits = network(level[..., None]).squeeze(-1)
        value = loss(logits, batch["times"], batch["events"], None, batch["event_lengths"])
        (value + loss.penalty() / TRACES).backward()
        optimiser.step()
    found = batch["times"][0][logits.argmax(dim=1)]
    true = torch.as_tensor(dataset.metadata["trace_true_sample"].to_numpy() / RATE)
    # A pulse touches stretches that begin up to a quarter of a second before and 0.4 s after it.
    assert (found - true).abs().le(0.4).float().mean() > 0.9
    # Picks of 48 traces tell the delay to a tenth of a second; stretches are a quarter.
    assert loss.delay == pytest.approx(DELAY, abs=0.25)
