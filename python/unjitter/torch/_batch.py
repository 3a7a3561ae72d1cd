"""Sequences of a batch, in any form."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from ._gradient import only_real
from ._groups import by_sequence
from ._numbers import (
    bare,
    check_dense,
    check_resolution,
    numbers,
    refuse_none,
    resolution,
    whole_numbers,
)
from ._stamps import Stamps

_Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Batch:
    """Concatenated sequences for the core."""

    logits: list[Tensor]
    log_odds: _Floats
    times: _Floats
    events: _Floats
    instances: list[int]
    stamps: list[int]
    widths: _Floats | None
    annotators: NDArray[np.int64] | None
    groups: list[list[dict[str, str]]] | None
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
        event_lengths: ArrayLike | Tensor | None = None,
        annotators: Any = None,
        groups: Any = None,
        known: Mapping[str, Sequence[str]] = MappingProxyType({}),
    ) -> Batch:
        """Of what the loss was given. Known are the groups between which something differs."""
        refuse_none(logits=logits, times=times, events=events)
        resolutions = resolution(times), resolution(events)
        if isinstance(logits, Tensor):
            check_dense("logits", logits)
        is_single = isinstance(logits, Tensor) and logits.ndim == 1
        if isinstance(logits, Tensor) and is_single:
            if lengths is not None or event_lengths is not None:
                raise ValueError("lengths and event_lengths are for a padded batch")
            logits, times, events = [logits], [times], [events]
            annotators = None if annotators is None else [annotators]
            groups = None if groups is None else [groups]
        if isinstance(logits, Tensor):
            rows = whole_numbers("lengths", lengths, *padded_rows(logits))
            check_floating(logits)
            log_odds = only_real(_doubles(logits), rows)
            times = _padded_times(times, logits.shape, rows)
            logits = [logits]
        else:
            if lengths is not None:
                raise ValueError("lengths is for a padded batch; a list tells them by itself")
            log_odds, rows = _listed_logits(logits)
            times = _flat_times(times, rows)
        if not rows:
            raise ValueError("the batch has no sequences")
        stamps = Stamps.of(events, event_lengths, annotators, len(rows))
        first = logits[0]
        return cls(
            logits=list(logits),
            log_odds=log_odds,
            times=times,
            events=stamps.times,
            instances=rows,
            stamps=stamps.lengths,
            widths=stamps.widths,
            annotators=stamps.annotators,
            groups=by_sequence(groups, stamps, known),
            resolutions=resolutions,
            is_single=is_single,
            device=first.device,
            dtype=first.dtype if first.dtype == torch.float64 else torch.float32,
        )

    def check_resolution(self, spread: float) -> None:
        """Refuses times and stamps that are coarser than the spread."""
        check_resolution("times", self.times, self.resolutions[0], spread)
        check_resolution("events", self.events, self.resolutions[1], spread)


def padded_rows(logits: Tensor) -> tuple[int, int]:
    """Number of rows and their length."""
    if logits.ndim != 2:
        hint = "; squeeze the last dimension" if logits.shape[-1:] == (1,) else ""
        raise ValueError(
            f"logits have shape {tuple(logits.shape)}, expected (instances,) or "
            f"(batch, instances){hint}"
        )
    return logits.shape[0], logits.shape[1]


def _listed_logits(logits: Sequence[Tensor]) -> tuple[_Floats, list[int]]:
    """All concatenated, and their lengths."""
    for k, own in enumerate(logits):
        if not isinstance(own, Tensor) or own.ndim != 1:
            raise ValueError(f"logits of sequence {k} are not a tensor of one dimension")
        check_dense(f"logits of sequence {k}", own)
        check_floating(own)
    if len(logits) == 0:
        raise ValueError("the batch has no sequences")
    return np.concatenate([_doubles(own) for own in logits]), [len(own) for own in logits]


def _doubles(logits: Tensor) -> _Floats:
    # NumPy has no bfloat16.
    wide = logits if logits.dtype in (torch.float32, torch.float64) else logits.float()
    return np.asarray(bare(wide.cpu()), dtype=np.float64)


def check_floating(logits: Tensor) -> None:
    if not logits.is_floating_point():
        raise ValueError(f"logits are {logits.dtype}, expected a floating-point type")


def _padded_times(times: Any, shape: Sequence[int], rows: list[int]) -> _Floats:
    """The real times of all rows."""
    if isinstance(times, (list, tuple)) and len(times) > 0 and np.ndim(times[0]) > 0:
        return _flat_times(times, rows)
    table = numbers("times", times)
    if table.shape not in (tuple(shape), tuple(shape[1:])):
        raise ValueError(
            f"times have shape {table.shape}, expected that of the logits, {tuple(shape)}, or "
            f"{tuple(shape[1:])} for times that all sequences share"
        )
    return only_real(np.broadcast_to(table, shape), rows)


def _flat_times(times: Any, rows: list[int]) -> _Floats:
    """The times of all sequences of a list."""
    all_times = _listed("times", times, len(rows))
    for k, (own, length) in enumerate(zip(all_times, rows)):
        if len(own) != length:
            raise ValueError(f"sequence {k} has {len(own)} times for {length} logits")
    return np.concatenate(all_times)


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
