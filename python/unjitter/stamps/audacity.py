r"""Label tracks of Audacity: start, end and text, with tabs between.

A line that begins with a backslash gives the frequencies of the label above it; it moves along.
Times are written with six decimals, as Audacity does.
"""

from __future__ import annotations

from collections.abc import Iterable

from .files import Text, load_text
from .numerals import parse_number
from .problems import bad_content
from .rows import Rows, split_lines
from .source import Found
from .stamps import Stamps

NAME = "audacity"
DESCRIPTION = "Audacity labels (.txt): start, end and text, with tabs between"
DECIMALS = 6


class Labels(Rows):
    """A label track; a row is a label with its lines of frequencies."""

    def rewritten(self, stamp: int, time: float) -> str:
        start, *rest = self.rows[self.row_of[stamp]].split("\t")
        decimals = max(DECIMALS, decimals_of(start))
        if rest and parse_number(rest[0].strip()) is not None:
            end = time + float(self.found.durations[stamp])
            rest[0] = f"{end:.{decimals}f}"
        return "\t".join([f"{time:.{decimals}f}", *rest])


def read(path: str, *, encoding: str | None = None) -> Stamps:
    """Read a label track.

    Parameters
    ----------
    path : str
        The file.
    encoding : str, optional
        UTF-8 if not given.
    """
    file = load_text(path, encoding)
    lines, line_endings = split_lines(file.body)
    rows: list[str] = []
    endings: list[str] = []
    row_of: list[int] = []
    times, durations, labels = [], [], []
    for number, (line, ending) in enumerate(zip(lines, line_endings, strict=True), 1):
        if line.startswith("\\") and row_of and row_of[-1] == len(rows) - 1:
            rows[-1] += endings[-1] + line
            endings[-1] = ending
            continue
        if line.strip():
            start, end, label = parse_label(path, number, line)
            times.append(start)
            durations.append(end - start)
            labels.append(label)
            row_of.append(len(rows))
        rows.append(line)
        endings.append(ending)
    found = Found.of(times, labels, durations)
    return Stamps._of(Labels(NAME, file, found, rows, endings, row_of))


def parse_label(path: str, number: int, line: str) -> tuple[float, float, str]:
    """Start, end and text of a line. Old versions of Audacity leave out the end of an instant."""
    expected = "start, end and text of a label, with tabs between"
    start_text, *rest = line.split("\t", 2)
    start = parse_number(start_text.strip())
    if start is None or not rest:
        raise bad_content(path, f"line {number}", line, expected)
    end = parse_number(rest[0].strip())
    if end is None and len(rest) == 1:
        return start, start, rest[0]
    if end is None or end < start:
        raise bad_content(path, f"line {number}", line, expected + ", and no end before its start")
    return start, end, rest[1] if len(rest) == 2 else ""


def compose(stamps: Stamps) -> Iterable[bytes]:
    """A label track of these stamps."""
    lines = []
    for time, duration, label in zip(stamps.times, stamps.durations, stamps.labels, strict=True):
        if any(character in label for character in "\t\r\n"):
            raise ValueError(f"label {label!r}: Audacity labels have no tabs or line breaks")
        lines.append(f"{time:.{DECIMALS}f}\t{time + duration:.{DECIMALS}f}\t{label}\n")
    yield Text("", "", "", "utf-8").encode("".join(lines))


def decimals_of(text: str) -> int:
    """How many decimals a number was written with."""
    return len(text.strip().partition(".")[2])
