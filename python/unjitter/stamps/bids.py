"""Events of the Brain Imaging Data Structure: `*_events.tsv` with onset, duration, trial_type.

A table of fixed names in which a missing value is `n/a`. Other columns are kept.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from .files import Text, load_text
from .numerals import number_text
from .stamps import Stamps
from .table import Columns, read_table, table_text

NAME = "bids"
DESCRIPTION = "BIDS events (*_events.tsv, also .gz): onset, duration, trial_type"


def read(
    path: str,
    *,
    label: str | None = None,
    origin: datetime | str | float | None = None,
    encoding: str | None = None,
) -> Stamps:
    """Read an events file.

    Parameters
    ----------
    path : str
        The file.
    label : str, optional
        The column of labels, required if named; else ``trial_type`` if there is one.
    origin : datetime, ISO-8601 str or UNIX seconds, optional
        When second 0 is.
    encoding : str, optional
        UTF-8 if not given.
    """
    file = load_text(path, encoding)
    columns = Columns("onset", label, None)
    return read_table(NAME, file, ("\t",), columns, ("trial_type", "duration"), origin)


def compose(stamps: Stamps) -> Iterable[bytes]:
    """An events file of these stamps."""
    columns = [
        ["onset", *map(number_text, stamps.times.tolist())],
        ["duration", *map(number_text, stamps.durations.tolist())],
        ["trial_type", *(label or "n/a" for label in stamps.labels)],
    ]
    yield Text("", "", "", "utf-8").encode(table_text(columns, "\t"))
