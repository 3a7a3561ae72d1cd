"""Text files in which a stamp is a row: rows are kept as text and rewritten only where moved."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence

from .files import Text
from .source import BoolArray, FloatArray, Found, Source, writing_order


class Rows(Source):
    """A text file as rows, some of which hold a stamp each.

    Rows without a stamp (a header, a blank line, a missing time) keep their place. If stamps
    change order, their rows change places among themselves. Line endings stay with the place, so
    that a last row without one can move up.
    """

    def __init__(
        self,
        format: str,
        file: Text,
        found: Found,
        rows: Sequence[str],
        endings: Sequence[str],
        row_of: Sequence[int],
    ) -> None:
        super().__init__(format, file.path, found)
        self.file = file
        self.rows = rows
        self.endings = endings
        self.row_of = row_of

    @abstractmethod
    def rewritten(self, stamp: int, time: float) -> str:
        """The row of a stamp with another time in it."""

    def render(self, times: FloatArray, kept: BoolArray) -> Iterable[bytes]:
        content = {self.row_of[i]: "" for i in range(len(times)) if kept[i]}
        gone = set(self.row_of) - set(content)
        order = writing_order(self.found.times, times, kept)
        for place, stamp in zip(sorted(content), order, strict=True):
            if times[stamp] == self.found.times[stamp]:
                content[place] = self.rows[self.row_of[stamp]]
            else:
                content[place] = self.rewritten(stamp, float(times[stamp]))
        body = "".join(
            content.get(place, row) + ending
            for place, (row, ending) in enumerate(zip(self.rows, self.endings, strict=True))
            if place not in gone
        )
        yield self.file.encode(body)


def split_lines(body: str) -> tuple[list[str], list[str]]:
    """Lines and their endings; unlike `str.splitlines`, only at LF and CR LF."""
    lines, endings = [], []
    for line in body.split("\n"):
        bare = line.removesuffix("\r")
        lines.append(bare)
        endings.append(line[len(bare) :] + "\n")
    # What follows the last LF has no ending of its own; if it is empty, it is no line.
    if lines[-1] == "" and endings[-1] == "\n":
        lines.pop()
        endings.pop()
    else:
        endings[-1] = endings[-1].removesuffix("\n")
    return lines, endings
