"""Priors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Priors:
    """Priors on the annotator's parameters, and on the classifier's constant term.

    The prior on the classifier's weights is the detector's `regularisation`. Delays and spreads
    are measured in the detector's `time_unit`, by default the median spacing of instances.

    Parameters
    ----------
    hit_rate : (a, b)
        Beta prior on P(at least one stamp | positive).
    silence : (a, b), optional
        Beta prior on P(no stamp | negative); by default three in a hundred stamps are false, or
        as the data say.
    delay : (mean, standard deviation), optional
        Normal prior on the delay; by default a Cauchy density about zero.
    delay_width : float, optional
        Width of that Cauchy density; by default a quarter of the usual gap between stamps.
    variance : (shape, scale)
        Inverse-Gamma prior on the squared spread.
    intercept_precision : float
        1 / variance of the normal prior on the classifier's constant term.
    count_split : float
        Dirichlet concentration of the split of counts of at least one (categorical counts).
    mixture_weight : float
        Dirichlet concentration of the weights of a mixture.
    degrees_of_freedom : (shape, rate)
        Gamma prior on the degrees of freedom of Student-t noise.
    shape : (shape, rate)
        Gamma prior on the shape of shifted-Gamma noise, less one.
    background : (shape, rate), optional
        Gamma prior on the stamps per unit of time that come from nowhere; by default one in
        ten stamps, or as the data say.
    onset_rate : (shape, rate), optional
        Gamma prior on the runs that begin per unit of time, with ``labels="chain"``; by default
        about as many as there are stamps.
    offset_rate : (shape, rate), optional
        Gamma prior on the runs that end per unit of time inside of runs; by default they last
        between an instance and the usual gap between stamps.
    """

    hit_rate: tuple[float, float] = (5.0, 1.5)
    silence: tuple[float, float] | None = None
    delay: tuple[float, float] | None = None
    delay_width: float | None = None
    variance: tuple[float, float] = (1.0, 1.0)
    intercept_precision: float = 0.01
    count_split: float = 2.0
    mixture_weight: float = 2.0
    degrees_of_freedom: tuple[float, float] = (2.0, 0.1)
    shape: tuple[float, float] = (2.0, 0.2)
    background: tuple[float, float] | None = None
    onset_rate: tuple[float, float] | None = None
    offset_rate: tuple[float, float] | None = None

    def settings(self, weight_precision: float) -> dict[str, Any]:
        """The priors as in a model file."""
        rates = {"onset_rate": self.onset_rate, "offset_rate": self.offset_rate}
        given = {name: own for name, own in rates.items() if own is not None}
        return {
            "weight_precision": float(weight_precision),
            "intercept_precision": float(self.intercept_precision),
            "hit_rate": _named(self.hit_rate, "a", "b"),
            "silence": None if self.silence is None else _named(self.silence, "a", "b"),
            "count_split": float(self.count_split),
            "delay": None if self.delay is None else _named(self.delay, "mean", "sd"),
            "delay_width": None if self.delay_width is None else float(self.delay_width),
            "variance": _named(self.variance, "shape", "scale"),
            "mixture_weight": float(self.mixture_weight),
            "degrees_of_freedom": _named(self.degrees_of_freedom, "shape", "rate"),
            "shape": _named(self.shape, "shape", "rate"),
            "background": None
            if self.background is None
            else _named(self.background, "shape", "rate"),
            **{name: _named(own, "shape", "rate") for name, own in given.items()},
        }


def _named(values: tuple[float, float], *names: str) -> dict[str, float]:
    if not isinstance(values, Sequence) or len(values) != len(names):
        raise ValueError(f"a prior is {values!r}, expected ({', '.join(names)})")
    return {name: float(value) for name, value in zip(names, values)}
