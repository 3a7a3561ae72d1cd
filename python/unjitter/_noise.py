"""Noise models, made from the library's table: a new one needs nothing here."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, make_dataclass
from typing import Any, ClassVar

from . import _core
from ._check import whole
from ._models import Model, named, numbers


@dataclass(frozen=True)
class Noise(Model):
    """Delay of stamps from their instance: the base of all noise models."""

    #: The row of the library's table: name, about, parameters and settings.
    row: ClassVar[dict[str, Any]]

    def __post_init__(self) -> None:
        """Converts lists to tuples, and takes a missing length from them."""
        lengths = [own for own in self.row["settings"] if own["value"] == "length"]
        if not lengths:
            return
        name, usual = lengths[0]["name"], lengths[0]["default"]
        lists = [own["name"] for own in self.row["parameters"] if own["is_list"]]
        given: dict[str, Any] = {
            own: numbers(getattr(self, own)) for own in lists if getattr(self, own) is not None
        }
        found = {len(values) for values in given.values()}
        if getattr(self, name) is not None:
            found.add(whole(name, getattr(self, name)))
        if len(found) > 1:
            raise ValueError(
                f"{', '.join(lists)} and {name} must agree on the number of {name}, got "
                f"{sorted(found)}"
            )
        given[name] = found.pop() if found else int(usual)
        for own, value in given.items():
            object.__setattr__(self, own, value)

    def settings(self) -> dict[str, Any]:
        written: dict[str, Any] = {"kind": self.kind}
        for own in self.row["settings"]:
            value = getattr(self, own["name"])
            written[own["name"]] = value if own["value"] == "length" else float(value)
        return written

    def values(self) -> dict[str, list[float]]:
        names = {own["name"] for own in self.row["parameters"]}
        return {name: values for name, values in super().values().items() if name in names}

    @classmethod
    def needs(cls) -> list[str]:
        """Settings that must be given."""
        return [own["name"] for own in cls.row["settings"] if own["default"] is None]


def arguments(row: dict[str, Any]) -> Iterator[tuple[str, str, str, Any]]:
    """Name, type, description and default of each argument of a class; required ones have no
    default (...) and come first."""
    usual = []
    for own in row["settings"]:
        kind, default = ("int" if own["value"] == "length" else "float"), own["default"]
        if default is None:
            yield own["name"], kind, own["about"], ...
        elif kind == "int":
            words = f"{own['about']}, where nothing else tells; {int(default)} by default"
            usual.append((own["name"], "int | None", words, None))
        else:
            usual.append((own["name"], kind, own["about"], default))
    for own in row["parameters"]:
        yield own["name"], "Any" if own["is_list"] else "float | None", own["about"], None
    yield from usual


def _class(row: dict[str, Any]) -> type[Noise]:
    """The class of a noise model."""
    name = row["name"].title().replace("_", "")
    shown = {"Any": "array-like", "float | None": "float", "int | None": "int"}
    documented = "\n".join(
        f"{own} : {shown.get(kind, kind)}{'' if default is ... else ', optional'}\n    {words}."
        for own, kind, words, default in arguments(row)
    )
    fields = [
        (own, kind, field() if default is ... else field(default=default))
        for own, kind, _, default in arguments(row)
    ]
    namespace = {
        "row": row,
        "kind": row["name"],
        # The public place, for users and `pickle`.
        "__module__": "unjitter",
        "__doc__": f"{row['about']}.\n\nParameters\n----------\n{documented}\n",
    }
    return make_dataclass(name, fields, bases=(Noise,), namespace=namespace, frozen=True)


NOISE: dict[str, type[Noise]] = {
    row["name"]: _class(row) for row in json.loads(_core.noise_kinds())
}


def noise_model(noise: str | Noise) -> Noise:
    """A noise model from its name, or unchanged."""
    needed = NOISE[noise].needs() if isinstance(noise, str) and noise in NOISE else []
    if needed:
        name = NOISE[str(noise)].__name__
        raise ValueError(
            f"{noise} noise needs its {' and '.join(needed)}: noise={name}({', '.join(needed)})"
        )
    return named("noise", noise, NOISE)
