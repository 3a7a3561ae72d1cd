"""Audacity labels: points, regions, and lines of frequencies."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from unjitter.stamps import Stamps, read

Make = Callable[[str, "str | bytes"], Path]

TRACK = (
    "0.500000\t0.500000\tcough\n2.000000\t3.500000\tsong\n\\\t100.000000\t2000.000000\n4.0\t4.0\t\n"
)


def test_read(make: Make) -> None:
    stamps = read(make("labels.txt", TRACK))
    assert stamps.times.tolist() == [0.5, 2, 4]
    assert stamps.durations.tolist() == [0, 1.5, 0]
    assert stamps.labels == ["cough", "song", ""]


@pytest.mark.parametrize(
    "content",
    [TRACK, TRACK.replace("\n", "\r\n"), TRACK.rstrip("\n"), "\n" + TRACK + "\n\n", "",
     "1\t2\n", "1\told\n", "1\t2\ta\tb\tc\n", "\ufeff1\t2\ta\n"],
)  # fmt: skip
def test_unmoved_is_the_same_byte_for_byte(make: Make, content: str) -> None:
    path = make("a.txt", content)
    read(path).write(path.parent / "b.txt")
    assert (path.parent / "b.txt").read_bytes() == content.encode()


def test_a_region_moves_with_its_frequencies(make: Make) -> None:
    path = make("a.txt", TRACK)
    read(path).only("song").moved([0.125]).write(path, overwrite=True)
    assert path.read_text() == (
        "0.125000\t1.625000\tsong\n"
        "\\\t100.000000\t2000.000000\n"
        "0.500000\t0.500000\tcough\n"
        "4.0\t4.0\t\n"
    )
    read(path).only("song").without([True]).write(path, overwrite=True)
    assert path.read_text() == "0.500000\t0.500000\tcough\n4.0\t4.0\t\n"


def test_labels_of_old_versions(make: Make) -> None:
    path = make("a.txt", "1.5\told\n2\t3\n4\t5\ttext\twith tabs\n")
    stamps = read(path)
    assert stamps.labels == ["old", "", "text\twith tabs"]
    assert stamps.durations.tolist() == [0, 1, 1]
    stamps.moved([1, 2.5, 3]).write(path, overwrite=True)
    assert path.read_text() == (
        "1.000000\told\n2.500000\t3.500000\n3.000000\t4.000000\ttext\twith tabs\n"
    )


def test_finer_decimals_stay_as_fine(make: Make) -> None:
    path = make("a.txt", "1.123456789\t2.123456789\ta\n")
    read(path).moved([0.1]).write(path, overwrite=True)
    assert path.read_text() == "0.100000000\t1.100000000\ta\n"


def test_from_scratch_and_back(tmp_path: Path) -> None:
    random = np.random.default_rng(2)
    stamps = Stamps(random.normal(size=99) * 1e3, ["é " * (i % 3) for i in range(99)])
    stamps.write(tmp_path / "a.txt")
    back = read(tmp_path / "a.txt")
    assert back.labels == stamps.labels
    # six decimals
    np.testing.assert_allclose(back.times, stamps.times, rtol=0, atol=0.50001e-6)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("hello\n", "line 1: found 'hello', expected start, end and text of a label"),
        ("1\t2\ta\n1.5\n", "line 2: found '1.5', expected start"),
        ("x\t2\ta\n", "line 1: found 'x.t2.ta', expected start"),
        ("1\tx\ta\n", "line 1: found '1.tx.ta', expected start"),
        ("2\t1\ta\n", "line 1: .* and no end before its start"),
        ("nan\tnan\ta\n", "line 1: .* expected start"),
        ("\\\t1\t2\n", "line 1: .* expected start"),
    ],
)
def test_bad_content(make: Make, content: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read(make("a.txt", content))


@pytest.mark.parametrize("label", ["a\tb", "a\nb", "a\rb"])
def test_labels_that_do_not_fit(tmp_path: Path, label: str) -> None:
    with pytest.raises(ValueError, match="Audacity labels have no tabs or line breaks"):
        Stamps([1], [label]).write(tmp_path / "a.txt")
