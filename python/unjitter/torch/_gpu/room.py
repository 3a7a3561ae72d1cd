"""How many instances a stamp's window has room for.

Windows are found on the GPU, but memory is given out here. The first call of a loss waits for its
windows. From then on the widest one of every call is copied behind it and looked at in a later
call, without waiting: training changes the spread slowly, and there is room for more than the
widest one seen. A window that outgrew its room keeps the instances in its middle, for as many calls
as the news takes. Room that many calls did not need is given back: a spread that begins too wide
would cost time and memory to the end.
"""

from __future__ import annotations

import itertools
from weakref import WeakValueDictionary

import torch
from torch import Tensor

from .._path import warn

# Room beyond the widest window seen.
SPARE = 1.25
LEAST = 16
# The most lanes of a program.
MOST = 8192
# Calls in a row that need half of the room or less, before it shrinks.
CALM = 1000

_numbers = itertools.count()
_rooms: WeakValueDictionary[int, Room] = WeakValueDictionary()


class Room:
    """The room of one loss, found by its number: an operator's arguments cannot be objects."""

    def __init__(self) -> None:
        self.number = next(_numbers)
        self.size = 0
        # Of the last call heard of: widest window, rounds, and rounds if it did not settle.
        self.latest = (0, 0, 0)
        # Calls in a row that needed half of the room or less, and the most that one of them needed.
        self._calm = (0, 0)
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
        self.size = max(self.size, _wanted(widest))

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
                warn(
                    f"a stamp could belong to {widest} instances, and the sum took the {size} in "
                    f"the middle: the spread grew too fast, or the next sequences are denser"
                )
            if unsettled:
                warn(
                    f"belief propagation still moved after {unsettled} rounds: stamps may be too "
                    "many for their instances"
                )
            if SPARE * widest > self.size:
                self.fit(widest)
            self._shrink(widest)

    def _shrink(self, widest: int) -> None:
        """Gives room back after many calls that did not need it."""
        calls, most = self._calm
        is_calm = 2 * _wanted(widest) <= self.size
        self._calm = (calls + 1, max(most, widest)) if is_calm else (0, 0)
        if self._calm[0] >= CALM:
            self.size, self._calm = _wanted(self._calm[1]), (0, 0)


def _wanted(widest: int) -> int:
    """Room for the widest window, and some to spare."""
    return min(MOST, max(LEAST, -(-int(widest * SPARE) // 8) * 8))


def _has_come(arrived: torch.cuda.Event | None) -> bool:
    return arrived is None or bool(arrived.query())  # type: ignore[no-untyped-call]
