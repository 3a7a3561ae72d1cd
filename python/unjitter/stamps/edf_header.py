"""The header of EDF and BDF files: where in each record the annotations are."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import BinaryIO

from .problems import bad_content

FIXED = 256  # bytes before the signals, and for each of them
LABEL_WIDTH, SAMPLES_OFFSET, SAMPLES_WIDTH = 16, 216, 8
MONTHS = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"]
FIRST_YEAR = 1985  # of the century that two digits stand for
FULL_DATE = re.compile(r"Startdate ([0-9]{2})-([A-Z]{3})-([0-9]{4})(?: |$)")


@dataclass(frozen=True)
class AnnotationSignal:
    """A signal that holds annotations: its index, and its bytes in every record."""

    index: int
    start: int
    size: int


@dataclass(frozen=True)
class Header:
    """The header of a recording; sizes in bytes."""

    raw: bytes
    sample_size: int
    records: int
    record_size: int
    annotation_signals: tuple[AnnotationSignal, ...]

    @property
    def size(self) -> int:
        """How long the header is."""
        return len(self.raw)

    def whole_samples(self, size: int) -> int:
        """The least size in whole samples that is not below."""
        return -(-size // self.sample_size) * self.sample_size

    def resized(self, sizes: Sequence[int]) -> bytes:
        """The header with other sizes of the annotation signals."""
        raw = bytearray(self.raw)
        count = len(self.raw) // FIXED - 1
        for signal, size in zip(self.annotation_signals, sizes, strict=True):
            samples = self.whole_samples(size) // self.sample_size
            at = FIXED + count * SAMPLES_OFFSET + signal.index * SAMPLES_WIDTH
            if size != signal.size:
                raw[at : at + SAMPLES_WIDTH] = field(str(samples), SAMPLES_WIDTH)
        return bytes(raw)

    def origin(self, offset: Decimal) -> datetime | None:
        """When the first sample was, `offset` seconds after the start; None without a date."""
        try:
            text = self.raw[168:184].decode("ascii")
            hour, minute, second = (int(part) for part in text[8:].split("."))
            start = datetime.combine(self.day(text[:8]), time(hour, minute, second))
            return start + timedelta(microseconds=int(offset * 10**6))
        except (ValueError, OverflowError):
            return None

    def day(self, text: str) -> date:
        """The date of the recording: four digits of the year where EDF+ has them, else two."""
        match = FULL_DATE.match(self.raw[88:168].decode("latin-1"))
        if match:
            return date(int(match[3]), MONTHS.index(match[2]) + 1, int(match[1]))
        day, month, year = (int(part) for part in text.split("."))
        century = 1900 if year >= FIRST_YEAR % 100 else 2000
        return date(century + year, month, day)


def read_header(path: str, file: BinaryIO) -> Header:
    """The header at the beginning of a file, checked against its size."""
    fixed = file.read(FIXED)
    if fixed.startswith(b"\xffBIOSEMI"):
        kind, sample_size = "BDF", 3
    elif fixed.startswith(b"0       "):
        kind, sample_size = "EDF", 2
    else:
        raise bad_content(path, "byte 0", fixed[:8].decode("latin-1"), "the version of EDF or BDF")
    signals = whole_number(path, fixed, 252, 4, "a number of signals")
    raw = fixed + file.read(FIXED * signals)
    if len(raw) < FIXED * (signals + 1):
        found = f"the end of the file after {len(raw)} bytes"
        raise bad_content(path, "header", found, f"{FIXED * (signals + 1)} bytes of header")
    if whole_number(path, raw, 184, 8, "the size of the header") != len(raw):
        found = raw[184:192].decode("latin-1")
        raise bad_content(path, "byte 184", found, f"{len(raw)}, the size of the header")
    at = FIXED + signals * SAMPLES_OFFSET
    expected = "a number of samples"
    sizes = [
        sample_size * whole_number(path, raw, at + i * SAMPLES_WIDTH, SAMPLES_WIDTH, expected)
        for i in range(signals)
    ]
    annotations = tuple(
        AnnotationSignal(i, sum(sizes[:i]), sizes[i])
        for i in range(signals)
        if raw[FIXED + i * LABEL_WIDTH :][:LABEL_WIDTH].rstrip() == f"{kind} Annotations".encode()
    )
    records = count_records(path, file, raw, sum(sizes))
    return Header(raw, sample_size, records, sum(sizes), annotations)


def count_records(path: str, file: BinaryIO, raw: bytes, record_size: int) -> int:
    """How many records there are; a header written before the end of recording says -1."""
    available = os.fstat(file.fileno()).st_size - len(raw)
    if record_size == 0:
        return 0
    if raw[236:244].strip() == b"-1":
        return available // record_size
    records = whole_number(path, raw, 236, 8, "a number of records")
    if records * record_size > available:
        found = f"{available} bytes of data"
        expected = f"{records} records of {record_size} bytes"
        raise bad_content(path, "header", found, expected)
    return records


def whole_number(path: str, raw: bytes, at: int, width: int, expected: str) -> int:
    """A number in a field of the header."""
    text = raw[at : at + width].decode("latin-1")
    if not re.fullmatch("[0-9]+ *", text):
        raise bad_content(path, f"byte {at}", text, expected)
    return int(text)


def field(text: str, width: int) -> bytes:
    """A field of the header, filled with spaces."""
    if len(text) > width:
        raise ValueError(f"found {text!r}, expected at most {width} characters for EDF")
    return text.ljust(width).encode("ascii")


def annotations_header(origin: datetime | None, samples: int) -> bytes:
    """The header of a file of annotations alone, in one record without a duration."""
    start = origin or datetime(FIRST_YEAR, 1, 1)
    full = f"{start.day:02}-{MONTHS[start.month - 1]}-{start.year:04}" if origin else "X"
    within = FIRST_YEAR <= start.year < FIRST_YEAR + 100
    year = f"{start.year % 100:02}" if within else "yy"
    fields = [
        ("0", 8),
        ("X X X X", 80),
        (f"Startdate {full} X X X", 80),
        (f"{start.day:02}.{start.month:02}.{year}", 8),
        (f"{start.hour:02}.{start.minute:02}.{start.second:02}", 8),
        (str(2 * FIXED), 8),
        ("EDF+C", 44),
        ("1", 8),
        ("0", 8),
        ("1", 4),
        ("EDF Annotations", 16),
        ("", 80),
        ("", 8),
        ("-1", 8),
        ("1", 8),
        ("-32768", 8),
        ("32767", 8),
        ("", 80),
        (str(samples), 8),
        ("", 32),
    ]
    return b"".join(field(text, width) for text, width in fields)
