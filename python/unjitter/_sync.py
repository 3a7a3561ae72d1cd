"""Clocks that are off: how far, and stamps without that."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import joblib
import numpy as np
from numpy.typing import NDArray

from . import _core, _tables
from ._base import Sessions, sessions_of
from ._check import number, one_of
from ._detector import EventDetector
from ._groups import FACTORS, named
from ._progress import Bar
from ._scorers import _inside
from ._session import Session
from ._warnings import warn

FOUND, NO_STAMPS = "found", "no_stamps"


class Place(NamedTuple):
    """Another place where the stamps of a clock may belong.

    How far they are late, what the clock gains per unit of time, and the log evidence less that of
    the best place.
    """

    offset: float
    drift: float
    log_evidence: float


@dataclass(frozen=True, eq=False)
class SyncedClock:
    """A clock that stamps were taken by, beside that of the recordings.

    Attributes
    ----------
    name : str
        The session, or what shares the clock.
    stamps : int
        Its stamps.
    verdict : {"found", "several", "flat", "no_stamps"}
        "found": one place explains the stamps far better than all others. "several": some do about
        equally well. "flat": the stamps hardly tell where they belong.
    offset : float
        How far its stamps are late in the middle of a session, beyond the learned delay.
    low, high : float
        A 95 % interval of that.
    drift : float
        What the clock gains per unit of time.
    probability : float
        Of the best place, by the evidence.
    others : list of Place
        Other places that explain the stamps nearly as well, best first.
    profile : ndarray of shape (2, n)
        Offsets, and the log evidence there less that of the best, each with its best drift.
    """

    name: str
    stamps: int
    verdict: str
    offset: float
    low: float
    high: float
    drift: float
    probability: float
    others: list[Place] = field(repr=False)
    profile: NDArray[np.float64] = field(repr=False)


_COLUMNS = ("name", "stamps", "verdict", "offset", "low", "high", "drift", "probability")


@dataclass(frozen=True, eq=False, repr=False)
class Synced:
    """The clocks of sessions; see :func:`sync`. Printed, it is their table.

    Attributes
    ----------
    by : str
        What shares a clock.
    clocks : list of SyncedClock
        In order of their names.
    """

    by: str
    clocks: list[SyncedClock]

    def __len__(self) -> int:
        return len(self.clocks)

    def __iter__(self) -> Iterator[SyncedClock]:
        return iter(self.clocks)

    def __getitem__(self, name: str) -> SyncedClock:
        """The clock of that name."""
        for clock in self.clocks:
            if clock.name == name:
                return clock
        raise KeyError(name)

    def __repr__(self) -> str:
        return repr(self.to_frame())

    def to_frame(self, *, backend: str | None = None) -> Any:
        """The clocks as a data frame.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow", "numpy"}, optional
            The data frame to return; by default of pandas or, without it, a :class:`Table`.

        Returns
        -------
        DataFrame with one row per clock
            ``name``, ``stamps``, ``verdict``, ``offset``, ``low``, ``high``, ``drift`` and
            ``probability``, as in :class:`SyncedClock`.
        """
        columns: dict[str, Any] = {
            name: np.array([getattr(clock, name) for clock in self.clocks]) for name in _COLUMNS
        }
        for name in ("name", "verdict"):
            columns[name] = columns[name].astype(object)
        return _tables.frame(columns, backend)

    def apply(self, X: Sessions) -> Any:
        """Sessions with their stamps where they would be by the clock of the recording.

        Stamps of a clock that was not found stay where they are, with a warning. Results for the
        sessions keep the rows of the frames that they came from.

        Parameters
        ----------
        X : Session or list of Session
            Those that clocks were looked for in.

        Returns
        -------
        Session or list of Session
        """
        sessions = sessions_of(X)
        named(sessions, [self.by])
        known = {clock.name: clock for clock in self.clocks}
        moved, lost = [], set()
        for session in sessions:
            own = self._clocks_of(session)
            strange = sorted(own - known.keys())
            if strange:
                whose = "clock" if self.by == "clock" else f"the clock of {self.by}"
                raise ValueError(
                    f"{whose} {strange[0]!r} was not looked for; sync has {len(known)} others"
                )
            lost |= {name for name in own if known[name].verdict not in (FOUND, NO_STAMPS)}
            moved.append(self._moved(session))
        if lost:
            names = ", ".join(sorted(lost)[:5]) + (", …" if len(lost) > 5 else "")
            words = f"clocks of {names} were not found, and their stamps stay where they are"
            warn("clocks_not_found", words, stacklevel=2)
        return moved[0] if isinstance(X, Session) else moved

    def _clocks_of(self, session: Session) -> set[str]:
        """The names of the clocks that stamps of a session were taken by."""
        if self.by == "annotator":
            return set(session._people())
        name = session.name if self.by == "session" else getattr(session, self.by)
        name = session.name if name is None and self.by == "clock" else name
        return set() if name is None else {name}

    def _moved(self, session: Session) -> Session:
        found = [
            (clock.name, clock.offset, clock.drift)
            for clock in self.clocks
            if clock.verdict == FOUND
        ]
        shifted = _core.moved_back(session, json.dumps(self.by), found)
        # An end moves with its beginning, as in a fit: the same clock told how long it lasted.
        ends = None if session.ends is None else session.ends + (shifted - session.events)

        def given(values: NDArray[Any] | None) -> Any:
            return None if values is None else session._as_given(values)

        def times(seconds: NDArray[np.float64] | None) -> Any:
            if seconds is None or session.calendar is None:
                return given(seconds)
            return session.calendar.times(session._as_given(seconds))

        moved = session.replace(
            events=times(shifted),
            ends=times(ends),
            classes=given(session.classes),
            annotators=given(session.annotators),
            also_annotated=session.also_annotated,
            rounded=given(session.rounded),
        )
        # The same presses, though at other times.
        moved._event_rows = session._event_rows
        return moved


def sync(
    X: Sessions,
    detector: Any = None,
    *,
    by: str = "clock",
    range: float | None = None,
    drift: float = 0.05,
) -> Synced:
    """Find how far the clocks of stamps are off, and how much they gain.

    ``EventDetector(clock=...)`` does this while it learns. This is for looking at clocks by
    themselves, for profiles of the evidence, and for stamps that other programs are to use.

    Parameters
    ----------
    X : Session or list of Session
        With stamps. Sessions without a `clock` have one of their own.
    detector : EventDetector or pipeline, optional
        Fitted. By default one is learned from the sessions, with clocks that are off.
    by : {"clock", "session", "device", "subject", "annotator"}
        What shares a clock.
    range : float, optional
        The furthest that a clock may be ahead or behind, in the unit of the times; by default twice
        the mean time between stamps.
    drift : float
        The most that it may gain or lose per unit of time; 0 for clocks that run at the right
        speed.

    Returns
    -------
    Synced
        A table of clocks; ``apply(sessions)`` moves stamps back.

    Examples
    --------
    >>> from unjitter import EventDetector, simulate, sync
    >>> sessions = simulate.respiration(seed=0)
    >>> detector = EventDetector().fit(sessions[:10])
    >>> late = sessions[10].replace(events=sessions[10].events + 40.0)
    >>> synced = sync(late, detector, drift=0.0)
    >>> synced.clocks[0].verdict, bool(abs(synced.clocks[0].offset - 40.0) < 3.0)
    ('found', True)
    >>> bool(abs(synced.apply(late).events - sessions[10].events).max() < 3.0)
    True
    """
    sessions = sessions_of(X)
    by = one_of("by", by, FACTORS)
    named(sessions, [by])
    furthest = None if range is None else number("range", range)
    most = number("drift", drift)
    if detector is None:
        varies = {"offset": by} if most == 0.0 else {"offset": by, "drift": by}
        detector = EventDetector(varies=varies, clock_range=furthest).fit(sessions)
    detector, seen = _inside(detector, sessions)
    if not isinstance(detector, EventDetector):
        raise ValueError(f"detector is a {type(detector).__name__}, expected an EventDetector")
    known = detector._known(seen)
    threads = joblib.effective_n_jobs(detector.n_jobs)
    with Bar("sync", "clock", enabled=detector.verbose > 0) as bar:
        text = _core.find_clocks(
            detector._fitted, known, json.dumps(by), furthest, most, threads, bar.show
        )
    return Synced(by, [_clock(own) for own in json.loads(text)])


def _clock(own: dict[str, Any]) -> SyncedClock:
    """A clock as the library wrote it; JSON has no infinity."""
    profile = [(by, -np.inf if height is None else height) for by, height in own.pop("profile")]
    others = [Place(**place) for place in own.pop("others")]
    points = np.array(profile, dtype=np.float64).reshape(-1, 2).T
    return SyncedClock(**own, others=others, profile=points)
