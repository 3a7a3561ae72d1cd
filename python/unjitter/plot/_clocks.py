"""Profiles of the evidence over the offsets of clocks, one small picture for each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ._style import BLUE, MUTED, ORANGE, VERMILION, open_frame

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .._sync import Synced, SyncedClock

# Log evidence below the best that is worth a look: e⁻¹² is nothing.
DEPTH = 12.0
# Room above the best for the verdict.
TOP = 4.5
COLUMNS = 4
MOST = 24
_COLOURS = {"found": BLUE, "several": ORANGE, "flat": VERMILION}
_WORDS = {"several": "several", "flat": "flat", "no_stamps": "no stamps"}


def clocks(synced: Synced, names: Sequence[str] | None = None, *, ax: Axes | None = None) -> Any:
    """Draw how well every offset of a clock explains its stamps.

    One picture for each clock: the log evidence at each offset, with its best drift, below that at
    the best one. A single sharp peak is a clock that was found; several peaks of about the same
    height, or none, are one that was not. Triangles mark the best place and others that are nearly
    as good; the band is the 95 % interval.

    Parameters
    ----------
    synced : Synced
        From :func:`unjitter.sync`.
    names : sequence of str, optional
        The clocks to draw; by default those that were not found, and then as many others as 24
        pictures allow.
    ax : matplotlib.axes.Axes, optional
        Where to draw one clock; by default all are drawn on a new figure.

    Returns
    -------
    array of matplotlib.axes.Axes, one for each clock; or `ax`

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from unjitter import EventDetector, plot, simulate, sync
    >>> sessions = simulate.respiration(seed=0)
    >>> synced = sync(sessions[10:], EventDetector().fit(sessions[:10]), drift=0.0)
    >>> [ax.get_title(loc="left") for ax in plot.clocks(synced)]
    ['session-11', 'session-12', 'session-13']
    """
    chosen = _chosen(synced, names)
    if ax is not None:
        if len(chosen) != 1:
            raise ValueError(f"{len(chosen)} clocks were given, expected one to draw on ax")
        _draw(ax, chosen[0])
        ax.set_xlabel("offset")
        ax.set_ylabel("log evidence")
        return ax
    axes = _grid(len(chosen))
    for own, clock in zip(axes, chosen):
        _draw(own, clock)
    return axes


def _chosen(synced: Synced, names: Sequence[str] | None) -> list[SyncedClock]:
    """The clocks to draw, in their order."""
    if names is not None:
        listed = [names] if isinstance(names, str) else list(names)
        strange = sorted({*listed} - {clock.name for clock in synced})
        if strange:
            raise ValueError(f"names has {strange[0]!r}, which is none of {len(synced)} clocks")
        return [synced[name] for name in listed]
    doubtful = [clock for clock in synced if clock.verdict != "found"]
    others = [clock for clock in synced if clock.verdict == "found"]
    kept = {clock.name for clock in [*doubtful, *others][:MOST]}
    chosen = [clock for clock in synced if clock.name in kept]
    if not chosen:
        raise ValueError("there are no clocks to draw")
    return chosen


def _grid(count: int) -> Any:
    """So many Axes of a new figure, in rows of a few, that share their scales."""
    try:
        from matplotlib import pyplot
    except ImportError:
        raise ImportError("plots need matplotlib: pip install 'unjitter[plot]'") from None
    columns = min(count, COLUMNS)
    rows = -(-count // columns)
    figure, axes = pyplot.subplots(
        rows,
        columns,
        figsize=(2.5 * columns + 0.6, 1.6 * rows + 0.6),
        sharex=True,
        sharey=True,
        squeeze=False,
        layout="constrained",
    )
    flat = axes.ravel()
    for empty in flat[count:]:
        empty.remove()
    # Below an empty place the axis above has to carry the numbers.
    for own in flat[max(count - columns, 0) : count]:
        own.tick_params(axis="x", labelbottom=True)
    figure.supxlabel("offset of the clock", fontsize="medium")
    figure.supylabel("log evidence", fontsize="medium")
    return flat[:count]


def _draw(ax: Axes, clock: SyncedClock) -> None:
    """One profile."""
    offsets, heights = clock.profile
    colour = _COLOURS.get(clock.verdict, MUTED)
    if len(offsets):
        ax.axvspan(clock.low, clock.high, color=colour, alpha=0.15, lw=0, gid="interval")
        # Beyond the depth that is shown, a line at the bottom; −∞ would leave a gap.
        ax.plot(offsets, np.maximum(heights, -2.0 * DEPTH), color=colour, lw=1.2, gid="profile")
        places = [clock.offset, *(place.offset for place in clock.others)]
        below = [0.0, *(place.log_evidence for place in clock.others)]
        ax.scatter(
            places, np.array(below) + 0.9, s=22, color=colour, marker="v", lw=0, gid="places"
        )
    open_frame(ax)
    ax.set_ylim(-DEPTH, TOP)
    ax.set_yticks([-10.0, -5.0, 0.0])
    ax.set_title(clock.name, loc="left", fontsize="small", parse_math=False)
    ax.text(
        0.99,
        0.99,
        _told(clock),
        ha="right",
        va="top",
        transform=ax.transAxes,
        fontsize="small",
        color=MUTED,
        gid="verdict",
    )


def _told(clock: SyncedClock) -> str:
    """The verdict: an offset if the clock was found."""
    if clock.verdict != "found":
        return _WORDS.get(clock.verdict, clock.verdict)
    drift = "" if clock.drift == 0.0 else f", {100.0 * clock.drift:+.2g} %"
    return f"{clock.offset:+.3g}{drift}".replace("-", "−")
