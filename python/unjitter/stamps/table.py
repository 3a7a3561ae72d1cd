"""Tables with a header, CSV or TSV: one stamp per row, other columns and their text kept.

Times are seconds, or ISO-8601 dates like `2024-05-31T14:03:27.5+02:00`. Moved ones are written
back in the same form and zone: seconds in as many digits as it takes to read back the same
number, dates to the microsecond.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from . import dates
from .delimited import Row, quoted, split_rows
from .files import Text, load_text
from .numerals import number_text, parse_number
from .problems import bad_content
from .rows import Rows
from .source import Found
from .stamps import Stamps

NAME = "csv"
DESCRIPTION = "a table with a header (.csv, .tsv, also .gz): one stamp per row"

DELIMITERS = (",", "\t", ";", "|")
MISSING = ("", "n/a", "N/A", "NA", "nan", "NaN")


@dataclass(frozen=True)
class Columns:
    """Which columns hold what, by name; None where there is none."""

    time: str
    label: str | None
    duration: str | None


class Table(Rows):
    """A table; `spots` say where in its row each time stands, `clock` how to spell another."""

    def __init__(
        self,
        format: str,
        file: Text,
        found: Found,
        rows: Sequence[Row],
        row_of: Sequence[int],
        spots: Sequence[tuple[int, int]],
        clock: Clock,
    ) -> None:
        texts, endings = [row.text for row in rows], [row.ending for row in rows]
        super().__init__(format, file, found, texts, endings, row_of)
        self.spots = spots
        self.clock = clock

    def rewritten(self, stamp: int, time: float) -> str:
        row = self.rows[self.row_of[stamp]]
        start, end = self.spots[stamp]
        return row[:start] + self.clock.spell(stamp, time) + row[end:]


class Clock:
    """Times in seconds, as numbers."""

    def spell(self, stamp: int, time: float) -> str:
        """The text of a time in the form of a stamp's own."""
        return number_text(time)


class Calendar(Clock):
    """Times as dates."""

    def __init__(self, origin: int, spellings: Sequence[dates.Spelling]) -> None:
        self.origin = origin
        self.spellings = spellings

    def spell(self, stamp: int, time: float) -> str:
        return self.spellings[stamp].text(self.origin + round(time * dates.SECOND))


def read(
    path: str,
    *,
    time: str = "time",
    label: str | None = None,
    duration: str | None = None,
    origin: datetime | str | float | None = None,
    encoding: str | None = None,
) -> Stamps:
    """Read a table.

    Parameters
    ----------
    path : str
        The file. What separates its columns is told from the header: comma, tab, semicolon or
        bar.
    time, label, duration : str, optional
        Names of columns. ``label`` and ``duration`` are used if the table has them; naming them
        makes them required. A row without a time is kept but is no stamp.
    origin : datetime, ISO-8601 str or UNIX seconds, optional
        When second 0 is. For dates, the first of them if not given.
    encoding : str, optional
        UTF-8 if not given.
    """
    file = load_text(path, encoding)
    columns = Columns(time, label, duration)
    return read_table(NAME, file, DELIMITERS, columns, ("label", "duration"), origin)


def read_table(
    format: str,
    file: Text,
    delimiters: Sequence[str],
    columns: Columns,
    usual: tuple[str, str],
    origin: datetime | str | float | None,
) -> Stamps:
    """Read a table; `usual` are the names of the label and the duration where not given."""
    delimiter, names = read_header(file, delimiters, columns.time)
    at = position(file, names, columns.time)
    label_at = optional_position(file, names, columns.label, usual[0])
    duration_at = optional_position(file, names, columns.duration, usual[1])
    rows = list(split_rows(file.path, file.body, delimiter))
    row_of, spots, labels, durations = [], [], [], []
    for place, row in enumerate(rows[1:], 1):
        if not row.text.strip():
            continue
        value = row.value(at)
        if value is None:
            expected = f"{at + 1} fields or more, the time in the last of them"
            raise bad_content(file.path, f"line {row.line}", row.text, expected)
        if value in MISSING:
            continue
        row_of.append(place)
        spots.append(row.fields[at].inside(row.text))
        text = "" if label_at is None else row.value(label_at) or ""
        labels.append("" if text == "n/a" else text)
        durations.append(0.0 if duration_at is None else read_duration(file, row, duration_at))
    texts = [rows[place].value(at) or "" for place in row_of]
    lines = [rows[place].line for place in row_of]
    times, when, clock = read_times(file, texts, lines, dates.as_origin(origin))
    found = Found.of(times, labels, durations, when)
    return Stamps._of(Table(format, file, found, rows, row_of, spots, clock))


def read_header(file: Text, delimiters: Sequence[str], time: str) -> tuple[str, list[str]]:
    """What separates columns, and their names: whichever gives one with the name of the time."""
    most: tuple[str, list[str]] | None = None
    for delimiter in delimiters:
        header = next(split_rows(file.path, file.body, delimiter), None)
        if header is None:
            raise ValueError(f"{file.path}: found an empty file, expected a table with a header")
        names = [field.value(header.text) for field in header.fields]
        if time in names:
            return delimiter, names
        if most is None or len(names) > len(most[1]):
            most = delimiter, names
    found = ", ".join(most[1]) if most else ""
    raise bad_content(file.path, "line 1", found, f"a header with a column {time!r}")


def position(file: Text, names: Sequence[str], name: str) -> int:
    """Where a column is."""
    if names.count(name) != 1:
        expected = f"one column {name!r}"
        raise bad_content(file.path, "line 1", ", ".join(names), expected)
    return names.index(name)


def optional_position(file: Text, names: Sequence[str], name: str | None, usual: str) -> int | None:
    """Where a column is that must be there only if the user named it."""
    if name is None:
        return names.index(usual) if usual in names else None
    return position(file, names, name)


def read_duration(file: Text, row: Row, column: int) -> float:
    """The duration in a row; one that is missing is 0."""
    text = row.value(column) or ""
    if text in MISSING:
        return 0.0
    duration = parse_number(text)
    if duration is None or duration < 0:
        raise bad_content(file.path, f"line {row.line}", text, "a duration in seconds, 0 or more")
    return duration


def read_times(
    file: Text, texts: Sequence[str], lines: Sequence[int], origin: datetime | None
) -> tuple[list[float], datetime | None, Clock]:
    """Times in seconds, their origin, and how to spell others; the first tells the form."""
    if texts and dates.parse(texts[0]) is not None:
        return read_dates(file, texts, lines, origin)
    times = []
    for text, line in zip(texts, lines, strict=True):
        number = parse_number(text)
        if number is None:
            expected = "a time in seconds, or a date like 2024-05-31T14:03:27 in every row"
            raise bad_content(file.path, f"line {line}", text, expected)
        times.append(number)
    return times, origin, Clock()


def read_dates(
    file: Text, texts: Sequence[str], lines: Sequence[int], origin: datetime | None
) -> tuple[list[float], datetime, Clock]:
    """Times as seconds from the origin, or from the first of them."""
    instants: list[int] = []
    spellings: list[dates.Spelling] = []
    for text, line in zip(texts, lines, strict=True):
        parsed = dates.parse(text)
        if parsed is None:
            expected = "a date like 2024-05-31T14:03:27, as in the rows before"
            raise bad_content(file.path, f"line {line}", text, expected)
        if spellings and bool(parsed[1].zone) != bool(spellings[0].zone):
            raise bad_content(file.path, f"line {line}", text, "a zone in every row, or in none")
        instants.append(parsed[0])
        spellings.append(parsed[1])
    if origin is None:
        origin = dates.to_datetime(min(instants), spellings[instants.index(min(instants))])
    elif (origin.tzinfo is not None) != bool(spellings[0].zone):
        raise bad_content(
            file.path, f"line {lines[0]}", texts[0], f"a zone if and only if {origin!r} has one"
        )
    start = dates.to_nanoseconds(origin)
    times = [(instant - start) / dates.SECOND for instant in instants]
    return times, origin, Calendar(start, spellings)


def compose(
    stamps: Stamps,
    *,
    delimiter: str = ",",
    time: str = "time",
    label: str = "label",
    duration: str = "duration",
    dates: bool = False,
) -> Iterable[bytes]:
    """A table of these stamps.

    Parameters
    ----------
    stamps : Stamps
        What to write. Their origin is lost unless times are written as dates.
    delimiter : str
        What separates columns; a tab if the name of the file says TSV.
    time, label, duration : str
        Names of columns; the last two are left out if there is nothing to put in.
    dates : bool
        Write dates, not seconds.
    """
    clock = calendar(stamps) if dates else Clock()
    columns = [[time, *(clock.spell(i, t) for i, t in enumerate(stamps.times.tolist()))]]
    if any(stamps.durations):
        columns.append([duration, *map(number_text, stamps.durations.tolist())])
    if any(stamps.labels):
        columns.append([label, *stamps.labels])
    yield Text("", "", "", "utf-8").encode(table_text(columns, delimiter))


def table_text(columns: Sequence[Sequence[str]], delimiter: str) -> str:
    """Columns of values as the text of a table."""
    rows = zip(*columns, strict=True)
    return "".join(delimiter.join(quoted(v, delimiter) for v in row) + "\n" for row in rows)


def calendar(stamps: Stamps) -> Calendar:
    """Dates in the zone of the origin."""
    origin = stamps.origin
    if origin is None:
        raise ValueError("dates: the stamps need an origin to be written as dates")
    offset = origin.utcoffset()
    zone = "" if offset is None else f"{origin:%z}"[:5]
    zone = zone and zone[:3] + ":" + zone[3:]
    spelling = dates.Spelling(zone=zone, offset=offset or timedelta(0))
    return Calendar(dates.to_nanoseconds(origin), [spelling] * len(stamps))
