"""The kernels as operators of PyTorch, so that autograd, torch.compile and CUDA graphs know them.

One pass gives the log evidence and all its derivatives; backward only scales them.
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
CELLS_PER_WARP = 128
# Segments of a sequence that messages are sent in at the same time, and the least stamps of each.
SEGMENTS = 8
STAMPS_PER_SEGMENT = 16
# Messages that move D by less, relatively, have settled.
TOLERANCE = 1.5e-7
ROUNDS = 300


@torch.library.custom_op(
    "unjitter::log_evidence",
    mutates_args=(),
    schema="(Tensor log_odds, Tensor params, Tensor times, Tensor stamps, Tensor? lengths, "
    "Tensor? event_lengths, Tensor? offsets, Tensor? event_offsets, int batch, int instances, "
    "int most_stamps, int time_stride, bool is_ordered, bool is_poisson, int components, "
    "float time_unit, int room) -> (Tensor, Tensor, Tensor)",
)
def log_evidence(
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
    is_captured = log_odds.is_cuda and torch.cuda.is_current_stream_capturing()
    if not is_captured:
        own.listen()
    bounds = (lengths, event_lengths, offsets, event_offsets)
    given = (log_odds, params, times, stamps, bounds, batch, instances, most_stamps, time_stride)
    kind = (is_ordered, is_poisson, components, time_unit)
    if own.size == 0:
        if is_captured:
            raise RuntimeError("call the loss once before its CUDA graph is captured")
        # Windows in too little room are still found and measured.
        _, status = _launch(given, kind, LEAST)
        own.fit(int(status[0]))
    found, status = _launch(given, kind, own.size)
    if not is_captured:
        own.tell(status)
    return found


@log_evidence.register_fake
def _(log_odds: Tensor, params: Tensor, *given: Any) -> tuple[Tensor, Tensor, Tensor]:
    batch = given[6]
    values = log_odds.new_empty(batch, dtype=torch.float64)
    d_params = log_odds.new_empty((batch, params.shape[0]), dtype=torch.float64)
    return values, torch.empty_like(log_odds), d_params


@torch.library.custom_op(
    "unjitter::pull_back",
    mutates_args=(),
    schema="(Tensor d_values, Tensor log_odds, Tensor params, Tensor d_log_odds, Tensor d_params, "
    "Tensor? offsets) -> (Tensor, Tensor)",
)
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


@pull_back.register_fake
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
    return *pull_back(d_values, *ctx.saved_tensors), *nothing


def _refuse(ctx: Any, *_: Any) -> None:
    raise NotImplementedError(
        "ImpreciseLabelLoss has no second derivatives: do not differentiate its gradient "
        "(create_graph=True, torch.autograd.functional.hessian)"
    )


log_evidence.register_autograd(_backward, setup_context=_keep)
pull_back.register_autograd(_refuse)


def _launch(
    given: tuple[Any, ...], kind: tuple[Any, ...], room: int
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
    weights, totals = made(all_instances), made(all_stamps)
    emitted = made(all_instances * (4 if is_poisson else 1))
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
    sizes = (instances, time_stride, most_stamps, instances.bit_length(), room)
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
    if is_ordered:
        cells = made((2 * batch if is_poisson else all_stamps) * room)
        logs = made(2 * all_stamps * room if is_poisson else 1, dtype=torch.float32)
        running = made(2 * all_instances if is_poisson else 1)
        scratch = (cells, logs, totals, made(all_stamps), firsts, ends, weights, running, emitted)
        ordered_kernel[(batch,)](*common, *scratch, *sizes, **options)
    else:
        cells = made(all_stamps * room, dtype=torch.float32)
        running = made(all_instances) if is_poisson else emitted
        segments = _segments(most_stamps)
        carried = made(batch * 2 * segments * lanes)
        kept = (cells, totals, carried, firsts, ends, weights, running, emitted)
        options |= {"TOLERANCE": TOLERANCE, "S": segments, "num_warps": _warps(segments * width)}
        free_kernel[(batch,)](*common, *kept, *sizes, ROUNDS, **options)
    return (values, d_log_odds, d_params), status


def _segments(most_stamps: int) -> int:
    wanted = max(1, most_stamps // STAMPS_PER_SEGMENT)
    return min(SEGMENTS, 1 << (wanted.bit_length() - 1))


def _warps(cells: int) -> int:
    return min(8, max(1, cells // CELLS_PER_WARP))
