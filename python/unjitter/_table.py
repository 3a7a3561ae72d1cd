"""A table for users without a data frame library."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Longer tables show their first and last rows.
MOST_ROWS, AT_EACH_END = 60, 5
DECIMALS = 6


class Table:
    """Columns of equal length, printed as a table.

    The type of results without pandas: ``table["time"]`` is a NumPy array,
    ``table[["stamp", "time"]]`` and ``table[table["p_spurious"] > 0.5]`` are smaller tables, and
    any data frame library can convert ``dict(table)``.

    Parameters
    ----------
    columns : mapping of str to array-like
        The columns by their names.

    Examples
    --------
    >>> from unjitter import Table
    >>> table = Table({"session": ["a", "b"], "time": [1.5, 22.125]})
    >>> table
       session    time
    0        a   1.500
    1        b  22.125
    >>> table[table["time"] > 2.0].round(1)
       session  time
    1        b  22.1
    """

    def __init__(self, columns: Mapping[str, Any]) -> None:
        self._columns = {name: np.asarray(values) for name, values in columns.items()}
        lengths = {len(values) for values in self._columns.values()}
        if len(lengths) > 1:
            raise ValueError(f"columns have lengths {sorted(lengths)}, expected one")
        self._numbers = np.arange(lengths.pop() if lengths else 0)

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return list(self._columns)

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and of columns."""
        return len(self), len(self._columns)

    def keys(self) -> list[str]:
        """Names of the columns, so that ``dict(table)`` works."""
        return self.columns

    def __len__(self) -> int:
        return len(self._numbers)

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __getitem__(self, chosen: Any) -> Any:
        """A column by its name, columns by a list of names, or rows by a slice or a mask."""
        if isinstance(chosen, str):
            if chosen not in self._columns:
                raise KeyError(f"{chosen!r}; the columns are {', '.join(self._columns)}")
            return self._columns[chosen]
        if isinstance(chosen, list) and all(isinstance(name, str) for name in chosen):
            return self._with({name: self[name] for name in chosen}, self._numbers)
        rows = chosen if isinstance(chosen, slice) else np.asarray(chosen)
        taken = {name: values[rows] for name, values in self._columns.items()}
        return self._with(taken, self._numbers[rows])

    def head(self, n: int = 5) -> Table:
        """The first rows."""
        first: Table = self[:n]
        return first

    def round(self, decimals: int = 0) -> Table:
        """The same with its numbers rounded."""
        rounded = {
            name: np.round(values, decimals) if values.dtype.kind == "f" else values
            for name, values in self._columns.items()
        }
        return self._with(rounded, self._numbers)

    def __repr__(self) -> str:
        numbers, *columns = self._cells()
        padded = [list(map(str.ljust, numbers, repeat(max(map(len, numbers)))))]
        padded += [list(map(str.rjust, own, repeat(max(map(len, own))))) for own in columns]
        lines = ["  ".join(row) for row in zip(*padded)]
        if len(self) > MOST_ROWS:
            lines.append(f"\n[{len(self)} rows x {len(self._columns)} columns]")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        head, *rows = zip(*self._cells())
        lines = ["".join(f"<th>{escape(name)}</th>" for name in head)]
        lines += ["".join(f"<td>{escape(cell)}</td>" for cell in row) for row in rows]
        return f"<table>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>"

    def _cells(self) -> list[list[str]]:
        """Numbers of the rows and then the columns, each below its name."""
        few = len(self) <= MOST_ROWS
        ends = np.r_[:AT_EACH_END, len(self) - AT_EACH_END : len(self)]
        shown = np.arange(len(self)) if few else ends
        cells = [["", *map(str, self._numbers[shown])]]
        cells += [[name, *_texts(values[shown])] for name, values in self._columns.items()]
        if not few:
            for column in cells:
                column.insert(1 + AT_EACH_END, "...")
        return cells

    def _with(self, columns: dict[str, Any], numbers: NDArray[np.intp]) -> Table:
        other = Table(columns)
        other._numbers = numbers
        return other


def _texts(values: NDArray[Any]) -> list[str]:
    """Cells of a column, all with as many decimals as one of them needs."""
    if values.dtype.kind == "M":
        return _short([str(date).replace("T", " ") for date in values], keep=0)
    if values.dtype.kind == "f":
        texts = [f"{value:.{DECIMALS}f}".replace("nan", "NaN") for value in values]
        return _short(texts, keep=1)
    return [str(value) for value in values]


def _short(texts: list[str], keep: int) -> list[str]:
    """Without the zeros at the end that all of them have, but for so many decimals."""
    decimals = [text.rpartition(".")[2] for text in texts if "." in text]
    needed = max([keep, *(len(own.rstrip("0")) for own in decimals)])
    return [
        text if "." not in text else f"{whole}.{fraction[:needed]}".rstrip(".")
        for text in texts
        for whole, _, fraction in [text.rpartition(".")]
    ]
