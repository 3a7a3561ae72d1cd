"""Which formats there are, how to tell them apart, and the two ways in and out."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from .. import _core
from .moments import to_moment
from .source import Source
from .stamps import Stamps


@dataclass(frozen=True)
class Format:
    """A format, and the options it takes."""

    name: str
    description: str
    reads: Collection[str]
    writes: Collection[str]
    needs: Collection[str]
    packable: bool


BY_NAME = {described[0]: Format(*described) for described in _core.stamp_formats()}

FORMATS: Mapping[str, str] = MappingProxyType(
    {name: BY_NAME[name].description for name in sorted(BY_NAME)}
)
"""Names of the formats, with a description of each."""


def read(path: str | os.PathLike[str], format: str | None = None, **options: Any) -> Stamps:
    """Read stamps from a file.

    Parameters
    ----------
    path : str or path-like
        The file.
    format : str, optional
        One of `FORMATS`; told from the name of the file if not given.
    **options
        What the format takes:

        - ``"csv"``: `time`, `label`, `duration` (names of columns), `origin`, `encoding`
        - ``"bids"``: `label`, `origin`, `encoding`
        - ``"audacity"``: `encoding`
        - ``"empatica"``: `origin`
        - ``"wfdb"``: `fs`, `label` ("symbol" or "note")
        - ``"edf"``: `encoding`
        - ``"textgrid"``, ``"elan"``: `tier`, `encoding`
        - ``"raven"``, ``"dcase"``, ``"boris"``: `label` (name of a column), `origin`, `encoding`
        - ``"rttm"``: `encoding`

    Returns
    -------
    Stamps
        All stamps of the file, which remember the rest of it.

    Raises
    ------
    ValueError
        If the format cannot be told, or something in the file is wrong; the message says where.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> path = Path(tempfile.mkdtemp()) / "events.csv"
    >>> _ = path.write_text("time,label,by\\n2.5,cough,Ann\\n7.25,cough,Bo\\n9,sneeze,Ann\\n")
    >>> coughs = read(path).only("cough")
    >>> coughs.times
    array([2.5 , 7.25])
    >>> coughs.moved(coughs.times - 2).write(path, overwrite=True)
    >>> print(path.read_text().strip())
    time,label,by
    0.5,cough,Ann
    5.25,cough,Bo
    9,sneeze,Ann
    """
    name = os.fspath(path)
    chosen = named(_core.stamp_format_by_file(name) if format is None else format)
    check_options(f"reading {chosen.name}", chosen.reads, (), options)
    given = {name: value for name, value in options.items() if value is not None}
    if "origin" in given:
        given["origin"] = to_moment(given["origin"])
    return Stamps._of(Source(name, chosen.name, given))


def write(
    stamps: Stamps,
    path: str | os.PathLike[str],
    format: str | None = None,
    *,
    overwrite: bool = False,
    **options: Any,
) -> None:
    """Write stamps to a file, whole or not at all.

    Stamps that were read from a file of the same format are written back into all that it held:
    unselected stamps, other columns, tiers, signals. In another format, the selected stamps are
    written alone.

    Parameters
    ----------
    stamps : Stamps
        What to write.
    path : str or path-like
        The file.
    format : str, optional
        One of `FORMATS`. If not given, the format that the stamps came from, if the name of the
        file allows; else as the name says.
    overwrite : bool
        Whether a file that exists may be replaced.
    **options
        What the format takes when a file is made anew:

        - ``"csv"``: `time`, `label`, `duration` (names of columns), `delimiter`, `dates`
        - ``"wfdb"``: `fs`, which is required
        - ``"textgrid"``: `tier`, `end`
        - ``"elan"``: `tier`

    Raises
    ------
    FileExistsError
        If there is a file and `overwrite` is not set.
    ValueError
        If the format cannot be told or cannot hold these stamps.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> path = Path(tempfile.mkdtemp()) / "labels.txt"
    >>> write(Stamps([1.5], labels=["bark"]), path)
    >>> print(path.read_text().strip().split("\\t"))
    ['1.500000', '1.500000', 'bark']
    """
    name = os.fspath(path)
    source = stamps._source
    chosen = named(format_for(stamps, name) if format is None else format)
    if name.lower().endswith(".gz") and not chosen.packable:
        raise ValueError(f"{name}: {chosen.name} files are not packed with gzip")
    is_own = source is not None and source.format == chosen.name
    if is_own and options:
        raise TypeError(
            f"a file that was read is written back in its own form: found the options "
            f"{', '.join(options)}, expected none"
        )
    if not is_own:
        check_options(f"writing {chosen.name}", chosen.writes, chosen.needs, options)
    if os.path.lexists(name) and not overwrite:
        raise FileExistsError(f"{name} exists; pass overwrite=True to replace it")
    folder = os.path.dirname(os.path.realpath(name))
    if not os.path.isdir(folder):
        raise FileNotFoundError(f"{name}: there is no folder {folder}")
    if source is not None and is_own:
        ends = stamps._ends()
        own_ends = () if ends is None else (ends,)
        source.file.write(name, stamps._now, stamps._kept, overwrite, *own_ends)
        return
    if chosen.name == "csv" and name.lower().removesuffix(".gz").endswith(".tsv"):
        options.setdefault("delimiter", "\t")
    origin = None if stamps.origin is None else to_moment(stamps.origin)
    times, durations = np.array(stamps.times), np.array(stamps.durations)
    _core.write_new_stamps(
        name, chosen.name, times, stamps.labels, durations, origin, overwrite, **options
    )


def named(name: str) -> Format:
    """The format of that name."""
    if name not in BY_NAME:
        raise ValueError(f"format: found {name!r}, expected one of\n{listing()}")
    return BY_NAME[name]


def told_by_name(path: str) -> Format | None:
    """The format by the name of a file alone."""
    name = _core.stamp_format_by_name(path)
    return None if name is None else BY_NAME[name]


def format_for(stamps: Stamps, path: str) -> str:
    """The format to write in."""
    if stamps._source is not None:
        return stamps._source.file.format_for(path)
    told = _core.stamp_format_by_name(path)
    if told is None:
        raise ValueError(f"{path}: cannot tell the format; pass format= as one of\n{listing()}")
    return told


def listing() -> str:
    """The formats, one per line."""
    return "\n".join(f"  {name!r}: {description}" for name, description in FORMATS.items())


def check_options(
    doing: str, known: Collection[str], needed: Collection[str], options: Mapping[str, Any]
) -> None:
    """Raise if an option is not known, or one that is needed is not there."""
    for name in options:
        if name not in known:
            takes = "the options " + ", ".join(known) if known else "no options"
            raise TypeError(f"{doing} takes {takes}; found {name!r}")
    for name in needed:
        if name not in options:
            raise TypeError(f"{doing} needs the option {name}")
