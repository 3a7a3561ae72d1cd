"""What adapters to other libraries share: samples on one clock, the stamps beside them, and where
these turned out to belong.

Every library has a clock of its own: samples counted from the first of a file or of a crop, seconds
since a date, dates. An adapter brings channels, peaks and stamps to seconds of one clock before
anything else happens. Stamps outside the samples are refused: here nearly always a unit or a clock
was mistaken, and a detector would explain such stamps as presses for nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ._peaks import peak_features
from ._session import Session
from .signal import session_from_windows
from .stamps import Stamps
from .stamps.source import FloatArray
from .stamps.stamps import finite

COLUMNS = ("stamp", "time", "low", "high", "p_spurious")
# Tables of stamps that went through a file may have lost digits, but less than a sample.
SAME = 1e-3


@dataclass(frozen=True, eq=False)
class Recording:
    """Channels with the time of each of their samples, in seconds of one clock; at least one."""

    channels: Mapping[str, FloatArray]
    times: Mapping[str, FloatArray]

    @property
    def span(self) -> tuple[float, float]:
        """When the first sample of all channels and the last one were taken."""
        known = [own for own in self.times.values() if len(own)]
        if not known:
            raise ValueError("the recording has no samples")
        return min(float(own[0]) for own in known), max(float(own[-1]) for own in known)

    def session(
        self, stamps: Stamps, peaks: ArrayLike | None, windows: Mapping[str, Any], **own: Any
    ) -> Session:
        """A session of windows; or of peaks, where their times are given."""
        refuse_outside("stamp", stamps.times, self.span)
        if peaks is None:
            return session_from_windows(
                self.channels, times=self.times, events=stamps.times, **windows, **own
            )
        if windows:
            raise ValueError(f"{', '.join(windows)}: these are for windows, but peaks are given")
        moments = finite("peaks", peaks)
        refuse_outside("peak", moments, self.span)
        times, features, names = peak_features(self.channels, self.times, moments)
        return Session(features, times, stamps.times, feature_names=names, **own)


def refuse_outside(what: str, times: FloatArray, span: tuple[float, float]) -> None:
    """Refuses what lies outside the samples."""
    first, last = span
    outside = np.flatnonzero((times < first - SAME) | (times > last + SAME))
    if len(outside):
        raise ValueError(
            f"{what} {outside[0]} is at {times[outside[0]]:g} s, but the samples last from "
            f"{first:g} s to {last:g} s: is it in another unit, or by another clock?"
        )


def chosen(stamps: Stamps, only: str | Iterable[str] | None) -> Stamps:
    """Those with some labels, of which there must be stamps: a misspelt one would find none."""
    if only is None:
        return stamps
    wanted = [only] if isinstance(only, str) else list(only)
    known = sorted(set(stamps.labels))
    for label in wanted:
        if label not in known:
            there = ", ".join(map(repr, known)) or "none"
            raise ValueError(f"no stamp is labelled {label!r}; the labels are {there}")
    return stamps.only(wanted)


class Places(NamedTuple):
    """Where the stamps of one recording belong, in order of the stamps."""

    times: FloatArray
    low: FloatArray
    high: FloatArray
    p_spurious: FloatArray


def places_of(aligned: Any, stamps: FloatArray) -> Places:
    """The places that :meth:`EventDetector.align` found for some stamps, in their order.

    They are recognised by their times, so that no table of another recording or of other stamps is
    taken for theirs.
    """
    # pyarrow's columns have no names themselves.
    named = list(getattr(aligned, "column_names", getattr(aligned, "columns", ())))
    missing = [name for name in COLUMNS if name not in named]
    if missing:
        raise ValueError(f"aligned has no column {missing[0]!r}, expected a table as align gives")
    given = {name: np.asarray(aligned[name]) for name in COLUMNS}
    for name, values in given.items():
        if values.dtype.kind != "f":
            raise ValueError(f"aligned: {name} holds {values.dtype}, expected seconds as numbers")
    if len(given["stamp"]) != len(stamps):
        raise ValueError(
            f"aligned has {len(given['stamp'])} rows, expected {len(stamps)}, one for each stamp "
            "of this recording"
        )
    other = np.flatnonzero(np.abs(given["stamp"] - stamps) > SAME)
    if len(other):
        row = other[0]
        raise ValueError(
            f"row {row} of aligned is about a stamp at {given['stamp'][row]:g} s, expected "
            f"{stamps[row]:g} s: align the session that these stamps were given to"
        )
    return Places(*(finite(f"aligned: {name}", given[name]) for name in COLUMNS[1:]))
