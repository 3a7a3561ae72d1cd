"""The memory limit of inference."""

from __future__ import annotations

from . import _core
from ._check import number

_GIBIBYTE = 2**30


def set_memory_limit(gibibytes: float) -> None:
    """Limit the memory of the sums over alignments, in all threads together.

    A session that would need more, such as one with a clock an hour off at ten instances a second,
    is a `ValueError` instead of an abort. By default the limit is half of what machine, control
    groups and ``ulimit -v`` leave to the process. Threads that need much wait for each other; no
    result depends on it. A fit warns if it gave up a start or a step for lack of memory.

    Parameters
    ----------
    gibibytes : float
        Above 0.

    Examples
    --------
    >>> from unjitter import set_memory_limit
    >>> set_memory_limit(8.0)
    """
    if number("gibibytes", gibibytes) <= 0.0:
        raise ValueError(f"gibibytes is {gibibytes}, expected a number above 0")
    _core.set_memory_limit(max(1, int(gibibytes * _GIBIBYTE)))
