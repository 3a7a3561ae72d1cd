"""EDF+ annotations, with edfio and pyedflib as the other readers."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from datetime import date, datetime, time
from pathlib import Path

import edfio
import numpy as np
import pytest

from unjitter.stamps import Stamps, read

Make = Callable[[str, "str | bytes"], Path]

ANNOTATIONS = [
    edfio.EdfAnnotation(0.5, None, "cough"),
    edfio.EdfAnnotation(2.25, 1.5, "spindle é"),
    edfio.EdfAnnotation(7.125, None, "cough"),
    edfio.EdfAnnotation(9.75, 0.25, "K, complex"),
]


def recording(path: Path, annotations: list[edfio.EdfAnnotation] | None = None) -> Path:
    """Ten seconds of two signals by edfio, starting half a second after a whole one."""
    random = np.random.default_rng(0)
    signals = [
        edfio.EdfSignal(random.normal(size=2560), 256, label="EEG Fp1"),
        edfio.EdfSignal(random.normal(size=100), 10, label="Resp"),
    ]
    edfio.Edf(
        signals,
        patient=edfio.Patient(code="P1", sex="F"),
        recording=edfio.Recording(startdate=date(2024, 5, 31)),
        starttime=time(14, 3, 27, 500000),
        annotations=ANNOTATIONS if annotations is None else annotations,
        data_record_duration=1,
    ).write(path)
    return path


def same_signals(one: Path, other: Path) -> bool:
    """Whether edfio reads the same signals and headers from two files."""
    a, b = edfio.read_edf(one), edfio.read_edf(other)
    return (
        all(np.array_equal(x.digital, y.digital) for x, y in zip(a.signals, b.signals, strict=True))
        and a.labels == b.labels
        and a.local_patient_identification == b.local_patient_identification
        and a.local_recording_identification == b.local_recording_identification
        and a.startdatetime == b.startdatetime
        and a.data_record_duration == b.data_record_duration
    )


def by_pyedflib(path: Path) -> list[tuple[float, float, str]]:
    """What pyedflib reads: onset, duration (-1 for none) and text."""
    import pyedflib

    with pyedflib.EdfReader(str(path)) as reader:
        return list(zip(*(column.tolist() for column in reader.readAnnotations()), strict=True))


def test_read(tmp_path: Path) -> None:
    stamps = read(recording(tmp_path / "a.edf"))
    assert stamps.times.tolist() == [0.5, 2.25, 7.125, 9.75]
    assert stamps.labels == ["cough", "spindle é", "cough", "K, complex"]
    assert stamps.durations.tolist() == [0, 1.5, 0, 0.25]
    assert stamps.origin == datetime(2024, 5, 31, 14, 3, 27, 500000)


def test_unmoved_is_the_same_byte_for_byte(tmp_path: Path) -> None:
    path = recording(tmp_path / "a.edf")
    read(path).write(tmp_path / "b.edf")
    assert (tmp_path / "b.edf").read_bytes() == path.read_bytes()


def test_moved_as_edfio_and_pyedflib_see_it(tmp_path: Path) -> None:
    path = recording(tmp_path / "a.edf")
    out = tmp_path / "b.edf"
    read(path).only("cough").moved([8.125, 0.0625]).write(out)
    want = [
        edfio.EdfAnnotation(0.0625, None, "cough"),
        ANNOTATIONS[1],
        edfio.EdfAnnotation(8.125, None, "cough"),
        ANNOTATIONS[3],
    ]
    assert list(edfio.read_edf(out).annotations) == want
    assert same_signals(path, out)
    assert sorted(by_pyedflib(out)) == [(a.onset, a.duration or -1, a.text) for a in want]
    back = read(out)
    assert back.times.tolist() == [0.0625, 2.25, 8.125, 9.75]
    assert back.labels == [a.text for a in want]
    # Those that were not moved are where they were, in the same bytes.
    assert b"+2.75\x151.5\x14spindle \xc3\xa9\x14\0" in out.read_bytes()


def test_annotation_signals_grow_if_they_must(tmp_path: Path) -> None:
    path = recording(tmp_path / "a.edf")
    stamps = read(path)
    times = [5 + 1 / 3 + i / 7 for i in range(4)]
    stamps.moved(times).write(tmp_path / "b.edf")
    assert (tmp_path / "b.edf").stat().st_size > path.stat().st_size
    assert read(tmp_path / "b.edf").times.tolist() == times  # decimals in full: no tolerance
    assert same_signals(path, tmp_path / "b.edf")
    assert len(by_pyedflib(tmp_path / "b.edf")) == 4


def test_arrivals_of_a_record_are_in_order_of_time(tmp_path: Path) -> None:
    stamps = read(recording(tmp_path / "a.edf"))
    stamps.moved([5.4, 5.2, 5.3, 5.1]).write(tmp_path / "b.edf")
    content = (tmp_path / "b.edf").read_bytes()
    places = [content.index(b"+5.%d" % k) for k in (6, 7, 8, 9)]  # half a second later
    assert places == sorted(places)


@pytest.mark.parametrize("label", ["", "a", "ab", "abc"])
def test_annotations_alone_of_any_length(tmp_path: Path, label: str) -> None:
    Stamps([1], [label]).write(tmp_path / "a.edf")
    assert [a.text for a in edfio.read_edf(tmp_path / "a.edf").annotations] == [label]
    assert (tmp_path / "a.edf").stat().st_size % 2 == 0


def test_dropped(tmp_path: Path) -> None:
    path = recording(tmp_path / "a.edf")
    read(path).only("cough").without([False, True]).write(tmp_path / "b.edf")
    assert list(edfio.read_edf(tmp_path / "b.edf").annotations) == [
        ANNOTATIONS[0], ANNOTATIONS[1], ANNOTATIONS[3],
    ]  # fmt: skip
    assert (tmp_path / "b.edf").stat().st_size == path.stat().st_size
    stamps = read(path)
    stamps.without([True] * 4).write(tmp_path / "c.edf")
    assert edfio.read_edf(tmp_path / "c.edf").annotations == ()
    assert same_signals(path, tmp_path / "c.edf")


def test_random_moves_as_edfio_sees_them(tmp_path: Path) -> None:
    random = np.random.default_rng(4)
    for _ in range(30):
        count = int(random.integers(1, 20))
        annotations = [
            edfio.EdfAnnotation(float(t), float(d) or None, str(random.choice(["a", "bé", ""])))
            for t, d in zip(
                random.uniform(-1, 12, count).round(4), random.integers(0, 3, count), strict=True
            )
        ]
        path = recording(tmp_path / "a.edf", annotations)
        stamps = read(path)
        goals = random.uniform(-5, 15, count).round(6)
        chosen = random.random(count) < 0.6
        times = np.where(chosen, goals, stamps.times)
        stamps.moved(times).write(tmp_path / "b.edf", overwrite=True)
        want = zip(times.tolist(), stamps.durations.tolist(), stamps.labels, strict=True)
        seen = edfio.read_edf(tmp_path / "b.edf").annotations
        # edfio adds and subtracts the half second of the start in float64
        assert sorted((round(a.onset, 9), a.duration or 0, a.text) for a in seen) == sorted(
            (round(t, 9), d, label) for t, d, label in want
        )
        assert same_signals(path, tmp_path / "b.edf")


def test_a_file_can_replace_itself_once(tmp_path: Path) -> None:
    path = recording(tmp_path / "a.edf")
    stamps = read(path)
    stamps.moved([1, 2, 3, 4]).write(path, overwrite=True)
    assert read(path).times.tolist() == [1, 2, 3, 4]
    with pytest.raises(ValueError, match="a.edf: it has changed since it was read; read it again"):
        stamps.write(tmp_path / "b.edf")
    assert os.listdir(tmp_path) == ["a.edf"]


def test_several_texts_and_signals_of_annotations(tmp_path: Path) -> None:
    """A record's onset may carry texts, lists may have several; there may be two signals."""
    path = tmp_path / "a.edf"
    first = [b"+0\x14\x14start\x14\0+0.5\x14a\x14b\x14\0", b"+5\x14\x14\0"]
    second = [b"+1.50\x152.0\x14c\x14\0", b""]
    path.write_bytes(edf_plus(first, second, duration="1", kind="EDF+D"))
    stamps = read(path)
    assert stamps.times.tolist() == [0, 0.5, 0.5, 1.5]
    assert stamps.labels == ["start", "a", "b", "c"]
    # The second record is from 5 s on, after a gap, so what moves to 5.5 s goes there.
    stamps.only(["start", "b", "c"]).moved([0.25, 5.5, 6]).write(tmp_path / "b.edf")
    content = (tmp_path / "b.edf").read_bytes()
    assert b"+0\x14\x14\0+0.5\x14a\x14\0+0.25\x14start\x14\0" in content
    assert b"+5\x14\x14\0+5.5\x14b\x14\0" in content
    assert b"+6\x152.0\x14c\x14\0" in content
    assert b"+1.50" not in content
    assert read(tmp_path / "b.edf").labels == ["start", "a", "b", "c"]
    assert read(tmp_path / "b.edf").times.tolist() == [0.25, 0.5, 5.5, 6]


def edf_plus(
    first: list[bytes], second: list[bytes], duration: str = "1", kind: str = "EDF+C"
) -> bytes:
    """A file with two annotation signals of 20 and 10 samples and an ordinary one between."""
    sizes = (20, 3, 10)
    labels = ("EDF Annotations", "x", "EDF Annotations")
    fields = [("0", 8), ("X X X X", 80), ("Startdate X X X X", 80), ("31.05.24", 8),
              ("14.03.27", 8), ("1024", 8), (kind, 44), (str(len(first)), 8), (duration, 8),
              ("3", 4), *((label, 16) for label in labels), *(("", 80),) * 3, *(("", 8),) * 3,
              *(("-1", 8),) * 3, *(("1", 8),) * 3, *(("-32768", 8),) * 3, *(("32767", 8),) * 3,
              *(("", 80),) * 3, *((str(size), 8) for size in sizes), *(("", 32),) * 3]  # fmt: skip
    header = "".join(text.ljust(width) for text, width in fields).encode()
    return header + b"".join(
        a.ljust(40, b"\0") + b"signal" + b.ljust(20, b"\0")
        for a, b in zip(first, second, strict=True)
    )


def test_bdf(tmp_path: Path) -> None:
    path = tmp_path / "a.bdf"
    signal = edfio.BdfSignal(np.random.default_rng(0).normal(size=30), 10)
    annotations = [edfio.EdfAnnotation(0.5, None, "a"), edfio.EdfAnnotation(1.5, 1, "b")]
    edfio.Bdf([signal], annotations=annotations).write(path)
    stamps = read(path)
    assert stamps.labels == ["a", "b"]
    stamps.moved([2 + 1 / 3, 1.5]).write(tmp_path / "b.bdf")
    back = edfio.read_bdf(tmp_path / "b.bdf")
    assert [(a.onset, a.text) for a in back.annotations] == [
        (1.5, "b"), (pytest.approx(2 + 1 / 3, abs=1e-12), "a"),  # edfio rounds to 12 decimals
    ]  # fmt: skip
    np.testing.assert_array_equal(back.signals[0].digital, signal.digital)


def test_recordings_of_another_program() -> None:
    import pyedflib

    folder = Path(pyedflib.__file__).parent / "tests" / "data"
    if not folder.is_dir():
        pytest.skip("this pyedflib comes without its test data")
    for path in folder.glob("*.edf"):
        stamps = read(path)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            seen = edfio.read_edf(path, header_encoding="latin-1").annotations
        assert sorted(zip(stamps.times.tolist(), stamps.labels, strict=True)) == sorted(
            (a.onset, a.text) for a in seen
        )


def test_a_recording_without_annotations(tmp_path: Path) -> None:
    path = tmp_path / "a.edf"
    edfio.Edf([edfio.EdfSignal(np.arange(10.0), 10)]).write(path)
    stamps = read(path)
    assert len(stamps) == 0
    assert stamps.origin == datetime(1985, 1, 1)
    stamps.moved([]).write(tmp_path / "b.edf")
    assert (tmp_path / "b.edf").read_bytes() == path.read_bytes()


def test_from_scratch_as_edfio_and_pyedflib_see_it(tmp_path: Path) -> None:
    path = tmp_path / "a.edf"
    origin = datetime(2024, 5, 31, 14, 3, 27, 250000)
    Stamps([-1, 0.1, 1e5 / 3], ["a", "bé", ""], [0, 0.5, 0], origin).write(path)
    edf = edfio.read_edf(path)
    assert edf.startdatetime == origin
    assert edf.reserved == "EDF+C"
    assert [tuple(a) for a in edf.annotations] == [
        (-1, None, "a"), (0.1, 0.5, "bé"), (pytest.approx(1e5 / 3, abs=1e-9), None, ""),
    ]  # fmt: skip  # edfio subtracts the quarter of a second in float64
    assert [text for _, _, text in by_pyedflib(path)][:2] == ["a", "bé"]
    assert read(path).times.tolist() == [-1, 0.1, 1e5 / 3]
    assert read(path).origin == origin
    with pytest.raises(ValueError, match="EDF\\+ annotations have no control characters"):
        Stamps([1], ["a\x14b"]).write(tmp_path / "b.edf")


@pytest.mark.parametrize("year", [1900, 1985, 2024, 2084, 2085])
def test_years(tmp_path: Path, year: int) -> None:
    origin = datetime(year, 2, 3, 4, 5, 6)
    Stamps([1], origin=origin).write(tmp_path / "a.edf")
    assert read(tmp_path / "a.edf").origin == origin


def test_two_digits_of_a_year_and_no_date(tmp_path: Path) -> None:
    path = tmp_path / "a.edf"
    Stamps([1]).write(path)
    content = path.read_bytes()
    for text, origin in [
        (b"31.05.84", datetime(2084, 5, 31)),
        (b"31.05.85", datetime(1985, 5, 31)),
        (b"31.13.85", None),
        (b"yy.yy.yy", None),
        (b"\xff\xff\xff\xff\xff\xff\xff\xff", None),
    ]:
        path.write_bytes(content[:168] + text + content[176:])
        assert read(path).origin == origin


@pytest.mark.parametrize(
    ("at", "field", "message"),
    [
        (0, b"1", "byte 0: found '1 .*', expected the version of EDF or BDF"),
        (184, b"768 ", "byte 184: found '768 .*', expected 1024, the size of the header"),
        (184, b"-1  ", "byte 184: found '-1 .*', expected the size of the header"),
        (236, b"x", "byte 236: found 'x .*', expected a number of records"),
        (236, b"99", "header: found '132 bytes of data', expected 99 records of 66 bytes"),
        (252, b"x", "byte 252: found 'x   ', expected a number of signals"),
        (252, b"9999", "header: found 'the end of the file after 1156 bytes', expected 2560000"),
        (256 + 3 * 216, b"-1", "byte 904: found '-1 .*', expected a number of samples"),
        (1024, b"x", "record 0: found 'x0.*', expected an annotation: onset"),
        (1024, b"+0\x14s", "record 0: found 'sxy', expected first the onset of the record"),
        (1024 + 66, b"\0" * 40, "record 1: found '', expected first the onset of the record"),
        (1029, b"\xff", "record 0: found '.*', expected text in utf-8"),
    ],
)
def test_bad_content(tmp_path: Path, at: int, field: bytes, message: str) -> None:
    content = edf_plus([b"+0\x14\x14xy\x14\0", b"+1\x14\x14\0"], [b"", b""])
    path = tmp_path / "a.edf"
    path.write_bytes(content)
    assert read(path).labels == ["xy"]
    path.write_bytes(content[:at] + field + content[at + len(field) :])
    with pytest.raises(ValueError, match=message):
        read(path)


def test_a_recording_that_was_not_ended(tmp_path: Path) -> None:
    content = edf_plus([b"+0\x14\x14xy\x14\0", b"+1\x14\x14\0"], [b"", b""])
    path = tmp_path / "a.edf"
    path.write_bytes(content[:236] + b"-1" + content[238:] + b"half a record")
    stamps = read(path)
    assert stamps.labels == ["xy"]
    stamps.moved([0.5]).write(tmp_path / "b.edf")
    assert (tmp_path / "b.edf").read_bytes().endswith(b"half a record")


def test_another_encoding(tmp_path: Path) -> None:
    path = tmp_path / "a.edf"
    path.write_bytes(edf_plus([b"+0\x14\x14\xe9\x14\0"], [b""]))
    assert read(path, encoding="latin-1").labels == ["é"]
    with pytest.raises(ValueError, match="expected text in nonsense"):
        read(path, encoding="nonsense")
