"""Engines: a pass over all sessions, beside what it consists of."""

from __future__ import annotations

import json
import os
import subprocess

from clock import Row
from library import ROOT

TITLE = "Engines"
ABOUT = """\
One pass over all sessions (value and gradient at one vector of parameters, 8 features in single
precision, sessions of 5,000 instances with 100 stamps, kept by the workers) on two cores: by
threads over Parquet files, by two processes of Dask, and by two executors of Spark. Beside it what
it consists of: the same work in one process on one core, divided by two, and the engine's own time
for as many tasks that do nothing, all in the same minutes. At last a pass that reads all files
again, as it does if they do not fit into memory. `make test-engines` prepares the environment."""

PYTHON = ROOT / ".venv-engines" / "bin" / "python"


def measure() -> list[Row]:
    """All rows, measured in the environment of the engines, on all cores."""
    if not PYTHON.exists():
        raise SystemExit("no .venv-engines: run `make test-engines` first")
    cores = json.loads(os.environ["PEERS_CORES"])
    script = ROOT / "benches" / "peers" / "engines_side.py"
    found = subprocess.run(
        [PYTHON, script],
        check=True,
        stdout=subprocess.PIPE,
        preexec_fn=lambda: os.sched_setaffinity(0, cores),
    )
    return [Row(**row) for row in json.loads(found.stdout.splitlines()[-1])]
