"""The command line: how fast it starts, and tables that are larger than memory."""

from __future__ import annotations

import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
from clock import Row, Side, alternate, cost, timed
from library import COMMAND, Library

TITLE = "Start-up and streaming"
ABOUT = """\
`unjitter --help` is beside `true`, which shows what starting any process takes. Tables have a
session, a time and ten features per row. `unjitter predict` reads a million rows, writes a
million probabilities and is beside `pandas.read_csv` of the same file, which only reads;
"reading" is what `unjitter fit` does before it fits: read, check and sort into sessions. Memory
is the peak of `unjitter predict`: a table ten times longer must not take more."""

ROWS = 1_000_000
PER_SESSION = 1000
COLUMNS = 10


def measure() -> list[Row]:
    """All rows."""
    with tempfile.TemporaryDirectory(prefix="peers-") as folder:
        large, small = Path(folder) / "large", Path(folder) / "small"
        _write(large, ROWS)
        _write(small, ROWS // 10)
        return [_start(), *_tables(large, small)]


def _start() -> Row:
    sides = {"ours": _silent([COMMAND, "--help"]), "true": _silent(["true"])}
    times = alternate(sides, rounds=50, seconds=20.0)
    row = cost("unjitter --help", "true", times["ours"], times["true"])
    row.note = f"{row.ratio:.2g} × `true`"
    row.low, row.ratio, row.high = (1e3 * np.quantile(times["ours"], [0.25, 0.5, 0.75])).tolist()
    row.unit, row.goal = "ms", 10.0
    return row


def _tables(large: Path, small: Path) -> list[Row]:
    model = small / "model.json"
    fit = ["fit", small, "--output", model, "--max-iterations", "5", "--restarts", "0"]
    subprocess.run([COMMAND, "--quiet", *fit], check=True, capture_output=True)
    predict = [COMMAND, "predict", large, "--model", model]
    table = large / "instances.csv"
    with Library({"kind": "read", "dataset": str(large)}, {}) as ours:
        sides = {
            "predict": _silent(predict),
            "read": ours.side(),
            "pandas": timed(lambda: pd.read_csv(table)),
        }
        times = alternate(sides, rounds=7, seconds=25.0)
    rows = [
        cost(f"{name}, {ROWS:,} rows", "pandas.read_csv", times[side], times["pandas"], goal=2.0)
        for side, name in [("predict", "predict"), ("read", "reading for a fit")]
    ]
    few, many = (_peak([COMMAND, "predict", of, "--model", model]) for of in [small, large])
    note = f"{few / 1e6:.0f} MB and {many / 1e6:.0f} MB"
    title, ratio = f"memory of predict, {ROWS:,} rows", many / few
    beside = f"{ROWS // 10:,} rows"
    # Flat: the same to within the noise of an allocator.
    flat = Row(title, beside, "ours / peer", None, None, ratio, ratio, ratio, 1.1, note)
    return [*rows, flat]


def _silent(command: list) -> Side:
    # Each start counts, not the shortest of several.
    return timed(lambda: subprocess.run(command, stdout=subprocess.DEVNULL, check=True), once=1.0)


def _peak(command: list) -> int:
    """Most bytes that a command held, by looking often: what the system says of a finished child
    would include this process."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    peak = 0
    while process.poll() is None:
        for line in Path(f"/proc/{process.pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                peak = 1024 * int(line.split()[1])
        time.sleep(0.002)
    return peak


def _write(folder: Path, rows: int) -> None:
    """A dataset whose features repeat from session to session."""
    folder.mkdir()
    features = np.random.default_rng(0).standard_normal((PER_SESSION, COLUMNS))
    texts = [",".join(repr(float(x)) for x in row) for row in features]
    names = ",".join(f"x{column}" for column in range(COLUMNS))
    with open(folder / "instances.csv", "w") as table, open(folder / "events.csv", "w") as events:
        table.write(f"session,time,{names}\n")
        events.write("session,time\n")
        for session in range(rows // PER_SESSION):
            table.writelines(f"s{session},{t * 0.5},{text}\n" for t, text in enumerate(texts))
            events.writelines(f"s{session},{t * 10.0 + 0.3}\n" for t in range(PER_SESSION // 20))
