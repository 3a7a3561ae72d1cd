"""The stamps of a recording, and the file they came from.

A `Stamps` never changes: selecting, moving and dropping give new ones, which share what the file
held. So any of them can be written back with everything else in the file as it was.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime, timezone
from typing import Any

import numpy as np
import numpy.typing as npt

from .._calendar import Times, is_missing, read_times
from .source import BoolArray, FloatArray, Found, IntArray, Source

MOST_LABELS_SHOWN = 4


class Stamps:
    """Stamps in order of time: when somebody pressed a button, and what they said it was.

    Parameters
    ----------
    times : array-like of float, or of dates
        Seconds from the origin, finite; or dates. They are put in order, together with what
        belongs to each; stamps at the same time keep their order.
    labels : sequence of str, optional
        What each stamp says; empty if not given.
    durations : array-like of float, optional
        How long each lasts, in seconds; 0 if not given.
    origin : datetime, optional
        When second 0 was; where times are dates, the first of them by default.

    Examples
    --------
    >>> stamps = Stamps([3.5, 1.25], labels=["cough", "sneeze"])
    >>> stamps
    Stamps(2 stamps from 1.25 s to 3.5 s, 'sneeze' 1, 'cough' 1)
    >>> stamps.moved([1.0, 3.0]).times
    array([1., 3.])
    """

    __slots__ = ("_chosen", "_found", "_kept", "_lasting", "_now", "_source")

    _found: Found  # every stamp of the file, in file order, as it was
    _source: Source | None
    _now: FloatArray  # where every stamp of the file is now
    _lasting: FloatArray  # how long every stamp of the file lasts now
    _kept: BoolArray  # which of them are still there
    _chosen: IntArray  # those selected, in order of time

    def __init__(
        self,
        times: npt.ArrayLike,
        labels: Sequence[str] | None = None,
        durations: npt.ArrayLike | None = None,
        origin: datetime | None = None,
    ) -> None:
        if origin is not None and not isinstance(origin, datetime):
            raise TypeError(f"origin: found {origin!r}, expected a datetime or None")
        read = read_times(times)
        is_guess = read.are_dates and origin is None and len(read.values) > 0
        if is_guess:
            origin = moment(read)
        seconds = finite("times", seconds_from(origin, read))
        count = len(seconds)
        texts = [""] * count if labels is None else list(labels)
        if isinstance(labels, str) or not all(isinstance(text, str) for text in texts):
            raise TypeError("labels: expected a sequence of str")
        if len(texts) != count:
            raise ValueError(f"labels: found {len(texts)}, expected {count}, one for each time")
        lasting = np.zeros(count) if durations is None else finite("durations", durations)
        if len(lasting) != count:
            raise ValueError(
                f"durations: found {len(lasting)}, expected {count}, one for each time"
            )
        if np.any(lasting < 0):
            raise ValueError(f"durations: found {lasting.min()}, expected none below 0")
        order = np.argsort(seconds, kind="stable")
        in_order = tuple(texts[i] for i in order)
        found = Found(seconds[order], in_order, lasting[order], origin, is_guess)
        self._begin(found, None)

    @classmethod
    def _of(cls, source: Source) -> Stamps:
        """All stamps of a file that was read."""
        stamps = cls.__new__(cls)
        stamps._begin(source.found, source)
        return stamps

    def _begin(self, found: Found, source: Source | None) -> None:
        every = np.ones(len(found.times), dtype=bool)
        order = np.argsort(found.times, kind="stable")
        self._set(found, source, found.times, found.durations, every, order)

    def _set(
        self,
        found: Found,
        source: Source | None,
        now: FloatArray,
        lasting: FloatArray,
        kept: BoolArray,
        chosen: IntArray,
    ) -> None:
        self._found, self._source = found, source
        self._now, self._lasting, self._kept, self._chosen = now, lasting, kept, chosen

    def _with(
        self, now: FloatArray, lasting: FloatArray, kept: BoolArray, chosen: IntArray
    ) -> Stamps:
        other = type(self).__new__(type(self))
        other._set(self._found, self._source, now, lasting, kept, chosen)
        return other

    def _ends(self) -> FloatArray | None:
        """Ends of the stamps of the file that moved on their own, else NaN; None if none did."""
        are_other = self._lasting != self._found.durations
        return np.where(are_other, self._now + self._lasting, np.nan) if are_other.any() else None

    @property
    def times(self) -> FloatArray:
        """Seconds from the origin, non-decreasing."""
        return read_only(self._now[self._chosen])

    @property
    def dates(self) -> npt.NDArray[np.datetime64]:
        """When each stamp was: dates in UTC, or without a zone if the origin has none.

        >>> Stamps([0.5], origin=datetime(2024, 5, 31, 14, 3)).dates
        array(['2024-05-31T14:03:00.500000000'], dtype='datetime64[ns]')
        """
        if self.origin is None:
            raise ValueError("the stamps have no origin that their seconds count from")
        calendar = read_times([self.origin]).calendar()
        assert calendar is not None
        return calendar.dates(self.times)

    @property
    def labels(self) -> list[str]:
        """What each stamp says."""
        return [self._found.labels[i] for i in self._chosen]

    @property
    def durations(self) -> FloatArray:
        """How long each stamp lasts, in seconds; 0 for an instant."""
        return read_only(self._lasting[self._chosen])

    @property
    def origin(self) -> datetime | None:
        """When second 0 was, where that is known."""
        return self._found.origin

    @property
    def format(self) -> str | None:
        """The format of the file that the stamps came from, one of `FORMATS`; None if none."""
        return None if self._source is None else self._source.format

    def __len__(self) -> int:
        return len(self._chosen)

    def __eq__(self, other: object) -> bool:
        """Whether the same stamps are at the same times; the rest of the file does not count."""
        if not isinstance(other, Stamps):
            return NotImplemented
        return (
            np.array_equal(self.times, other.times)
            and self.labels == other.labels
            and np.array_equal(self.durations, other.durations)
            and self.origin == other.origin
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        count = len(self)
        parts = [f"{count} stamp" + ("" if count == 1 else "s")]
        if self._source is not None and count < self._kept.sum():
            parts[0] += f" of {self._kept.sum()}"
        if count:
            parts[0] += f" from {self.times[0]:.6g} s to {self.times[-1]:.6g} s"
        counts = Counter(label for label in self.labels if label)
        parts += [f"{label!r} {n}" for label, n in counts.most_common(MOST_LABELS_SHOWN)]
        if len(counts) > MOST_LABELS_SHOWN:
            parts.append(f"{len(counts) - MOST_LABELS_SHOWN} more labels")
        if self.origin is not None:
            parts.append(f"origin {self.origin.isoformat()}")
        if self._source is not None:
            parts.append(f"{self._source.format} {os.path.basename(self._source.path)!r}")
        return f"Stamps({', '.join(parts)})"

    def only(self, labels: str | Iterable[str]) -> Stamps:
        """Those with this label, or one of these; the rest of the file is remembered.

        Parameters
        ----------
        labels : str or iterable of str
            A label, such as ``"V"``, or several.

        Examples
        --------
        >>> Stamps([1, 2, 3], labels=["V", "N", "V"]).only("V").times
        array([1., 3.])
        """
        wanted = {labels} if isinstance(labels, str) else set(labels)
        chosen = [i for i in self._chosen if self._found.labels[i] in wanted]
        return self._with(self._now, self._lasting, self._kept, np.array(chosen, dtype=np.intp))

    def moved(self, times: npt.ArrayLike, ends: npt.ArrayLike | None = None) -> Stamps:
        """The same stamps at other times; the rest of the file stays where it was.

        Parameters
        ----------
        times : array-like of float, or of dates
            Where each stamp goes, in the order of `times`: in seconds from the origin, or as dates
            if the origin is known. If that puts them into another order, each takes its label and
            duration along.
        ends : array-like of float, or of dates, optional
            Where each stamp ends, in the same order and from the same origin; NaN or NaT where it
            lasts as long as before, as all do if this is not given.

        Examples
        --------
        >>> Stamps([1, 2], labels=["a", "b"]).moved([5, 4]).labels
        ['b', 'a']
        >>> Stamps([1, 2], durations=[3, 0]).moved([1.5, 2], ends=[5, np.nan]).durations
        array([3.5, 0. ])
        """
        seconds = finite("times", seconds_from(self.origin, read_times(times)))
        if len(seconds) != len(self):
            raise ValueError(
                f"times: found {len(seconds)}, expected {len(self)}, one for each stamp"
            )
        now, lasting = self._now.copy(), self._lasting.copy()
        now[self._chosen] = seconds
        if ends is not None:
            lasting[self._chosen] = self._lasting_until(seconds, ends)
        # By place in the file first, so that stamps moved to the same time are in file order.
        chosen = np.sort(self._chosen)
        return self._with(now, lasting, self._kept, chosen[np.argsort(now[chosen], kind="stable")])

    def _lasting_until(self, starts: FloatArray, ends: npt.ArrayLike) -> FloatArray:
        """How long stamps at other times last that end there."""
        given = np.asarray(ends)
        if given.shape != starts.shape:
            raise ValueError(
                f"ends: found shape {given.shape}, expected {starts.shape}, one for each stamp"
            )
        are_told = np.array([not is_missing(end) for end in given], dtype=bool)
        until = np.full(len(given), np.nan)
        if are_told.any():
            until[are_told] = seconds_from(self.origin, read_times(given[are_told]))
        lasting = self._lasting[self._chosen]
        # What ends as before lasts as before, whatever a difference is rounded to.
        moved = ~np.isnan(until) & (until != starts + lasting)
        wrong = np.flatnonzero(moved & ~((until >= starts) & np.isfinite(until)))
        if len(wrong):
            k = wrong[0]
            raise ValueError(
                f"ends: found {until[k]} at index {k}, expected none before its time {starts[k]}"
            )
        return np.where(moved, until - starts, lasting)

    def without(self, mask: npt.ArrayLike) -> Stamps:
        """Without the stamps that `mask` marks, such as those probably spurious.

        Parameters
        ----------
        mask : array-like of bool
            As long as there are stamps; True drops.

        Examples
        --------
        >>> Stamps([1, 2, 3]).without([False, True, False]).times
        array([1., 3.])
        """
        dropped = np.asarray(mask)
        if dropped.shape == (0,):
            dropped = dropped.astype(bool)
        if dropped.dtype != bool:
            raise TypeError(f"mask: found {dropped.dtype}, expected bool")
        if dropped.shape != (len(self),):
            raise ValueError(
                f"mask: found shape {dropped.shape}, expected ({len(self)},), one for each stamp"
            )
        kept = self._kept.copy()
        kept[self._chosen[dropped]] = False
        return self._with(self._now, self._lasting, kept, self._chosen[~dropped])

    def write(
        self,
        path: str | os.PathLike[str],
        format: str | None = None,
        *,
        overwrite: bool = False,
        **options: Any,
    ) -> None:
        """Write to a file; see `unjitter.stamps.write`."""
        from .formats import write

        write(self, path, format, overwrite=overwrite, **options)


def seconds_from(origin: datetime | None, times: Times) -> npt.NDArray[Any]:
    """Seconds from the origin to dates; numbers as they are."""
    if not times.are_dates:
        return times.values
    if origin is None:
        raise ValueError("times: found dates, expected seconds: the stamps have no origin")
    calendar = read_times([origin]).calendar()
    return times.in_zone(calendar.time_zone if calendar else None).seconds(calendar, "the stamps")


def moment(times: Times) -> datetime:
    """The earliest of some dates, in UTC if they have a zone."""
    first: datetime = times.values.min().astype("datetime64[us]").item()
    return first if times.time_zone is None else first.replace(tzinfo=timezone.utc)


def finite(name: str, values: npt.ArrayLike) -> FloatArray:
    """A copy as a flat array of finite float64."""
    numbers = np.array(values, dtype=np.float64)
    if numbers.ndim != 1:
        raise ValueError(f"{name}: found {numbers.ndim} dimensions, expected 1")
    wrong = np.flatnonzero(~np.isfinite(numbers))
    if len(wrong):
        raise ValueError(
            f"{name}: found {numbers[wrong[0]]} at index {wrong[0]}, expected a finite number"
        )
    return numbers


def read_only(array: FloatArray) -> FloatArray:
    """The array, locked: writing into a copy of what a property gave would do nothing."""
    array.flags.writeable = False
    return array
