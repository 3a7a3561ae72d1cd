"""The section on GPUs of docs/performance.md, from what was measured."""

from __future__ import annotations

BEGIN, END = "<!-- gpu: begin -->", "<!-- gpu: end -->"

ABOUT = """\
Forward and backward in milliseconds, the median of 9 turns of 5 each; 5 % stamps, spread of two
spacings, windows of 33 instances. "core" is the same loss on the CPU with logits on the GPU, as for
parts without a kernel. CTC is torch's own on the GPU, another function of the same size. A step
is forward and backward of a GRU of two layers, 64 wide, both ways, with the penalty; its last
columns say what ours takes longer than with cross-entropy. "graph" is a CUDA graph of the loss
alone: the GPU's part.
"""


def section(found: dict) -> str:
    """Markdown, with figures only where they were measured."""
    lines = ["## On a GPU", "", ABOUT.strip(), "", f"`{found['command']}`", ""]
    columns = ["batch × length", "core", "free", "ordered", "CTC", "graph, free", "graph, ordered"]
    columns += ["step, cross-entropy", "step, free", "step, ordered", "added, free", "ordered"]
    lines += ["| " + " | ".join(columns) + " |", "|" + "--:|" * len(columns)]
    lines += [_row(row) for row in found.get("timings", [])]
    lines += ["", *_accuracy(found.get("accuracy", [])), *_memory(found.get("timings", []))]
    checks = found.get("smoke", {})
    if checks:
        names = {"ok": [], "not": []}
        for name, told in checks.items():
            names["ok" if told == "ok" else "not"].append(name.replace("_", " "))
        failed = f"; failed: {', '.join(names['not'])}" if names["not"] else ""
        lines.append(f"- Checked besides: {', '.join(names['ok'])}{failed}.")
    machine = ", ".join(f"{name} {value}" for name, value in found["machine"].items())
    return "\n".join([*lines, f"- Measured on {machine}.", ""])


def _row(row: dict) -> str:
    keys = ["core", "free", "ordered", "ctc", "on the gpu, free", "on the gpu, ordered"]
    keys += ["step, cross-entropy", "step, free", "step, ordered"]
    cells = [f"{row[key]:.3g}" if key in row else "" for key in keys]
    plain = row["step, cross-entropy"]
    added = [f"{100 * (row[f'step, {own}'] / plain - 1):+.0f} %" for own in ["free", "ordered"]]
    return "| " + " | ".join([f"{row['batch']} × {row['length']}", *cells, *added]) + " |"


def _accuracy(rows: list[dict]) -> list[str]:
    if not rows:
        return []
    worst = {key: max(rows, key=lambda row: row[key]) for key in ["value", "d_logits", "d_params"]}
    told = ", ".join(f"{worst[key][key]:.1g} in {key}" for key in worst)
    return [f"- Largest errors beside the core in double precision, {len(rows)} batches: {told}."]


def _memory(rows: list[dict]) -> list[str]:
    found = [row[key] for row in rows for key in row if key.startswith("bytes per cell")]
    return [f"- Memory: {min(found):.0f} to {max(found):.0f} bytes per cell."] if found else []


def put(page: str, text: str) -> str:
    """The page with this section in place of its last one, or before what paid."""
    block = f"{BEGIN}\n\n{text}\n{END}\n\n"
    if BEGIN in page:
        head, rest = page.split(BEGIN, 1)
        return head + block + rest.split(END, 1)[1].lstrip("\n")
    mark = "## What paid"
    return page.replace(mark, block + mark, 1)
