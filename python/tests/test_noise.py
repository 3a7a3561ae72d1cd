"""Noise models: the package has those of the library, and says of them what the library says."""

from __future__ import annotations

import importlib.util
import inspect
import json
import pickle
from pathlib import Path

import pytest

import unjitter
from unjitter import EventDetector, Gaussian, GaussianMixture, Uniform, _core
from unjitter._noise import NOISE, noise_model

PACKAGE = Path(__file__).parents[1]
spec = importlib.util.spec_from_file_location("noise_stubs", PACKAGE / "noise_stubs.py")
noise_stubs = importlib.util.module_from_spec(spec)
spec.loader.exec_module(noise_stubs)

TABLE = json.loads(_core.noise_kinds())


def example(row):
    """A model with the ordinary values of the library's table."""
    settings = {own["name"]: own["example"] for own in row["settings"] if own["value"] != "length"}
    values = {own["name"]: own["example"] for own in row["parameters"]}
    return NOISE[row["name"]](
        **settings,
        **{name: value if len(value) > 1 else value[0] for name, value in values.items()},
    )


def test_the_stubs_are_those_of_the_table():
    # If not: `make stubs`.
    assert (PACKAGE / "unjitter" / "_noises.pyi").read_text() == noise_stubs.stubs()


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row["name"])
def test_every_noise_model_is_a_class_with_its_words(row):
    model = NOISE[row["name"]]
    assert model is getattr(unjitter, model.__name__)
    assert model.__name__ in unjitter.__all__
    words = inspect.getdoc(model)
    assert words.startswith(row["about"])
    for own in row["parameters"] + row["settings"]:
        assert f"{own['name']} : " in words
        assert own["about"] in words
        assert own["name"] in inspect.signature(model).parameters


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row["name"])
def test_every_noise_model_goes_to_the_library_and_back(row):
    noise = example(row)
    assert pickle.loads(pickle.dumps(noise)) == noise
    found = unjitter.posterior([0.0, 1.0, 2.0], [1.6], [0.0, 0.0, 0.0], noise=noise)
    assert found.responsibilities.toarray().sum() == pytest.approx(1.0, abs=1e-12)  # rounding
    assert noise_model(noise) is noise
    if all(own["default"] is not None for own in row["settings"]):
        assert noise_model(row["name"]) == NOISE[row["name"]]()


def test_arguments_stand_where_they_stood():
    assert repr(Gaussian(0.0, spread=2.0)) == "Gaussian(delay=0.0, spread=2.0)"
    assert Uniform(-1.0, 2).settings() == {"kind": "uniform", "earliest": -1.0, "latest": 2.0}
    mixture = GaussianMixture([0.5, 0.25, 0.25])
    assert mixture.settings() == {"kind": "gaussian_mixture", "components": 3}
    assert mixture.values() == {"weights": [0.5, 0.25, 0.25]}
    assert GaussianMixture().components == 2
    assert GaussianMixture(components=4).unknown() == ["weights", "delays", "spreads"]


def test_mistakes_are_named():
    with pytest.raises(ValueError, match="weights, delays, spreads and components must agree"):
        GaussianMixture(weights=[0.5, 0.5], components=3)
    with pytest.raises(ValueError, match="needs its earliest and latest: noise=Uniform\\(earliest"):
        noise_model("uniform")
    with pytest.raises(ValueError, match=f"expected one of {', '.join(NOISE)}"):
        noise_model("cauchy")
    with pytest.raises(TypeError):
        Uniform(1.0)
    with pytest.raises(ValueError, match="expected a name or one of Gaussian, "):
        EventDetector(noise=3).fit(unjitter.simulate.respiration(sessions=2))
