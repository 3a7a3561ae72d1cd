"""One form for everything that can be wrong in a file: where, what was found, what was expected."""

from __future__ import annotations

LONGEST_QUOTE = 60


def bad_content(path: str, place: str, found: str, expected: str) -> ValueError:
    """An error to raise; `found` may be untrusted and long, and is cut.

    >>> raise bad_content("tags.csv", "line 3", "noon", "a UNIX time in seconds")
    Traceback (most recent call last):
    ValueError: tags.csv, line 3: found 'noon', expected a UNIX time in seconds
    """
    if len(found) > LONGEST_QUOTE:
        found = found[:LONGEST_QUOTE] + "…"
    return ValueError(f"{path}, {place}: found {found!r}, expected {expected}")
