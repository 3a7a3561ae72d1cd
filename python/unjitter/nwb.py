"""Neurodata Without Borders: tables of events as stamps, time series as windows, and aligned stamps
as a table of events.

    stamps = unjitter.nwb.stamps(nwbfile, "licks")
    session = unjitter.nwb.session(nwbfile.acquisition["tongue"], stamps, length=0.5, step=0.1)
    aligned = EventDetector().fit([session]).align(session)
    nwbfile.add_events_table(unjitter.nwb.events_table("licks_aligned", stamps, aligned))

All seconds count from ``timestamps_reference_time`` of the file, as everything in it does.
``pip install 'unjitter[nwb]'`` brings PyNWB.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ._check import above_zero
from ._recording import Recording, places_of
from ._session import Session
from .stamps import Stamps
from .stamps.source import FloatArray
from .stamps.stamps import finite

try:
    import pynwb
    from pynwb.event import EventsTable
except ImportError as error:
    raise ImportError("unjitter.nwb needs PyNWB 4: pip install 'unjitter[nwb]'") from error

__all__ = ["events_table", "session", "stamps"]

# Columns of tables with a time in each row, and what says how long it lasts, or until when.
KINDS = {"timestamp": "duration", "start_time": "stop_time"}


def stamps(
    source: Any, table: str | None = None, *, label: str | None = None, origin: Any = None
) -> Stamps:
    """The rows of a table of events, or of intervals, as stamps.

    Parameters
    ----------
    source : NWBFile, EventsTable, TimeIntervals, or time series
        A file, with `table`; or the table itself. A time series without a rate, as
        ``BehavioralEvents`` has them, is a stamp at each of its timestamps.
    table : str, optional
        The name of the table in the file, among its events or its intervals.
    label : str, optional
        The column that says what a stamp is; by default "annotation" or "label", if there is one.
    origin : datetime, optional
        When second 0 was; that of a file is known.

    Returns
    -------
    Stamps
        In seconds of the file, with durations; events without one last 0 s.

    Examples
    --------
    >>> from pynwb.event import EventsTable
    >>> import unjitter.nwb
    >>> licks = EventsTable(name="licks", description="licks seen on the video")
    >>> licks.add_event(timestamp=2.5)
    >>> licks.add_event(timestamp=4.25)
    >>> unjitter.nwb.stamps(licks).times
    array([2.5 , 4.25])
    """
    if isinstance(source, pynwb.NWBFile):
        if table is None:
            raise ValueError("table is not given, expected the name of a table of the file")
        return stamps(_named(source, table), label=label, origin=source.timestamps_reference_time)
    if hasattr(source, "timestamps") and not hasattr(source, "colnames"):
        if source.timestamps is None:
            raise ValueError(f"{source.name} has a rate and no timestamps, expected events")
        return Stamps(source.timestamps[:], None, None, origin)
    columns = list(getattr(source, "colnames", ()))
    when = next((name for name in KINDS if name in columns), None)
    if when is None:
        raise ValueError(
            f"{getattr(source, 'name', source)!r} has no column {' or '.join(map(repr, KINDS))}"
        )
    times = finite(f"{source.name}: {when}", source[when][:])
    return Stamps(times, _labels(source, columns, label), _lasting(source, when, times), origin)


def session(
    series: Any,
    stamps: Stamps,
    *,
    peaks: ArrayLike | None = None,
    name: str | None = None,
    subject: str | None = None,
    observed: ArrayLike | None = None,
    **windows: Any,
) -> Session:
    """A session of sliding windows over time series.

    Parameters
    ----------
    series : TimeSeries, or list of TimeSeries
        With data of one dimension, or of two, with a channel in each column. All data is read.
    stamps : Stamps
        As :func:`stamps` gives them.
    peaks : array-like of shape (n_peaks,), optional
        Times of peaks, in seconds of the file, which are then the instances.
    name, subject, observed
        As in :class:`unjitter.Session`; `observed` in seconds of the file.
    **windows
        Options of :func:`unjitter.signal.windows`, such as ``length`` and ``step``.

    Returns
    -------
    Session

    Examples
    --------
    >>> import numpy as np, pynwb
    >>> import unjitter.nwb
    >>> data = np.random.default_rng(0).normal(size=(500, 2))
    >>> tongue = pynwb.TimeSeries(name="tongue", data=data, unit="m", rate=50.0, starting_time=1.0)
    >>> stamps = unjitter.stamps.Stamps([4.3])
    >>> unjitter.nwb.session(tongue, stamps, length=1.0, step=0.5)
    Session(19 instances x 26 features, 1 stamp)
    """
    every = list(series) if isinstance(series, (list, tuple)) else [series]
    channels: dict[str, FloatArray] = {}
    times: dict[str, FloatArray] = {}
    for one in every:
        data = np.asarray(one.data[:], dtype=np.float64) * one.conversion + (one.offset or 0.0)
        if data.ndim not in (1, 2):
            raise ValueError(f"{one.name}: data has {data.ndim} dimensions, expected 1 or 2")
        when = _times(one, len(data))
        columns = {one.name: data} if data.ndim == 1 else _columns(one.name, data)
        for channel, values in columns.items():
            if channel in channels:
                raise ValueError(f"two channels are named {channel!r}")
            channels[channel], times[channel] = values, when
    own = {"name": name, "subject": subject, "observed": observed}
    return Recording(channels, times).session(stamps, peaks, windows, **own)


def events_table(
    name: str, stamps: Stamps, aligned: Any = None, *, description: str | None = None
) -> EventsTable:
    """Stamps as a table of events, which ``nwbfile.add_events_table`` puts into a file.

    Parameters
    ----------
    name : str
        Of the table.
    stamps : Stamps
        In seconds of the file.
    aligned : DataFrame, optional
        The table of :meth:`unjitter.EventDetector.align` for a session with these stamps. Each is
        then at its ``time``, with columns ``stamp`` (as it was given), ``low``, ``high`` and
        ``p_spurious``. Rows are in order of time.
    description : str, optional
        Of the table.

    Returns
    -------
    pynwb.event.EventsTable

    Examples
    --------
    >>> import unjitter.nwb
    >>> licks = unjitter.stamps.Stamps([2.5, 4.25], ["left", "right"])
    >>> unjitter.nwb.events_table("licks", licks)["annotation"][:]
    ['left', 'right']
    """
    places = None if aligned is None else places_of(aligned, stamps.times)
    told = "stamps, moved to where a detector says that they belong" if aligned is not None else ""
    table = EventsTable(name=name, description=description or told or "stamps")
    seconds = stamps.times if places is None else places.times
    extra: dict[str, FloatArray] = {}
    if places is not None:
        extra = {"stamp": stamps.times, "low": places.low, "high": places.high}
        extra |= {"p_spurious": places.p_spurious}
        for column, words in EXTRA.items():
            table.add_column(name=column, description=words)
    lasts = bool(np.any(stamps.durations))
    for k in np.argsort(seconds, kind="stable"):
        row: dict[str, Any] = {column: float(values[k]) for column, values in extra.items()}
        row |= {"duration": float(stamps.durations[k])} if lasts else {}
        row |= {"annotation": stamps.labels[k]} if any(stamps.labels) else {}
        table.add_event(timestamp=float(seconds[k]), **row)
    return table


EXTRA = {
    "stamp": "when the event was stamped, in seconds",
    "low": "the earliest time of the interval that holds the event, in seconds",
    "high": "the latest time of the interval that holds the event, in seconds",
    "p_spurious": "the probability that the stamp is not of an event",
}


def _named(nwbfile: Any, table: str) -> Any:
    places = (nwbfile.events, nwbfile.intervals, nwbfile.acquisition)
    known = {name: own for place in places for name, own in (place or {}).items()}
    if nwbfile.trials is not None:
        known["trials"] = nwbfile.trials
    if table not in known:
        raise ValueError(f"the file has no {table!r}; it has {', '.join(known) or 'no events'}")
    return known[table]


def _labels(table: Any, columns: list[str], label: str | None) -> list[str] | None:
    if label is not None and label not in columns:
        raise ValueError(f"{table.name} has no column {label!r}; it has {', '.join(columns)}")
    named = label or next((name for name in ("annotation", "label") if name in columns), None)
    return None if named is None else [str(value) for value in table[named][:]]


def _lasting(table: Any, when: str, times: FloatArray) -> FloatArray | None:
    until = KINDS[when]
    if until not in table.colnames:
        return None
    values = np.asarray(table[until][:], dtype=np.float64)
    lasting = values - times if until == "stop_time" else values
    # NaN says that an event has no duration.
    return np.where(np.isnan(lasting), 0.0, lasting)


def _times(series: Any, count: int) -> FloatArray:
    if series.timestamps is not None:
        times = finite(f"{series.name}: timestamps", series.timestamps[:])
        if len(times) != count:
            raise ValueError(f"{series.name} has {len(times)} timestamps for {count} samples")
        return times
    rate = above_zero(f"{series.name}: rate", series.rate)
    return float(series.starting_time or 0.0) + np.arange(count) / rate


def _columns(name: str, data: FloatArray) -> dict[str, FloatArray]:
    return {f"{name}_{column}": values for column, values in enumerate(data.T)}
