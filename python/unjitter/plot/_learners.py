"""Learners compared: a mark with its interval for each, and every fold as a faint dot."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ._style import MUTED, Style, new_axes, open_frame, styles

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_Floats = NDArray[np.float64]


def learners(comparison: Any, ax: Axes | None = None) -> Axes:
    """Draw how learners compare: mean score, its interval, and the score of each fold.

    Parameters
    ----------
    comparison : mapping of name to scores, or object with ``learners`` and ``scores``
        Scores of each learner on each fold, NaN where a fold has nothing to find. If the object
        has ``intervals``, one (low, high) for each learner, they are drawn.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default on a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from unjitter import plot
    >>> ax = plot.learners({"LR-M": [0.86, 0.88, 0.84], "LR-N": [0.31, 0.24, 0.39]})
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['LR-M', 'LR-N']
    """
    names, scores, intervals = _read(comparison)
    ax = new_axes(ax, (7.6, 0.9 + 0.46 * max(len(names), 1)))
    for row, (name, style) in enumerate(zip(names, styles(names), strict=True)):
        _draw_row(ax, row, scores[name], intervals[name], style)
    open_frame(ax)
    ax.spines["left"].set_visible(False)
    ax.grid(axis="x", color=MUTED, alpha=0.25, lw=0.8)
    ax.set_axisbelow(True)
    ax.set_yticks(range(len(names)), names, parse_math=False)
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(max(len(names), 1) - 0.5, -0.5)
    drawn = np.concatenate([np.empty(0), *scores.values(), *intervals.values()])
    inside = drawn[np.isfinite(drawn)]
    if np.all((inside >= 0.0) & (inside <= 1.0)):
        ax.set_xlim(0.0, 1.0)
    ax.set_xlabel("F1 on held-out sessions")
    return ax


def _read(comparison: Any) -> tuple[list[str], dict[str, _Floats], dict[str, _Floats]]:
    """Names, and scores and interval (empty if there is none) by name."""
    if isinstance(comparison, Mapping):
        names, rows, intervals = list(map(str, comparison)), list(comparison.values()), None
    else:
        names, rows = list(map(str, comparison.learners)), list(comparison.scores)
        intervals = getattr(comparison, "intervals", None)
    if len(rows) != len(names):
        raise ValueError(f"{len(rows)} rows of scores for {len(names)} learners")
    ends = [()] * len(names) if intervals is None else list(intervals)
    return (
        names,
        {name: np.asarray(row, dtype=np.float64) for name, row in zip(names, rows, strict=True)},
        {name: np.asarray(end, dtype=np.float64) for name, end in zip(names, ends, strict=True)},
    )


def _draw_row(ax: Axes, row: int, scores: _Floats, interval: _Floats, style: Style) -> None:
    # Spread over five heights, so that equal scores stay countable.
    heights = row + 0.08 * (np.arange(len(scores)) * 2 % 5 - 2.0)
    known = np.isfinite(scores)
    ax.scatter(scores[known], heights[known], s=18, color=style.colour, alpha=0.3, lw=0)
    text = "no score"
    if known.any():
        mean = float(scores[known].mean())
        text = f"{mean:.3f}"
        if len(interval) == 2 and np.all(np.isfinite(interval)):
            low, high = map(float, interval)
            ax.plot(
                [low, high], [row, row], color=style.colour, lw=2.4, marker="|", ms=10.0, mew=1.6
            )
            text += f" [{low:.2f}, {high:.2f}]"
        ax.plot([mean], [row], marker=style.marker, ms=9, color=style.colour, ls="none")
    ax.annotate(
        text,
        (1.0, row),
        (8.0, 0.0),
        xycoords=("axes fraction", "data"),
        textcoords="offset points",
        va="center",
        alpha=0.7,
        fontsize="small",
        annotation_clip=False,
    )
