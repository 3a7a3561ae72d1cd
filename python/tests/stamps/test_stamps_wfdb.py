"""WFDB annotations, compared with the wfdb package both ways."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import wfdb
from wfdb_annotations import SYMBOLS, Annotation, decode, encode

from unjitter.stamps import Stamps, read

Make = Callable[[str, "str | bytes"], Path]

FIELDS = ("sample", "symbol", "subtype", "chan", "num", "aux_note")


def theirs(path: Path) -> dict[str, list[Any]]:
    """What the wfdb package reads."""
    annotation = wfdb.rdann(str(path.with_suffix("")), path.suffix[1:])
    return {field: list(getattr(annotation, field)) for field in FIELDS}


def beats(folder: Path, fs: float | None = 360, name: str = "100") -> Path:
    """A file by the wfdb package, with something in every field."""
    wfdb.wrann(
        name,
        "atr",
        sample=np.array([5, 77, 370, 2000, 2000, 5_000_000, 5_000_100]),
        symbol=["+", "N", "V", "N", "V", "A", "V"],
        subtype=np.array([0, 0, 1, -1, 0, 0, 127]),
        chan=np.array([0, 0, 1, 1, 0, 255, 255]),
        num=np.array([0, 3, 3, 0, 0, 127, 0]),
        aux_note=["(N\0", "", "odd", "", "even", "", "x" * 254],
        fs=fs,
        write_dir=str(folder),
    )
    return folder / f"{name}.atr"


def test_read(tmp_path: Path) -> None:
    stamps = read(beats(tmp_path))
    assert stamps.labels == ["+", "N", "V", "N", "V", "A", "V"]
    want = np.array([5, 77, 370, 2000, 2000, 5_000_000, 5_000_100]) / 360
    assert stamps.times.tolist() == want.tolist()
    assert stamps.durations.tolist() == [0] * 7
    assert repr(stamps) == (
        "Stamps(7 stamps from 0.0138889 s to 13889.2 s, 'V' 3, 'N' 2, '+' 1, 'A' 1, wfdb '100.atr')"
    )


def test_notes_as_labels(tmp_path: Path) -> None:
    stamps = read(beats(tmp_path), label="note")
    assert stamps.labels == ["(N", "N", "odd", "N", "even", "A", "x" * 254]
    with pytest.raises(ValueError, match="label: found 'x', expected 'symbol' or 'note'"):
        read(tmp_path / "100.atr", label="x")


def test_unmoved_is_the_same_byte_for_byte(tmp_path: Path) -> None:
    path = beats(tmp_path)
    read(path).write(tmp_path / "100.out")
    assert (tmp_path / "100.out").read_bytes() == path.read_bytes()
    # Trailing bytes are no annotations, but are kept too.
    path.write_bytes(path.read_bytes() + b"rest")
    read(path).write(tmp_path / "100.out", overwrite=True)
    assert (tmp_path / "100.out").read_bytes() == path.read_bytes()


def test_encoding_again_gives_the_same_annotations(tmp_path: Path) -> None:
    content = beats(tmp_path).read_bytes()
    assert decode(encode(decode(content))) == decode(content)
    path = tmp_path / "101.atr"
    path.write_bytes(encode(decode(content)))
    assert theirs(path) == theirs(tmp_path / "100.atr")


def test_moved_beats_as_the_wfdb_package_reads_them(tmp_path: Path) -> None:
    path = beats(tmp_path)
    before = theirs(path)
    out = tmp_path / "100.mov"
    # The first V goes to sample 100.4, the second before everything, the third stays.
    chosen = read(path).only("V")
    chosen.moved([100.4 / 360, 0.4 / 360, chosen.times[2]]).write(out)
    order = [4, 0, 1, 2, 3, 5, 6]
    want = {field: [before[field][i] for i in order] for field in FIELDS}
    want["sample"] = [0, 5, 77, 100, 2000, 5_000_000, 5_000_100]
    assert theirs(out) == want
    assert wfdb.rdann(str(tmp_path / "100"), "mov").fs == 360
    assert read(out, "wfdb").only("V").times.tolist() == [0, 100 / 360, 5_000_100 / 360]


def test_dropped_beats_leave_channel_and_number_of_the_rest(tmp_path: Path) -> None:
    path = beats(tmp_path)
    before = theirs(path)
    read(path).only(["V", "A"]).without([True, False, True, False]).write(tmp_path / "100.out")
    kept = [0, 1, 3, 4, 6]
    want = {field: [before[field][i] for i in kept] for field in FIELDS}
    assert theirs(tmp_path / "100.out") == want


def test_random_files_agree_with_the_wfdb_package_both_ways(tmp_path: Path) -> None:
    random = np.random.default_rng(11)
    symbols = [s for s in SYMBOLS if s != " "]
    for _ in range(100):
        count = int(random.integers(1, 30))
        sample = np.sort(random.integers(1, 10 ** int(random.integers(2, 10)), count))
        fields: dict[str, Any] = {
            "sample": sample,
            "symbol": random.choice(symbols, count).tolist(),
            "subtype": random.integers(-128, 128, count),
            "chan": random.integers(0, 3, count),
            "num": random.integers(0, 3, count),
            "aux_note": ["é" * int(n) for n in random.integers(0, 5, count)],
        }
        wfdb.wrann("r", "atr", fs=250, write_dir=str(tmp_path), **fields)
        path = tmp_path / "r.atr"
        stamps = read(path)
        assert stamps.labels == fields["symbol"]
        np.testing.assert_array_equal(np.round(stamps.times * 250), sample)
        goals = np.sort(random.integers(1, 10**6, count))
        stamps.moved(goals / 250).write(tmp_path / "r.out", overwrite=True)
        want = {name: list(values) for name, values in fields.items()}
        want["sample"] = goals.tolist()
        assert theirs(tmp_path / "r.out") == want


def test_custom_labels_are_kept(tmp_path: Path) -> None:
    wfdb.wrann(
        "r",
        "atr",
        sample=np.array([3, 9]),
        symbol=["N", "c"],
        custom_labels=[(42, "c", "a cough")],
        fs=100,
        write_dir=str(tmp_path),
    )
    stamps = read(tmp_path / "r.atr")
    assert stamps.labels == ["N", "c"]
    stamps.only("c").moved([0.01]).write(tmp_path / "r.out")
    assert theirs(tmp_path / "r.out")["symbol"] == ["c", "N"]
    back = wfdb.rdann(str(tmp_path / "r"), "out")
    assert back.custom_labels.values.tolist() == [[42, "c", "a cough"]]
    assert read(tmp_path / "r.out", "wfdb").times.tolist() == [0.01, 0.03]


def test_what_the_wfdb_package_drops_is_kept(tmp_path: Path) -> None:
    annotations = [
        Annotation(0, 22, note=b"## time resolution: 128"),
        Annotation(0, 22, note=b"a note at sample 0"),
        Annotation(0, 1),
        Annotation(7, 0),
        Annotation(7, 45, number=-5, note=b"two\nlines"),
        Annotation(3, 1),
    ]
    path = tmp_path / "r.1.x2"
    path.write_bytes(encode(annotations))
    assert decode(path.read_bytes()) == annotations
    stamps = read(path, "wfdb")
    assert stamps.labels == ['"', "N", "N", "[0]", "[45]"]
    stamps.only("[45]").moved([0]).write(path, overwrite=True)
    moved = Annotation(0, 45, number=-5, note=b"two\nlines")
    # It was in no order of time, so it is put in one: annotations must be.
    assert decode(path.read_bytes()) == [
        annotations[0], *annotations[1:3], moved, annotations[5], annotations[3],
    ]  # fmt: skip


def test_a_note_that_hangs_the_wfdb_package(tmp_path: Path) -> None:
    path = tmp_path / "r.atr"
    path.write_bytes(encode([Annotation(0, 22, note=b"## who knows"), Annotation(5, 1)]))
    stamps = read(path, fs=10)
    assert stamps.labels == ["N"]
    stamps.moved([1]).write(tmp_path / "r.out")
    assert decode((tmp_path / "r.out").read_bytes())[0].note == b"## who knows"


def test_code_0_after_a_skip_does_not_end_the_file() -> None:
    content = b"\x00\xec\x00\x00\x05\x00" + b"\x00\x00" + b"\x01\x04" + b"\x00\x00"
    assert decode(content) == [Annotation(5, 0), Annotation(6, 1)]


def test_far_samples(tmp_path: Path) -> None:
    far = [Annotation(2**31 + 5, 1), Annotation(2**40, 1), Annotation(2**40 + 1023, 1)]
    far += [Annotation(2**40 + 2047, 1)]
    assert decode(encode(far)) == far


@pytest.mark.parametrize(
    ("header", "fs", "origin"),
    [
        ("100 2 360 650000\n", 360, None),
        ("# comment\n\n100/3 2 128.5/1000(5) 99 10:20:30 31/05/2024\n", 128.5,
         datetime(2024, 5, 31, 10, 20, 30)),
        ("100 2 360 9 10:20:30.25 31/05/2024\n", 360, datetime(2024, 5, 31, 10, 20, 30, 250000)),
        ("100 2 360 9 10:20:30\n", 360, None),
        ("100 2\n", 250, None),
    ],
)  # fmt: skip
def test_the_header_gives_frequency_and_start(
    make: Make, header: str, fs: float, origin: datetime | None
) -> None:
    make("100.hea", header)
    path = make("100.atr", encode([Annotation(1000, 1)]))
    stamps = read(path)
    assert stamps.times.tolist() == [1000 / fs]
    assert stamps.origin == origin
    assert read(path, fs=10).times.tolist() == [100]


def test_the_file_knows_its_frequency_better_than_the_header(tmp_path: Path) -> None:
    (tmp_path / "100.hea").write_text("100 2 360 650000\n")
    path = beats(tmp_path, fs=100.5)
    assert read(path).times[0] == 5 / 100.5


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("100 2 fast\n", "100.hea, line 1: found '100 2 fast', expected a sampling frequency"),
        ("100 2 0\n", "100.hea, line 1: .* expected a sampling frequency"),
        ("", "100.hea: found no line, expected the name of the record"),
        (None, "100.atr: found no sampling frequency, neither .*100.hea.*; pass fs="),
    ],
)
def test_no_frequency(make: Make, header: str | None, message: str) -> None:
    if header is not None:
        make("100.hea", header)
    with pytest.raises(ValueError, match=message):
        read(make("100.atr", encode([Annotation(1000, 1)])))


@pytest.mark.parametrize("fs", [0, -1, float("nan"), float("inf")])
def test_no_such_frequency(tmp_path: Path, fs: float) -> None:
    with pytest.raises(ValueError, match="fs: found .* expected a number of samples above 0"):
        Stamps([1]).write(tmp_path / "100.atr", fs=fs)
    with pytest.raises(ValueError, match="fs: found"):
        read(beats(tmp_path), fs=fs)


def test_truncated_files(tmp_path: Path) -> None:
    content = beats(tmp_path).read_bytes()
    for size in range(len(content)):
        (tmp_path / "100.cut").write_bytes(content[:size])
        with pytest.raises(ValueError, match=r"100.cut, byte \d+: found 'the end of the file'"):
            read(tmp_path / "100.cut", "wfdb")


def test_fields_without_an_annotation(make: Make) -> None:
    with pytest.raises(ValueError, match="byte 2: found 'code 61', expected an annotation before"):
        read(make("100.atr", b"\x01\xf4\x00\x00"), fs=1)


def test_times_that_do_not_fit(tmp_path: Path) -> None:
    path = beats(tmp_path)
    with pytest.raises(ValueError, match="WFDB annotations are at samples 0 to"):
        read(path).only("A").moved([-1]).write(tmp_path / "100.out")
    with pytest.raises(ValueError, match="WFDB annotations are at samples 0 to"):
        Stamps([1e300]).write(tmp_path / "100.qrs", fs=1)


def test_from_scratch(tmp_path: Path) -> None:
    stamps = Stamps([0, 1.004, 2], ["N", "cough", ""])
    stamps.write(tmp_path / "r.atr", fs=100)
    seen = theirs(tmp_path / "r.atr")
    assert seen["sample"] == [0, 100, 200]
    assert seen["symbol"] == ["N", '"', '"']
    assert seen["aux_note"] == ["", "cough", ""]
    assert wfdb.rdann(str(tmp_path / "r"), "atr").fs == 100
    back = read(tmp_path / "r.atr", label="note")
    assert back.labels == ["N", "cough", '"']
    assert back.times.tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="a WFDB note has 255 bytes at most"):
        Stamps([1], ["é" * 128]).write(tmp_path / "s.atr", fs=100)
