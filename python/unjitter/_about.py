"""What a table of sessions tells: whom and what they have in common, and who annotated them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._calendar import is_missing

#: Its columns, by their usual names.
FACTS = ("subject", "device", "clock")
ANNOTATORS = "annotators"
# Between the annotators of a session, as in tables on disk.
SEPARATOR = ";"

_Rows = dict[Any, NDArray[np.intp]]


class About:
    """Rows of each session in such a table, and the values of all rows by column."""

    def __init__(self, own: _Rows, values: Mapping[str, list[Any]]) -> None:
        self._own = own
        self._values = values

    def values(self, session: Any, what: str) -> list[Any]:
        """What the rows of a session have in a column, if there is such a column."""
        if what not in self._values or session not in self._own:
            return []
        return [self._values[what][row] for row in self._own[session]]

    def annotators(self, session: Any) -> list[str]:
        """Everybody who annotated a session, in the order in which they are named: names like
        ``ann; bob``, a list of names, or one in each row."""
        names: dict[str, None] = {}
        for cell in self.values(session, ANNOTATORS):
            if isinstance(cell, str):
                names |= dict.fromkeys(name.strip() for name in cell.split(SEPARATOR))
            elif isinstance(cell, Iterable):
                names |= dict.fromkeys(str(name) for name in cell)
            elif not is_missing(cell):
                names[str(cell)] = None
        return [name for name in names if name]


def only_one(values: Iterable[Any], what: str, where: str) -> str | None:
    """The one name among values that may be missing; none if no value is one."""
    known = {str(value): None for value in values if not is_missing(value)}
    if len(known) > 1:
        first, second, *_ = known
        raise ValueError(f"{where} has the {what}s {first!r} and {second!r}, expected one")
    return next(iter(known), None)


def who_gave(
    stamps: Sequence[Any], annotators: list[str], where: str
) -> tuple[str | list[str] | None, list[str]]:
    """Who gave the stamps of a session, as `Session` takes it, and who annotated it at all. Each
    stamp may have a name, and the session may say who annotated it."""
    lost = [is_missing(name) or not str(name).strip() for name in stamps]
    if all(lost):
        if len(annotators) < 2:
            return next(iter(annotators), None), []
        if stamps:
            raise ValueError(
                f"{where}: nothing says who of {', '.join(annotators)} gave its stamps; events "
                "needs a column annotator"
            )
        return [], annotators
    if any(lost):
        raise ValueError(f"{where}: {sum(lost)} of {len(stamps)} stamps have no annotator")
    names = [str(name).strip() for name in stamps]
    strange = [name for name in names if annotators and name not in annotators]
    if strange:
        raise ValueError(
            f"{where}: {strange[0]!r} gave a stamp, and is not among those who annotated it: "
            f"{', '.join(annotators)}"
        )
    return names, annotators
