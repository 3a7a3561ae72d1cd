"""Where a loss is computed: by the kernels, or by the compiled core on the CPU."""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Sequence
from functools import cache
from typing import Any

import torch
from torch import Tensor

from ._groups import several
from ._stamps import are_by_annotator, are_intervals

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


def is_one(logits: Tensor | Sequence[Tensor]) -> bool:
    """Whether these are the logits of one sequence by itself."""
    return isinstance(logits, Tensor) and logits.ndim == 1


def why_not(counts: str, noise: str, is_inside: bool) -> str | None:
    """Why there is no kernel for these parts, if so."""
    if counts not in COUNTS or noise not in NOISES:
        return f"there is no kernel for {counts} counts with {noise} noise"
    if not is_inside:
        return "kernels need a background, and rates that are neither 0 nor 1"
    if not HAS_TRITON:
        return "Triton is not installed"
    return None


def why_not_labels(labels: str, varies: bool) -> str | None:
    """Why there is no kernel for what labels and groups are, if so."""
    if labels != "independent":
        return "there is no kernel for labels that form a chain"
    return "there is no kernel for numbers that differ between groups" if varies else None


def why_not_stamps(events: Any, is_single: bool, annotators: Any, groups: Any) -> str | None:
    """Why there is no kernel for these stamps, if so."""
    if annotators is not None or are_by_annotator(events) or several(groups):
        return "there is no kernel for several annotators"
    if are_intervals(events, is_single):
        return "there is no kernel for stamps in intervals"
    return None


@cache
def warn_once(reason: str) -> None:
    warnings.warn(
        f"ImpreciseLabelLoss is computed on the CPU, though the logits are not there: {reason}",
        stacklevel=4,
    )
