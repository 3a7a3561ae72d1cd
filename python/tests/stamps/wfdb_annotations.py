"""WFDB annotations in bytes, written apart from the library, to compare with its own."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass, replace

SYMBOLS = ' NLRaVFJASEj/Q~ | sT*D"=pB^t+u?![]en@xf()r'
SKIP, NUM, SUB, CHN, AUX = 59, 60, 61, 62, 63
LONGEST_DELTA = 1023  # of samples, in one word
LONGEST_SKIP = 2**31 - 1


@dataclass(frozen=True)
class Annotation:
    """One annotation; `note` is text in bytes, since nothing says in which encoding."""

    sample: int
    code: int
    subtype: int = 0
    channel: int = 0
    number: int = 0
    note: bytes = b""


def decode(content: bytes) -> list[Annotation]:
    """All annotations of a file, in words of 16 bits: a code of 6 bits and a number of 10."""
    words = Words(content)
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
        assert code < SKIP
        sample += delta
        previous = annotations[-1] if annotations else Annotation(0, 0)
        # Channel and number hold until they change.
        fresh = Annotation(sample, code, channel=previous.channel, number=previous.number)
        annotations.append(words.take_fields(fresh))


class Words:
    """The words of a file, one after the other."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.at = 0

    def take_bytes(self, count: int) -> bytes:
        """The next bytes."""
        taken = self.content[self.at : self.at + count]
        assert len(taken) == count
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
