"""Annotations of WFDB records, such as `100.atr`: the extension is the annotator.

The label of a stamp is the symbol of the annotation, `"N"` for a normal beat and so on. Its
subtype, channel, number and note stay with it. An annotation is at a sample, so a moved one is
rounded to the nearest.

The bytes are read here rather than by the `wfdb` package because writing back must lose nothing:
the package drops notes at sample 0 and codes without a symbol, refuses many names and empty
lists, and never returns from a file with an unknown "## " note. The tests compare the two.
"""

from __future__ import annotations

import math
import os
import re
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from .numerals import number_text, parse_number
from .problems import bad_content
from .source import BoolArray, FloatArray, Found, Source, writing_order
from .stamps import Stamps

NAME = "wfdb"
DESCRIPTION = "WFDB annotations (100.atr and the like; the extension is the annotator)"

# Symbols by code, https://www.physionet.org/physiotools/wag/annot-5.htm; spaces where none is.
SYMBOLS = ' NLRaVFJASEj/Q~ | sT*D"=pB^t+u?![]en@xf()r'
NOTE = SYMBOLS.index('"')
SKIP, NUM, SUB, CHN, AUX = 59, 60, 61, 62, 63
LONGEST_DELTA = 1023  # of samples, in one word
LONGEST_SKIP = 2**31 - 1
LONGEST_NOTE = 255
LAST_SAMPLE = 2**53  # beyond it a float64 cannot tell samples apart

RESOLUTION = re.compile(r"## time resolution: ([0-9]+\.?[0-9]*)")
DEFINITION = re.compile(r"([0-9]+) (\S+)")
DEFAULT_FREQUENCY = 250.0  # of a header that gives none, by the WFDB library


@dataclass(frozen=True)
class Annotation:
    """One annotation; `note` is text in bytes, since nothing says in which encoding."""

    sample: int
    code: int
    subtype: int = 0
    channel: int = 0
    number: int = 0
    note: bytes = b""


class AnnotationFile(Source):
    """An annotation file: definitions at its head, then annotations."""

    def __init__(
        self,
        path: str,
        found: Found,
        content: bytes,
        head: Sequence[Annotation],
        annotations: Sequence[Annotation],
        frequency: float,
    ) -> None:
        super().__init__(NAME, path, found)
        self.content = content
        self.head = head
        self.annotations = annotations
        self.frequency = frequency

    def render(self, times: FloatArray, kept: BoolArray) -> Iterable[bytes]:
        if kept.all() and (times == self.found.times).all():
            yield self.content
            return
        placed = []
        for i in writing_order(self.found.times, times, kept):
            annotation = self.annotations[i]
            if times[i] != self.found.times[i]:
                sample = to_sample(float(times[i]), self.frequency)
                annotation = replace(annotation, sample=sample)
            placed.append(annotation)
        # Again by sample: a moved stamp may have been rounded past one that stayed.
        placed.sort(key=lambda annotation: annotation.sample)
        yield encode([*self.head, *placed])


def read(path: str, *, fs: float | None = None, label: str = "symbol") -> Stamps:
    """Read an annotation file.

    Parameters
    ----------
    path : str
        The file, such as ``100.atr``.
    fs : float, optional
        Samples per second. Else as the file says; else as the header beside it says
        (``100.hea``).
    label : {"symbol", "note"}
        What to take as labels: symbols such as ``"N"``, or the notes of those annotations that
        have one.
    """
    if label not in ("symbol", "note"):
        raise ValueError(f"label: found {label!r}, expected 'symbol' or 'note'")
    with open(path, "rb") as file:
        content = file.read()
    every = decode(path, content)
    count = count_definitions(every)
    head, annotations = every[:count], every[count:]
    header = read_header(path)
    frequency = fs if fs is not None else resolution(head) or header.frequency
    if frequency is None:
        raise ValueError(
            f"{path}: found no sampling frequency, neither in the file nor in a header beside it "
            f"({header.path}); pass fs="
        )
    check_frequency(frequency)
    symbols = custom_symbols(head)
    labels = [symbols.get(a.code) or symbol_of(a.code) for a in annotations]
    if label == "note":
        notes = [a.note.rstrip(b"\0").decode("utf-8", "replace") for a in annotations]
        labels = [note or symbol for note, symbol in zip(notes, labels, strict=True)]
    times = [a.sample / frequency for a in annotations]
    found = Found.of(times, labels, origin=header.origin)
    return Stamps._of(AnnotationFile(path, found, content, head, annotations, frequency))


def decode(path: str, content: bytes) -> list[Annotation]:
    """All annotations of a file, in words of 16 bits: a code of 6 bits and a number of 10."""
    words = Words(path, content)
    annotations: list[Annotation] = []
    sample = 0
    while True:
        skipped = False
        code, delta = words.take()
        while code == SKIP:
            sample += words.take_skip()
            skipped = True
            code, delta = words.take()
        if code == 0 and delta == 0 and not skipped:
            return annotations
        if code > SKIP:
            raise words.bad(f"code {code}", "an annotation before its fields")
        sample += delta
        previous = annotations[-1] if annotations else Annotation(0, 0)
        # Channel and number hold until they change.
        fresh = Annotation(sample, code, channel=previous.channel, number=previous.number)
        annotations.append(words.take_fields(fresh))


class Words:
    """The words of a file, one after the other."""

    def __init__(self, path: str, content: bytes) -> None:
        self.path = path
        self.content = content
        self.at = 0

    def bad(self, found: str, expected: str) -> ValueError:
        """An error at the present place."""
        return bad_content(self.path, f"byte {self.at}", found, expected)

    def take_bytes(self, count: int) -> bytes:
        """The next bytes."""
        taken = self.content[self.at : self.at + count]
        if len(taken) < count:
            raise self.bad("the end of the file", "annotations up to a word of zeros")
        self.at += count
        return taken

    def take(self) -> tuple[int, int]:
        """The code and the number of the next word."""
        (word,) = struct.unpack("<H", self.take_bytes(2))
        return word >> 10, word & 1023

    def take_skip(self) -> int:
        """A signed number of 32 bits, its upper half first."""
        upper, lower = struct.unpack("<hH", self.take_bytes(4))
        return int(upper) * 65536 + int(lower)

    def take_fields(self, annotation: Annotation) -> Annotation:
        """The annotation with the fields that follow it."""
        while True:
            start = self.at
            code, number = self.take()
            if code <= SKIP:
                self.at = start
                return annotation
            value = number & 255
            signed = value - 256 if value > 127 else value
            if code == NUM:
                annotation = replace(annotation, number=signed)
            elif code == SUB:
                annotation = replace(annotation, subtype=signed)
            elif code == CHN:
                annotation = replace(annotation, channel=value)
            else:
                note = self.take_bytes(value + value % 2)
                annotation = replace(annotation, note=note[:value])


def encode(annotations: Iterable[Annotation]) -> bytes:
    """The bytes of a file."""
    content = bytearray()
    before = Annotation(0, 0)
    for annotation in annotations:
        delta = annotation.sample - before.sample
        # Code 0 with no delta would end the file: such an annotation is one sample after a skip.
        least = 1 if annotation.code == 0 else 0
        if not least <= delta <= LONGEST_DELTA:
            for step in skips(delta - least):
                content += struct.pack("<HhH", SKIP << 10, step >> 16, step & 65535)
            delta = least
        content += struct.pack("<H", annotation.code << 10 | delta)
        if annotation.subtype:
            content += struct.pack("<H", SUB << 10 | annotation.subtype & 255)
        if annotation.channel != before.channel:
            content += struct.pack("<H", CHN << 10 | annotation.channel)
        if annotation.number != before.number:
            content += struct.pack("<H", NUM << 10 | annotation.number & 255)
        if annotation.note:
            size = len(annotation.note)
            content += struct.pack("<H", AUX << 10 | size) + annotation.note + b"\0" * (size % 2)
        before = annotation
    return bytes(content + b"\0\0")


def skips(delta: int) -> list[int]:
    """Steps that add up to `delta`, each of 32 bits with its sign."""
    longest = LONGEST_SKIP if delta > 0 else -LONGEST_SKIP
    steps = [longest] * (delta // longest)
    return [*steps, delta - sum(steps)]


def count_definitions(annotations: Sequence[Annotation]) -> int:
    """How many annotations at the head of a file define something: frequency, labels."""
    defining = False
    for i, annotation in enumerate(annotations):
        if annotation.sample != 0:
            return i
        if annotation.code == 0:
            return i + 1  # a filler between the definitions and the rest
        if not (annotation.code == NOTE and (defining or annotation.note.startswith(b"## "))):
            return i
        if annotation.note == b"## annotation type definitions":
            defining = True
        elif annotation.note == b"## end of definitions":
            defining = False
    return len(annotations)


def resolution(head: Iterable[Annotation]) -> float | None:
    """The sampling frequency that the head of a file defines."""
    for annotation in head:
        match = RESOLUTION.match(annotation.note.decode("latin-1"))
        if match:
            return parse_number(match[1]) or None
    return None


def custom_symbols(head: Iterable[Annotation]) -> dict[int, str]:
    """Symbols that the head of a file defines, by code."""
    notes = (annotation.note.decode("utf-8", "replace") for annotation in head)
    matches = (DEFINITION.match(note) for note in notes if len(note) <= LONGEST_NOTE)
    return {int(m[1]): m[2] for m in matches if m and len(m[1]) < 3}


def symbol_of(code: int) -> str:
    """The symbol of a code, or the code in brackets, as the WFDB library shows it."""
    symbol = SYMBOLS[code : code + 1].strip()
    return symbol or f"[{code}]"


@dataclass(frozen=True)
class Header:
    """What the header of a record says about time."""

    path: str
    frequency: float | None = None
    origin: datetime | None = None


def read_header(path: str) -> Header:
    """The header beside an annotation file, if there is one."""
    beside = os.path.splitext(path)[0] + ".hea"
    if not os.path.isfile(beside):
        return Header(beside)
    with open(beside, "rb") as file:
        lines = file.read().decode("latin-1").splitlines()
    for number, line in enumerate(lines, 1):
        fields = line.split()
        if not fields or line.startswith("#"):
            continue
        text = re.split("[/(]", fields[2])[0] if len(fields) > 2 else str(DEFAULT_FREQUENCY)
        frequency = parse_number(text)
        if frequency is None or frequency <= 0:
            raise bad_content(beside, f"line {number}", line, "a sampling frequency in field 3")
        return Header(beside, frequency, header_origin(fields))
    raise ValueError(f"{beside}: found no line, expected the name of the record and its signals")


def header_origin(fields: Sequence[str]) -> datetime | None:
    """The start by a header, which gives no zone; None if it gives no date."""
    text = " ".join(fields[4:6])
    for form in ("%H:%M:%S %d/%m/%Y", "%H:%M:%S.%f %d/%m/%Y"):
        try:
            return datetime.strptime(text, form)
        except ValueError:
            continue
    return None


def check_frequency(frequency: float) -> None:
    """Raise if samples cannot be that many a second."""
    if not (math.isfinite(frequency) and frequency > 0):
        raise ValueError(f"fs: found {frequency}, expected a number of samples above 0 a second")


def to_sample(time: float, frequency: float) -> int:
    """The sample nearest to a time."""
    sample = round(time * frequency)
    if not 0 <= sample <= LAST_SAMPLE:
        raise ValueError(f"time {time} s: WFDB annotations are at samples 0 to {LAST_SAMPLE}")
    return sample


def compose(stamps: Stamps, *, fs: float) -> Iterable[bytes]:
    """An annotation file of these stamps.

    Parameters
    ----------
    stamps : Stamps
        A label that is the symbol of an annotation becomes one; any other becomes the note of a
        comment. Durations and origin have no place in the file.
    fs : float
        Samples per second; it is written into the file.
    """
    check_frequency(fs)
    frequency = number_text(fs)
    annotations = [Annotation(0, NOTE, note=f"## time resolution: {frequency}".encode())]
    annotations.append(Annotation(0, 0))
    for time, label in zip(stamps.times.tolist(), stamps.labels, strict=True):
        sample = to_sample(time, fs)
        code = SYMBOLS.find(label) if len(label) == 1 and label != " " else -1
        if code > 0:
            annotations.append(Annotation(sample, code))
            continue
        note = label.encode()
        if len(note) > LONGEST_NOTE:
            raise ValueError(f"label {label[:40]!r}…: a WFDB note has {LONGEST_NOTE} bytes at most")
        annotations.append(Annotation(sample, NOTE, note=note))
    yield encode(annotations)
