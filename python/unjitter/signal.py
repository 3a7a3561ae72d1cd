"""From raw sensor signals to instances: respiration cycles and sliding windows, with features.

A chest band is cut into breaths (:func:`find_cycles`) with :func:`cycle_features`; any other sensor
is cut into windows of equal length (:func:`windows`). Sampling may be irregular and have gaps, and
NaN is a missing sample.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core, _tables
from ._calendar import read_times
from ._channels import (
    between,
    channel_of,
    columns_of,
    earliest,
    of_channel,
    seconds_of,
    zone_of,
)
from ._check import whole
from ._histogram import Histogram
from ._session import Session

__all__ = [
    "CYCLE_FEATURES",
    "SUMMARIES",
    "CycleOptions",
    "Cycles",
    "Histogram",
    "Windows",
    "cycle_features",
    "find_cycles",
    "session_from_signal",
    "session_from_windows",
    "windows",
]

CYCLE_FEATURES: tuple[str, ...] = tuple(_core.cycle_feature_names())
"""Names of the columns of :func:`cycle_features`."""

SUMMARIES: tuple[str, ...] = tuple(_core.summary_names())
"""Names of the statistics of one channel in one window."""

_MEASURES = (
    "start",
    "peak",
    "end",
    "start_value",
    "peak_value",
    "end_value",
    "stretch",
    "inhalation_area",
    "exhalation_area",
)

_Floats = NDArray[np.float64]


@dataclass(frozen=True)
class CycleOptions:
    """Settings for finding respiration cycles. The defaults suit a chest band at 20 to 25 Hz.

    Parameters
    ----------
    rate : float
        Rate of the uniform grid, in Hz; near that of the sensor.
    max_gap : float
        Longest step between samples that is bridged by a straight line, in seconds; a longer one
        ends a run, and no cycle spans two runs.
    despike : float
        Width of the median filter against spikes, in seconds.
    smoothing : float
        Width of the moving average, in seconds. All reported values are read after it.
    baseline : float
        Width of the moving median that is the baseline, in seconds; several cycles.
    breath : float
        Width of the window whose range is the swing at a moment, in seconds; about one cycle.
    neighbourhood : float
        Width of the neighbourhood whose median swing is the usual one, in seconds; many cycles.
    prominence : float
        Smallest rise and fall of a cycle, as a share of the usual swing of its neighbourhood.
    floor : float
        Smallest usual swing assumed for a neighbourhood, as a share of the median one.
    onset : float
        How far the signal has risen at the beginning of inhalation, as a share of the rise.
    min_duration, max_duration : float
        Shortest and longest cycle, in seconds.
    min_amplitude : float
        Smallest rise and fall of a cycle, in units of the signal.
    neighbours : int
        How many cycles before, and as many after, make the surroundings of a cycle, for features.
    """

    rate: float = 20.0
    max_gap: float = 1.0
    despike: float = 0.3
    smoothing: float = 0.3
    baseline: float = 15.0
    breath: float = 4.0
    neighbourhood: float = 60.0
    prominence: float = 0.35
    floor: float = 0.25
    onset: float = 0.1
    min_duration: float = 1.0
    max_duration: float = 15.0
    min_amplitude: float = 0.0
    neighbours: int = 15

    def settings(self) -> dict[str, Any]:
        """The options as JSON for the library."""
        return asdict(self)


@dataclass(frozen=True, eq=False)
class Cycles:
    """Respiration cycles in order of time, one entry of each array per cycle.

    Attributes
    ----------
    run : ndarray of int
        The run without gaps of each cycle.
    start, peak, end : ndarray
        When inhalation, exhalation and the next inhalation begin, in seconds.
    start_value, peak_value, end_value : ndarray
        Smoothed signal at the trough before the peak, at the peak and at the trough after it.
    stretch : ndarray
        Highest minus lowest value.
    inhalation_area, exhalation_area : ndarray
        Area between the signal and its lowest value, before and after the peak.
    runs : int
        Runs without gaps in the signal.
    rejected : dict of str to int
        Rejected candidates: ``short``, ``long`` and ``small``.
    """

    run: NDArray[np.int64]
    start: _Floats
    peak: _Floats
    end: _Floats
    start_value: _Floats
    peak_value: _Floats
    end_value: _Floats
    stretch: _Floats
    inhalation_area: _Floats
    exhalation_area: _Floats
    runs: int
    rejected: dict[str, int]

    def __len__(self) -> int:
        return len(self.start)

    def __repr__(self) -> str:
        return f"Cycles({len(self)} in {self.runs} runs, rejected {self.rejected})"

    def to_frame(self, backend: str | None = None) -> Any:
        """One row per cycle, as a data frame of `backend`, of pandas, or else a `Table`."""
        columns = {name: getattr(self, name) for name in ("run", *_MEASURES)}
        return _tables.frame(columns, backend)


class Windows(NamedTuple):
    """Windows of a recording, in order of time."""

    times: NDArray[Any]
    X: _Floats
    feature_names: tuple[str, ...]
    skipped: int


def find_cycles(
    values: ArrayLike,
    *,
    times: ArrayLike | None = None,
    sampling_rate: float | None = None,
    options: CycleOptions | None = None,
) -> Cycles:
    """The respiration cycles in the signal of a chest band.

    Parameters
    ----------
    values : array-like of shape (n_samples,)
        The signal; NaN is a missing sample.
    times : array-like of shape (n_samples,), optional
        Time of each sample, in seconds; they do not decrease.
    sampling_rate : float, optional
        Instead of times, samples per second; the first is at zero.
    options : CycleOptions, optional
        Settings of the search.

    Returns
    -------
    Cycles

    Examples
    --------
    >>> import numpy as np
    >>> from unjitter import signal
    >>> seconds = np.arange(0.0, 60.0, 0.05)
    >>> breathing = -np.cos(2 * np.pi * seconds / 4.0)
    >>> cycles = signal.find_cycles(breathing, times=seconds)
    >>> len(cycles), np.median(cycles.end - cycles.start).round(6)
    (13, np.float64(4.0))
    """
    channel, _ = channel_of(values, times, sampling_rate)
    run, table, runs, rejected = _core.find_cycles(channel, _settings(options))
    columns = dict(zip(_MEASURES, map(np.ascontiguousarray, table.T)))
    reasons = dict(zip(("short", "long", "small"), rejected))
    return Cycles(run=run, **columns, runs=runs, rejected=reasons)


def cycle_features(cycles: Cycles, *, neighbours: int = 15) -> _Floats:
    """Features of respiration cycles: durations, amplitudes, shape, and how they stand out.

    Parameters
    ----------
    cycles : Cycles
    neighbours : int
        How many cycles before, and as many after, make the surroundings of a cycle.

    Returns
    -------
    ndarray of shape (n_cycles, 30)
        Columns are named by ``CYCLE_FEATURES``.

    Examples
    --------
    >>> import numpy as np
    >>> from unjitter import signal
    >>> breathing = -np.cos(2 * np.pi * np.arange(0.0, 60.0, 0.05) / 4.0)
    >>> cycles = signal.find_cycles(breathing, sampling_rate=20.0)
    >>> features = signal.cycle_features(cycles)
    >>> duration = features[:, signal.CYCLE_FEATURES.index("duration")]
    >>> bool(np.allclose(duration, cycles.end - cycles.start))
    True
    """
    table = np.column_stack([getattr(cycles, name) for name in _MEASURES])
    return _core.cycle_features(
        cycles.run, np.ascontiguousarray(table), whole("neighbours", neighbours)
    )


def session_from_signal(
    values: ArrayLike,
    *,
    times: ArrayLike | None = None,
    sampling_rate: float | None = None,
    events: ArrayLike = (),
    true_events: ArrayLike | None = None,
    tolerance: float = 1.5,
    options: CycleOptions | None = None,
    name: str | None = None,
    subject: str | None = None,
    observed: ArrayLike | None = None,
) -> Session:
    """A session of breaths from the signal of a chest band.

    Parameters
    ----------
    values, times, sampling_rate, options
        As in :func:`find_cycles`; times may be dates, with or without a time zone.
    events : array-like
        The presses; with a time zone if and only if times have one.
    true_events : array-like, optional
        Beginnings of the breaths that are true events, if known; these become labels.
    tolerance : float
        Largest distance, in seconds, between the start of a cycle and its true event.
    name, subject, observed
        As in :class:`Session`.

    Returns
    -------
    Session
        One instance per cycle, at its start; features are those of :func:`cycle_features`.

    Examples
    --------
    >>> import numpy as np
    >>> from unjitter import signal
    >>> breathing = -np.cos(2 * np.pi * np.arange(0.0, 60.0, 0.05) / 4.0)
    >>> signal.session_from_signal(breathing, sampling_rate=20.0, events=[21.5], name="rest")
    Session('rest', 13 instances x 30 features, 1 stamp)
    """
    channel, calendar = channel_of(values, times, sampling_rate)
    truth = () if true_events is None else true_events
    starts, features, labels, _ = _core.session_from_signal(
        "signal" if name is None else name,
        channel,
        seconds_of("true_events", truth, calendar),
        _settings(options),
        float(tolerance),
    )
    return Session(
        features,
        starts if calendar is None else calendar.times(starts),  # type: ignore[arg-type]
        events,
        None if true_events is None else labels,
        subject,
        observed,
        name,
        feature_names=CYCLE_FEATURES,
    )


def windows(
    channels: Mapping[str, ArrayLike] | ArrayLike,
    *,
    times: Mapping[str, ArrayLike] | ArrayLike | None = None,
    sampling_rate: Mapping[str, float] | float | None = None,
    length: float = 2.0,
    step: float = 1.0,
    anchor: str = "centre",
    min_share: float = 0.67,
    bands: Sequence[tuple[float, float]] = (),
) -> Windows:
    """Sliding windows over any sensor, each described by summary statistics.

    Parameters
    ----------
    channels : mapping of name to array-like, data frame, or array-like of one or two dimensions
        Samples of each channel; the columns of a table, or one channel. NaN is a missing sample.
    times : array-like of shape (n_samples,), or mapping of name to array-like, optional
        Times of the samples, in seconds or as dates; of each channel, if they differ.
    sampling_rate : float, or mapping of name to float, optional
        Instead of times, samples per second; the first is at zero.
    length, step : float
        Length of a window, and from the start of one to that of the next, in seconds.
    anchor : {"start", "centre", "end"}
        The moment of a window that is its time.
    min_share : float
        Least number of samples of each channel, as a share of that at its usual rate.
    bands : sequence of (low, high)
        Frequency bands, in Hz, whose share of the power is a feature.

    Returns
    -------
    Windows
        ``times, X, feature_names`` and how many windows were ``skipped`` for too few samples.
        Times are NumPy's dates if dates were given, in UTC if those had a time zone.

    Examples
    --------
    >>> import numpy as np
    >>> from unjitter import signal
    >>> found = signal.windows({"x": np.zeros(100)}, sampling_rate=10.0, length=4.0, step=2.0)
    >>> found.times
    array([2., 4., 6., 8.])
    >>> found.feature_names[:2]
    ('x_mean', 'x_sd')
    """
    table = columns_of(channels)
    made = [
        channel_of(values, of_channel(times, name), of_channel(sampling_rate, name))
        for name, values in table.items()
    ]
    origin = earliest([calendar for _, calendar in made])
    options = {
        "length": float(length),
        "step": float(step),
        "anchor": anchor,
        "min_share": float(min_share),
        "bands": [(float(low), float(high)) for low, high in bands],
    }
    parts = [(seconds + between(origin, calendar), values) for (seconds, values), calendar in made]
    found, features, names, skipped = _core.windows(parts, list(table), json.dumps(options))
    when = found if origin is None else origin.dates(found)
    return Windows(when, features, tuple(names), skipped)


def session_from_windows(
    channels: Mapping[str, ArrayLike] | ArrayLike,
    *,
    events: ArrayLike = (),
    name: str | None = None,
    subject: str | None = None,
    observed: ArrayLike | None = None,
    **options: Any,
) -> Session:
    """A session of sliding windows.

    Parameters
    ----------
    channels : mapping, data frame or array-like
        As in :func:`windows`.
    events : array-like
        The presses.
    name, subject, observed
        As in :class:`Session`.
    **options
        All others of :func:`windows`.

    Returns
    -------
    Session

    Examples
    --------
    >>> import numpy as np
    >>> from unjitter import signal
    >>> samples = np.random.default_rng(0).normal(size=(1000, 3))
    >>> signal.session_from_windows(samples, sampling_rate=50.0, events=[7.2])
    Session(19 instances x 39 features, 1 stamp)
    """
    found = windows(channels, **options)
    times = read_times(found.times).in_zone(zone_of(options.get("times")))
    return Session(
        found.X,
        times,  # type: ignore[arg-type]
        events,
        subject=subject,
        observed=observed,
        name=name,
        feature_names=found.feature_names,
    )


def _settings(options: CycleOptions | None) -> str:
    return json.dumps((CycleOptions() if options is None else options).settings())
