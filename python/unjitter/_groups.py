"""Numbers of the annotator that differ between groups of stamps."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._check import one_of
from ._session import Session
from ._tables import frame

#: What may differ.
VARYING = (
    "delay",
    "offset",
    "drift",
    "spread",
    "miss_rate",
    "false_rate",
    "background_rate",
)
#: What stamps that share a clock have in common.
FACTORS = ("annotator", "session", "subject", "device", "clock")
#: What stamps of a group have in common.
GROUPS = (*FACTORS, "class")


def variations(
    varies: Mapping[str, str] | None, clock: str | None, groups: tuple[str, ...] = FACTORS
) -> list[dict[str, str]]:
    """The settings of a model in which these vary between such groups, and clocks are off."""
    if varies is not None and not isinstance(varies, Mapping):
        raise ValueError(f"varies is {varies!r}, expected a mapping like {{'delay': 'session'}}")
    given: dict[Any, Any] = {} if varies is None else dict(varies)
    if clock is not None:
        by = one_of("clock", clock, FACTORS)
        given = {"offset": by, "drift": by, **given}
    return [
        {"what": one_of("varies", what, VARYING), "by": one_of(f"varies[{what!r}]", by, groups)}
        for what, by in given.items()
    ]


def looks_for_clocks(varying: Iterable[Mapping[str, str]]) -> bool:
    """Whether stamps of a group may all be late by any time. Classes share a clock."""
    return any(own["what"] in ("delay", "offset") and own["by"] != "class" for own in varying)


def named(sessions: list[Session], factors: Iterable[str]) -> None:
    """Refuses sessions whose name says which group they are of, and that have none: their position
    would make them the same as others at that position, in another call."""
    kinds = set(factors)
    for position, session in enumerate(sessions):
        by_name = "session" in kinds or ("clock" in kinds and session.clock is None)
        if by_name and session.name is None:
            by = "session" if "session" in kinds else "clock"
            raise ValueError(
                f"session {position} has no name, and stamps differ by {by}: give it one, "
                "Session(..., name=...)"
            )


def varying(fitted: _core.Fitted) -> list[dict[str, str]]:
    """What differs between groups in a fitted model."""
    known: list[dict[str, str]] = json.loads(fitted.model()).get("varies", [])
    return known


def groups_table(fitted: _core.Fitted, level: float, backend: str | None) -> Any:
    """What was learned of each group, with intervals at a level."""
    found = json.loads(_core.group_estimates(fitted, float(level)))
    texts = {
        "what": [own["variation"]["what"] for own in found],
        "by": [own["variation"]["by"] for own in found],
        "group": [own["group"] for own in found],
    }
    numbers = {
        "value": [own["value"] for own in found],
        **{name: [_estimate(own, name) for own in found] for name in _ESTIMATE},
    }
    columns: dict[str, Any] = {name: np.array(own, dtype=object) for name, own in texts.items()}
    columns |= {name: np.array(own, dtype=float) for name, own in numbers.items()}
    return frame(columns, backend)


_ESTIMATE = ("standard_error", "low", "high")


def _estimate(own: dict[str, Any], name: str) -> float | None:
    return None if own["estimate"] is None else own["estimate"][name]


def without_shifts(fitted: _core.Fitted, session: Session) -> NDArray[np.float64]:
    """The stamps as they would be if all groups were as late as they are on average."""
    usual = {"delay": json.loads(fitted.learned())["delay"]}
    clocks: dict[str, dict[str, list[float]]] = {}
    for own in json.loads(_core.group_estimates(fitted, 0.95)):
        what, by = own["variation"]["what"], own["variation"]["by"]
        if what in ("delay", "offset", "drift"):
            clock = clocks.setdefault(by, {}).setdefault(own["group"], [0.0, 0.0])
            clock[what == "drift"] += own["value"] - usual.get(what, 0.0)
    moved = session.events
    for by, known in clocks.items():
        shifts = [(name, late, drift) for name, (late, drift) in known.items()]
        moved = moved + _core.moved_back(session, json.dumps(by), shifts) - session.events
    return moved
