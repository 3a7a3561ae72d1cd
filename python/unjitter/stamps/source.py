"""What a file held when it was read: its stamps, and how to write them back.

A format reads a file into a `Source`. It keeps whatever the file has besides stamps, so that
moved stamps go back among everything else as it was.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

FloatArray: TypeAlias = npt.NDArray[np.float64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
IntArray: TypeAlias = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Found:
    """Stamps in the order of the file; times and durations in seconds."""

    times: FloatArray
    labels: tuple[str, ...]
    durations: FloatArray
    origin: datetime | None = None

    @staticmethod
    def of(
        times: Sequence[float],
        labels: Sequence[str],
        durations: Sequence[float] | None = None,
        origin: datetime | None = None,
    ) -> Found:
        """Stamps from lists; durations are zero if not given."""
        seconds = np.zeros(len(times)) if durations is None else np.asarray(durations, float)
        return Found(np.asarray(times, float).reshape(-1), tuple(labels), seconds, origin)


class Source(ABC):
    """A file as it was read."""

    def __init__(self, format: str, path: str, found: Found) -> None:
        self.format = format
        self.path = path
        self.found = found

    @abstractmethod
    def render(self, times: FloatArray, kept: BoolArray) -> Iterable[bytes]:
        """The file with its stamps at `times`, less those not `kept`; both in file order.

        A stamp whose time did not change must be written as it was, byte for byte where the
        format allows.
        """


def writing_order(before: FloatArray, now: FloatArray, kept: BoolArray) -> list[int]:
    """The order in which to write the stamps that are kept.

    A file that was in order of time stays so; one that was not keeps its own order.
    """
    stamps = [int(i) for i in np.flatnonzero(kept)]
    if np.all(before[1:] >= before[:-1]):
        stamps.sort(key=lambda i: now[i])
    return stamps
