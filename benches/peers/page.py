"""docs/performance.md and docs/performance.svg, from what the sections left."""

from __future__ import annotations

import json
from pathlib import Path

import figure

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "performance.md"
#: What cannot be measured again, since the code before is gone.
PAID = Path(__file__).with_name("paid.md")

HEAD = """\
# Performance

Side-by-side measurements, written by `make bench-peers` (see `benches/peers`). Every figure is a
ratio of two things that took turns in the same minutes on the same data; with it stand its
quartiles over the rounds and, as context, the absolute times.
`make bench-peers SECTIONS="inference"` runs one section again and leaves the others as they are.

![Every goal and where we stand](performance.svg)

"""

#: A machine with more than this to do besides gives noisy figures.
QUIET = 1.2


def write(results: Path, sections: list[str]) -> None:
    """Writes page and figure from the sections that were measured."""
    found = {}
    for section in sections:
        path = results / f"{section}.json"
        if path.exists():
            found[section] = json.loads(path.read_text())
    text = HEAD + "".join(_section(name, of) for name, of in found.items())
    missing = [section for section in sections if section not in found]
    if missing:
        text += f"Not measured yet: {', '.join(missing)}.\n\n"
    text += _experiments(results) + _gpu() + PAID.read_text() + _machines(found)
    PAGE.write_text(text)
    figure.draw(found, PAGE.with_suffix(".svg"))


def _gpu() -> str:
    """The section that benches/gpu/run.py wrote, as it stands: it takes a machine of its own."""
    begin, end = "<!-- gpu: begin -->", "<!-- gpu: end -->"
    page = PAGE.read_text() if PAGE.exists() else ""
    if begin not in page:
        return ""
    return begin + page.split(begin, 1)[1].split(end, 1)[0] + end + "\n\n"


def _section(name: str, of: dict) -> str:
    lines = [f"## {of['title']}", "", of["about"], "", f'`make bench-peers SECTIONS="{name}"`']
    lines += ["", "| case | ours | beside it | | ratio | quartiles | goal | |"]
    lines.append("|---|--:|---|--:|--:|--:|--:|---|")
    return "\n".join(lines + [_line(row) for row in of["rows"]]) + "\n\n"


def _line(row: dict) -> str:
    goal = is_met = ""
    if row["goal"] is not None:
        sign = "≥" if row["way"] == "peer / ours" else "≤"
        goal, is_met = f"{sign} {row['goal']:g}", "met" if met(row) else "not met"
    cells = [row["case"], seconds(row["ours_seconds"]), row["peer"], seconds(row["peer_seconds"])]
    cells += [
        f"{_ratio(row['ratio'])} {_unit(row)}",
        f"{_ratio(row['low'])} to {_ratio(row['high'])}",
    ]
    note = "; ".join(part for part in [is_met, row["note"]] if part)
    return "| " + " | ".join([*cells, goal, note]) + " |"


def line(row: dict) -> str:
    """A row for the terminal."""
    return _line(row).strip("| ")


def _unit(row: dict) -> str:
    return row["unit"] or ("× faster" if row["way"] == "peer / ours" else "×")


def met(row: dict) -> bool:
    """Whether a row reaches its goal."""
    is_least = row["way"] == "peer / ours"
    return row["ratio"] >= row["goal"] if is_least else row["ratio"] <= row["goal"]


def _ratio(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def seconds(value: float | None) -> str:
    """A time with three digits and its unit."""
    if value is None:
        return ""
    for unit, scale in [("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)]:
        if value >= scale:
            return f"{value / scale:.3g} {unit}"
    return f"{value / 1e-9:.3g} ns"


def _experiments(results: Path) -> str:
    path = results / "experiments.json"
    text = "## All experiments of the paper\n\n"
    if not path.exists():
        command = "python benches/peers/run.py --page --experiments SECONDS"
        return (
            text
            + f"`make experiments` was not timed with these; `{command}` writes its time here.\n\n"
        )
    minutes = json.loads(path.read_text())["seconds"] / 60
    return (
        text + f"`make experiments`, all six on both simulated datasets: {minutes:.1f} minutes.\n\n"
    )


def _machines(found: dict) -> str:
    lines = ["## Measured on", ""]
    for name, of in found.items():
        where = of["machine"]
        noisy = ", **on a busy machine: noisy**" if where["load"] > QUIET else ""
        lines.append(
            f"- {name}: {where['processor']}, {where['cores']} cores, {where['caches']}; "
            f"{where['date']}, commit {where['commit']}, load {where['load']}{noisy}"
        )
    versions = [of["machine"]["versions"] for of in found.values()]
    if versions:
        told = ", ".join(f"{name} {version}" for name, version in versions[-1].items())
        lines += ["", f"Versions: {told}."]
    return "\n".join(lines) + "\n"
