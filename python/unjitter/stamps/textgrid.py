"""Praat TextGrids: the stamps are the points of one tier, or its labelled intervals.

Praat takes free-standing numbers, texts in quotes and flags in angle brackets from a TextGrid,
and skips all other words as comments. So does this reader, which therefore knows the long and
the short form alike, and can put moved stamps back between everything else as it was. (The
`praatio` package reads by patterns instead: it drops minus signs and exponents, and strips
labels.)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np

from .files import Text, load_text
from .numerals import number_text
from .source import BoolArray, FloatArray, Found, Source
from .stamps import Stamps
from .textgrid_text import Entry, Tier, quoted, read_tiers

NAME = "textgrid"
DESCRIPTION = "Praat TextGrid (.TextGrid): a point tier, or the labelled intervals of a tier"

# Borders closer than this are one: far below what Praat shows, far above rounding of sums.
SAME_BORDER = 1e-9
END_DECIMALS = 9


class Grid(Source):
    """A TextGrid, and the tier that holds the stamps."""

    def __init__(self, file: Text, found: Found, tier: Tier, entries: Sequence[Entry]) -> None:
        super().__init__(NAME, file.path, found)
        self.file = file
        self.tier = tier
        self.entries = entries

    def render(self, times: FloatArray, kept: BoolArray) -> Iterable[bytes]:
        body = self.file.body
        if not kept.all() or (times != self.found.times).any():
            entries = self.rearranged(times, kept)
            newline = "\r\n" if "\r\n" in body else "\n"
            tier = tier_text(entries, self.tier.intervals, self.tier.long, newline)
            body = body[: self.tier.start] + tier + body[self.tier.end :]
        yield self.file.encode(body)

    def rearranged(self, times: FloatArray, kept: BoolArray) -> list[Entry]:
        """The entries of the tier, in order of time, blanks between intervals filled."""
        entries = []
        for i in np.flatnonzero(kept).tolist():
            entry, time = self.entries[i], float(times[i])
            if time != self.found.times[i]:
                end = round(time + (entry.end - entry.time), END_DECIMALS)
                entry = entry.at(time, end if self.tier.intervals else time)
            entries.append(entry)
        entries.sort(key=lambda entry: entry.time)
        return arranged(self.file.path, self.tier, entries)


def read(path: str, *, tier: str | int | None = None, encoding: str | None = None) -> Stamps:
    """Read one tier of a TextGrid.

    Parameters
    ----------
    path : str
        The file, in the long or the short text form.
    tier : str or int, optional
        The name of the tier, or its number, from 1 as Praat counts. Needed unless there is just
        one tier, or just one of points.
    encoding : str, optional
        UTF-8, or UTF-16 with a byte order mark, if not given.
    """
    file = load_text(path, encoding)
    tiers = read_tiers(path, file.body)
    chosen = choose(path, tiers, tier)
    # A blank interval is the space between two labelled ones. A point is a point even if blank.
    entries = [e for e in chosen.entries if e.label or not chosen.intervals]
    found = Found.of(
        [entry.time for entry in entries],
        [entry.label for entry in entries],
        [entry.end - entry.time for entry in entries],
    )
    return Stamps._of(Grid(file, found, chosen, entries))


def choose(path: str, tiers: Sequence[Tier], wanted: str | int | None) -> Tier:
    """The tier that the user wants."""
    listed = ", ".join(
        f"{number} {tier.name!r} ({'intervals' if tier.intervals else 'points'})"
        for number, tier in enumerate(tiers, 1)
    )
    if wanted is None:
        points = [tier for tier in tiers if not tier.intervals]
        candidates = list(tiers) if len(tiers) == 1 else points
        expected = "tier= to say which"
    elif isinstance(wanted, str):
        candidates = [tier for tier in tiers if tier.name == wanted]
        expected = f"one tier {wanted!r}"
    else:
        candidates = list(tiers[wanted - 1 : wanted]) if wanted > 0 else []
        expected = f"a tier {wanted}"
    if len(candidates) != 1:
        raise ValueError(f"{path}: found the tiers {listed or 'none'}; expected {expected}")
    return candidates[0]


def arranged(path: str, tier: Tier, entries: Sequence[Entry]) -> list[Entry]:
    """The entries as Praat can read them, or an error that says why it could not."""
    check_inside(path, tier, entries)
    if tier.intervals:
        return filled(path, tier, entries)
    for before, after in pairwise(entries):
        # Praat would drop the second without a word.
        if before.time == after.time:
            raise ValueError(
                f"{path}: points {before.label!r} and {after.label!r} are both at {after.time} s; "
                f"a tier has one point at a time"
            )
    return list(entries)


def check_inside(path: str, tier: Tier, entries: Iterable[Entry]) -> None:
    """Raise if an entry is outside of its tier, which Praat would not read."""
    for entry in entries:
        if entry.time < tier.begin - SAME_BORDER or entry.end > tier.finish + SAME_BORDER:
            raise ValueError(
                f"{path}: {entry.label!r} at {entry.time} to {entry.end} s is outside of tier "
                f"{tier.name!r}, which is from {tier.begin} to {tier.finish} s"
            )


def filled(path: str, tier: Tier, entries: Sequence[Entry]) -> list[Entry]:
    """Intervals from border to border of the tier, with blank ones between."""
    borders = [Entry.blank(tier.begin, tier.begin), *entries, Entry.blank(tier.finish, tier.finish)]
    complete: list[Entry] = []
    for before, after in pairwise(borders):
        gap = after.time - before.end
        if gap < -SAME_BORDER:
            raise ValueError(
                f"{path}: intervals {before.label!r}, to {before.end} s, and {after.label!r}, from "
                f"{after.time} s, would overlap; intervals of a tier cannot"
            )
        if gap > SAME_BORDER:
            complete.append(Entry.blank(before.end, after.time, before.end_text, after.time_text))
        elif complete and gap:
            complete[-1] = complete[-1].until(after)
        complete.append(after)
    return complete[:-1]


def tier_text(entries: Sequence[Entry], intervals: bool, long: bool, newline: str) -> str:
    """The number of entries and the entries, without what stands around them."""
    kind = "intervals" if intervals else "points"
    names = ("xmin", "xmax", "text") if intervals else ("number", "mark")
    text = str(len(entries))
    for number, entry in enumerate(entries, 1):
        ends = (entry.end_text,) if intervals else ()
        values = (entry.time_text, *ends, entry.label_text)
        if long:
            fields = [f"            {name} = {v}" for name, v in zip(names, values, strict=True)]
            text += f" {newline}        {kind} [{number}]:{newline}" + f" {newline}".join(fields)
        else:
            text += "".join(newline + value for value in values)
    return text


def compose(stamps: Stamps, *, tier: str = "stamps", end: float | None = None) -> Iterable[bytes]:
    """A TextGrid with one tier: points, or intervals if the stamps last.

    Parameters
    ----------
    stamps : Stamps
        What to write.
    tier : str
        The name of the tier.
    end : float, optional
        Where the TextGrid ends, in seconds; at the end of the last stamp if not given.
    """
    intervals = bool(np.any(stamps.durations > 0))
    if intervals and not np.all(stamps.durations > 0):
        raise ValueError(
            "TextGrid: found stamps with and without a duration, expected one or other"
        )
    ends = stamps.times + stamps.durations
    begin = min(0.0, float(stamps.times.min(initial=0.0)))
    finish = float(ends.max(initial=begin)) if end is None else float(end)
    entries = [
        Entry.of(time, finish_time, label)
        for time, finish_time, label in zip(
            stamps.times.tolist(), ends.tolist(), stamps.labels, strict=True
        )
    ]
    if intervals and not all(stamps.labels):
        raise ValueError("TextGrid: found an interval without a label, which would be blank")
    where = Tier(tier, intervals, begin, finish)
    entries = arranged("TextGrid", where, entries)
    span = f"xmin = {number_text(begin)} \n{{0}}xmax = {number_text(finish)} \n"
    body = (
        'File type = "ooTextFile"\nObject class = "TextGrid"\n\n'
        + span.format("")
        + "tiers? <exists> \nsize = 1 \nitem []: \n    item [1]:\n"
        + f'        class = "{"IntervalTier" if intervals else "TextTier"}" \n'
        + f"        name = {quoted(tier)} \n        "
        + span.format("        ")
        + f"        {'intervals' if intervals else 'points'}: size = "
        + tier_text(entries, intervals, long=True, newline="\n")
        + " \n"
    )
    yield Text("", "", "", "utf-8").encode(body)
