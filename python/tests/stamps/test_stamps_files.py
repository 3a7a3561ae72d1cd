"""Files are read with care, and written whole or not at all."""

from __future__ import annotations

import gzip
import os
import pickle
from collections.abc import Callable
from pathlib import Path

import pytest

from unjitter.stamps import Stamps, read

Make = Callable[[str, "str | bytes"], Path]


def test_a_file_is_replaced_only_on_demand(make: Make) -> None:
    path = make("labels.txt", "1\t1\told\n")
    with pytest.raises(FileExistsError, match=r"labels.txt exists; pass overwrite=True"):
        Stamps([2], ["new"]).write(path)
    assert path.read_text() == "1\t1\told\n"
    Stamps([2], ["new"]).write(path, overwrite=True)
    assert path.read_text() == "2.000000\t2.000000\tnew\n"
    assert os.listdir(path.parent) == ["labels.txt"]


def test_a_failed_write_leaves_everything_as_it_was(make: Make) -> None:
    path = make("labels.txt", "1\t1\told\n")
    with pytest.raises(ValueError, match="no tabs"):
        Stamps([1, 2], ["fine", "a\tb"]).write(path, overwrite=True)
    assert path.read_text() == "1\t1\told\n"
    assert os.listdir(path.parent) == ["labels.txt"]


def test_permissions_are_those_of_the_old_file_or_of_any_new_one(make: Make) -> None:
    path = make("labels.txt", "")
    path.chmod(0o640)
    Stamps([1]).write(path, overwrite=True)
    assert path.stat().st_mode & 0o777 == 0o640
    plain = make("plain", "")
    fresh = path.parent / "fresh.txt"
    Stamps([1]).write(fresh)
    assert fresh.stat().st_mode == plain.stat().st_mode


def test_a_link_stays_a_link(make: Make) -> None:
    path = make("labels.txt", "")
    link = path.parent / "link.txt"
    link.symlink_to(path)
    Stamps([1], ["a"]).write(link, overwrite=True)
    assert link.is_symlink()
    assert read(path).labels == ["a"]


def test_no_folder_to_write_into(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="there is no folder .*nowhere"):
        Stamps([1]).write(tmp_path / "nowhere" / "labels.txt")


def test_packed_tables(make: Make) -> None:
    path = make("events.csv.gz", gzip.compress(b"time,x\n1,a\n2,b\n"))
    stamps = read(path)
    assert stamps.times.tolist() == [1, 2]
    out = path.parent / "out.csv.gz"
    stamps.moved([1, 3]).write(out)
    assert gzip.decompress(out.read_bytes()) == b"time,x\n1,a\n3,b\n"
    assert out.read_bytes()[4:8] == bytes(4)  # no time of day
    stamps.write(path.parent / "flat.csv")
    assert (path.parent / "flat.csv").read_bytes() == b"time,x\n1,a\n2,b\n"


@pytest.mark.parametrize(
    ("name", "content", "want"),
    [
        ("a.txt", "1\t2\ta\n5\t6\tb\n", "0.500000\t3.000000\ta\n5\t6\tb\n"),
        ("a.csv", "time,duration\n1,1\n5,1\n", "time,duration\n0.5,2.5\n5,1\n"),
        ("a_events.tsv", "onset\tduration\n1\t1\n5\t1\n", "onset\tduration\n0.5\t2.5\n5\t1\n"),
    ],
)
def test_both_ends_are_written(make: Make, name: str, content: str, want: str) -> None:
    path = make(name, content)
    read(path).moved([0.5, 5], ends=[3, float("nan")]).write(path, overwrite=True)
    assert path.read_text() == want


def test_ends_that_a_file_cannot_hold(make: Make) -> None:
    path = make("100.atr", b"\x01\x04\x00\x00")
    with pytest.raises(ValueError, match="move their beginnings alone"):
        read(path, fs=100).moved([0.5], ends=[1]).write(path, overwrite=True)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"time\n1\n",
        gzip.compress(b"time\n1\n" * 99)[:-12],
        gzip.compress(b"a" * 99)[:30],
        gzip.compress(b"")[:10] + b"\xff" * 90,
    ],
)
def test_a_broken_packed_file(make: Make, content: bytes) -> None:
    path = make("events.csv.gz", content)
    with pytest.raises(ValueError, match=r"events.csv.gz"):
        read(path)


@pytest.mark.parametrize("name", ["a.csv", "a_events.tsv", "a.txt", "tags.csv", "a.TextGrid"])
def test_text_that_is_none(make: Make, name: str) -> None:
    with pytest.raises(ValueError, match=r"line 2: found '\\x00', expected text without NUL"):
        read(make(name, b"time\n\x00"))
    with pytest.raises(ValueError, match=r"line 2: found 'é\\n', expected text in utf-8"):
        read(make(name, b"time\ncaf\xe9\n"))


def test_another_encoding(make: Make) -> None:
    path = make("a.csv", "time,label\n1,café\n".encode("latin-1"))
    stamps = read(path, encoding="latin-1")
    assert stamps.labels == ["café"]
    stamps.moved([2]).write(path, overwrite=True)
    assert path.read_bytes() == "time,label\n2,café\n".encode("latin-1")
    with pytest.raises(ValueError, match="unknown encoding: nonsense"):
        read(path, encoding="nonsense")


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_byte_order_mark_is_kept(make: Make, encoding: str) -> None:
    path = make("a.csv", "time,label\n1,é\n".encode(encoding))
    stamps = read(path)
    assert stamps.labels == ["é"]
    stamps.moved([2]).write(path, overwrite=True)
    assert path.read_bytes() == "time,label\n2,é\n".encode(encoding)


def test_a_copy_by_pickle_reads_its_file_again(make: Make) -> None:
    path = make("labels.txt", "1\t1\ta\n2\t2\tb\n")
    stamps = read(path).only("b").moved([3])
    copy = pickle.loads(pickle.dumps(stamps))
    assert copy == stamps
    copy.write(path.parent / "out.txt")
    assert (path.parent / "out.txt").read_text() == "1\t1\ta\n3.000000\t3.000000\tb\n"
    kept = pickle.dumps(stamps)
    path.write_text("1\t1\ta\n")
    with pytest.raises(ValueError, match=r"labels.txt has changed since it was read"):
        pickle.loads(kept)
