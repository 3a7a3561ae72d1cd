"""One figure: time against length for inference, and every goal with where we stand."""

from __future__ import annotations

import re
from pathlib import Path

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams.update({"svg.hashsalt": "peers", "font.size": 9})

import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter  # noqa: E402

OURS, OTHERS, GOAL = "#0b6e99", ["#c9643b", "#8a6fb0", "#7a7a7a"], "#444444"


def draw(found: dict, path: Path) -> None:
    """Draws to `path`; its ending says in which format."""
    goals = [row for of in found.values() for row in of["rows"] if row["goal"] is not None]
    height = 1.2 + max(3.2, 0.24 * len(goals))
    drawing, (left, right) = plt.subplots(
        1, 2, figsize=(11, height), width_ratios=[1, 1.15], layout="constrained"
    )
    _times(left, found.get("inference", {"rows": []})["rows"])
    _goals(right, goals)
    drawing.savefig(path, metadata={"Date": None})
    plt.close(drawing)


def _times(axes, rows: list[dict]) -> None:
    curves: dict[str, dict[int, float]] = {}
    for row in rows:
        parsed = re.fullmatch(r"([\d,]+) instances, spread 2(, each)?", row["case"])
        if parsed:
            length = int(parsed[1].replace(",", ""))
            each = length if parsed[2] else 1
            curves.setdefault("unjitter", {})[length] = each * row["ours_seconds"]
            if row["way"] == "peer / ours":
                curves.setdefault(row["peer"], {})[length] = row["peer_seconds"]
    colours = iter([OURS, *OTHERS])
    for name, curve in curves.items():
        lengths = sorted(curve)
        times = [curve[length] for length in lengths]
        axes.loglog(lengths, times, "o-", color=next(colours), label=name)
    axes.set(xlabel="instances (5 % as many stamps, spread 2)", ylabel="seconds")
    axes.set_title("Log evidence and all gradients, one thread", loc="left")
    axes.grid(alpha=0.3)
    if curves:
        axes.legend(frameon=False)


def _goals(axes, rows: list[dict]) -> None:
    names = [" · ".join(filter(None, [row["case"], row["peer"]])) for row in rows]
    at = range(len(rows))
    better = [_better(row, row["ratio"]) for row in rows]
    low, high = ([_better(row, row[end]) for row in rows] for end in ["low", "high"])
    axes.hlines(at, low, high, color=OURS, alpha=0.5, lw=3)
    axes.scatter(better, at, color=[OURS if b >= 1 else OTHERS[0] for b in better], zorder=3, s=22)
    axes.axvline(1.0, color=GOAL, lw=1)
    axes.set_yticks(list(at), names, fontsize=7)
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: _times_better(value)))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set(xlabel="times better than the goal (1: just met)")
    axes.set_title("Every goal, and where we stand", loc="left")
    axes.grid(alpha=0.3, axis="x")


def _times_better(value: float) -> str:
    return f"{value:g}" if value >= 1 else f"1/{1 / value:g}"


def _better(row: dict, ratio: float) -> float:
    return ratio / row["goal"] if row["way"] == "peer / ours" else row["goal"] / ratio
