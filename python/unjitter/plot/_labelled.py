"""Probabilities beside the known labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._pooled import positive_column
from .._session import Session


def listed(sessions: Session | Sequence[Session]) -> list[Session]:
    """One session as a list of one."""
    return [sessions] if isinstance(sessions, Session) else list(sessions)


def aligning(detector: Any) -> None:
    """Refuses detectors without a model of stamps: baselines, pipelines."""
    if not hasattr(detector, "align_instances"):
        raise ValueError(
            f"{type(detector).__name__} does not align stamps, expected an EventDetector (the last "
            "step of a pipeline, with sessions that the other steps have transformed)"
        )


def by_name(detectors: Any) -> dict[str, Any]:
    """Detectors by name: their own kind and a number if the user gave none."""
    if isinstance(detectors, Mapping):
        return {str(name): detector for name, detector in detectors.items()}
    if not isinstance(detectors, Sequence):
        return {type(detectors).__name__: detectors}
    kinds = [type(detector).__name__ for detector in detectors]
    return {
        kind if kinds.count(kind) == 1 else f"{kind} {kinds[:position].count(kind) + 1}": detector
        for position, (kind, detector) in enumerate(zip(kinds, detectors, strict=True))
    }


def scored(detector: Any, sessions: Any) -> tuple[NDArray[np.int8], NDArray[np.float64]]:
    """Labels and probabilities of all labelled instances, session after session."""
    labels, probabilities = [], []
    for session in listed(sessions):
        if session.labels is None:
            continue
        known = session.labels >= 0
        labels.append(session.labels[known])
        probabilities.append(positive_column(detector.predict_proba(session))[known])
    if not sum(map(len, labels)):
        raise ValueError("none of these sessions has labels to judge by")
    return np.concatenate(labels), np.concatenate(probabilities)
