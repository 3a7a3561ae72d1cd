"""Measures the library beside others, section by section, and writes docs/performance.md.

    python benches/peers/run.py [SECTION ...] [--experiments SECONDS]

Every section runs in a process of its own, on one core, and leaves results/SECTION.json; the
page is made from all of these that are there. `make bench-peers` prepares everything.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import subprocess
import sys
import time

import machine
import page
from library import ROOT, program

RESULTS = ROOT / "benches" / "peers" / "results"
SECTIONS = ["inference", "free", "learning", "scale", "parts", "protocol", "commands", "engines"]

#: One thread wherever a library would take more.
ONE_THREAD = {
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "NUMBA_NUM_THREADS": "1",
    "JAX_PLATFORMS": "cpu",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sections", nargs="*", metavar="SECTION", help=", ".join(SECTIONS))
    parser.add_argument("--experiments", type=float, metavar="SECONDS", help="of make experiments")
    parser.add_argument("--page", action="store_true", help="write the page only, measure nothing")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    unknown = set(options.sections) - set(SECTIONS)
    if unknown:
        parser.error(f"no section {', '.join(sorted(unknown))}; there are {', '.join(SECTIONS)}")
    if options.here:
        return measure(options.sections[0])
    RESULTS.mkdir(parents=True, exist_ok=True)
    if options.experiments is not None:
        (RESULTS / "experiments.json").write_text(json.dumps({"seconds": options.experiments}))
    failed = [] if options.page else measure_all(options.sections or SECTIONS)
    page.write(RESULTS, SECTIONS)
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


def measure_all(sections: list[str]) -> list[str]:
    """Measures sections one after the other and says which failed."""
    environment = {**os.environ, **ONE_THREAD, "PEERS_PROGRAM": program()}
    environment["PEERS_CORES"] = json.dumps(sorted(os.sched_getaffinity(0)))
    if not environment.get("PEERS_TORCH"):
        print("torch not present: its rows are left out", flush=True)
    failed = []
    for section in sections:
        begun = time.perf_counter()
        command = [sys.executable, __file__, section, "--here"]
        if subprocess.run(command, env=environment).returncode:
            failed.append(section)
        print(f"{section}: {time.perf_counter() - begun:.0f} s", flush=True)
    return failed


def measure(section: str) -> None:
    """Measures one section in this process, on the last core: the first has most of the system's
    own work."""
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    of = importlib.import_module(section)
    rows = []
    for row in of.measure():
        print(page.line(row.json()), flush=True)
        rows.append(row.json())
    found = {"title": of.TITLE, "about": of.ABOUT, "rows": rows, "machine": machine.description()}
    (RESULTS / f"{section}.json").write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
