"""An estimator's parameters from a model file, possibly of the command line."""

from __future__ import annotations

import json
from dataclasses import MISSING, fields
from typing import Any

from . import _core
from ._classifiers import CLASSIFIERS
from ._models import COUNTS
from ._noise import NOISE
from ._priors import Priors


def parameters_of(fitted: _core.Fitted) -> dict[str, Any]:
    """The arguments of an `EventDetector` that would fit this model again."""
    model = json.loads(fitted.model())
    held = {entry["name"]: entry["values"] for entry in model["frozen"]}
    priors: dict[str, Any] = dict(model["priors"])
    regularisation = priors.pop("weight_precision")
    notes = json.loads(fitted.metadata())
    by_program = _note(notes, "options", "use_labels", default=False)
    by_rule = _note(notes, "options", "threshold", default="").replace("-", "_")
    rule = _note(notes, "python", "threshold", default=by_rule)
    pairs: dict[str, Any] = {
        name: tuple(value.values()) if isinstance(value, dict) else value
        for name, value in priors.items()
    }
    believed = Priors(**pairs)
    return {
        "classifier": _part(model["classifier"], held, "classifier", CLASSIFIERS),
        "counts": _part(model["counts"], held, "counts", COUNTS),
        "noise": _part(model["noise"], held, "noise", NOISE),
        # After the parts have taken theirs: single entries, and fixed values of the classifier.
        "frozen": held or None,
        "regularisation": regularisation,
        "priors": None if believed == Priors() else believed,
        "time_unit": model["time_unit"],
        "alignment": model["alignment"],
        "labels": model.get("labels", "independent"),
        "stamps": model.get("stamps", "onset"),
        "delay": None if model["delay"] is None else tuple(model["delay"]),
        "varies": {own["what"]: own["by"] for own in model.get("varies", [])} or None,
        "clock_range": model.get("clock_range"),
        "threshold": rule if rule == "expected_f1" else fitted.threshold,
        "use_labels": _note(notes, "python", "use_labels", default=by_program),
    }


def _note(notes: Any, *path: str, default: Any) -> Any:
    """A note if it exists and has the type of `default`; any program may write notes."""
    for name in path:
        notes = notes.get(name) if isinstance(notes, dict) else None
    return notes if type(notes) is type(default) else default


def _part(
    settings: dict[str, Any], held: dict[str, list[float]], prefix: str, known: dict[str, Any]
) -> Any:
    """A part by its name if that suffices, else as an object; takes its values from `held`."""
    settings = dict(settings)
    kind = known[settings.pop("kind")]
    for field in fields(kind):
        values = held.pop(f"{prefix}.{field.name}", None)
        if values is not None:
            settings[field.name] = values[0] if len(values) == 1 else values
    part = kind(**settings)
    needs_settings = any(field.default is MISSING for field in fields(kind))
    return part if needs_settings or part != kind() else kind.kind
