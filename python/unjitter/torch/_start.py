"""Start values of the annotator's parameters: fixed, given, or guessed."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from .._floats import floats

_Floats = NDArray[np.float64]


def short(name: str) -> str:
    """The name of a block without that of its part, where it tells enough by itself."""
    return "background_rate" if name == "background.rate" else name.split(".", 1)[1]


def check_name(core: _core.Annotator, name: str) -> None:
    """Refuses what is not the name of a parameter."""
    names = [short(full) for full, _ in core.parameters()]
    if name not in names:
        like = get_close_matches(name, names, 1)
        hint = f" (did you mean {like[0]}?)" if like else ""
        raise ValueError(f"no parameter {name!r}{hint}, expected one of {', '.join(names)}")


def begin(
    core: _core.Annotator, known: Mapping[str, list[float]], start: Mapping[str, ArrayLike]
) -> dict[str, _Floats]:
    """Unconstrained numbers by name, of the natural values that are known and that `start` has."""
    for name in start:
        check_name(core, name)
        if name in known:
            raise ValueError(
                f"{name} is known and has a start: leave out the start to hold it, or the known "
                "value to learn it"
            )
    told = {name: np.atleast_1d(floats(values, name)).tolist() for name, values in start.items()}
    values, parameters = {**known, **told}, core.parameters()
    numbers = core.start(
        [(name, values[short(name)]) for name, _ in parameters if short(name) in values]
    )
    ends = np.cumsum([length for _, length in parameters])
    begun = dict(zip((short(name) for name, _ in parameters), np.split(numbers, ends[:-1])))
    for name in start:
        if not np.all(np.isfinite(begun[name])):
            raise ValueError(
                f"start of {name} is {start[name]!r}, an end of its range, from where nothing is "
                "learned; to hold it there, give it as a known value and not as a start"
            )
    return begun
