"""Datasets of SeisBench: arrival columns as stamps, traces as sessions, better arrivals back, and a
labeller that hands stamps to the loss instead of drawing a bump around them.

    sessions = unjitter.seisbench.sessions(dataset, "P", length=0.5, step=0.1)
    aligned = EventDetector().fit(sessions).align(sessions)
    better = unjitter.seisbench.repicked(dataset.metadata, aligned, "P")

    generator.augmentation(unjitter.seisbench.StampLabeller("P"))

Each trace has one arrival of each phase at most, as a fractional sample from its start in
``trace_*_arrival_sample``; NaN if it was not picked. All of this needs metadata and arrays alone,
so SeisBench is not loaded here; ``pip install 'unjitter[seisbench]'`` brings it, with PyTorch.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ._check import above_zero, whole
from ._recording import Recording, places_of
from ._session import Session
from .stamps import Stamps

__all__ = ["StampLabeller", "repicked", "sessions", "stamps"]

ARRIVAL = re.compile(r"trace_(.+)_arrival_sample")
RATE = "trace_sampling_rate_hz"
Phases = str | Iterable[str] | None


def stamps(metadata: Mapping[str, Any], phase: Phases = None) -> Stamps:
    """The arrivals in the metadata of one trace.

    Parameters
    ----------
    metadata : mapping, or row of a DataFrame
        Of one trace.
    phase : str or iterable of str, optional
        As in the names of the columns: "P" is ``trace_P_arrival_sample``; all by default.

    Returns
    -------
    Stamps
        In seconds from the start of the trace, labelled by their phase.

    Examples
    --------
    >>> import unjitter.seisbench
    >>> row = {"trace_sampling_rate_hz": 100.0, "trace_P_arrival_sample": 425.0}
    >>> unjitter.seisbench.stamps(row).times
    array([4.25])
    """
    picked = _picked(metadata, _columns(metadata, phase))
    rate = _rate(metadata)
    return Stamps(
        [sample / rate for sample in picked.values()], [_phase(column) for column in picked]
    )


def sessions(
    dataset: Any, phase: Phases = None, *, classes: bool = False, **windows: Any
) -> list[Session]:
    """A session of sliding windows for each trace of a dataset.

    Parameters
    ----------
    dataset : seisbench.data.WaveformDataset
        Or anything with a length, and ``get_sample(k)`` that gives components by samples, and the
        metadata.
    phase : str or iterable of str, optional
        The phases that are stamps, as in :func:`stamps`.
    classes : bool
        Whether phases are the ``classes`` of events. By default sessions do not tell them apart.
    **windows
        Options of :func:`unjitter.signal.windows`, such as ``length`` and ``step``.

    Returns
    -------
    list of Session
        Named by ``trace_name``; times are seconds from the start of each trace.
    """
    found = []
    for k in range(len(dataset)):
        waveforms, metadata = dataset.get_sample(k)
        samples = np.asarray(waveforms, dtype=np.float64)
        if samples.ndim != 2:
            raise ValueError(f"trace {k} has {samples.ndim} dimensions, expected 2")
        order = str(metadata.get("trace_component_order") or "")
        names = order if len(order) == len(samples) else map(str, range(len(samples)))
        channels = dict(zip(names, samples))
        times = np.arange(samples.shape[1]) / _rate(metadata)
        name = str(metadata.get("trace_name", k))
        recording = Recording(channels, dict.fromkeys(channels, times))
        try:
            own = stamps(metadata, phase)
            told = own.labels if classes else None
            found.append(recording.session(own, None, windows, name=name, classes=told))
        except ValueError as error:
            raise ValueError(f"trace {name}: {error}") from None
    return found


def repicked(metadata: Any, aligned: Any, phase: Phases = None) -> Any:
    """A copy of metadata with the arrivals where they belong.

    Parameters
    ----------
    metadata : DataFrame
        Of all traces that :func:`sessions` made sessions of, in their order.
    aligned : DataFrame
        The table of :meth:`unjitter.EventDetector.align` for these sessions.
    phase : str or iterable of str, optional
        As given to :func:`sessions`.

    Returns
    -------
    DataFrame
        ``trace_*_arrival_sample`` is where the arrival belongs, ``trace_*_arrival_uncertainty_s``
        half the width of its interval, and ``trace_*_stamped_sample`` where it was stamped. Windows
        that SeisBench cuts move that column too, and its labellers leave it alone.

    Examples
    --------
    >>> import pandas as pd
    >>> import unjitter.seisbench
    >>> row = {"trace_sampling_rate_hz": 100.0, "trace_P_arrival_sample": 425.0}
    >>> found = {"stamp": [4.25], "time": [4.0], "low": [3.5], "high": [4.5], "p_spurious": [0.0]}
    >>> better = unjitter.seisbench.repicked(pd.DataFrame([row]), pd.DataFrame(found), "P")
    >>> better["trace_P_arrival_sample"].tolist()
    [400.0]
    """
    columns = _columns(metadata, phase)
    rows = [metadata.iloc[k] for k in range(len(metadata))]
    asked = []
    for k, row in enumerate(rows):
        rate = _rate(row)
        asked += [(k, column, rate, s / rate) for column, s in _picked(row, columns).items()]
    places = places_of(aligned, np.array([seconds for *_, seconds in asked]))
    moved = metadata.copy()
    for column in columns:
        of = f"trace_{_phase(column)}"
        moved[f"{of}_stamped_sample"] = metadata[column]
        mine = [k for k, own in enumerate(asked) if own[1] == column]
        at = [asked[k][0] for k in mine]
        rates = np.array([asked[k][2] for k in mine])
        samples = np.full(len(metadata), np.nan)
        samples[at] = places.times[mine] * rates
        moved[column] = samples
        widths = np.full(len(metadata), np.nan)
        widths[at] = 0.5 * (places.high - places.low)[mine]
        moved[f"{of}_arrival_uncertainty_s"] = widths
    return moved


class StampLabeller:
    """An augmentation for SeisBench's generators: stamps for the loss of :mod:`unjitter.torch`.

    It stands where a ``ProbabilisticLabeller`` would, after windows are cut, and puts ``times``,
    ``events`` and ``event_lengths`` beside ``X``: what the loss takes, for a network that gives one
    logit per sample, or one for every `step` samples. Arrivals outside the window are no stamps.

    Parameters
    ----------
    phase : str or iterable of str
        The phases that the network detects, as in :func:`stamps`.
    most : int
        Stamps of a window at most; the rest of ``events`` is padding.
    step : int
        Samples for each logit.
    key : str
        Where the waveform is.

    Examples
    --------
    >>> import numpy as np
    >>> from unjitter.seisbench import StampLabeller
    >>> row = {"trace_sampling_rate_hz": 100.0, "trace_P_arrival_sample": 425.0}
    >>> state = {"X": (np.zeros((3, 1000)), row)}
    >>> StampLabeller("P")(state)
    >>> state["events"][0], state["event_lengths"][0], state["times"][0].shape
    (array([4.25]), array(1), (1000,))
    """

    def __init__(
        self, phase: str | Iterable[str], *, most: int = 1, step: int = 1, key: str = "X"
    ) -> None:
        self.phase = [phase] if isinstance(phase, str) else list(phase)
        self.most = whole("most", most)
        self.step = whole("step", step)
        if self.step < 1:
            raise ValueError("step is 0, expected at least 1")
        self.key = key

    def __call__(self, state: dict[str, Any]) -> None:
        X, metadata = state[self.key]
        if X.ndim != 2:
            raise ValueError(f"{self.key} has {X.ndim} dimensions, expected one window of 2")
        # A trace without a pick of a phase may lack its column altogether.
        columns = [f"trace_{phase}_arrival_sample" for phase in self.phase]
        picked = _picked(metadata, [column for column in columns if column in metadata])
        inside = sorted(own for own in picked.values() if 0.0 <= own <= X.shape[1] - 1)
        if len(inside) > self.most:
            raise ValueError(f"a window has {len(inside)} stamps, expected {self.most} at most")
        rate = _rate(metadata)
        events = np.zeros(self.most)
        events[: len(inside)] = np.array(inside) / rate
        told = {
            "times": np.arange(0, X.shape[1], self.step) / rate,
            "events": events,
            "event_lengths": np.array(len(inside)),
        }
        for name, values in told.items():
            state[name] = (values, copy.deepcopy(metadata))


def _columns(metadata: Any, phase: Phases) -> list[str]:
    """The columns of some phases, or all in alphabetical order."""
    # A row iterates over its values, a frame over its names.
    names = map(str, metadata.keys())
    known = sorted(name for name in names if ARRIVAL.fullmatch(name))
    if phase is None:
        return known
    wanted = [phase] if isinstance(phase, str) else list(phase)
    columns = [f"trace_{own}_arrival_sample" for own in wanted]
    for column in columns:
        if column not in known:
            raise ValueError(f"no column {column!r}; there are {', '.join(known) or 'none'}")
    return columns


def _picked(metadata: Any, columns: Iterable[str]) -> dict[str, float]:
    """The samples of arrivals that were picked, in order of time."""
    found = {}
    for column in columns:
        sample = np.asarray(metadata[column], dtype=np.float64)
        if sample.ndim != 0:
            raise ValueError(f"{column} has {sample.ndim} dimensions, expected one number")
        if np.isinf(sample):
            raise ValueError(f"{column} is {sample}, expected a sample, or NaN for none")
        if not np.isnan(sample):
            found[column] = float(sample)
    return dict(sorted(found.items(), key=lambda own: own[1]))


def _phase(column: str) -> str:
    found = ARRIVAL.fullmatch(column)
    return "" if found is None else found[1]


def _rate(metadata: Any) -> float:
    if RATE not in metadata:
        raise ValueError(f"metadata has no {RATE!r}, expected what SeisBench keeps of a trace")
    # SeisBench gives numbers of a trace that it resampled as arrays without a dimension.
    return above_zero(RATE, float(metadata[RATE]))
