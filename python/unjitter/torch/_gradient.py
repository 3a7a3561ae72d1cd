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
        d_log_odds = np.repeat(scales, known.lengths) * known.d_log_odds
        return torch.from_numpy(d_params), *in_place(d_log_odds, logits, known.lengths)

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


def in_place(flat: _Floats, logits: Sequence[Tensor], lengths: list[int]) -> list[Tensor]:
    """Numbers of all sequences in the form of their logits; zero where these are padding."""
    if len(logits) == 1 and logits[0].ndim == 2:
        table = np.zeros(tuple(logits[0].shape))
        table[is_real(lengths, table.shape[1])] = flat
        return [_as(table, logits[0])]
    pieces = np.split(flat, np.cumsum(lengths)[:-1]) if logits else []
    return [_as(own, like) for own, like in zip(pieces, logits)]


def _as(values: _Floats, like: Tensor) -> Tensor:
    single = values if like.dtype == torch.float64 else values.astype(np.float32)
    return torch.from_numpy(single).to(like.device, like.dtype)
