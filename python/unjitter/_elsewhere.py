"""Sessions that are not in memory."""

from __future__ import annotations

from typing import Any


class Elsewhere:
    """What :class:`unjitter.scale.Dataset` is, for those who need not know how: it needs pyarrow,
    which not everybody has."""

    _fit: Any
    _score: Any
    _table: Any
