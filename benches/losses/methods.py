"""Every way to learn from stamps, in the order of the table.

`widths` are the values of a method's one setting, in spacings. The width and the learning rate with
the best F1 by the true labels of the held-out recordings are reported: an oracle's choice, better
than anyone could make, for every method alike.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import cross_entropy
from ctc import Ctc
from data import Recording
from occurrence_counts import OccurrenceCounts
from ours import Ours
from padded import Padded
from soft_localisation import SoftLocalisation
from torch import nn

WIDTHS = (0.5, 1.0, 2.0, 4.0, 8.0)


@dataclass(frozen=True)
class Method:
    """A name, and what makes the loss from padded recordings, the recordings and a width."""

    name: str
    make: Callable[[Padded, list[Recording], float], nn.Module]
    widths: tuple[float, ...] = (0.0,)


METHODS = (
    Method("truth", lambda padded, recordings, _: cross_entropy.truth(padded, recordings)),
    Method("ours, ordered", lambda padded, *_: Ours(padded, "ordered")),
    Method("ours, free", lambda padded, *_: Ours(padded, "free")),
    Method("naive", lambda padded, *_: cross_entropy.naive(padded)),
    Method("smeared", lambda padded, _, width: cross_entropy.smeared(padded, width), WIDTHS),
    Method("drop-near", lambda padded, _, width: cross_entropy.drop_near(padded, width), WIDTHS),
    Method("CTC", lambda padded, *_: Ctc(padded)),
    Method("soft localisation", lambda padded, _, w: SoftLocalisation(padded, w), WIDTHS),
    Method("occurrence counts", lambda padded, *_: OccurrenceCounts(padded)),
)
