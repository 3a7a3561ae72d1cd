"""The kernels as PyTorch knows them: one function for autograd, and operators for compiled code.

One pass gives the log evidence and all its derivatives; backward only scales them. Operators check
so much of their arguments that this takes longer than the kernel of a small batch, so that code
which is not compiled goes past them.
"""

from __future__ import annotations

import math
from typing import Any

import torch
import triton  # type: ignore[import-untyped]
from torch import Tensor

from .free import free_kernel
from .ordered import ordered_kernel
from .room import LEAST, Room

# Instances, or stamps, that are handled at once where no window is needed.
CHUNK = 256
# Cells of a window that one warp takes.
CELLS_PER_WARP = 64
# Cells that speak at the same time.
TILE = 1024
# Messages that move D by less, relatively, have settled.
TOLERANCE = 1.5e-7
ROUNDS = 1000
# Windows of any width keep what they have room for.
NO_LIMIT = 2**31 - 1


def log_evidence(*given: Any) -> Tensor:
    """Of each sequence; the arguments are those of `evidence_and_derivatives`."""
    if torch.compiler.is_compiling():
        values: Tensor = _evidence_operator(*given)[0]
        return values
    eager: Tensor = _Eager.apply(*given)  # type: ignore[no-untyped-call]
    return eager


def evidence_and_derivatives(
    log_odds: Tensor,
    params: Tensor,
    times: Tensor,
    stamps: Tensor,
    lengths: Tensor | None,
    event_lengths: Tensor | None,
    offsets: Tensor | None,
    event_offsets: Tensor | None,
    batch: int,
    instances: int,
    most_stamps: int,
    time_stride: int,
    is_ordered: bool,
    is_poisson: bool,
    components: int,
    time_unit: float,
    room: int,
) -> tuple[Tensor, Tensor, Tensor]:
    """Log evidence of each sequence, and its derivatives in log-odds and by sequence in parameters.

    Lengths are those of padded sequences and of their stamps, offsets where listed ones begin; None
    where they do not apply, or where all sequences are as long.
    """
    own = Room.of(room)
    is_captured = _is_captured(log_odds)
    if not is_captured:
        own.listen()
    bounds = (lengths, event_lengths, offsets, event_offsets)
    given = (log_odds, params, times, stamps, bounds, batch, instances, most_stamps, time_stride)
    kind = (is_ordered, is_poisson, components, time_unit)
    if own.size == 0:
        if is_captured:
            raise RuntimeError("call the loss once before its CUDA graph is captured")
        # Windows in too little room are still found and measured.
        _, status = _launch(given, kind, LEAST, NO_LIMIT)
        own.fit(int(status[0]))
    # The room of a graph stays what it is: nobody hears of windows that outgrow it.
    found, status = _launch(given, kind, own.size, own.size if is_captured else NO_LIMIT)
    if not is_captured:
        own.tell(status)
    return found


def _is_captured(tensor: Tensor) -> bool:
    return tensor.is_cuda and torch.cuda.is_current_stream_capturing()


_evidence_operator = torch.library.custom_op(
    "unjitter::log_evidence",
    evidence_and_derivatives,
    mutates_args=(),
    schema="(Tensor log_odds, Tensor params, Tensor times, Tensor stamps, Tensor? lengths, "
    "Tensor? event_lengths, Tensor? offsets, Tensor? event_offsets, int batch, int instances, "
    "int most_stamps, int time_stride, bool is_ordered, bool is_poisson, int components, "
    "float time_unit, int room) -> (Tensor, Tensor, Tensor)",
)


@_evidence_operator.register_fake
def _(log_odds: Tensor, params: Tensor, *given: Any) -> tuple[Tensor, Tensor, Tensor]:
    batch = given[6]
    values = log_odds.new_empty(batch, dtype=torch.float64)
    d_params = log_odds.new_empty((batch, params.shape[0]), dtype=torch.float64)
    return values, torch.empty_like(log_odds), d_params


def pull_back(
    d_values: Tensor,
    log_odds: Tensor,
    params: Tensor,
    d_log_odds: Tensor,
    d_params: Tensor,
    offsets: Tensor | None,
) -> tuple[Tensor, Tensor]:
    """The derivatives, scaled by those of the values. Also a function of log-odds and parameters,
    so that a second differentiation fails instead of giving zero."""
    by_row = d_values.to(d_log_odds.dtype)
    if offsets is None:
        table = d_log_odds.view(len(by_row), len(d_log_odds) // len(by_row))
        d_given = (by_row[:, None] * table).view(-1)
    else:
        each = torch.arange(len(d_log_odds), device=offsets.device)
        owners = torch.searchsorted(offsets[1:], each, right=True)
        d_given = by_row[owners] * d_log_odds
    return d_given, (d_values[:, None] * d_params).sum(0).to(params.dtype)


_pull_back_operator = torch.library.custom_op(
    "unjitter::pull_back",
    pull_back,
    mutates_args=(),
    schema="(Tensor d_values, Tensor log_odds, Tensor params, Tensor d_log_odds, Tensor d_params, "
    "Tensor? offsets) -> (Tensor, Tensor)",
)


@_pull_back_operator.register_fake
def _(
    d_values: Tensor,
    log_odds: Tensor,
    params: Tensor,
    d_log_odds: Tensor,
    d_params: Tensor,
    offsets: Tensor | None,
) -> tuple[Tensor, Tensor]:
    return torch.empty_like(log_odds), torch.empty_like(params)


def _keep(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, ...]) -> None:
    ctx.set_materialize_grads(False)
    ctx.save_for_backward(inputs[0], inputs[1], output[1], output[2], inputs[6])


def _backward(ctx: Any, d_values: Tensor | None, *_: Any) -> tuple[Any, ...]:
    nothing = (None,) * 15
    if d_values is None:
        return None, None, *nothing
    # Only the operator knows that it cannot be differentiated.
    is_eager = not (torch.is_grad_enabled() or torch.compiler.is_compiling())
    scaled = pull_back if is_eager else _pull_back_operator
    return *scaled(d_values, *ctx.saved_tensors), *nothing


class _Eager(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, *given: Any) -> Tensor:
        found = evidence_and_derivatives(*given)
        _keep(ctx, given, found)
        return found[0]

    backward = staticmethod(_backward)


def _refuse(ctx: Any, *_: Any) -> None:
    raise NotImplementedError(
        "ImpreciseLabelLoss has no second derivatives: do not differentiate its gradient "
        "(create_graph=True, torch.autograd.functional.hessian)"
    )


_evidence_operator.register_autograd(_backward, setup_context=_keep)
_pull_back_operator.register_autograd(_refuse)


def _launch(
    given: tuple[Any, ...], kind: tuple[Any, ...], room: int, limit: int
) -> tuple[tuple[Tensor, Tensor, Tensor], Tensor]:
    log_odds, params, times, stamps, bounds, batch, instances, most_stamps, time_stride = given
    is_ordered, is_poisson, components, time_unit = kind
    lengths, event_lengths, offsets, event_offsets = bounds

    def made(*shape: int, dtype: torch.dtype = torch.float64) -> Tensor:
        return torch.empty(shape, dtype=dtype, device=log_odds.device)

    values, d_params = made(batch), made(batch, 2 + 3 * components)
    d_log_odds = torch.zeros_like(log_odds)
    status = torch.zeros(3, dtype=torch.int32, device=log_odds.device)
    all_stamps, all_instances = max(stamps.numel(), 1), max(log_odds.numel(), 1)
    lanes = triton.next_power_of_2(room)
    width = lanes * triton.next_power_of_2(components)
    firsts, ends = made(2, all_stamps, dtype=torch.int32)
    # Sums are in double precision, and what is kept between them in that of the log-odds.
    kept = log_odds.dtype
    weights, totals = made(all_instances, dtype=kept), made(all_stamps)
    common = (
        log_odds,
        params.to(torch.float64),
        times,
        stamps,
        *(status if bound is None else bound for bound in bounds),
        values,
        d_log_odds,
        d_params,
        status,
    )
    steps = max(instances, most_stamps).bit_length()
    sizes = (instances, time_stride, most_stamps, steps, room, limit)
    options = {
        "UNIT": time_unit,
        "LOG_UNIT": math.log(time_unit),
        "C": components,
        "CP": width // lanes,
        "K": lanes,
        "POISSON": is_poisson,
        "LISTED": offsets is not None,
        "RAGGED": lengths is not None,
        "EVENTS_LISTED": event_offsets is not None,
        "EVENTS_RAGGED": event_lengths is not None,
        "CHUNK": CHUNK,
        "num_warps": _warps(width),
    }
    if batch == 0:
        return (values, d_log_odds, d_params), status
    cells = made(all_stamps * room, dtype=kept)
    if is_ordered:
        logs = cells
        if is_poisson:
            cells, logs = made(2 * batch * room), made(2 * all_stamps * room, dtype=kept)
        running = made(2 * all_instances if is_poisson else 1)
        # The shares of instances are added up where their gradient will be.
        emitted = log_odds.new_zeros(4 * all_instances) if is_poisson else d_log_odds
        scratch = (cells, logs, totals, made(all_stamps), firsts, ends, weights, running, emitted)
        ordered_kernel[(batch,)](*common, *scratch, *sizes, **options)
    else:
        tile = triton.next_power_of_2(min(most_stamps, max(1, TILE // width)) or 1)
        options |= {"TOLERANCE": TOLERANCE, "S": tile, "num_warps": _warps(tile * width)}
        damped = torch.empty_like(cells) if is_poisson else made(1, dtype=kept)
        own = (cells, damped, totals, firsts, ends, weights)
        free_kernel[(batch,)](*common, *own, *sizes, ROUNDS, **options)
    return (values, d_log_odds, d_params), status


def _warps(cells: int) -> int:
    return min(16, max(1, cells // CELLS_PER_WARP))
