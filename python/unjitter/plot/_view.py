"""The stretch of a session that is drawn, and its times on the axis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import _time_axis

if TYPE_CHECKING:
    from .._session import Session

# More instances than this are too many to tell apart, unless asked for.
MOST = 160

_Floats = NDArray[np.float64]


@dataclass(frozen=True)
class View:
    """A stretch of a session, in its seconds."""

    session: Session
    low: float
    high: float

    @staticmethod
    def of(session: Session, start: Any, stop: Any) -> View:
        """From `start` to `stop`; if these are None, the default stretch."""
        low = _time_axis.seconds(session, start, "start")
        high = _time_axis.seconds(session, stop, "stop")
        if low is not None and high is not None and not low < high:
            raise ValueError(f"start is {start!r}, which is not before stop, {stop!r}")
        default_low, default_high = _stretch(session.times, session.events, low, high)
        low = default_low if low is None else low
        high = default_high if high is None else high
        # One moment alone, or a start after the end of the session.
        return View(session, low, high) if low < high else View(session, low - 0.5, low + 0.5)

    def places(self, seconds: Any) -> _Floats:
        """Where times lie on the axis."""
        return _time_axis.places(self.session.calendar, seconds)

    def shows(self, seconds: _Floats) -> NDArray[np.bool_]:
        """Which times lie in the stretch."""
        return np.asarray((seconds >= self.low) & (seconds <= self.high))

    def limits(self) -> tuple[float, float]:
        """The ends of the axis, with some air."""
        air = 0.015 * (self.high - self.low)
        low, high = self.places([self.low - air, self.high + air])
        return float(low), float(high)

    def gaps(self) -> list[tuple[float, float]]:
        """The parts of the stretch that were not annotated."""
        if self.session.observed is None:
            return []
        gaps, reached = [], self.low
        for begin, end in sorted(self.session.observed.tolist()):
            if begin > reached:
                gaps.append((reached, min(begin, self.high)))
            reached = max(reached, end)
            if reached >= self.high:
                return gaps
        return [*gaps, (reached, self.high)]


def _stretch(
    times: _Floats, events: _Floats, low: float | None, high: float | None
) -> tuple[float, float]:
    """The default stretch of a session."""
    if len(times) <= MOST:
        moments = np.concatenate([times, events])
        return (float(moments.min()), float(moments.max())) if len(moments) else (0.0, 1.0)
    last = len(times) - MOST
    if low is not None:
        first = int(np.searchsorted(times, low))
    elif high is not None:
        first = int(np.searchsorted(times, high, side="right")) - MOST
    else:
        # A stretch may begin a little before any stamp; the first of the fullest is taken.
        begin = np.clip(np.searchsorted(times, events) - MOST // 20, 0, last)
        before = np.searchsorted(events, times[begin])
        through = np.searchsorted(events, times[begin + MOST - 1], side="right")
        first = int(begin[np.argmax(through - before)]) if len(begin) else 0
    first = min(max(first, 0), last)
    return float(times[first]), float(times[first + MOST - 1])
