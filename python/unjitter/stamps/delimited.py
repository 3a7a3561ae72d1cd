"""Rows and fields of delimited text, by position, so that all else can be kept as it was.

The `csv` module gives values but not where they stand. Quotes are as in RFC 4180: they count at
the beginning of a field, and a doubled one stands for itself. Time O(length of the text).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .problems import bad_content


@dataclass(frozen=True)
class Field:
    """Where a field stands in its row, quotes included."""

    start: int
    end: int

    def inside(self, row: str) -> tuple[int, int]:
        """Where its text stands, without quotes and surrounding spaces."""
        text = row[self.start : self.end]
        start, end = self.start, self.end
        if text.startswith('"'):
            start, end = start + 1, end - 1
            text = text[1:-1]
        start += len(text) - len(text.lstrip())
        return start, max(start, end - (len(text) - len(text.rstrip())))

    def value(self, row: str) -> str:
        """Its text, without quotes and surrounding spaces."""
        start, end = self.inside(row)
        text = row[start:end]
        return text.replace('""', '"') if row.startswith('"', self.start) else text


@dataclass(frozen=True)
class Row:
    """A row: the number of its first line, its text and its line ending."""

    line: int
    text: str
    ending: str
    fields: list[Field]

    def value(self, column: int) -> str | None:
        """The value in a column, None if the row ends before it."""
        return self.fields[column].value(self.text) if column < len(self.fields) else None


def split_rows(path: str, body: str, delimiter: str) -> Iterator[Row]:
    """All rows of a text."""
    start, line = 0, 1
    while start < len(body):
        fields, end = split_fields(path, body, start, line, delimiter)
        next_start = body.find("\n", end) + 1 or len(body)
        text = body[start:end]
        yield Row(line, text, body[end:next_start], fields)
        line += text.count("\n") + 1
        start = next_start


def split_fields(
    path: str, body: str, start: int, line: int, delimiter: str
) -> tuple[list[Field], int]:
    """The fields of the row that begins at `start`, and where it ends; fields count from there."""
    fields = []
    at = start
    line_end = end_of_line(body, start)
    while True:
        if body.startswith('"', at):
            end = end_of_quotes(path, body, at, line)
            line_end = end_of_line(body, end)
            if end < line_end and not body.startswith(delimiter, end):
                found = body[at : end + 1]
                expected = f"{delimiter!r} or the end of the line after a closing quote"
                raise bad_content(path, f"line {line}", found, expected)
        else:
            end = body.find(delimiter, at, line_end)
            end = line_end if end < 0 else end
        fields.append(Field(at - start, end - start))
        if end == line_end:
            return fields, end
        at = end + 1


def end_of_line(body: str, start: int) -> int:
    """Where the line ending after `start` begins."""
    end = body.find("\n", start)
    if end < 0:
        end = len(body)
    return end - 1 if body.endswith("\r", start, end) else end


def end_of_quotes(path: str, body: str, start: int, line: int) -> int:
    """Just after the quote that closes the one at `start`."""
    at = start + 1
    while True:
        at = body.find('"', at) + 1
        if at == 0:
            found = body[start : start + 100]
            raise bad_content(path, f"line {line}", found, "a closing quote somewhere after")
        if not body.startswith('"', at):
            return at
        at += 1


def quoted(value: str, delimiter: str) -> str:
    """A value as a field, in quotes where it needs them."""
    if not any(character in value for character in (delimiter, '"', "\r", "\n")):
        return value
    return '"' + value.replace('"', '""') + '"'
