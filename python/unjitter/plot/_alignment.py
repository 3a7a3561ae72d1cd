"""A stretch of a recording: positive instances, and the place of each stamp."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import _time_axis
from ._labelled import aligning
from ._style import BLUE, MUTED, ORANGE, PURPLE, VERMILION, ink, new_axes, open_frame
from ._view import View

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .._detector import EventDetector
    from .._session import Session

# Probability from which a stamp is called spurious and an event missed.
LIKELY = 0.5
# Heights: true labels above the bars, what belongs to stamps below them.
TRUTH, STAMPS = 1.09, -0.52
# Intervals that overlap lie one below the other.
INTERVALS = np.array([-0.085, -0.12, -0.155])

_Floats = NDArray[np.float64]


def alignment(
    detector: EventDetector,
    session: Session,
    *,
    start: Any = None,
    stop: Any = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw a stretch of a session: its instances, its stamps, and which belong together.

    Bars are the probability that each instance is positive, given features and stamps. Triangles
    below are stamps; a curve leads from each to its most probable instance, where a thick line
    spans the 95 % interval. Crosses are stamps that are probably spurious (p > 0.5). Purple
    bars are events that probably got no stamp. Diamonds are true events, if the session has labels.

    Parameters
    ----------
    detector : EventDetector
        Fitted.
    session : Session
        One that was learned from, or any other.
    start, stop : float or date, optional
        The stretch to draw. By default the whole session or, of a long one, the 160 instances
        with the most stamps among them.
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
    >>> session = Session(X, times=np.arange(6.0), events=[1.2, 4.2], name="walk")
    >>> ax = plot.alignment(EventDetector().fit([session]), session)
    >>> ax.get_title(loc="left")
    'walk'
    """
    aligning(detector)
    sessions = detector._known(session)
    if len(sessions) != 1:
        raise ValueError(f"{len(sessions)} sessions were given, expected one to draw")
    (session,) = sessions
    knowing = detector._knowing(sessions)
    stamps, instances, *_ = knowing.align(session, detector.use_labels)
    view = View.of(session, start, stop)
    ax = new_axes(ax, (10.0, 3.9))
    for position, gap in enumerate(view.gaps()):
        label = "nobody annotating" if position == 0 else None
        ax.axvspan(*view.places(gap), color=MUTED, alpha=0.18, lw=0, label=label)
    _draw_instances(ax, instances, view)
    _draw_truth(ax, session, view)
    _draw_stamps(ax, stamps, view)
    _dress(ax, session, view)
    return ax


def _draw_instances(ax: Axes, instances: dict[str, Any], view: View) -> None:
    shown = view.shows(instances["time"])
    x, p = view.places(instances["time"][shown]), instances["p_positive"][shown]
    missed = instances["p_missed"][shown] > LIKELY
    # Many ticks become thin, so that they do not become a beam.
    ax.vlines(x, -0.045, 0.0, color=MUTED, lw=min(0.8, 250 / max(len(x), 1)), gid="instances")
    width = _bar_width(x, view)
    for kind, colour, label in (
        (~missed, BLUE, "probability of an event"),
        (missed, PURPLE, "probably missed"),
    ):
        if kind.any():
            ax.bar(x[kind], p[kind], width, color=colour, label=label)


def _bar_width(x: _Floats, view: View) -> float:
    """Bars that neither touch, as a rule, nor grow fat or invisible."""
    low, high = view.limits()
    spacing = float(np.median(np.diff(x))) if len(x) > 1 else 0.0
    return float(np.clip(0.62 * spacing, (high - low) / 900, (high - low) / 90))


def _draw_truth(ax: Axes, session: Session, view: View) -> None:
    if session.labels is None:
        return
    true = session.times[session.labels == 1]
    _mark(ax, view.places(true[view.shows(true)]), TRUTH, "D", ink(), "true event", "truth")


def _draw_stamps(ax: Axes, stamps: dict[str, Any], view: View) -> None:
    near = view.shows(stamps["stamp"])
    spurious = stamps["p_spurious"] > LIKELY
    # A stamp outside gets a curve that leads out of sight if its instance is inside.
    aligned = (near | view.shows(stamps["instance_time"])) & ~spurious
    stamp, instance, low, high = (
        view.places(stamps[name][aligned]) for name in ("stamp", "instance_time", "low", "high")
    )
    heights = INTERVALS[_lanes(low, high)]
    intervals = [[(a, y), (b, y)] for a, b, y in zip(low, high, heights, strict=True)]
    label = "95 % interval" if np.any(low < high) else None
    _draw_lines(ax, intervals, "intervals", lw=3.0, alpha=0.5, capstyle="butt", label=label)
    arcs = [_arc(a, b, y) for a, b, y in zip(stamp, instance, heights, strict=True)]
    _draw_lines(ax, arcs, "arcs", lw=1.4)
    _mark(ax, stamp, STAMPS, "^", ORANGE, "stamp, and where it belongs", "stamps")
    wrong = view.places(stamps["stamp"][near & spurious])
    _mark(ax, wrong, STAMPS, "x", VERMILION, "probably spurious", "spurious")


def _lanes(low: _Floats, high: _Floats) -> list[int]:
    """A lane for each interval, the first that is free where it begins."""
    ends, lanes = [-np.inf] * len(INTERVALS), []
    for begin, end in zip(low, high, strict=True):
        free = [lane for lane, reached in enumerate(ends) if reached < begin]
        lane = free[0] if free else int(np.argmin(ends))
        ends[lane] = end
        lanes.append(lane)
    return lanes


def _draw_lines(ax: Axes, lines: list[Any], gid: str, **look: Any) -> None:
    from matplotlib.collections import LineCollection

    if lines:
        ax.add_collection(LineCollection(lines, colors=ORANGE, gid=gid, **look), autolim=False)


def _mark(
    ax: Axes, x: _Floats, height: float, marker: str, colour: str, label: str, gid: str
) -> None:
    if len(x):
        y = np.full(len(x), height)
        size, width = (40, 2.0) if marker == "x" else (36, 0.0)
        ax.scatter(x, y, size, colour, marker=marker, lw=width, label=label, gid=gid)


def _arc(stamp: float, instance: float, height: float) -> _Floats:
    """An S-shaped curve from a stamp up to its instance."""
    share = np.linspace(0.0, 1.0, 17)
    eased = share * share * (3.0 - 2.0 * share)
    return np.column_stack([stamp + (instance - stamp) * eased, STAMPS + (height - STAMPS) * share])


def _dress(ax: Axes, session: Session, view: View) -> None:
    open_frame(ax)
    ax.set_xlim(*view.limits())
    # No space for absent parts.
    floor = STAMPS - 0.14 if len(session.events) else -0.11
    ax.set_ylim(floor, 1.05 if session.labels is None else TRUTH + 0.12)
    ax.set_yticks([0.0, 0.5, 1.0], ["0", "0.5", "1"])
    ax.spines["left"].set_bounds(0.0, 1.0)
    ax.set_ylabel("probability")
    _time_axis.label(ax, session.calendar)
    rows = _draw_legend(ax)
    if session.name is not None:
        ax.set_title(session.name, loc="left", pad=6.0 + 15.0 * rows, parse_math=False)


def _draw_legend(ax: Axes) -> int:
    """A legend above the axes, no wider than they are; its rows."""
    handles, _ = ax.get_legend_handles_labels()
    inches = ax.get_window_extent().width / ax.figure.dpi
    rows = -(-len(handles) // max(int(inches / 1.75), 1))
    if rows:
        ax.legend(
            loc="lower left",
            bbox_to_anchor=(0.0, 1.0),
            ncols=-(-len(handles) // rows),
            frameon=False,
            borderaxespad=0.2,
            borderpad=0.2,
            handletextpad=0.5,
            columnspacing=1.4,
            fontsize="small",
        )
    return rows
