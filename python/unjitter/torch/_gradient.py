"""Values with known derivatives, for autograd.

All arithmetic is NumPy's. PyTorch would distribute it over threads that go on spinning for some
milliseconds, and the core's threads would wait for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

_Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Known:
    """Values (B,), one per sequence, and their derivatives: in all log-odds (N,), and by sequence
    in the parameters (B, P)."""

    values: _Floats
    d_log_odds: _Floats
    d_params: _Floats
    lengths: list[int]


def differentiable(logits: Sequence[Tensor], params: Tensor, known: Known) -> Tensor:
    """The values, as a function of parameters and of logits: a padded table, or one tensor for each
    sequence."""
    value: Tensor = _Value.apply(known, params, *logits)  # type: ignore[no-untyped-call]
    return value


class _Value(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, *given: Any) -> Tensor:
        ctx.known = given[0]
        ctx.save_for_backward(*given[1:])
        return torch.from_numpy(ctx.known.values.copy())

    @staticmethod
    def backward(ctx: Any, *d_values: Tensor) -> Any:
        given = (ctx.known, *d_values, *ctx.saved_tensors)
        return None, *_PulledBack.apply(*given)  # type: ignore[no-untyped-call]


class _PulledBack(torch.autograd.Function):
    """The derivatives, scaled by those of the values. Also a function of log-odds and parameters,
    so that a second differentiation fails instead of giving zero."""

    @staticmethod
    def forward(ctx: Any, *given: Any) -> tuple[Tensor, ...]:
        known, d_values, _, *logits = given
        scales = d_values.detach().numpy()
        d_params = (scales[:, None] * known.d_params).sum(0)
        d_log_odds = in_place(known.d_log_odds, logits, known.lengths, scales)
        return torch.from_numpy(d_params), *d_log_odds

    @staticmethod
    def backward(ctx: Any, *_: Tensor) -> Any:
        raise NotImplementedError(
            "ImpreciseLabelLoss has no second derivatives: do not differentiate its gradient "
            "(create_graph=True, torch.autograd.functional.hessian)"
        )


def is_real(lengths: list[int], most: int) -> NDArray[np.bool_]:
    """Which numbers of a table are no padding."""
    real: NDArray[np.bool_] = np.arange(most) < np.array(lengths)[:, None]
    return real


def only_real(table: _Floats, lengths: list[int]) -> _Floats:
    """The numbers of a table that are no padding, row after row. Masks take longer than the rest of
    a step, and few tables need any."""
    if all(length == table.shape[1] for length in lengths):
        return table.reshape(-1, *table.shape[2:])
    return table[is_real(lengths, table.shape[1])]


def in_place(
    flat: _Floats, logits: Sequence[Tensor], lengths: list[int], scales: _Floats
) -> list[Tensor]:
    """Numbers of all sequences, each times its scale, in the form of their logits; zero where these
    are padding."""
    if len(logits) == 1 and logits[0].ndim == 2:
        rows, most = logits[0].shape
        if all(length == most for length in lengths):
            return [_scaled(flat.reshape(rows, most), scales[:, None], logits[0])]
        table = np.zeros((rows, most))
        table[is_real(lengths, most)] = flat
        return [_scaled(table, scales[:, None], logits[0])]
    pieces = np.split(flat, np.cumsum(lengths)[:-1]) if logits else []
    return [_scaled(*own) for own in zip(pieces, scales, logits)]


def _scaled(values: _Floats, scale: Any, like: Tensor) -> Tensor:
    """Products of doubles, rounded once."""
    dtype = np.float64 if like.dtype == torch.float64 else np.float32
    scaled = np.multiply(values, scale, out=np.empty(values.shape, dtype), casting="same_kind")
    return torch.from_numpy(scaled).to(like.device, like.dtype)
