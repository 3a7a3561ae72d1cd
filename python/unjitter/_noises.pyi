"""The classes of the noise models, for type checkers: `make stubs` writes this."""

from typing import Any

from ._noise import Noise

__all__ = [
    "Gaussian",
    "GaussianMixture",
    "Laplace",
    "ShiftedGamma",
    "StudentT",
    "Uniform",
]

class Gaussian(Noise):
    delay: float | None
    spread: float | None
    def __init__(
        self,
        delay: float | None = None,
        spread: float | None = None,
    ) -> None: ...

class GaussianMixture(Noise):
    weights: Any
    delays: Any
    spreads: Any
    components: int | None
    def __init__(
        self,
        weights: Any = None,
        delays: Any = None,
        spreads: Any = None,
        components: int | None = None,
    ) -> None: ...

class Laplace(Noise):
    delay: float | None
    spread: float | None
    def __init__(
        self,
        delay: float | None = None,
        spread: float | None = None,
    ) -> None: ...

class StudentT(Noise):
    delay: float | None
    scale: float | None
    degrees_of_freedom: float | None
    def __init__(
        self,
        delay: float | None = None,
        scale: float | None = None,
        degrees_of_freedom: float | None = None,
    ) -> None: ...

class ShiftedGamma(Noise):
    shift: float | None
    shape: float | None
    spread: float | None
    def __init__(
        self,
        shift: float | None = None,
        shape: float | None = None,
        spread: float | None = None,
    ) -> None: ...

class Uniform(Noise):
    earliest: float
    latest: float
    def __init__(
        self,
        earliest: float,
        latest: float,
    ) -> None: ...
