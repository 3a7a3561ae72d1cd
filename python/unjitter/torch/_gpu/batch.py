"""Sequences of a batch in any form as flat tensors on the GPU. Nothing is read back from there."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from .._batch import check_floating, padded_rows
from .._numbers import check_dense, numbers, refuse_none, whole_numbers


@dataclass(frozen=True)
class DeviceBatch:
    """What the operator takes. Sequences are rows of a table, or follow each other at offsets."""

    log_odds: Tensor
    times: Tensor
    stamps: Tensor
    lengths: Tensor | None
    event_lengths: Tensor | None
    offsets: Tensor | None
    event_offsets: Tensor | None
    size: int
    instances: int
    most_stamps: int
    time_stride: int
    is_single: bool

    @classmethod
    def of(
        cls,
        logits: Tensor | Sequence[Tensor],
        times: Any,
        events: Any,
        lengths: ArrayLike | Tensor | None,
        event_lengths: ArrayLike | Tensor | None,
    ) -> DeviceBatch:
        refuse_none(logits=logits, times=times, events=events)
        is_single = isinstance(logits, Tensor) and logits.ndim == 1
        if isinstance(logits, Tensor) and is_single:
            if lengths is not None or event_lengths is not None:
                raise ValueError("lengths and event_lengths are for a padded batch")
            logits, times, events = [logits], [times], [events]
        if isinstance(logits, Tensor):
            own = _padded(logits, times, lengths)
        else:
            if lengths is not None:
                raise ValueError("lengths is for a padded batch; a list tells them by itself")
            own = _listed(logits, times)
        device, size = own["log_odds"].device, own["size"]
        return cls(**own, **_stamps(events, event_lengths, size, device), is_single=is_single)


def _padded(logits: Tensor, times: Any, lengths: ArrayLike | Tensor | None) -> dict[str, Any]:
    check_dense("logits", logits)
    check_floating(logits)
    size, instances = padded_rows(logits)
    if size == 0:
        raise ValueError("the batch has no sequences")
    device = logits.device
    if isinstance(times, (list, tuple)) and len(times) > 0 and np.ndim(times[0]) > 0:
        times = _filled_up(times, size, instances, lengths, device)
    table = _doubles("times", times, device)
    if table.shape not in ((size, instances), (instances,)):
        raise ValueError(
            f"times have shape {tuple(table.shape)}, expected that of the logits, "
            f"{(size, instances)}, or {(instances,)} for times that all sequences share"
        )
    return {
        "log_odds": _single(logits).reshape(-1),
        "times": table,
        "lengths": _lengths("lengths", lengths, size, instances, device),
        "offsets": None,
        "size": size,
        "instances": instances,
        "time_stride": instances if table.ndim == 2 else 0,
    }


def _filled_up(
    times: Sequence[Any],
    size: int,
    instances: int,
    lengths: ArrayLike | Tensor | None,
    device: torch.device,
) -> Tensor:
    """A list of times as a table. Lengths that are on the GPU are not compared: a row that is too
    short for them ends in NaN, and so does its sequence."""
    rows = [_doubles(f"times of sequence {k}", own, device) for k, own in enumerate(times)]
    if len(rows) != size:
        raise ValueError(f"times of {len(rows)} sequences for {size} of logits")
    is_there = isinstance(lengths, Tensor) and lengths.is_cuda
    expected = None if is_there else whole_numbers("lengths", lengths, size, instances)
    for k, row in enumerate(rows):
        most = instances if expected is None else expected[k]
        if row.ndim != 1 or len(row) > most or (expected is not None and len(row) < most):
            shape = tuple(row.shape)
            raise ValueError(f"sequence {k} has times of shape {shape} for {most} logits")
    padded = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=math.nan)
    return torch.nn.functional.pad(padded, (0, instances - padded.shape[1]), value=math.nan)


def _listed(logits: Sequence[Tensor], times: Any) -> dict[str, Any]:
    if len(logits) == 0:
        raise ValueError("the batch has no sequences")
    for k, own in enumerate(logits):
        if not isinstance(own, Tensor) or own.ndim != 1:
            raise ValueError(f"logits of sequence {k} are not a tensor of one dimension")
        check_dense(f"logits of sequence {k}", own)
        check_floating(own)
    device = logits[0].device
    rows = [_doubles(f"times of sequence {k}", own, device) for k, own in enumerate(times)]
    if len(rows) != len(logits):
        raise ValueError(f"times of {len(rows)} sequences for {len(logits)} of logits")
    for k, (own, row) in enumerate(zip(logits, rows)):
        if row.shape != own.shape:
            shape = tuple(row.shape)
            raise ValueError(f"sequence {k} has times of shape {shape} for {len(own)} logits")
    counts = [len(own) for own in logits]
    return {
        "log_odds": torch.cat([_single(own) for own in logits]),
        "times": torch.cat(rows),
        "lengths": None,
        "offsets": _offsets(counts, device),
        "size": len(counts),
        "instances": max(counts),
        "time_stride": 0,
    }


def _stamps(
    events: Any, event_lengths: ArrayLike | Tensor | None, size: int, device: torch.device
) -> dict[str, Any]:
    """The stamps in order."""
    if event_lengths is None:
        if getattr(events, "ndim", None) == 2:
            raise ValueError(
                "padded events need event_lengths, which say how many stamps of a row are real"
            )
        rows = [_doubles(f"events of sequence {k}", own, device) for k, own in enumerate(events)]
        if len(rows) != size:
            raise ValueError(f"events of {len(rows)} sequences for {size} of logits")
        for k, row in enumerate(rows):
            if row.ndim != 1:
                raise ValueError(
                    f"events of sequence {k} have shape {tuple(row.shape)}, expected one dimension"
                    ": a batch takes a list of events for each sequence"
                )
        counts = [len(row) for row in rows]
        stamps = torch.cat([row.sort().values for row in rows])
        told: dict[str, Any] = {"event_lengths": None, "event_offsets": _offsets(counts, device)}
        return {"stamps": stamps, "most_stamps": max(counts), **told}
    table = _doubles("events", events, device)
    if table.ndim != 2 or len(table) != size:
        raise ValueError(f"events have shape {tuple(table.shape)}, expected ({size}, stamps)")
    most = table.shape[1]
    counted = _lengths("event_lengths", event_lengths, size, most, device)
    assert counted is not None
    is_padding = torch.arange(most, device=device) >= counted[:, None]
    # NaN is sorted behind all numbers: one among the real stamps stays among them.
    stamps = table.masked_fill(is_padding, math.nan).sort(dim=1).values
    told = {"event_lengths": counted, "event_offsets": None}
    return {"stamps": stamps, "most_stamps": most, **told}


def _doubles(what: str, values: Any, device: torch.device) -> Tensor:
    if isinstance(values, Tensor) and values.device == device:
        check_dense(what, values)
        if values.requires_grad:
            raise ValueError(f"{what} require a gradient, but they are data: detach them")
        if values.is_complex() or values.dtype == torch.bool:
            raise ValueError(f"{what} are {values.dtype}, expected numbers")
        return values.to(torch.float64).contiguous()
    return _sent(torch.tensor(numbers(what, values)), device)


def _single(logits: Tensor) -> Tensor:
    """At least in single precision."""
    return (logits if logits.dtype == torch.float64 else logits.float()).contiguous()


def _lengths(
    what: str, lengths: ArrayLike | Tensor | None, rows: int, most: int, device: torch.device
) -> Tensor | None:
    if lengths is None:
        return None
    if isinstance(lengths, Tensor) and lengths.device == device:
        if lengths.shape != (rows,) or lengths.is_floating_point():
            raise ValueError(f"{what} must be {rows} whole numbers, one per sequence")
        return lengths.contiguous()
    return _sent(torch.tensor(whole_numbers(what, lengths, rows, most)), device)


def _offsets(counts: list[int], device: torch.device) -> Tensor:
    return _sent(torch.tensor([0, *np.cumsum(counts).tolist()]), device)


def _sent(values: Tensor, device: torch.device) -> Tensor:
    """On the GPU in due course: memory that is pinned is copied without waiting."""
    if device.type == "cuda":
        values = values.pin_memory()
    return values.to(device, non_blocking=True)
