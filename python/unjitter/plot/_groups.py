"""What differs between groups: a mark with its interval for each, beside all together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ._style import BLUE, MUTED, new_axes, open_frame

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .._detector import EventDetector
    from .._table import Table

_Floats = NDArray[np.float64]

# What the axis calls each of what may differ.
_NAMES = {
    "delay": "delay",
    "offset": "how far the clock is ahead",
    "drift": "what the clock gains per unit of time",
    "spread": "spread",
    "miss_rate": "share of events missed",
    "false_rate": "share of other instances stamped",
    "background_rate": "stamps from nowhere, per unit of time",
}
# More names than this cannot be read in a figure of common height.
MOST_NAMES = 60


def groups(
    detector: EventDetector,
    what: str | None = None,
    *,
    level: float = 0.95,
    ax: Axes | None = None,
) -> Axes:
    """Draw what differs between groups of stamps: each group's own number and its interval.

    The dashed line is the number of all groups together: what a new group has before it is known.

    Parameters
    ----------
    detector : EventDetector
        Fitted, with `varies` or `clock`.
    what : str, optional
        What to draw if several things differ: ``"delay"``, ``"spread"``, and so on, as in `varies`.
        By default the first.
    level : float
        Probability of the intervals.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default on a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from unjitter import EventDetector, plot, simulate
    >>> sessions = simulate.respiration(seed=0)
    >>> detector = EventDetector(varies={"delay": "subject"}).fit(sessions)
    >>> ax = plot.groups(detector)
    >>> [label.get_text() for label in ax.get_yticklabels()][:2]
    ['subject-1', 'subject-2']
    """
    table, what = _chosen(detector, what, level)
    names, values = list(map(str, table["group"])), np.asarray(table["value"], dtype=np.float64)
    ax = new_axes(ax, (7.0, 1.1 + min(0.3 * len(names), 9.0)))
    rows = np.arange(len(names))
    ax.hlines(rows, table["low"], table["high"], color=BLUE, lw=2.2, alpha=0.6, gid="intervals")
    ax.scatter(values, rows, s=34, color=BLUE, zorder=3, gid="values")
    usual = _usual(detector, what)
    ax.axvline(usual, color=MUTED, lw=1.2, ls=(0, (4, 4)), label="all together")
    open_frame(ax)
    ax.spines["left"].set_visible(False)
    ax.grid(axis="x", color=MUTED, alpha=0.25, lw=0.8)
    ax.set_axisbelow(True)
    _name_rows(ax, names)
    ax.set_ylabel(str(table["by"][0]))
    ax.set_xlabel(f"{_NAMES.get(what, what)}, with {100.0 * level:.3g} % intervals")
    ax.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), frameon=False, fontsize="small")
    return ax


def _chosen(detector: Any, what: str | None, level: float) -> tuple[Table, str]:
    """The rows to draw, and what they are of."""
    if not hasattr(detector, "groups"):
        raise ValueError(
            f"{type(detector).__name__} knows no groups, expected an EventDetector (the last step "
            "of a pipeline)"
        )
    table = detector.groups(level, backend="numpy")
    known = list(dict.fromkeys(table["what"]))
    if not known:
        raise ValueError(
            "nothing differs between groups in this detector: fit it with varies or clock"
        )
    chosen = known[0] if what is None else what
    if chosen not in known:
        raise ValueError(f"what is {chosen!r}, expected {' or '.join(map(repr, known))}")
    return table[table["what"] == chosen], chosen


def _usual(detector: EventDetector, what: str) -> float:
    """The number of all groups together; clocks are right on average."""
    return 0.0 if what in ("offset", "drift") else float(getattr(detector, f"{what}_"))


def _name_rows(ax: Axes, names: list[str]) -> None:
    """A row for each name, the first on top; of too many names, every few."""
    every = -(-len(names) // MOST_NAMES)
    shown = range(0, len(names), every)
    ax.set_yticks(shown, [names[k] for k in shown], parse_math=False)
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(len(names) - 0.5, -0.5)
