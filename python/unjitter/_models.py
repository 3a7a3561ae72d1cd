"""Count models, and the base of noise models: small objects with a name and values.

The rule everywhere: a value that is given is fixed. A value that is not given (None) is learned, by
a detector and by the loss for PyTorch; bare inference learns nothing and needs them all. Start
values are separate, and only the loss takes them, by its argument `start`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from ._check import whole


@dataclass(frozen=True)
class Model:
    """Base of counts and noise: a kind, settings, and values of parameters."""

    kind: ClassVar[str]

    def settings(self) -> dict[str, Any]:
        """The model as in a model file."""
        return {"kind": self.kind}

    def values(self) -> dict[str, list[float]]:
        """Natural values of the parameters that are given."""
        given = {field.name: getattr(self, field.name) for field in fields(self)}
        return {
            name: [float(entry) for entry in np.atleast_1d(value).ravel()]
            for name, value in given.items()
            if value is not None
        }

    def unknown(self) -> list[str]:
        """Names of the values that are not given."""
        return [field.name for field in fields(self) if getattr(self, field.name) is None]


@dataclass(frozen=True)
class _Rates(Model):
    """A count model whose only parameters are its two rates."""

    false_rate: float | None = None
    hit_rate: float | None = None


@dataclass(frozen=True)
class Auto(_Rates):
    """At most one stamp per instance (Bernoulli), unless the stamps say otherwise.

    :class:`EventDetector` also fits with any number of stamps per instance (Poisson) if single
    events seem to have several, as when two people pressed, and takes it, with a warning, if the
    evidence is clearly better. Nothing else decides: elsewhere it is the same as
    :class:`Bernoulli`.

    Parameters
    ----------
    false_rate : float, optional
        P(at least one stamp | negative instance).
    hit_rate : float, optional
        P(at least one stamp | positive instance).
    """

    kind: ClassVar[str] = "auto"


@dataclass(frozen=True)
class Bernoulli(_Rates):
    """At most one stamp per instance.

    Parameters
    ----------
    false_rate : float, optional
        P(stamp | negative instance).
    hit_rate : float, optional
        P(stamp | positive instance).
    """

    kind: ClassVar[str] = "bernoulli"


@dataclass(frozen=True)
class Poisson(_Rates):
    """Independent stamps, as many as a Poisson variable.

    Parameters
    ----------
    false_rate : float, optional
        P(at least one stamp | negative instance).
    hit_rate : float, optional
        P(at least one stamp | positive instance).
    """

    kind: ClassVar[str] = "poisson"


@dataclass(frozen=True)
class Geometric(_Rates):
    """A further stamp is as likely as the first.

    Parameters
    ----------
    false_rate : float, optional
        P(at least one stamp | negative instance).
    hit_rate : float, optional
        P(at least one stamp | positive instance).
    """

    kind: ClassVar[str] = "geometric"


@dataclass(frozen=True)
class Categorical(Model):
    """Any distribution over 0, 1, ..., C stamps.

    Parameters
    ----------
    table : array-like of shape (2, C + 1), optional
        P(count | label), all of it: the first row is that of negative instances.
    max_count : int, optional
        C, without a table; 2 by default.
    false_rate, hit_rate : float, optional
        P(at least one stamp | negative instance), P(at least one stamp | positive instance).
    false_split, hit_split : array-like of shape (C,), optional
        Probabilities of the counts from one on, given at least one stamp.

    Examples
    --------
    >>> from unjitter import Categorical
    >>> counts = Categorical([[0.98, 0.015, 0.005], [0.5, 0.375, 0.125]])
    >>> counts.max_count, counts.hit_rate, counts.hit_split
    (2, 0.5, (0.75, 0.25))
    """

    table: Any = None
    max_count: int | None = None
    false_rate: float | None = None
    hit_rate: float | None = None
    false_split: Any = None
    hit_split: Any = None
    kind: ClassVar[str] = "categorical"

    def __post_init__(self) -> None:
        given = self._from_table() if self.table is not None else {}
        for name in ("false_split", "hit_split"):
            if name not in given and getattr(self, name) is not None:
                given[name] = numbers(getattr(self, name))
        lengths = {len(given[name]) for name in ("false_split", "hit_split") if name in given}
        lengths |= set() if self.max_count is None else {whole("max_count", self.max_count)}
        if len(lengths) > 1:
            raise ValueError(
                "table, splits and max_count must agree on the largest count, got "
                f"{sorted(lengths)}"
            )
        given["max_count"] = lengths.pop() if lengths else 2
        for name, value in given.items():
            object.__setattr__(self, name, value)

    def _from_table(self) -> dict[str, Any]:
        """Rates and splits of the table."""
        table = np.asarray(self.table, dtype=np.float64)
        if table.ndim != 2 or table.shape[0] != 2 or table.shape[1] < 2:
            raise ValueError(f"table has shape {table.shape}, expected (2, C + 1) with C >= 1")
        # Tables typed by hand are rounded; a larger deviation is a mistake.
        if not (np.all(table >= 0.0) and np.allclose(table.sum(axis=1), 1.0, rtol=0.0, atol=1e-6)):
            raise ValueError("each row of table must be probabilities that sum to 1")
        if np.any((table[:, -1] == 0.0) & (table[:, 0] < 1.0)):
            raise ValueError(
                "the last count of table must be possible for both labels: leave the column out, "
                "or give it a small probability"
            )
        given: dict[str, Any] = {"table": tuple(map(tuple, table.tolist()))}
        for name, row in zip(("false", "hit"), table.tolist()):
            some, counts = sum(row[1:]), len(row) - 1
            given[f"{name}_rate"] = some
            # The split of an instance that never gives a stamp does not matter.
            given[f"{name}_split"] = tuple(p / some if some > 0 else 1 / counts for p in row[1:])
        return given

    def settings(self) -> dict[str, Any]:
        return {"kind": self.kind, "max_count": self.max_count}

    def values(self) -> dict[str, list[float]]:
        given = super().values()
        return {name: given[name] for name in given if name.endswith(("_rate", "_split"))}

    def unknown(self) -> list[str]:
        return [name for name in super().unknown() if name != "table"]


Counts = Auto | Bernoulli | Categorical | Poisson | Geometric

COUNTS: dict[str, type[Counts]] = {
    model.kind: model for model in (Auto, Bernoulli, Categorical, Poisson, Geometric)
}
_Part = TypeVar("_Part")


def counts_model(counts: str | Counts) -> Counts:
    """A count model from its name, or unchanged."""
    return named("counts", counts, COUNTS)


def named(what: str, given: str | _Part, known: dict[str, type[_Part]]) -> _Part:
    """A part from its name, or unchanged."""
    if isinstance(given, str):
        if given not in known:
            raise ValueError(f"{what} is {given!r}, expected one of {', '.join(known)}")
        return known[given]()
    if not isinstance(given, tuple(known.values())):
        names = ", ".join(model.__name__ for model in known.values())
        raise ValueError(f"{what} is {given!r}, expected a name or one of {names}")
    return given


def numbers(values: ArrayLike | Sequence[float]) -> tuple[float, ...]:
    """An immutable list of numbers."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1 or array.size == 0:
        raise ValueError(f"expected a list of numbers, got {values!r}")
    return tuple(array.tolist())
