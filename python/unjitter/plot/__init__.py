"""Figures: where stamps belong, how late they are, who differs, and how good detectors are.

Every function takes the matplotlib ``Axes`` to draw on, or makes a figure of its own, and returns
the Axes, so that all of matplotlib can be used on the result:

>>> import matplotlib
>>> matplotlib.use("Agg")
>>> from unjitter import plot
>>> ax = plot.learners({"careful": [0.9, 0.8], "careless": [0.4, 0.6]})
>>> ax.set_title("Two ways to hold a button").get_text()
'Two ways to hold a button'

matplotlib is loaded when something is drawn; ``pip install 'unjitter[plot]'`` brings it.
"""

from ._alignment import alignment
from ._calibration import calibration
from ._clocks import clocks
from ._delays import delays
from ._groups import groups
from ._learners import learners
from ._precision_recall import precision_recall

__all__ = [
    "alignment",
    "calibration",
    "clocks",
    "delays",
    "groups",
    "learners",
    "precision_recall",
]
