"""Detection while instances arrive."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from ._floats import floats

_Floats = NDArray[np.float64]


class Event(NamedTuple):
    """An event of a recording that goes on."""

    start: float
    # The time of its last instance: its only one, unless labels form runs.
    end: float
    # That of its surest instance.
    probability: float


class Departed(NamedTuple):
    """What leaves a stream when instances arrive, in order of time."""

    # Of each instance that leaves.
    times: _Floats
    probability: _Floats
    # How far instances to come could still have moved that probability.
    unsettled: _Floats
    events: list[Event]


class Stream:
    """A recording whose instances arrive one by one; made by ``detector.stream()``.

    With independent labels every instance leaves at once. With ``labels="chain"`` it waits until
    nothing that may come can move its probability by more than `tolerance`. An event waits until
    none that may come can be chosen in its place. Probabilities and events are then those of
    ``predict_proba`` and ``detect_events`` for the whole recording, up to `tolerance`.

    With `within`, instances, and events of independent labels, leave at the latest when an instance
    arrives that is so much later, as if the recording ended there; events are still
    `min_separation` apart.
    """

    def __init__(self, stream: _core.Stream, rows: Callable[[Any], Any]) -> None:
        self._stream = stream
        # Checks features as those of arrays to predict.
        self._rows = rows

    def push(self, times: ArrayLike, X: ArrayLike) -> Departed:
        """Instances arrive, none before the one before it; if they are refused, none has.

        Parameters
        ----------
        times : float, or array-like of shape (n_instances,)
            In the unit of the sessions that the detector was fitted with.
        X : array-like of shape (n_features,), or (n_instances, n_features)
            Features of the one instance, or of all.

        Returns
        -------
        Departed
            ``times``, ``probability`` and ``unsettled`` of the instances that leave, and
            ``events``, each with ``start``, ``end`` and ``probability``.
        """
        own, rows = floats(times, "times"), [X] if np.ndim(times) == 0 else X
        return _departed(self._stream.push(own.reshape(-1), self._rows(rows)))

    def finish(self) -> Departed:
        """The recording ends: everything that waited leaves. Another may begin."""
        return _departed(self._stream.finish())


def _departed(left: Any) -> Departed:
    (times, probability, unsettled), events = left
    return Departed(times, probability, unsettled, [Event(*event) for event in events])
