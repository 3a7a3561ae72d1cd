"""Time-stamped annotation lists (TALs), the content of the annotation signals of EDF+.

A list is an onset, perhaps a duration, and texts, with separators between: `+1.5␕2␔cough␔␀`. The
numbers are kept as decimals, so that no digit is lost or made up.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from .problems import bad_content

TAL = re.compile(
    rb"([+-][0-9]{1,40}(?:\.[0-9]{0,40})?)(?:\x15([0-9]{1,40}(?:\.[0-9]{0,40})?))?\x14(.*)\x14",
    re.DOTALL,
)


@dataclass(frozen=True)
class Tal:
    """An annotation list; `raw` is how it stood in the file."""

    onset: Decimal
    duration: Decimal | None
    texts: tuple[bytes, ...]
    raw: bytes | None = None

    def without(self, index: int, gone: set[tuple[int, int]]) -> Tal:
        """Without those of its texts that are gone, given as (index of the list, of the text)."""
        kept = tuple(text for n, text in enumerate(self.texts) if (index, n) not in gone)
        raw = self.raw if kept == self.texts else None
        return Tal(self.onset, self.duration, kept, raw)

    def encode(self) -> bytes:
        """The list in bytes."""
        if self.raw is not None:
            return self.raw
        duration = b"" if self.duration is None else b"\x15" + f"{self.duration:f}".encode()
        return f"{self.onset:+f}".encode() + duration + b"\x14" + b"\x14".join(self.texts) + b"\x14"


def split_tals(path: str, record: int, content: bytes) -> list[Tal]:
    """The lists of an annotation signal in a record."""
    tals = []
    for piece in content.split(b"\0"):
        if not piece:
            continue
        match = TAL.fullmatch(piece)
        if not match:
            expected = "an annotation: onset, maybe duration, and texts"
            raise bad_content(path, f"record {record}", piece.decode("latin-1"), expected)
        onset, duration, texts = match.groups()
        lasting = None if duration is None else Decimal(duration.decode())
        tals.append(Tal(Decimal(onset.decode()), lasting, tuple(texts.split(b"\x14")), piece))
    return tals


def join_tals(tals: Iterable[Tal]) -> bytes:
    """The content of an annotation signal in a record."""
    return b"".join(tal.encode() + b"\0" for tal in tals)
