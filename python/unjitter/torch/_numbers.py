"""Converts times, stamps and logits to arrays of doubles, or refuses them in plain words."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

_Floats = NDArray[np.float64]

_EXPECTED = {
    "logits": "a tensor of log-odds, or a list with one for each sequence",
    "times": "the time of each instance",
    "events": "the stamps, or a list with those of each sequence, which may be empty",
}


def refuse_none(**given: Any) -> None:
    """Refuses a missing argument."""
    for what, values in given.items():
        if values is None:
            raise ValueError(f"{what} are None, expected {_EXPECTED[what]}")


def check_dense(what: str, tensor: Tensor) -> None:
    """Refuses tensors that are not a plain table of numbers."""
    if tensor.is_nested:
        raise ValueError(f"{what} are a nested tensor, expected a list of them: tensor.unbind()")
    if tensor.layout != torch.strided:
        raise ValueError(
            f"{what} are a sparse tensor ({tensor.layout}), expected a dense one: tensor.to_dense()"
        )


def bare(tensor: Tensor) -> NDArray[Any]:
    """The numbers of a tensor on the CPU."""
    try:
        return tensor.detach().numpy()
    except RuntimeError as error:
        # Inside a transform a tensor stands for many, or for a derivative, and has no numbers.
        raise NotImplementedError(
            "ImpreciseLabelLoss cannot be transformed by torch.func (vmap, grad, jacrev and their "
            "like): give it a batch of shape (batch, instances), and call backward"
        ) from error


def numbers(what: str, values: Any) -> _Floats:
    """An array of doubles: that of the caller, if it is one."""
    if isinstance(values, Tensor):
        check_dense(what, values)
        if values.requires_grad:
            raise ValueError(f"{what} require a gradient, but they are data: detach them")
        # NumPy has no bfloat16.
        values = bare(values.cpu().double() if values.is_floating_point() else values.cpu())
    try:
        given = np.asarray(values)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{what} are no array of numbers: {error}") from error
    if given.dtype.kind not in "fiu":
        kind = repr(values) if given.ndim == 0 else given.dtype
        hint = ": of dates, take the seconds from a start" if given.dtype.kind in "mM" else ""
        raise ValueError(f"{what} are {kind}, expected numbers{hint}")
    return np.asarray(given, dtype=np.float64)


def whole_numbers(what: str, lengths: ArrayLike | Tensor | None, rows: int, most: int) -> list[int]:
    """Lengths of the rows of a table; the whole row if they are not given."""
    if lengths is None:
        return [most] * rows
    values = np.asarray(lengths.cpu() if isinstance(lengths, Tensor) else lengths)
    if values.shape != (rows,) or values.dtype.kind not in "iu":
        raise ValueError(f"{what} must be {rows} whole numbers, one per sequence")
    if np.any(values < 0) or np.any(values > most):
        raise ValueError(f"{what} are {values.tolist()}, expected numbers from 0 to {most}")
    return [int(value) for value in values]


def resolution(values: Any) -> tuple[float, str]:
    """The relative step of the coarsest numbers among those given, and their type."""
    if isinstance(values, Mapping):
        return max(map(resolution, values.values()), default=(0.0, ""))
    if isinstance(values, (list, tuple)) and len(values) > 0:
        # Of a list of plain numbers, the first tells for all.
        return max(map(resolution, values if hasattr(values[0], "__len__") else values[:1]))
    dtype = getattr(values, "dtype", None)
    if isinstance(dtype, torch.dtype) and dtype.is_floating_point:
        return torch.finfo(dtype).eps, str(dtype).removeprefix("torch.")
    if isinstance(dtype, np.dtype) and dtype.kind == "f":
        return float(np.finfo(dtype).eps), str(dtype)
    return 0.0, ""


def flat_numbers(what: str, values: Any) -> tuple[_Floats, tuple[float, str]]:
    """All numbers of a batch, with their resolution."""
    each = values if isinstance(values, (list, tuple)) else [values]
    flat = [numbers(what, own).ravel() for own in each]
    return np.concatenate([np.zeros(0), *flat]), resolution(values)


def check_resolution(what: str, values: _Floats, given: tuple[float, str], spread: float) -> None:
    """Refuses times or stamps that lost the digits that separate stamps from instances before they
    came here: seconds since 1970 in single precision are multiples of 128."""
    epsilon, dtype = given
    if epsilon <= np.finfo(np.float64).eps:
        return
    largest = float(np.abs(values).max(initial=0.0))
    if not 0.0 < largest < math.inf:
        return
    step = epsilon * 2.0 ** (math.frexp(largest)[1] - 1)
    if step > spread:
        raise ValueError(
            f"{what} are {dtype}, whose numbers are {step:.3g} apart at {largest:.6g}, and the "
            f"spread is {spread:.3g}: subtract the start of the recording before they become "
            f"{dtype}, or give float64"
        )
