"""Models go between Python and the command line, bit for bit."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from unjitter import (
    Categorical,
    EventDetector,
    Gaussian,
    GaussianMixture,
    Kernel,
    Mlp,
    Priors,
    Uniform,
    read_dataset,
)

PROGRAM = Path(os.environ.get("UNJITTER", Path(__file__).parents[2] / "target/debug/unjitter"))


def run(*arguments):
    command = [str(PROGRAM), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory, sessions):
    """The sessions as tables, each number with all its digits."""
    folder = tmp_path_factory.mktemp("dataset")
    tables = []
    for session in sessions:
        table = pd.DataFrame(session.X, columns=["a", "b", "c"])
        tables.append(table.assign(session=session.name, time=session.times, label=session.labels))
    pd.concat(tables).to_csv(folder / "instances.csv", index=False)
    stamps = [pd.DataFrame({"session": own.name, "time": own.events}) for own in sessions]
    pd.concat(stamps).to_csv(folder / "events.csv", index=False)
    return folder


def test_files_are_read_to_the_last_bit(folder, sessions):
    for got, want in zip(read_dataset(folder), sessions):
        np.testing.assert_array_equal(got.X, want.X)
        np.testing.assert_array_equal(got.times, want.times)
        np.testing.assert_array_equal(got.events, want.events)
        np.testing.assert_array_equal(got.labels, want.labels)


CASES = {
    "plain": ([], {}),
    "mixture": (
        ["--noise", "gaussian-mixture", "--components", "3", "--counts", "poisson"],
        {"noise": GaussianMixture(components=3), "counts": "poisson"},
    ),
    "kernel": (
        ["--classifier", "kernel", "--landmarks", "30", "--length-scale", "1.5", "--seed", "7"],
        {"classifier": Kernel(1.5, 30), "random_state": 7},
    ),
    "network": (
        ["--classifier", "mlp", "--hidden", "4", "--max-iterations", "100", "--restarts", "1"],
        {"classifier": Mlp((4,)), "max_iter": 100, "restarts": 1},
    ),
    "priors": (
        [
            *("--weight-precision", "0.3", "--prior", "hit_rate=3,2", "--time-unit", "2"),
            *("--counts", "categorical", "--max-count", "3", "--freeze", "noise.delay=0.5"),
        ],
        {
            "regularisation": 0.3,
            "priors": Priors(hit_rate=(3.0, 2.0)),
            "time_unit": 2.0,
            "counts": Categorical(max_count=3),
            "noise": Gaussian(delay=0.5),
        },
    ),
    "threshold": (
        ["--threshold", "expected-f1", "--weight-precision", "3000"],
        {"threshold": "expected_f1", "regularisation": 3000.0},
    ),
    "delay": (
        ["--alignment", "ordered", "--delay=-500ms..2s", "--prior", "background=2,30"],
        {
            "alignment": "ordered",
            "delay": (-0.5, 2.0),
            "priors": Priors(background=(2.0, 30.0)),
        },
    ),
    "labels": (["--use-labels"], {"use_labels": True}),
    "frozen": (
        [
            *("--counts", "categorical", "--freeze", "counts.hit_rate=0.9"),
            *("--freeze", "classifier.weights[1]=0"),
        ],
        {
            "counts": Categorical(max_count=2, hit_rate=0.9),
            "frozen": {"classifier.weights[1]": [0.0]},
        },
    ),
    "uniform": (
        ["--noise", "uniform", "--earliest=-4", "--latest", "6"],
        {"noise": Uniform(-4.0, 6.0)},
    ),
}


@pytest.mark.filterwarnings("ignore::unjitter.UnjitterWarning")
@pytest.mark.parametrize("case", CASES)
def test_both_learn_the_same_bits(folder, tmp_path, case):
    flags, parameters = CASES[case]
    run("fit", folder, "--output", tmp_path / "cli.json", "--quiet", *flags)
    detector = EventDetector(**parameters).fit(read_dataset(folder))
    detector.save(tmp_path / "python.json")
    files = [json.loads((tmp_path / name).read_text()) for name in ("cli.json", "python.json")]
    for file in files:
        del file["metadata"]
    assert files[0] == files[1]


@pytest.mark.filterwarnings("ignore::unjitter.UnjitterWarning")
@pytest.mark.parametrize("case", CASES)
def test_a_model_of_the_command_line_is_at_home_in_python(folder, tmp_path, case):
    flags, parameters = CASES[case]
    run("fit", folder, "--output", tmp_path / "model.json", "--quiet", *flags)
    loaded = EventDetector.load(tmp_path / "model.json")
    own = EventDetector(**parameters).fit(read_dataset(folder))
    assert list(loaded.feature_names_in_) == ["a", "b", "c"]
    for session in read_dataset(folder):
        np.testing.assert_array_equal(
            loaded.decision_function(session), own.decision_function(session)
        )
    chosen = ("classifier", "noise", "regularisation", "priors", "time_unit", "frozen")
    chosen += ("alignment", "delay")
    assert loaded.use_labels == own.use_labels
    assert (loaded.threshold, loaded.threshold_) == (own.threshold, own.threshold_)
    assert loaded.log_evidence(read_dataset(folder)) == own.log_evidence(read_dataset(folder))
    # Counts that were left to the evidence are the ones that it decided for.
    assert loaded.counts == parameters.get("counts", "bernoulli")
    for name in chosen:
        assert getattr(loaded, name) == parameters.get(name, getattr(EventDetector(), name))


def test_the_command_line_aligns_with_a_model_of_python(folder, tmp_path):
    sessions = read_dataset(folder)
    detector = EventDetector().fit(sessions)
    detector.save(tmp_path / "model.json")
    run(
        "align",
        folder,
        "-m",
        tmp_path / "model.json",
        "-o",
        tmp_path / "aligned.csv",
        "--missed",
        tmp_path / "missed.csv",
        "--quiet",
    )
    got = pd.read_csv(tmp_path / "aligned.csv")
    want = detector.align(sessions)
    for column in ("time", "stamp", "low", "high", "instance_time"):
        # The program writes nanoseconds.
        np.testing.assert_allclose(got[column], want[column], atol=1e-9)
    # Probabilities are written with six digits.
    np.testing.assert_allclose(got["p_spurious"], want["p_spurious"], atol=1e-6)
    assert ((got["low"] <= got["time"]) & (got["time"] <= got["high"])).all()


def test_the_command_line_predicts_with_a_model_of_python(folder, tmp_path):
    sessions = read_dataset(folder)
    detector = EventDetector().fit(sessions)
    detector.save(tmp_path / "model.json")
    run("predict", folder, "-m", tmp_path / "model.json", "-o", tmp_path / "p.csv", "--quiet")
    got = pd.read_csv(tmp_path / "p.csv")
    want = np.concatenate([own[:, 1] for own in detector.predict_proba(sessions)])
    # Written with six digits or more.
    np.testing.assert_allclose(got["probability"], want, atol=1e-6)


def test_the_command_line_uses_the_threshold_that_python_found(folder, tmp_path):
    sessions = read_dataset(folder)
    detector = EventDetector(regularisation=3000.0, threshold="expected_f1").fit(sessions)
    detector.save(tmp_path / "model.json")
    told = run(
        *("predict", folder, "-m", tmp_path / "model.json", "-o", tmp_path / "p.csv"),
        *("--detected", tmp_path / "found.csv", "--json", "--quiet"),
    )
    found = np.concatenate(detector.detect(sessions))
    assert json.loads(told)["threshold"] == detector.threshold_ < 0.5
    # The program writes nanoseconds.
    got = pd.read_csv(tmp_path / "found.csv")["time"]
    np.testing.assert_allclose(got, found, atol=1e-9)
    assert len(found) > 0


def test_a_threshold_survives_the_file(folder, tmp_path):
    sessions = read_dataset(folder)
    detector = EventDetector(threshold=0.2, use_labels=True).fit(sessions)
    detector.save(tmp_path / "model.json")
    loaded = EventDetector.load(tmp_path / "model.json")
    assert (loaded.threshold, loaded.threshold_) == (0.2, 0.2)
    # Labels count as evidence for who learned from them.
    assert loaded.log_evidence(sessions) == detector.log_evidence(sessions)


def test_files_that_are_no_models(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nowhere\.json"):
        EventDetector.load(tmp_path / "nowhere.json")
    (tmp_path / "broken.json").write_text('{"format": 1')
    with pytest.raises(ValueError, match="line 1"):
        EventDetector.load(tmp_path / "broken.json")
    with pytest.raises(OSError, match="No such file"):
        EventDetector().fit(*_tiny()).save(tmp_path / "no" / "folder.json")


def _tiny():
    from drawn import make_session

    return ([make_session(0)],)
