"""What a file held when it was read: its stamps, and the file, which the library keeps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from .. import _core
from .moments import to_datetime

FloatArray: TypeAlias = npt.NDArray[np.float64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
IntArray: TypeAlias = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Found:
    """Stamps in the order of the file; times and durations in seconds."""

    times: FloatArray
    labels: Sequence[str]
    durations: FloatArray
    origin: datetime | None = None
    # Whether second 0 is that of the first stamp because nothing tells when the recording began.
    origin_is_guess: bool = False


class Source:
    """A file as it was read. A copy made by pickle reads it again."""

    def __init__(self, path: str, format: str, options: dict[str, Any]) -> None:
        self.path = path
        self.format = format
        self.options = options
        self.file = _core.StampFile(path, format, **options)
        times, labels, durations, origin = self.file.found()
        when = None if origin is None else to_datetime(origin)
        is_guess = self.file.origin_is_guess
        self.found = Found(times, tuple(labels), durations, when, is_guess)

    def __reduce__(self) -> tuple[Any, ...]:
        found = self.found
        return again, (self.path, self.format, self.options, found.times, found.labels)


def again(
    path: str, format: str, options: dict[str, Any], times: FloatArray, labels: Sequence[str]
) -> Source:
    """A file read again, which must have the same stamps."""
    source = Source(path, format, options)
    found = source.found
    if not np.array_equal(found.times, times) or found.labels != labels:
        raise ValueError(f"{path} has changed since it was read; read it again")
    return source
