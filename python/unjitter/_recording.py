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

from . import signal
from ._peaks import peak_features
from ._session import Session
from .stamps import Stamps
from .stamps.source import FloatArray
from .stamps.stamps import finite

COLUMNS = ("stamp", "time", "low", "high", "p_spurious")
# The same of the ends of bouts.
END_COLUMNS = ("end_stamp", "end", "end_low", "end_high", "end_p_spurious")
# What is told of each stamp beside its place, in words for libraries that keep a description.
TOLD = {
    "stamp": "when the event was stamped, in seconds",
    "low": "the earliest time of the interval that holds the event, in seconds",
    "high": "the latest time of the interval that holds the event, in seconds",
    "p_spurious": "the probability that the stamp is not of an event",
    "end_stamp": "when the event was said to end, in seconds",
    "end_low": "the earliest time of the interval that holds the end, in seconds",
    "end_high": "the latest time of the interval that holds the end, in seconds",
    "end_p_spurious": "the probability that the end is not of an event",
    "aligned_class": "the likeliest class of the event",
    "p_class": "the probability that the stamp is of an event of this class",
}
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
        self,
        stamps: Stamps | ArrayLike,
        peaks: ArrayLike | None,
        windows: Mapping[str, Any],
        **own: Any,
    ) -> Session:
        """A session of windows; or of peaks, where their times are given. Stamps with durations are
        bouts, as in any session."""
        first, last = self.span
        times = stamps.times if isinstance(stamps, Stamps) else finite("times", stamps)
        refuse_outside("stamp", times, (first, last))
        if isinstance(stamps, Stamps):
            # What lasts as long as the recording ends where one more sample would be.
            refuse_outside("end of stamp", times + stamps.durations, (first, last + self._step))
        given: Any = stamps if isinstance(stamps, Stamps) else times
        if peaks is None:
            found = signal.windows(self.channels, times=self.times, **windows)
            return Session(found.X, found.times, given, feature_names=found.feature_names, **own)
        if windows:
            raise ValueError(f"{', '.join(windows)}: these are for windows, but peaks are given")
        moments = finite("peaks", peaks)
        refuse_outside("peak", moments, (first, last))
        at, features, names = peak_features(self.channels, self.times, moments)
        return Session(features, at, given, feature_names=names, **own)

    @property
    def _step(self) -> float:
        """How far samples of the slowest channel are apart."""
        steps = [np.median(np.diff(own)) for own in self.times.values() if len(own) > 1]
        return float(max(steps, default=0.0))


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


class Ends(NamedTuple):
    """Where the ends of bouts belong; NaN where a stamp tells no end."""

    times: FloatArray
    low: FloatArray
    high: FloatArray
    p_spurious: FloatArray


class Places(NamedTuple):
    """Where the stamps of one recording belong, in order of the stamps."""

    times: FloatArray
    low: FloatArray
    high: FloatArray
    p_spurious: FloatArray
    # If the session knew ends.
    ends: Ends | None = None
    # The likeliest class of each and its probability, if the session knew classes.
    classes: tuple[list[str], FloatArray] | None = None

    def durations(self, stamps: Stamps) -> FloatArray:
        """How long each lasts, from where it begins to where it ends now."""
        if self.ends is None:
            return stamps.durations
        return np.where(np.isnan(self.ends.times), 0.0, self.ends.times - self.times)

    def told(self, stamps: Stamps) -> dict[str, Any]:
        """What is told of each stamp beside its place, by its name in :data:`TOLD`."""
        columns: dict[str, Any] = {"stamp": stamps.times, "low": self.low, "high": self.high}
        columns |= {"p_spurious": self.p_spurious}
        if self.ends is not None:
            columns["end_stamp"] = _ends_of(stamps.times, stamps.durations)
            columns |= {"end_low": self.ends.low, "end_high": self.ends.high}
            columns |= {"end_p_spurious": self.ends.p_spurious}
        if self.classes is not None:
            columns |= zip(("aligned_class", "p_class"), self.classes)
        return columns


def places_of(aligned: Any, stamps: FloatArray, durations: FloatArray | None = None) -> Places:
    """The places that :meth:`EventDetector.align` found for some stamps, in their order; those of
    ends, too, if these stamps may have durations.

    They are recognised by their times, so that no table of another recording or of other stamps is
    taken for theirs.
    """
    # pyarrow's columns have no names themselves.
    named = list(getattr(aligned, "column_names", getattr(aligned, "columns", ())))
    given = _columns(aligned, named, COLUMNS)
    if len(given["stamp"]) != len(stamps):
        raise ValueError(
            f"aligned has {len(given['stamp'])} rows, expected {len(stamps)}, one for each stamp "
            "of this recording"
        )
    _refuse_others("a stamp at", given["stamp"], stamps)
    ends = classes = None
    if durations is not None and "end" in named:
        of_ends = _columns(aligned, named, END_COLUMNS)
        _refuse_others("a stamp until", of_ends["end_stamp"], _ends_of(stamps, durations))
        known = ~np.isnan(of_ends["end_stamp"])
        for name in END_COLUMNS[1:]:
            finite(f"aligned: {name}", of_ends[name][known])
        ends = Ends(*(np.where(known, of_ends[name], np.nan) for name in END_COLUMNS[1:]))
    if "aligned_class" in named:
        names = [str(name) for name in np.asarray(aligned["aligned_class"])]
        classes = (names, np.asarray(aligned["p_class"], dtype=np.float64))
    times, low, high, p = (finite(f"aligned: {name}", given[name]) for name in COLUMNS[1:])
    return Places(times, low, high, p, ends, classes)


def _columns(aligned: Any, named: list[str], wanted: tuple[str, ...]) -> dict[str, FloatArray]:
    """Columns of numbers of a table."""
    missing = [name for name in wanted if name not in named]
    if missing:
        raise ValueError(f"aligned has no column {missing[0]!r}, expected a table as align gives")
    given = {name: np.asarray(aligned[name]) for name in wanted}
    for name, values in given.items():
        if values.dtype.kind != "f":
            raise ValueError(f"aligned: {name} holds {values.dtype}, expected seconds as numbers")
    return given


def _ends_of(times: FloatArray, durations: FloatArray) -> FloatArray:
    """When stamps end; NaN for those without a duration, as in a session."""
    return np.where(durations > 0.0, times + durations, np.nan)


def _refuse_others(what: str, given: FloatArray, expected: FloatArray) -> None:
    """Refuses a table that is not about these stamps."""
    same = (np.abs(given - expected) <= SAME) | (np.isnan(given) & np.isnan(expected))
    other = np.flatnonzero(~same)
    if len(other):
        row = other[0]
        raise ValueError(
            f"row {row} of aligned is about {what} {given[row]:g} s, expected "
            f"{expected[row]:g} s: align the session that these stamps were given to"
        )
