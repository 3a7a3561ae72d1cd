"""Whatever a file holds: stamps or a ValueError, soon."""

from __future__ import annotations

import time
from datetime import datetime, timezone
from pathlib import Path

import numpy as np
import pytest

from unjitter.stamps import FORMATS, Stamps, read

# Names, formats and what those need that are made of stamps alone.
FILES = {
    "a.csv": ("csv", {}),
    "a_events.tsv": ("bids", {}),
    "a.txt": ("audacity", {}),
    "a.atr": ("wfdb", {"fs": 100}),
    "a.edf": ("edf", {}),
    "a.TextGrid": ("textgrid", {}),
    "a.selections.txt": ("raven", {}),
    "a.rttm": ("rttm", {}),
    "a.tsv": ("dcase", {}),
    "a.eaf": ("elan", {}),
    "tags.csv": ("empatica", {}),
    "a.boris": ("boris", {}),
}

# A state that lasts and a point in time, among much that stamps do not know, which may be damaged.
BORIS = """{"project_description": "DESCRIPTION", "observations": {"walk": {"events": [
  [1.5, "Ann", "sit", "", ""], [2.0, "", "fly", "", "x"], [2.75, "Ann", "sit", "", ""]]}},
 "behaviors_conf": {"0": {"code": "sit", "type": "State event"}}}
"""


def example(path: Path) -> bytes:
    """A file with something of everything."""
    format, options = FILES[path.name]
    if format == "boris":
        path.write_text(BORIS.replace("DESCRIPTION", "long words " * 200))
        return path.read_bytes()
    labels = ["N", "a_b" if format == "rttm" else "a b", "ü", 'V"']
    origin = datetime(2018, 12, 5, 16, 28, tzinfo=timezone.utc)
    stamps = Stamps([0.5, 1.25, 30, 4000], labels, [0.5, 0.25, 1, 2], origin)
    stamps.write(path, format, **options, overwrite=True)
    return path.read_bytes()


def test_every_format_is_damaged() -> None:
    assert {format for format, _ in FILES.values()} == set(FORMATS)


@pytest.mark.parametrize("name", FILES)
def test_random_damage(tmp_path: Path, name: str) -> None:
    path, same = tmp_path / name, tmp_path / "written" / name
    same.parent.mkdir()
    content = example(path)
    random = np.random.default_rng(13)
    read_well = moved_well = 0
    for _ in range(300):
        damaged = bytearray(content)
        for _ in range(int(random.integers(1, 4))):
            at = int(random.integers(0, len(damaged) + 1))
            kind = int(random.integers(0, 3))
            noise = random.choice([0, 9, 10, 13, 34, 44, 45, 48, 57, 60, 255, 20, 21], 3).tolist()
            if kind == 0:
                del damaged[at:]
            elif kind == 1:
                damaged[at : at + 3] = bytes(noise)
            else:
                damaged[at:at] = damaged[max(0, at - 20) : at]
        path.write_bytes(damaged)
        try:
            stamps = read(path)
        except ValueError as error:
            assert str(error).startswith(str(tmp_path)) or "found" in str(error)
            continue
        read_well += 1
        # What could be read can be written back as it is; elsewhere, because a recording that was
        # replaced is not written again.
        stamps.write(same, overwrite=True)
        assert same.read_bytes() == bytes(damaged)
        try:
            stamps.moved(stamps.times - 0.25).write(same, overwrite=True)
        except ValueError:
            continue
        moved_well += 1
        assert len(read(same)) == len(stamps)
    assert read_well > 10
    assert moved_well > 10


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", b'time,x\n1,"' + b'""' * 10**6),
        ("b.csv", b"time" + b"," * 10**5 + b"\n1\n"),
        ("c.csv", b"time\n" + b"9" * 10**6),
        ("d.csv", b"time\n" + b"1\n" * 10**5 + b"x"),
        ("e.csv", b"time" + b',""' * 600_000 + b"\n1\n"),
        ("f.csv", b"time\n1" + b',""' * 600_000 + b"\n"),
        ("a.eaf", b"<ANNOTATION_DOCUMENT>" + b"<a>/>" * 10**6),
        ("b.eaf", b"<ANNOTATION_DOCUMENT" + b" a=''" * 10**6 + b"/>"),
        ("a.boris", b'{"observations":' * 10**5),
        ("a.rttm", b"SPEAKER " * 10**6),
        ("tags.csv", b"1\n" * 10**5 + b"x"),
        ("a.txt", b"1\t" * 10**6),
        ("b.txt", b"1\t1\ta\n" + b"\\\n" * 10**5),
        ("a.TextGrid", b'"ooTextFile" "TextGrid" 0 1 <exists> 1 "TextTier" "' + b'""' * 10**6),
        ("b.TextGrid", b'"ooTextFile" "TextGrid" 0 1 <exists> 999999999 ' + b"<" * 10**6),
        ("c.TextGrid", b'"ooTextFile" "TextGrid" 0 1 <exists> ' + b"9" * 10**6),
        ("a.atr", b"\x00\xec" + b"\xff\x7f\xff\xff\x00\xec" * 10**5),
        ("a.edf", b"0".ljust(252) + b"9999" + b"0" * 256 * 9999),
    ],
)
def test_large_nonsense_is_refused_soon(tmp_path: Path, name: str, content: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    started = time.monotonic()
    try:
        read(path)
    except ValueError as error:
        assert len(str(error)) < 1000
    # Takes well below a second; anything worse than linear would take minutes.
    assert time.monotonic() - started < 20
