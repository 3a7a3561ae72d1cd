"""Common practice with sloppy stamps, and its comparison.

Each learner is an estimator like :class:`unjitter.EventDetector`, and trains on

=====================  ==============================================================
:class:`HandAligned`   labels aligned by hand: the ceiling (LR-H)
:class:`Naive`         each stamp at its word: the nearest instance (LR-N)
:class:`DropNear`      the same, instances near a stamp left out (LR-D)
:class:`Smear`         soft labels, a Gaussian around each stamp (LR-S)
:class:`MultipleInstance`  bags of instances with a witness each (MI)
=====================  ==============================================================

:func:`compare` compares them with each other and with ``EventDetector`` (LR-M). Names are the
paper's; LR becomes KLR with a kernel and NN with a network.
"""

from ._comparison import Comparison, compare, kept_by_naive
from ._learners import DropNear, HandAligned, MultipleInstance, Naive, Smear

__all__ = [
    "Comparison",
    "DropNear",
    "HandAligned",
    "MultipleInstance",
    "Naive",
    "Smear",
    "compare",
    "kept_by_naive",
]
