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
from ._recording import TOLD, Recording, places_of
from ._session import Session
from .stamps import Stamps
from .stamps.source import FloatArray
from .stamps.stamps import finite

try:
    import pynwb
    from pynwb.event import EventsTable
    from pynwb.misc import AnnotationSeries, IntervalSeries
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
        ``BehavioralEvents`` has them, is a stamp at each of its timestamps. An AnnotationSeries
        has their labels, too. An IntervalSeries is a stamp for each interval, labelled by its type
        (the number k that k and -k say it begins and ends with).
    table : str, optional
        The name of the table in the file, among its events or its intervals.
    label : str, optional
        The column that says what a stamp is; by default "annotation" or "label", if there is one.
        Series have no columns.
    origin : datetime, optional
        When second 0 was; that of a file is known.

    Returns
    -------
    Stamps
        In seconds of the file, with durations; events without one last 0 s, as do intervals that
        were not over when the series was.

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
        return _of_series(source, label, origin)
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
    classes: ArrayLike | None = None,
    **windows: Any,
) -> Session:
    """A session of sliding windows over time series.

    Parameters
    ----------
    series : TimeSeries, or list of TimeSeries
        With data of one dimension, or of two, with a channel in each column. All data is read, and
        is in the unit of the series.
    stamps : Stamps
        As :func:`stamps` gives them. Those that last are bouts, as in :class:`unjitter.Session`;
        ``Stamps(stamps.times, stamps.labels)`` uses the beginnings alone.
    peaks : array-like of shape (n_peaks,), optional
        Times of peaks, in seconds of the file, which are then the instances.
    name, subject, observed
        As in :class:`unjitter.Session`; `observed` in seconds of the file.
    classes : array-like of str of shape (n_stamps,), optional
        As in :class:`unjitter.Session`: ``stamps.labels`` where labels are classes of events.
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
        data = _in_unit(one)
        when = _times(one, len(data))
        columns = {one.name: data} if data.ndim == 1 else _columns(one.name, data)
        for channel, values in columns.items():
            if channel in channels:
                raise ValueError(f"two channels are named {channel!r}")
            channels[channel], times[channel] = values, when
    own = {"name": name, "subject": subject, "observed": observed, "classes": classes}
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
        ``p_spurious``. Bouts last until their ``end``, with columns ``end_stamp``, ``end_low``,
        ``end_high`` and ``end_p_spurious``, too; stamps of classes have their ``aligned_class`` and
        ``p_class``. Rows are in order of time.
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
    places = None if aligned is None else places_of(aligned, stamps.times, stamps.durations)
    words = "stamps, moved to where a detector says that they belong" if places else "stamps"
    table = EventsTable(name=name, description=description or words)
    seconds = stamps.times if places is None else places.times
    lasting = stamps.durations if places is None else places.durations(stamps)
    columns = {} if places is None else places.told(stamps)
    for column in columns:
        table.add_column(name=column, description=TOLD[column])
    columns |= {"duration": lasting} if np.any(stamps.durations) else {}
    columns |= {"annotation": stamps.labels} if any(stamps.labels) else {}
    for k in np.argsort(seconds, kind="stable"):
        row = {column: values[k] for column, values in columns.items()}
        table.add_event(timestamp=float(seconds[k]), **row)
    return table


def _named(nwbfile: Any, table: str) -> Any:
    places = (nwbfile.events, nwbfile.intervals, nwbfile.acquisition)
    known = {name: own for place in places for name, own in (place or {}).items()}
    if nwbfile.trials is not None:
        known["trials"] = nwbfile.trials
    if table not in known:
        raise ValueError(f"the file has no {table!r}; it has {', '.join(known) or 'no events'}")
    return known[table]


def _of_series(series: Any, label: str | None, origin: Any) -> Stamps:
    """The stamps of a time series."""
    if label is not None:
        raise ValueError(f"{series.name} is a series, which has no column {label!r}")
    if series.timestamps is None:
        raise ValueError(f"{series.name} has a rate and no timestamps, expected events")
    times = finite(f"{series.name}: timestamps", series.timestamps[:])
    if not isinstance(series, (AnnotationSeries, IntervalSeries)):
        return Stamps(times, None, None, origin)
    if len(series.data) != len(times):
        raise ValueError(f"{series.name} has {len(times)} timestamps for {len(series.data)} values")
    if isinstance(series, AnnotationSeries):
        return Stamps(times, [_text(value) for value in series.data[:]], None, origin)
    return _of_intervals(series.name, times, np.asarray(series.data[:]), origin)


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


def _of_intervals(name: str, times: FloatArray, data: Any, origin: Any) -> Stamps:
    """A stamp for each interval of a series, in which k says that one of type k begins, -k that it
    ends; those of different types may overlap."""
    begun: dict[int, int] = {}
    rows: list[tuple[float, str, float]] = []
    for k in np.argsort(times, kind="stable"):
        time, kind = float(times[k]), abs(int(data[k]))
        if data[k] == 0:
            raise ValueError(f"{name}: data is 0 at {time:g} s, expected a beginning or an end")
        if (data[k] > 0) == (kind in begun):
            wrong = "begins at {:g} s within another" if data[k] > 0 else "ends at {:g} s unbegun"
            raise ValueError(f"{name}: an interval of type {kind} {wrong.format(time)}")
        if data[k] > 0:
            begun[kind] = len(rows)
            rows.append((time, str(kind), 0.0))
        else:
            row = begun.pop(kind)
            rows[row] = (rows[row][0], str(kind), time - rows[row][0])
    starts, labels, lasting = (list(own) for own in zip(*rows)) if rows else ([], [], [])
    return Stamps(starts, labels, lasting, origin)


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


def _in_unit(series: Any) -> FloatArray:
    """All data of a series in its unit, by the conversions that it has for all channels and, where
    amplifiers differ, for each of them."""
    data = np.asarray(series.data[:], dtype=np.float64)
    if data.ndim not in (1, 2):
        raise ValueError(f"{series.name}: data has {data.ndim} dimensions, expected 1 or 2")
    factor, offset = float(series.conversion), float(series.offset or 0.0)
    own = getattr(series, "channel_conversion", None)
    if own is None:
        return data * factor + offset
    each = np.asarray(own[:], dtype=np.float64)
    channels = 1 if data.ndim == 1 else data.shape[1]
    if each.shape != (channels,):
        raise ValueError(
            f"{series.name}: channel_conversion has shape {each.shape}, expected ({channels},)"
        )
    return data * (factor * each) + offset


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
