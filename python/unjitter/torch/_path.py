"""Where a loss is computed: by the kernels, or by the compiled core on the CPU."""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Sequence
from functools import cache
from typing import Any

import torch
from torch import Tensor

# Kinds of devices with kernels. (Triton's interpreter runs them on the CPU, for tests.)
DEVICES = {"cuda"}
COUNTS = {"bernoulli", "poisson"}
NOISES = {"gaussian", "gaussian_mixture"}
HAS_TRITON = importlib.util.find_spec("triton") is not None


def device_of(logits: Tensor | Sequence[Tensor]) -> torch.device | None:
    """The device of the first logits."""
    is_listed = isinstance(logits, (list, tuple)) and len(logits) > 0
    first: Any = logits[0] if is_listed else logits
    return first.device if isinstance(first, Tensor) else None


def why_not(counts: str, noise: str, is_inside: bool) -> str | None:
    """Why there is no kernel for these parts, if so."""
    if counts not in COUNTS or noise not in NOISES:
        return f"there is no kernel for {counts} counts with {noise} noise"
    if not is_inside:
        return "kernels need a background, and rates that are neither 0 nor 1"
    if not HAS_TRITON:
        return "Triton is not installed"
    return None


@cache
def warn_once(reason: str) -> None:
    warnings.warn(
        f"ImpreciseLabelLoss is computed on the CPU, though the logits are not there: {reason}",
        stacklevel=4,
    )
