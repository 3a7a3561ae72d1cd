"""The rows of a frame that belong to a session, so that results can return to them.

For a frame this keeps its index, if its library has one, and for the events the columns that a
detector does not use; no features are kept twice. Sessions share this data, but a session sent to
another process only takes its own rows along.
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
class Kept:
    """The kept part of a frame or of its rows; `key` identifies the frame in all processes."""

    key: str
    backend: str
    length: int
    index: Any
    # In the type of the frame's own library.
    others: Any

    @classmethod
    def of(cls, table: nw.DataFrame[Any], others: Sequence[str] = ()) -> Kept:
        """The index of a frame and the columns that results return."""
        kept = table.select(others).to_native() if others else None
        backend = str(table.implementation)
        return cls(uuid4().hex, backend, len(table), nw.maybe_get_index(table), kept)

    def take(self, places: _Positions) -> Kept:
        """Some of the rows."""
        index = None if self.index is None else self.index[places]
        others = None if self.others is None else _table(self.others)[places].to_native()
        return Kept(self.key, self.backend, len(places), index, others)


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of a session, by their positions in the frame.

    `places` are their positions in the kept part; `name` is the session as in the frame.
    """

    kept: Kept
    positions: _Positions
    places: _Positions
    name: Any

    @classmethod
    def of(cls, kept: Kept, positions: _Positions, name: Any) -> Rows:
        """Rows of a frame that is kept whole."""
        return cls(kept, positions, positions, name)

    def __reduce__(self) -> Any:
        own = self.kept.take(self.places)
        return Rows, (own, self.positions, np.arange(own.length), self.name)


class Together(NamedTuple):
    """Rows of several sessions in the order of their frame."""

    # Position of each among the concatenated rows of the sessions.
    order: _Positions
    backend: str
    index: Any
    others: nw.DataFrame[Any] | None


def together(parts: Sequence[Rows | None]) -> Together | None:
    """The rows of all sessions; None unless they are from one frame and no row occurs twice."""
    known = [part for part in parts if part is not None]
    if len(known) < len(parts) or len({part.kept.key for part in known}) > 1:
        return None
    positions = np.concatenate([part.positions for part in known])
    if len(np.unique(positions)) < len(positions):
        return None
    order = np.argsort(positions)
    # Sessions that were sent separately each have a piece of the frame.
    pieces = list({id(part.kept): part.kept for part in known}.values())
    ends = np.cumsum([piece.length for piece in pieces])
    starts = {id(piece): end - piece.length for piece, end in zip(pieces, ends)}
    places = np.concatenate([starts[id(part.kept)] + part.places for part in known])[order]
    first, *rest = pieces
    index = first.index
    if index is not None:
        index = (index.append([piece.index for piece in rest]) if rest else index)[places]
    others = None
    if first.others is not None:
        others = nw.concat([_table(piece.others) for piece in pieces])[places]
    return Together(order, first.backend, index, others)


def _table(native: Any) -> nw.DataFrame[Any]:
    return nw.from_native(native, eager_only=True)
