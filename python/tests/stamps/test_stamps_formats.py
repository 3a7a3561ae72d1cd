"""Which format a file is in, and conversions between them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path

import pytest

from unjitter.stamps import FORMATS, Stamps, formats, read, write

Make = Callable[[str, "str | bytes"], Path]

NAMES = {
    "events.tsv": "bids",
    "sub-01_task-x_events.tsv": "bids",
    "sub-01_events.tsv.gz": "bids",
    "my.events.tsv": "csv",
    "tags.csv": "empatica",
    "mytags.csv": "csv",
    "a.CSV": "csv",
    "a.tsv.gz": "csv",
    "labels.txt": "audacity",
    "a.TextGrid": "textgrid",
    "a.EDF": "edf",
    "a.bdf": "edf",
    "100.atr": "wfdb",
    "100.qrs": "wfdb",
    "a.Table.1.selections.txt": "raven",
    "a.rttm": "rttm",
    "a.boris": "boris",
    "a.eaf": "elan",
}


@pytest.mark.parametrize("name", NAMES)
def test_the_name_tells(name: str) -> None:
    told = formats.told_by_name(f"/some.csv/folder_events.tsv/{name}")
    assert told is not None
    assert told.name == NAMES[name]


def test_every_format_has_a_name_and_a_description() -> None:
    # Tables of DCASE are told by their header alone.
    assert set(FORMATS) == {*NAMES.values(), "dcase"}
    assert all(FORMATS.values())
    with pytest.raises(TypeError):
        FORMATS["x"] = "y"  # type: ignore[index]


def test_what_is_beside_or_inside_tells_where_the_name_does_not(make: Make) -> None:
    make("r.hea", "r 1 100 1000\n")
    assert read(make("r.mine", b"\x01\x04\x00\x00")).format == "wfdb"
    Stamps([1], ["a"]).write(make("x.edf", "").parent / "y.edf")
    content = (make("x.edf", "").parent / "y.edf").read_bytes()
    assert read(make("unnamed", content)).format == "edf"
    grid = (
        'File type = "ooTextFile"\nObject class = "TextGrid"\n0 1 <exists> 1 "TextTier" "a" 0 1 0'
    )
    assert read(make("grid.praat", grid)).format == "textgrid"
    assert read(make("grid16.praat", grid.encode("utf-16"))).format == "textgrid"


def test_cannot_tell(make: Make) -> None:
    path = make("a.docx", "anything")
    with pytest.raises(ValueError, match="a.docx: cannot tell the format") as error:
        read(path)
    assert all(repr(name) in str(error.value) for name in FORMATS)
    with pytest.raises(ValueError, match="cannot tell the format"):
        Stamps([1]).write(path, overwrite=True)
    with pytest.raises(ValueError, match="format: found 'word', expected one of"):
        read(path, "word")
    with pytest.raises(ValueError, match="format: found 'word', expected one of"):
        write(Stamps([1]), path, "word")


def test_no_such_file(tmp_path: Path) -> None:
    for name in [*NAMES, "unknown"]:
        with pytest.raises(FileNotFoundError):
            read(tmp_path / name)


def test_options_that_a_format_does_not_take(make: Make) -> None:
    path = make("labels.txt", "")
    with pytest.raises(TypeError, match="reading audacity takes the options encoding; found 'fs'"):
        read(path, fs=5)
    with pytest.raises(TypeError, match="writing audacity takes no options; found 'fs'"):
        write(Stamps([1]), path, fs=5, overwrite=True)
    with pytest.raises(TypeError, match="writing wfdb needs the option fs"):
        write(Stamps([1]), path.parent / "100.atr")
    with pytest.raises(TypeError, match="found the options time, expected none"):
        table = make("a.csv", "time\n1\n")
        write(read(table), table, overwrite=True, time="t")
    with pytest.raises(ValueError, match="audacity files are not packed"):
        write(Stamps([1]), path.parent / "a.txt.gz", "audacity")


def test_a_file_goes_back_to_its_own_format_under_any_fitting_name(make: Make) -> None:
    events = read(make("sub_events.tsv", "onset\tduration\tmore\n1\t0\tx\n"))
    for name in ("out.tsv", "out_events.tsv"):
        out = make("folder/x", "").parent / name
        events.write(out)
        assert out.read_text() == "onset\tduration\tmore\n1\t0\tx\n"
    forced = read(make("odd.dat", "time,more\n1,x\n"), "csv")
    forced.write(out.parent / "out.dat")
    assert (out.parent / "out.dat").read_text() == "time,more\n1,x\n"
    tags = read(make("tags.csv", "1544027337.11\n"))
    tags.write(out.parent / "out.csv")
    assert (out.parent / "out.csv").read_text() == "1544027337.11\n"
    beats = read(make("100.atr", b"\x01\x04\x00\x00"), fs=100)
    beats.write(out.parent / "100.mine")
    assert (out.parent / "100.mine").read_bytes() == b"\x01\x04\x00\x00"


def test_in_another_format_the_selection_goes_alone(make: Make) -> None:
    path = make("a.csv", "time,label,more\n1,x,p\n2,y,q\n3,x,r\n")
    out = path.parent / "labels.txt"
    read(path).only("x").moved([5, 4]).write(out)
    assert out.read_text() == "4.000000\t4.000000\tx\n5.000000\t5.000000\tx\n"
    read(path).without([False, True, False]).write(path.parent / "new_events.tsv", "bids")
    want = "onset\tduration\ttrial_type\n1\t0\tx\n3\t0\tx\n"
    assert (path.parent / "new_events.tsv").read_text() == want


@pytest.mark.parametrize(
    ("name", "options", "labels", "durations"),
    [
        ("a.csv", {}, True, True),
        ("a.tsv", {}, True, True),
        ("a.csv.gz", {}, True, True),
        ("a_events.tsv", {}, True, True),
        ("a.txt", {}, True, True),
        ("tags.csv", {}, False, False),
        ("a.atr", {"fs": 100}, True, False),
        ("a.edf", {}, True, True),
        ("a.TextGrid", {}, True, True),
        ("a.selections.txt", {}, True, True),
        ("a.rttm", {}, True, True),
        ("a.eaf", {}, True, True),
    ],
)
def test_stamps_from_scratch_in_every_format(
    tmp_path: Path, name: str, options: dict, labels: bool, durations: bool
) -> None:
    origin = datetime(2024, 5, 31, 14, 3, 27, tzinfo=timezone.utc)
    stamps = Stamps([1.25, 3, 7.5], ["N", "V", "N"], [0.5, 1, 0.25], origin)
    stamps.write(tmp_path / name, **options)
    if name == "tags.csv":
        options = {"origin": origin}
    back = read(tmp_path / name, **({} if name == "a.atr" else options))
    assert back.times.tolist() == stamps.times.tolist()
    assert back.labels == (stamps.labels if labels else [""] * 3)
    assert back.durations.tolist() == (stamps.durations.tolist() if durations else [0] * 3)


@pytest.mark.parametrize("name", ["a.csv", "a_events.tsv", "a.txt", "a.atr", "a.edf", "a.TextGrid"])
def test_no_stamps_in_every_format(tmp_path: Path, name: str) -> None:
    Stamps([]).write(tmp_path / name, **({"fs": 100} if name == "a.atr" else {}))
    back = read(tmp_path / name)
    assert len(back) == 0
    back.write(tmp_path / name, overwrite=True)
    assert len(read(tmp_path / name)) == 0


def test_no_further_package_is_imported() -> None:
    code = (
        "import sys, unjitter.stamps\n"
        "print(sorted({'wfdb', 'edfio', 'praatio', 'matplotlib', 'torch'} & set(sys.modules)))"
    )
    import unjitter.stamps

    root = str(Path(unjitter.stamps.__file__).parents[2])
    program = f"import sys; sys.path.insert(0, {root!r})\n{code}"
    done = subprocess.run(
        [sys.executable, "-c", program], check=False, capture_output=True, text=True
    )
    assert done.stdout == "[]\n", done.stderr
