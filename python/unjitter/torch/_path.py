"""Where a loss is computed: by the kernels, or by the compiled core on the CPU."""

from __future__ import annotations

import importlib.util
import os
import sys
import warnings
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ._groups import several
from ._stamps import are_by_annotator, are_intervals

# Kinds of devices with kernels. (Triton's interpreter runs them on the CPU, for tests.)
DEVICES = {"cuda"}
COUNTS = {"bernoulli", "poisson"}
NOISES = {"gaussian", "gaussian_mixture"}
HAS_TRITON = importlib.util.find_spec("triton") is not None
# Where the frames between a caller and a warning are.
_INSIDE = tuple(f"{Path(own).parent}{os.sep}" for own in (__file__, torch.__file__))


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
    plain = without_names(events, is_single)
    if are_by_annotator(plain) or several(groups) or not _are_of_one(annotators):
        return "there is no kernel for several annotators"
    if are_intervals(plain, is_single):
        return "there is no kernel for stamps in intervals"
    return None


def without_names(events: Any, is_single: bool) -> Any:
    """The stamps of one sequence or of a list of them; of one annotator alone without the name,
    since it does not matter whose they are."""
    if is_single:
        return _without_name(events)
    is_listed = isinstance(events, (list, tuple))
    return [_without_name(own) for own in events] if is_listed else events


def _without_name(events: Any) -> Any:
    is_of_one = isinstance(events, Mapping) and len(events) == 1
    return next(iter(events.values())) if is_of_one else events


def _are_of_one(annotators: Any) -> bool:
    """Whether all numbers are zero, or there are none. What is no number the core refuses."""
    if annotators is None:
        return True
    if isinstance(annotators, Tensor):
        return annotators.layout == torch.strided and not bool(annotators.any())
    if isinstance(annotators, (list, tuple)) and any(hasattr(own, "__len__") for own in annotators):
        return all(_are_of_one(own) for own in annotators)
    given = np.asarray(annotators)
    return (given.dtype.kind in "iu" or given.size == 0) and not given.any()


@cache
def warn_once(reason: str) -> None:
    warn(f"ImpreciseLabelLoss is computed on the CPU, though the logits are not there: {reason}")


@torch.compiler.disable  # type: ignore[untyped-decorator]
def warn(message: str) -> None:
    """Warns of the line that called the loss, with whatever lies between."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_INSIDE):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, stacklevel=level)
