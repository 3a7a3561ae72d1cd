"""An estimator's parameters from a model file, which the command line may have written."""

from __future__ import annotations

import json
from typing import Any

from . import _core
from ._classifiers import CLASSIFIERS
from ._models import COUNTS, NOISE, Categorical
from ._priors import Priors


def parameters_of(fitted: _core.Fitted) -> dict[str, Any]:
    """What `EventDetector` must be given in order to fit this model again."""
    model = json.loads(fitted.model())
    held = {entry["name"]: entry["values"] for entry in model["frozen"]}
    priors: dict[str, Any] = dict(model["priors"])
    regularisation = priors.pop("weight_precision")
    notes = json.loads(fitted.metadata())
    pairs: dict[str, Any] = {
        name: tuple(value.values()) if isinstance(value, dict) else value
        for name, value in priors.items()
    }
    believed = Priors(**pairs)
    return {
        "classifier": _part(model["classifier"], {}, CLASSIFIERS),
        "counts": _part(model["counts"], _of(held, "counts"), COUNTS),
        "noise": _part(model["noise"], _of(held, "noise"), NOISE),
        "regularisation": regularisation,
        "priors": None if believed == Priors() else believed,
        "time_unit": model["time_unit"],
        "threshold": notes.get("python", {}).get("threshold", 0.5),
    }


def _of(held: dict[str, list[float]], part: str) -> dict[str, Any]:
    """Held values of one part, single numbers as numbers."""
    return {
        name.removeprefix(f"{part}."): values[0] if len(values) == 1 else values
        for name, values in held.items()
        if name.startswith(f"{part}.")
    }


def _part(settings: dict[str, Any], held: dict[str, Any], known: dict[str, Any]) -> Any:
    """A part by its name where that says all, else as an object."""
    settings = dict(settings)
    kind = settings.pop("kind")
    if known[kind] is Categorical and held:
        return Categorical(_table(held))
    part = known[kind](**settings, **held)
    return kind if known[kind] is not NOISE["uniform"] and part == known[kind]() else part


def _table(held: dict[str, Any]) -> list[list[float]]:
    """The table of a categorical count model, which is held as a whole or not at all."""
    rows = []
    for name in ("false", "hit"):
        rate, split = held[f"{name}_rate"], held[f"{name}_split"]
        shares = split if isinstance(split, list) else [split]
        rows.append([1.0 - rate, *(rate * share for share in shares)])
    return rows
