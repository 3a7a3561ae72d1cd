"""A detector as an ONNX model: features to probability, in double precision.

The graph repeats the library's computation, operation for operation: differences before squares,
the sigmoid in the form that is exact in its tail. Only the order of sums is the runtime's own, so
results agree to rounding. A kernel classifier is written on its landmarks,

    f(x) = b + Σ_l α_l k(z_l, x),   α = L⁻ᵀ w,   L Lᵀ = k(Z, Z)

because ONNX has no triangular solve and α needs none at run time. Landmarks that nearly explain
each other make α large: log-odds then agree to about 1e-9 of their size.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import _core

if TYPE_CHECKING:
    from ._detector import EventDetector

# The oldest operator set with all operators used here; runtimes of 2020 support it.
OPSET = 13

_Floats = NDArray[np.float64]


def to_onnx(detector: EventDetector, path: str | os.PathLike[str] | None = None) -> Any:
    """A fitted detector as an ``onnx.ModelProto``; written to `path`, whole or not at all.

    Input ``X`` is a float64 tensor (instances x features), not standardised. Outputs are
    ``probability`` and ``log_odds``, float64 tensors (instances).

    Examples
    --------
    >>> import numpy as np
    >>> from unjitter import EventDetector, Session
    >>> from unjitter._onnx import to_onnx
    >>> X = np.array([[0.0], [3.0], [0.1], [0.2], [2.9], [0.0]])
    >>> session = Session(X, times=np.arange(6.0), events=[1.2, 4.2], feature_names=["depth"])
    >>> model = to_onnx(EventDetector().fit([session]))
    >>> [output.name for output in model.graph.output]
    ['probability', 'log_odds']
    >>> {note.key: note.value for note in model.metadata_props}["features"]
    '["depth"]'
    """
    if detector._labels == "chain":
        raise ValueError(
            "labels form a chain, and an ONNX model has rows without times: its probabilities "
            "would not be smoothed"
        )
    onnx = _onnx()
    file = json.loads(detector._fitted.to_json())
    kind, state = next(iter(file["classifier"].items()))
    graph = _Graph(onnx)
    values = _values(file)
    on_landmarks = detector._fitted.landmark_weights()
    if on_landmarks is not None:
        values["landmark_weights"] = on_landmarks
    log_odds = _CLASSIFIERS[kind](graph, state, values)
    graph.add("Identity", log_odds, name="log_odds")
    graph.add("Identity", _sigmoid(graph, "log_odds"), name="probability")
    model = graph.model(f"unjitter_{kind}", detector.n_features_in_)
    notes = {"model": kind, "threshold": repr(detector.threshold_)}
    if hasattr(detector, "feature_names_in_"):
        notes["features"] = json.dumps(list(detector.feature_names_in_), ensure_ascii=False)
    onnx.helper.set_model_props(model, notes)
    onnx.checker.check_model(model, full_check=True)
    if path is not None:
        _core.write_whole(os.fspath(path), model.SerializeToString())
    return model


def _onnx() -> Any:
    try:
        import onnx
    except ImportError:
        raise ImportError("to_onnx needs the onnx package: pip install 'unjitter[onnx]'") from None
    return onnx


def _values(file: dict[str, Any]) -> dict[str, _Floats]:
    """Parameters of the classifier by name, from a model file."""
    return {
        block["name"].removeprefix("classifier."): np.array(block["natural"], dtype=np.float64)
        for block in file["parameters"]
        if block["name"].startswith("classifier.")
    }


class _Graph:
    """Nodes and constants, named in their order."""

    def __init__(self, onnx: Any) -> None:
        self.onnx = onnx
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def add(self, operator: str, *inputs: str, name: str | None = None, **attributes: Any) -> str:
        """An operator's output."""
        output = name or f"{operator.lower()}_{len(self.nodes)}"
        self.nodes.append(
            self.onnx.helper.make_node(operator, list(inputs), [output], **attributes)
        )
        return output

    def constant(self, values: Any, name: str, dtype: type = np.float64) -> str:
        """A constant's name."""
        array = np.ascontiguousarray(np.array(values, dtype=dtype).reshape(np.shape(values)))
        self.constants.append(self.onnx.numpy_helper.from_array(array, name))
        return name

    def model(self, name: str, features: int) -> Any:
        """The whole, from X to probability and log-odds."""
        helper, double = self.onnx.helper, self.onnx.TensorProto.DOUBLE
        graph = helper.make_graph(
            self.nodes,
            name,
            [helper.make_tensor_value_info("X", double, ["instances", features])],
            [
                helper.make_tensor_value_info(output, double, ["instances"])
                for output in ("probability", "log_odds")
            ],
            initializer=self.constants,
        )
        operators = helper.make_opsetid("", OPSET)
        return helper.make_model(
            graph,
            opset_imports=[operators],
            ir_version=helper.find_min_ir_version_for([operators]),
            producer_name="unjitter",
            producer_version=_core.__version__,
        )


def _centred(graph: _Graph, state: dict[str, Any]) -> str:
    return graph.add("Sub", "X", graph.constant(state["standardiser"]["means"], "means"))


def _standardised(graph: _Graph, state: dict[str, Any]) -> str:
    scales = graph.constant(state["standardiser"]["scales"], "scales")
    return graph.add("Div", _centred(graph, state), scales)


def _linear(graph: _Graph, inputs: str, weights: _Floats, intercept: _Floats) -> str:
    """b + inputs · w, one number per row."""
    # A matrix of one column instead of a vector: onnxruntime can multiply an empty set of rows by a
    # matrix, but not by a vector.
    dots = graph.add("MatMul", inputs, graph.constant(weights[:, None], "weights"))
    dots = graph.add("Squeeze", dots, graph.constant([1], "second_axis", np.int64))
    return graph.add("Add", graph.constant(intercept, "intercept"), dots)


def _logistic(graph: _Graph, state: dict[str, Any], values: dict[str, _Floats]) -> str:
    weights = values["weights"] / np.array(state["standardiser"]["scales"])
    return _linear(graph, _centred(graph, state), weights, values["intercept"])


def _mlp(graph: _Graph, state: dict[str, Any], values: dict[str, _Floats]) -> str:
    signals = _standardised(graph, state)
    for layer, units in enumerate(state["hidden"]):
        weights = values[f"layer{layer}.weights"].reshape(-1, units)
        product = graph.add("MatMul", signals, graph.constant(weights, f"layer{layer}.weights"))
        biases = graph.constant(values[f"layer{layer}.biases"], f"layer{layer}.biases")
        signals = graph.add(state["activation"].capitalize(), graph.add("Add", product, biases))
    return _linear(graph, signals, values["output.weights"], values["output.intercept"])


def _kernel(graph: _Graph, state: dict[str, Any], values: dict[str, _Floats]) -> str:
    landmarks = _matrix(state["landmarks"])
    squares = _squared_distances(graph, _standardised(graph, state), landmarks)
    length_scale = graph.constant(state["length_scale"], "length_scale")
    # Divided twice: the square of a tiny length scale would underflow.
    ratio = graph.add("Div", graph.add("Div", squares, length_scale), length_scale)
    kernel = graph.add("Exp", graph.add("Mul", graph.constant(-0.5, "minus_half"), ratio))
    return _linear(graph, kernel, values["landmark_weights"], values["intercept"])


def _squared_distances(graph: _Graph, points: str, landmarks: _Floats) -> str:
    """|x − z|² (instances x landmarks), summed feature by feature.

    All differences at once would take instances x landmarks x features of memory; a matrix product
    would take less, but cancels for points far out and close together.
    """
    onnx, helper = graph.onnx, graph.onnx.helper
    double = onnx.TensorProto.DOUBLE
    one_feature = helper.make_graph(
        [
            helper.make_node("Unsqueeze", ["x", "one"], ["column"]),
            helper.make_node("Sub", ["column", "z"], ["difference"]),
            helper.make_node("Mul", ["difference", "difference"], ["square"]),
            helper.make_node("Add", ["sum", "square"], ["next_sum"]),
        ],
        "one_feature",
        [
            helper.make_tensor_value_info("sum", double, ["instances", len(landmarks)]),
            helper.make_tensor_value_info("x", double, ["instances"]),
            helper.make_tensor_value_info("z", double, [len(landmarks)]),
        ],
        [helper.make_tensor_value_info("next_sum", double, ["instances", len(landmarks)])],
        initializer=[onnx.numpy_helper.from_array(np.array([1]), "one")],
    )
    count = graph.constant([len(landmarks)], "landmark_count", np.int64)
    rows = graph.add("Slice", graph.add("Shape", "X"), *_first(graph))
    shape = graph.add("Concat", rows, count, axis=0)
    zero = graph.add("ConstantOfShape", shape, value=onnx.numpy_helper.from_array(np.zeros(1)))
    return graph.add(
        "Scan",
        zero,
        points,
        graph.constant(landmarks, "landmarks"),
        body=one_feature,
        num_scan_inputs=2,
        scan_input_axes=[1, 1],
    )


def _first(graph: _Graph) -> tuple[str, str]:
    """Bounds of a slice of one element."""
    return graph.constant([0], "first", np.int64), graph.constant([1], "second", np.int64)


def _matrix(saved: dict[str, Any]) -> _Floats:
    values = np.array(saved["values"], dtype=np.float64)
    return values.reshape(saved["rows"], saved["columns"])


_CLASSIFIERS = {"logistic": _logistic, "kernel": _kernel, "mlp": _mlp}


def _sigmoid(graph: _Graph, log_odds: str) -> str:
    """1 / (1 + e^−f), without 1 − something close to 1 where f is negative."""
    zero, one = graph.constant(0.0, "zero"), graph.constant(1.0, "unity")
    small = graph.add("Exp", graph.add("Neg", graph.add("Abs", log_odds)))
    above = graph.add("Where", graph.add("Less", log_odds, zero), small, one)
    return graph.add("Div", above, graph.add("Add", one, small))
