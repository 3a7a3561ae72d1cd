"""Values with known derivatives, for autograd."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

_Floats = NDArray[np.float64]


def differentiable(
    log_odds: Tensor,
    params: Tensor,
    values: _Floats,
    d_log_odds: _Floats,
    d_params: _Floats,
    lengths: list[int],
) -> Tensor:
    """Values, one per sequence, that know their derivatives."""
    owners = np.repeat(np.arange(len(lengths)), lengths)
    known = (torch.from_numpy(array) for array in (values, d_log_odds, d_params, owners))
    value: Tensor = _Known.apply(log_odds, params, *known)  # type: ignore[no-untyped-call]
    return value


class _Known(torch.autograd.Function):
    """Values (B,) of log-odds (N,) and parameters (P,), whose derivatives are already known."""

    @staticmethod
    def forward(ctx: Any, *given: Tensor) -> Tensor:
        log_odds, params, values, *derivatives = given
        ctx.save_for_backward(log_odds, params, *derivatives)
        return values.clone()

    @staticmethod
    def backward(ctx: Any, *d_values: Tensor) -> Any:
        d_given = _PulledBack.apply(*d_values, *ctx.saved_tensors)  # type: ignore[no-untyped-call]
        return *d_given, None, None, None, None


class _PulledBack(torch.autograd.Function):
    """The derivatives, scaled by those of the values. Also a function of log-odds and parameters,
    so that a second differentiation fails instead of giving zero."""

    @staticmethod
    def forward(ctx: Any, *given: Tensor) -> tuple[Tensor, Tensor]:
        d_values, _, _, d_log_odds, d_params, owners = given
        by_instance = d_values.index_select(0, owners)
        return by_instance * d_log_odds, (d_values[:, None] * d_params).sum(0)

    @staticmethod
    def backward(ctx: Any, *_: Tensor) -> Any:
        raise NotImplementedError(
            "ImpreciseLabelLoss has no second derivatives: do not differentiate its gradient "
            "(create_graph=True, torch.autograd.functional.hessian)"
        )
