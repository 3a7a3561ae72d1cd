"""Which formats there are, how to tell them apart, and the two ways in and out."""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from . import audacity, bids, edf, empatica, table, textgrid, wfdb
from .files import is_packed, write_whole
from .stamps import Stamps

# Annotators that PhysioNet's databases use; any other is known by the header beside the file.
ANNOTATORS = (
    "al alh alm ann ao apn arf ari at atr blh blm bph bpm ecg edr gqrs man oea pu pu0 pu1 pwave "
    "q1c q1t q2c q2t qrs qrsc sqrs st sta stb stc stf wabp wqrs xws"
)


@dataclass(frozen=True)
class Format:
    """A format: how to read it, how to make a file of stamps, which names it has."""

    name: str
    description: str
    read: Callable[..., Stamps]
    compose: Callable[..., Iterable[bytes]]
    known_by: re.Pattern[str]  # a name that tells the format
    fits: re.Pattern[str]  # a name that a file of this format may have
    packable: bool


def format_of(module: Any, known_by: str, fits: str = "", packable: bool = False) -> Format:
    """A format from its module, and how names end that tell it or fit it."""
    ending = r"(\.gz)?$" if packable else "$"
    told = re.compile(f"({known_by}){ending}", re.IGNORECASE)
    fitting = re.compile(f"({fits or known_by}){ending}", re.IGNORECASE)
    return Format(
        module.NAME, module.DESCRIPTION, module.read, module.compose, told, fitting, packable
    )


# In this order a name is tried, so those that take the fewest names come first.
EVERY = (
    format_of(bids, r"(^|_)events\.tsv", r"\.tsv", packable=True),
    format_of(empatica, r"^tags\.csv", r"\.csv"),
    format_of(table, r"\.csv|\.tsv", packable=True),
    format_of(textgrid, r"\.textgrid"),
    format_of(edf, r"\.edf|\.bdf"),
    format_of(wfdb, rf"\.({ANNOTATORS.replace(' ', '|')})"),
    format_of(audacity, r"\.txt"),
)
BY_NAME = {format.name: format for format in EVERY}

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
        - ``"textgrid"``: `tier`, `encoding`

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
    chosen = named(format) if format is not None else told_by_file(name)
    check_options(f"reading {chosen.name}", chosen.read, options)
    return chosen.read(name, **options)


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
    chosen = named(format) if format is not None else told_for(stamps, name)
    if is_packed(name) and not chosen.packable:
        raise ValueError(f"{name}: {chosen.name} files are not packed with gzip")
    source = stamps._source
    if source is not None and source.format == chosen.name:
        if options:
            raise TypeError(
                f"a file that was read is written back in its own form: found the options "
                f"{', '.join(options)}, expected none"
            )
        chunks = source.render(stamps._now, stamps._kept)
    else:
        if chosen is BY_NAME[table.NAME] and re.search(r"\.tsv(\.gz)?$", name, re.IGNORECASE):
            options.setdefault("delimiter", "\t")
        check_options(f"writing {chosen.name}", chosen.compose, options)
        chunks = chosen.compose(stamps, **options)
    write_whole(name, chunks, overwrite)


def named(name: str) -> Format:
    """The format of that name."""
    if name not in BY_NAME:
        raise ValueError(f"format: found {name!r}, expected one of\n{listing()}")
    return BY_NAME[name]


def told_by_file(path: str) -> Format:
    """The format by the name of a file, or by what is beside it or in it."""
    told = told_by_name(path)
    if told is not None:
        return told
    stem, extension = os.path.splitext(path)
    if extension and extension != ".hea" and os.path.isfile(stem + ".hea"):
        return BY_NAME[wfdb.NAME]
    with open(path, "rb") as file:
        beginning = file.read(200)
    if beginning.startswith((b"0       ", b"\xffBIOSEMI")):
        return BY_NAME[edf.NAME]
    if b"ooTextFile" in beginning.replace(b"\0", b""):
        return BY_NAME[textgrid.NAME]
    raise cannot_tell(path)


def told_by_name(path: str) -> Format | None:
    """The format by the name of a file alone."""
    name = os.path.basename(path)
    return next((format for format in EVERY if format.known_by.search(name)), None)


def told_for(stamps: Stamps, path: str) -> Format:
    """The format to write in."""
    told = told_by_name(path)
    if stamps._source is not None:
        own = BY_NAME[stamps._source.format]
        extension = os.path.splitext(path)[1]
        # A file read by `format=` may be written under the kind of name that it had.
        same = extension == os.path.splitext(stamps._source.path)[1]
        # The extension of WFDB annotations is the annotator, which may have any name.
        annotator = told is None and extension and own.name == wfdb.NAME
        if own.fits.search(os.path.basename(path)) or same or annotator:
            return own
    if told is None:
        raise cannot_tell(path)
    return told


def cannot_tell(path: str) -> ValueError:
    """An error that lists the formats."""
    return ValueError(f"{path}: cannot tell the format; pass format= as one of\n{listing()}")


def listing() -> str:
    """The formats, one per line."""
    return "\n".join(f"  {name!r}: {description}" for name, description in FORMATS.items())


def check_options(doing: str, function: Callable[..., Any], options: Mapping[str, Any]) -> None:
    """Raise if the function does not take an option, or needs one that is not there."""
    parameters = list(inspect.signature(function).parameters.values())[1:]
    known = [p.name for p in parameters]
    for name in options:
        if name not in known:
            takes = "the options " + ", ".join(known) if known else "no options"
            raise TypeError(f"{doing} takes {takes}; found {name!r}")
    for parameter in parameters:
        if parameter.default is inspect.Parameter.empty and parameter.name not in options:
            raise TypeError(f"{doing} needs the option {parameter.name}")
