"""The distinct explanations that a fit found for the same stamps."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from . import _core


@dataclass(frozen=True)
class Mode:
    """One explanation of the stamps: an optimum of a fit.

    Attributes
    ----------
    delay, spread, miss_rate, false_rate, background_rate : float
        The annotator, as in the attributes of a fitted :class:`EventDetector`.
    log_evidence : float
        log p(stamps | features, times) of the training sessions.
    held_out : (mean, standard error) or None
        By how much sessions that were left out of learning have more log evidence than with the
        mode that ``fit`` chose, on average per session. None if the mode is no rival, or if there
        is one session.
    shift : int
        By how many instances its detector fires later than that of the mode that ``fit`` chose.
    """

    delay: float
    spread: float
    miss_rate: float
    false_rate: float
    background_rate: float
    log_evidence: float
    held_out: tuple[float, float] | None
    shift: int


def modes_of(fitted: _core.Fitted) -> list[Mode]:
    """The modes of a fit, the one in use first."""
    return [mode_of(mode) for mode in json.loads(fitted.modes())]


def mode_of(mode: dict[str, Any]) -> Mode:
    """A mode as the library wrote it."""
    held_out = mode["held_out"]
    return Mode(
        **mode["learned"],
        log_evidence=mode["log_evidence"],
        held_out=None if held_out is None else (held_out["mean"], held_out["standard_error"]),
        shift=mode["shift"],
    )
