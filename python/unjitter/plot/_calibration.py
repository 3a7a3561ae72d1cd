"""Calibration: whether "seventy per cent" happens seven times out of ten."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._labelled import by_name, scored
from ._style import MUTED, Style, name_without_markup, new_axes, open_frame, styles

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def calibration(detectors: Any, sessions: Any, *, bins: int = 10, ax: Axes | None = None) -> Axes:
    """Draw the share of positive instances against their predicted probability.

    Parameters
    ----------
    detectors : estimator, list of estimators, or mapping of name to estimator
        Fitted; :class:`EventDetector`, baselines, or anything with ``predict_proba(session)``.
    sessions : Session or list of Session
        With labels. Instances whose label is not known are left out.
    bins : int
        Groups of equal width that instances fall into by their probability.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default on a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        The area of a mark grows with the number of instances behind it, by equal steps from 1 to
        10 to 100.
    """
    judged = {name: scored(one, sessions) for name, one in by_name(detectors).items()}
    ax = new_axes(ax, (5.0, 5.0))
    ax.plot([0, 1], [0, 1], color=MUTED, lw=1.2, ls=(0, (5, 4)), label="perfect")
    for (name, (labels, probabilities)), style in zip(judged.items(), styles(judged), strict=True):
        _draw_curve(ax, name, labels, probabilities, bins, style)
    open_frame(ax)
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal")
    ax.set(xlabel="predicted probability", ylabel="observed share of positives")
    name_without_markup(ax.legend(frameon=False, loc="upper left", fontsize="small"))
    return ax


def _draw_curve(
    ax: Axes, name: str, labels: Any, probabilities: Any, bins: int, style: Style
) -> None:
    from .. import metrics

    predicted, observed, count = metrics.reliability_curve(labels, probabilities, n_bins=bins)
    ax.plot(predicted, observed, color=style.colour, ls=style.dashes, lw=1.8)
    # One instance is a speck; ten times as many add as much again.
    area = 16.0 * (1.0 + np.log10(count))
    ax.scatter(predicted, observed, area, style.colour, marker=style.marker, label=name, zorder=3)
