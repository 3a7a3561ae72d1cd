"""The loss on a GPU: accuracy beside the core, timings, memory, and what must work there.

    python benches/gpu/run.py --wheel target/gpu --out gpu.json

needs a machine with a GPU, PyTorch with Triton, and NumPy; nothing is installed or fetched. The
wheel is that of `make gpu-wheel`; without one the installed library is measured. Every part that
fails is told in the file, and the others go on. `--page gpu.json` writes the section of
docs/performance.md from such a file, on any machine.
"""

from __future__ import annotations

import argparse
import datetime
import json
import platform
import sys
import traceback
from pathlib import Path

import page

ROOT = Path(__file__).resolve().parents[2]
COMMAND = "make gpu-wheel && python benches/gpu/run.py --wheel target/gpu --out gpu.json"
PAGE = ROOT / "docs" / "performance.md"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--wheel", type=Path, help="a wheel, or a folder with one")
    parser.add_argument("--out", type=Path, help="where results go, as JSON")
    parser.add_argument("--page", type=Path, help="only write the docs' section, from this JSON")
    parser.add_argument("--quick", action="store_true", help="tiny sizes, on the CPU: no figures")
    given = parser.parse_args()
    if given.page is not None:
        text = page.section(json.loads(given.page.read_text()))
        PAGE.write_text(page.put(PAGE.read_text(), text))
        return 0
    found = measure(given)
    if given.out is None:
        print(page.section(found))
    failed = [row for row in found.get("accuracy", []) if not row["is_met"]]
    for row in failed:
        print("not accurate:", row)
    told = {name: how for name, how in found.get("smoke", {}).items() if how != "ok"}
    for name, how in {**told, **found["errors"]}.items():
        print(f"{name} failed:\n{how}")
    return 1 if failed or told or found["errors"] else 0


def measure(given: argparse.Namespace) -> dict:
    """All parts, each of which may fail alone; the file is written after each."""
    import checks
    import library
    import timings
    import torch

    device = "cpu" if given.quick else "cuda"
    ours = library.load(given.wheel)
    ours.path.DEVICES = {device}
    parts = {
        "smoke": lambda: {} if given.quick else checks.smoke(ours, device),
        "accuracy": lambda: _judged(checks.accuracy(ours, device, given.quick)),
        "timings": lambda: timings.table(ours, device, given.quick),
        "tuning": lambda: [] if given.quick else timings.tuning(ours, device),
    }
    found: dict = {"command": COMMAND, "machine": _machine(torch), "errors": {}}
    for name, part in parts.items():
        try:
            found[name] = part()
        except Exception:
            found["errors"][name] = traceback.format_exc(limit=-4)
        print(name, json.dumps(found.get(name)), flush=True)
        if given.out is not None:
            given.out.write_text(json.dumps(found, indent=1))
    return found


def _judged(rows: list[dict]) -> list[dict]:
    import checks

    limits = {"value": checks.VALUE, "d_logits": checks.GRADIENT, "d_params": checks.GRADIENT}
    for row in rows:
        row["is_met"] = all(row[key] <= limit for key, limit in limits.items())
    return rows


def _machine(torch) -> dict[str, str]:
    told = {"torch": torch.__version__, "python": platform.python_version()}
    told["day"] = datetime.date.today().isoformat()
    if torch.cuda.is_available():
        told = {"GPU": torch.cuda.get_device_name(), **told}
    return told


if __name__ == "__main__":
    sys.exit(main())
