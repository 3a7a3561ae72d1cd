"""Which rows of a frame a session came from, so that answers can go back to them.

A session keeps its own rows only: their places, their part of the index where the library has one,
and, of the events, the columns that the detector has no use for. So a session that travels alone
takes nothing of the others along, and no features are kept twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from uuid import uuid4

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

_Positions = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of a frame, by their places in it.

    `frame` tells frames apart, in other processes too; `name` is the session as the frame has it;
    `others` are further columns, as the frame's own library has them.
    """

    frame: str
    backend: str
    positions: _Positions
    name: Any = None
    index: Any = None
    others: Any = None


class Source:
    """A frame, and those of its columns that answers give back."""

    def __init__(self, table: nw.DataFrame[Any], others: Sequence[str] = ()) -> None:
        self._frame = uuid4().hex
        self._backend = str(table.implementation)
        self._index = nw.maybe_get_index(table)
        self._others = table.select(others) if others else None

    def rows(self, positions: _Positions, name: Any) -> Rows:
        """Those of one session."""
        index = None if self._index is None else self._index[positions]
        others = None if self._others is None else self._others[positions].to_native()
        return Rows(self._frame, self._backend, positions, name, index, others)


class Together(NamedTuple):
    """Rows of several sessions in the order of their frame."""

    backend: str
    # Where each row is among those of the sessions laid one below the other.
    order: _Positions
    index: Any
    others: nw.DataFrame[Any] | None


def together(parts: Sequence[Rows | None]) -> Together | None:
    """The rows of all sessions; None unless they are of one frame and no row is there twice."""
    known = [part for part in parts if part is not None]
    if len(known) < len(parts) or len({part.frame for part in known}) > 1:
        return None
    positions = np.concatenate([part.positions for part in known])
    if len(np.unique(positions)) < len(positions):
        return None
    order = np.argsort(positions)
    first, *rest = known
    index = None if first.index is None else first.index.append([own.index for own in rest])[order]
    others = None
    if first.others is not None:
        tables = [nw.from_native(own.others, eager_only=True) for own in known]
        others = nw.concat(tables)[order]
    return Together(first.backend, order, index, others)
