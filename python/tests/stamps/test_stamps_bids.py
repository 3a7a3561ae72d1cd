"""BIDS events: a table of fixed names."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from unjitter.stamps import Stamps, read

Make = Callable[[str, "str | bytes"], Path]

EVENTS = (
    "onset\tduration\ttrial_type\tresponse_time\tstim_file\n"
    "1.2\t0.6\tgo\t1.435\timages/red_square.jpg\n"
    "5.6\t0.60\tstop\tn/a\timages/blue_square.jpg\n"
    "n/a\tn/a\tgo\tn/a\tn/a\n"
    "7.5\tn/a\tn/a\t1.2\tn/a\n"
)


def test_read(make: Make) -> None:
    stamps = read(make("sub-01_task-x_events.tsv", EVENTS))
    assert stamps.format == "bids"
    assert stamps.times.tolist() == [1.2, 5.6, 7.5]
    assert stamps.labels == ["go", "stop", ""]
    assert stamps.durations.tolist() == [0.6, 0.6, 0]


def test_unmoved_is_the_same_byte_for_byte(make: Make) -> None:
    path = make("events.tsv", EVENTS)
    read(path).write(path.parent / "out_events.tsv")
    assert (path.parent / "out_events.tsv").read_text() == EVENTS


def test_moved_keeps_other_columns(make: Make) -> None:
    path = make("events.tsv", EVENTS)
    read(path).only(["go", "stop"]).moved([6, 5]).write(path, overwrite=True)
    assert path.read_text() == (
        "onset\tduration\ttrial_type\tresponse_time\tstim_file\n"
        "5\t0.60\tstop\tn/a\timages/blue_square.jpg\n"
        "6\t0.6\tgo\t1.435\timages/red_square.jpg\n"
        "n/a\tn/a\tgo\tn/a\tn/a\n"
        "7.5\tn/a\tn/a\t1.2\tn/a\n"
    )


def test_another_column_of_labels(make: Make) -> None:
    path = make("events.tsv", "onset\tduration\tvalue\n1\t0\t7\n")
    assert read(path).labels == [""]
    assert read(path, label="value").labels == ["7"]
    with pytest.raises(ValueError, match="expected one column 'trial_type'"):
        read(path, label="trial_type")


def test_from_scratch(tmp_path: Path) -> None:
    Stamps([1.5, 2], ["go", ""], [0.25, 0]).write(tmp_path / "a_events.tsv")
    want = "onset\tduration\ttrial_type\n1.5\t0.25\tgo\n2\t0\tn/a\n"
    assert (tmp_path / "a_events.tsv").read_text() == want


def test_commas_do_not_separate(make: Make) -> None:
    with pytest.raises(ValueError, match="found 'onset,duration', expected a header with a col"):
        read(make("events.tsv", "onset,duration\n1,0\n"))
