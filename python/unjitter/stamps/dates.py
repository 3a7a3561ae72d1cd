"""Dates and times of day as text, to the nanosecond.

`datetime.fromisoformat` of Python 3.10 knows neither "Z" nor most numbers of decimals, and none
remembers how the text was spelled. Instants are counted as whole nanoseconds since 1970, in
which sums are exact; a time without a zone is counted as if it were UTC.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone

SECOND = 10**9
NAIVE_EPOCH = datetime(1970, 1, 1)
EPOCH = NAIVE_EPOCH.replace(tzinfo=timezone.utc)
MICROSECOND_DECIMALS = 6

ISO = re.compile(
    r"(?P<day>[0-9]{4}-[0-9]{2}-[0-9]{2})(?P<gap>[Tt ])(?P<minute>[0-9]{2}:[0-9]{2})"
    r"(?::(?P<second>[0-9]{2})(?:(?P<point>[.,])(?P<fraction>[0-9]{1,9}))?)?"
    r"(?P<zone> ?(?:[Zz]|[+-](?:[01][0-9]|2[0-3])(?::?[0-5][0-9])?))?"
)


@dataclass(frozen=True)
class Spelling:
    """How an instant was written, so that another can be written alike."""

    gap: str = "T"
    seconds: bool = True
    point: str = "."
    decimals: int = 0
    zone: str = ""
    offset: timedelta = timedelta(0)

    def text(self, nanoseconds: int) -> str:
        """An instant in this spelling, with up to microseconds where it had fewer decimals."""
        decimals = max(self.decimals, MICROSECOND_DECIMALS)
        unit = SECOND // 10**decimals
        rounded = (nanoseconds + unit // 2) // unit * unit
        whole, fraction = divmod(rounded, SECOND)
        local = shifted(NAIVE_EPOCH, whole + self.offset // timedelta(seconds=1))
        digits = f"{fraction:09d}"[:decimals].rstrip("0").ljust(self.decimals, "0")
        text = local.date().isoformat() + self.gap + f"{local:%H:%M}"
        if self.seconds or digits or local.second:
            text += f":{local:%S}"
        if digits:
            text += self.point + digits
        return text + self.zone


def parse(text: str) -> tuple[int, Spelling] | None:
    """Nanoseconds since 1970 and the spelling, or None if `text` is no ISO-8601 date with time.

    >>> nanoseconds, spelling = parse("2024-05-31 14:03:27.5+02:00")
    >>> spelling.text(nanoseconds + 10**9)
    '2024-05-31 14:03:28.5+02:00'
    """
    match = ISO.fullmatch(text)
    if not match:
        return None
    fraction = match["fraction"] or ""
    zone = match["zone"] or ""
    offset = parse_offset(zone)
    try:
        stem = f"{match['day']}T{match['minute']}:{match['second'] or '00'}"
        local = datetime.strptime(stem, "%Y-%m-%dT%H:%M:%S")
        whole = (local - offset - NAIVE_EPOCH) // timedelta(seconds=1)
    except (ValueError, OverflowError):
        return None
    spelling = Spelling(
        gap=match["gap"],
        seconds=match["second"] is not None,
        point=match["point"] or ".",
        decimals=len(fraction),
        zone=zone,
        offset=offset,
    )
    return whole * SECOND + int(fraction.ljust(9, "0")), spelling


def parse_offset(zone: str) -> timedelta:
    """The offset from UTC that "Z", "+02", "+0200" or "+02:00" spells; zero if there is none."""
    digits = zone.strip().lstrip("+-Zz").replace(":", "").ljust(4, "0")
    offset = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return -offset if "-" in zone else offset


def shifted(origin: datetime, seconds: int) -> datetime:
    """A time some seconds from another; ValueError beyond the years 1 to 9999."""
    try:
        return origin + timedelta(seconds=seconds)
    except OverflowError as error:
        raise ValueError(f"{seconds} s from {origin} is outside of the years 1 to 9999") from error


def to_nanoseconds(instant: datetime) -> int:
    """Nanoseconds since 1970 of a datetime; one without a zone is taken as UTC."""
    epoch = NAIVE_EPOCH if instant.tzinfo is None else EPOCH
    return (instant - epoch) // timedelta(microseconds=1) * 1000


def to_datetime(nanoseconds: int, spelling: Spelling) -> datetime:
    """The datetime of an instant, cut to microseconds, in the zone of its spelling, if any."""
    zone = timezone(spelling.offset) if spelling.zone else None
    instant = NAIVE_EPOCH + spelling.offset + timedelta(microseconds=nanoseconds // 1000)
    return instant.replace(tzinfo=zone)


def as_origin(origin: datetime | str | float | None) -> datetime | None:
    """What users may give as `origin`: a datetime, an ISO-8601 text, or UNIX seconds.

    >>> as_origin("2024-05-31T14:03:27Z")
    datetime.datetime(2024, 5, 31, 14, 3, 27, tzinfo=datetime.timezone.utc)
    """
    if origin is None or isinstance(origin, datetime):
        return origin
    if isinstance(origin, str):
        parsed = parse(origin)
        if parsed is None:
            raise ValueError(f"origin: found {origin!r}, expected a date like 2024-05-31T14:03:27")
        return to_datetime(*parsed)
    try:
        return EPOCH + timedelta(seconds=float(origin))
    except (OverflowError, ValueError) as error:
        raise ValueError(f"origin: found {origin!r}, expected UNIX seconds") from error
