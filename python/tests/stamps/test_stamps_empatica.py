"""Empatica tags: UNIX times, and where second 0 is."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path

import numpy as np
import pytest

from unjitter.stamps import Stamps, read

Make = Callable[[str, "str | bytes"], Path]

TAGS = "1544027337.11\n1544027400.00\n1544027475.53\n"
START = datetime(2018, 12, 5, 16, 28, 57, 110000, tzinfo=timezone.utc)


def test_seconds_from_the_first_tag(make: Make) -> None:
    stamps = read(make("tags.csv", TAGS))
    # exact to the nanosecond, which float64 keeps: no tolerance
    assert stamps.times.tolist() == [0, 62.89, 138.42]
    assert stamps.origin == START
    assert stamps.labels == ["", "", ""]


def test_seconds_from_the_start_of_the_recording(make: Make) -> None:
    make("HR.csv", "1544027310.000000\n1.000000\n")
    path = make("tags.csv", TAGS)
    assert read(path).times[0] == 0
    make("TEMP.csv", "1544027305.000000\n4.000000\n")
    assert read(path).times[0] == 32.11
    make("ACC.csv", "1544027300.000000, 1544027300.000000, 1544027300.000000\n32.0, 32.0, 32.0\n")
    stamps = read(path)
    assert stamps.times.tolist() == [37.11, 100, 175.53]
    assert stamps.origin == datetime(2018, 12, 5, 16, 28, 20, tzinfo=timezone.utc)
    assert read(path, origin=1544027337).times[0] == 0.11


def test_a_relative_path_finds_the_sensors_too(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    make("BVP.csv", "1544027300.000000\n64.0\n")
    monkeypatch.chdir(make("tags.csv", TAGS).parent)
    assert read("tags.csv").times[0] == 37.11


def test_a_sensor_file_that_says_no_start(make: Make) -> None:
    make("EDA.csv", "time,eda\n")
    path = make("tags.csv", TAGS)
    with pytest.raises(ValueError, match=r"EDA.csv, line 1: found 'time', .* pass origin="):
        read(path)
    assert read(path, origin=START).times[0] == 0


@pytest.mark.parametrize("content", [TAGS, TAGS.replace("\n", "\r\n"), TAGS[:-1], "", "\n"])
def test_unmoved_is_the_same_byte_for_byte(make: Make, content: str) -> None:
    path = make("tags.csv", content)
    stamps = read(path)
    assert len(stamps) == (3 if content.strip() else 0)
    stamps.write(path.parent / "out.csv")
    assert (path.parent / "out.csv").read_bytes() == content.encode()


def test_moved(make: Make) -> None:
    path = make("tags.csv", TAGS)
    read(path).moved([100, 62.89, 0.123]).write(path, overwrite=True)
    assert path.read_text() == "1544027337.23\n1544027400.00\n1544027437.11\n"


def test_finer_tags_stay_as_fine(make: Make) -> None:
    path = make("tags.csv", "1544027337.123456\n")
    read(path).moved([1e-6]).write(path, overwrite=True)
    assert path.read_text() == "1544027337.123457\n"


def test_random_tags_there_and_back(tmp_path: Path) -> None:
    times = np.sort(np.random.default_rng(1).integers(0, 10**7, 200)) / 100
    Stamps(times, origin=START).write(tmp_path / "tags.csv")
    back = read(tmp_path / "tags.csv", origin=START)
    assert back.times.tolist() == times.tolist()


@pytest.mark.parametrize("row", ["noon", "1544027337,11", "-1", "1e300", "time", "nan"])
def test_bad_content(make: Make, row: str) -> None:
    with pytest.raises(ValueError, match=f"line 2: found '{row}', expected a UNIX time in sec"):
        read(make("tags.csv", f"1544027337.11\n{row}\n"))


def test_an_origin_is_needed_and_has_a_zone(make: Make) -> None:
    path = make("tags.csv", TAGS)
    with pytest.raises(ValueError, match="origin: found 2018-12-05T00:00:00, expected .* a zone"):
        read(path, origin="2018-12-05T00:00")
    with pytest.raises(ValueError, match="the stamps need an origin"):
        Stamps([1]).write(path, overwrite=True)
    with pytest.raises(ValueError, match="expected a time with a zone"):
        Stamps([1], origin=datetime(2018, 1, 1)).write(path, overwrite=True)
    assert path.read_text() == TAGS
