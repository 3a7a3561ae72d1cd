"""How far annotators of the same sessions agree."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._tables import frame


@dataclass(frozen=True, repr=False, eq=False)
class Agreement:
    """How far annotators of the same sessions agree; see :meth:`EventDetector.agreement`.

    Attributes
    ----------
    annotators : table
        For each ``annotator``, the ``sessions`` with others, ``stamps`` there, ``events`` there as
        the stamps of all and the features tell, how many of these were ``seen``, and how many
        stamps were ``spurious``.
    pairs : table
        For each two, ``a`` and ``b``, who annotated ``sessions`` together, Cohen's kappa over their
        instances: ``kappa_nearest`` with each stamp at its nearest instance, as it is usually
        computed, where people who press at different moments disagree; ``kappa`` with stamps where
        they belong, as the model has it; and the number of instances that ``both`` stamped. NaN if
        neither stamped anything.
    """

    annotators: Any
    pairs: Any

    def __repr__(self) -> str:
        return f"{self.annotators!r}\n\n{self.pairs!r}"


def agreement_of(text: str, backend: str | None) -> Agreement:
    """Agreement as the library wrote it."""
    found = json.loads(text)

    def table(rows: list[dict[str, Any]], kinds: dict[str, Any]) -> Any:
        columns = {
            name: np.array([row[name] for row in rows], dtype=kind) for name, kind in kinds.items()
        }
        return frame(columns, backend)

    return Agreement(table(found["annotators"], _ANNOTATORS), table(found["pairs"], _PAIRS))


_ANNOTATORS = {
    "annotator": object,
    "sessions": int,
    "stamps": int,
    "events": float,
    "seen": float,
    "spurious": float,
}
_PAIRS = {
    "a": object,
    "b": object,
    "sessions": int,
    "kappa_nearest": float,
    "kappa": float,
    "both": float,
}
