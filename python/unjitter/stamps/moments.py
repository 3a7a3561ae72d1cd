"""Origins of stamps: dates of Python, and the microseconds that the library counts."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import TypeAlias

from .. import _core

NAIVE_EPOCH = datetime(1970, 1, 1)
EPOCH = NAIVE_EPOCH.replace(tzinfo=timezone.utc)

# Microseconds since 1970, and the seconds that the zone is ahead of UTC; None if it is unknown.
Moment: TypeAlias = tuple[int, int | None]


def to_datetime(moment: Moment) -> datetime:
    """The date of a moment."""
    microseconds, offset = moment
    if offset is None:
        return NAIVE_EPOCH + timedelta(microseconds=microseconds)
    zone = timezone(timedelta(seconds=offset))
    return (EPOCH + timedelta(microseconds=microseconds)).astimezone(zone)


def to_moment(origin: datetime | str | float) -> Moment:
    """What users may give as `origin`: a datetime, an ISO-8601 text, or UNIX seconds.

    >>> to_datetime(to_moment("2024-05-31T14:03:27Z"))
    datetime.datetime(2024, 5, 31, 14, 3, 27, tzinfo=datetime.timezone.utc)
    """
    if isinstance(origin, str):
        return _core.read_moment(origin)
    if not isinstance(origin, datetime):
        try:
            origin = EPOCH + timedelta(seconds=float(origin))
        except (OverflowError, ValueError) as error:
            raise ValueError(f"origin: found {origin!r}, expected UNIX seconds") from error
    offset = origin.utcoffset()
    since = origin - (NAIVE_EPOCH if offset is None else EPOCH)
    seconds = None if offset is None else int(offset.total_seconds())
    return since // timedelta(microseconds=1), seconds
