"""Seismograms of ObsPy: picks as stamps, windows as instances, and picks at better times with the
uncertainties that a detector knows.

    stamps = unjitter.obspy.stamps(stream, catalog, phase="P")
    detector = EventDetector().fit([unjitter.obspy.session(stream, stamps, length=1.0, step=0.1)])
    aligned = detector.align(unjitter.obspy.session(stream, stamps, length=1.0, step=0.1))
    better = unjitter.obspy.repicked(catalog, stream, aligned, phase="P", level=0.95)
    better.write("better.xml", format="QUAKEML")

All seconds here count from the start of the first trace of a stream. A catalog usually holds picks
of other stations and of other hours; `stamps` takes those that were made on these traces, so both
ways must be asked with the same stream and phase. ``pip install 'unjitter[obspy]'`` brings ObsPy.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timezone
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ._check import number
from ._recording import Recording, places_of, refuse_outside
from ._session import Session
from .stamps import Stamps
from .stamps.stamps import finite

try:
    import obspy
    from obspy.core.event import (
        Catalog,
        Event,
        Pick,
        QuantityError,
        WaveformStreamID,
    )
except ImportError as error:
    raise ImportError("unjitter.obspy needs ObsPy: pip install 'unjitter[obspy]'") from error

__all__ = ["picks", "repicked", "session", "stamps"]

CODES = ("network", "station", "location", "channel")


def stamps(stream: Any, events: Any, phase: str | Iterable[str] | None = None) -> Stamps:
    """The picks that were made on a stream, with their phases as labels.

    Parameters
    ----------
    stream : obspy.Stream or obspy.Trace
    events : obspy Catalog, Event, or iterable of Pick
        Picks of other stations, channels or times are left out. A code that a pick does not give,
        such as that of the location, is that of any trace.
    phase : str or iterable of str, optional
        The phases wanted; all by default. The phase of a pick is its ``phase_hint``, or else that
        of the arrival that names it, first of the preferred origin of its event. One that none of
        `events` has is refused; that none of its picks is on the stream may be.

    Returns
    -------
    Stamps
        In seconds from the start of the stream, which is their origin.

    Examples
    --------
    >>> import obspy, numpy as np
    >>> from obspy.core.event import Pick, WaveformStreamID
    >>> import unjitter.obspy
    >>> start = obspy.UTCDateTime("2024-05-31T14:03:27.5")
    >>> head = {"network": "BW", "station": "FUR", "channel": "EHZ", "starttime": start}
    >>> trace = obspy.Trace(np.zeros(1000), {**head, "sampling_rate": 100.0})
    >>> here = WaveformStreamID("BW", "FUR")
    >>> pick = Pick(time=start + 4.25, waveform_id=here, phase_hint="P")
    >>> unjitter.obspy.stamps(trace, [pick]).times
    array([4.25])
    """
    traces = _traces(stream)
    start = _start(traces)
    own = _chosen(traces, events, phase)
    origin = start.datetime
    return Stamps(
        [_between(start, pick.time) for pick, _ in own],
        [own_phase for _, own_phase in own],
        None,
        # ObsPy's dates are in UTC and do not say so.
        origin.replace(tzinfo=timezone.utc),
    )


def session(
    stream: Any,
    stamps: Stamps,
    *,
    peaks: ArrayLike | None = None,
    name: str | None = None,
    subject: str | None = None,
    observed: ArrayLike | None = None,
    classes: ArrayLike | None = None,
    **windows: Any,
) -> Session:
    """A session of sliding windows over the channels of a stream.

    Parameters
    ----------
    stream : obspy.Stream or obspy.Trace
        Traces of one station; those with the same code are parts of one channel, with a gap
        between them. Masked samples are missing.
    stamps : Stamps
        As :func:`stamps` gives them.
    peaks : array-like of shape (n_peaks,), optional
        Times of peaks, in seconds, which are then the instances.
    name, subject, observed
        As in :class:`unjitter.Session`; `observed` in seconds from the start of the stream.
    classes : array-like of str of shape (n_stamps,), optional
        As in :class:`unjitter.Session`: ``stamps.labels`` where phases are classes of events.
    **windows
        Options of :func:`unjitter.signal.windows`, such as ``length`` and ``step``.

    Returns
    -------
    Session

    Examples
    --------
    >>> import obspy, numpy as np
    >>> import unjitter.obspy
    >>> noise = np.random.default_rng(0).normal(size=1000)
    >>> trace = obspy.Trace(noise, {"station": "FUR", "sampling_rate": 100.0})
    >>> unjitter.obspy.session(trace, unjitter.stamps.Stamps([4.25]), length=1.0, step=0.5)
    Session(19 instances x 13 features, 1 stamp)
    """
    traces = _traces(stream)
    start = _start(traces)
    channels: dict[str, list[Any]] = {}
    for trace in sorted(traces, key=lambda trace: trace.stats.starttime):
        channels.setdefault(trace.id, []).append(trace)
    recording = Recording(
        {code: np.concatenate([_samples(part) for part in own]) for code, own in channels.items()},
        {
            code: np.concatenate(
                [
                    np.ma.getdata(part.times()) + _between(start, part.stats.starttime)
                    for part in own
                ]
            )
            for code, own in channels.items()
        },
    )
    for code, times in recording.times.items():
        if np.any(np.diff(times) <= 0.0):
            raise ValueError(f"traces of {code} overlap; merge the stream, or leave one out")
    own = {"name": name, "subject": subject, "observed": observed, "classes": classes}
    return recording.session(stamps, peaks, windows, **own)


def repicked(
    events: Any,
    stream: Any,
    aligned: Any,
    phase: str | Iterable[str] | None = None,
    *,
    level: float = 0.95,
) -> Any:
    """A copy of events, with the picks on a stream where they belong.

    Parameters
    ----------
    events, stream, phase
        As given to :func:`stamps`.
    aligned : DataFrame
        The table of :meth:`unjitter.EventDetector.align` for a session with these stamps.
    level : float
        What ``align`` was asked for: the probability that an interval holds the time.

    Returns
    -------
    Catalog, Event or list of Pick, as given
        The ``time_errors`` of these picks reach from ``low`` to ``high``, with `level` in per cent
        as their confidence. Everything else is as it was, so that arrivals still find their picks.

    Examples
    --------
    >>> import obspy, numpy as np
    >>> from obspy.core.event import Pick
    >>> from unjitter import EventDetector, Gaussian
    >>> import unjitter.obspy
    >>> ground = np.tile(np.repeat([0.0, 5.0, 0.0, 0.0], 100), 6)
    >>> trace = obspy.Trace(ground, {"sampling_rate": 100.0})
    >>> late = [1.4, 5.8, 9.6, 13.1, 17.7, 21.5]
    >>> given = [Pick(time=trace.stats.starttime + seconds) for seconds in late]
    >>> stamps = unjitter.obspy.stamps(trace, given)
    >>> session = unjitter.obspy.session(trace, stamps, length=1.0, step=1.0, anchor="start")
    >>> aligned = EventDetector(noise=Gaussian(spread=0.5)).fit([session]).align(session)
    >>> better = unjitter.obspy.repicked(given, trace, aligned)
    >>> [pick.time - trace.stats.starttime for pick in better[:3]]
    [1.0, 5.0, 9.0]
    """
    if not 0.0 < number("level", level) < 1.0:
        raise ValueError(f"level is {level}, expected a number between 0 and 1")
    traces = _traces(stream)
    start = _start(traces)
    copied = events.copy() if isinstance(events, (Catalog, Event)) else [p.copy() for p in events]
    own = [pick for pick, _ in _chosen(traces, copied, phase)]
    places = places_of(aligned, finite("picks", [_between(start, pick.time) for pick in own]))
    for pick, time, low, high in zip(own, places.times, places.low, places.high):
        pick.time = start + float(time)
        pick.time_errors = QuantityError(
            lower_uncertainty=float(time - low),
            upper_uncertainty=float(high - time),
            confidence_level=100.0 * level,
        )
    return copied


def picks(stream: Any, times: ArrayLike, phase: str | None = None) -> list[Pick]:
    """Picks of the events that a detector found.

    Parameters
    ----------
    stream : obspy.Stream or obspy.Trace
        Its first trace names the stream of the picks.
    times : array-like of shape (n_events,)
        Seconds from the start of the stream, as :meth:`unjitter.EventDetector.detect` gives them.
    phase : str, optional
        Their ``phase_hint``.

    Returns
    -------
    list of Pick

    Examples
    --------
    >>> import obspy, numpy as np
    >>> import unjitter.obspy
    >>> trace = obspy.Trace(np.zeros(1000), {"station": "FUR", "sampling_rate": 100.0})
    >>> unjitter.obspy.picks(trace, [4.25], phase="P")[0].time
    UTCDateTime(1970, 1, 1, 0, 0, 4, 250000)
    """
    traces = _traces(stream)
    start = _start(traces)
    seconds = finite("times", times)
    last = max(_between(start, trace.stats.endtime) for trace in traces)
    refuse_outside("event", seconds, (0.0, last))
    return [
        Pick(
            time=start + float(second),
            waveform_id=WaveformStreamID(seed_string=traces[0].id),
            phase_hint=phase,
            evaluation_mode="automatic",
        )
        for second in seconds
    ]


def _traces(stream: Any) -> list[Any]:
    traces = [stream] if isinstance(stream, obspy.Trace) else list(stream)
    full = [trace for trace in traces if len(trace)]
    if not full:
        raise ValueError("the stream has no samples")
    return full


def _start(traces: list[Any]) -> Any:
    return min(trace.stats.starttime for trace in traces)


def _between(start: Any, time: Any) -> float:
    """Seconds between two dates, to the nanosecond: their difference has microseconds only."""
    return float((time.ns - start.ns) / 1e9)


def _samples(trace: Any) -> Any:
    return np.ma.filled(np.ma.asarray(trace.data, dtype=np.float64), np.nan)


def _chosen(
    traces: list[Any], events: Any, phase: str | Iterable[str] | None
) -> list[tuple[Any, str]]:
    """The picks on the traces with their phases, in order of time."""
    every = _with_phases(events)
    if phase is not None:
        wanted = [phase] if isinstance(phase, str) else list(phase)
        known = sorted({own for _, own in every if own})
        for own in wanted:
            if own not in known:
                there = ", ".join(map(repr, known)) or "none"
                raise ValueError(f"no pick is of phase {own!r}; the phases are {there}")
        every = [(pick, own) for pick, own in every if own in wanted]
    found = [one for one in every if any(_is_on(one[0], trace) for trace in traces)]
    return sorted(found, key=lambda one: one[0].time)


def _with_phases(events: Any) -> list[tuple[Any, str]]:
    """All picks with their phases; without any, an empty one."""
    if isinstance(events, Catalog):
        return [own for event in events for own in _with_phases(event)]
    if not isinstance(events, Event):
        return [(pick, pick.phase_hint or "") for pick in events]
    preferred = events.preferred_origin()
    phases: dict[str, str] = {}
    for origin in ([] if preferred is None else [preferred]) + list(events.origins):
        for arrival in origin.arrivals:
            if arrival.pick_id is not None and arrival.phase:
                phases.setdefault(arrival.pick_id.id, arrival.phase)
    return [(pick, pick.phase_hint or phases.get(pick.resource_id.id, "")) for pick in events.picks]


def _is_on(pick: Any, trace: Any) -> bool:
    """Whether a pick may have been made on a trace."""
    if pick.time is None:
        raise ValueError(f"pick {pick.resource_id} has no time")
    codes = pick.waveform_id
    same = codes is None or all(
        getattr(codes, f"{name}_code") in (None, getattr(trace.stats, name)) for name in CODES
    )
    return same and trace.stats.starttime <= pick.time <= trace.stats.endtime
