"""Classifiers, from features to a probability: small objects, like counts and noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar

from ._check import whole


@dataclass(frozen=True)
class Logistic:
    """Logistic regression on standardised features."""

    kind: ClassVar[str] = "logistic"

    def settings(self) -> dict[str, Any]:
        """The classifier as in a model file."""
        return {"kind": self.kind}


@dataclass(frozen=True)
class Kernel:
    """Logistic regression on radial-basis functions around training instances.

    Parameters
    ----------
    length_scale : float, optional
        Distance over which an instance has influence, in standard deviations of a feature. By
        default the square root of the number of features that vary.
    landmarks : int, optional
        Number of training instances that serve as landmarks; all of them by default, which is
        exact, and slow beyond some thousands.
    """

    length_scale: float | None = None
    landmarks: int | None = None
    kind: ClassVar[str] = "kernel"

    def settings(self) -> dict[str, Any]:
        """The classifier as in a model file."""
        return {
            "kind": self.kind,
            "length_scale": None if self.length_scale is None else float(self.length_scale),
            "landmarks": None if self.landmarks is None else whole("landmarks", self.landmarks),
        }


@dataclass(frozen=True)
class Mlp:
    """A multilayer perceptron on standardised features.

    Parameters
    ----------
    hidden : int or sequence of int
        Units of each hidden layer, the first one next to the features.
    activation : {"tanh", "relu"}
        The activation function of hidden units.
    """

    hidden: int | Sequence[int] = (16,)
    activation: str = "tanh"
    kind: ClassVar[str] = "mlp"

    def __post_init__(self) -> None:
        units: Any = [self.hidden] if isinstance(self.hidden, Integral) else self.hidden
        object.__setattr__(self, "hidden", tuple(whole("hidden", count) for count in units))
        if self.activation not in ("tanh", "relu"):
            raise ValueError(f"activation is {self.activation!r}, expected one of tanh, relu")

    def settings(self) -> dict[str, Any]:
        """The classifier as in a model file."""
        return {"kind": self.kind, "hidden": self.hidden, "activation": self.activation}


Classifier = Logistic | Kernel | Mlp

CLASSIFIERS: dict[str, type[Classifier]] = {
    classifier.kind: classifier for classifier in (Logistic, Kernel, Mlp)
}


def classifier_model(classifier: str | Classifier) -> Classifier:
    """A classifier from its name, or unchanged."""
    if isinstance(classifier, str):
        if classifier not in CLASSIFIERS:
            expected = ", ".join(CLASSIFIERS)
            raise ValueError(f"classifier is {classifier!r}, expected one of {expected}")
        return CLASSIFIERS[classifier]()
    if not isinstance(classifier, tuple(CLASSIFIERS.values())):
        names = ", ".join(model.__name__ for model in CLASSIFIERS.values())
        raise ValueError(f"classifier is {classifier!r}, expected a name or one of {names}")
    return classifier
