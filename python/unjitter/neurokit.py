"""Peaks that NeuroKit2 found as instances: heart beats, breaths, skin conductance responses.

    signals, info = neurokit2.ecg_process(ecg, sampling_rate=250)
    session = unjitter.neurokit.session(signals, info, events=[12.4, 31.0])

NeuroKit2 gives a table of signals, sample by sample, and a dict with the samples of its peaks.
Their numbers count from the first row of that table. ``pip install 'unjitter[neurokit]'`` brings
NeuroKit2; nothing here loads it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._check import above_zero
from ._recording import Recording
from ._session import Session
from .stamps import Stamps
from .stamps.source import FloatArray
from .stamps.stamps import finite

__all__ = ["peaks", "session"]

# The peaks that stand for a signal, in the order in which they are looked for.
PEAKS = (
    "ECG_R_Peaks",
    "PPG_Peaks",
    "RSP_Troughs",
    "SCR_Peaks",
    "EMG_Onsets",
    "EGG_Peaks",
    "EOG_Blinks",
)


def peaks(info: Mapping[str, Any], of: str | None = None) -> FloatArray:
    """Times of peaks, in seconds from the first sample.

    Parameters
    ----------
    info : dict
        As NeuroKit2 gives it, with the samples of peaks and ``sampling_rate``.
    of : str, optional
        The entry, such as "ECG_R_Peaks"; by default the first of those that stand for a signal.

    Returns
    -------
    ndarray of shape (n_peaks,)

    Examples
    --------
    >>> import unjitter.neurokit
    >>> unjitter.neurokit.peaks({"ECG_R_Peaks": [100, 300, 520], "sampling_rate": 250})
    array([0.4 , 1.2 , 2.08])
    """
    return finite(_name_of(info, of), info[_name_of(info, of)]) / _rate_of(info)


def session(
    signals: Any,
    info: Mapping[str, Any],
    events: Stamps | ArrayLike,
    *,
    of: str | None = None,
    columns: Sequence[str] | None = None,
    name: str | None = None,
    subject: str | None = None,
    observed: ArrayLike | None = None,
    classes: ArrayLike | None = None,
) -> Session:
    """A session with an instance for each peak but the first and the last.

    Parameters
    ----------
    signals : DataFrame
        As NeuroKit2 gives it: one row for each sample.
    info : dict
        What it gives beside it.
    events : Stamps, or array-like of shape (n_stamps,)
        Seconds from the first sample. Stamps that last are bouts, as in :class:`unjitter.Session`;
        their ``times`` are the beginnings alone.
    of : str, optional
        The entry of `info` with the peaks, as in :func:`peaks`.
    columns : sequence of str, optional
        The signals that features are made of; by default the columns that hold decimal numbers, of
        which none is missing everywhere, but for the raw signal.
    name, subject, observed, classes
        As in :class:`unjitter.Session`; `classes` are ``events.labels`` where these are classes.

    Returns
    -------
    Session
        Features are the intervals to the peaks on both sides, also relative to those around, and
        the value, mean, spread, minimum and maximum of each column near the peak. They are NaN
        where NeuroKit2 gave none.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> import unjitter.neurokit
    >>> signals = pd.DataFrame({"ECG_Clean": np.sin(np.arange(1000) / 25.0)})
    >>> info = {"ECG_R_Peaks": np.array([39, 196, 353, 510, 667]), "sampling_rate": 100}
    >>> unjitter.neurokit.session(signals, info, events=[3.9])
    Session(3 instances x 9 features, 1 stamp)
    """
    rate = _rate_of(info)
    table = {str(column): np.asarray(signals[column]) for column in signals.columns}
    named = _decimal(table) if columns is None else list(columns)
    for column in named:
        if column not in table:
            raise ValueError(f"signals has no column {column!r}; it has {', '.join(table)}")
    if not named:
        raise ValueError("signals has no column of decimal numbers, expected one at least")
    channels = {column: np.asarray(table[column], dtype=np.float64) for column in named}
    times = np.arange(len(signals)) / rate
    recording = Recording(channels, dict.fromkeys(channels, times))
    own = {"name": name, "subject": subject, "observed": observed, "classes": classes}
    return recording.session(events, peaks(info, of), {}, **own)


def _rate_of(info: Mapping[str, Any]) -> float:
    if "sampling_rate" not in info:
        raise ValueError("info has no 'sampling_rate', expected what NeuroKit2 gives with signals")
    return above_zero("sampling_rate", info["sampling_rate"])


def _name_of(info: Mapping[str, Any], of: str | None) -> str:
    if of is not None and of not in info:
        raise ValueError(f"info has no {of!r}; it has {', '.join(map(str, info))}")
    known = [of] if of is not None else [name for name in PEAKS if name in info]
    if not known:
        raise ValueError(f"info has none of {', '.join(PEAKS)}; name its peaks by `of`")
    return str(known[0])


def _decimal(table: Mapping[str, NDArray[Any]]) -> list[str]:
    """Columns that are signals: marks of peaks and phases are whole numbers."""
    return [
        column
        for column, values in table.items()
        if values.dtype.kind == "f"
        and not np.all(np.isnan(values))
        and not np.all(values[~np.isnan(values)] % 1.0 == 0.0)
        and not column.endswith("_Raw")
    ]
