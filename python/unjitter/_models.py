"""Count models and noise models: small objects with a name and values.

A value that is given is held; a value that is not (None) is learned. Bare inference needs all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import ArrayLike


@dataclass(frozen=True)
class _Model:
    """What counts and noise share: a kind, settings, and values of parameter blocks."""

    kind: ClassVar[str]

    def settings(self) -> dict[str, Any]:
        """The model as it stands in a model file."""
        return {"kind": self.kind}

    def values(self) -> dict[str, list[float]]:
        """Natural values of the parameter blocks that are given."""
        given = {field.name: getattr(self, field.name) for field in fields(self)}
        return {
            name: [float(entry) for entry in np.atleast_1d(value)]
            for name, value in given.items()
            if value is not None
        }


@dataclass(frozen=True)
class _Rates(_Model):
    """A count model whose only parameters are its two rates."""

    false_rate: float | None = None
    hit_rate: float | None = None


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
    """Independent stamps, as many as a Poisson variable says.

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
class Categorical(_Model):
    """Any distribution over 0, 1, ..., C stamps.

    Parameters
    ----------
    table : array-like of shape (2, C + 1), optional
        P(count | label): the first row is that of negative instances. Learned by default.
    max_count : int, optional
        C, where the table is to be learned; 2 by default.

    Examples
    --------
    >>> from unjitter import Categorical
    >>> Categorical([[0.98, 0.015, 0.005], [0.1, 0.7, 0.2]]).max_count
    2
    """

    table: Any = None
    max_count: int | None = None
    kind: ClassVar[str] = "categorical"

    def __post_init__(self) -> None:
        if self.table is None:
            object.__setattr__(self, "max_count", 2 if self.max_count is None else self.max_count)
            return
        table = np.asarray(self.table, dtype=np.float64)
        if table.ndim != 2 or table.shape[0] != 2 or table.shape[1] < 2:
            raise ValueError(f"table has shape {table.shape}, expected (2, C + 1) with C >= 1")
        # Tables typed by hand are rounded; anything further off is a mistake.
        if np.any(table < 0.0) or np.any(np.abs(table.sum(axis=1) - 1.0) > 1e-6):
            raise ValueError("each row of table must be probabilities that sum to 1")
        if self.max_count is not None and self.max_count != table.shape[1] - 1:
            raise ValueError(
                f"max_count is {self.max_count} but table has counts to {table.shape[1] - 1}"
            )
        object.__setattr__(self, "table", tuple(map(tuple, table.tolist())))
        object.__setattr__(self, "max_count", table.shape[1] - 1)

    def settings(self) -> dict[str, Any]:
        return {"kind": self.kind, "max_count": self.max_count}

    def values(self) -> dict[str, list[float]]:
        if self.table is None:
            return {}
        values: dict[str, list[float]] = {}
        for name, row in zip(("false", "hit"), self.table):
            some = sum(row[1:])
            values[f"{name}_rate"] = [some]
            # Of an instance that never gives a stamp, no split matters.
            values[f"{name}_split"] = [
                p / some if some > 0.0 else 1.0 / (len(row) - 1) for p in row[1:]
            ]
        return values


@dataclass(frozen=True)
class Gaussian(_Model):
    """Normal delays.

    Parameters
    ----------
    delay : float, optional
        Mean of stamp - instance time; positive is late.
    spread : float, optional
        Standard deviation.
    """

    delay: float | None = None
    spread: float | None = None
    kind: ClassVar[str] = "gaussian"


@dataclass(frozen=True)
class Laplace(_Model):
    """Double-exponential delays: a sharper peak and longer tails than the normal.

    Parameters
    ----------
    delay : float, optional
        Mean of stamp - instance time.
    spread : float, optional
        Standard deviation.
    """

    delay: float | None = None
    spread: float | None = None
    kind: ClassVar[str] = "laplace"


@dataclass(frozen=True)
class StudentT(_Model):
    """Heavy-tailed delays: most presses are good, some are far off.

    Parameters
    ----------
    delay : float, optional
        Centre of stamp - instance time.
    scale : float, optional
        Scale.
    degrees_of_freedom : float, optional
        Small is heavy-tailed.
    """

    delay: float | None = None
    scale: float | None = None
    degrees_of_freedom: float | None = None
    kind: ClassVar[str] = "student_t"


@dataclass(frozen=True)
class ShiftedGamma(_Model):
    """Delays that are never less than a shift: a press cannot come before its event.

    Parameters
    ----------
    shift : float, optional
        The least delay.
    shape : float, optional
        Shape, at least 1.
    spread : float, optional
        Standard deviation.
    """

    shift: float | None = None
    shape: float | None = None
    spread: float | None = None
    kind: ClassVar[str] = "shifted_gamma"


@dataclass(frozen=True)
class Uniform(_Model):
    """Any delay in an interval, all equally likely; nothing is learned.

    Parameters
    ----------
    earliest, latest : float
        The interval of stamp - instance time.
    """

    earliest: float
    latest: float
    kind: ClassVar[str] = "uniform"

    def settings(self) -> dict[str, Any]:
        return {"kind": self.kind, "earliest": float(self.earliest), "latest": float(self.latest)}

    def values(self) -> dict[str, list[float]]:
        return {}


@dataclass(frozen=True)
class GaussianMixture(_Model):
    """A mixture of normals.

    Parameters
    ----------
    weights, delays, spreads : array-like of shape (n_components,), optional
        Shares, means and standard deviations of the components.
    components : int, optional
        Their number, where nothing else tells; 2 by default.
    """

    weights: Any = None
    delays: Any = None
    spreads: Any = None
    components: int | None = None
    kind: ClassVar[str] = "gaussian_mixture"

    def __post_init__(self) -> None:
        lengths = set() if self.components is None else {int(self.components)}
        for name in ("weights", "delays", "spreads"):
            if getattr(self, name) is not None:
                values = _tuple(getattr(self, name))
                object.__setattr__(self, name, values)
                lengths.add(len(values))
        if len(lengths) > 1:
            raise ValueError(
                "weights, delays, spreads and components must agree on the number of components, "
                f"got {sorted(lengths)}"
            )
        object.__setattr__(self, "components", lengths.pop() if lengths else 2)

    def settings(self) -> dict[str, Any]:
        return {"kind": self.kind, "components": self.components}

    def values(self) -> dict[str, list[float]]:
        given = super().values()
        del given["components"]
        return given


Counts = Bernoulli | Categorical | Poisson | Geometric
Noise = Gaussian | GaussianMixture | Laplace | StudentT | ShiftedGamma | Uniform

COUNTS: dict[str, type[Counts]] = {
    model.kind: model for model in (Bernoulli, Categorical, Poisson, Geometric)
}
NOISE: dict[str, type[Noise]] = {
    model.kind: model
    for model in (Gaussian, GaussianMixture, Laplace, StudentT, ShiftedGamma, Uniform)
}

_Part = TypeVar("_Part")


def counts_model(counts: str | Counts) -> Counts:
    """A count model by name, or as it is."""
    return _named("counts", counts, COUNTS)


def noise_model(noise: str | Noise) -> Noise:
    """A noise model by name, or as it is."""
    if noise == Uniform.kind:
        raise ValueError("uniform noise needs its interval: noise=Uniform(earliest, latest)")
    return _named("noise", noise, NOISE)


def _named(what: str, given: str | _Part, known: dict[str, type[_Part]]) -> _Part:
    if isinstance(given, str):
        if given not in known:
            raise ValueError(f"{what} is {given!r}, expected one of {', '.join(known)}")
        return known[given]()
    if not isinstance(given, tuple(known.values())):
        names = ", ".join(model.__name__ for model in known.values())
        raise ValueError(f"{what} is {given!r}, expected a name or one of {names}")
    return given


def _tuple(values: ArrayLike | Sequence[float]) -> tuple[float, ...]:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1 or array.size == 0:
        raise ValueError(f"expected a list of numbers, got {values!r}")
    return tuple(array.tolist())
