"""The library, in a process of its own: `crates/unjitter/benches/peer` is the other end."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from clock import Side, repeats

ROOT = Path(__file__).resolve().parents[2]

#: The command line, as `make bench-peers` builds it.
COMMAND = ROOT / "target" / "release" / "unjitter"


def cores() -> set[int]:
    """The cores that this machine lends us."""
    return set(json.loads(os.environ["PEERS_CORES"]))


class Served:
    """A program that is told a case, and then to run it: the library, or PyTorch's side."""

    def __init__(self, command: list[str], case: dict, arrays: dict, threads: int = 1) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="peers-"))
        for name, values in arrays.items():
            np.asarray(values, dtype="<f8").tofile(self.folder / name)
        # One thread stays with the other side on one core; more may spread out.
        here = os.sched_getaffinity(0)
        if threads > 1:
            os.sched_setaffinity(0, cores())
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        os.sched_setaffinity(0, here)
        self.loaded = self._ask({**case, "folder": str(self.folder)})

    def __enter__(self) -> Served:
        return self

    def __exit__(self, *_) -> None:
        self.process.stdin.close()
        self.process.wait()
        shutil.rmtree(self.folder)

    def _ask(self, question: dict) -> dict:
        self.process.stdin.write(json.dumps(question) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"the other side failed at {question}")
        return json.loads(line)

    def run(self, what: str = "evaluate", repeat: int = 1, threads: int = 1) -> dict:
        """Runs `what`; the answer has nanoseconds, value and memory."""
        return self._ask({"what": what, "repeat": repeat, "threads": threads})

    def numbers(self) -> np.ndarray:
        """What the last run left: a gradient, mostly."""
        return np.fromfile(self.folder / "answer", dtype="<f8")

    def side(self, what: str = "evaluate", threads: int = 1, once: float | None = None) -> Side:
        """Runs of `what` in turns; `once` is about how long one takes, if it need not be tried."""
        if once is None:
            once = self.run(what, 1, threads)["nanoseconds"][0] * 1e-9
        repeat = repeats(once)
        return lambda: min(self.run(what, repeat, threads)["nanoseconds"]) * 1e-9


class Library(Served):
    """A case of the library."""

    def __init__(self, case: dict, arrays: dict, threads: int = 1) -> None:
        super().__init__([os.environ["PEERS_PROGRAM"], "--serve"], case, arrays, threads)


def program() -> str:
    """Builds the other end and says where it is."""
    command = ["cargo", "bench", "--quiet", "--package", "unjitter", "--bench", "peer", "--no-run"]
    command.append("--message-format=json")
    built = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    for line in reversed(built.stdout.splitlines()):
        message = json.loads(line)
        if message.get("executable") and message["target"]["name"] == "peer":
            return message["executable"]
    raise RuntimeError("cargo built no program")


def agree(what: str, ours, theirs, tolerance: float) -> None:
    """Fails unless both sides computed the same, relative to the largest entry."""
    ours, theirs = np.atleast_1d(ours), np.atleast_1d(theirs)
    scale, worst = np.abs(theirs).max(), np.abs(ours - theirs).max()
    if not worst <= tolerance * scale:
        raise AssertionError(f"{what}: off by {worst:.1e} of {scale:.3g}, over {tolerance:.0e}")
