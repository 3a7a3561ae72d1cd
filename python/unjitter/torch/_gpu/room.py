"""How many instances a stamp's window has room for.

Windows are found on the GPU, but memory is given out here. The first call of a loss waits for its
windows. From then on the widest one of every call is copied behind it and looked at in a later
call, without waiting: training changes the spread slowly, and there is room for more than the
widest one seen. A window that outgrew its room keeps the instances in its middle, for as many calls
as the news takes.
"""

from __future__ import annotations

import itertools
import warnings
from weakref import WeakValueDictionary

import torch
from torch import Tensor

# Room beyond the widest window seen.
SPARE = 1.25
LEAST = 16
# The most lanes of a program.
MOST = 8192

_numbers = itertools.count()
_rooms: WeakValueDictionary[int, Room] = WeakValueDictionary()


class Room:
    """The room of one loss, found by its number: an operator's arguments cannot be objects."""

    def __init__(self) -> None:
        self.number = next(_numbers)
        self.size = 0
        # Of the last call heard of: widest window, rounds, and rounds if it did not settle.
        self.latest = (0, 0, 0)
        self._news: list[tuple[Tensor, torch.cuda.Event | None, int]] = []
        _rooms[self.number] = self

    @staticmethod
    def of(number: int) -> Room:
        return _rooms[number]

    def __reduce__(self) -> tuple[type[Room], tuple[()]]:
        """Copies and pickles begin anew."""
        return Room, ()

    def fit(self, widest: int) -> None:
        """Makes room for windows of this many instances."""
        if widest > MOST:
            raise ValueError(
                f"a stamp could belong to {widest} instances, and the GPU sums over {MOST} at "
                "most: give the loss logits on the CPU, or a smaller spread"
            )
        wanted = min(MOST, max(LEAST, -(-int(widest * SPARE) // 8) * 8))
        self.size = max(self.size, wanted)

    def tell(self, status: Tensor) -> None:
        """Sends for the widest window of a call, and for the rounds of one that did not settle."""
        if not status.is_cuda:
            self._news.append((status, None, self.size))
            return
        copied = torch.empty(status.shape, dtype=status.dtype, pin_memory=True)
        copied.copy_(status, non_blocking=True)
        arrived = torch.cuda.Event()  # type: ignore[no-untyped-call]
        arrived.record()
        self._news.append((copied, arrived, self.size))

    def listen(self) -> None:
        """Takes in the news that have arrived."""
        while self._news and _has_come(self._news[0][1]):
            status, _, size = self._news.pop(0)
            widest, rounds, unsettled = (int(number) for number in status)
            self.latest = (widest, rounds, unsettled)
            if widest > size:
                warnings.warn(
                    f"a stamp could belong to {widest} instances, and the sum took the {size} in "
                    f"the middle: the spread grew too fast, or the next sequences are denser",
                    stacklevel=2,
                )
            if unsettled:
                warnings.warn(
                    f"belief propagation still moved after {unsettled} rounds: stamps may be too "
                    "many for their instances",
                    stacklevel=2,
                )
            if SPARE * widest > self.size:
                self.fit(widest)


def _has_come(arrived: torch.cuda.Event | None) -> bool:
    return arrived is None or bool(arrived.query())  # type: ignore[no-untyped-call]
