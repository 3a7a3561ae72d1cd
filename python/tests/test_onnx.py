"""ONNX models against the library's own predictions."""

from __future__ import annotations

import json
import sys

import numpy as np
import onnx
import onnxruntime
import pytest

from unjitter import EventDetector, Kernel, Mlp, Session

CLASSIFIERS = {
    "logistic": "logistic",
    "exact kernel": Kernel(),
    "landmarks": Kernel(landmarks=25),
    "smooth kernel": Kernel(length_scale=30.0),
    "tanh": Mlp(hidden=(7, 5)),
    "relu": Mlp(hidden=(6,), activation="relu"),
    "no hidden layer": Mlp(hidden=()),
}


def recording(seed: int, columns: int = 5) -> Session:
    """Instances of which every seventh is an event, with a press that is late and scatters; the
    second column is constant, the third has an offset of a billion."""
    random = np.random.default_rng(seed)
    event = np.arange(140) % 7 == 3
    X = random.normal(size=(140, columns)) + 4.0 * event[:, None] * (np.arange(columns) == 0)
    X[:, 1] = 4.2
    X[:, 2] += 1e9
    times = np.arange(140.0)
    stamps = times[event] + random.normal(0.4, 0.8, event.sum())
    names = ["depth", "constant", "offset", "a<b", "é"]
    return Session(X, times, stamps, feature_names=names)


@pytest.fixture(scope="module", params=CLASSIFIERS)
def fitted(request):
    detector = EventDetector(CLASSIFIERS[request.param], restarts=0)
    return detector.fit([recording(0), recording(1)])


def run(model, X):
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    return session.run(["probability", "log_odds"], {"X": X})


def assert_agrees(detector, X, rtol, atol):
    probability, log_odds = run(detector.to_onnx(), X)
    assert probability.dtype == log_odds.dtype == np.float64
    assert probability.shape == log_odds.shape == (len(X),)
    np.testing.assert_allclose(log_odds, detector.decision_function(X), rtol, atol)
    np.testing.assert_allclose(probability, detector.predict_proba(X)[:, 1], 0.0, max(rtol, atol))


def test_random_features(fitted):
    # Sums in another order; the kernel's are of numbers that nearly cancel.
    assert_agrees(fitted, recording(2).X, rtol=1e-11, atol=1e-12)


def test_features_a_thousand_standard_deviations_out(fitted):
    X = recording(2).X
    far = X + 1e3 * np.random.default_rng(3).normal(size=X.shape)
    assert np.abs(fitted.decision_function(X)).max() > 0.5  # something was learned
    assert_agrees(fitted, far, rtol=1e-11, atol=1e-12)  # as above


@pytest.mark.parametrize("rows", [0, 1])
def test_few_rows(fitted, rows):
    assert_agrees(fitted, recording(2).X[:rows], rtol=1e-11, atol=1e-12)  # as above


def test_nearly_dependent_landmarks_lose_few_digits():
    # Weights left nearly free, on landmarks of which each is nearly explained by the others.
    random = np.random.default_rng(1)
    event = np.arange(700) % 7 == 3
    X = random.normal(size=(700, 2)) + np.outer(event, [2.5, 0.0])
    times = np.arange(700.0)
    session = Session(X, times, times[event] + random.normal(0.3, 0.8, event.sum()))
    kernel = Kernel(length_scale=1.0)
    detector = EventDetector(kernel, regularisation=1e-3, restarts=0, max_iter=2000)
    detector.fit([session])
    # Rounding, times the condition of L, which is up to 1e5 and enters twice.
    assert_agrees(detector, 2.0 * random.normal(size=(300, 2)), rtol=0.0, atol=1e-7)


def test_small_probabilities_keep_their_digits():
    detector = EventDetector(restarts=0).fit([recording(0)])
    X = recording(1).X
    X[:, 0] -= 200.0
    probability, _ = run(detector.to_onnx(), X)
    assert 0.0 < probability.max() < 1e-60
    # e^−f for f near 300: a rounding of f is 300 times as large in its exponential.
    np.testing.assert_allclose(probability, detector.predict_proba(X)[:, 1], rtol=1e-11)


def test_notes_and_declared_types(fitted):
    model = fitted.to_onnx()
    notes = {note.key: note.value for note in model.metadata_props}
    assert json.loads(notes["features"]) == ["depth", "constant", "offset", "a<b", "é"]
    kind = fitted.classifier if isinstance(fitted.classifier, str) else fitted.classifier.kind
    assert notes["model"] == kind and model.graph.name == f"unjitter_{kind}"
    assert float(notes["threshold"]) == fitted.threshold_
    assert [opset.version for opset in model.opset_import] == [13]
    (X,) = model.graph.input
    assert X.type.tensor_type.elem_type == onnx.TensorProto.DOUBLE
    assert X.type.tensor_type.shape.dim[0].dim_param  # any number of rows
    assert X.type.tensor_type.shape.dim[1].dim_value == 5


def test_single_precision_is_refused_by_the_runtime():
    detector = EventDetector(restarts=0).fit([recording(0)])
    with pytest.raises(Exception, match="Unexpected input data type"):
        run(detector.to_onnx(), recording(0).X.astype(np.float32))


def test_written_file_is_the_model(tmp_path):
    detector = EventDetector(restarts=0).fit([recording(0)])
    path = tmp_path / "detector.onnx"
    path.write_text("old")
    model = detector.to_onnx(path)
    assert onnx.load(path) == model
    assert [entry.name for entry in tmp_path.iterdir()] == ["detector.onnx"]


def test_failed_write_leaves_what_was_there_and_nothing_else(tmp_path):
    detector = EventDetector(restarts=0).fit([recording(0)])
    path = tmp_path / "detector.onnx"
    # A folder that is not empty cannot be replaced by a file.
    path.mkdir()
    (path / "old").touch()
    with pytest.raises(OSError, match=r"detector\.onnx"):
        detector.to_onnx(path)
    assert [entry.name for entry in tmp_path.iterdir()] == ["detector.onnx"]
    assert [entry.name for entry in path.iterdir()] == ["old"]


def test_loaded_model_exports_the_same(tmp_path):
    detector = EventDetector(Kernel(landmarks=10), restarts=0).fit([recording(0)])
    detector.save(tmp_path / "model.json")
    again = EventDetector.load(tmp_path / "model.json")
    assert again.to_onnx() == detector.to_onnx()


def test_missing_package_is_named(monkeypatch):
    detector = EventDetector(restarts=0).fit([recording(0)])
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match=r"pip install 'unjitter\[onnx\]'"):
        detector.to_onnx()
