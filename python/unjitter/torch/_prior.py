"""The log prior of an annotator for whom there are kernels, by PyTorch where the parameters are.

The core computes it on the CPU: for parameters on a GPU each step of an optimiser would wait for
them. These are the same densities of natural values as functions of unconstrained numbers, section
11 of docs/model.md, for counts, noise and background alone. A sum of some twenty numbers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

# What the core takes where priors leave it to the data, of which a loss sees little.
_SILENCE = {"a": 5.0, "b": 1.0}
_BACKGROUND = {"shape": 20.0, "rate": 190.0}


def log_prior(parameters: Mapping[str, Tensor], priors: Mapping[str, Any]) -> Tensor:
    """The log density of those that are learned. Priors are those of a model file."""
    total: Tensor | None = None
    for name, unconstrained in parameters.items():
        if unconstrained.requires_grad and unconstrained.numel() > 0:
            own = _log_density(name, unconstrained.double(), priors)
            total = own if total is None else total + own
    if total is None:
        return next(iter(parameters.values())).new_zeros((), dtype=torch.float64)
    return total


def _log_density(name: str, x: Tensor, priors: Mapping[str, Any]) -> Tensor:
    if name == "hit_rate":
        return _beta(x, **priors["hit_rate"])
    if name == "false_rate":
        return _beta(-x, **(priors["silence"] or _SILENCE))
    if name in ("delay", "delays"):
        if priors["delay"] is not None:
            return _normal(x, **priors["delay"])
        return _cauchy(x, 1.0 if priors["delay_width"] is None else priors["delay_width"])
    if name in ("spread", "spreads"):
        return _inverse_gamma_of_square(x, **priors["variance"])
    if name == "weights":
        return _dirichlet(x, priors["mixture_weight"])
    if name == "background_rate":
        return _gamma(x, **(priors["background"] or _BACKGROUND))
    raise AssertionError(f"no prior of {name} here")


def _beta(x: Tensor, a: float, b: float) -> Tensor:
    """Of sigmoid(x)."""
    constant = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    return ((a - 1.0) * logsigmoid(x) + (b - 1.0) * logsigmoid(-x)).sum() + constant


def _normal(x: Tensor, mean: float, sd: float) -> Tensor:
    constant = -math.log(sd) - 0.5 * math.log(2.0 * math.pi)
    return (constant - 0.5 * ((x - mean) / sd).square()).sum()


def _cauchy(x: Tensor, width: float) -> Tensor:
    return -torch.log(math.pi * width * (1.0 + (x / width).square())).sum()


def _inverse_gamma_of_square(x: Tensor, shape: float, scale: float) -> Tensor:
    """Of v = e²ˣ."""
    constant = shape * math.log(scale) - math.lgamma(shape)
    return (constant - 2.0 * (shape + 1.0) * x - scale * torch.exp(-2.0 * x)).sum()


def _gamma(x: Tensor, shape: float, rate: float) -> Tensor:
    """Of v = eˣ."""
    constant = shape * math.log(rate) - math.lgamma(shape)
    return (constant + (shape - 1.0) * x - rate * torch.exp(x)).sum()


def _dirichlet(logits: Tensor, concentration: float) -> Tensor:
    """Of softmax(logits, 0), the same for all weights."""
    log_weights = torch.log_softmax(torch.nn.functional.pad(logits, (0, 1)), dim=0)
    count = len(logits) + 1
    constant = math.lgamma(count * concentration) - count * math.lgamma(concentration)
    return (concentration - 1.0) * log_weights.sum() + constant
