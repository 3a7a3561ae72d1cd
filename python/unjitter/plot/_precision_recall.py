"""Precision against recall at every threshold, with guides of equal F1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._labelled import by_name, scored
from ._style import MUTED, Style, name_without_markup, new_axes, open_frame, styles

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def precision_recall(detectors: Any, sessions: Any, *, ax: Axes | None = None) -> Axes:
    """Draw precision against recall of one or several detectors on labelled sessions.

    A mark shows the threshold in use, dashed lines where F1 is the same.

    Parameters
    ----------
    detectors : estimator, list of estimators, or mapping of name to estimator
        Fitted; :class:`EventDetector`, baselines, or anything with ``predict_proba(session)``.
    sessions : Session or list of Session
        With labels. Instances whose label is not known are left out.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default on a new figure.

    Returns
    -------
    matplotlib.axes.Axes
    """
    named = by_name(detectors)
    judged = {name: scored(detector, sessions) for name, detector in named.items()}
    ax = new_axes(ax, (5.4, 5.0))
    _draw_guides(ax)
    for (name, (labels, probabilities)), style in zip(judged.items(), styles(judged), strict=True):
        threshold = getattr(named[name], "threshold_", 0.5)
        _draw_curve(ax, name, labels, probabilities, threshold, style)
    open_frame(ax)
    ax.set(xlim=(0.0, 1.0), ylim=(0.0, 1.02), aspect="equal", xlabel="recall", ylabel="precision")
    legend = ax.legend(loc="lower left", fontsize="small", framealpha=0.85, edgecolor="none")
    name_without_markup(legend)
    return ax


def _draw_curve(
    ax: Axes, name: str, labels: Any, probabilities: Any, threshold: float, style: Style
) -> None:
    from .. import metrics

    precision, recall, thresholds = metrics.precision_recall_curve(labels, probabilities)
    # The closing point has precision 1 whatever was detected; the curve goes on as it ends.
    precision = np.append(precision[:-1], precision[-2])
    used = int(np.searchsorted(thresholds, threshold))
    # Between two thresholds recall falls at the precision of the first.
    ax.step(
        recall,
        precision,
        where="post",
        color=style.colour,
        ls=style.dashes,
        lw=1.8,
        marker=style.marker,
        markevery=[used] if used < len(thresholds) else [],
        ms=8,
        label=name,
        clip_on=False,
        zorder=3,
    )


def _draw_guides(ax: Axes) -> None:
    """Lines on which 2·p·r / (p + r) is the same, named where recall is one."""
    for f1 in (0.2, 0.4, 0.6, 0.8):
        recall = np.linspace(f1 / (2.0 - f1), 1.0, 61)
        precision = f1 * recall / (2.0 * recall - f1)
        ax.plot(recall, precision, color=MUTED, alpha=0.5, lw=1.0, ls=(0, (4, 3)), zorder=1)
        ax.annotate(
            f"F1 {f1}",
            (1.0, f1 / (2.0 - f1)),
            (4.0, 0.0),
            textcoords="offset points",
            va="center",
            fontsize="small",
            alpha=0.7,
            annotation_clip=False,
        )
