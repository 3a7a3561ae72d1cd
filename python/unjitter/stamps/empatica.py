"""Tags of the Empatica E4: `tags.csv`, one UNIX time for each press of the button.

UNIX times are kept as whole nanoseconds; `times` count from the start of the recording, which is
in the first line of the sensor files beside (`ACC.csv` and so on). A file of tags alone counts
from its first tag. Tags have no labels or durations.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from decimal import Decimal

from . import dates
from .audacity import decimals_of
from .files import Text, load_text
from .numerals import parse_number
from .problems import bad_content
from .rows import Rows, split_lines
from .source import Found
from .stamps import Stamps

NAME = "empatica"
DESCRIPTION = "Empatica E4 tags (tags.csv): one UNIX time per line"
DECIMALS = 2

# All begin with the start of the recording; HR.csv does not, it starts ten seconds later.
SENSORS = ("ACC.csv", "BVP.csv", "EDA.csv", "TEMP.csv")

# Later than any recording, and its nanoseconds still fit into 64 bits.
LATEST = 9e9


class Tags(Rows):
    """A file of tags."""

    def __init__(
        self,
        file: Text,
        found: Found,
        rows: Sequence[str],
        endings: Sequence[str],
        row_of: Sequence[int],
        start: int,
    ) -> None:
        super().__init__(NAME, file, found, rows, endings, row_of)
        self.start = start

    def rewritten(self, stamp: int, time: float) -> str:
        row = self.rows[self.row_of[stamp]]
        text = row.strip()
        tag = unix_text(self.start, time, max(DECIMALS, decimals_of(text)))
        return row.replace(text, tag)


def read(path: str, *, origin: datetime | str | float | None = None) -> Stamps:
    """Read a file of tags.

    Parameters
    ----------
    path : str
        The file.
    origin : datetime, ISO-8601 str or UNIX seconds, optional
        When second 0 is. Else the start of the recording as the sensor files in the same folder
        say; else the first tag.
    """
    file = load_text(path)
    rows, endings = split_lines(file.body)
    tags, row_of = [], []
    for place, row in enumerate(rows):
        if row.strip():
            tags.append(parse_tag(path, place + 1, row))
            row_of.append(place)
    start = start_given(origin)
    if start is None:
        start = start_beside(path)
    if start is None:
        start = min(tags, default=0)
    when = dates.EPOCH + timedelta(microseconds=start // 1000) if tags or start else None
    times = [(tag - start) / dates.SECOND for tag in tags]
    found = Found.of(times, [""] * len(tags), origin=when)
    return Stamps._of(Tags(file, found, rows, endings, row_of, start))


def parse_tag(path: str, number: int, row: str) -> int:
    """The nanoseconds since 1970 that a line spells."""
    text = row.strip()
    seconds = parse_number(text)
    if seconds is None or not 0 <= seconds <= LATEST:
        raise bad_content(path, f"line {number}", row, "a UNIX time in seconds")
    return int(Decimal(text) * dates.SECOND)


def start_given(origin: datetime | str | float | None) -> int | None:
    """The origin that a user gave, in nanoseconds."""
    when = dates.as_origin(origin)
    if when is None:
        return None
    if when.tzinfo is None:
        raise ValueError(f"origin: found {when.isoformat()}, expected a time with a zone")
    return dates.to_nanoseconds(when)


def start_beside(path: str) -> int | None:
    """The start of the recording by the first sensor file in the same folder."""
    for name in SENSORS:
        sensor = os.path.join(os.path.dirname(path), name)
        if os.path.isfile(sensor):
            with open(sensor, "rb") as file:
                first = file.readline(100).decode("latin-1")
            try:
                return parse_tag(sensor, 1, first.partition(",")[0])
            except ValueError as error:
                raise ValueError(f"{error}; the start can be given as origin=") from error
    return None


def compose(stamps: Stamps) -> Iterable[bytes]:
    """Tags of these stamps; their labels and durations have no place in the file."""
    start = start_given(stamps.origin)
    if start is None:
        raise ValueError("Empatica tags are UNIX times: the stamps need an origin")
    yield "".join(f"{unix_text(start, t, DECIMALS)}\n" for t in stamps.times).encode()


def unix_text(start: int, time: float, decimals: int) -> str:
    """The UNIX time of a stamp, as text."""
    nanoseconds = start + round(time * dates.SECOND)
    return f"{Decimal(nanoseconds) / dates.SECOND:.{decimals}f}"
