"""Tables: what is not moved stays byte for byte, in seconds and in dates."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from pathlib import Path

import numpy as np
import pytest

from unjitter.stamps import Stamps, read

Make = Callable[[str, "str | bytes"], Path]

TABLES = {
    "plain": "time,label\n1,a\n2.50,b\n",
    "no end of line": "time,label\n1,a\n2,b",
    "windows": "time,label\r\n1,a\r\n2,b\r\n",
    "tabs": "label\ttime\na\t1\nb\t 2 \n",
    "semicolons": "label;time;x\na;1;p,q\nb;2;\n",
    "quotes": '"time","label"\n"1","a, ""b"" c"\n" 2 ","two\nlines"\n',
    "gaps": "time,label\n\n1,a\n,none\nn/a,none\n2,b\n\n",
    "one column": "time\n1\n2\n",
    "quote inside": 'label,time\n5" nail,1\na"b,2\n',
    "unordered": "time\n5\n1\n3\n",
    "dates": "time\n2024-05-31T14:03:27.5\n2024-05-31 14:03:28\n",
    "nanoseconds": "time\n2024-05-31T14:03:27.000000000\n2024-05-31T14:03:28.000000001\n",
    "zones": "time\n2024-05-31T14:03:27Z\n2024-05-31T16:03:28.25+02:00\n",
    "odd characters": "time,label\n1,a\x0bb\u2028c\x85\n2,b\n",
}


@pytest.mark.parametrize("name", TABLES)
def test_unmoved_is_the_same_byte_for_byte(make: Make, name: str) -> None:
    path = make("a.csv", TABLES[name])
    stamps = read(path)
    assert len(stamps) in (2, 3)
    stamps.write(path.parent / "b.csv")
    assert (path.parent / "b.csv").read_bytes() == path.read_bytes()
    # There and back: moved and moved again.
    times = stamps.times
    back = stamps.moved(times + 1).moved(times)
    back.write(path.parent / "c.csv")
    assert (path.parent / "c.csv").read_bytes() == path.read_bytes()


@pytest.mark.parametrize(
    ("name", "times", "want"),
    [
        ("plain", [1.5, 0.1], "time,label\n0.1,b\n1.5,a\n"),
        ("no end of line", [3, 2], "time,label\n2,b\n3,a"),
        ("windows", [1, 7], "time,label\r\n1,a\r\n7,b\r\n"),
        ("tabs", [-1, 7], "label\ttime\na\t-1\nb\t 7 \n"),
        ("semicolons", [0, 7e-7], "label;time;x\na;0;p,q\nb;0.0000007;\n"),
        ("quotes", [0, 7], '"time","label"\n"0","a, ""b"" c"\n" 7 ","two\nlines"\n'),
        ("gaps", [9, 8], "time,label\n\n8,b\n,none\nn/a,none\n9,a\n\n"),
        ("unordered", [9, 8, 7], "time\n7\n9\n8\n"),  # at 1, 3, 5; it was in no order before
        ("dates", [0.25, 2], "time\n2024-05-31T14:03:27.75\n2024-05-31 14:03:29.5\n"),
        (
            "nanoseconds",
            [0, 1.001],
            "time\n2024-05-31T14:03:27.000000000\n2024-05-31T14:03:28.001000000\n",
        ),
        ("zones", [60, 0], "time\n2024-05-31T16:03:27.00+02:00\n2024-05-31T14:04:27Z\n"),
    ],
)
def test_moved(make: Make, name: str, times: list[float], want: str) -> None:
    path = make("a.csv", TABLES[name])
    read(path).moved(times).write(path, overwrite=True)
    assert path.read_bytes() == want.encode()


def test_selected_and_dropped(make: Make) -> None:
    path = make("a.csv", "time,label,x\n1,a,1\n2,b,2\n3,a,3\n4,b,4\n")
    stamps = read(path)
    stamps.only("a").moved([2.5, 0]).write(path, overwrite=True)
    assert path.read_text() == "time,label,x\n0,a,3\n2,b,2\n2.5,a,1\n4,b,4\n"
    stamps.only("b").without([True, False]).write(path, overwrite=True)
    assert path.read_text() == "time,label,x\n1,a,1\n3,a,3\n4,b,4\n"
    without_all = stamps.without([True] * 4)
    assert repr(without_all) == "Stamps(0 stamps, csv 'a.csv')"
    without_all.write(path, overwrite=True)
    assert path.read_text() == "time,label,x\n"
    assert repr(stamps.only("a")).startswith("Stamps(2 stamps of 4 from 1 s to 3 s")


def test_columns_by_name(make: Make) -> None:
    path = make("a.csv", "when,what,long,label\n1,x,0.5,p\n2,,n/a,q\n")
    stamps = read(path, time="when", label="what", duration="long")
    assert stamps.labels == ["x", ""]
    assert stamps.durations.tolist() == [0.5, 0]
    assert read(path, time="when").labels == ["p", "q"]


def test_random_tables_hold_what_the_csv_module_sees(make: Make) -> None:
    random = np.random.default_rng(7)
    pieces = ['"', ",", "\n", "\r\n", "a", " ", "é", "", "x y", "\t", ";"]
    for _ in range(200):
        count = int(random.integers(1, 6))
        labels = ["".join(random.choice(pieces, 3)) for _ in range(count)]
        times = random.normal(size=count).round(3)
        out = io.StringIO()
        quoting = csv.QUOTE_ALL if random.random() < 0.5 else csv.QUOTE_MINIMAL
        writer = csv.writer(out, quoting=quoting)
        writer.writerow(["label", "time", "place"])
        for i in range(count):
            writer.writerow([labels[i], times[i], i])
        path = make("a.csv", out.getvalue())
        stamps = read(path)
        goals = random.normal(size=count)
        stamps.moved(goals).write(path, overwrite=True)
        with open(path, newline="", encoding="utf-8") as file:
            rows = list(csv.reader(file))[1:]
        order = np.argsort(times, kind="stable")
        seen = {int(place): (label, float(time)) for label, time, place in rows}
        # repr and back is exact: no tolerance
        assert seen == {int(i): (labels[i], goals[k]) for k, i in enumerate(order)}


def test_stamps_written_are_read_back_exactly(tmp_path: Path) -> None:
    random = np.random.default_rng(3)
    times = np.concatenate([random.normal(size=50) * 10.0**k for k in range(-9, 10, 3)])
    labels = ["".join(random.choice(list('ab",\n\t;é'), 4)).strip() for _ in times]
    stamps = Stamps(times, labels, abs(times))
    for name in ("a.csv", "a.tsv", "a_events.tsv"):
        stamps.write(tmp_path / name)
        assert read(tmp_path / name) == stamps
    assert (tmp_path / "a.tsv").read_text().startswith("time\tduration\tlabel\n")
    assert (tmp_path / "a.csv").read_text().startswith("time,duration,label\n")
    Stamps([1]).write(tmp_path / "b.csv", time="t", delimiter=";")
    assert (tmp_path / "b.csv").read_text() == "t\n1\n"


def test_dates_count_from_the_first_or_from_the_origin(make: Make) -> None:
    path = make("a.csv", "time\n2024-05-31T16:00:01+02:00\n2024-05-31T13:59:59Z\n")
    zone = timezone.utc
    stamps = read(path)
    assert stamps.times.tolist() == [0, 2]
    assert stamps.origin == datetime(2024, 5, 31, 13, 59, 59, tzinfo=zone)
    for origin in ("2024-05-31T14:00:00Z", datetime(2024, 5, 31, 14, tzinfo=zone), 1717164000):
        assert read(path, origin=origin).times.tolist() == [-1, 1]
    read(path, origin=origin).moved([0, 1]).write(path, overwrite=True)
    assert path.read_text() == "time\n2024-05-31T16:00:01+02:00\n2024-05-31T14:00:00Z\n"


def test_an_origin_for_seconds(make: Make) -> None:
    path = make("a.csv", "time\n1\n")
    assert read(path, origin="2024-05-31T14:00").origin == datetime(2024, 5, 31, 14)
    assert read(path).origin is None


def test_dates_from_scratch(tmp_path: Path) -> None:
    zone = timezone(timedelta(hours=-3, minutes=-30))
    for origin, want in [
        (datetime(2024, 5, 31, 23, 59, 59, 500000), "2024-06-01T00:00:00.75"),
        (datetime(2024, 5, 31, 23, 59, 59, tzinfo=zone), "2024-06-01T00:00:00.25-03:30"),
    ]:
        stamps = Stamps([1.25], origin=origin)
        stamps.write(tmp_path / "a.csv", dates=True, overwrite=True)
        assert (tmp_path / "a.csv").read_text() == f"time\n{want}\n"
        assert read(tmp_path / "a.csv", origin=origin) == stamps
    with pytest.raises(ValueError, match="dates: the stamps need an origin"):
        Stamps([1]).write(tmp_path / "b.csv", dates=True)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "a.csv: found an empty file, expected a table with a header"),
        ("when,x\n1,2\n", "line 1: found 'when, x', expected a header with a column 'time'"),
        ("time,time\n1,2\n", "line 1: found 'time, time', expected one column 'time'"),
        ("time\nsoon\n", "line 2: found 'soon', expected a time in seconds, or a date"),
        ("time\n1\n\n1_0\n", "line 4: found '1_0', expected a time in seconds"),
        ("time\n1e999\n", "line 2: found '1e999', expected a time"),
        ("time\ninf\n", "line 2: found 'inf', expected a time"),
        ("time\n0." + "1" * 1000, "line 2: found '0.1{58}…', expected a time"),
        ("time\n" + "1" * 1000, "line 2: found '1{60}…', expected a time"),
        ("x,time\n1,2\n3\n", "line 3: found '3', expected 2 fields or more"),
        ('time,x\n1,"a\n2,b\n', "line 2: found '\"a.n2,b.n', expected a closing quote"),
        ('time,x\n1,"a\n"b\n', "line 2: found '\"a.n\"b', expected ',' or the end of the line"),
        ('time,x\n1,"a\n"\nno,2', "line 4: found 'no', expected a time in seconds"),
        ("time\n2024-01-01T00:00\n5\n", "line 3: found '5', expected a date like"),
        ("time\n5\n2024-01-01T00:00\n", "line 3: found '2024-01-01T00:00', expected a time in"),
        ("time\n2024-01-01T00:00\n2024-01-01T00:00Z\n", "line 3: .* expected a zone in every row"),
        ("time,duration\n1,-1\n", "line 2: found '-1', expected a duration in seconds, 0 or more"),
        ("time,duration\n1,x\n", "line 2: found 'x', expected a duration in seconds"),
    ],
)
def test_bad_content(make: Make, content: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read(make("a.csv", content))


def test_bad_options(make: Make) -> None:
    path = make("a.csv", "time\n2024-01-01T00:00\n")
    with pytest.raises(ValueError, match="line 1: found 'time', expected one column 'what'"):
        read(path, label="what")
    with pytest.raises(ValueError, match="expected a zone if and only if"):
        read(path, origin="2024-01-01T00:00Z")
    with pytest.raises(ValueError, match="origin: found 'noon', expected a date"):
        read(path, origin="noon")
    with pytest.raises(ValueError, match="origin: found 1e\\+30, expected UNIX seconds"):
        read(path, origin=1e30)
    with pytest.raises(ValueError, match="outside of the years 1 to 9999"):
        read(path).moved([1e12]).write(path.parent / "b.csv")
