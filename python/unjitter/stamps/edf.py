"""Annotations of EDF+ and BDF+ recordings.

Writing back keeps the signals and the header byte for byte, record by record, so a recording
need not fit into memory; only the annotation signals change, and grow if they must. That also
holds for EDF+D, whose records have gaps between them: packages that write EDF take them as
continuous, and would lose the gaps. Layout: https://www.edfplus.info/specs/edfplus.html
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import BinaryIO

import numpy as np

from .edf_header import Header, annotations_header, read_header
from .edf_lists import Tal, join_tals, split_tals
from .numerals import number_text
from .problems import bad_content
from .source import BoolArray, FloatArray, Found, Source
from .stamps import Stamps

NAME = "edf"
DESCRIPTION = "EDF+ or BDF+ annotations (.edf, .bdf): the signals beside them are kept"
FORBIDDEN = {*range(0x20), 0x7F} - {0x09, 0x0A, 0x0D}  # in the text of an annotation
CHUNK = 2**20


@dataclass(frozen=True)
class Place:
    """Where the text of an annotation stands: record, annotation signal, list and text in it."""

    record: int
    signal: int
    tal: int
    text: int


class Recording(Source):
    """An EDF+ file, of which only the places of annotations are in memory."""

    def __init__(
        self,
        path: str,
        found: Found,
        header: Header,
        annotations: Sequence[tuple[Place, Tal]],
        onsets: Sequence[Decimal],
    ) -> None:
        super().__init__(NAME, path, found)
        self.header = header
        self.annotations = annotations
        self.onsets = onsets  # of the records
        self.version = file_version(path)

    def render(self, times: FloatArray, kept: BoolArray) -> Iterable[bytes]:
        with open(self.path, "rb") as file:
            if file_version(self.path) != self.version:
                raise ValueError(f"{self.path} has changed since it was read; read it again")
            changed = ~kept | (times != self.found.times)
            if changed.any():
                yield from self.rewritten(file, times, kept, changed)
            else:
                yield from iter(lambda: file.read(CHUNK), b"")

    def rewritten(
        self, file: BinaryIO, times: FloatArray, kept: BoolArray, changed: BoolArray
    ) -> Iterator[bytes]:
        """The file with some annotations elsewhere."""
        edits = self.edits(file, times, kept, changed)
        header = self.header
        sizes = [signal.size for signal in header.annotation_signals]
        for (_, k), lists in edits.items():
            sizes[k] = max(sizes[k], len(lists))
        yield header.resized(sizes)
        sizes = [header.whole_samples(size) for size in sizes]
        file.seek(header.size)
        for record in range(header.records):
            content = file.read(header.record_size)
            end = 0
            for k, signal in enumerate(header.annotation_signals):
                yield content[end : signal.start]
                end = signal.start + signal.size
                lists = edits.get((record, k), content[signal.start : end])
                yield lists.ljust(sizes[k], b"\0")
            yield content[end:]
        yield from iter(lambda: file.read(CHUNK), b"")

    def edits(
        self, file: BinaryIO, times: FloatArray, kept: BoolArray, changed: BoolArray
    ) -> dict[tuple[int, int], bytes]:
        """The new annotation lists of those records and signals in which anything changes."""
        gone: dict[tuple[int, int], set[tuple[int, int]]] = defaultdict(set)
        come: dict[tuple[int, int], list[tuple[float, Tal]]] = defaultdict(list)
        starts = np.array([float(onset - self.onsets[0]) for onset in self.onsets])
        for i in np.flatnonzero(changed).tolist():
            place, tal = self.annotations[i]
            gone[place.record, place.signal].add((place.tal, place.text))
            if kept[i]:
                time = float(times[i])
                onset = Decimal(number_text(time)) + self.onsets[0]
                record = max(0, int(np.searchsorted(starts, time, side="right")) - 1)
                come[record, place.signal].append((time, replace(tal, onset=onset)))
        edits = {}
        for key in {*gone, *come}:
            tals = [tal.without(k, gone[key]) for k, tal in enumerate(self.tals(file, *key))]
            arrivals = [tal for _, tal in sorted(come[key], key=lambda arrival: arrival[0])]
            edits[key] = join_tals([tal for tal in tals if tal.texts] + arrivals)
        return edits

    def tals(self, file: BinaryIO, record: int, signal: int) -> list[Tal]:
        """The annotation lists of a record in the file."""
        where = self.header.annotation_signals[signal]
        file.seek(self.header.size + record * self.header.record_size + where.start)
        return split_tals(self.path, record, file.read(where.size))


def read(path: str, *, encoding: str = "utf-8") -> Stamps:
    """Read the annotations of a recording.

    Parameters
    ----------
    path : str
        The file. Times count from its first sample, at `origin`, which has no zone. A recording
        without annotation signals has no stamps.
    encoding : str
        Of the texts; EDF+ demands UTF-8, but not every device heeds that.
    """
    onsets: list[Decimal] = []
    annotations: list[tuple[Place, Tal]] = []
    with open(path, "rb") as file:
        header = read_header(path, file)
        for record in range(header.records):
            base = header.size + record * header.record_size
            for k, signal in enumerate(header.annotation_signals):
                file.seek(base + signal.start)
                tals = split_tals(path, record, file.read(signal.size))
                if k == 0:
                    onsets.append(record_onset(path, record, tals))
                for j, tal in enumerate(tals):
                    first = 1 if j == k == 0 else 0  # the onset of the record is no stamp
                    for n, text in enumerate(tal.texts[first:], first):
                        alone = Tal(tal.onset, tal.duration, (text,))
                        annotations.append((Place(record, k, j, n), alone))
    start = onsets[0] if onsets else Decimal(0)
    found = Found.of(
        [float(tal.onset - start) for _, tal in annotations],
        [decode_label(path, place, tal.texts[0], encoding) for place, tal in annotations],
        [float(tal.duration or 0) for _, tal in annotations],
        header.origin(start),
    )
    return Stamps._of(Recording(path, found, header, annotations, onsets))


def record_onset(path: str, record: int, tals: Sequence[Tal]) -> Decimal:
    """When a record starts: the first annotation in it says so, and has an empty text."""
    if not tals or tals[0].texts[0]:
        found = tals[0].texts[0].decode("latin-1") if tals else ""
        raise bad_content(path, f"record {record}", found, "first the onset of the record")
    return tals[0].onset


def decode_label(path: str, place: Place, text: bytes, encoding: str) -> str:
    """The text of an annotation."""
    try:
        return text.decode(encoding)
    except (UnicodeDecodeError, LookupError) as error:
        expected = f"text in {encoding} (another can be given as encoding=)"
        found = text.decode("latin-1")
        raise bad_content(path, f"record {place.record}", found, expected) from error


def file_version(path: str) -> tuple[int, int]:
    """What changes when a file does."""
    status = os.stat(path)
    return status.st_size, status.st_mtime_ns


def compose(stamps: Stamps) -> Iterable[bytes]:
    """An EDF+ file of annotations alone; the origin is written as the clock showed it there."""
    offset = Decimal(stamps.origin.microsecond if stamps.origin else 0) / 10**6
    tals = [Tal(offset, None, (b"",))]
    for time, duration, label in zip(
        stamps.times.tolist(), stamps.durations.tolist(), stamps.labels, strict=True
    ):
        text = label.encode()
        if FORBIDDEN.intersection(text):
            raise ValueError(f"label {label!r}: EDF+ annotations have no control characters")
        lasting = Decimal(number_text(duration)) if duration else None
        tals.append(Tal(Decimal(number_text(time)) + offset, lasting, (text,)))
    content = join_tals(tals)
    content += b"\0" * (len(content) % 2)
    yield annotations_header(stamps.origin, len(content) // 2) + content
