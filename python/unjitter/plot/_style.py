"""The look of all figures: Okabe and Ito's colours, which colour-blind people can tell apart.

The same as in the figures and reports of the command line. Text and axes keep the colours of the
user's own matplotlib style, so that figures suit dark notebooks too.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.legend import Legend

MUTED = "#6B6B6B"
BLUE = "#0072B2"
ORANGE = "#E69F00"
VERMILION = "#D55E00"
GREEN = "#009E73"
PURPLE = "#CC79A7"
SKY = "#56B4E9"

_FREE = (BLUE, ORANGE, VERMILION, GREEN, PURPLE, SKY, MUTED)
_MARKERS = ("o", "s", "^", "D", "P", "X")
_DASHES: tuple[Any, ...] = ("solid", (0, (5, 2)), (0, (1.5, 1.5)), (0, (9, 2)))


@dataclass(frozen=True)
class Style:
    """The look of one learner."""

    colour: str
    marker: str
    dashes: Any


def new_axes(ax: Axes | None, size: tuple[float, float]) -> Axes:
    """The Axes given, or those of a new figure of `size` inches."""
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError:
        raise ImportError("plots need matplotlib: pip install 'unjitter[plot]'") from None
    return pyplot.subplots(figsize=size, layout="constrained")[1]


def open_frame(ax: Axes) -> None:
    """Leaves the two sides of the frame that carry an axis."""
    ax.spines[["top", "right"]].set_visible(False)


def name_without_markup(legend: Legend) -> None:
    """Shows names as the user wrote them: a dollar sign begins no formula."""
    for text in legend.get_texts():
        text.set_parse_math(False)


def ink() -> str:
    """The colour of text: black on paper, white on a dark screen."""
    from matplotlib import rcParams

    return str(rcParams["text.color"])


def styles(names: Iterable[str]) -> list[Style]:
    """A look for each name; the learners of the paper have their own colours in every figure."""
    own = {
        "LR-M": BLUE,
        "EventDetector": BLUE,
        "MI": ORANGE,
        "MultipleInstance": ORANGE,
        "LR-N": VERMILION,
        "Naive": VERMILION,
        "LR-H": ink(),
        "HandAligned": ink(),
        "LR-D": GREEN,
        "LR-S": PURPLE,
    }
    names = list(names)
    used = {own[name] for name in names if name in own}
    looks = []
    for position, name in enumerate(names):
        free = [colour for colour in _FREE if colour not in used]
        colour = own.get(name) or (free[0] if free else _FREE[position % len(_FREE)])
        used.add(colour)
        marker = _MARKERS[position % len(_MARKERS)]
        looks.append(Style(colour, marker, _DASHES[position % len(_DASHES)]))
    return looks
