"""Scale: time and memory per instance must not grow with the data."""

from __future__ import annotations

from clock import Row, alternate, cost
from data import fitted, session, sessions
from library import Library

TITLE = "Scale"
ABOUT = """\
One evaluation of the objective with four features and 4 % as many stamps as instances, spread of
two spacings, one thread: time per instance with ten million instances beside that with a hundred
thousand, in one session and in sessions of 100. Memory is what the process holds at most during
preparation and evaluation, beyond the sessions with their features, times and stamps."""

SPREAD, COLUMNS, SHARE = 2.0, 4, 0.04


def measure() -> list[Row]:
    """All rows."""
    few, many = 100_000, 10_000_000
    one = [session(count, SPREAD, COLUMNS, SHARE) for count in [few, many]]
    rows = _grown("one session", *one)
    del one
    short = [sessions(count // 100, 100, SPREAD, COLUMNS, SHARE) for count in [few, many]]
    return rows + _grown("sessions of 100", *short)


def _grown(name: str, small: dict, large: dict) -> list[Row]:
    case = {"kind": "objective", "columns": COLUMNS}
    params = {"params": fitted(COLUMNS, SPREAD)}
    counts = {"small": len(small["times"]), "large": len(large["times"])}
    with Library(case, small | params) as few, Library(case, large | params) as many:
        extra = (many.run()["peak"] - many.loaded["resident"]) / counts["large"]
        sides = {"small": few.side(), "large": many.side()}
        times = alternate(sides, rounds=9, seconds=25.0)
    each = {size: times[size] / counts[size] for size in counts}
    note = f"{1e9 * sorted(each['large'])[len(each['large']) // 2]:.1f} ns per instance"
    time = cost(
        f"{counts['large']:,} instances, {name}, each",
        f"{counts['small']:,} instances",
        each["large"],
        each["small"],
        goal=1.2,
        note=note,
    )
    title = f"{counts['large']:,} instances, {name}, memory each"
    memory = Row(title, "", "ours / peer", None, None, extra, extra, extra, 64.0, unit="bytes")
    return [time, memory]
