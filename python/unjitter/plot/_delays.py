"""Delays of stamps, and the learned density."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .._groups import without_shifts
from ._labelled import aligning, listed
from ._style import BLUE, MUTED, ORANGE, new_axes, open_frame

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .._detector import EventDetector
    from .._session import Session

# Standard deviations on either side of the mean, and points of the curve.
REACH, POINTS = 4.0, 401

_Floats = NDArray[np.float64]


def delays(
    detector: EventDetector,
    sessions: Session | Sequence[Session] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the learned density of delays and, with sessions, the delays of their stamps.

    The delay of a stamp is its distance from its most probable instance; it counts by the
    probability that it is not spurious. The histogram has unit area, like the density. If delays or
    clocks differ between groups, stamps are moved to where they would be if all groups were as late
    as they are on average, so that the histogram can be compared with the one density.

    Parameters
    ----------
    detector : EventDetector
        Fitted.
    sessions : Session or list of Session, optional
        Whose stamps to count.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default on a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import numpy as np
    >>> from unjitter import EventDetector, Session, plot
    >>> X = np.array([[0.0], [3.0], [0.1], [0.2], [2.9], [0.0]])
    >>> session = Session(X, times=np.arange(6.0), events=[1.2, 4.2])
    >>> ax = plot.delays(EventDetector().fit([session]), session)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['learned', 'stamps']
    """
    aligning(detector)
    detector._check_fitted()
    observed, weights = np.empty(0), np.empty(0)
    if sessions is not None:
        known = detector._known(listed(sessions))
        knowing = detector._knowing(known)
        aligned = [knowing.align(session, detector.use_labels)[0] for session in known]
        moved = [without_shifts(knowing, session) for session in known]
        observed = np.concatenate(
            [stamps - own["instance_time"] for stamps, own in zip(moved, aligned)]
        )
        weights = np.concatenate([1.0 - one["p_spurious"] for one in aligned])
    low, high = _range(detector, observed)
    ax = new_axes(ax, (6.4, 3.8))
    if weights.sum() > 0.0:
        _draw_histogram(ax, observed, weights, (low, high))
    grid = np.linspace(low, high, POINTS)
    ax.plot(grid, detector.delay_density(grid), color=BLUE, lw=2.2, label="learned")
    if low < 0.0 < high:
        ax.axvline(0.0, color=MUTED, lw=1.0, ls=(0, (4, 4)))
    open_frame(ax)
    ax.set_xlim(low, high)
    ax.set_ylim(bottom=0.0)
    ax.set_xlabel("delay (stamp − instance)")
    ax.set_ylabel("density")
    ax.legend(frameon=False, loc="upper right")
    return ax


def _range(detector: EventDetector, observed: _Floats) -> tuple[float, float]:
    """The range of the density; without a spread, the range of the observed delays."""
    spread = detector.spread_
    if not (np.isfinite(spread) and spread > 0.0):
        farthest = np.abs(observed - detector.delay_).max(initial=0.0)
        spread = max(farthest, detector.time_unit_) / REACH
    return detector.delay_ - REACH * spread, detector.delay_ + REACH * spread


def _draw_histogram(
    ax: Axes, observed: _Floats, weights: _Floats, limits: tuple[float, float]
) -> None:
    bins = int(np.clip(2.0 * np.sqrt(len(observed)), 8, 48))
    sums, edges = np.histogram(observed, bins, limits, weights=weights)
    # Of unit area together with what lies outside.
    heights = sums / (weights.sum() * np.diff(edges))
    outside = int(np.sum((observed < limits[0]) | (observed > limits[1])))
    label = "stamps" if not outside else f"stamps ({outside} of {len(observed)} outside)"
    ax.bar(
        edges[:-1],
        heights,
        np.diff(edges),
        align="edge",
        color=ORANGE,
        alpha=0.6,
        edgecolor="none",
        label=label,
    )
