"""Sequences of a batch, in any form."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from ._numbers import check_dense, check_resolution, numbers, refuse_none, resolution

_Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Batch:
    """Concatenated sequences for the core."""

    log_odds: Tensor
    times: _Floats
    events: _Floats
    instances: list[int]
    stamps: list[int]
    resolutions: tuple[tuple[float, str], tuple[float, str]]
    is_single: bool
    device: torch.device
    dtype: torch.dtype

    @classmethod
    def of(
        cls,
        logits: Tensor | Sequence[Tensor],
        times: Any,
        events: Any,
        lengths: ArrayLike | Tensor | None,
        event_lengths: ArrayLike | Tensor | None,
    ) -> Batch:
        refuse_none(logits=logits, times=times, events=events)
        resolutions = resolution(times), resolution(events)
        if isinstance(logits, Tensor):
            check_dense("logits", logits)
        is_single = isinstance(logits, Tensor) and logits.ndim == 1
        if isinstance(logits, Tensor) and is_single:
            if lengths is not None or event_lengths is not None:
                raise ValueError("lengths and event_lengths are for a padded batch")
            logits, times, events = [logits], [times], [events]
        if isinstance(logits, Tensor):
            rows = _padded_rows(logits, lengths)
            log_odds = _padded_logits(logits, rows)
            times = _padded_times(times, logits.shape, rows)
            first = logits
        else:
            if lengths is not None:
                raise ValueError("lengths is for a padded batch; a list tells them by itself")
            first, log_odds, rows = _listed_logits(logits)
        if not rows:
            raise ValueError("the batch has no sequences")
        all_times = _listed("times", times, len(rows))
        all_events = [np.sort(own) for own in _stamps(events, event_lengths, len(rows))]
        for k, (own, length) in enumerate(zip(all_times, rows)):
            if len(own) != length:
                raise ValueError(f"sequence {k} has {len(own)} times for {length} logits")
        return cls(
            log_odds=log_odds,
            times=np.concatenate(all_times),
            events=np.concatenate(all_events),
            instances=rows,
            stamps=[len(own) for own in all_events],
            resolutions=resolutions,
            is_single=is_single,
            device=first.device,
            dtype=first.dtype if first.dtype == torch.float64 else torch.float32,
        )

    def check_resolution(self, spread: float) -> None:
        """Refuses times and stamps that are coarser than the spread."""
        check_resolution("times", self.times, self.resolutions[0], spread)
        check_resolution("events", self.events, self.resolutions[1], spread)


def _padded_rows(logits: Tensor, lengths: ArrayLike | Tensor | None) -> list[int]:
    """Number of real logits in each row."""
    if logits.ndim != 2:
        hint = "; squeeze the last dimension" if logits.shape[-1:] == (1,) else ""
        raise ValueError(
            f"logits have shape {tuple(logits.shape)}, expected (instances,) or "
            f"(batch, instances){hint}"
        )
    return _lengths("lengths", lengths, *logits.shape)


def _padded_logits(logits: Tensor, rows: list[int]) -> Tensor:
    _check_floating(logits)
    real = np.flatnonzero(np.arange(logits.shape[1]) < np.array(rows)[:, None])
    flat = logits.to("cpu", torch.float64).reshape(-1)
    return flat.index_select(0, torch.from_numpy(real))


def _listed_logits(logits: Sequence[Tensor]) -> tuple[Tensor, Tensor, list[int]]:
    """The first, all concatenated, and their lengths."""
    for k, own in enumerate(logits):
        if not isinstance(own, Tensor) or own.ndim != 1:
            raise ValueError(f"logits of sequence {k} are not a tensor of one dimension")
        check_dense(f"logits of sequence {k}", own)
        _check_floating(own)
    if len(logits) == 0:
        raise ValueError("the batch has no sequences")
    flat = torch.cat([own.to("cpu", torch.float64) for own in logits])
    return logits[0], flat, [len(own) for own in logits]


def _check_floating(logits: Tensor) -> None:
    if not logits.is_floating_point():
        raise ValueError(f"logits are {logits.dtype}, expected a floating-point type")


def _padded_times(times: Any, shape: Sequence[int], rows: list[int]) -> list[_Floats]:
    """The real times of each row."""
    if isinstance(times, (list, tuple)) and len(times) > 0 and np.ndim(times[0]) > 0:
        return _listed("times", times, shape[0])
    table = numbers("times", times)
    if table.shape not in (tuple(shape), tuple(shape[1:])):
        raise ValueError(
            f"times have shape {table.shape}, expected that of the logits, {tuple(shape)}, or "
            f"{tuple(shape[1:])} for times that all sequences share"
        )
    return [row[:length] for row, length in zip(np.broadcast_to(table, shape), rows)]


def _stamps(events: Any, event_lengths: ArrayLike | Tensor | None, sequences: int) -> list[_Floats]:
    """The stamps of each sequence."""
    if isinstance(events, Tensor):
        check_dense("events", events)
    if event_lengths is None:
        if getattr(events, "ndim", None) == 2:
            raise ValueError(
                "padded events need event_lengths, which say how many stamps of a row are real"
            )
        return _listed("events", events, sequences)
    table = numbers("events", events)
    if table.ndim != 2 or len(table) != sequences:
        raise ValueError(f"events have shape {table.shape}, expected ({sequences}, stamps)")
    lengths = _lengths("event_lengths", event_lengths, *table.shape)
    return [row[:length] for row, length in zip(table, lengths)]


def _listed(what: str, values: Iterable[Any], sequences: int) -> list[_Floats]:
    listed = [numbers(f"{what} of sequence {k}", own) for k, own in enumerate(values)]
    if len(listed) != sequences:
        raise ValueError(f"{what} of {len(listed)} sequences for {sequences} of logits")
    for k, own in enumerate(listed):
        if own.ndim != 1:
            raise ValueError(
                f"{what} of sequence {k} have shape {own.shape}, expected one dimension: a batch "
                f"takes a list of {what} for each sequence"
            )
    return listed


def _lengths(what: str, lengths: ArrayLike | Tensor | None, rows: int, most: int) -> list[int]:
    if lengths is None:
        return [most] * rows
    values = np.asarray(lengths.cpu() if isinstance(lengths, Tensor) else lengths)
    if values.shape != (rows,) or values.dtype.kind not in "iu":
        raise ValueError(f"{what} must be {rows} whole numbers, one per sequence")
    if np.any(values < 0) or np.any(values > most):
        raise ValueError(f"{what} are {values.tolist()}, expected numbers from 0 to {most}")
    return [int(value) for value in values]
