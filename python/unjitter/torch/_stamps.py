"""Stamps of a batch in any form: in order, perhaps in intervals, perhaps of several annotators."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from ._gradient import is_real, only_real
from ._numbers import check_dense, numbers, whole_numbers

_Floats = NDArray[np.float64]
_Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Stamps:
    """The stamps of all sequences, which follow each other."""

    times: _Floats
    lengths: list[int]
    # Of the interval around each; None if all times are known.
    widths: _Floats | None
    # Who gave each, by number within the sequence; None if everybody annotated alone.
    annotators: _Numbers | None
    # The names of the annotators of each sequence, if they are known.
    people: list[list[str] | None]

    @classmethod
    def of(
        cls,
        events: Any,
        event_lengths: ArrayLike | Tensor | None,
        annotators: Any,
        sequences: int,
    ) -> Stamps:
        if isinstance(events, Mapping):
            raise ValueError(
                "events of a batch are a mapping, expected a list with one for each sequence"
            )
        if isinstance(events, Tensor):
            check_dense("events", events)
        if event_lengths is None:
            return cls._listed(events, annotators, sequences)
        return cls._table(events, event_lengths, annotators, sequences)

    @classmethod
    def _table(
        cls, events: Any, event_lengths: ArrayLike | Tensor, annotators: Any, sequences: int
    ) -> Stamps:
        """Of a padded table."""
        table = numbers("events", events)
        if table.ndim not in (2, 3) or len(table) != sequences or table.shape[2:] not in ((), (2,)):
            raise ValueError(
                f"events have shape {table.shape}, expected ({sequences}, stamps), or ({sequences},"
                " stamps, 2) of earliest and latest times"
            )
        lengths = whole_numbers("event_lengths", event_lengths, *table.shape[:2])
        who = None
        if annotators is not None:
            own = _whole("annotators", annotators)
            if own.shape != table.shape[:2]:
                raise ValueError(
                    f"annotators have shape {own.shape}, expected that of the events, "
                    f"{table.shape[:2]}"
                )
            who = _from_zero("annotators", own[is_real(lengths, own.shape[1])])
        return cls._in_order(only_real(table, lengths), lengths, who, [None] * sequences)

    @classmethod
    def _listed(cls, events: Any, annotators: Any, sequences: int) -> Stamps:
        """Of a list with those of each sequence."""
        if getattr(events, "ndim", None) in (2, 3):
            raise ValueError(
                "padded events need event_lengths, which say how many stamps of a row are real"
            )
        each = list(events)
        if len(each) != sequences:
            raise ValueError(f"events of {len(each)} sequences for {sequences} of logits")
        if any(isinstance(own, Mapping) for own in each):
            if annotators is not None:
                raise ValueError("events are by annotator already, but annotators is given")
            return cls._mapped(each)
        rows = [_times(f"events of sequence {k}", own) for k, own in enumerate(each)]
        who = None if annotators is None else _listed_numbers(annotators, rows)
        return cls._in_order(_joined(rows), [len(own) for own in rows], who, [None] * sequences)

    @classmethod
    def _mapped(cls, each: list[Any]) -> Stamps:
        """Of a list in which some are by annotator."""
        for k, own in enumerate(each):
            if isinstance(own, Mapping) and not own:
                raise ValueError(
                    f"events of sequence {k} are by nobody, expected a mapping that names who "
                    "annotated: {'ann': []}"
                )
        given = [own if isinstance(own, Mapping) else {None: own} for own in each]
        of_one = [
            [_times(f"events of sequence {k}", stamps) for stamps in own.values()]
            for k, own in enumerate(given)
        ]
        rows = [stamps for own in of_one for stamps in own]
        numbered = [(number, len(stamps)) for own in of_one for number, stamps in enumerate(own)]
        who = np.repeat(*np.array(numbered, dtype=np.int64).reshape(-1, 2).T)
        lengths = [sum(map(len, own)) for own in of_one]
        people = [list(map(str, own)) if isinstance(own, Mapping) else None for own in each]
        return cls._in_order(_joined(rows), lengths, who, people)

    def numbers(self) -> list[_Numbers]:
        """Who gave each stamp, by sequence; none if everybody annotated alone."""
        if self.annotators is None:
            return [np.zeros(0, dtype=np.int64)] * len(self.lengths)
        return np.split(self.annotators, np.cumsum(self.lengths)[:-1])

    @classmethod
    def _in_order(
        cls, flat: _Floats, lengths: list[int], who: _Numbers | None, people: list[list[str] | None]
    ) -> Stamps:
        """In order; how wide they are and who gave them goes with them."""
        sequence = np.repeat(np.arange(len(lengths)), lengths)
        times, widths = (flat, None) if flat.ndim == 1 else _middles(flat, sequence, lengths)
        # One that is not a number is behind all others of its sequence.
        is_next = (np.diff(times) >= 0.0) | (np.diff(sequence) > 0)
        if not is_next.all():
            order = np.lexsort((times, sequence))
            times = times[order]
            widths = None if widths is None else widths[order]
            who = None if who is None else who[order]
        return cls(times, lengths, widths, who, people)


def are_intervals(events: Any, is_single: bool) -> bool:
    """Whether stamps are earliest and latest times, by their shape alone."""
    return _depth(events) == (2 if is_single else 3)


def _depth(values: Any) -> int:
    if isinstance(values, (list, tuple)):
        return 1 + max(map(_depth, values), default=0)
    return int(getattr(values, "ndim", 0))


def are_by_annotator(events: Any) -> bool:
    """Whether stamps are given for each annotator by themselves."""
    each = events if isinstance(events, (list, tuple)) else [events]
    return any(isinstance(own, Mapping) for own in each)


def _times(what: str, values: Any) -> _Floats:
    """Times, or earliest and latest times."""
    own = numbers(what, values)
    if own.ndim == 1 or (own.ndim == 2 and own.shape[1] == 2):
        return own
    raise ValueError(
        f"{what} have shape {own.shape}, expected one dimension, or (stamps, 2) of earliest and "
        "latest times: a batch takes a list of events for each sequence"
    )


def _joined(rows: list[_Floats]) -> _Floats:
    """All of them; times that are known are intervals too if others are."""
    if any(own.ndim == 2 for own in rows):
        rows = [own if own.ndim == 2 else np.column_stack([own, own]) for own in rows]
    return np.concatenate(rows) if rows else np.zeros(0)


def _middles(
    intervals: _Floats, sequence: NDArray[np.intp], lengths: list[int]
) -> tuple[_Floats, _Floats]:
    """The middle of each interval, and how wide it is."""
    late = np.flatnonzero(intervals[:, 1] < intervals[:, 0])
    if len(late):
        (earliest, latest), k = intervals[late[0]], sequence[late[0]]
        raise ValueError(
            f"event {late[0] - sum(lengths[:k])} of sequence {k} is from {earliest:g} to "
            f"{latest:g}, expected its earliest time before its latest"
        )
    return intervals.mean(axis=1), intervals[:, 1] - intervals[:, 0]


def _listed_numbers(annotators: Iterable[Any], rows: list[_Floats]) -> _Numbers:
    each = [_whole(f"annotators of sequence {k}", own) for k, own in enumerate(annotators)]
    if len(each) != len(rows):
        raise ValueError(f"annotators of {len(each)} sequences for {len(rows)} of events")
    for k, (own, row) in enumerate(zip(each, rows)):
        if own.shape != (len(row),):
            raise ValueError(
                f"annotators of sequence {k} have shape {own.shape}, expected ({len(row)},), one "
                "for each of its events"
            )
    return _from_zero("annotators", np.concatenate(each))


def _whole(what: str, values: Any) -> _Numbers:
    if isinstance(values, Tensor):
        check_dense(what, values)
        values = values.cpu()
    given = np.asarray(values)
    if given.dtype.kind not in "iu" and given.size:
        raise ValueError(
            f"{what} are {given.dtype}, expected whole numbers from 0 on; for names, give events "
            "as a mapping: {'ann': [1.4], 'bob': []}"
        )
    return given.astype(np.int64)


def _from_zero(what: str, own: _Numbers) -> _Numbers:
    if np.any(own < 0):
        raise ValueError(f"{what} have {own.min()}, expected whole numbers from 0 on")
    return own
