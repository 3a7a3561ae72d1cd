"""The text of a TextGrid, by position: which tiers there are, and where their entries stand."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import NamedTuple

from .numerals import number_text, parse_number
from .problems import bad_content

# A text in quotes; a flag; a comment to the end of the line; any other word.
TOKEN = re.compile(
    r'(?P<text>"[^"]*(?:""[^"]*)*")|(?P<flag><[^<>\s]*>)|(?P<comment>![^\n]*)|(?P<word>[^\s"!]+)'
    r'|(?P<open>")'
)
CLASSES = {"IntervalTier": True, "TextTier": False}


class Token(NamedTuple):
    """Something that Praat does not skip."""

    kind: str  # "number", "text" or "flag"
    text: str
    start: int
    end: int


@dataclass(frozen=True)
class Entry:
    """A point or an interval, and how its parts are written."""

    time: float
    end: float
    label: str
    time_text: str
    end_text: str
    label_text: str

    @staticmethod
    def of(time: float, end: float, label: str) -> Entry:
        """An entry that was in no file."""
        return Entry(time, end, label, number_text(time), number_text(end), quoted(label))

    @staticmethod
    def blank(
        time: float, end: float, time_text: str | None = None, end_text: str | None = None
    ) -> Entry:
        """An interval without a label."""
        return Entry(
            time, end, "", time_text or number_text(time), end_text or number_text(end), '""'
        )

    def at(self, time: float, end: float) -> Entry:
        """The same at another time."""
        return replace(
            self, time=time, end=end, time_text=number_text(time), end_text=number_text(end)
        )

    def until(self, after: Entry) -> Entry:
        """The same up to the beginning of the entry after it."""
        return replace(self, end=after.time, end_text=after.time_text)


@dataclass(frozen=True)
class Tier:
    """A tier; from `start` to `end` the text holds the number of its entries and the entries."""

    name: str
    intervals: bool
    begin: float
    finish: float
    start: int = 0
    end: int = 0
    entries: tuple[Entry, ...] = ()
    long: bool = True  # the form with words between the values


class Tokens:
    """The tokens of a text, one after the other."""

    def __init__(self, path: str, body: str) -> None:
        self.path = path
        self.body = body
        self.matches = TOKEN.finditer(body)

    def line(self, at: int) -> str:
        """A place for an error."""
        return "line " + str(self.body.count("\n", 0, at) + 1)

    def take(self, kind: str, expected: str) -> Token:
        """The next token, which must be of that kind."""
        for match in self.matches:
            token = self.token(match)
            if token is None:
                continue
            if token.kind != kind:
                raise bad_content(self.path, self.line(token.start), token.text, expected)
            return token
        raise bad_content(self.path, "end", "the end of the file", expected)

    def token(self, match: re.Match[str]) -> Token | None:
        """What a match is to Praat; None if it is skipped."""
        kind = match.lastgroup or ""
        if kind == "open":
            found = self.body[match.start() : match.start() + 100]
            raise bad_content(self.path, self.line(match.start()), found, "a closing quote")
        if kind == "word":
            kind = "number" if parse_number(match[0]) is not None else "comment"
        return None if kind == "comment" else Token(kind, match[0], *match.span())

    def number(self, expected: str) -> tuple[float, Token]:
        """The next number."""
        token = self.take("number", expected)
        return float(token.text), token

    def count(self, expected: str) -> tuple[int, Token]:
        """The next number, which must count something."""
        number, token = self.number(expected)
        if number < 0 or number != int(number):
            raise bad_content(self.path, self.line(token.start), token.text, expected)
        return int(number), token

    def string(self, expected: str) -> tuple[str, Token]:
        """The next text, without its quotes."""
        token = self.take("text", expected)
        return token.text[1:-1].replace('""', '"'), token


def read_tiers(path: str, body: str) -> list[Tier]:
    """The tiers of a TextGrid."""
    tokens = Tokens(path, body)
    kind = tokens.string('File type = "ooTextFile"')[0]
    what = tokens.string('Object class = "TextGrid"')[0]
    if not (kind.startswith("ooTextFile") and what.startswith("TextGrid")):
        raise bad_content(path, "line 1", f"{kind} {what}", "ooTextFile and TextGrid")
    tokens.number("the beginning of the TextGrid")
    tokens.number("the end of the TextGrid")
    if tokens.take("flag", "whether there are tiers: <exists>").text != "<exists>":
        return []
    count = tokens.count("the number of tiers")[0]
    tiers: list[Tier] = []
    # A list, not a range: an untrue number of tiers ends with the text.
    while len(tiers) < count:
        tiers.append(read_tier(tokens))
    return tiers


def read_tier(tokens: Tokens) -> Tier:
    """The next tier."""
    kind, token = tokens.string("the class of a tier")
    if kind not in CLASSES:
        expected = " or ".join(CLASSES)
        raise bad_content(tokens.path, tokens.line(token.start), kind, expected)
    intervals = CLASSES[kind]
    name, before = tokens.string("the name of a tier")
    begin, after = tokens.number("the beginning of a tier")
    long = "=" in tokens.body[before.end : after.start]
    finish = tokens.number("the end of a tier")[0]
    count, first = tokens.count("the number of entries of a tier")
    entries: list[Entry] = []
    end = first.end
    while len(entries) < count:
        entry, end = read_entry(tokens, intervals)
        entries.append(entry)
    return Tier(name, intervals, begin, finish, first.start, end, tuple(entries), long)


def read_entry(tokens: Tokens, intervals: bool) -> tuple[Entry, int]:
    """The next entry of a tier, and where it ends."""
    time, start = tokens.number("the time of an entry")
    end, stop = tokens.number("the end of an interval") if intervals else (time, start)
    label, text = tokens.string("the text of an entry")
    if end < time:
        expected = f"an end not before {start.text}"
        raise bad_content(tokens.path, tokens.line(stop.start), stop.text, expected)
    return Entry(time, end, label, start.text, stop.text, text.text), text.end


def quoted(text: str) -> str:
    """A text in quotes."""
    return '"' + text.replace('"', '""') + '"'
