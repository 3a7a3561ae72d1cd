"""Praat TextGrids, with praatio and Praat itself (parselmouth) as the other readers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from praatio import textgrid as praatio

from unjitter.stamps import Stamps, read

Make = Callable[[str, "str | bytes"], Path]

LONG = '''File type = "ooTextFile"
Object class = "TextGrid"

xmin = 0 
xmax = 2.3 
tiers? <exists> 
size = 3 
item []: 
    item [1]:
        class = "IntervalTier" 
        name = "words [1]" 
        xmin = 0 
        xmax = 2.3 
        intervals: size = 4 
        intervals [1]:
            xmin = 0 
            xmax = 0.50 
            text = "" 
        intervals [2]:
            xmin = 0.50 
            xmax = 1 
            text = "say ""item [3]:""" 
        intervals [3]:
            xmin = 1 
            xmax = 1.5 
            text = "two" 
        intervals [4]:
            xmin = 1.5 
            xmax = 2.3 
            text = "" 
    item [2]:
        class = "TextTier" 
        name = "bell" 
        xmin = 0 
        xmax = 2.3 
        points: size = 3 
        points [1]:
            number = 0.10 
            mark = "ding" 
        points [2]:
            number = 1.2 
            mark = " dong " 
        points [3]:
            number = 2 
            mark = "" 
    item [3]:
        class = "IntervalTier" 
        name = "last" 
        xmin = 0 
        xmax = 2.3 
        intervals: size = 1 
        intervals [1]:
            xmin = 0 
            xmax = 2.3 
            text = "kept" 
'''

SHORT = """File type = "ooTextFile short"
"TextGrid"

0
2.3
<exists>
2
"IntervalTier"
"words ["
0
2.3
3
0
0.5
""
0.5
1
"one"
1
2.3
""
"TextTier"
"bell"
0
2.3
2
1e-1
"ding"
2
"dong"
"""

FORMS = {
    "long": LONG,
    "short": SHORT,
    "windows": LONG.replace("\n", "\r\n"),
    "utf-16": LONG.replace("two", "zwölf").encode("utf-16"),
    "comments": '"ooTextFile" "TextGrid" 0 1 <exists> ! 5 "no"\n1 "TextTier" "b" 0 1 1 .5 "x"',
}


def by_praat(path: Path) -> list[tuple[str, list[tuple[Any, ...]]]]:
    """The tiers as Praat itself reads them."""
    import parselmouth

    call = parselmouth.praat.call
    grid = parselmouth.Data.read(str(path))
    tiers: list[tuple[str, list[tuple[Any, ...]]]] = []
    for t in range(1, call(grid, "Get number of tiers") + 1):
        entries: list[tuple[Any, ...]] = []
        if call(grid, "Is interval tier", t):
            for i in range(1, call(grid, "Get number of intervals", t) + 1):
                start = call(grid, "Get start time of interval", t, i)
                end = call(grid, "Get end time of interval", t, i)
                entries.append((start, end, call(grid, "Get label of interval", t, i)))
        else:
            for i in range(1, call(grid, "Get number of points", t) + 1):
                time = call(grid, "Get time of point", t, i)
                entries.append((time, call(grid, "Get label of point", t, i)))
        tiers.append((call(grid, "Get tier name", t), entries))
    return tiers


def test_read_points(make: Make) -> None:
    stamps = read(make("a.TextGrid", LONG))
    assert stamps.times.tolist() == [0.1, 1.2, 2]
    assert stamps.labels == ["ding", " dong ", ""]
    assert stamps.durations.tolist() == [0, 0, 0]


def test_read_intervals(make: Make) -> None:
    path = make("a.TextGrid", LONG)
    for tier in ("words [1]", 1):
        stamps = read(path, tier=tier)
        assert stamps.times.tolist() == [0.5, 1]
        assert stamps.labels == ['say "item [3]:"', "two"]
        assert stamps.durations.tolist() == [0.5, 0.5]
    assert read(path, tier="last").labels == read(path, tier=3).labels == ["kept"]


@pytest.mark.parametrize("name", FORMS)
def test_unmoved_is_the_same_byte_for_byte(make: Make, name: str) -> None:
    path = make("a.TextGrid", FORMS[name])
    stamps = read(path)
    assert len(stamps) > 0
    stamps.write(path.parent / "b.TextGrid")
    assert (path.parent / "b.TextGrid").read_bytes() == path.read_bytes()


def test_moved_points(make: Make) -> None:
    path = make("a.TextGrid", LONG)
    read(path).moved([1.75, 1.2, 0.3]).write(path, overwrite=True)
    before, after = LONG.split("points: size = 3 \n")[0], LONG.split('mark = "" \n')[1]
    assert (
        path.read_text()
        == before
        + (
            "points: size = 3 \n"
            '        points [1]:\n            number = 0.3 \n            mark = "" \n'
            '        points [2]:\n            number = 1.2 \n            mark = " dong " \n'
            '        points [3]:\n            number = 1.75 \n            mark = "ding" \n'
        )
        + after
    )


def test_a_move_back_is_the_same_byte_for_byte(make: Make) -> None:
    """What is written anew has the layout of Praat, so only digits differ."""
    path = make("a.TextGrid", LONG)
    for tier in (1, 2):
        stamps = read(path, tier=tier)
        moved = stamps.times.copy()
        moved[0] = 0.25
        stamps.moved(moved).write(path.parent / "b.TextGrid", overwrite=True)
        again = read(path.parent / "b.TextGrid", tier=tier)
        again.moved(stamps.times).write(path.parent / "c.TextGrid", overwrite=True)
        text = (path.parent / "c.TextGrid").read_text()
        assert text == LONG.replace("0.50", "0.5" if tier == 1 else "0.50").replace(
            "0.10", "0.1" if tier == 2 else "0.10"
        )


def test_short_form_and_line_ends_are_kept(make: Make) -> None:
    path = make("a.TextGrid", SHORT)
    read(path).moved([0.1, 0.05]).write(path, overwrite=True)
    assert path.read_text() == SHORT.replace(
        '1e-1\n"ding"\n2\n"dong"', '0.05\n"dong"\n1e-1\n"ding"'
    )
    path = make("w.TextGrid", FORMS["windows"])
    read(path).moved([0.2, 1.2, 2]).write(path, overwrite=True)
    assert path.read_bytes() == FORMS["windows"].replace("0.10", "0.2").encode()  # type: ignore
    inside = FORMS["windows"].replace("two", "on two\r\nlines")  # type: ignore
    path = make("l.TextGrid", inside)
    read(path, tier=1).moved([0.25, 1]).write(path, overwrite=True)
    assert b"on two\r\nlines" in path.read_bytes()
    path = make("u.TextGrid", FORMS["utf-16"])
    read(path).moved([0.2, 1.2, 2]).write(path, overwrite=True)
    assert path.read_bytes().decode("utf-16") == LONG.replace("two", "zwölf").replace("0.10", "0.2")


def test_moved_as_praat_sees_it(make: Make) -> None:
    path = make("a.TextGrid", LONG)
    before = by_praat(path)
    read(path).only(["ding", ""]).moved([1.3, 0.7]).write(path, overwrite=True)
    after = by_praat(path)
    assert after[1] == ("bell", [(0.7, ""), (1.2, " dong "), (1.3, "ding")])
    assert (after[0], after[2]) == (before[0], before[2])
    read(path, tier=1).only("two").moved([1.6]).write(path, overwrite=True)
    assert by_praat(path)[0] == (
        "words [1]",
        [
            (0, 0.5, ""),
            (0.5, 1, 'say "item [3]:"'),
            (1, 1.6, ""),
            (1.6, 2.1, "two"),
            (2.1, 2.3, ""),
        ],
    )


def test_neighbours_that_move_together_stay_neighbours(make: Make) -> None:
    path = make("a.TextGrid", LONG.replace('item [3]:""', '""'))  # would upset praatio
    stamps = read(path, tier=1)
    for shift in (-0.5, -0.1, 0.1, 1 / 3, 0.7, 0.8):
        stamps.moved(stamps.times + shift).write(path, overwrite=True)
        tier = praatio.openTextgrid(str(path), includeEmptyIntervals=True).tiers[0]
        ends = [entry.end for entry in tier.entries[:-1]]
        assert ends == [entry.start for entry in tier.entries[1:]]
        assert len(tier.entries) == (3 if shift in (-0.5, 0.8) else 4)
        assert tier.entries[0].start == 0
        assert tier.entries[-1].end == 2.3


def test_dropped(make: Make) -> None:
    path = make("a.TextGrid", LONG)
    read(path).without([True, False, True]).write(path, overwrite=True)
    read(path, tier=1).without([True, False]).write(path, overwrite=True)
    tiers = by_praat(path)
    assert tiers[0][1] == [(0, 1, ""), (1, 1.5, "two"), (1.5, 2.3, "")]
    assert tiers[1][1] == [(1.2, " dong ")]
    read(path).without([True]).write(path, overwrite=True)
    read(path, tier=1).without([True]).write(path, overwrite=True)
    assert by_praat(path)[:2] == [("words [1]", [(0, 2.3, "")]), ("bell", [])]
    assert len(read(path)) == 0


def test_random_grids_as_praat_and_praatio_see_them(tmp_path: Path) -> None:
    random = np.random.default_rng(9)
    path = tmp_path / "a.TextGrid"
    for k in range(20):
        count = int(random.integers(1, 8))
        times = np.sort(random.choice(1000, count, replace=False)) / 100
        labels = ["".join(random.choice(list('ab" é!<'), 3)) + "." for _ in times]
        lasting = random.uniform(0.001, 0.009, count) if k % 2 else np.zeros(count)
        Stamps(times, labels, lasting).write(path, tier='the "tier"', end=11, overwrite=True)
        goals = random.permutation(np.sort(random.choice(1000, count, replace=False)) / 100)
        stamps = read(path)
        assert stamps.labels == labels
        stamps.moved(goals).write(path, overwrite=True)
        ((name, entries),) = by_praat(path)
        assert name == 'the "tier"'
        labelled = [entry for entry in entries if entry[-1]]
        order = np.argsort(goals)
        assert [entry[-1] for entry in labelled] == [labels[i] for i in order]
        assert [entry[0] for entry in labelled] == goals[order].tolist()
        tier = praatio.openTextgrid(str(path), includeEmptyIntervals=True).tiers[0]
        assert [entry[0] for entry in tier.entries] == [entry[0] for entry in entries]


@pytest.mark.parametrize(
    ("tier", "times", "message"),
    [
        (1, [0.5, 0.9], "intervals 'say .*', to 1.0 s, and 'two', from 0.9 s, would overlap"),
        (1, [-0.1, 1], "'say .*' at -0.1 to 0.4 s is outside of tier 'words"),
        (1, [0.5, 2], "'two' at 2.0 to 2.5 s is outside of tier 'words"),
        (2, [0.1, 1.2, 2.4], "'' at 2.4 to 2.4 s is outside of tier 'bell', which is from 0.0 to"),
        (2, [1.2, 1.2, 2], "points 'ding' and ' dong ' are both at 1.2 s; a tier has one point"),
    ],
)
def test_moves_that_do_not_fit(make: Make, tier: int, times: list[float], message: str) -> None:
    path = make("a.TextGrid", LONG)
    with pytest.raises(ValueError, match=message):
        read(path, tier=tier).moved(times).write(path, overwrite=True)
    assert path.read_text() == LONG


@pytest.mark.parametrize(
    ("tier", "message"),
    [
        (4, r"found the tiers 1 'words .1.' .intervals., 2 'bell' .points., 3 'last'.*a tier 4"),
        (0, "expected a tier 0"),
        (-1, "expected a tier -1"),
        ("Bell", "expected one tier 'Bell'"),
    ],
)
def test_no_such_tier(make: Make, tier: int | str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read(make("a.TextGrid", LONG), tier=tier)


def test_which_tier(make: Make) -> None:
    two = LONG.replace("TextTier", "IntervalTier")
    two = two.replace("number = 0.10", "xmin = 0 xmax = 0.10")
    two = two.replace("number = 1.2", "xmin = 0.1 xmax = 1.2").replace(
        "number = 2", "xmin = 1.2 xmax = 2"
    )
    with pytest.raises(ValueError, match="expected one that is named; pass tier="):
        read(make("a.TextGrid", two))
    same = LONG.replace('"bell"', '"last"')
    with pytest.raises(ValueError, match="expected one tier 'last'"):
        read(make("b.TextGrid", same), tier="last")
    none = make("c.TextGrid", '"ooTextFile" "TextGrid" 0 1 <absent>')
    with pytest.raises(
        ValueError, match="found the tiers none; expected one that is named; pass tier="
    ):
        read(none)
    one = make(
        "d.TextGrid", '"ooTextFile" "TextGrid" 0 1 <exists> 1 "IntervalTier" "a" 0 1 1 0 1 "x"'
    )
    assert read(one).labels == ["x"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "end: found 'the end of the file', expected File type = \"ooTextFile\""),
        ("ooBinaryFile\bTextGrid", "end: found 'the end of the file'"),
        ('"ooTextFile" "Pitch"', "line 1: found 'ooTextFile Pitch', expected ooTextFile and TextG"),
        (
            '"ooTextFile" "TextGrid"\n0 "x"',
            "line 2: found '\"x\"', expected the end of the TextGrid",
        ),
        (LONG.replace("TextTier", "Tier"), "line 32: found 'Tier', expected IntervalTier or TextT"),
        (
            LONG.replace("size = 4", "size = 4.5"),
            "line 14: found '4.5', expected the number of ent",
        ),
        (LONG.replace("size = 4", "size = -1"), "line 14: found '-1', expected the number of ent"),
        (LONG.replace("size = 4", "size = 1e300"), "line 31: found '2', expected|line 32: found"),
        (
            LONG.replace("xmax = 0.50", "xmax = -1"),
            "line 17: found '-1', expected an end not before",
        ),
        (LONG.replace('"kept"', '"kept'), "line 55: found '\"kept.*', expected a closing quote"),
        (
            LONG.replace("size = 3 \nitem", "size = 5 \nitem"),
            "end: .* expected the class of a tier",
        ),
        (LONG[:900], "expected"),
    ],
)
def test_bad_content(make: Make, content: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read(make("a.TextGrid", content), tier=1)


@pytest.mark.parametrize(
    ("stamps", "options", "message"),
    [
        (Stamps([1, 2], ["a", "b"], [0, 1]), {}, "found stamps with and without a duration"),
        (Stamps([1], durations=[1]), {}, "found an interval without a label"),
        (Stamps([1, 1.5], ["a", "b"], [1, 1]), {}, "'a', to 2.0 s, and 'b', from 1.5 s, would ov"),
        (Stamps([1, 1], ["a", "b"]), {}, "points 'a' and 'b' are both at 1.0 s"),
        (Stamps([1], ["a"]), {"end": 0.5}, "'a' at 1.0 to 1.0 s is outside of tier 'stamps'"),
    ],
)
def test_stamps_that_do_not_fit(
    tmp_path: Path, stamps: Stamps, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        stamps.write(tmp_path / "a.TextGrid", **options)
